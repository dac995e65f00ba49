package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// errUnwanted ends the run of an event that the handler does not want.
var errUnwanted = errors.New("the event is not wanted")

// send is one step of a sink: parked events that are due and the next of the log are tried together, then all of it is
// settled at once. While the breaker waits for a probe the log comes first and one event decides, so an event that
// fails for its own sake cannot be the probe for ever.
func (c *consumer) send(ctx context.Context, lead Lead) (wait time.Duration, err error) {
	due, err := c.due(ctx, lead)
	if err != nil {
		return 0, err
	}
	events, full, err := c.next(ctx, lead, c.Batch)
	if err != nil {
		return 0, err
	}
	jobs, workers := append(dueJobs(due), jobsOf(events)...), c.Concurrency
	if c.breaker.isProbing() {
		jobs, workers = append(jobsOf(events), dueJobs(due)...), 1
	}
	c.work(ctx, jobs, workers)
	if err := c.settleJobs(ctx, lead, jobs); err != nil {
		return 0, err
	}
	if full || len(due) > 0 || slices.ContainsFunc(jobs, (*job).isOpen) {
		return 0, nil // what was given back is tried again, unless the next step finds that it is held
	}
	return c.quiet(), nil
}

// work tries the jobs, some at a time, and returns when all that were started have a verdict.
func (c *consumer) work(ctx context.Context, jobs []*job, workers int) {
	l := newLanes(jobs, time.Now().Add(dueTime))
	var working sync.WaitGroup
	for range min(workers, len(jobs)) {
		working.Go(func() {
			for j := l.next(); j != nil; j = l.next() {
				if !c.attempt(ctx, j) {
					l.close()
				}
				l.leave(j)
			}
		})
	}
	working.Wait()
}

// attempt tries one job. It returns false when nothing more shall be started in this step: the consumer stops, the
// handler asks for a pause or is held, or the event was the probe that decided.
func (c *consumer) attempt(ctx context.Context, j *job) bool {
	if ctx.Err() != nil || c.cell.stuck.Load() > int64(c.Concurrency) {
		return false
	}
	probing := c.breaker.isProbing()
	tell, ok := c.breaker.admit()
	if !ok {
		return false
	}
	r := c.cell.run(ctx, func(ctx context.Context) error {
		if c.Wants != nil && !c.Wants(j.event) {
			return errUnwanted
		}
		return c.Sink.Send(ctx, j.event)
	})
	r.lost = false // a sink holds no lead: whatever its error wraps, it is about the event
	j.judge(r, c.Retry, ctx.Err() != nil, c.random)
	tell(j)
	if j.verdict != skipped {
		c.meter.seconds.Observe(r.took.Seconds())
	}
	return !j.isOpen() && (!probing || j.verdict == skipped)
}

// settleJobs writes what the step came to. A handler that asked for it is then paused.
func (c *consumer) settleJobs(ctx context.Context, lead Lead, jobs []*job) error {
	s, settled := settlement(jobs)
	if len(settled) > 0 {
		if err := c.settle(ctx, lead, s); err != nil {
			return err
		}
		c.tell(settled)
		c.expect(s)
	}
	for _, j := range jobs {
		if j.verdict == halted {
			return c.halt(ctx, lead, j.report.text)
		}
	}
	return nil
}

// expect sees to it that the parked events of a settlement are looked for in time.
func (c *consumer) expect(s ipn.Settlement) {
	for _, f := range s.Failed {
		if at := time.Now().Add(f.Wait); !f.Bury && at.Before(c.dueAt) {
			c.dueAt = at
		}
	}
}
