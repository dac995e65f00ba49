package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// replayHandler lets a handler see events again. Without --yes it only counts.
type replayHandler struct {
	operation
	act
	Name string `arg:"" help:"The handler."`
	Yes  bool   `help:"Do it. Without it the events are counted, and nothing is changed."`

	All   bool   `xor:"which" help:"From the very first event."`
	Since Moment `xor:"which" placeholder:"TIME" help:"From the first event received at that time: 2026-11-01 (UTC) or 2026-11-01T08:30:00Z."`

	Type           string `placeholder:"TYPE" help:"Only events of this transactionType."`
	Reference      string `placeholder:"NUMBER" help:"Only events with this referenceNumber."`
	Subscription   string `placeholder:"ID" help:"Only events of this subscription."`
	MerchantID     string `name:"merchant-transaction" placeholder:"ID" help:"Only events with this merchantTransactionId."`
	Currency       string `placeholder:"CODE" help:"Only events in this currency."`
	From           Moment `placeholder:"TIME" help:"Only events that happened at that time or later."`
	To             Moment `placeholder:"TIME" help:"Only events that happened before that time."`
	OnlyTestOrders bool   `name:"test-orders" help:"Only test orders."`
}

func (c *replayHandler) check(m machine) error {
	matching, which := c.matching() != nil, c.All || !c.Since.IsZero()
	if matching == which {
		return errors.New("say which events: --all, or --since TIME, or what they have in common (--type, --reference, --subscription, --currency, --from, --to, ...)")
	}
	return c.operation.check(m)
}

// matching is nil when nothing in common was named.
func (c *replayHandler) matching() *ipn.Question {
	q := ipn.Question{
		ReferenceNumber: c.Reference, SubscriptionID: c.Subscription, MerchantTransactionID: c.MerchantID,
		Currency: strings.ToUpper(c.Currency), TransactionType: c.Type, From: c.From.Time, To: c.To.Time,
	}
	if known, ok := ipn.LookupType(c.Type); ok {
		q.TransactionType = known.Name
	}
	if c.OnlyTestOrders {
		q.Test = &c.OnlyTestOrders
	}
	if reflect.ValueOf(q).IsZero() {
		return nil
	}
	return &q
}

func (c *replayHandler) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		replay := ipn.Replay{Handler: c.Name, All: c.All, Since: c.Since.Time, Matching: c.matching(), DryRun: !c.Yes}
		came, err := s.ReplayHandler(ctx, replay, c.by(p))
		if err != nil {
			return err
		}
		return c.tell(p, came, func(w io.Writer) {
			if came.DryRun {
				fmt.Fprintf(w, "%s would see %d events again; nothing was changed. Add --yes to do it.\n", c.Name, came.Events)
				return
			}
			fmt.Fprintf(w, "%s sees %d events again\n", c.Name, came.Events)
		})
	})
}

// redriveParked makes failed events due again.
type redriveParked struct {
	operation
	act
	Name   string `arg:"" optional:"" help:"The handler. Not named: all of them."`
	State  string `enum:",parked,buried" default:"" placeholder:"STATE" help:"Only parked or only buried ones."`
	Event  int64  `placeholder:"ID" help:"Only this event."`
	DryRun bool   `help:"Count, and change nothing."`
}

func (c *redriveParked) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		n, err := s.RedriveParked(ctx, ipn.Redrive{Handler: c.Name, State: ipn.EventState(c.State), EventID: c.Event, DryRun: c.DryRun}, c.by(p))
		if err != nil {
			return err
		}
		return c.tell(p, map[string]any{"events": n, "dryRun": c.DryRun}, func(w io.Writer) {
			if c.DryRun {
				fmt.Fprintf(w, "%d events would be tried again; nothing was changed\n", n)
				return
			}
			fmt.Fprintf(w, "%d events are tried again now\n", n)
		})
	})
}

// Moment is a time as people type it.
type Moment struct{ time.Time }

// UnmarshalText reads a date, which is its first moment in UTC, or RFC 3339.
func (m *Moment) UnmarshalText(text []byte) (err error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if m.Time, err = time.Parse(layout, string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%q is no time: write 2026-11-01, which is midnight in UTC, or 2026-11-01T08:30:00Z", text)
}
