package dispatch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// record is the log of one handler in memory, on the clock of the test: what the timing of the dispatcher is measured
// against. The promises of the real one are tested with the real one.
type record struct {
	project func(ctx context.Context, events []ipn.Stored) error

	mu       sync.Mutex
	events   []ipn.Stored
	position int64
	parked   map[int64]*parkedEvent
	paused   string
	held     string
	epoch    int
	attempts []attempt
	reads    []time.Time // of the log
	leads    int
	trouble  error // what every method returns while it is set
}

type parkedEvent struct {
	ipn.Due
	buried bool
	nextAt time.Time
}

// attempt is a line of the history.
type attempt struct {
	id     int64
	number int
	at     time.Time
	result string
	text   string
}

func newRecord(events int) *record {
	r := &record{parked: make(map[int64]*parkedEvent)}
	r.grow(events)
	return r
}

func (r *record) grow(events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range events {
		id := int64(len(r.events) + 1)
		r.events = append(r.events, ipn.Stored{ID: id, ReceivedAt: time.Now(), Facts: ipn.Facts{ReferenceNumber: fmt.Sprint("ref-", id)}})
	}
}

func (r *record) lead(context.Context) (dispatch.Lead, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return nil, r.trouble
	}
	if r.paused != "" {
		return nil, ipn.ErrPaused
	}
	r.epoch++
	r.leads++
	r.held = ""
	return &lead{record: r, epoch: r.epoch}, nil
}

type lead struct {
	*record
	epoch int
}

// locked runs f unless the lead is lost.
func (l *lead) locked(f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.trouble != nil:
		return l.trouble
	case l.epoch != l.record.epoch:
		return ipn.ErrFenced
	}
	return f()
}

func (l *lead) Next(_ context.Context, limit int) (found []ipn.Stored, err error) {
	err = l.locked(func() error {
		l.reads = append(l.reads, time.Now())
		rest := l.events[l.position:]
		found = slices.Clone(rest[:min(limit, len(rest))])
		return nil
	})
	return found, err
}

func (l *lead) Due(_ context.Context, limit int) (due []ipn.Due, wait time.Duration, err error) {
	err = l.locked(func() error {
		waiting := slices.DeleteFunc(slices.Collect(maps.Values(l.parked)), func(p *parkedEvent) bool { return p.buried })
		slices.SortFunc(waiting, func(a, b *parkedEvent) int { return cmp.Or(a.nextAt.Compare(b.nextAt), cmp.Compare(a.ID, b.ID)) })
		for _, p := range waiting {
			if p.nextAt.After(time.Now()) {
				if len(due) == 0 {
					wait = time.Until(p.nextAt)
				}
				break
			}
			if len(due) < limit {
				due = append(due, p.Due)
			}
		}
		return nil
	})
	return due, wait, err
}

func (l *lead) Settle(ctx context.Context, s ipn.Settlement) error {
	if err := l.locked(func() error { return nil }); err != nil {
		return err
	}
	if len(s.Project) > 0 {
		if err := l.project(ctx, s.Project); err != nil {
			return fmt.Errorf("project: %w", err)
		}
	}
	return l.locked(func() error {
		l.position = max(s.Position, l.position)
		for _, f := range s.Failed {
			p := l.parked[f.EventID]
			if p == nil {
				p = &parkedEvent{Due: ipn.Due{Stored: l.events[f.EventID-1], FirstFailedAt: time.Now()}}
				l.parked[f.EventID] = p
			}
			p.Attempts, p.buried, p.nextAt = f.Number, f.Bury, time.Now().Add(f.Wait)
			l.attempts = append(l.attempts, attempt{f.EventID, f.Number, time.Now(), map[bool]string{false: "failed", true: "buried"}[f.Bury], f.Error})
		}
		for _, d := range s.Done {
			delete(l.parked, d.EventID)
			l.attempts = append(l.attempts, attempt{d.EventID, d.Number, time.Now(), "done", ""})
		}
		return nil
	})
}

func (l *lead) Check(context.Context) error { return l.locked(func() error { return nil }) }

func (l *lead) Hold(_ context.Context, because string) error {
	return l.locked(func() error { l.held = because; return nil })
}

func (l *lead) Pause(_ context.Context, because string) error {
	return l.locked(func() error { l.paused = because; l.record.epoch++; return nil })
}

func (l *lead) Close() {}

// look reads the record in peace.
func look[T any](r *record, read func() T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return read()
}

func (r *record) at() int64       { return look(r, func() int64 { return r.position }) }
func (r *record) why() string     { return look(r, func() string { return r.held }) }
func (r *record) resting() string { return look(r, func() string { return r.paused }) }
func (r *record) history() []attempt {
	return look(r, func() []attempt { return slices.Clone(r.attempts) })
}
func (r *record) state(id int64) string {
	return look(r, func() string {
		switch p := r.parked[id]; {
		case p == nil && id <= r.position:
			return "done"
		case p == nil:
			return "waiting"
		case p.buried:
			return "buried"
		}
		return "parked"
	})
}

// send makes a sink of a function.
type send func(ctx context.Context, e *ipn.Stored) error

func (f send) Send(ctx context.Context, e *ipn.Stored) error { return f(ctx, e) }

func (r *record) sink(f send) dispatch.Handler {
	return dispatch.Handler{Name: "sink", Kind: ipn.KindSink, Sink: f, Lead: r.lead}
}

func (r *record) projection(f func(ctx context.Context, events []ipn.Stored) error) dispatch.Handler {
	r.project = f
	return dispatch.Handler{Name: "projection", Kind: ipn.KindProjection, Lead: r.lead}
}

// world is a dispatcher at work.
type world struct {
	stop     func() // returns when the dispatcher has
	wake     func()
	logs     *observer.ObservedLogs
	registry *prometheus.Registry
}

// run lets a dispatcher work until stop, at the latest when the test ends. Random numbers are pinned to the middle, so
// delays are the schedule's.
func run(t *testing.T, handlers ...dispatch.Handler) *world {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	w := &world{logs: logs, registry: prometheus.NewRegistry()}
	wakes := make(chan struct{})
	w.wake = func() { wakes <- struct{}{} }
	d, err := dispatch.New(dispatch.Config{
		Handlers: handlers, Log: zap.New(core), Registerer: w.registry, Random: func() float64 { return .5 },
		Listen: func(ctx context.Context, wake func()) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-wakes:
					wake()
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	w.stop = func() { cancel(); running.Wait() }
	t.Cleanup(w.stop)
	return w
}

// metric is the present value of a counter or gauge, by its labels in the order of their names.
func (w *world) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var have []string
			for _, pair := range m.GetLabel() {
				have = append(have, pair.GetValue())
			}
			if family.GetName() == name && slices.Equal(have, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s%q", name, labels)
	return 0
}

var errBoom = errors.New("boom")
