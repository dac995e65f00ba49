package dispatch

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	breakerFailures = 5                // different events in a row that open it
	breakerRest     = 10 * time.Second // open, before the next event may try
)

// What the inner breaker is told of an attempt that did not go well.
var (
	errFailed  = errors.New("the attempt failed")
	errNeutral = errors.New("the attempt says nothing about the target")
)

// breaker keeps a sink from pouring the log into a target that is down. It opens when five different events in a row
// fail at their first attempt; a retry counts only while it is the probe, because an event that failed before may well
// be the reason itself. Once open it lets one event through every ten seconds, and closes on the first that goes well.
type breaker struct {
	mu    sync.Mutex // guards everything, the inner breaker's callbacks included
	inner *gobreaker.TwoStepCircuitBreaker[struct{}]
	row   map[int64]bool // events that failed since the last success
	last  string         // text of the latest failure
	until time.Time      // when an open breaker becomes half-open
}

func newBreaker() *breaker {
	b := &breaker{row: make(map[int64]bool)}
	b.inner = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     breakerRest,
		ReadyToTrip: func(gobreaker.Counts) bool { return len(b.row) >= breakerFailures },
		IsExcluded:  func(err error) bool { return err == errNeutral },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.until = time.Now().Add(breakerRest + time.Millisecond) // half-open comes after the rest, not with it
			}
		},
	})
	return b
}

// admit asks whether the job may be tried. When it may, tell must be called with the job as judged.
func (b *breaker) admit() (tell func(*job), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	report, err := b.inner.Allow()
	if err != nil {
		return nil, false
	}
	return func(j *job) { b.note(j, report) }, true
}

func (b *breaker) note(j *job, report func(error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probing := b.inner.State() != gobreaker.StateClosed
	switch {
	case j.verdict == done:
		if report(nil); b.inner.State() == gobreaker.StateClosed {
			clear(b.row)
		}
	case j.blames() && (probing || !j.due):
		b.row[j.event.ID], b.last = true, j.report.text
		report(errFailed)
	default:
		report(errNeutral)
	}
}

// blames reports whether the attempt speaks against the target.
func (j *job) blames() bool {
	return (j.verdict == failed || j.verdict == buried) && j.report.wish.kind != wishPermanent
}

// isProbing reports whether the next event decides.
func (b *breaker) isProbing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inner.State() == gobreaker.StateHalfOpen
}

// holds says why events are held back, "" when they are not, and how long nothing may be tried.
func (b *breaker) holds() (because string, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.inner.State()
	if state == gobreaker.StateClosed {
		return "", 0
	}
	because = shorten(fmt.Sprintf("%d events in a row failed, the last with: %s", len(b.row), b.last))
	if state == gobreaker.StateOpen {
		wait = max(time.Until(b.until), time.Millisecond)
	}
	return because, wait
}
