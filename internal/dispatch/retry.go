package dispatch

import (
	"cmp"
	"errors"
	"math"
	"time"
)

// Retry is the schedule of an event that fails. A zero field takes its default, which is the value in its comment.
//
// With the defaults an event is tried again 5 s, 20 s, 1 min 20 s, 5 min 20 s, 21 min 20 s, 1 h 25 min 20 s and
// 5 h 41 min 20 s after the attempt before, then every 6 h, each of them up to 20 % sooner or later. The 12th attempt,
// about 31 h 35 min after the first, is the last: the event is buried.
type Retry struct {
	First    time.Duration // before the second attempt; 5 s
	Factor   float64       // each delay against the one before; 4
	Longest  time.Duration // no delay is longer, before the jitter; 6 h
	Jitter   float64       // share by which a delay is longer or shorter at random, so that a herd parts; 0.2
	Attempts int           // the last one that fails buries the event; 12
	Age      time.Duration // an attempt that fails so long after the first failure buries it too; 72 h
}

func (r Retry) withDefaults() Retry {
	return Retry{
		First:    cmp.Or(r.First, 5*time.Second),
		Factor:   cmp.Or(r.Factor, 4),
		Longest:  cmp.Or(r.Longest, 6*time.Hour),
		Jitter:   cmp.Or(r.Jitter, 0.2),
		Attempts: cmp.Or(r.Attempts, 12),
		Age:      cmp.Or(r.Age, 72*time.Hour),
	}
}

func (r Retry) check() error {
	r = r.withDefaults()
	switch {
	case r.First < 0 || r.Longest < 0 || r.Age < 0 || r.Attempts < 0:
		return errors.New("retry: a limit is negative")
	case !(r.Factor >= 1 && r.Factor <= 1000):
		return errors.New("retry: the factor must be from 1 to 1000")
	case !(r.Jitter > 0 && r.Jitter < 1):
		return errors.New("retry: the jitter must be between 0 and 1")
	}
	return nil
}

// Delay returns how long to wait after a failed attempt, counted from 1. random, from 0 to 1, chooses a place within
// the jitter: 0.5 is the schedule itself.
func (r Retry) Delay(attempt int, random float64) time.Duration {
	r = r.withDefaults()
	plain := float64(r.First) * math.Pow(r.Factor, float64(max(attempt, 1)-1))
	plain = min(plain, float64(r.Longest)) // an overflow to infinity ends here
	return time.Duration(plain * (1 + r.Jitter*(2*random-1)))
}

// exhausted reports whether a failed attempt was the last one. age counts from the event's first failure.
func (r Retry) exhausted(attempt int, age time.Duration) bool {
	return attempt >= r.Attempts || age > r.Age
}
