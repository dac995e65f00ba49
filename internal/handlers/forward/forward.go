// Package forward sends events to other people's programs: a sink that posts each event as a CloudEvent to one URL,
// signed by Standard Webhooks (https://www.standardwebhooks.com), and takes 2xx for done.
//
// A target is a stranger, and so is whoever answers for its name: redirects are not followed, proxies not asked, answers
// read within bounds of bytes and time, and every connection is checked at the address it is about to be made to, not
// at the name in the settings. For that reason the sink drives an [http.Transport] by itself: an [http.Client] would
// follow redirects, keep cookies, and write the URL into its errors.
//
// Delivery is at least once. The header webhook-id is the event id, the same at every attempt: a target that keeps the
// ids it has handled handles each event once.
package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The defaults of a Target.
const (
	DefaultTimeout     = 10 * time.Second
	DefaultConcurrency = 8
)

const userAgent = "ipn-receiver" // tells no version to strangers

// Target is one place to send to.
type Target struct {
	URL      string             // https, or http where Allow names the network; no user, no fragment
	Secrets  []Secret           // each of them signs; none only when Unsigned
	Unsigned bool               // says that a target without a secret is meant
	Allow    []netip.Prefix     // networks that are not public and may be dialled all the same
	Roots    *x509.CertPool     // authorities of the target's certificate; nil: the system's
	Envelope cloudevent.Options // how the event is told

	Timeout     time.Duration // of a whole attempt, name to last byte; 0 is DefaultTimeout
	Concurrency int           // connections kept and opened at most; 0 is DefaultConcurrency

	Resolver *net.Resolver    // nil: the system's
	Now      func() time.Time // nil: time.Now
}

// Sink sends events to one target. It is safe for use by several goroutines.
type Sink struct {
	target    Target
	transport *http.Transport
}

// New makes a sink. Its error says what is wrong with the target, and shows neither secrets nor the URL.
func New(t Target) (*Sink, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Timeout <= 0 {
		t.Timeout = DefaultTimeout
	}
	if t.Concurrency <= 0 {
		t.Concurrency = DefaultConcurrency
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	return &Sink{target: t, transport: newTransport(t)}, nil
}

// Check tells what keeps a target from being served: see [CheckURL], and a target without a secret that does not say
// Unsigned.
func (t Target) Check() error {
	switch {
	case len(t.Secrets) == 0 && !t.Unsigned:
		return errors.New("the target has no secret: a target that cannot verify events must be marked as unsigned")
	case len(t.Secrets) > 0 && t.Unsigned:
		return errors.New("the target has a secret and is marked as unsigned: choose one")
	}
	for _, secret := range t.Secrets {
		if secret.IsZero() {
			return errSecret
		}
	}
	return CheckURL(t.URL, t.Allow)
}

// CheckURL tells what is wrong with a target's URL, given the networks it may lead to. Where it really leads is checked
// at each dial.
func CheckURL(text string, allow []netip.Prefix) error {
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text quotes the URL
		return errors.New("not a URL: write https://host/path")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("write https://host/path: other schemes are not spoken")
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("the URL has no host: write https://host/path")
	case !isPort(u.Port()):
		return errors.New("the port is none: use 1 to 65535")
	case u.User != nil:
		return errors.New("the URL holds a user: take it out, it would be kept in the clear; the signature proves the sender")
	case u.Fragment != "":
		return errors.New("the URL has a fragment (#...), which is never sent: take it out")
	case u.Scheme == "http" && len(allow) == 0:
		return errors.New("http:// is spoken to private networks only: use https, or name the network under allow")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return guard{allow: allow, plain: u.Scheme == "http"}.check(addr)
	}
	return nil
}

// isPort accepts no port at all, which is the scheme's own.
func isPort(text string) bool {
	port, err := strconv.Atoi(text)
	return text == "" || err == nil && port >= 1 && port <= 65535
}

// newTransport makes a transport of HTTP/1.1 that keeps its connections, one for each lane of the dispatcher.
func newTransport(t Target) *http.Transport {
	u, _ := url.Parse(t.URL) // checked before
	dialer := net.Dialer{
		Timeout:  t.Timeout,
		Resolver: t.Resolver,
		Control:  guard{allow: t.Allow, plain: u.Scheme == "http"}.control,
	}
	return &http.Transport{
		Proxy:                  nil, // a proxy would dial where the guard does not look
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.Roots},
		DisableCompression:     true, // what was not asked for is not inflated
		MaxResponseHeaderBytes: maxHead,
		MaxConnsPerHost:        t.Concurrency,
		MaxIdleConnsPerHost:    t.Concurrency,
		IdleConnTimeout:        time.Minute,
	}
}

// Send posts one event and returns nil when the target took it. Its errors are what answer.go says of the answer; when
// ctx was cancelled, the error is [context.Canceled], and nothing is said about the target.
func (s *Sink) Send(ctx context.Context, e *ipn.Stored) error {
	envelope := cloudevent.New(e, s.target.Envelope)
	body, err := envelope.JSON()
	if err != nil {
		return fmt.Errorf("put the event into its envelope: %w", err)
	}
	attempt, cancel := context.WithTimeout(ctx, s.target.Timeout)
	defer cancel()
	request, err := s.request(attempt, envelope.ID, body)
	if err != nil {
		return err
	}
	answer, err := s.transport.RoundTrip(request)
	if err != nil {
		if ctx.Err() == context.Canceled {
			return context.Canceled
		}
		return unanswered(err)
	}
	defer drain(answer)
	return meaning(answer, s.target.Now())
}

func (s *Sink) request(ctx context.Context, id string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.URL, bytes.NewReader(body))
	if err != nil { // its text quotes the URL, which New has checked
		return nil, &failure{phrase: "the target's URL cannot be used", cause: err}
	}
	request.Header.Set("Content-Type", cloudevent.ContentType)
	request.Header.Set("User-Agent", userAgent)
	setSignature(request.Header, s.target.Secrets, id, s.target.Now(), body)
	return request, nil
}

// Close closes the idle connections. Attempts in flight end by themselves.
func (s *Sink) Close() { s.transport.CloseIdleConnections() }
