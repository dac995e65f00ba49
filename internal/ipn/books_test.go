package ipn_test

import (
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// day is a moment of a day in May.
func day(n int) time.Time { return time.Date(2024, 5, n, 17, 0, 0, 0, time.UTC) }

func TestADisputesAgeEndsWithIt(t *testing.T) {
	ended := day(11)
	open, over := &ipn.DisputeBook{OpenedAt: day(1)}, &ipn.DisputeBook{OpenedAt: day(1), EndedAt: &ended}
	for _, tt := range []struct {
		name string
		book *ipn.DisputeBook
		now  time.Time
		want int
	}{
		{"an open one ages", open, day(4), 3},
		{"by whole days", open, day(4).Add(-time.Minute), 2},
		{"and is never younger than new", open, day(1).Add(-48 * time.Hour), 0},
		{"one that is over does not", over, day(30), 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.book.Age(tt.now); got != tt.want {
				t.Errorf("got %d days, want %d", got, tt.want)
			}
		})
	}
}

func TestOnlyAnOpenDisputeHasAnEstimatedDeadline(t *testing.T) {
	book := &ipn.DisputeBook{State: ipn.DisputeOpen, OpenedAt: day(1)}
	if got := book.Deadline(10); got == nil || !got.Equal(day(11)) {
		t.Errorf("got %v, want %s", got, day(11))
	}
	if got := book.Deadline(0); got != nil {
		t.Errorf("no days set: got %s", got)
	}
	book.State = ipn.DisputeWon
	if got := book.Deadline(10); got != nil {
		t.Errorf("a dispute that was won: got %s", got)
	}
}
