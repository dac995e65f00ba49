package access_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

const (
	marias = "ipn_token-of-maria"
	erps   = "ipn_token-of-erp"
)

var file = line("maria", access.Finance, marias) + line("erp", access.Viewer, erps)

func TestATokenTellsWhoAsks(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file)
	for name, c := range map[string]struct{ header, want string }{
		"the token":                    {"Bearer " + marias, "api:maria finance"},
		"another one":                  {"Bearer " + erps, "api:erp viewer"},
		"the scheme in small letters":  {"bearer " + marias, "api:maria finance"},
		"blanks around":                {"BEARER   " + marias + " ", "api:maria finance"},
		"no header":                    {"", ""},
		"a wrong token":                {"Bearer ipn_token-of-marib", ""},
		"the beginning of the token":   {"Bearer ipn_token-of-mari", ""},
		"the token and more":           {"Bearer " + marias + "0", ""},
		"the token in capitals":        {"Bearer " + strings.ToUpper(marias), ""},
		"two tokens":                   {"Bearer " + marias + "," + erps, ""},
		"no token":                     {"Bearer ", ""},
		"the token without a scheme":   {marias, ""},
		"another scheme":               {"Basic " + marias, ""},
		"the hash for the token":       {"Bearer " + strings.Fields(file)[2], ""},
		"the hash's digits":            {"Bearer " + strings.TrimPrefix(strings.Fields(file)[2], "sha256:"), ""},
		"the name of the token":        {"Bearer maria", ""},
		"a header that is a megabyte":  {"Bearer " + strings.Repeat("x", 1<<20), ""},
		"a header that does not print": {"Bearer \x00\xff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := d.who("Authorization", c.header); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestATokenInTheQueryIsNone(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file)
	for _, parameter := range []string{"token", "access_token", "api_token", "authorization"} {
		d.ask(httptest.NewRequest(http.MethodGet, "/api/v1/events?"+parameter+"="+marias, nil))
		if d.known {
			t.Errorf("%s: got %+v", parameter, d.person)
		}
	}
}

func TestATokenThatIsTakenAwayEndsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file)
	d.read(t, line("maria", access.Viewer, marias))
	if got := d.who("Authorization", "Bearer "+marias); got != "api:maria viewer" {
		t.Errorf("another role: got %q", got)
	}
	if got := d.who("Authorization", "Bearer "+erps); got != "" {
		t.Errorf("a token that is gone: got %q", got)
	}
	d.read(t, "")
	if got := d.who("Authorization", "Bearer "+marias); got != "" {
		t.Errorf("an empty file: got %q", got)
	}
}

func TestTheZeroGateKnowsNobody(t *testing.T) {
	t.Parallel()
	d := &door{gate: &access.Gate{}}
	for _, headers := range [][]string{nil, {"Authorization", "Bearer "}, {"Authorization", "Bearer x"}, {"Cookie", access.CookieName + "="}, {"X-Forwarded-User", "maria"}} {
		if got := d.who(headers...); got != "" {
			t.Errorf("%q: got %q", headers, got)
		}
	}
}

func TestADoorThatAsksNobodyTakesEveryoneForTheDeveloper(t *testing.T) {
	t.Parallel()
	d := newDoor(t, "", func(g *access.Gate) { g.Unguarded = true })
	for _, headers := range [][]string{nil, {"Authorization", "Bearer x"}} {
		if got := d.who(headers...); got != "open:development admin" || d.person.Via != access.ViaOpen {
			t.Errorf("%q: got %q", headers, got)
		}
	}
}

// behindProxy is a door behind a proxy that signs people in.
func behindProxy(t *testing.T, file string, role access.Role) *door {
	return newDoor(t, file, func(g *access.Gate) {
		g.Proxy = access.Proxy{Networks: networks(t, "192.0.2.0/24"), UserHeader: "X-Forwarded-User", RoleHeader: "X-Forwarded-Groups", DefaultRole: role}
	})
}

func TestAProxyIsBelievedAboutItsUsers(t *testing.T) { // httptest's requests come from 192.0.2.1
	t.Parallel()
	user := func(more ...string) []string { return append([]string{"X-Forwarded-User", "ann@example.com"}, more...) }
	for name, c := range map[string]struct {
		byDefault access.Role
		headers   []string
		want      string
	}{
		"a role":                           {"", user("X-Forwarded-Groups", "finance"), "proxy:ann@example.com finance"},
		"a role among groups":              {"", user("X-Forwarded-Groups", "staff, Operator ,admin"), "proxy:ann@example.com operator"},
		"no role":                          {"", user(), ""},
		"no role, and one by default":      {access.Viewer, user(), "proxy:ann@example.com viewer"},
		"groups that are none":             {"", user("X-Forwarded-Groups", "staff,administrators"), ""},
		"groups that are none, by default": {access.Viewer, user("X-Forwarded-Groups", "staff"), "proxy:ann@example.com viewer"},
		"no user":                          {access.Viewer, []string{"X-Forwarded-Groups", "admin"}, ""},
		"an empty user":                    {access.Viewer, []string{"X-Forwarded-User", "  "}, ""},
		"two users":                        {access.Viewer, user("X-Forwarded-User", "bob@example.com"), ""},
		"two lines of groups":              {access.Viewer, user("X-Forwarded-Groups", "viewer", "X-Forwarded-Groups", "admin"), ""},
		"a user with a line break":         {access.Viewer, []string{"X-Forwarded-User", "ann\nadmin"}, ""},
		"a user that turns direction":      {access.Viewer, []string{"X-Forwarded-User", "ann\u202e"}, ""},
		"a user that is no text":           {access.Viewer, []string{"X-Forwarded-User", "ann\xff"}, ""},
		"a user as long as a tale":         {access.Viewer, []string{"X-Forwarded-User", strings.Repeat("a", 241)}, ""},
		"a token goes first":               {access.Viewer, user("Authorization", "Bearer "+marias), "api:maria finance"},
		"a token of the proxy's own":       {access.Viewer, user("Authorization", "Bearer of-the-directory"), "proxy:ann@example.com viewer"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := behindProxy(t, file, c.byDefault).who(c.headers...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHeadersOfAStrangerAreTakenOff(t *testing.T) {
	t.Parallel()
	d := behindProxy(t, file, access.Admin)
	for _, from := range []string{"192.0.3.1:4711", "127.0.0.1:4711", "[2001:db8::1]:4711", "[::1]:1", "@", ""} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-User", "ann")
		r.Header.Set("X-Forwarded-Groups", "admin")
		r.Header.Set("X-Forwarded-For", "192.0.2.1") // a claim like the others
		d.ask(r)
		if d.known || d.seen.Get("X-Forwarded-User") != "" || d.seen.Get("X-Forwarded-Groups") != "" {
			t.Errorf("%s: got %+v, %v", from, d.person, d.seen)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "[::ffff:192.0.2.7]:4711" // as a socket of both families says it
	r.Header.Set("X-Forwarded-User", "ann")
	if d.ask(r); !d.known {
		t.Error("the proxy is not believed when its address is mapped")
	}
}

func TestHeadersMeanNothingWithoutAProxy(t *testing.T) {
	t.Parallel()
	d := newDoor(t, file)
	if got := d.who("X-Forwarded-User", "ann", "X-Forwarded-Groups", "admin"); got != "" {
		t.Errorf("got %q", got)
	}
}
