// Package dispatch brings the events of the log to their handlers.
//
// Its one non-obvious decision is that there is no queue. Each handler has a cursor over the ordered log, and one
// consumer in the whole fleet, elected by a lock, walks it: read a batch, handle it, move the cursor. What fails is set
// aside as a parked row, written in the same transaction that moves the cursor, and tried again later, so one bad event
// delays nobody. A consumer that lost the lock without noticing cannot do harm: the cursor moves only from the value it
// read, in the epoch it leads.
//
// A projection writes the database in the transaction that moves the cursor: exactly once. A sink speaks to the outside
// first and moves the cursor then: at least once, under one stable event id.
//
// Handlers are strangers' code. Each run of one has a goroutine of its own and a budget of time; a panic, a Goexit, a
// timeout or a run that ignores its context becomes a failed attempt. What cannot be contained in one process is a fatal
// error of the runtime, such as two goroutines writing one map.
package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Defaults of Config.
const (
	defaultInterval = 2 * time.Millisecond
	defaultPoll     = time.Second
)

// Config says which handlers to serve, and how.
type Config struct {
	Handlers []Handler
	// Listen calls wake whenever the log may have grown, until ctx ends or its connection is lost. nil: only the poll
	// finds new events.
	Listen func(ctx context.Context, wake func()) error
	// Interval is the least time between two reads of the log by one handler that is not behind; 0: 2 ms. A handler
	// that is behind reads at once.
	Interval time.Duration
	// Poll is how often a handler looks for events without being woken, and for its lead while another process has it;
	// 0: 1 s.
	Poll time.Duration
	// Log receives names, counts, event ids and error texts; nil: nothing is logged.
	Log *zap.Logger
	// Registerer receives the metrics of this room; nil registers none.
	Registerer prometheus.Registerer
	// Random spreads the delays of retries: numbers from 0 to 1, asked for by several goroutines. nil: a true one.
	Random func() float64
}

// Dispatcher runs a consumer for each handler.
type Dispatcher struct {
	consumers []*consumer
	listen    func(ctx context.Context, wake func()) error
	log       *zap.Logger
}

// New checks the handlers and registers the metrics; Run does the work. It fails on a handler that could not work, such
// as a sink without Send, and on two of one name.
func New(c Config) (*Dispatcher, error) {
	c.Interval, c.Poll = cmp.Or(c.Interval, defaultInterval), cmp.Or(c.Poll, defaultPoll)
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	metrics, err := newMetrics(c.Registerer)
	if err != nil {
		return nil, err
	}
	d := &Dispatcher{listen: c.Listen, log: c.Log}
	known := make(map[string]bool)
	for _, h := range c.Handlers {
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("handler %q: %w", h.Name, err)
		}
		if known[h.Name] {
			return nil, fmt.Errorf("handler %q: the name is taken", h.Name)
		}
		known[h.Name] = true
		d.consumers = append(d.consumers, newConsumer(h.withDefaults(), c, metrics.of(h.Name)))
	}
	return d, nil
}

// Run serves every handler until ctx ends. Runs of handlers under way then are cancelled, what they did not finish is
// given back without an attempt spent, and Run returns, a second and a settlement later at most: runs that ignore their
// context are left behind.
func (d *Dispatcher) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, c := range d.consumers {
		running.Go(func() { c.run(ctx) })
	}
	if d.listen != nil {
		running.Go(func() { d.hear(ctx) })
	}
	running.Wait()
}
