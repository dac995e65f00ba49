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
		of   []time.Duration
		q    float64
		want time.Duration
	}{
		{waits, 0, time.Millisecond}, {waits, .5, 500 * time.Millisecond}, {waits, .9, 900 * time.Millisecond},
		{waits, .99, 990 * time.Millisecond}, {waits, .999, 999 * time.Millisecond}, {waits, 1, time.Second},
		{waits[:1], .5, time.Millisecond}, {waits[:3], .5, 2 * time.Millisecond}, {waits[:3], .99, 3 * time.Millisecond}, {nil, .5, 0},
	} {
		if got := percentile(c.of, c.q); got != c.want {
			t.Errorf("percentile %v of %d: got %s, want %s", c.q, len(c.of), got, c.want)
		}
	}
}

func TestAMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		of                      []float64
		middle, least, greatest float64
	}{{[]float64{3}, 3, 3, 3}, {[]float64{9, 1, 5}, 5, 1, 9}, {[]float64{4, 1, 2, 9}, 3, 1, 9}} {
		if middle, least, greatest := median(c.of); middle != c.middle || least != c.least || greatest != c.greatest {
			t.Errorf("of %v: got %v (%v to %v)", c.of, middle, least, greatest)
		}
	}
}

func TestOnly200IsGood(t *testing.T) {
	f := newFigures()
	for _, status := range []int{200, 200, 503, 0, 200} {
		f.add(status, time.Millisecond)
	}
	s := f.sum(2 * time.Second)
	if s.posts != 5 || s.good != 3 || s.perSecond != 1.5 || s.status != "1 × 0, 3 × 200, 1 × 503" {
		t.Errorf("got %d posts, %d good, %v a second, %q", s.posts, s.good, s.perSecond, s.status)
	}
}

func TestTheScheduleOfARateDoesNotDrift(t *testing.T) {
	begin := time.Now()
	for _, c := range []struct {
		i, rate int
		want    time.Duration
	}{{0, 200, 0}, {3, 200, 15 * time.Millisecond}, {1, 3, time.Second / 3}, {3, 3, time.Second}, {700_000, 7, 100_000 * time.Second}} {
		if got, want := due(begin, c.i, c.rate), begin.Add(c.want); !got.Equal(want) {
			t.Errorf("post %d of %d a second is due after %s, want %s", c.i, c.rate, got.Sub(begin), c.want)
		}
	}
}
