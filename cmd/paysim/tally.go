package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxOutcomes is how many kinds of answers are told apart; there are more only when each error has a text of its own.
const maxOutcomes = 20

// tally counts how posts were answered. All times are kept, eight bytes each, so that the percentiles are exact.
type tally struct {
	mu       sync.Mutex
	good     int
	outcomes map[string]int // by status or error
	times    []time.Duration
	told     int // of times, how many were part of the last line of progress
}

func newTally() *tally { return &tally{outcomes: map[string]int{}} }

// add counts one answer: its status or error in words, whether it was 200, and how long after its post was due it came.
func (t *tally) add(outcome string, good bool, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.outcomes[outcome]; !known && len(t.outcomes) >= maxOutcomes {
		outcome = "other"
	}
	t.outcomes[outcome]++
	if good {
		t.good++
	}
	t.times = append(t.times, took)
}

// tellEachSecond writes a line of progress each second until done is closed.
func (t *tally) tellEachSecond(w io.Writer, began time.Time, done <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-ticker.C:
			_, _ = fmt.Fprintln(w, t.progress(now.Sub(began)))
		}
	}
}

// progress tells what was answered so far, and the times of what was answered since it was last asked.
func (t *tally) progress(since time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := slices.Clone(t.times[t.told:])
	t.told = len(t.times)
	return fmt.Sprintf("%4.0fs  %d answered, %d with 200, %d otherwise; %s", since.Seconds(), len(t.times), t.good, len(t.times)-t.good, spread(recent))
}

// summary tells all of it: how many, how fast, each kind of answer, and the times.
func (t *tally) summary(took time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "sent %d in %s: %.1f a second\n", len(t.times), took.Round(time.Millisecond), float64(len(t.times))/took.Seconds())
	for _, outcome := range slices.Sorted(maps.Keys(t.outcomes)) {
		fmt.Fprintf(&b, "  %d × %s\n", t.outcomes[outcome], outcome)
	}
	fmt.Fprintf(&b, "  %s\n", spread(slices.Clone(t.times)))
	return b.String()
}

// verdict is the exit code: whether all were answered 200.
func (t *tally) verdict() (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bad := len(t.times) - t.good; bad > 0 {
		return exitNo, fmt.Errorf("%d of %d were not answered 200", bad, len(t.times))
	}
	return exitOK, nil
}

// spread tells the median, the 99th percentile and the longest of some times, which it sorts.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "no answer"
	}
	slices.Sort(times)
	at := func(percent int) time.Duration {
		return times[(len(times)*percent+99)/100-1].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s", at(50), at(99), at(100))
}
