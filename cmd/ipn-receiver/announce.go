package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
)

// announce tells that the receiver is ready, once in the log and, in development, in words on standard output.
func (s *service) announce(context.Context) {
	s.log.Info("ready", zap.String("public", s.intakeURL()), zap.String("private", s.privateURL()),
		zap.String("verification", s.VerificationMode()), zap.Int("signingSecrets", len(s.keys.current())))
	if s.VerificationMode() != "enforce" {
		s.log.Warn("posts are accepted without proof of where they come from; to enforce it set " + name("signing-secrets") + " and leave " + name("verification") + " at auto")
	}
	if !s.Guarded() {
		s.log.Warn("the private door asks nobody who they are; to change that set " + name("tokens-file"))
	}
	if !s.Production() {
		_, _ = io.WriteString(s.program.stdout, s.welcome(s.program.now()))
	}
}

func (s *service) intakeURL() string  { return "http://" + reachable(s.public.Addr().String()) + s.Path }
func (s *service) privateURL() string { return "http://" + reachable(s.private.Addr().String()) }

// welcome shows a newcomer what to do next.
func (s *service) welcome(now time.Time) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("")
	say("The IPN receiver is ready.")
	say("  IPNs go to   %s", s.intakeURL())
	say("  Look at      %s   (API: /api/v1/events, described at /openapi.json; health: /readyz, metrics: /metrics)", s.privateURL())
	say("  Who may      %s", s.accessInWords())
	if private := s.database.server(); private != nil {
		say("  Kept in      PostgreSQL %s of its own, in %s", private.Version(), s.DataDir)
		say("  Look inside  %s", private.PsqlCommand("ipn"))
	} else {
		say("  Kept in      the database of %s", name("database-url"))
	}
	say("  Proof        %s", s.proofInWords())
	say("  Try it with  go run ./cmd/paysim, a payment service that is not one: its shop is at http://127.0.0.1:8090")
	say("")
	say("Send it an IPN:")
	say("")
	say("%s", s.curlLine(now))
	say("")
	return b.String()
}

func (s *service) accessInWords() string {
	if s.Guarded() {
		return "whoever shows a token or is signed in by your proxy"
	}
	return "everyone on this machine, as an admin, without signing in: for development only; set " + name("tokens-file") + " to ask who they are"
}

func (s *service) proofInWords() string {
	switch {
	case s.keys.made:
		return "signatures are observed, with a secret made up for development in " + s.DataDir + "/signing-secret; unsigned posts are kept and marked"
	case s.VerificationMode() == "enforce":
		return "posts that fail verification are refused, with a copy in quarantine"
	default:
		return "verification is " + s.VerificationMode() + ": posts are kept whoever sent them"
	}
}

// curlLine is a post that can be pasted into a shell: a made-up charge of this very minute, signed when a secret is known.
func (s *service) curlLine(now time.Time) string {
	body := "transactionType=CHARGE&referenceNumber=" + fmt.Sprint(now.UnixMilli()%1e10) +
		"&transactionDate=" + url.QueryEscape(now.In(s.Zone.Location).Format("01/02/2006 03:04 PM")) +
		"&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&taxChargeAmount=3.35&paymentMethod=CC&accountId=21200001" +
		"&firstName=Ann&lastName=Example&email=ann%40example.com&country=DE&productName=Blue+yarn&quantity=1&contractId=2000001&testMode=N&Color=blue"
	lines := []string{"curl -i " + s.intakeURL(), "-H 'Content-Type: application/x-www-form-urlencoded'"}
	if secrets := s.keys.current(); len(secrets) > 0 {
		timestamp := now.In(s.SignatureZone.Location).Format("2006-01-02 15:04:05.000")
		lines = append(lines,
			fmt.Sprintf("-H '%s: %s'", s.TimestampHeader, timestamp),
			fmt.Sprintf("-H '%s: %s'", s.SignatureHeader, secrets[0].Sign(timestamp, []byte(body))))
	}
	return strings.Join(append(lines, "--data-raw '"+body+"'"), " ")
}
