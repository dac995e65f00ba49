package dispatch

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// holds returns how long nothing may be tried: while the breaker is open, and while too many runs are stuck.
func (c *consumer) holds() time.Duration {
	_, wait := c.holdReason()
	return wait
}

// holdReason says why the handler holds events back, "" when it does not. A half-open breaker holds, but lets the next
// event try at once.
func (c *consumer) holdReason() (because string, wait time.Duration) {
	if stuck := c.cell.stuck.Load(); stuck > int64(c.Concurrency) {
		return fmt.Sprintf("%d runs ignored the end of their time and go on", stuck), c.poll
	}
	return c.breaker.holds()
}

// hold notes in the record whether the handler holds events back, when that has changed. A new lead begins
// without a note.
func (c *consumer) hold(ctx context.Context, lead Lead) error {
	because, _ := c.holdReason()
	if (because == "") == (c.noted == "") {
		return nil
	}
	if err := lead.Hold(ctx, because); err != nil {
		return fmt.Errorf("note that events are held: %w", err)
	}
	c.noted = because
	if because == "" {
		c.log.Info("the handler goes on")
		c.meter.held.Set(0)
		return nil
	}
	c.log.Warn("the handler holds its events back", zap.String("because", because))
	c.meter.held.Set(1)
	return nil
}

// tellTrouble logs why the handler is not led by this process, when that has changed. That another process leads it is
// the normal state of a stand-by.
func (c *consumer) tellTrouble(err error) {
	if err == nil || err.Error() == c.trouble {
		return
	}
	c.trouble = err.Error()
	c.log.Info("the handler is not led by this process", zap.Error(err))
}

// tell counts and logs what was settled: one line for what was parked and one for what was buried.
func (c *consumer) tell(settled []*job) {
	for _, verdict := range []verdict{failed, buried} {
		var ids []int64
		var text string
		for _, j := range settled {
			if j.verdict == verdict {
				ids, text = append(ids, j.event.ID), j.report.text
			}
		}
		if len(ids) == 0 {
			continue
		}
		fields := []zap.Field{zap.Int("events", len(ids)), zap.Int64s("ids", ids[:min(len(ids), mostIDs)]), zap.String("lastError", text)}
		switch {
		case verdict == buried:
			c.log.Error("events were given up", fields...)
		case c.noted != "": // a probe, whose failure was to be expected
			c.log.Debug("the target is still down", fields...)
		default:
			c.log.Warn("events failed and will be tried again", fields...)
		}
	}
	for _, j := range settled {
		c.meter.settled(j)
	}
}

// mostIDs bounds the event ids in one line of the log.
const mostIDs = 10
