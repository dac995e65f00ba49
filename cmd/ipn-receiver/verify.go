package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// verifyCommand tells whether a signature is good and, if not, which of the
// usual mistakes it was made with.
type verifyCommand struct {
	SigningKeys `group:"proof"`
	Timestamp   string `help:"Value of the timestamp header, exactly as received."`
	Signature   string `help:"Value of the signature header, exactly as received."`
	JSON        bool   `help:"Answer in JSON."`
}

func (c *verifyCommand) check(machine) error {
	if err := c.load(); err != nil {
		return err
	}
	var found complaints
	found.unless(len(c.Keys) > 0, "signing-secrets", "needed: set the secret the payment service signs with")
	found.unless(c.SignatureWindow > 0, "signature-window", "must be more than 0, such as 72h")
	return errors.Join(found...)
}

// answer is what verify prints. Hint is the mistake found, "" when none was.
type answer struct {
	Good   bool       `json:"good"`
	Result ipn.Result `json:"result"`
	KeyID  string     `json:"keyId,omitempty"`
	Age    string     `json:"age,omitempty"`
	Stale  bool       `json:"stale,omitempty"`
	Hint   string     `json:"hint,omitempty"`
}

func (c *verifyCommand) run(_ context.Context, p *program) (int, error) {
	body, err := p.readBody()
	if err != nil {
		return exitNo, err
	}
	told := c.judge(claim{c.Timestamp, c.Signature, body, c.Keys, c.texts}, p.now())
	if c.JSON {
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(told)
	} else {
		_, err = fmt.Fprint(p.stdout, told.words())
	}
	if err != nil || !told.Good {
		return exitNo, err
	}
	return exitOK, nil
}

func (c *verifyCommand) judge(sent claim, now time.Time) answer {
	verdict := c.verify(sent, now)
	told := answer{Good: verdict.Result == ipn.Good, Result: verdict.Result, KeyID: verdict.KeyID, Stale: verdict.Stale}
	if told.Good {
		told.Age = verdict.Age.Round(time.Second).String()
		return told
	}
	for _, slip := range slips {
		for _, tried := range slip.undo(sent) {
			if c.verify(tried, now).Result == ipn.Good {
				told.Hint = slip.sentence
				return told
			}
		}
	}
	return told
}

func (c *verifyCommand) verify(sent claim, now time.Time) ipn.Verdict {
	signature := ipn.Signature{Secrets: sent.keys, Zone: c.SignatureZone.Location, Window: c.SignatureWindow}
	return signature.Verify(sent.body, given(sent.timestamp), given(sent.signature), now)
}

// given is the values of a header that is absent when empty.
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// sentences say each result in words.
var sentences = map[ipn.Result]string{
	ipn.Good:      "The signature is good.",
	ipn.Missing:   "There is nothing to verify: pass both --timestamp and --signature.",
	ipn.Malformed: "The signature is not of the right form: it must be 64 hexadecimal digits.",
	ipn.Mismatch:  "The signature is not good.",
}

// words is the answer for people.
func (a answer) words() string {
	lines := []string{sentences[a.Result]}
	switch {
	case a.Good && a.Stale:
		lines = append(lines, fmt.Sprintf("It was made with key %s, and its timestamp is outside the window or cannot be read (age %s).", a.KeyID, a.Age))
	case a.Good:
		lines = append(lines, fmt.Sprintf("It was made with key %s, %s ago.", a.KeyID, a.Age))
	case a.Hint != "":
		lines = append(lines, "It would be good if "+a.Hint)
	case a.Result == ipn.Mismatch:
		lines = append(lines, "None of the usual mistakes explains it: another secret signed it, or body or timestamp are not the exact bytes that were sent.")
	}
	return strings.Join(lines, "\n") + "\n"
}
