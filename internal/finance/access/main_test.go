package access_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A door is a gate with what stands behind it: a handler that notes who asks.
type door struct {
	gate    *access.Gate
	tokens  access.Tokens
	now     time.Time
	person  access.Person
	known   bool
	trouble error
	seen    http.Header // as whoever stands behind the gate sees it
}

// newDoor opens a door at noon with the tokens of a file.
func newDoor(tb testing.TB, file string, furnish ...func(*access.Gate)) *door {
	tb.Helper()
	d := &door{now: noon}
	d.read(tb, file)
	d.gate = &access.Gate{Tokens: func() access.Tokens { return d.tokens }, Now: func() time.Time { return d.now }}
	for _, f := range furnish {
		f(d.gate)
	}
	return d
}

// read takes another tokens file.
func (d *door) read(tb testing.TB, file string) {
	tb.Helper()
	tokens, err := access.ParseTokens(file)
	if err != nil {
		tb.Fatal(err)
	}
	d.tokens = tokens
}

// ask sends a request through the gate.
func (d *door) ask(r *http.Request) {
	d.gate.Identify(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d.person, d.known = access.From(r.Context())
		d.trouble, d.seen = access.Trouble(r.Context()), r.Header
	})).ServeHTTP(httptest.NewRecorder(), r)
}

// who asks with these headers and returns who that is to the door: their actor and role, "" for nobody.
func (d *door) who(headers ...string) string {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/events", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	d.ask(r)
	if !d.known {
		return ""
	}
	return d.person.Actor() + " " + string(d.person.Role)
}

// line is a line of a tokens file for a token that a test knows.
func line(name string, role access.Role, token string) string {
	return access.Token{Name: name, Role: role, Hash: access.HashOf(token)}.Line() + "\n"
}

func networks(tb testing.TB, entries ...string) ipn.Senders {
	tb.Helper()
	senders, err := ipn.ParseSenders(entries)
	if err != nil {
		tb.Fatal(err)
	}
	return senders
}

// signIn signs in from an address and answers as a page would.
func (d *door) signIn(from, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/sign-in", nil)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(from), 4711).String()
	cookie, err := d.gate.Open(r.Context(), r, token)
	return answered(cookie, err)
}

// signOut ends the session of a cookie and answers as a page would.
func (d *door) signOut(cookie string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/sign-out", nil)
	r.Header.Set("Cookie", cookie)
	return answered(d.gate.Close(r.Context(), r))
}

func answered(cookie *http.Cookie, err error) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	if err != nil {
		status, sentence := access.Refusal(answer.Header(), err)
		answer.WriteHeader(status)
		answer.WriteString(sentence)
		return answer
	}
	http.SetCookie(answer, cookie)
	answer.WriteHeader(http.StatusSeeOther)
	return answer
}
