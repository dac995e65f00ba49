package dispatch_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// fails makes a projection that does what bad does when the event is in its batch. sizes returns how many events it was
// given each time.
func fails(id int64, bad func(ctx context.Context) error) (project func(context.Context, []ipn.Stored) error, sizes func() []int) {
	var mu sync.Mutex
	var seen []int
	sizes = func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
	return func(ctx context.Context, events []ipn.Stored) error {
		mu.Lock()
		seen = append(seen, len(events))
		mu.Unlock()
		if slices.ContainsFunc(events, func(e ipn.Stored) bool { return e.ID == id }) {
			return bad(ctx)
		}
		return nil
	}, sizes
}

func TestAProjectionFindsThePoisonByHalvesAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(1000)
		project, sizes := fails(199, func(context.Context) error { return errBoom })
		h := r.projection(project)
		h.Retry.Attempts = 2
		run(t, h)
		synctest.Wait()
		if r.at() != 1000 || r.state(199) != "parked" {
			t.Fatalf("the cursor stands at %d, the bad event is %s", r.at(), r.state(199))
		}
		want := []int{256, 128, 64, 32, 16, 8, 4, 2, 1, 1, 8, 64, 256, 256, 216}
		if got := sizes(); !reflect.DeepEqual(got, want) {
			t.Errorf("batches of %v, want %v", got, want)
		}
		if total := sum(sizes()); total > 1000+2*256+1 {
			t.Errorf("%d events were applied for 1000", total)
		}
		time.Sleep(time.Minute)
		if got := r.history(); len(got) != 2 || got[1].result != "buried" || got[1].at.Sub(got[0].at) != 5*time.Second {
			t.Errorf("got %v", got)
		}
	})
}

func sum(sizes []int) (total int) {
	for _, n := range sizes {
		total += n
	}
	return total
}

func TestAProjectionIsContained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad  func(ctx context.Context) error
		want string
	}{
		"a panic":         {func(context.Context) error { panic("canary") }, "panic: string"},
		"a Goexit":        {func(context.Context) error { goexit(); return nil }, "the handler ended its goroutine instead of returning"},
		"a timeout":       {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "project: context deadline exceeded"},
		"a deaf one":      {func(context.Context) error { <-time.After(time.Minute); return nil }, "the handler ignored the end of its time and was left behind"},
		"a Permanent one": {func(context.Context) error { return dispatch.Permanent(errBoom) }, "project: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRecord(20)
				project, sizes := fails(13, c.bad)
				h := r.projection(project)
				h.Retry.Attempts = 1
				run(t, h)
				time.Sleep(time.Minute)
				if r.at() != 20 || r.state(13) != "buried" {
					t.Fatalf("the cursor stands at %d, the bad event is %s", r.at(), r.state(13))
				}
				if got := r.history(); len(got) != 1 || got[0].text != c.want {
					t.Errorf("got %v, want one attempt and %q", got, c.want)
				}
				if ones := count(sizes(), 1); ones > 12 {
					t.Errorf("the event was applied alone more than once: batches of %v", sizes())
				}
				time.Sleep(10 * time.Minute) // what was left behind returns
			})
		})
	}
}

func count(sizes []int, n int) (found int) {
	for _, size := range sizes {
		if size == n {
			found++
		}
	}
	return found
}

func TestAParkedEventOfAProjectionIsAppliedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(10)
		began := time.Now()
		bad := func(context.Context) error {
			if time.Since(began) < 4*time.Second {
				return errBoom
			}
			return nil
		}
		project, sizes := fails(5, bad)
		run(t, r.projection(project))
		time.Sleep(time.Minute)
		if got := r.history(); len(got) != 2 || got[1].result != "done" || got[1].number != 2 || r.state(5) != "done" {
			t.Errorf("got %v", got)
		}
		if last := sizes()[len(sizes())-1]; last != 1 {
			t.Errorf("it was applied with %d others", last-1)
		}
	})
}

func TestAnEventThatTimesOutIsNotAppliedAgainBeforeItIsParked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(1)
		project, sizes := fails(1, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		h := r.projection(project)
		h.Retry.Attempts = 3
		run(t, h)
		time.Sleep(time.Hour)
		if len(sizes()) != 3 {
			t.Errorf("it was applied %d times for 3 attempts", len(sizes()))
		}
		var numbers []string
		for _, a := range r.history() {
			numbers = append(numbers, fmt.Sprint(a.number, " ", a.result))
		}
		if got := strings.Join(numbers, ", "); got != "1 failed, 2 failed, 3 buried" {
			t.Errorf("got %s", got)
		}
	})
}

func TestAHaltedProjectionIsPaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(10)
		project, _ := fails(5, func(context.Context) error { return dispatch.Halt(errBoom) })
		run(t, r.projection(project))
		time.Sleep(time.Minute)
		if r.resting() != "project: boom" || r.at() != 0 || len(r.history()) != 0 {
			t.Errorf("paused because of %q at %d", r.resting(), r.at())
		}
	})
}

func TestAProjectionIsRolledBackAtShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(10)
		project, _ := fails(5, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		w := run(t, r.projection(project))
		time.Sleep(time.Second)
		w.stop()
		if r.at() != 0 || len(r.history()) != 0 {
			t.Errorf("the cursor stands at %d after %v", r.at(), r.history())
		}
	})
}
