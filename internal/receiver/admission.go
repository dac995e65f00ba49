package receiver

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// What a post in flight costs: its goroutine and buffers, and a body that exists as bytes, as text, as JSON and on its
// way to the database.
const (
	costOfPost = 16 << 10
	costFactor = 6
)

// admission shares a budget of memory among the posts in flight. Counting bytes rather than posts lets thousands of
// small posts wait out a database restart while a few hundred large ones cannot exhaust the machine. Who finds no room
// queues, first come first served, for a bounded time.
type admission struct {
	budget int64
	wait   time.Duration
	room   *semaphore.Weighted
}

func newAdmission(budget int64, wait time.Duration) *admission {
	return &admission{budget: budget, wait: wait, room: semaphore.NewWeighted(budget)}
}

// share is what one post holds of the budget.
type share struct {
	of   *admission
	held int64
}

// enter waits for room for a body of the declared length; a length of -1 (chunked) is taken for the limit. It returns
// false when there was none in time or the client went away.
func (a *admission) enter(ctx context.Context, declared, limit int64) (*share, bool) {
	if declared < 0 {
		declared = limit
	}
	s := &share{of: a, held: min(cost(declared), a.budget)}
	if a.room.TryAcquire(s.held) {
		return s, true
	}
	ctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	return s, a.room.Acquire(ctx, s.held) == nil
}

// settle gives back what a body that turned out smaller does not need.
func (s *share) settle(size int) {
	if needed := min(cost(int64(size)), s.held); needed < s.held {
		s.of.room.Release(s.held - needed)
		s.held = needed
	}
}

func (s *share) leave() { s.of.room.Release(s.held) }

func cost(size int64) int64 { return costOfPost + costFactor*size }
