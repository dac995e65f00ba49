package dispatch

import (
	"slices"
	"sync"
	"time"
)

// lanes hands out the jobs of one step in order, so that two events of one reference number are never under way at
// once: the later one waits for the earlier. Events without a number wait for nobody.
type lanes struct {
	mu       sync.Mutex
	waiting  []*job
	busy     map[string]bool
	dueUntil time.Time // from then on no due event is started, so that they cannot keep the log waiting
	closed   bool
}

func newLanes(jobs []*job, dueUntil time.Time) *lanes {
	return &lanes{waiting: slices.Clone(jobs), busy: make(map[string]bool), dueUntil: dueUntil}
}

// next takes the first job whose lane is free, nil when there is none. A worker that gets none may leave: each lane
// that is busy has a worker who will come back for the rest of it.
func (l *lanes) next() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	late := time.Now().After(l.dueUntil)
	for i, j := range l.waiting {
		lane := j.event.Facts.ReferenceNumber
		if l.busy[lane] || late && j.due {
			continue
		}
		if lane != "" {
			l.busy[lane] = true
		}
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return j
	}
	return nil
}

func (l *lanes) leave(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, j.event.Facts.ReferenceNumber)
}

// close lets nothing more start.
func (l *lanes) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
