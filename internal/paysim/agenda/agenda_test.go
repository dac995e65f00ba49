package agenda_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// run works an agenda off until the test ends.
func run(t *testing.T, a *agenda.Agenda) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func TestTheClockRunsAtItsSpeed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		speed float64
		want  time.Duration // after a second of the world
	}{
		{"like the world's", 1, time.Second},
		{"faster", 3600, time.Hour},
		{"slower", 0.25, 250 * time.Millisecond},
		{"none is like the world's", 0, time.Second},
		{"so is a backward one", -5, time.Second},
		{"as fast as it can", agenda.Fastest, agenda.Fastest * time.Second},
		{"none that is faster", math.Inf(1), time.Second},
		{"no number", math.NaN(), time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := agenda.New(start, tt.speed)
				time.Sleep(time.Second)
				if got := a.Now().Sub(start); got != tt.want {
					t.Errorf("%v have passed, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestANewSpeedCountsFromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1)
		time.Sleep(time.Minute)
		a.SetSpeed(60)
		time.Sleep(time.Minute)
		a.SetSpeed(0) // ignored
		a.SetSpeed(-1)
		a.SetSpeed(math.NaN())
		a.SetSpeed(2 * agenda.Fastest)
		if got, want := a.Now().Sub(start), 61*time.Minute; got != want || a.Speed() != 60 {
			t.Errorf("%v have passed at speed %v, want %v", got, a.Speed(), want)
		}
	})
}

func TestAdvanceDoesInOrderAllThatBecomesDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1)
		var did []string
		enter := func(after time.Duration, name string) {
			a.After(after, func() {
				did = append(did, name)
				if want := start.Add(after); !a.Now().Equal(want) {
					t.Errorf("%s was done at %v, want %v", name, a.Now(), want)
				}
			})
		}
		enter(3*time.Hour, "third")
		enter(time.Hour, "first")
		enter(2*time.Hour, "second")
		enter(2*time.Hour, "second too")
		enter(5*time.Hour, "not yet")
		a.Advance(4 * time.Hour)
		if want := []string{"first", "second", "second too", "third"}; !slices.Equal(did, want) {
			t.Errorf("did %v, want %v", did, want)
		}
		if got := a.Now().Sub(start); got != 4*time.Hour || a.Pending() != 1 {
			t.Errorf("it is %v later and %d are to come", got, a.Pending())
		}
	})
}

func TestWhatAnEntryEntersIsDoneOnTheSameWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1)
		months := 0
		var renew func()
		renew = func() {
			months++
			a.After(30*24*time.Hour, renew)
		}
		a.After(30*24*time.Hour, renew)
		a.Advance(365 * 24 * time.Hour)
		if months != 12 || a.Pending() != 1 {
			t.Errorf("%d renewals in a year, %d to come", months, a.Pending())
		}
	})
}

func TestThePastIsDueAtOnceAndTheClockNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1)
		var at time.Time
		a.At(start.Add(-time.Hour), func() { at = a.Now() })
		run(t, a)
		synctest.Wait()
		if !at.Equal(start) {
			t.Errorf("it was done at %v, want %v", at, start)
		}
		a.Advance(-time.Hour)
		if a.Now().Before(start) {
			t.Errorf("the clock shows %v", a.Now())
		}
	})
}

func TestRunDoesWhatBecomesDue(t *testing.T) {
	const far = 50 * time.Minute
	for _, tt := range []struct {
		name   string
		speed  float64
		change func(*agenda.Agenda)
		want   time.Duration // of the world, until it is done
	}{
		{"when its time has come", 1, func(*agenda.Agenda) {}, far},
		{"sooner on a faster clock", 7, func(*agenda.Agenda) {}, far/7 + 1},
		{"sooner when the clock becomes faster", 1, func(a *agenda.Agenda) { a.SetSpeed(50) }, time.Minute},
		{"sooner when the clock is moved ahead", 1, func(a *agenda.Agenda) { a.Advance(49 * time.Minute) }, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := agenda.New(start, tt.speed)
				run(t, a)
				var done atomic.Bool
				a.After(far, func() { done.Store(true) })
				synctest.Wait()
				tt.change(a)
				time.Sleep(tt.want - 2)
				synctest.Wait()
				if done.Load() {
					t.Fatal("it was done too early")
				}
				time.Sleep(2 * time.Nanosecond)
				synctest.Wait()
				if !done.Load() {
					t.Error("it is late")
				}
			})
		})
	}
}

func TestWhatIsFurtherThanAnHourIsDoneToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1)
		run(t, a)
		var done atomic.Int32
		a.After(30*time.Hour, func() { done.Add(1) })
		time.Sleep(29 * time.Hour)
		synctest.Wait()
		a.After(time.Minute, func() { done.Add(1) }) // earlier than what Run waits for
		time.Sleep(time.Minute)
		synctest.Wait()
		if done.Load() != 1 {
			t.Errorf("%d were done, want 1", done.Load())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if done.Load() != 2 {
			t.Errorf("%d were done, want 2", done.Load())
		}
	})
}

// A clock so slow that what is due is further off than a time can tell must wait, and not ask without end.
func TestRunSleepsHoweverSlowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, 1e-12)
		run(t, a)
		a.After(365*24*time.Hour, func() { t.Error("done ages too early") })
		time.Sleep(100 * time.Hour)
	})
}

func TestTheFastestClockNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agenda.New(start, agenda.Fastest)
		before := a.Now()
		for range 10 {
			time.Sleep(time.Hour)
			if now := a.Now(); now.Before(before) {
				t.Fatalf("after %v the clock shows %v", before, now)
			}
			before = a.Now()
		}
	})
}

// TestEntriesNeverRunSideBySide moves the clock from several goroutines at once while Run goes on; the race detector watches the
// counter.
func TestEntriesNeverRunSideBySide(t *testing.T) {
	const entries = 200
	a := agenda.New(start, 1)
	run(t, a)
	done := 0
	var inside atomic.Bool
	for i := range entries {
		a.After(time.Duration(i)*time.Minute, func() {
			if inside.Swap(true) {
				t.Error("two entries at once")
			}
			runtime.Gosched()
			done++
			inside.Store(false)
		})
	}
	var movers sync.WaitGroup
	for range 4 {
		movers.Go(func() { a.Advance(entries / 4 * time.Minute) })
	}
	movers.Wait()
	a.Advance(0) // has waited for Run's turn
	if done != entries {
		t.Errorf("%d were done, want %d", done, entries)
	}
}

func TestWhateverIsEnteredIsDoneInOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := agenda.New(start, 1)
		delays := rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "delays")
		var did []int
		for i, hours := range delays {
			a.At(start.Add(time.Duration(hours)*time.Hour), func() { did = append(did, i) })
		}
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			a.Advance(time.Duration(rapid.IntRange(0, 4).Draw(t, "hours")) * time.Hour)
		}
		a.Advance(21 * time.Hour)
		want := make([]int, len(delays))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(i, j int) int { return delays[i] - delays[j] })
		if !slices.Equal(did, want) {
			t.Fatalf("done in order %v, want %v", did, want)
		}
	})
}
