package ledger

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// rank is where a type stands in the life of a payment. The sender's clock has whole minutes; of two events in one
// minute the one of the lower rank is taken to have happened first.
type rank int

const (
	rankOther rank = iota // types that change no book
	rankAuthorised
	rankPending
	rankReviewed
	rankFailed // before the charges: a try that failed is followed by one that succeeds, not the other way round
	rankCharge
	rankRecurring
	rankPlan
	rankRefund
	rankCancellationRefund
	rankDispute
	rankCancellationDispute
	rankResolution
	rankVerdict // a dispute's news, among themselves by status
	rankEnding
	rankCancelled
)

// part is what an event does to the dispute it names.
type part int

const (
	noPart   part = iota
	opens         // the money is taken
	resolves      // the money is taken for good, without an argument
	follows       // news
)

// row says what a type of event means to the books. Every effect may be missing.
type row struct {
	rank         rank
	kind         ipn.MovementKind // of the money it tells
	part         part
	transaction  func(*transaction, *entry)  // nil: mentions a charge at most, and never changes it
	subscription func(*subscription, *entry) // nil: counted, and no more
}

// rows are the types that change a book. Of all others the ledger knows the time only.
//
// The legacy CANCEL is today's DECLINE. CANCELLATION_CHARGEBACK is a dispute and the end of the subscription in one.
// CHARGEBACK_FILE_UPLOADED names no dispute that could be relied on.
var rows = map[string]row{
	"AUTH_ONLY":                   {rank: rankAuthorised, transaction: (*transaction).authorise, subscription: (*subscription).try},
	"AUTH_ONLY_SINGLE_CHARGE":     {rank: rankAuthorised, transaction: (*transaction).authorise, subscription: (*subscription).try},
	"CHARGE_PENDING":              {rank: rankPending, transaction: (*transaction).pend},
	"UNDER_REVIEW":                {rank: rankReviewed, transaction: (*transaction).review},
	"UNDER_VENDOR_REVIEW":         {rank: rankReviewed, transaction: (*transaction).review},
	"DECLINE":                     {rank: rankFailed, transaction: (*transaction).decline},
	"FRAUD_DECLINE":               {rank: rankFailed, transaction: (*transaction).decline},
	"CC_CHARGE_FAILED":            {rank: rankFailed, transaction: (*transaction).decline},
	"CANCEL":                      {rank: rankFailed, transaction: (*transaction).decline},
	"SUBSCRIPTION_CHARGE_FAILURE": {rank: rankFailed, subscription: (*subscription).fail},

	"CHARGE":    {rank: rankCharge, kind: ipn.MoveCharge, transaction: (*transaction).charge, subscription: (*subscription).pay},
	"RECURRING": {rank: rankRecurring, kind: ipn.MoveRecurring, transaction: (*transaction).charge, subscription: (*subscription).pay},

	"PENDING_REFUND":      {rank: rankRefund, transaction: (*transaction).reverse},
	"REFUND":              {rank: rankRefund, kind: ipn.MoveRefund, transaction: (*transaction).refund},
	"CANCELLATION_REFUND": {rank: rankCancellationRefund, kind: ipn.MoveCancellationRefund, transaction: (*transaction).refund, subscription: (*subscription).cancel},

	"CHARGEBACK":                {rank: rankDispute, kind: ipn.MoveChargeback, part: opens, transaction: (*transaction).reverse},
	"CANCELLATION_CHARGEBACK":   {rank: rankCancellationDispute, kind: ipn.MoveChargeback, part: opens, transaction: (*transaction).reverse, subscription: (*subscription).cancel},
	"RDR":                       {rank: rankResolution, kind: ipn.MoveChargeback, part: resolves, transaction: (*transaction).reverse},
	"CHARGEBACK_STATUS_CHANGED": {rank: rankVerdict, part: follows, transaction: (*transaction).reverse},
	"CHARGEBACK_FILE_UPLOADED":  {rank: rankVerdict, transaction: (*transaction).reverse},

	"CONTRACT_CHANGE":       {rank: rankPlan, subscription: (*subscription).move},
	"SUBSCRIPTION_REMINDER": {subscription: (*subscription).remind},
	"CANCEL_ON_RENEWAL":     {rank: rankEnding, subscription: (*subscription).end},
	"CANCELLATION":          {rank: rankCancelled, subscription: (*subscription).cancel},

	"PAYOUT": {kind: ipn.MovePayout},
}

// entry is an event with its row, ready to be put in order.
type entry struct {
	*ipn.Stored
	row
	minute int64 // of the sender's clock; an event that tells none comes last
	step   int   // of a dispute's status
}

// newEntry looks the row up once; an unknown type has the zero row, which does nothing.
func newEntry(e *ipn.Stored) entry {
	n := entry{Stored: e, row: rows[e.Facts.TransactionType], minute: math.MaxInt64}
	if at := e.Facts.OccurredAt; !at.IsZero() {
		n.minute = at.Unix()
	}
	if n.part != noPart {
		n.step = statuses[e.Facts.Status].step
	}
	return n
}

// inOrder returns the events in the order in which they happened, each once. The order hangs on nothing that arrival
// decides: minute, rank, a dispute's status, and then the identity, which is arbitrary but everywhere the same. The id
// only brings repeats of one event together.
func inOrder(events []ipn.Stored) []*entry {
	entries := make([]entry, len(events))
	order := make([]*entry, len(events))
	for i := range events {
		entries[i] = newEntry(&events[i])
		order[i] = &entries[i]
	}
	slices.SortFunc(order, func(a, b *entry) int {
		if c := cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.rank, b.rank), cmp.Compare(a.step, b.step)); c != 0 {
			return c
		}
		return cmp.Or(bytes.Compare(a.Identity[:], b.Identity[:]), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(order, func(a, b *entry) bool { return a.ID == b.ID })
}

// groups yields the entries of each key, in their order; the keys ascend, live books first. Entries without a key are
// left out.
func groups(order []*entry, keyOf func(*ipn.Stored) (Key, bool)) iter.Seq2[Key, []*entry] {
	type keyed struct {
		Key
		*entry
	}
	all := make([]keyed, 0, len(order))
	for _, e := range order {
		if key, ok := keyOf(e.Stored); ok {
			all = append(all, keyed{key, e})
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return a.Key.compare(b.Key) })
	entries := make([]*entry, len(all))
	for i := range all {
		entries[i] = all[i].entry
	}
	return func(yield func(Key, []*entry) bool) {
		for start, end := 0, 1; start < len(all); start, end = end, end+1 {
			for end < len(all) && all[end].Key == all[start].Key {
				end++
			}
			if !yield(all[start].Key, entries[start:end:end]) {
				return
			}
		}
	}
}

// compare orders keys: live before test, then by id.
func (k Key) compare(other Key) int {
	if k.Test != other.Test {
		if other.Test {
			return -1
		}
		return +1
	}
	return strings.Compare(k.ID, other.ID)
}
