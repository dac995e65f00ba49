package main

import (
	"testing"
	"time"
)

func TestPercentilesAreWaitsThatWereMeasured(t *testing.T) {
	waits := make([]time.Duration, 1000)
	for i := range waits {
		waits[i] = time.Duration(i+1) * time.Millisecond
	}
	for _, c := range []struct {
		q    float64
		want time.Duration
	}{{0, time.Millisecond}, {.5, 500 * time.Millisecond}, {.99, 990 * time.Millisecond}, {.999, 999 * time.Millisecond}, {1, time.Second}} {
		if got := percentile(waits, c.q); got != c.want {
			t.Errorf("percentile %v: got %s, want %s", c.q, got, c.want)
		}
	}
	if got := percentile(nil, .5); got != 0 {
		t.Errorf("of nothing: got %s", got)
	}
}

func TestAPostIsLateFromTheMomentItWasDue(t *testing.T) {
	begin := time.Now()
	if got, want := due(begin, 3, 200), begin.Add(15*time.Millisecond); !got.Equal(want) {
		t.Errorf("the fourth of 200 a second is due at %s, want %s", got, want)
	}
}

func TestOneBodyInAHundredRepeatsAnother(t *testing.T) {
	b, seen := newBodies(7), map[string]bool{}
	repeats := 0
	for range 1000 {
		body, reference := b.take()
		if len(body) < 2000 || len(body) > 3500 {
			t.Fatalf("a body of %d bytes is not like the sender's", len(body))
		}
		if seen[reference] {
			repeats++
		}
		seen[reference] = true
	}
	if repeats != 10 {
		t.Errorf("got %d repeats, want 10", repeats)
	}
}
