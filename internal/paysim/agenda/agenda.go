// Package agenda is the simulator's time: a clock that may run faster than the world's, and the list of what is due on it.
//
// Its one non-obvious decision is that everything that happens later (a renewal, a retry, a bank's late answer) stands in
// one list, worked off in order of its time by whoever moves the clock. A year can so be played in a moment, in the order in
// which it would have happened, and a test that advances the clock knows that all is done when Advance returns.
package agenda

import (
	"container/heap"
	"context"
	"math"
	"sync"
	"time"
)

// Agenda is a clock with a list of what is due. The zero Agenda is not usable; New makes one.
type Agenda struct {
	mu      sync.Mutex
	speed   float64   // simulated seconds in one of the world's
	base    time.Time // simulated time at real
	real    time.Time // of the world, when base was taken
	due     entries
	entered int64
	working sync.Mutex    // held while entries are worked off, so that they never run side by side
	changed chan struct{} // has room for one: something earlier is due, or the clock was set
}

// Fastest is the greatest speed of a clock: in a second of the world eleven and a half days pass. A speed is more than 0: on
// a clock that stands nothing ever becomes due.
const Fastest = 1e6

// possible is false for what is not a number, too.
func possible(speed float64) bool { return speed > 0 && speed <= Fastest }

type entry struct {
	at     time.Time
	number int64 // of entering: what is due at one time is done in this order
	do     func()
}

// New returns an agenda that begins at start and runs speed times as fast as the world; a speed that is none, see Fastest,
// counts as 1.
func New(start time.Time, speed float64) *Agenda {
	if !possible(speed) {
		speed = 1
	}
	return &Agenda{speed: speed, base: start, real: time.Now(), changed: make(chan struct{}, 1)}
}

// Now is the simulated time. While something due is done it is the time that was due, or later.
func (a *Agenda) Now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now()
}

// now stops at the end of what a time.Duration can hold, 146 years from base: past it the clock would jump far back.
func (a *Agenda) now() time.Time {
	return a.base.Add(time.Duration(min(float64(time.Since(a.real))*a.speed, 1<<62)))
}

// Speed is how many times as fast as the world the clock runs.
func (a *Agenda) Speed() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.speed
}

// SetSpeed changes how fast the clock runs from now on. A speed that is none, see Fastest, is ignored.
func (a *Agenda) SetSpeed(speed float64) {
	if !possible(speed) {
		return
	}
	a.mu.Lock()
	a.base, a.real, a.speed = a.now(), time.Now(), speed
	a.mu.Unlock()
	a.notice()
}

// At enters something to be done at a time; what is past is due at once. do runs on the goroutine of Run or Advance, never
// beside another entry, and may enter more.
func (a *Agenda) At(when time.Time, do func()) {
	a.mu.Lock()
	a.entered++
	heap.Push(&a.due, entry{at: when, number: a.entered, do: do})
	a.mu.Unlock()
	a.notice()
}

// After enters something to be done when d has passed on the simulated clock.
func (a *Agenda) After(d time.Duration, do func()) { a.At(a.Now().Add(d), do) }

// Pending is the number of entries that are still to come.
func (a *Agenda) Pending() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.due)
}

// Advance moves the clock ahead by d and does, in order, all that becomes due on the way, before it returns. It must not
// be called by an entry.
func (a *Agenda) Advance(d time.Duration) {
	a.working.Lock()
	defer a.working.Unlock()
	target := a.Now().Add(d)
	a.workUntil(target)
	a.moveTo(target)
	a.notice() // what comes next is nearer than Run believes
}

// moveTo sets the clock ahead, never back.
func (a *Agenda) moveTo(when time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if when.After(a.now()) {
		a.base, a.real = when, time.Now()
	}
}

// workUntil does all that is due up to a time. The clock shows at least the time of each entry while it is done.
func (a *Agenda) workUntil(target time.Time) {
	for {
		next, ok := a.take(target)
		if !ok {
			return
		}
		a.moveTo(next.at)
		next.do()
	}
}

func (a *Agenda) take(target time.Time) (entry, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 || a.due[0].at.After(target) {
		return entry{}, false
	}
	return heap.Pop(&a.due).(entry), true
}

// Run does what becomes due as the clock goes on, until ctx ends. It sleeps until the next entry is due, and is woken when
// something is entered, or the clock is set.
func (a *Agenda) Run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		a.working.Lock()
		a.workUntil(a.Now())
		a.working.Unlock()
		timer.Reset(a.untilNext())
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-a.changed:
		}
	}
}

// untilNext is the time of the world until the next entry is due, at most an hour.
func (a *Agenda) untilNext() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 {
		return time.Hour
	}
	wait := math.Ceil(float64(a.due[0].at.Sub(a.now())) / a.speed) // rounded down, it would not be due yet
	return time.Duration(min(max(wait, 0), float64(time.Hour)))    // bounded first: a slow clock takes longer than a Duration holds
}

func (a *Agenda) notice() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// entries is a heap by time and then by order of entering.
type entries []entry

func (e entries) Len() int      { return len(e) }
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e entries) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].number < e[j].number
	}
	return e[i].at.Before(e[j].at)
}

// Push implements heap.Interface.
func (e *entries) Push(x any) { *e = append(*e, x.(entry)) }

// Pop implements heap.Interface.
func (e *entries) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = entry{} // what it holds on to is not to be kept by the array behind the slice
	*e = old[:len(old)-1]
	return last
}
