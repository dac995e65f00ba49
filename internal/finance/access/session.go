package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// Sessions keeps who is signed in at the page, for all replicas together. All methods fail with ipn.ErrUnavailable while
// the record is away.
type Sessions interface {
	// OpenSession keeps a session and ends the one whose digest is instead, together with an entry in the audit.
	OpenSession(ctx context.Context, session ipn.Session, instead [32]byte, act ipn.Act) error
	// Session returns the session of that digest, over or not, or ipn.ErrNotFound.
	Session(ctx context.Context, digest [32]byte) (ipn.Session, error)
	// CloseSession ends a session, together with an entry in the audit; ipn.ErrNotFound when there is none.
	CloseSession(ctx context.Context, digest [32]byte, act ipn.Act) error
}

// SessionLength is how long a session lasts, whatever is done in it: a working day and its evening.
const SessionLength = 12 * time.Hour

// CookieName is that of the page's sessions. Browsers take a name with this prefix only from a secure origin (or this
// machine), for that host alone and every path (RFC 6265bis 4.1.3.2): no other host and no plain HTTP can plant one.
const CookieName = "__Host-ipn-session"

// cookie returns the cookie that holds a value for a time; a time below zero takes it away. SameSite keeps it off every
// request that another site causes.
func cookie(value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: CookieName, Value: value, Path: "/", MaxAge: int(lasts.Seconds()),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// shownSession returns the random bytes of the request's cookie and the digest they are kept under. Two cookies of one name
// are none: one of them is somebody's trick.
func shownSession(r *http.Request) (secret []byte, digest [32]byte, ok bool) {
	cookies := r.CookiesNamed(CookieName)
	if len(cookies) != 1 {
		return nil, digest, false
	}
	secret, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	if err != nil || len(secret) != 32 {
		return nil, digest, false
	}
	return secret, sha256.Sum256(secret), true
}

// proofOf ties a session to the token it was opened with. Its key is in the cookie, which the record does not have.
func proofOf(secret []byte, token Hash) (proof [32]byte) {
	mac := hmac.New(sha256.New, secret)
	mac.Write(token[:])
	copy(proof[:], mac.Sum(nil))
	return proof
}

// inSession returns who is signed in. The token it began with must still be in force: its role is the one they have now.
func (g *Gate) inSession(r *http.Request) (_ Person, known bool, err error) {
	secret, digest, shown := shownSession(r)
	if !shown || g.Sessions == nil {
		return Person{}, false, nil
	}
	session, err := g.Sessions.Session(r.Context(), digest)
	if errors.Is(err, ipn.ErrNotFound) {
		return Person{}, false, nil
	}
	if err != nil {
		return Person{}, false, err
	}
	token, inForce := g.tokens().named(session.Token, g.now())
	proof := proofOf(secret, token.Hash)
	if !inForce || !g.now().Before(session.ExpiresAt) || !hmac.Equal(proof[:], session.Proof[:]) {
		return Person{}, false, nil
	}
	return Person{Name: token.Name, Role: token.Role, Via: ViaPage}, true, nil
}

// Open signs in who shows a token and returns the cookie of their session, which ends the one the request came with. It
// fails with ErrRefused, a *LimitedError, or ipn.ErrUnavailable, which Refusal puts into words; no error shows the token. Each
// success is in the audit.
func (g *Gate) Open(ctx context.Context, r *http.Request, token string) (*http.Cookie, error) {
	c, result, err := g.open(ctx, r, token)
	g.counts.add(result)
	server.LogField(ctx, zap.String("signIn", resultNames[result]))
	return c, err
}

func (g *Gate) open(ctx context.Context, r *http.Request, text string) (*http.Cookie, result, error) {
	now := g.now()
	attempt, wait := g.limit.attempt(ipn.ClientAddress(peer(r), r.Header.Values("X-Forwarded-For"), g.TrustedProxies), now)
	if wait > 0 {
		return nil, limited, &LimitedError{RetryAfter: wait}
	}
	token, found := g.tokens().find(text, now)
	if !found || g.Sessions == nil {
		return nil, refused, ErrRefused
	}
	attempt.forgive(now)
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the program instead
	_, instead, _ := shownSession(r)
	session := ipn.Session{
		Digest: sha256.Sum256(secret), Token: token.Name, Proof: proofOf(secret, token.Hash), OpenedAt: now, ExpiresAt: now.Add(SessionLength),
	}
	act := ipn.Act{Actor: Person{Name: token.Name, Via: ViaPage}.Actor(), Reason: "signed in at the page as " + string(token.Role)}
	if err := g.Sessions.OpenSession(ctx, session, instead, act); err != nil {
		return nil, unavailable, err
	}
	return cookie(base64.RawURLEncoding.EncodeToString(secret), SessionLength), opened, nil
}

// Close signs out whoever the request's session is of, and returns the cookie that takes theirs away. It is no error when
// there is no such session any more. It fails with ipn.ErrUnavailable: then they are still signed in.
func (g *Gate) Close(ctx context.Context, r *http.Request) (*http.Cookie, error) {
	gone := cookie("", -time.Second)
	_, digest, shown := shownSession(r)
	if !shown || g.Sessions == nil {
		return gone, nil
	}
	session, err := g.Sessions.Session(ctx, digest)
	if err == nil {
		act := ipn.Act{Actor: Person{Name: session.Token, Via: ViaPage}.Actor(), Reason: "signed out"}
		err = g.Sessions.CloseSession(ctx, digest, act)
	}
	if err != nil && !errors.Is(err, ipn.ErrNotFound) {
		return nil, err
	}
	return gone, nil
}
