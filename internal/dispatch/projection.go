package dispatch

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// project is one step of a projection: parked events that are due one by one, then a batch of the log as a whole, each
// in a transaction of its own.
func (c *consumer) project(ctx context.Context, lead Lead) (wait time.Duration, err error) {
	due, err := c.due(ctx, lead)
	if err != nil {
		return 0, err
	}
	until := time.Now().Add(dueTime)
	for _, j := range dueJobs(due) {
		if time.Now().After(until) {
			break
		}
		s := ipn.Settlement{Project: []ipn.Stored{*j.event}, Done: []ipn.Success{{EventID: j.event.ID, Number: j.number()}}}
		if err := c.applyOne(ctx, lead, j, s); err != nil {
			return 0, err
		}
	}
	events, full, err := c.next(ctx, lead, c.cut.size)
	if err != nil {
		return 0, err
	}
	if len(events) == 0 && len(due) == 0 {
		return c.quiet(), nil
	}
	if err := c.applyBatch(ctx, lead, events); err != nil {
		return 0, err
	}
	if full || len(due) > 0 || c.cut.rest > 0 {
		return 0, nil
	}
	return c.quiet(), nil
}

// applyBatch applies events of the log. When several fail together the step ends well with nothing written, and the
// next step tries fewer.
func (c *consumer) applyBatch(ctx context.Context, lead Lead, events []ipn.Stored) error {
	if len(events) == 0 {
		return nil
	}
	jobs := jobsOf(events)
	s := ipn.Settlement{Project: events, Position: events[len(events)-1].ID}
	if len(events) == 1 {
		err := c.applyOne(ctx, lead, jobs[0], s)
		switch jobs[0].verdict {
		case done:
			c.cut.passed(1)
		case failed, buried:
			c.cut.parked()
		}
		return err
	}
	r := c.apply(ctx, lead, s)
	switch {
	case r.err == nil:
		c.cut.passed(len(events))
		for _, j := range jobs {
			j.verdict = done
		}
		c.tell(jobs)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.lost && !r.broken:
		return r.err
	case r.wish.kind == wishHalt:
		return c.halt(ctx, lead, r.text)
	}
	c.cut.failed(len(events))
	c.log.Warn("a batch failed and is cut", zap.Int("events", len(events)), zap.Int64("first", events[0].ID), zap.String("lastError", r.text))
	if r.broken {
		return errAnew
	}
	return nil
}

// applyOne applies one event and parks or buries it when it fails. A run that broke the lead leaves that to the next
// one, which finds the event doomed and does not apply it again.
func (c *consumer) applyOne(ctx context.Context, lead Lead, j *job, s ipn.Settlement) error {
	if c.isDoomed(j) {
		return c.park(ctx, lead, j)
	}
	r := c.apply(ctx, lead, s)
	r.lost = r.lost && !r.broken // an error of the lead's after the time was up is the time's
	j.judge(r, c.Retry, ctx.Err() != nil, c.random)
	switch {
	case j.verdict == done:
		c.tell([]*job{j})
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case j.verdict == givenBack:
		return r.err
	case j.verdict == halted:
		return c.halt(ctx, lead, r.text)
	case r.broken:
		c.condemn(j)
		return errAnew
	}
	return c.park(ctx, lead, j)
}

// condemn remembers an event that broke the lead all alone, for the next lead to park it without applying it again.
func (c *consumer) condemn(j *job) { c.doomed, c.doomedAt = j, time.Now() }

// isDoomed reports whether an event was condemned, and gives it its verdict. After a minute that is forgotten: another
// process may have led meanwhile.
func (c *consumer) isDoomed(j *job) bool {
	d := c.doomed
	if d == nil || d.event.ID != j.event.ID || d.due != j.due || time.Since(c.doomedAt) > time.Minute {
		return false
	}
	j.verdict, j.wait, j.report = d.verdict, d.wait, d.report
	return true
}

// apply runs the projection in the settlement's transaction.
func (c *consumer) apply(ctx context.Context, lead Lead, s ipn.Settlement) report {
	r := c.cell.run(ctx, func(ctx context.Context) error { return lead.Settle(ctx, s) })
	c.meter.seconds.Observe(r.took.Seconds())
	return r
}

// park writes that one event failed, and moves the cursor over it when it came from the log.
func (c *consumer) park(ctx context.Context, lead Lead, j *job) error {
	if err := c.settleJobs(ctx, lead, []*job{j}); err != nil {
		return err
	}
	c.doomed = nil
	return nil
}
