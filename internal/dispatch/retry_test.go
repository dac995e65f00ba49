package dispatch_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
)

func TestTheDefaultScheduleIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	schedule := []time.Duration{
		5 * time.Second, 20 * time.Second, 80 * time.Second, 320 * time.Second, 1280 * time.Second, 5120 * time.Second, 20480 * time.Second,
		6 * time.Hour, 6 * time.Hour, 6 * time.Hour, 6 * time.Hour,
	}
	var whole time.Duration
	for i, want := range schedule {
		got := dispatch.Retry{}.Delay(i+1, .5)
		if got != want {
			t.Errorf("after attempt %d: got %s, want %s", i+1, got, want)
		}
		whole += got
	}
	if want := 31*time.Hour + 35*time.Minute + 5*time.Second; whole != want {
		t.Errorf("all delays together: got %s, want %s", whole, want)
	}
}

func TestADelayStaysWithinItsJitterAndItsLongest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := dispatch.Retry{
			First:   time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "first")),
			Factor:  rapid.Float64Range(1, 1000).Draw(t, "factor"),
			Longest: time.Duration(rapid.Int64Range(int64(time.Hour), int64(24*time.Hour)).Draw(t, "longest")),
			Jitter:  rapid.Float64Range(.01, .99).Draw(t, "jitter"),
		}
		attempt := rapid.IntRange(-1, 1000).Draw(t, "attempt")
		plain, low, high := r.Delay(attempt, .5), r.Delay(attempt, 0), r.Delay(attempt, 1)
		if plain < 0 || plain > r.Longest {
			t.Errorf("the delay is %s", plain)
		}
		if low > plain || high < plain || low < 0 {
			t.Errorf("jitter turns %s into %s to %s", plain, low, high)
		}
		if next := r.Delay(attempt+1, .5); next < plain {
			t.Errorf("%s comes after %s", next, plain)
		}
	})
}
