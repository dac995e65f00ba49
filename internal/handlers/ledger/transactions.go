package ledger

import (
	"cmp"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// transaction is one that is being folded: what was told of it, as far as its state asks.
type transaction struct {
	ipn.Transaction
	span
	authorised, pending, reviewed bool
	declined                      bool
	declinedLate                  bool // after the last charge
	charges                       int
	refunds                       int
	reversing                     bool // a refund or a dispute is told, or announced
	differs                       bool // one reversal was told with two amounts
	foreign                       bool // money in another currency than the charge's
	unreadable                    bool // money that could not be read
	sums                          [sides]sum
	open                          bool     // a dispute is
	recent                        *dispute // of which the latest news came
	strange, unopened             bool     // disputes with unknown status, without opening
}

// foldTransaction returns the book of one reference number from its events in order, their booked money and its
// disputes. Events that only mention the charge (CANCELLATION, CONTRACT_CHANGE...) are not among the entries: they
// stand on the timeline, and neither count nor date.
func foldTransaction(key Key, entries []*entry, b booking, disputes []*dispute) ipn.Transaction {
	t := new(transaction)
	t.ReferenceNumber, t.Test = key.ID, key.Test
	for _, e := range entries {
		t.name(e)
		e.transaction(t, e)
	}
	t.argue(disputes)
	t.tally(b)
	t.reckon()
	t.FirstAt, t.LastAt = t.first, t.last
	t.State = t.state()
	t.Attention = remarksOn(t, transactionRemarks)
	return t.Transaction
}

// name takes what any event may tell; of references, the first one told stays.
func (t *transaction) name(e *entry) {
	t.Events++
	t.span.add(e.Stored)
	t.SubscriptionID = cmp.Or(t.SubscriptionID, e.Facts.SubscriptionID)
	t.MerchantTransactionID = cmp.Or(t.MerchantTransactionID, e.Facts.MerchantTransactionID)
	t.AccountID = cmp.Or(t.AccountID, e.Facts.AccountID)
}

func (t *transaction) authorise(*entry) { t.authorised = true }
func (t *transaction) pend(*entry)      { t.pending = true }
func (t *transaction) review(*entry)    { t.reviewed = true }
func (t *transaction) reverse(*entry)   { t.reversing = true }

// charge counts the charge, whether or not its amount can be read, and outdates the declines before it.
func (t *transaction) charge(*entry) {
	t.charges++
	t.declinedLate = false
}

// decline counts against a charge only if it is dated behind it.
func (t *transaction) decline(e *entry) {
	t.declined = true
	t.declinedLate = t.charges > 0 && !e.Facts.OccurredAt.IsZero()
}

// refund counts what was told; how much came back is the movements' matter.
func (t *transaction) refund(*entry) {
	t.refunds++
	t.reversing = true
}

// states are the rules for the state of a transaction: the first that holds decides.
var states = []struct {
	state ipn.TransactionState
	of    func(*transaction) bool
}{
	{ipn.TransactionDisputed, func(t *transaction) bool { return t.open }},
	{ipn.TransactionLost, func(t *transaction) bool { return t.recent != nil && t.recent.State != ipn.DisputeWon }},
	{ipn.TransactionIncomplete, func(t *transaction) bool { return t.refunds > 0 && t.charges == 0 }},
	{ipn.TransactionRefunded, func(t *transaction) bool {
		return t.refunds > 0 && t.Charged.IsPositive() && t.Refundable.IsZero()
	}},
	{ipn.TransactionPartiallyRefunded, func(t *transaction) bool { return t.refunds > 0 }},
	{ipn.TransactionWon, func(t *transaction) bool { return t.recent != nil }},
	{ipn.TransactionDeclined, func(t *transaction) bool { return t.declinedLate }},
	{ipn.TransactionCharged, func(t *transaction) bool { return t.charges > 0 }},
	{ipn.TransactionDeclined, func(t *transaction) bool { return t.declined }},
	{ipn.TransactionPending, func(t *transaction) bool { return t.pending }},
	{ipn.TransactionInReview, func(t *transaction) bool { return t.reviewed }},
	{ipn.TransactionAuthorised, func(t *transaction) bool { return t.authorised }},
}

// state returns the first state whose rule holds; incomplete when only announcements of reversals are known.
func (t *transaction) state() ipn.TransactionState {
	for _, rule := range states {
		if rule.of(t) {
			return rule.state
		}
	}
	return ipn.TransactionIncomplete
}

// The closed set of remarks on a transaction.
const (
	NoCharge             = "no_charge"              // reversals are known, their charge is not
	ChargedTwice         = "charged_twice"          // several charges under one reference number, all counted
	DeclinedAfterCharge  = "declined_after_charge"  // a decline is dated behind the charge
	AmountUnknown        = "amount_unknown"         // money that could not be read is missing from the amounts
	CurrencyDiffers      = "currency_differs"       // money in another currency is missing from the amounts
	OverRefunded         = "over_refunded"          // more was refunded than charged
	OverReversed         = "over_reversed"          // refunds and disputes together exceed the charge
	ReversalDiffers      = "reversal_differs"       // one reversal was told with two amounts; one is booked
	DisputeNotOpened     = "dispute_not_opened"     // a dispute has news, but its opening has not come in
	DisputeClosed        = "dispute_closed"         // the last dispute ended without a verdict: the money stays taken
	DisputeStatusUnknown = "dispute_status_unknown" // a dispute has a status that is not known; it counts as open
)

// transactionRemarks say when each applies. A remark changes no amount and no state.
var transactionRemarks = []remark[*transaction]{
	{NoCharge, func(t *transaction) bool { return t.reversing && t.charges == 0 }},
	{ChargedTwice, func(t *transaction) bool { return t.charges > 1 }},
	{DeclinedAfterCharge, func(t *transaction) bool { return t.declinedLate }},
	{AmountUnknown, func(t *transaction) bool { return t.unreadable }},
	{CurrencyDiffers, func(t *transaction) bool { return t.foreign }},
	{OverRefunded, func(t *transaction) bool { return t.charges > 0 && t.Refunded.GreaterThan(t.Charged) }},
	{OverReversed, func(t *transaction) bool {
		return t.charges > 0 && t.Disputed.IsPositive() && t.Refunded.Add(t.Disputed).GreaterThan(t.Charged)
	}},
	{ReversalDiffers, func(t *transaction) bool { return t.differs }},
	{DisputeNotOpened, func(t *transaction) bool { return t.unopened }},
	{DisputeClosed, func(t *transaction) bool { return t.recent != nil && t.recent.State == ipn.DisputeClosed }},
	{DisputeStatusUnknown, func(t *transaction) bool { return t.strange }},
}

// argue takes what the disputes come to.
func (t *transaction) argue(disputes []*dispute) {
	for _, d := range disputes {
		t.open = t.open || d.State == ipn.DisputeOpen
		t.strange = t.strange || d.strange
		t.unopened = t.unopened || d.openings == 0
		if t.recent == nil || d.latest > t.recent.latest {
			t.recent = d
		}
	}
}

// tally sums the movements in the currency of the charge. Nothing is converted: money in another currency is left out,
// and remarked on.
func (t *transaction) tally(b booking) {
	t.differs, t.unreadable = b.differs, b.unreadable
	t.Currency = b.currency()
	for i := range b.movements {
		m := &b.movements[i]
		if m.Currency != t.Currency {
			t.foreign = true
			continue
		}
		side := kinds[m.Kind].side
		t.sums[side] = t.sums[side].plus(m)
	}
}

// currency returns that of the first charge, else of the first movement, else "".
func (b *booking) currency() string {
	currency := ""
	for i := range b.movements {
		m := &b.movements[i]
		if kinds[m.Kind].side == charges {
			return m.Currency
		}
		currency = cmp.Or(currency, m.Currency)
	}
	return currency
}

// reckon derives the amounts from the sums.
func (t *transaction) reckon() {
	charge, back, taken := t.sums[charges], t.sums[refunds], t.sums[disputed]
	t.Charged, t.Refunded, t.Disputed = charge.amount, back.amount.Neg(), taken.amount.Neg()
	t.Refundable = decimal.Max(decimal.Zero, t.Charged.Sub(t.Refunded).Sub(t.Disputed))
	if charge.movements == 0 {
		return
	}
	t.Tax = decimal.NullDecimal{Decimal: charge.tax, Valid: !charge.taxUnknown}
	t.ChargedUSD = decimal.NullDecimal{Decimal: charge.dollars, Valid: !charge.dollarsUnknown}
	t.TaxRefundable = t.taxRest(back, taken)
}

// taxRest returns the tax within what is refundable. A partial reversal tells no tax of its own, and then only two
// things are certain: no tax is left when nothing is, and none when there was none.
func (t *transaction) taxRest(back, taken sum) decimal.NullDecimal {
	switch {
	case !t.Tax.Valid:
		return decimal.NullDecimal{}
	case t.Refundable.IsZero(), t.Tax.Decimal.IsZero():
		return decimal.NewNullDecimal(decimal.Zero)
	case back.hidesTax(), taken.hidesTax():
		return decimal.NullDecimal{}
	}
	rest := t.Tax.Decimal.Add(back.tax).Add(taken.tax)
	return decimal.NewNullDecimal(decimal.Min(t.Refundable, decimal.Max(decimal.Zero, rest)))
}

// sum is the money of one side. Tax and dollars are known as long as every movement tells them.
type sum struct {
	amount, tax, dollars       decimal.Decimal
	taxUnknown, dollarsUnknown bool
	movements                  int
}

// plus returns the sum with one more movement.
func (s sum) plus(m *ipn.Movement) sum {
	return sum{
		amount: s.amount.Add(m.Amount), tax: s.tax.Add(m.Tax.Decimal), dollars: s.dollars.Add(m.AmountUSD.Decimal),
		taxUnknown: s.taxUnknown || !m.Tax.Valid, dollarsUnknown: s.dollarsUnknown || !m.AmountUSD.Valid,
		movements: s.movements + 1,
	}
}

// hidesTax tells whether the side took away an unknown tax. What was taken and given back took none.
func (s sum) hidesTax() bool { return s.taxUnknown && !s.amount.IsZero() }
