package ledger

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Books are what a set of events comes to.
type Books struct {
	Movements     []ipn.Movement // by reference number, then in the order in which they happened
	Unbooked      []ipn.Unbooked
	Transactions  []ipn.Transaction
	Subscriptions []ipn.SubscriptionBook
	Disputes      []ipn.DisputeBook

	declines []decline // the failures that count
}

// Key names one transaction or one subscription in the live books or in those of test orders, which never mix.
type Key struct {
	Test bool
	ID   string // reference number or subscription id
}

// TransactionKey returns the transaction that an event can change, and false when it changes none: it tells no
// reference number, or its type at most mentions an earlier charge. Such an event's money is booked by itself, with an
// empty Movement.ReferenceNumber.
func TransactionKey(e *ipn.Stored) (Key, bool) {
	key := Key{Test: e.Facts.Test, ID: e.Facts.ReferenceNumber}
	return key, key.ID != "" && rows[e.Facts.TransactionType].transaction != nil
}

// SubscriptionKey returns the subscription that an event belongs to, and false when it tells none.
func SubscriptionKey(e *ipn.Stored) (Key, bool) {
	return Key{Test: e.Facts.Test, ID: e.Facts.SubscriptionID}, e.Facts.SubscriptionID != ""
}

// Fold returns the books of a set of events. Neither their order nor repeats (of an id) matter. The book of a key is
// right when the set holds all events of that key; a key of which it holds only some is to be thrown away.
func Fold(events []ipn.Stored) Books {
	order := inOrder(events)
	return fold(order, order)
}

// fold is Fold of entries in order: money are those whose transactions are folded, or whose money is booked by itself,
// members those whose subscriptions are.
func fold(money, members []*entry) Books {
	b := Books{Movements: make([]ipn.Movement, 0, len(money))}
	for _, e := range money {
		if _, ok := TransactionKey(e.Stored); !ok {
			alone := []*entry{e}
			b.book(bookAll("", alone, foldDisputes(alone)))
		}
	}
	for key, entries := range groups(money, TransactionKey) {
		b.foldTransaction(key, entries)
	}
	for key, entries := range groups(members, SubscriptionKey) {
		b.Subscriptions = append(b.Subscriptions, foldSubscription(key, entries))
	}
	return b
}

// foldTransaction adds the books of one reference number. Its amounts are sums of its movements, so that the two can
// never tell different stories.
func (b *Books) foldTransaction(key Key, entries []*entry) {
	disputes := foldDisputes(entries)
	booked := bookAll(key.ID, entries, disputes)
	b.book(booked)
	b.Transactions = append(b.Transactions, foldTransaction(key, entries, booked, disputes))
	for _, d := range disputes {
		b.Disputes = append(b.Disputes, d.close())
	}
}

func (b *Books) book(k booking) {
	b.Movements = append(b.Movements, k.movements...)
	b.Unbooked = append(b.Unbooked, k.unbooked...)
}

// when returns the time an event is booked under: the sender's, else that of its receipt. Nothing is decided by it.
func when(e *ipn.Stored) time.Time {
	if e.Facts.OccurredAt.IsZero() {
		return e.ReceivedAt
	}
	return e.Facts.OccurredAt
}

// span is the time from the first to the last of some events, by the sender's clock; by their receipts when none of
// them tells a time.
type span struct {
	first, last time.Time
	dated       bool
}

// add takes the next of the events in order, of which those without a date come last.
func (s *span) add(e *ipn.Stored) {
	at, dated := when(e), !e.Facts.OccurredAt.IsZero()
	switch {
	case s.first.IsZero():
		*s = span{first: at, last: at, dated: dated}
	case s.dated != dated:
	case at.Before(s.first):
		s.first = at
	case at.After(s.last):
		s.last = at
	}
}

// remark is a thing about a book that a person should look at.
type remark[B any] struct {
	code string
	of   func(B) bool
}

// remarksOn returns the codes that apply, in table order; nil when the book is in order.
func remarksOn[B any](book B, remarks []remark[B]) []string {
	var codes []string
	for _, r := range remarks {
		if r.of(book) {
			codes = append(codes, r.code)
		}
	}
	return codes
}
