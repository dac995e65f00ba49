package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const (
	beat         = time.Second           // between two heartbeats of a lead, also while a handler runs for long
	patience     = 2 * time.Second       // for one heartbeat
	settleTime   = 5 * time.Second       // for one settlement; it is not cut short when the consumer stops
	breath       = 10 * time.Millisecond // after a lead was given up: the record needs a moment to notice
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	dueTime      = time.Second // per step, in which parked events are started
	dueLimit     = 64          // parked events per step
)

// errAnew says that the lead was given up because a run broke it, and may be taken again at once.
var errAnew = errors.New("the lead may be half used")

// consumer serves one handler: it takes the lead, works in steps until the lead is lost, and begins anew.
type consumer struct {
	Handler
	log      *zap.Logger
	meter    meter
	wake     chan struct{} // holds one token when the log may have grown
	interval time.Duration
	poll     time.Duration
	random   func() float64

	cell     *cell
	breaker  *breaker // of a sink
	cut      cut      // of a projection; remembered from lead to lead
	doomed   *job     // of a projection: see condemn
	doomedAt time.Time

	trouble string    // what was logged last about not leading
	noted   string    // what Hold was told last under this lead
	asked   time.Time // when the log was read last
	dueAt   time.Time // when parked events are looked for again
}

func newConsumer(h Handler, c Config, m meter) *consumer {
	log := c.Log.With(zap.String("handler", h.Name))
	return &consumer{
		Handler: h, log: log, meter: m,
		wake: make(chan struct{}, 1), interval: c.Interval, poll: c.Poll, random: c.Random,
		cell: &cell{budget: h.Budget, onStuck: m.stuck.Add, onPanic: func(text, stack string) {
			log.Error("a handler panicked", zap.String("error", text), zap.String("stack", stack))
		}},
		breaker: newBreaker(),
		cut:     newCut(h.Batch),
	}
}

// run leads whenever it can, until ctx ends.
func (c *consumer) run(ctx context.Context) {
	pause := newPause()
	for ctx.Err() == nil {
		err := c.serve(ctx, pause.Reset)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errAnew) {
			sleep(ctx, breath)
			continue
		}
		c.tellTrouble(err)
		switch {
		case errors.Is(err, ipn.ErrLed), errors.Is(err, ipn.ErrPaused):
			sleep(ctx, c.poll)
		default:
			sleep(ctx, pause.NextBackOff())
		}
	}
}

// newPause is how long to wait after the record was in trouble, or the lead was lost: 0.1 to 5 s.
func newPause() *backoff.ExponentialBackOff {
	pause := &backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: longestPause, Multiplier: 2, RandomizationFactor: .2}
	pause.Reset()
	return pause
}

// serve takes the lead once and works until it is lost. The error says why; it is nil when ctx ended. wellDone is
// called after each step that the record took.
func (c *consumer) serve(ctx context.Context, wellDone func()) error {
	lead, err := c.Lead(ctx)
	if err != nil {
		return fmt.Errorf("take the lead: %w", err)
	}
	c.trouble, c.noted, c.dueAt = "", "", time.Time{}
	c.log.Info("the handler is led by this process")
	c.meter.leading.Set(1)
	defer c.meter.leading.Set(0)
	defer c.meter.held.Set(0)

	ctx, lose := context.WithCancelCause(ctx)
	var heart sync.WaitGroup
	heart.Go(func() { lose(keepAlive(ctx, lead)) })
	defer heart.Wait()
	defer lead.Close() // before the wait: it ends a heartbeat that hangs
	defer lose(nil)

	for {
		wait, err := c.step(ctx, lead)
		if ctx.Err() != nil {
			return context.Cause(ctx) // a failed heartbeat says better why than what it interrupted
		}
		if err != nil {
			return err
		}
		wellDone()
		c.idle(ctx, wait)
	}
}

// keepAlive checks the lead every second, until it is lost or ctx ends.
func keepAlive(ctx context.Context, lead Lead) error {
	for sleep(ctx, beat) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		err := lead.Check(ctx)
		cancel()
		if err != nil {
			return fmt.Errorf("check the lead: %w", err)
		}
	}
	return nil
}

// step handles what there is to handle and settles it. It returns how long nothing needs to be looked at unless the
// consumer is woken; 0 means that there is more.
func (c *consumer) step(ctx context.Context, lead Lead) (wait time.Duration, err error) {
	if wait := c.holds(); wait > 0 {
		return wait, c.hold(ctx, lead)
	}
	if c.Kind == ipn.KindProjection {
		wait, err = c.project(ctx, lead)
	} else {
		wait, err = c.send(ctx, lead)
	}
	if err != nil {
		return 0, err
	}
	return wait, c.hold(ctx, lead)
}

// idle waits for the next step: until the time is up or a wake-up comes, and in either case until the log was not read
// for an interval. With nothing to wait for it returns at once.
func (c *consumer) idle(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	case <-c.wake:
	}
	sleep(ctx, c.interval-time.Since(c.asked))
}

// next reads the log after the cursor. full says that there may be more.
func (c *consumer) next(ctx context.Context, lead Lead, limit int) (events []ipn.Stored, full bool, err error) {
	select {
	case <-c.wake: // what it told of is read now
	default:
	}
	c.asked = time.Now()
	events, err = lead.Next(ctx, limit)
	if err != nil {
		return nil, false, fmt.Errorf("read the log: %w", err)
	}
	return events, len(events) >= limit, nil
}

// due reads the parked events whose time has come. It asks the record only when that can be: at the time it was told,
// and once per poll in case that clocks or operators moved.
func (c *consumer) due(ctx context.Context, lead Lead) ([]ipn.Due, error) {
	if time.Now().Before(c.dueAt) {
		return nil, nil
	}
	due, wait, err := lead.Due(ctx, dueLimit)
	if err != nil {
		return nil, fmt.Errorf("read the parked events: %w", err)
	}
	switch {
	case len(due) > 0:
		c.dueAt = time.Time{} // more may have come while these are handled
	case wait > 0:
		c.dueAt = time.Now().Add(min(wait, c.poll))
	default:
		c.dueAt = time.Now().Add(c.poll)
	}
	return due, nil
}

// quiet is how long an idle handler may sleep.
func (c *consumer) quiet() time.Duration {
	return max(min(c.poll, time.Until(c.dueAt)), 0)
}

// settle writes a settlement, even while the consumer is stopping.
func (c *consumer) settle(ctx context.Context, lead Lead, s ipn.Settlement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := lead.Settle(ctx, s); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}

// halt pauses the handler at its own wish.
func (c *consumer) halt(ctx context.Context, lead Lead, because string) error {
	c.log.Error("the handler pauses itself", zap.String("because", because))
	if err := lead.Pause(ctx, because); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return ipn.ErrPaused
}

// isLost reports whether an error of a lead's method says that the lead is gone or out of reach.
func isLost(err error) bool {
	return errors.Is(err, ipn.ErrFenced) || errors.Is(err, ipn.ErrLed) || errors.Is(err, ipn.ErrPaused) || errors.Is(err, ipn.ErrUnavailable)
}

// sleep waits and reports whether ctx is still going on.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
