package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Limits of the Recorder, as measured: a larger group saves nothing more, and any wait for company costs at every load.
const (
	maxBatch       = 256
	defaultQueue   = 8192
	attemptTimeout = 3 * time.Second       // one commit; a hung server must not hold the committer for ever
	firstPause     = 25 * time.Millisecond // between attempts while the server is away, doubling
	longestPause   = 250 * time.Millisecond
)

// Recorder commits receipts in groups: whatever waits when the committer is free, at most 256, is one transaction in
// one round trip. There is no timer. Receipts keep their order of arrival.
//
// While the database is away the queue simply waits, and the committer tries again with short pauses; each caller
// leaves when its own context ends. So a short outage costs time and nothing else, and a long one is met by each
// caller's patience.
type Recorder struct {
	store   *Store
	limit   int
	metrics recorderMetrics
	wake    chan struct{} // holds one token while the queue may be non-empty

	mu      sync.Mutex
	queue   []*waiting
	stopped bool // Run has ended: nobody would take what is queued
}

// errStopped is what callers get who wait or come when Run has ended.
var errStopped = fmt.Errorf("%w: shutting down", ipn.ErrUnavailable)

// waiting is a receipt whose caller waits. left and trouble are guarded by the Recorder's mu.
type waiting struct {
	row     row
	since   time.Time
	done    chan answer // one answer, buffered, so that the committer never blocks on a caller that left
	left    bool        // the caller gave up: not to be tried again
	trouble error       // why the latest attempt did not take it, fit to be shown; nil before that
}

type answer struct {
	recorded ipn.Recorded
	err      error
}

// NewRecorder returns a Recorder on s; Run does its work. queue bounds the receipts that wait (0: 8192).
func NewRecorder(s *Store, queue int, registerer prometheus.Registerer) (*Recorder, error) {
	if queue <= 0 {
		queue = defaultQueue
	}
	metrics, err := newRecorderMetrics(registerer)
	if err != nil {
		return nil, err
	}
	return &Recorder{store: s, limit: queue, metrics: metrics, wake: make(chan struct{}, 1)}, nil
}

// Record keeps one receipt and returns after its commit is durable. When ctx ends first it returns ipn.ErrUnavailable
// with the latest trouble; the receipt may then still be committed, and its repeat is a duplicate. A full queue gives
// ipn.ErrOverloaded, a row that the database will never take an *ipn.RefusedError. After Run has ended every receipt is
// answered with ipn.ErrUnavailable at once.
func (r *Recorder) Record(ctx context.Context, receipt *ipn.Receipt) (ipn.Recorded, error) {
	row, err := rowOf(receipt)
	if err != nil {
		return ipn.Recorded{}, err
	}
	w := &waiting{row: row, since: time.Now(), done: make(chan answer, 1)}
	if err := r.enqueue(w); err != nil {
		return ipn.Recorded{}, err
	}
	select {
	case a := <-w.done:
		return a.recorded, a.err
	case <-ctx.Done():
		return r.leave(w)
	}
}

func (r *Recorder) enqueue(w *waiting) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
		return errStopped
	case len(r.queue) >= r.limit:
		return ipn.ErrOverloaded
	}
	r.queue = append(r.queue, w)
	r.signal()
	return nil
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// leave takes a caller out of the queue. An answer that came at the same moment still counts.
func (r *Recorder) leave(w *waiting) (ipn.Recorded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case a := <-w.done:
		return a.recorded, a.err
	default:
	}
	w.left = true
	r.queue = slices.DeleteFunc(r.queue, func(other *waiting) bool { return other == w })
	r.metrics.hold.Observe(time.Since(w.since).Seconds())
	if w.trouble != nil {
		return ipn.Recorded{}, w.trouble
	}
	return ipn.Recorded{}, ipn.ErrUnavailable
}

// Run commits what comes in until ctx ends. Receipts still waiting then are answered with ipn.ErrUnavailable.
func (r *Recorder) Run(ctx context.Context) {
	pause := firstPause
	for {
		select {
		case <-ctx.Done():
			r.giveUp()
			return
		case <-r.wake:
		}
		for ctx.Err() == nil {
			batch := r.take()
			if len(batch) == 0 {
				break
			}
			untaken, err := r.commit(ctx, batch)
			if len(untaken) == 0 {
				pause = firstPause
				continue
			}
			r.putBack(untaken, unavailable(err))
			r.rest(ctx, pause, err)
			pause = min(2*pause, longestPause)
		}
	}
}

// rest waits before the next attempt. Where only rows are in trouble, company ends it: a healthy server has no reason
// to let others wait.
func (r *Recorder) rest(ctx context.Context, pause time.Duration, err error) {
	var company <-chan struct{}
	if mayBlameRow(err) {
		company = r.wake
	}
	select {
	case <-ctx.Done():
	case <-company:
	case <-time.After(pause):
	}
}

// take removes the next batch from the head of the queue.
func (r *Recorder) take() []*waiting {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), maxBatch)
	batch := slices.Clone(r.queue[:n])
	r.queue = slices.Delete(r.queue, 0, n)
	return batch
}

// putBack returns what an attempt did not take to the head of the queue, without the callers that left meanwhile.
func (r *Recorder) putBack(batch []*waiting, trouble error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var staying []*waiting
	for _, w := range batch {
		w.trouble = trouble
		if !w.left {
			staying = append(staying, w)
		}
	}
	r.queue = append(staying, r.queue...)
}

func (r *Recorder) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.queue {
		w.done <- answer{err: errStopped}
	}
	r.queue, r.stopped = nil, true
}

// commit tries one batch and returns what the server did not take, with the error. An error that one row may be to
// blame for fails the whole transaction, so the batch is then repeated row by row: its neighbours are committed, and a
// row that is refused for good is answered.
func (r *Recorder) commit(ctx context.Context, batch []*waiting) (untaken []*waiting, err error) {
	recorded, err := r.attempt(ctx, batch)
	switch {
	case err == nil:
		r.metrics.batchSize.Observe(float64(len(batch)))
		for i, w := range batch {
			r.answer(w, answer{recorded: recorded[i]})
		}
		return nil, nil
	case len(batch) > 1 && mayBlameRow(err):
		return r.commitSingly(ctx, batch)
	}
	if refusal := refused(err); refusal != nil {
		for _, w := range batch {
			r.answer(w, answer{err: refusal})
		}
		return nil, nil
	}
	return batch, err
}

// commitSingly commits row by row, and stops where the server itself is in trouble.
func (r *Recorder) commitSingly(ctx context.Context, batch []*waiting) (untaken []*waiting, trouble error) {
	for i := range batch {
		rest, err := r.commit(ctx, batch[i:i+1])
		if len(rest) == 0 {
			continue
		}
		untaken, trouble = append(untaken, rest...), err
		if !mayBlameRow(err) {
			return append(untaken, batch[i+1:]...), err
		}
	}
	return untaken, trouble
}

func (r *Recorder) attempt(ctx context.Context, batch []*waiting) ([]ipn.Recorded, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	rows := make([]row, len(batch))
	for i, w := range batch {
		rows[i] = w.row
	}
	return insert(ctx, r.store.intake, rows)
}

func (r *Recorder) answer(w *waiting, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.trouble != nil && !w.left {
		r.metrics.hold.Observe(time.Since(w.since).Seconds())
	}
	w.done <- a
}
