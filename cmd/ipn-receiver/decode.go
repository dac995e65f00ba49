package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// maxInput bounds what decode and verify read: far more than any door takes.
const maxInput = 64 << 20

// decodeCommand prints what the body on standard input means.
type decodeCommand struct {
	Meaning     `group:"meaning"`
	ContentType string `default:"application/x-www-form-urlencoded" help:"The Content-Type it came with; its charset counts."`
}

func (c *decodeCommand) check(machine) error { return nil }

func (c *decodeCommand) run(_ context.Context, p *program) (int, error) {
	body, err := p.readBody()
	if err != nil {
		return exitNo, err
	}
	decoder := ipn.Decoder{Zone: c.Zone.Location, MaxFields: c.MaxFields}
	event := decoder.Decode(body, c.ContentType)
	scope := ipn.Scope{Endpoint: c.Endpoint, NodeFields: c.NodeFields}
	text, err := describe(event, scope.Identify(event), ipn.DigestOf(body))
	if err != nil {
		return exitNo, err
	}
	_, err = p.stdout.Write(text)
	return result(err)
}

// describe writes an event as an indented JSON object, identity and digest first.
func describe(event *ipn.Event, identity ipn.Identity, digest ipn.Digest) ([]byte, error) {
	object, err := event.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write the event as JSON: %w", err)
	}
	head := fmt.Sprintf(`{"identity":"%s","digest":"%s",`, identity, digest)
	var out bytes.Buffer
	if err := json.Indent(&out, append([]byte(head), object[1:]...), "", "  "); err != nil {
		return nil, fmt.Errorf("write the event as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// readBody reads standard input to its end: the exact bytes, for they are signed.
func (p *program) readBody() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(p.stdin, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read standard input: %w", err)
	case len(body) == 0:
		return nil, errors.New("standard input is empty: pass the body of an IPN, as in: ipn-receiver decode < ipn.txt")
	case len(body) > maxInput:
		return nil, fmt.Errorf("standard input has more than %d bytes: this is no IPN", maxInput)
	}
	return body, nil
}
