package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// tailEvents follows the log. With --json a line is what a row of an export in JSON lines is; what is taken along of the past
// is in the audit, as an export is.
type tailEvents struct {
	history
	After int64 `default:"-1" placeholder:"ID" help:"Begin behind this event; 0: with the first. Not set: with the next that comes in."`
}

const (
	tailPoll  = time.Second // a look even without news, for when a notification is lost
	tailChunk = 1000
)

func (c *tailEvents) values() url.Values {
	values := url.Values{}
	askedBy(c.EventFilters, values, ask.Filters())
	return values
}

func (c *tailEvents) check(m machine) error {
	if err := c.history.check(m); err != nil {
		return err
	}
	_, err := ask.Read(c.values())
	return byFlag(err, ask.Filters())
}

func (c *tailEvents) run(ctx context.Context, p *program) (int, error) {
	return c.opening(ctx, p, func(o *opened) error {
		_, query, err := c.query(p, c.values(), o.key)
		if err != nil {
			return err
		}
		at := c.After
		if at < 0 {
			if at, err = o.LastEventID(ctx); err != nil {
				return err
			}
		}
		if c.After >= 0 {
			details := map[string]any{"of": export.Events, "filters": slices.Sorted(maps.Keys(c.values())), "after": c.After, "follows": true}
			if err := o.WitnessAct(ctx, "export", ipn.Act{Actor: o.by.Actor(), Reason: "events tail"}, details); err != nil {
				return fmt.Errorf("without an entry in the audit nothing of the past is told: %w", err)
			}
		}
		listening, stop := context.WithCancel(ctx)
		woken, ended := make(chan struct{}, 1), make(chan struct{})
		go func() { defer close(ended); listen(listening, o, woken) }()
		defer func() { stop(); <-ended }()
		return c.follow(ctx, p, o, query.Question, at, woken)
	})
}

// listen wakes whoever follows, until ctx ends. A database that is away is asked again.
func listen(ctx context.Context, o *opened, woken chan<- struct{}) {
	for {
		_ = o.Listen(ctx, nil, func() {
			select {
			case woken <- struct{}{}:
			default: // it is awake
			}
		})
		if !sleep(ctx, tailPoll) {
			return
		}
	}
}

// follow tells what stands behind at, and then whatever comes, until ctx ends. While the database is away it waits, and goes
// on where it stood: nothing is told twice.
func (c *tailEvents) follow(ctx context.Context, p *program, o *opened, q ipn.Question, at int64, woken <-chan struct{}) error {
	away := false
	for {
		var err error
		at, err = c.tellNew(ctx, p.stdout, o, q, at)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ipn.ErrUnavailable) && !away:
			fmt.Fprintf(p.stderr, "waiting: %v\n", err)
		case errors.Is(err, ipn.ErrUnavailable):
		case err != nil:
			return err
		case away:
			fmt.Fprintln(p.stderr, "going on")
		}
		away = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-time.After(tailPoll):
		}
	}
}

// tellNew tells the events behind at that are there, and returns the last place that nothing is missing before.
func (c *tailEvents) tellNew(ctx context.Context, w io.Writer, o *opened, q ipn.Question, at int64) (int64, error) {
	upTo, err := o.LastEventID(ctx)
	for err == nil && at < upTo {
		var lines []byte
		var reached int64
		reached, err = o.ExportEvents(ctx, q, at, upTo, tailChunk, func(e *ipn.EventRow) error {
			if c.JSON {
				lines = export.AppendEvent(lines, export.JSONL, e)
			} else {
				lines = appendTailed(lines, e)
			}
			return nil
		})
		if err == nil {
			at = reached
			_, err = w.Write(lines)
		}
	}
	return at, err
}

// appendTailed writes an event as a line. What comes next is not known, so the columns have the width of what is usual.
func appendTailed(to []byte, e *ipn.EventRow) []byte {
	at, test := e.OccurredAt, ""
	if at.IsZero() {
		at = e.ReceivedAt
	}
	if e.Test {
		test = "  test"
	}
	return fmt.Appendf(to, "%9d  %s  %-27s  %-12s  %12s %-3s%s\n", e.ID, at.Format("2006-01-02 15:04:05"), printable(string(e.TransactionType)),
		printable(string(e.ReferenceNumber)), e.Amount, e.Currency, test)
}
