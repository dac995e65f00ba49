package access

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrRefused says that a token is none, or is over.
var ErrRefused = errors.New("no such token, or it has expired")

// LimitedError says that too many attempts to sign in have failed.
type LimitedError struct {
	RetryAfter time.Duration // when the next one is let through, if none fails meanwhile
}

// Error implements error.
func (e *LimitedError) Error() string { return "too many attempts to sign in" }

// Refusal is how an error of Open or Close is told: the status of the answer, whose headers it sets, and a sentence for the
// person.
func Refusal(header http.Header, err error) (status int, sentence string) {
	var limited *LimitedError
	switch {
	case errors.As(err, &limited):
		seconds := int(math.Ceil(limited.RetryAfter.Seconds()))
		header.Set("Retry-After", strconv.Itoa(seconds))
		return http.StatusTooManyRequests, fmt.Sprintf("Too many attempts have failed. Try again in %d seconds.", seconds)
	case errors.Is(err, ErrRefused):
		return http.StatusUnauthorized, "There is no such token, or it has expired."
	default:
		return http.StatusServiceUnavailable, "The record cannot be reached right now. Try again."
	}
}

// LocalPath returns where to go after signing in: next, when it is a path of this door, else "/". What a browser takes for
// another host is none: //host, /\host, and whatever becomes one of these when line breaks and tabs are taken out.
func LocalPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, `\`) || !isPrintable(next) {
		return "/"
	}
	return next
}

// result is what became of an attempt to sign in.
type result int

const (
	opened result = iota
	refused
	limited
	unavailable
)

var resultNames = [...]string{opened: "opened", refused: "refused", limited: "limited", unavailable: "unavailable"}

// counts are the attempts to sign in, by result.
type counts [len(resultNames)]atomic.Uint64

func (c *counts) add(r result) { c[r].Add(1) }

func signInDesc() *prometheus.Desc {
	return prometheus.NewDesc("ipn_sign_in_total", "Attempts to sign in at the page, by result.", []string{"result"}, nil)
}

// Describe implements prometheus.Collector.
func (g *Gate) Describe(out chan<- *prometheus.Desc) { out <- signInDesc() }

// Collect implements prometheus.Collector.
func (g *Gate) Collect(out chan<- prometheus.Metric) {
	for r, name := range resultNames {
		out <- prometheus.MustNewConstMetric(signInDesc(), prometheus.CounterValue, float64(g.counts[r].Load()), name)
	}
}
