package finance

import (
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Summary tells what became of a transaction in one sentence; events are those of its reference number, oldest first.
func Summary(t *ipn.Transaction, disputes []ipn.DisputeBook, events []ipn.Stored) string {
	return summary(t, disputes, timelineOf(events))
}

// summary tells what became of a transaction in one sentence: what was charged and when, what of it went back, and how its
// disputes stand. Days are of UTC.
func summary(t *ipn.Transaction, disputes []ipn.DisputeBook, timeline []timelineEntry) string {
	parts := []string{beginning(t, timeline)}
	if t.Refunded.IsPositive() {
		parts = append(parts, ipn.Digits(t.Refunded)+" "+t.Currency+" refunded")
	}
	for i := range disputes {
		parts = append(parts, disputeWords(&disputes[i]))
	}
	if t.Charged.IsPositive() && t.Refundable.IsZero() {
		parts = append(parts, "nothing is left to refund")
	}
	return strings.Join(parts, ", ") + "."
}

// beginnings say how a transaction began that was not charged.
var beginnings = map[ipn.TransactionState]string{
	ipn.TransactionAuthorised: "Authorised on {first}, not charged",
	ipn.TransactionInReview:   "In review since {first}, not charged",
	ipn.TransactionPending:    "Pending since {first}, not charged",
	ipn.TransactionDeclined:   "Declined on {last}",
}

// beginning tells the charge, or what there is in its place.
func beginning(t *ipn.Transaction, timeline []timelineEntry) string {
	if !t.Charged.IsPositive() {
		words := beginnings[t.State]
		if words == "" {
			words = "Its charge is not known"
		}
		return strings.NewReplacer("{first}", day(t.FirstAt), "{last}", day(t.LastAt)).Replace(words)
	}
	words := "Charged " + ipn.Digits(t.Charged) + " " + t.Currency
	for _, e := range timeline {
		if row, _ := ipn.LookupType(e.TransactionType); row.Sign == ipn.In {
			return words + " on " + day(e.At)
		}
	}
	return words // the timeline ends before it
}

// disputeWords tells how a dispute stands.
func disputeWords(d *ipn.DisputeBook) string {
	ended := d.LastAt
	if d.EndedAt != nil {
		ended = *d.EndedAt
	}
	words := "a dispute"
	if d.Amount.Valid {
		words += " over " + ipn.Digits(d.Amount.Decimal) + " " + d.Currency
	}
	switch d.State {
	case ipn.DisputeWon:
		return words + " was won on " + day(ended)
	case ipn.DisputeLost:
		return words + " was lost on " + day(ended)
	case ipn.DisputeClosed:
		return words + " ended without a verdict on " + day(ended)
	}
	return words + " is open since " + day(d.OpenedAt)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
