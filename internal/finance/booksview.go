package finance

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The views of the books hide the decimals of what they embed behind texts of the same names: a decimal writes itself
// without trailing zeros, and 21.00 euros are not told as 21.

// transactionView is a transaction with the events it was folded from.
type transactionView struct {
	ipn.Transaction
	Charged       string  `json:"charged" example:"21.00"`
	Refunded      string  `json:"refunded"`
	Disputed      string  `json:"disputed" doc:"Held by open disputes or lost to them"`
	Refundable    string  `json:"refundable" doc:"The rest that can still be refunded"`
	Tax           *string `json:"tax"`
	TaxRefundable *string `json:"taxRefundable" doc:"The tax part of the rest; null when a partial refund did not tell its tax"`
	ChargedUSD    *string `json:"chargedUSD"`

	Summary  string          `json:"summary" doc:"What became of it, in words; days in UTC" example:"Charged 21.00 EUR on 2 March 2026, 5.00 EUR refunded."`
	Timeline []timelineEntry `json:"timeline" doc:"The events of the number by the time they happened; at most the last 1,000"`
	Disputes []disputeView   `json:"disputes" doc:"Those opened first come first"`
}

func (o *Office) viewTransaction(t ipn.Transaction, disputes []ipn.DisputeBook, timeline []timelineEntry) transactionView {
	return transactionView{
		Summary: summary(&t, disputes, timeline), Disputes: o.viewDisputes(disputes), Transaction: t, Charged: ipn.Digits(t.Charged), Refunded: ipn.Digits(t.Refunded), Disputed: ipn.Digits(t.Disputed), Refundable: ipn.Digits(t.Refundable),
		Tax: amountOrNull(t.Tax), TaxRefundable: amountOrNull(t.TaxRefundable), ChargedUSD: amountOrNull(t.ChargedUSD), Timeline: timeline,
	}
}

// subscriptionItem is a subscription in a list.
type subscriptionItem struct {
	ipn.SubscriptionBook
	LastAmount *string `json:"lastAmount" doc:"Of the last charge"`
}

func viewSubscription(s ipn.SubscriptionBook) subscriptionItem {
	return subscriptionItem{SubscriptionBook: s, LastAmount: amountOrNull(s.LastAmount)}
}

// subscriptionView is a subscription with the events it was folded from.
type subscriptionView struct {
	ipn.SubscriptionBook
	LastAmount *string `json:"lastAmount" doc:"Of the last charge"`

	Timeline []timelineEntry `json:"timeline" doc:"The events of the subscription by the time they happened; at most the last 1,000"`
}

// disputeView is a dispute as old as it is now.
type disputeView struct {
	ipn.DisputeBook
	Amount *string `json:"amount"`
}

// viewDispute ages a dispute until it ended, or until now, and estimates the deadline of an open one. Without days there
// is no estimate.
func viewDispute(d ipn.DisputeBook, now time.Time, days int) disputeView {
	d.AgeDays, d.EstimatedDeadline = d.Age(now), d.Deadline(days)
	d.Path = append([]ipn.DisputeStep{}, d.Path...)
	return disputeView{DisputeBook: d, Amount: amountOrNull(d.Amount)}
}

func (o *Office) viewDisputes(disputes []ipn.DisputeBook) []disputeView {
	views, now := make([]disputeView, len(disputes)), o.now()
	for i, d := range disputes {
		views[i] = viewDispute(d, now, o.DisputeDays)
	}
	return views
}

// unbookedView is money that is not booked, as the API shows it.
type unbookedView struct {
	EventID         int64              `json:"eventId"`
	Test            bool               `json:"test"`
	TransactionType string             `json:"transactionType" doc:"Canonical name, or as sent when unknown"`
	ReferenceNumber string             `json:"referenceNumber,omitempty"`
	Reason          ipn.UnbookedReason `json:"reason" enum:"amount_missing,currency_missing,same_reversal,opening_unknown"`
	Sentence        string             `json:"sentence" doc:"The reason in words"`
}

func viewUnbooked(u *ipn.UnbookedEvent) unbookedView {
	return unbookedView{EventID: u.EventID, Test: u.Test, TransactionType: u.TransactionType, ReferenceNumber: u.ReferenceNumber,
		Reason: u.Reason, Sentence: u.Reason.Sentence()}
}

// payoutView is one currency of a payout.
type payoutView struct {
	EventID   int64     `json:"eventId" doc:"The event that told it, under /api/v1/events/{id}"`
	Test      bool      `json:"test"`
	At        time.Time `json:"at" doc:"When it happened by the sender's date, else when it was received"`
	Currency  string    `json:"currency"`
	Amount    string    `json:"amount" doc:"Paid to the bank, a magnitude"`
	AmountUSD *string   `json:"amountUSD" doc:"The same, where it was in US dollars"`
}

func viewPayout(m *ipn.Movement) payoutView {
	usd := m.AmountUSD
	usd.Decimal = usd.Decimal.Neg()
	return payoutView{EventID: m.EventID, Test: m.Test, At: m.At, Currency: m.Currency, Amount: ipn.Digits(m.Amount.Neg()), AmountUSD: amountOrNull(usd)}
}

// amountOrNull returns nil, which is null in JSON, for an amount that nobody told.
func amountOrNull(d decimal.NullDecimal) *string {
	if !d.Valid {
		return nil
	}
	text := ipn.Digits(d.Decimal)
	return &text
}

// timelineEntry is an event as a step of what became of a transaction or a subscription.
type timelineEntry struct {
	EventID         int64     `json:"eventId"`
	At              time.Time `json:"at" doc:"When it happened by the sender's date, else when it was received"`
	ReceivedAt      time.Time `json:"receivedAt"`
	Test            bool      `json:"test"`
	TransactionType string    `json:"transactionType"`
	Sentence        string    `json:"sentence" doc:"What the event says, in words"`
	ReferenceNumber string    `json:"referenceNumber,omitempty"`
	ReversalRefNum  string    `json:"reversalRefNum,omitempty"`
	Amount          string    `json:"amount,omitempty" doc:"As told, a magnitude"`
	Currency        string    `json:"currency,omitempty"`
	Status          string    `json:"status,omitempty"`
	Receipts        int64     `json:"receipts" doc:"Accepted posts of this event"`
	VariantCount    int64     `json:"variantCount" doc:"Receipts that told something else under the same identity"`
}

// timeline returns the last 1,000 events that q asks for, oldest first.
func (o *Office) timeline(ctx context.Context, q ipn.Question) ([]timelineEntry, error) {
	q.Limit, q.FactsOnly = 1000, true
	events, err := o.History.Events(ctx, q)
	if err != nil {
		return nil, err
	}
	slices.Reverse(events)
	return timelineOf(events), nil
}

// timelineOf is what a list of events says.
func timelineOf(events []ipn.Stored) []timelineEntry {
	entries := make([]timelineEntry, len(events))
	for i := range events {
		e, f := &events[i], &events[i].Facts
		entries[i] = timelineEntry{
			EventID: e.ID, At: e.SortedAt, ReceivedAt: e.ReceivedAt, Test: f.Test, TransactionType: f.TransactionType, Sentence: e.Sentence(),
			ReferenceNumber: f.ReferenceNumber, ReversalRefNum: f.ReversalReference, Amount: f.Amount.String(), Currency: f.Currency, Status: f.Status,
			Receipts: e.Receipts, VariantCount: e.Variants,
		}
	}
	return entries
}
