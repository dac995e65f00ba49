package payments

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// repetition says when a call is tried again.
//
//	what happened                                  always   carefully
//	429, 503                                       yes      yes
//	never connected                                yes      yes
//	other 5xx                                      yes      no
//	no answer, or one that ended early             yes      no
//	409 with code 60102: the first still runs      yes      -
//	everything else: 2xx unread, 3xx, 4xx          no       no
type repetition int

const (
	carefully repetition = iota // repeating may do it twice
	always                      // repeating does it once: it reads, deletes, replaces, or carries an idempotency-key
)

const (
	longestWait = 30 * time.Second // a Retry-After beyond it is for the caller, in Error.RetryAfter
	longestCall = 2 * time.Minute  // after which no attempt begins

	stillRunning = "60102"
)

// exchange attempts a call until it succeeds, fails for good, or has been tried often enough, with growing pauses of random
// length in between, or of the length that the service asks for.
func (c *Client) exchange(ctx context.Context, k call) (*reply, error) {
	var last error
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = c.config.Pause, 2, longestWait/2
	answer, err := backoff.Retry(ctx, func() (*reply, error) {
		var answer *reply
		answer, last = c.attempt(ctx, k)
		return answer, k.wish(last)
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.config.Attempts)), backoff.WithMaxElapsedTime(longestCall))
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil && !errors.Is(last, ctx.Err()):
		return nil, fmt.Errorf("%w; gave up: %w", last, context.Cause(ctx))
	}
	return nil, last
}

// wish tells backoff whether to try again after err.
func (k call) wish(err error) error {
	var (
		answer  *Error
		nothing *silence
		again   bool
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		again = k.repeatsAfter(answer)
		if again && answer.RetryAfter > 0 {
			return &backoff.RetryAfterError{Duration: answer.RetryAfter}
		}
	case errors.As(err, &nothing):
		again = k.repeat == always || neverConnected(nothing.cause)
	}
	if !again {
		return backoff.Permanent(err)
	}
	return err
}

// repeatsAfter is the table above, of answers.
func (k call) repeatsAfter(answer *Error) bool {
	switch {
	case answer.RetryAfter > longestWait:
		return false
	case errors.Is(answer, ErrBusy):
		return true
	case k.repeat != always:
		return false
	}
	return answer.Status >= 500 || answer.Status == http.StatusConflict && Code(answer) == stillRunning
}

// neverConnected tells whether a request failed before a byte of it was sent.
func neverConnected(err error) bool {
	var (
		name *net.DNSError
		op   *net.OpError
	)
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// silence is an attempt without a whole answer, in a fixed phrase: the error of the transport can quote what a stranger sent
// in the place of HTTP.
type silence struct {
	operation, phrase string
	cause             error
}

func (s *silence) Error() string        { return s.operation + ": " + s.phrase }
func (s *silence) Unwrap() error        { return s.cause }
func (s *silence) Is(target error) bool { return target == ErrUnreachable }

// cause is a phrase for one of the things that can go wrong on the way.
type cause struct {
	phrase string
	fits   func(error) bool
}

// causes are tried in this order; the last one fits everything.
var causes = [...]cause{
	{"the call was given up", func(err error) bool { return errors.Is(err, context.Canceled) }},
	{"no answer in time", timedOut},
	{"the host's name was not resolved", isError[*net.DNSError]},
	{"the certificate is not trusted", isError[*tls.CertificateVerificationError]},
	{"no TLS with the service", isError[tls.RecordHeaderError]},
	{"the connection was refused", func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
	{"the service cannot be reached", neverConnected},
	{"the connection ended without a whole answer", func(error) bool { return true }},
}

// isError tells whether there is an E among the causes.
func isError[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// timedOut tells the end of an attempt's time from the end of the caller's patience, which is a cancellation.
func timedOut(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

// unanswered names what went wrong by the first cause that fits.
func unanswered(operation string, err error) error {
	found := slices.IndexFunc(causes[:], func(c cause) bool { return c.fits(err) })
	return &silence{operation: operation, phrase: causes[found].phrase, cause: err}
}

// retryAfter reads whole seconds or an HTTP date (RFC 9110, section 10.2.3). It returns 0 when the header is absent,
// repeated, malformed or past.
func retryAfter(values []string, now time.Time) time.Duration {
	if len(values) != 1 {
		return 0
	}
	text := strings.TrimSpace(values[0])
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 32)
		if err != nil { // too many digits are too many seconds
			return 24 * time.Hour
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}
