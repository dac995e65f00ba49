package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
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
	say("  Ask at       %s/api/v1/events   (health: /readyz, metrics: /metrics, description: /openapi.json)", s.privateURL())
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

// index tells who opens the private door in a browser what can be asked here.
func (s *service) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, `IPN receiver

/api/v1/events       the event history: filters, pages, each event's fields and raw body
/api/v1/quarantine   posts that were not believed or could not become events

/api/v1/transactions/{referenceNumber}, /api/v1/subscriptions/{id}, /api/v1/disputes
                     what the events come to: state, amounts, timeline
/api/v1/totals       money by day, month, type or currency
/api/v1/unbooked     money that is in no book, and why

/api/v1/handlers     where each handler stands; /api/v1/parked: what failed; /api/v1/audit: what was done by hand

/api/v1/configuration
                     what the payment service sends where, and whether that is as desired

/openapi.json        the description of the API
/metrics             for Prometheus
/livez, /readyz      for orchestrators; readyz says why not
`)
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
