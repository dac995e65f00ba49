package access_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

func TestSigningInLeadsToNoOtherSite(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/": "/", "/events?transactionType=CHARGE&from=2026-11-01": "/events?transactionType=CHARGE&from=2026-11-01", "/events/7": "/events/7", "/events?q=Müller": "/events?q=Müller",
		"": "/", "events": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", `/\/evil.example`: "/", `/events\..\`: "/",
		"https://evil.example": "/", "HTTPS:evil.example": "/", "javascript:alert(1)": "/", "data:text/html,x": "/", " //evil.example": "/", "\t//evil.example": "/",
		"/\t/evil.example": "/", "/\n/evil.example": "/", "/\r\nSet-Cookie: a=b": "/", "/\x00": "/", "/\u2028": "/", "///evil.example": "/", "/\xff": "/",
	} {
		if got := access.LocalPath(next); got != want {
			t.Errorf("%q: got %q, want %q", next, got, want)
		}
	}
}

func TestAnAddressThatFailsOftenHasToWait(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	try := func(from, token string, want int) *httptest.ResponseRecorder {
		t.Helper()
		answer := d.signIn(from, token)
		if answer.Code != want {
			t.Errorf("%s: got %d, want %d", from, answer.Code, want)
		}
		return answer
	}
	for range 20 { // what works costs nothing
		try("192.0.2.7", marias, http.StatusSeeOther)
	}
	for range 5 {
		try("192.0.2.7", "ipn_wrong", http.StatusUnauthorized)
	}
	answer := try("192.0.2.7", marias, http.StatusTooManyRequests) // the right one too: else guesses went on behind the answers
	if got := answer.Header().Get("Retry-After"); got != "12" || !strings.Contains(answer.Body.String(), "12 seconds") {
		t.Errorf("got Retry-After %q, %s", got, answer.Body)
	}
	try("192.0.2.8", marias, http.StatusSeeOther)
	d.now = d.now.Add(11 * time.Second)
	try("192.0.2.7", marias, http.StatusTooManyRequests)
	d.now = d.now.Add(time.Second)
	try("192.0.2.7", marias, http.StatusSeeOther)
	for i := range 5 { // a household's addresses are one
		try("2001:db8:0:1::"+strconv.Itoa(i+1), "ipn_wrong", http.StatusUnauthorized)
	}
	try("2001:db8:0:1:ffff::1", marias, http.StatusTooManyRequests)
	try("2001:db8:0:2::1", marias, http.StatusSeeOther)
}

func TestAllAddressesTogetherHaveToWaitToo(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	for i := range 100 {
		if answer := d.signIn(fmt.Sprintf("198.51.100.%d", i+1), "ipn_wrong"); answer.Code != http.StatusUnauthorized {
			t.Fatalf("attempt %d: got %d", i+1, answer.Code)
		}
	}
	if answer := d.signIn("203.0.113.1", "ipn_wrong"); answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d %v", answer.Code, answer.Header())
	}
	d.now = d.now.Add(time.Second)
	if answer := d.signIn("203.0.113.1", marias); answer.Code != http.StatusSeeOther {
		t.Errorf("a second later: got %d", answer.Code)
	}
}

func TestAttemptsAreCountedForWhoIsBehindTheProxy(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)), func(g *access.Gate) { g.TrustedProxies = networks(t, "192.0.2.7") })
	try := func(peer, client string) int {
		r := httptest.NewRequest(http.MethodPost, "/sign-in", nil)
		r.Header.Set("X-Forwarded-For", client)
		r.RemoteAddr = peer + ":1"
		return answered(d.gate.Open(r.Context(), r, "ipn_wrong")).Code
	}
	for i := range 12 {
		if got := try("192.0.2.7", fmt.Sprintf("198.51.100.%d", i+1)); got != http.StatusUnauthorized {
			t.Fatalf("client %d behind the proxy: got %d", i+1, got)
		}
	}
	for i := range 5 {
		try("192.0.2.9", fmt.Sprintf("203.0.113.%d", i+1))
	}
	if got := try("192.0.2.9", "203.0.113.99"); got != http.StatusTooManyRequests {
		t.Errorf("a stranger who makes up addresses: got %d", got)
	}
}

func TestWhatIsLoggedOfSigningInHoldsNoSecret(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zapcore.DebugLevel)
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	watched := &server.Observer{Log: zap.New(core)}
	var cookie string
	for _, token := range []string{marias, "ipn_wrong-canary", "canary password"} {
		watched.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			c, err := d.gate.Open(r.Context(), r, token)
			if err == nil {
				cookie = c.Value
			} else if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows what was typed: %v", err)
			}
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/sign-in?token=canary", nil))
	}
	var results []any
	for _, entry := range logged.All() {
		text := fmt.Sprint(entry.Message, entry.ContextMap())
		for _, secret := range []string{"canary", marias, cookie, "token"} {
			if strings.Contains(text, secret) {
				t.Errorf("the log shows %q: %s", secret, text)
			}
		}
		results = append(results, entry.ContextMap()["signIn"])
	}
	if fmt.Sprint(results) != "[opened refused refused]" {
		t.Errorf("got %v", results)
	}
}
