package access

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Gate finds out who asks. Its fields are set before it is used and not changed afterwards; the zero Gate knows nobody.
type Gate struct {
	// Tokens returns those in force; it is asked anew at each request, so that a token that is taken away ends at once,
	// and with it the sessions it began. nil: there are none.
	Tokens func() Tokens
	// Sessions keeps those who signed in at the page. nil: nobody can.
	Sessions Sessions
	// Proxy signs people in before they get here. The zero Proxy is none.
	Proxy Proxy
	// Unguarded lets everybody in as an admin: for development, on this machine, without tokens.
	Unguarded bool
	// TrustedProxies are believed about the address that attempts to sign in are counted for.
	TrustedProxies ipn.Senders
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	limit  limiter
	counts counts
}

// Identify puts who asks into the request's context, where From finds them, and never refuses: that is for who answers. A
// token goes before a session, a session before a proxy's word. A token that is wrong makes nobody of who shows it,
// whatever session they have, so that a tool with an old token is not taken for the browser beside it.
func (g *Gate) Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named, vouched := g.Proxy.claim(r)
		ctx := r.Context()
		person, known, err := g.identify(r)
		switch {
		case known:
			ctx = With(ctx, person)
		case vouched:
			ctx = With(ctx, named)
		case err != nil:
			ctx = context.WithValue(ctx, troubleKey{}, err)
		case g.Unguarded:
			ctx = With(ctx, Person{Name: "development", Role: Admin, Via: ViaOpen})
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// identify looks at the token, else at the session. err tells why it could not be found out.
func (g *Gate) identify(r *http.Request) (_ Person, known bool, err error) {
	if text, shown := bearer(r.Header.Get("Authorization")); shown {
		token, found := g.tokens().find(text, g.now())
		return Person{Name: token.Name, Role: token.Role, Via: ViaToken}, found, nil
	}
	return g.inSession(r)
}

// bearer returns the token of an Authorization header, whose scheme is written in any case (RFC 9110 11.1), and whether the
// header is of that kind.
func bearer(header string) (token string, shown bool) {
	scheme, token, _ := strings.Cut(header, " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

func (g *Gate) tokens() Tokens {
	if g.Tokens == nil {
		return Tokens{}
	}
	return g.Tokens()
}

func (g *Gate) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

// peer is the address at the other end of the connection; the zero Addr when there is none.
func peer(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr)
	return at.Addr().Unmap().WithZone("")
}
