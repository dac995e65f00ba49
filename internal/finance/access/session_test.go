package access_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// withSessions keeps the sessions in a database.
func withSessions(tb testing.TB, dsn string) func(*access.Gate) {
	tb.Helper()
	s, err := store.Open(tb.Context(), store.Config{DSN: dsn, AllowVolatile: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return func(g *access.Gate) { g.Sessions = s }
}

// mustSignIn signs in and returns the header of the browser that has the cookie.
func (d *door) mustSignIn(tb testing.TB, token string) string {
	tb.Helper()
	answer := d.signIn("192.0.2.7", token)
	cookies := answer.Result().Cookies()
	if answer.Code != http.StatusSeeOther || len(cookies) != 1 {
		tb.Fatalf("got %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	return cookies[0].Name + "=" + cookies[0].Value
}

// audit returns the acts in the record, oldest first.
func audit(tb testing.TB, d *door) (acts []string) {
	tb.Helper()
	entries, err := d.gate.Sessions.(*store.Store).Audit(tb.Context(), 0, 100)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range slices.Backward(entries) {
		acts = append(acts, e.Actor+" "+e.Action+": "+e.Reason)
	}
	return acts
}

func TestWhoSignsInGetsACookieThatNoOtherSiteCanUse(t *testing.T) { // S-75
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	answer := d.signIn("192.0.2.7", marias)
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	c := answer.Result().Cookies()[0]
	if c.Name != "__Host-ipn-session" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 12*60*60 || len(c.Value) != 43 {
		t.Errorf("got %+v", c)
	}
	if got := d.who("Cookie", c.Name+"="+c.Value); got != "page:maria finance" {
		t.Errorf("got %q", got)
	}
	if got := audit(t, d); !slices.Equal(got, []string{"page:maria sign-in: signed in at the page as finance"}) {
		t.Errorf("got %q", got)
	}
}

func TestASessionIsKnownToEveryReplica(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	one, other := newDoor(t, file, withSessions(t, dsn)), newDoor(t, file, withSessions(t, dsn))
	cookie := one.mustSignIn(t, marias)
	if got := other.who("Cookie", cookie); got != "page:maria finance" {
		t.Errorf("got %q", got)
	}
	if answer := other.signOut(cookie); answer.Code != http.StatusSeeOther {
		t.Fatalf("got %d", answer.Code)
	}
	if got := one.who("Cookie", cookie); got != "" {
		t.Errorf("after the other has ended it: got %q", got)
	}
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	for name, c := range map[string]struct {
		happens func()
		want    string
	}{
		"not by itself":                      {func() { d.now = noon.Add(12*time.Hour - time.Second) }, "page:maria finance"},
		"after twelve hours":                 {func() { d.now = noon.Add(12 * time.Hour) }, ""},
		"when its token is taken away":       {func() { d.read(t, line("erp", access.Viewer, erps)) }, ""},
		"when its token expires":             {func() { d.read(t, strings.TrimSpace(line("maria", access.Finance, marias))+" expires=2026-11-20") }, ""},
		"when its token is another one":      {func() { d.read(t, line("maria", access.Finance, "ipn_rotated")) }, ""},
		"not when its token is for less now": {func() { d.read(t, line("maria", access.Viewer, marias)) }, "page:maria viewer"},
	} {
		t.Run(name, func(t *testing.T) {
			d.now = noon
			d.read(t, file)
			cookie := d.mustSignIn(t, marias)
			c.happens()
			if got := d.who("Cookie", cookie); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoSignsOutIsOut(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	cookie := d.mustSignIn(t, marias)
	beside := d.mustSignIn(t, marias) // another browser
	for range 2 {                     // the second finds no session, and is no error
		answer := d.signOut(cookie)
		gone := answer.Result().Cookies()
		if answer.Code != http.StatusSeeOther || len(gone) != 1 || gone[0].MaxAge >= 0 || gone[0].Name != access.CookieName {
			t.Errorf("got %d %v", answer.Code, answer.Header())
		}
	}
	if got := d.who("Cookie", cookie); got != "" {
		t.Errorf("got %q", got)
	}
	if got := d.who("Cookie", beside); got != "page:maria finance" {
		t.Errorf("the other browser: got %q", got)
	}
	if got := audit(t, d); len(got) != 3 || got[2] != "page:maria sign-out: signed out" {
		t.Errorf("got %q", got)
	}
}

func TestSigningInAgainEndsTheSessionBefore(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	before := d.mustSignIn(t, marias)
	r := httptest.NewRequest(http.MethodPost, "/sign-in", nil)
	r.Header.Set("Cookie", before)
	after, err := d.gate.Open(t.Context(), r, erps)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.who("Cookie", before); got != "" {
		t.Errorf("the one before: got %q", got)
	}
	if got := d.who("Cookie", after.Name+"="+after.Value); got != "page:erp viewer" {
		t.Errorf("got %q", got)
	}
}

func TestTheRecordHoldsNothingThatOpensADoor(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	d := newDoor(t, file, withSessions(t, dsn))
	_, value, _ := strings.Cut(d.mustSignIn(t, marias), "=")
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var kept, hash string
	err = conn.QueryRow(t.Context(), `select sessions::text || audit::text, encode(sha256($1), 'hex') from sessions, audit`, []byte(marias)).Scan(&kept, &hash)
	if err != nil {
		t.Fatal(err)
	}
	for what, secret := range map[string]string{"the token": marias, "its hash": hash, "the cookie": value} {
		if strings.Contains(kept, secret) {
			t.Errorf("%s stands in %s", what, kept)
		}
	}
}

func TestSessionsThatAreOverAreRemoved(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	d := newDoor(t, file, withSessions(t, dsn))
	for _, hours := range []time.Duration{0, 11, 13} {
		d.now = noon.Add(hours * time.Hour)
		d.mustSignIn(t, marias)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var rows int
	if err := conn.QueryRow(t.Context(), "select count(*) from sessions").Scan(&rows); err != nil || rows != 2 {
		t.Errorf("got %d, %v, want the two that are not over", rows, err)
	}
}

func TestACookieThatIsNoneIsNobodys(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	cookie := d.mustSignIn(t, marias)
	name, value, _ := strings.Cut(cookie, "=")
	for what, header := range map[string]string{
		"no value": name + "=", "no base64": name + "=!!", "a byte less": name + "=" + value[:42], "another last byte": name + "=" + value[:41] + "AA",
		"another name": "ipn-session=" + value, "the name in small letters": strings.ToLower(name) + "=" + value, "two of them": cookie + "; " + name + "=" + strings.Repeat("A", 43),
	} {
		if got := d.who("Cookie", header); got != "" || d.trouble != nil {
			t.Errorf("%s: got %q, %v", what, got, d.trouble)
		}
	}
	if got := d.who("Cookie", cookie, "Authorization", "Bearer old"); got != "" {
		t.Errorf("a wrong token beside the cookie: got %q", got)
	}
}

func TestARecordThatIsAwayIsNotASessionThatIsOver(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, "host="+t.TempDir()+" user=nobody dbname=nothing"))
	cookie := access.CookieName + "=" + strings.Repeat("A", 43)
	if got := d.who("Cookie", cookie); got != "" || !errors.Is(d.trouble, ipn.ErrUnavailable) {
		t.Errorf("got %q, %v", got, d.trouble)
	}
	if got := d.who("Authorization", "Bearer "+marias); got != "api:maria finance" || d.trouble != nil {
		t.Errorf("a token needs no record: got %q, %v", got, d.trouble)
	}
	for what, answer := range map[string]*httptest.ResponseRecorder{"sign-in": d.signIn("192.0.2.7", marias), "sign-out": d.signOut(cookie)} {
		if answer.Code != http.StatusServiceUnavailable || len(answer.Result().Cookies()) != 0 {
			t.Errorf("%s: got %d %v", what, answer.Code, answer.Header())
		}
	}
}

func TestAttemptsToSignInAreCounted(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file, withSessions(t, pgtest.New(t)))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(d.gate)
	d.mustSignIn(t, marias)
	for range 7 { // five fail, then the address has to wait
		d.signIn("192.0.2.7", "ipn_wrong")
	}
	want := `
# HELP ipn_sign_in_total Attempts to sign in at the page, by result.
# TYPE ipn_sign_in_total counter
ipn_sign_in_total{result="limited"} 2
ipn_sign_in_total{result="opened"} 1
ipn_sign_in_total{result="refused"} 5
ipn_sign_in_total{result="unavailable"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if got := audit(t, d); len(got) != 1 {
		t.Errorf("what failed is in the audit: %q", got)
	}
}
