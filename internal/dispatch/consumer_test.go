package dispatch_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func goexit() { runtime.Goexit() }

func nothing(context.Context, *ipn.Stored) error { return nil }

func TestNewEventsAreFoundByWakingAndByThePoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(0)
		var delays []time.Duration
		w := run(t, r.sink(func(_ context.Context, e *ipn.Stored) error {
			delays = append(delays, time.Since(e.ReceivedAt))
			return nil
		}))
		time.Sleep(10*time.Second + 500*time.Millisecond)
		r.grow(1)
		w.wake()
		time.Sleep(10 * time.Second)
		r.grow(1) // nobody tells
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(delays) != 2 || delays[0] != 0 || delays[1] > time.Second {
			t.Errorf("the events waited for %v, want nothing and at most a second", delays)
		}
	})
}

func TestAHandlerThatIsNotBehindReadsOncePerInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(0)
		w := run(t, r.sink(nothing))
		for range 1000 {
			time.Sleep(time.Millisecond)
			r.grow(1)
			w.wake()
		}
		synctest.Wait()
		if n := look(r, func() int { return len(r.reads) }); n < 475 || n > 525 {
			t.Errorf("the log was read %d times in a second, want 500", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(2560)
		run(t, r.sink(nothing))
		synctest.Wait() // no time passes
		if r.at() != 2560 {
			t.Errorf("a handler that is behind rests at %d", r.at())
		}
	})
}

func TestTroubleOfTheRecordIsWaitedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble error
		within  time.Duration
	}{
		"the record is away":           {ipn.ErrUnavailable, 6 * time.Second},
		"another process leads":        {ipn.ErrLed, 1100 * time.Millisecond},
		"the handler is paused":        {ipn.ErrPaused, 1100 * time.Millisecond},
		"an error nobody has heard of": {errors.New("odd"), 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRecord(1)
				r.trouble = c.trouble
				w := run(t, r.sink(nothing))
				time.Sleep(time.Hour)
				if n := w.logs.FilterMessage("the handler is not led by this process").Len(); n != 1 {
					t.Errorf("the log tells of one trouble %d times", n)
				}
				look(r, func() error { r.trouble = nil; return nil })
				time.Sleep(c.within)
				if r.at() != 1 || w.metric(t, "ipn_handler_leading", "sink") != 1 {
					t.Errorf("%s later the cursor stands at %d", c.within, r.at())
				}
			})
		})
	}
}

func TestASlowHandlerHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // B-31
		slow, quick := newRecord(1000), newRecord(1000)
		sleepy := slow.sink(func(context.Context, *ipn.Stored) error { time.Sleep(time.Minute); return nil })
		sleepy.Name = "sleepy"
		w := run(t, sleepy, quick.sink(nothing))
		synctest.Wait()
		if quick.at() != 1000 {
			t.Errorf("the quick handler stands at %d", quick.at())
		}
		w.stop()
		time.Sleep(time.Minute) // until the sleepers are awake, or the bubble cannot end
	})
}

func TestANewDispatcherRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	r := newRecord(0)
	good := r.sink(nothing)
	with := func(change func(*dispatch.Handler)) []dispatch.Handler {
		h := good
		change(&h)
		return []dispatch.Handler{h}
	}
	for name, c := range map[string]struct {
		handlers []dispatch.Handler
		want     string
	}{
		"two of one name":                {[]dispatch.Handler{good, good}, "the name is taken"},
		"a name that is no label":        {with(func(h *dispatch.Handler) { h.Name = "Bill ing" }), "lower-case"},
		"a sink without Send":            {with(func(h *dispatch.Handler) { h.Sink = nil }), "needs Sink"},
		"a projection with one":          {with(func(h *dispatch.Handler) { h.Kind = ipn.KindProjection }), "has no Sink"},
		"no kind":                        {with(func(h *dispatch.Handler) { h.Kind = "" }), "kind must be"},
		"no lead":                        {with(func(h *dispatch.Handler) { h.Lead = nil }), "no way to take the lead"},
		"a negative budget":              {with(func(h *dispatch.Handler) { h.Budget = -1 }), "negative"},
		"a schedule that shrinks":        {with(func(h *dispatch.Handler) { h.Retry.Factor = .5 }), "factor"},
		"a jitter that turns time about": {with(func(h *dispatch.Handler) { h.Retry.Jitter = 2 }), "jitter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := dispatch.New(dispatch.Config{Handlers: c.handlers}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestListeningIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(0)
		var calls atomic.Int64
		d, err := dispatch.New(dispatch.Config{Handlers: []dispatch.Handler{r.sink(nothing)}, Poll: time.Hour, Listen: func(ctx context.Context, wake func()) error {
			if calls.Add(1) < 5 {
				return ipn.ErrUnavailable
			}
			r.grow(1)
			wake()
			<-ctx.Done()
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d.Run(ctx)
		if r.at() != 1 {
			t.Error("the event was not heard of")
		}
	})
}
