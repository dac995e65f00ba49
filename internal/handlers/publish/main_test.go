package publish_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/binding/spec"
	"github.com/cloudevents/sdk-go/v2/event"
	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// charge is an event of the log; the reference tells the transaction.
func charge(id int64, reference string) *ipn.Stored {
	return &ipn.Stored{
		ID:         id,
		Identity:   ipn.Identity{byte(id)},
		ReceivedAt: time.Date(2026, 3, 1, 12, 30, 5, 0, time.UTC),
		Facts: ipn.Facts{
			TransactionType: "CHARGE", ReferenceNumber: reference, Currency: "EUR",
			OccurredAt: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC),
		},
	}
}

// hostile are references that a header, a subject or a line protocol could break on.
var hostile = map[string]string{
	"a header of its own":    "1\r\nce-type: ipn.REFUND",
	"a protocol line":        "1\r\n\r\nPUB ipn.events.REFUND 0\r\n\r\n",
	"a zero byte":            "1\x002",
	"letters beyond ASCII":   "Zahlung-ü-支付",
	"a percent sign":         "100%0d%0a",
	"wildcards":              "ipn.> * $JS.API",
	"quotes and spaces":      `"a b"`,
	"bytes that are no text": "\xff\xfe",
}

// reads puts headers back into an event by the CloudEvents library, which has to accept it.
func reads(t *testing.T, prefix string, headers map[string]string, body []byte) event.Event {
	t.Helper()
	version := spec.WithPrefix(prefix).Version(headers[prefix+"specversion"])
	if version == nil {
		t.Fatalf("no specversion in %v", headers)
	}
	read := event.New(version.String())
	for name, value := range headers {
		switch attribute := version.Attribute(name); {
		case name == "content-type":
			must(t, read.Context.SetDataContentType(value))
		case attribute != nil:
			must(t, attribute.Set(read.Context, value))
		case strings.HasPrefix(name, prefix):
			must(t, read.Context.SetExtension(strings.TrimPrefix(name, prefix), value))
		}
	}
	read.DataEncoded = body
	must(t, read.Validate())
	return read
}

// isCharge checks what a consumer of charge(id, reference) sees.
func isCharge(t *testing.T, got event.Event, id int64, reference string) {
	t.Helper()
	for _, row := range []struct{ name, got, want string }{
		{"id", got.ID(), strconv.FormatInt(id, 10)},
		{"source", got.Source(), "/ipn-receiver"},
		{"type", got.Type(), "ipn.CHARGE"},
		{"subject", got.Subject(), reference},
		{"time", got.Time().Format(time.RFC3339), "2026-03-01T12:30:00Z"},
		{"datacontenttype", got.DataContentType(), "application/json"},
		{"identity", got.Extensions()["identity"].(string), ipn.Identity{byte(id)}.String()},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, row.got, row.want)
		}
	}
	var data struct{ ReferenceNumber, Currency string }
	must(t, got.DataAs(&data))
	if data.Currency != "EUR" || reference != "" && data.ReferenceNumber != reference {
		t.Errorf("data: got %s", got.Data())
	}
}

// eventually calls try until it gives nil, and fails the test with its last error when patience ends.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	if err := insist(try); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// insist calls try until it gives nil, and returns its last error when patience ends.
func insist(try func() error) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-deadline:
			return err
		}
	}
}

// certified is a pair of TLS settings that trust each other on the loopback address.
func certified(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	return &tls.Config{Certificates: lender.TLS.Certificates}, &tls.Config{RootCAs: roots}
}

// says checks that an error tells all of the words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	must(t, tells(err, words...))
}

// comesToSay waits until sending fails with all of the words: on a busy machine time may run out before the cause is
// known. No error on the way may tell a secret.
func comesToSay(t *testing.T, send func() error, words ...string) {
	t.Helper()
	eventually(t, "the error", func() error {
		err := send()
		silent(t, err)
		return tells(err, words...)
	})
}

// tells returns nil for an error that tells all of the words.
func tells(err error, words ...string) error {
	if err == nil {
		return fmt.Errorf("no error, want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			return fmt.Errorf("error %q does not say %q", err, word)
		}
	}
	return nil
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// silent checks that an error holds no value of an event and no secret: tests use this one for both.
func silent(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "4711-secret") {
		t.Errorf("the error tells what it must not: %v", err)
	}
}

// buries checks that an error tells the dispatcher that trying again is of no use.
func buries(t *testing.T, err error) {
	t.Helper()
	if want := reflect.TypeOf(dispatch.Permanent(nil)); reflect.TypeOf(err) != want {
		t.Errorf("got a %T, want a %v", err, want)
	}
}

// representable is the reference as an attribute may hold it: not at all, when it has a character that an attribute may
// not have.
func representable(reference string) string {
	if strings.ContainsAny(reference, "\x00\r\n") || !utf8.ValidString(reference) {
		return ""
	}
	return reference
}
