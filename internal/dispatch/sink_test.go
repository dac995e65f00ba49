package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// poison fails one event, always and in the same way, and lets the others pass.
func poison(id int64, err error) send {
	return func(_ context.Context, e *ipn.Stored) error {
		if e.ID == id {
			return err
		}
		return nil
	}
}

func TestAPoisonEventIsBuriedAfterItsScheduleWhileTheOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // B-30
		r := newRecord(1001)
		began := time.Now()
		w := run(t, r.sink(poison(500, errBoom)))
		time.Sleep(time.Second)
		if r.at() != 1001 || r.state(500) != "parked" {
			t.Fatalf("after a second: the cursor is at %d, the bad event %s", r.at(), r.state(500))
		}
		time.Sleep(40 * time.Hour)
		delays := []time.Duration{5 * time.Second, 20 * time.Second, 80 * time.Second, 320 * time.Second, 1280 * time.Second, 5120 * time.Second,
			20480 * time.Second, 6 * time.Hour, 6 * time.Hour, 6 * time.Hour, 6 * time.Hour}
		want, at := []attempt{{500, 1, began, "failed", "boom"}}, began
		for i, delay := range delays {
			at = at.Add(delay)
			want = append(want, attempt{500, i + 2, at, "failed", "boom"})
		}
		want[11].result = "buried"
		if got := r.history(); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if done, failed, buried := w.metric(t, "ipn_handler_events_total", "sink", "done"), w.metric(t, "ipn_handler_events_total", "sink", "failed"),
			w.metric(t, "ipn_handler_events_total", "sink", "buried"); done != 1000 || failed != 11 || buried != 1 {
			t.Errorf("counted %v done, %v failed, %v buried", done, failed, buried)
		}
	})
}

func TestAnErrorSaysWhatBecomesOfTheEvent(t *testing.T) {
	t.Parallel()
	year := 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		err   error
		retry dispatch.Retry
		want  []string // "number after time: result"
	}{
		"any error is tried again by the schedule":                  {errBoom, dispatch.Retry{Attempts: 3}, []string{"1 after 0s: failed", "2 after 5s: failed", "3 after 25s: buried"}},
		"a wait ends within a second as exactly":                    {errBoom, dispatch.Retry{First: 2500 * time.Millisecond, Attempts: 2}, []string{"1 after 0s: failed", "2 after 2.5s: buried"}},
		"After waits as long as it says":                            {dispatch.After(time.Minute, errBoom), dispatch.Retry{Attempts: 2}, []string{"1 after 0s: failed", "2 after 1m0s: buried"}},
		"After a negative time is at once":                          {dispatch.After(-time.Hour, errBoom), dispatch.Retry{Attempts: 2}, []string{"1 after 0s: failed", "2 after 0s: buried"}},
		"After a year is tomorrow":                                  {dispatch.After(year, errBoom), dispatch.Retry{Attempts: 2}, []string{"1 after 0s: failed", "2 after 24h0m0s: buried"}},
		"Permanent buries at once":                                  {dispatch.Permanent(errBoom), dispatch.Retry{}, []string{"1 after 0s: buried"}},
		"a wrapped Permanent too":                                   {fmt.Errorf("send: %w", dispatch.Permanent(errBoom)), dispatch.Retry{}, []string{"1 after 0s: buried"}},
		"age buries before the attempts are spent":                  {errBoom, dispatch.Retry{Age: time.Minute}, []string{"1 after 0s: failed", "2 after 5s: failed", "3 after 25s: failed", "4 after 1m45s: buried"}},
		"an error of another room is like any one":                  {fmt.Errorf("look it up: %w", ipn.ErrUnavailable), dispatch.Retry{Attempts: 2}, []string{"1 after 0s: failed", "2 after 5s: buried"}},
		"a sink cannot say that its lead is lost":                   {ipn.ErrFenced, dispatch.Retry{Attempts: 1}, []string{"1 after 0s: buried"}},
		"a sink cannot say that it is paused":                       {ipn.ErrPaused, dispatch.Retry{Attempts: 1}, []string{"1 after 0s: buried"}},
		"an error of the context that nobody ended is like any one": {context.Canceled, dispatch.Retry{Attempts: 1}, []string{"1 after 0s: buried"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRecord(3)
				began := time.Now()
				h := r.sink(poison(2, c.err))
				h.Retry = c.retry
				run(t, h)
				time.Sleep(30 * time.Hour)
				var got []string
				for _, a := range r.history() {
					got = append(got, fmt.Sprintf("%d after %s: %s", a.number, a.at.Sub(began), a.result))
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
				if r.at() != 3 {
					t.Errorf("the cursor stands at %d", r.at())
				}
			})
		})
	}
}

func TestAParkedEventThatGoesWellIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(1)
		var tries atomic.Int64
		run(t, r.sink(func(context.Context, *ipn.Stored) error {
			if tries.Add(1) < 3 {
				return errBoom
			}
			return nil
		}))
		time.Sleep(time.Minute)
		if got := r.history(); len(got) != 3 || got[2].result != "done" || got[2].number != 3 || r.state(1) != "done" {
			t.Errorf("got %v and %s", got, r.state(1))
		}
	})
}

func TestHaltPausesTheHandlerAndSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(10)
		h := r.sink(poison(4, dispatch.Halt(errors.New("gone for good"))))
		h.Concurrency = 1
		run(t, h)
		time.Sleep(time.Hour)
		if r.resting() != "gone for good" || r.at() != 3 || len(r.history()) != 0 {
			t.Errorf("paused because of %q at %d after %v", r.resting(), r.at(), r.history())
		}
		if leads := look(r, func() int { return r.leads }); leads != 1 {
			t.Errorf("a paused handler was led %d times", leads)
		}
	})
}

func TestAHandlerCannotHarmTheProcess(t *testing.T) {
	t.Parallel()
	type secret string
	for name, c := range map[string]struct {
		send send
		want string
	}{
		"a panic":               {func(context.Context, *ipn.Stored) error { panic(secret("canary")) }, "panic: dispatch_test.secret"},
		"a panic with an error": {func(context.Context, *ipn.Stored) error { panic(errors.New("canary")) }, "panic: *errors.errorString"},
		"a write to a nil map": {func(context.Context, *ipn.Stored) error { note(nil); return nil },
			"panic: assignment to entry in nil map"},
		"a nil pointer": {func(context.Context, *ipn.Stored) error { var e *ipn.Stored; e.ID++; return nil },
			"panic: runtime error: invalid memory address or nil pointer dereference"},
		"a Goexit":                    {func(context.Context, *ipn.Stored) error { goexit(); return nil }, "the handler ended its goroutine instead of returning"},
		"an error that panics":        {func(context.Context, *ipn.Stored) error { return (*brokenError)(nil) }, "panic: runtime error: invalid memory address or nil pointer dereference"},
		"a text the database refuses": {func(context.Context, *ipn.Stored) error { return errors.New("a\x00b\xff") }, "a\uFFFDb\uFFFD"},
		"a text without end":          {func(context.Context, *ipn.Stored) error { return errors.New(strings.Repeat("é", 1000)) }, strings.Repeat("é", 250)},
		"a timeout":                   {func(ctx context.Context, _ *ipn.Stored) error { <-ctx.Done(); return ctx.Err() }, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // B-32
				r := newRecord(3)
				w := run(t, r.sink(func(ctx context.Context, e *ipn.Stored) error {
					if e.ID == 2 {
						return c.send(ctx, e)
					}
					return nil
				}))
				time.Sleep(16 * time.Second)
				if r.at() != 3 {
					t.Fatalf("the cursor stands at %d", r.at())
				}
				if got := r.history(); got[0].id != 2 || got[0].text != c.want {
					t.Errorf("got %q, want %q", got[0].text, c.want)
				}
				for _, entry := range w.logs.All() {
					if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(text, "canary") {
						t.Errorf("the log tells: %s", text)
					}
				}
				if strings.HasPrefix(c.want, "panic") && !strings.Contains(fmt.Sprint(w.logs.FilterMessage("a handler panicked").All()[0].ContextMap()["stack"]), "dispatch_test") {
					t.Error("the log does not show where the panic came from")
				}
			})
		})
	}
}

type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

func TestARunThatIgnoresItsContextIsLeftBehindAndSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // B-31
		r := newRecord(3)
		release := make(chan struct{})
		h := r.sink(func(_ context.Context, e *ipn.Stored) error {
			if e.ID == 2 {
				<-release
			}
			return nil
		})
		h.Retry.Attempts = 1
		w := run(t, h)
		time.Sleep(16*time.Second + time.Millisecond) // the budget, the grace
		if r.at() != 3 || r.state(2) != "buried" || w.metric(t, "ipn_handler_stuck", "sink") != 1 {
			t.Errorf("the cursor stands at %d, the event is %s, %v runs are stuck", r.at(), r.state(2), w.metric(t, "ipn_handler_stuck", "sink"))
		}
		close(release)
		synctest.Wait()
		if w.metric(t, "ipn_handler_stuck", "sink") != 0 {
			t.Error("a run that returned is still counted")
		}
	})
}

func TestTooManyStuckRunsHoldTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(100)
		release := make(chan struct{})
		var runs atomic.Int64
		h := r.sink(func(context.Context, *ipn.Stored) error { runs.Add(1); <-release; return nil })
		h.Concurrency = 2
		w := run(t, h)
		time.Sleep(10 * time.Minute)
		if n := runs.Load(); n > 4 {
			t.Errorf("%d runs were started, though the first ones never return", n)
		}
		if !strings.Contains(r.why(), "ignored the end of their time") || w.metric(t, "ipn_handler_held", "sink") != 1 {
			t.Errorf("held because of %q", r.why())
		}
		close(release)
		time.Sleep(time.Hour)
		if r.at() != 100 || r.why() != "" {
			t.Errorf("the cursor stands at %d, held because of %q", r.at(), r.why())
		}
	})
}

func TestTheBreakerHoldsTheLogAndLetsOneNewEventTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(100)
		var down atomic.Bool
		down.Store(true)
		var tries atomic.Int64
		h := r.sink(func(context.Context, *ipn.Stored) error {
			if tries.Add(1); down.Load() {
				return errBoom
			}
			return nil
		})
		h.Concurrency = 1
		w := run(t, h)
		time.Sleep(9 * time.Second)
		if tries.Load() != 5 || r.at() != 5 {
			t.Errorf("%d attempts and the cursor at %d when the breaker is open, want 5", tries.Load(), r.at())
		}
		if r.why() != "5 events in a row failed, the last with: boom" || w.metric(t, "ipn_handler_held", "sink") != 1 {
			t.Errorf("held because of %q", r.why())
		}
		time.Sleep(30 * time.Second)
		if tries.Load() != 8 || r.at() != 8 {
			t.Errorf("%d attempts and the cursor at %d after three probes, want 8", tries.Load(), r.at())
		}
		for _, a := range r.history() {
			if a.number != 1 {
				t.Errorf("event %d was tried again while the target was down", a.id)
			}
		}
		down.Store(false)
		time.Sleep(time.Minute)
		if r.at() != 100 || r.why() != "" || w.metric(t, "ipn_handler_held", "sink") != 0 {
			t.Errorf("when the target is back: the cursor at %d, held because of %q", r.at(), r.why())
		}
		for id := range int64(8) {
			if r.state(id+1) != "done" {
				t.Errorf("event %d is %s", id+1, r.state(id+1))
			}
		}
		if n := w.logs.FilterMessage("the handler holds its events back").Len(); n != 1 {
			t.Errorf("the log says %d times that events are held", n)
		}
	})
}

func TestWithoutNewEventsAParkedOneIsTheProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(5)
		var down atomic.Bool
		down.Store(true)
		var tries atomic.Int64
		run(t, r.sink(func(context.Context, *ipn.Stored) error {
			if tries.Add(1); down.Load() {
				return errBoom
			}
			time.Sleep(time.Second)
			return nil
		}))
		time.Sleep(65 * time.Second)
		if tries.Load() != 5+6 {
			t.Errorf("%d attempts in 65 seconds, want one of each event and 6 probes", tries.Load())
		}
		down.Store(false)
		r.grow(200)
		time.Sleep(40 * time.Second) // to the next probe at most 10, then 200 events of a second each, 8 at once
		if r.at() != 205 || r.why() != "" {
			t.Errorf("when the target is back: the cursor at %d, held because of %q", r.at(), r.why())
		}
	})
}

func TestWhatSaysNothingAboutTheTargetDoesNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(100)
		h := r.sink(func(context.Context, *ipn.Stored) error { return dispatch.Permanent(errBoom) })
		run(t, h)
		time.Sleep(time.Second)
		if r.at() != 100 {
			t.Errorf("the cursor stands at %d", r.at())
		}
	})
	synctest.Test(t, func(t *testing.T) { // events that are bad in themselves, with good ones among them
		r := newRecord(100)
		h := r.sink(func(_ context.Context, e *ipn.Stored) error {
			if e.ID%2 == 0 {
				return errBoom
			}
			return nil
		})
		h.Concurrency = 1
		run(t, h)
		time.Sleep(time.Hour)
		if held := r.why(); r.at() != 100 || held != "" {
			t.Errorf("the cursor stands at %d, held because of %q", r.at(), held)
		}
	})
}

func TestUnwantedEventsArePassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(100)
		var sent atomic.Int64
		h := r.sink(func(context.Context, *ipn.Stored) error { sent.Add(1); return nil })
		h.Wants = func(e *ipn.Stored) bool { return e.ID%10 == 0 }
		w := run(t, h)
		time.Sleep(time.Second)
		if r.at() != 100 || sent.Load() != 10 || w.metric(t, "ipn_handler_events_total", "sink", "skipped") != 90 {
			t.Errorf("the cursor stands at %d, %d were sent", r.at(), sent.Load())
		}
	})
}

func TestEventsOfOneReferenceNumberKeepTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(200)
		var mu sync.Mutex
		busy, last, most := map[string]bool{}, map[string]int64{}, 0
		for i := range r.events {
			r.events[i].Facts.ReferenceNumber = fmt.Sprint("ref-", i/3)
		}
		run(t, r.sink(func(_ context.Context, e *ipn.Stored) error {
			lane := e.Facts.ReferenceNumber
			mu.Lock()
			if busy[lane] || last[lane] > e.ID {
				t.Errorf("event %d runs beside or after a later one", e.ID)
			}
			busy[lane], last[lane] = true, e.ID
			most = max(most, len(busy))
			mu.Unlock()
			time.Sleep(time.Duration(e.ID%7) * time.Millisecond)
			mu.Lock()
			delete(busy, lane)
			mu.Unlock()
			return nil
		}))
		time.Sleep(time.Minute)
		if r.at() != 200 || most != 8 {
			t.Errorf("the cursor stands at %d, at most %d ran at once, want 8", r.at(), most)
		}
	})
}

func TestAHerdOfDueEventsAndTheLogShareTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // B-35: neither starves the other
		r := newRecord(11_000)
		r.position = 10_000
		for _, e := range r.events[:10_000] {
			r.parked[e.ID] = &parkedEvent{Due: ipn.Due{Stored: e, Attempts: 1, FirstFailedAt: time.Now()}, nextAt: time.Now()}
		}
		began := time.Now()
		run(t, r.sink(func(_ context.Context, e *ipn.Stored) error { time.Sleep(10 * time.Millisecond); return nil }))
		for r.at() < 11_000 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took > 3*time.Second { // alone: 1.25 s
			t.Errorf("a thousand new events took %s", took)
		}
		for look(r, func() int { return len(r.parked) }) > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took > 10_000/300*time.Second {
			t.Errorf("the herd took %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // parked events that hang do not stop the log
		r := newRecord(65)
		r.position = 64
		for _, e := range r.events[:64] {
			r.parked[e.ID] = &parkedEvent{Due: ipn.Due{Stored: e, Attempts: 1, FirstFailedAt: time.Now()}, nextAt: time.Now()}
		}
		run(t, r.sink(func(ctx context.Context, e *ipn.Stored) error {
			if e.ID <= 64 {
				<-ctx.Done()
			}
			return ctx.Err()
		}))
		time.Sleep(16 * time.Second)
		if r.at() != 65 {
			t.Error("a new event waits for more than the budget of those under way")
		}
	})
}

func TestShutdownGivesWorkBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(10)
		release := make(chan struct{})
		defer close(release)
		var sent atomic.Int64
		w := run(t, r.sink(func(ctx context.Context, e *ipn.Stored) error {
			switch {
			case e.ID <= 3, e.ID == 8: // 8 is done, but not all before it are
				return nil
			case e.ID == 5: // ignores its context
				<-release
			}
			<-ctx.Done()
			sent.Add(1)
			return fmt.Errorf("send: %w", ctx.Err())
		}))
		time.Sleep(5 * time.Second)
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if r.at() != 3 || len(r.history()) != 0 {
			t.Errorf("the cursor stands at %d, attempts were spent: %v", r.at(), r.history())
		}
	})
}

func TestALostLeadStopsTheWorkUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // B-29: a fenced settlement counts for nothing
		r := newRecord(1)
		var ends []time.Time
		run(t, r.sink(func(ctx context.Context, e *ipn.Stored) error {
			if len(ends) > 0 {
				return nil
			}
			<-ctx.Done()
			ends = append(ends, time.Now())
			return ctx.Err()
		}))
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		look(r, func() int { r.epoch++; return r.epoch })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(ends) != 1 || ends[0].Sub(began) > time.Second {
			t.Errorf("the run was told %v after the lead was lost", ends)
		}
		if r.at() != 1 || len(r.history()) != 0 {
			t.Errorf("the next lead came to %d and %v", r.at(), r.history())
		}
	})
}

// note writes into a map, which had better be one.
func note(m map[string]int) { m["canary"] = 1 }
