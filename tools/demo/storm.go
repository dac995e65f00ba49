package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// faults are all that the simulator knows, each so often that a thousand IPNs meet it many times.
var faults = []map[string]any{
	{"name": "duplicate", "every": 7}, {"name": "reorder", "every": 11}, {"name": "delay", "every": 13, "delay": "3h"},
	{"name": "lose-request", "every": 9}, {"name": "lose-answer", "every": 8}, {"name": "cut-body", "every": 17},
	{"name": "change-field", "every": 2}, {"name": "bad-signature", "every": 19}, {"name": "old-timestamp", "every": 23},
	{"name": "wrong-charset", "every": 29}, {"name": "unknown-type", "every": 31}, {"name": "burst", "times": 1, "perSecond": 50},
}

// enough IPNs are those that every fault meets some of.
const enough = 200

// weather is what the storm brings, in turn: mostly money.
var weather = []string{"CHARGE", "RECURRING", "CHARGE", "REFUND", "CHARGE", "CHARGEBACK", "DECLINE", "CHARGE", "CANCELLATION_REFUND", "PAYOUT"}

// storm sends IPNs with every fault there is, kills the receiver in the middle, and lets everything arrive in the end.
func storm(ctx context.Context, s *stage) error {
	if s.IPNs == 0 {
		say("left out")
		return nil
	}
	if err := s.control.call(ctx, http.MethodPut, "/faults", faults, nil); err != nil {
		return err
	}
	down, up := s.IPNs/2, s.IPNs*3/4
	for i := range s.IPNs {
		if i == down {
			s.receiver.kill()
			say("after %d IPNs the receiver was killed", i)
		}
		if i == up {
			if err := s.receiver.start(ctx); err != nil {
				return err
			}
			say("after %d it was started again", i)
		}
		if err := s.control.call(ctx, http.MethodPost, "/notices/"+weather[i%len(weather)], nil, nil); err != nil {
			return err
		}
	}
	say("what failed is sent again in the four-hour steps of the payment service; after two of them the weather clears")
	if err := s.advance(ctx, 8*time.Hour); err != nil {
		return err
	}
	return s.calm(ctx)
}

// A delivery is an IPN as the simulator tells of it.
type delivery struct {
	ID       int64
	State    string
	Notice   struct{ Fields []ipn.Field }
	Attempts []struct{ Faults []string }
}

// calm ends the faults, lets two days pass, and proves by the history that each fault struck and every IPN arrived.
func (s *stage) calm(ctx context.Context) error {
	if err := s.control.call(ctx, http.MethodDelete, "/faults", nil, nil); err != nil {
		return err
	}
	if err := s.control.call(ctx, http.MethodPost, "/idle", nil, nil); err != nil {
		return err
	}
	if err := s.advance(ctx, 48*time.Hour); err != nil {
		return err
	}
	struck, attempts, arrived := map[string]int{}, 0, 0
	err := s.history(ctx, "", func(d delivery) error {
		if d.State != "delivered" {
			return fmt.Errorf("IPN %d is %s", d.ID, d.State)
		}
		arrived++
		attempts += len(d.Attempts)
		for _, attempt := range d.Attempts {
			for _, fault := range attempt.Faults {
				struck[fault]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	say("every one of %d IPNs has arrived, in %d attempts", arrived, attempts)
	var told []string
	for _, name := range slices.Sorted(maps.Keys(struck)) {
		told = append(told, fmt.Sprintf("%s %d", name, struck[name]))
	}
	say("attempts touched by faults: %s", strings.Join(told, ", "))
	for _, fault := range faults {
		if name := fault["name"].(string); struck[name] == 0 && arrived >= enough {
			return fmt.Errorf("%s has touched none", name)
		}
	}
	return nil
}

// historyPage is how many deliveries are read at a time: each has its bodies in it.
const historyPage = 500

// history tells of every delivery of a type, or of all, the oldest first.
func (s *stage) history(ctx context.Context, transactionType string, tell func(delivery) error) error {
	for after := int64(0); ; {
		var page []delivery
		path := fmt.Sprintf("/history?after=%d&limit=%d&type=%s", after, historyPage, transactionType)
		if err := s.control.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return err
		}
		for _, d := range page {
			if err := tell(d); err != nil {
				return err
			}
			after = d.ID
		}
		if len(page) < historyPage {
			return nil
		}
	}
}

// field returns a field of the IPN.
func (d delivery) field(name string) string {
	for _, f := range d.Notice.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
