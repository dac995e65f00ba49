package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Project takes a batch of events into the books: it folds every transaction and subscription they touch anew, from all
// of its events, and writes what differs. It is the ledger's projection, to be run in the transaction that moves the
// cursor, by one process at a time; doing it again changes nothing.
//
// The events of a key are read up to the reach of the books, the highest event id that was ever projected (this batch
// included), and not up to the cursor: a replay, which sets the cursor back, must not make the books forget what later
// events told. So at every commit the books are Fold of the events up to their reach, in whatever order batches came
// and however often, and a rebuild up to there can prove them equal.
//
// Errors are the database's, or of a row that its checks refuse.
func Project(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
	if len(events) == 0 {
		return nil
	}
	t := touchedBy(events)
	before, counted, err := t.load(ctx, tx)
	if err != nil {
		return fmt.Errorf("load the events of the batch's keys: %w", err)
	}
	if counted < before {
		if err := countDeclines(ctx, tx, before); err != nil {
			return fmt.Errorf("count the declines anew: %w", err)
		}
	}
	have, err := t.loadBooked(ctx, tx, before)
	if err != nil {
		return fmt.Errorf("load what is booked: %w", err)
	}
	want := t.fold()
	if err := t.write(ctx, tx, want, changes(have, want), before); err != nil {
		return fmt.Errorf("write the books: %w", err)
	}
	return nil
}

// touched is what a batch touches: its keys, and all the events that bear on them.
type touched struct {
	batch         map[int64]bool // ids of the batch
	last          int64          // the highest of them
	transactions  map[Key]bool
	subscriptions map[Key]bool
	events        []ipn.Stored // the batch, and after load the other events of its keys
}

func touchedBy(events []ipn.Stored) *touched {
	t := &touched{
		batch:         make(map[int64]bool, len(events)),
		transactions:  make(map[Key]bool, len(events)),
		subscriptions: make(map[Key]bool),
		events:        events[:len(events):len(events)],
	}
	for i := range events {
		e := &events[i]
		t.batch[e.ID] = true
		t.last = max(t.last, e.ID)
		if key, ok := TransactionKey(e); ok {
			t.transactions[key] = true
		}
		if key, ok := SubscriptionKey(e); ok {
			t.subscriptions[key] = true
		}
		if a, failed := attemptOf(e); failed && a.reference != "" {
			t.transactions[Key{Test: a.test, ID: a.reference}] = true // also of a type that belongs to no transaction
		}
	}
	return t
}

// owns tells whether the batch decides about an event's money: the event belongs to a transaction whose events are all
// loaded, or to none and is in the batch itself. Events that came along with a subscription are not owned.
func (t *touched) owns(e *ipn.Stored) bool {
	if key, ok := TransactionKey(e); ok {
		return t.transactions[key]
	}
	return t.batch[e.ID]
}

// belongs tells whether an event is one of a subscription that the batch touches.
func (t *touched) belongs(e *ipn.Stored) bool {
	key, ok := SubscriptionKey(e)
	return ok && t.subscriptions[key]
}

// fold returns the books that the batch decides about. Keys that came along with others, and are loaded in part only,
// have none.
func (t *touched) fold() Books {
	order := inOrder(t.events)
	books := fold(only(order, t.owns), only(order, t.belongs))
	books.declines = t.declines()
	return books
}

// only returns the entries to keep, in their order.
func only(entries []*entry, keep func(*ipn.Stored) bool) []*entry {
	kept := make([]*entry, 0, len(entries))
	for _, e := range entries {
		if keep(e.Stored) {
			kept = append(kept, e)
		}
	}
	return kept
}
