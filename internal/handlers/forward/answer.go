package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
)

// What an answer means. The body never counts; docs/targets.md has the same table for the people behind a target.
//
//	answer                                       meaning
//	2xx                                          done
//	410                                          the target is gone: the handler pauses itself, the event is kept for it
//	429, 503 with Retry-After                    try this event again after that time, at most 24 hours later
//	429, 503 without, 3xx, 4xx, 5xx, 101         failed: try again on the schedule; 3xx is not followed
//	no whole head within the timeout or 64 KiB   failed: try again on the schedule
//	no connection, no trust, address refused     failed: try again on the schedule
//
// A body that never ends, ends early or is longer than 64 KiB changes nothing: the status came before it.
const (
	maxHead  = 64 << 10       // bytes of an answer's head
	maxBody  = 64 << 10       // bytes of an answer's body that are read, to keep the connection
	maxAfter = 24 * time.Hour // the dispatcher waits no longer either
)

// meaning returns nil for done, or the error that tells the dispatcher what to do with the event.
func meaning(answer *http.Response, now time.Time) error {
	status := answer.StatusCode
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusGone:
		return dispatch.Halt(&failure{phrase: told(status) + ": the target wants no more events"})
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		if wait := retryAfter(answer.Header.Values("Retry-After"), now); wait > 0 {
			return dispatch.After(wait, &failure{phrase: told(status) + " and asked to wait"})
		}
	case status >= 300 && status <= 399:
		return &failure{phrase: told(status) + ": redirects are not followed"}
	}
	return &failure{phrase: told(status)}
}

// told names a status in our words: the target's reason phrase is as much a stranger's text as its body.
func told(status int) string {
	return strings.TrimSpace(fmt.Sprintf("the target answered %d %s", status, http.StatusText(status)))
}

// retryAfter reads whole seconds or an HTTP date (RFC 9110, section 10.2.3) as a time from now. It returns 0 or less
// when the header is absent, repeated, malformed or past.
func retryAfter(values []string, now time.Time) time.Duration {
	if len(values) != 1 {
		return 0
	}
	text := strings.TrimSpace(values[0])
	if isDigits(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxAfter/time.Second) {
			return maxAfter // too many digits are too many seconds
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return at.Sub(now)
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// drain reads a body to its end, so that the connection serves the next event, or to its bound, and closes it. What is
// left over costs the connection, which is then closed. After 101 the body is the bare connection, whose reads no
// timeout ends: it is closed unread.
func drain(answer *http.Response) {
	if answer.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)) // the status was told before
	}
	_ = answer.Body.Close()
}

// alert is the Op under which crypto/tls reports what the other side objects to.
const alert = "remote error"

// failure is an attempt that failed, in a fixed phrase: it is kept for years and shown to people, so it holds nothing
// that the target or the URL says. The cause is there for errors.Is alone.
type failure struct {
	phrase string
	cause  error
}

func (f *failure) Error() string { return f.phrase }
func (f *failure) Unwrap() error { return f.cause }

// unanswered says why there was no answer.
func unanswered(err error) error {
	var (
		refused  *refusedError
		notFound *net.DNSError
		trust    *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		netErr   net.Error
		op       *net.OpError
	)
	phrase := "the connection ended without an answer"
	switch {
	case errors.As(err, &refused):
		phrase = refused.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		phrase = "no answer in time"
	case errors.As(err, &notFound):
		phrase = "the host's name was not resolved"
	case errors.As(err, &trust):
		phrase = "the target's certificate is not trusted"
	case errors.As(err, &record), errors.As(err, &op) && op.Op == alert:
		phrase = "no TLS with the target"
	case errors.Is(err, syscall.ECONNREFUSED):
		phrase = "the target refused the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		phrase = "the target cannot be reached"
	}
	return &failure{phrase: phrase, cause: err}
}
