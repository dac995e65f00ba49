package ledger

import (
	"cmp"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// side is the part of a transaction that a kind of movement belongs to.
type side int

const (
	beside side = iota // of no transaction
	charges
	refunds
	disputed
	sides // how many
)

// kinds say of each kind of movement which way its money goes and which side of the transaction it is on. Events of
// one side that tell one reversal number tell one reversal.
var kinds = map[ipn.MovementKind]struct {
	sign ipn.Sign
	side side
}{
	ipn.MoveCharge:             {ipn.In, charges},
	ipn.MoveRecurring:          {ipn.In, charges},
	ipn.MoveRefund:             {ipn.Out, refunds},
	ipn.MoveCancellationRefund: {ipn.Out, refunds},
	ipn.MoveChargeback:         {ipn.Out, disputed},
	ipn.MoveChargebackReversal: {ipn.In, disputed},
	ipn.MovePayout:             {ipn.Out, beside},
}

// booking is the money of one reference number, or of one event that has none.
type booking struct {
	reference string
	charge    origin // of the first charge that tells it, for reversals that do not
	movements []ipn.Movement
	unbooked  []ipn.Unbooked
	takings   map[string][]ipn.Movement // what each dispute took, by reversal number

	unreadable bool // money that could not be read
	differs    bool // one reversal was told with two amounts
}

// bookAll books the entries' money, which are in order and of one reference number, and gives back what won disputes
// took. A verdict books no amount of its own: it mirrors the openings that are booked, so a dispute that was won nets
// to zero whatever its news said; a dispute known by its news alone moves nothing at all.
func bookAll(reference string, entries []*entry, disputes []*dispute) booking {
	b := booking{reference: reference}
	for _, e := range entries {
		if kinds[e.kind].side == charges {
			b.charge = b.charge.or(originOf(e))
		}
	}
	told := tellers(entries)
	for _, e := range entries {
		switch key := e.reversal(); {
		case e.kind == "":
		case key.number != "" && told[key] != e:
			b.leave(e, ipn.UnbookedSameReversal)
			b.differs = b.differs || e.contradicts(told[key])
		case e.kind == ipn.MovePayout:
			b.payOut(e)
		default:
			b.take(e)
		}
	}
	for _, d := range disputes {
		if d.State == ipn.DisputeWon {
			b.giveBack(d)
		}
	}
	return b
}

// reversalKey names a refund or a taking within its reference number.
type reversalKey struct {
	side   side
	number string // "" when not told, and for what is no reversal: nothing to compare by
}

// reversal returns the refund or the taking that the event tells; the zero key when it tells none, or none that could
// be compared.
func (e *entry) reversal() reversalKey {
	side := kinds[e.kind].side
	if side != refunds && side != disputed {
		return reversalKey{}
	}
	return reversalKey{side: side, number: e.Facts.ReversalReference}
}

// tellers returns, for each reversal number, the one event whose money is booked: one with a readable amount before one
// without, then by rank (REFUND before CANCELLATION_REFUND, CHARGEBACK before the others), then the first.
func tellers(entries []*entry) map[reversalKey]*entry {
	var told map[reversalKey]*entry
	for _, e := range entries {
		key := e.reversal()
		if key.number == "" {
			continue
		}
		if told == nil {
			told = make(map[reversalKey]*entry)
		}
		if best := told[key]; best == nil || e.tellsBetter(best) {
			told[key] = e
		}
	}
	return told
}

// tellsBetter never prefers a later telling to an equal earlier one, so that the choice hangs on the order alone.
func (e *entry) tellsBetter(than *entry) bool {
	if readable := e.unreadable() == ""; readable != (than.unreadable() == "") {
		return readable
	}
	return e.rank < than.rank
}

// unreadable returns why the event's amount cannot be booked, "" if it can.
func (e *entry) unreadable() ipn.UnbookedReason {
	return unreadable(e.Facts.Amount, e.Facts.Currency)
}

// contradicts tells whether two events tell different amounts.
func (e *entry) contradicts(other *entry) bool {
	if e.unreadable() != "" || other.unreadable() != "" {
		return false
	}
	return e.Facts.Currency != other.Facts.Currency || !e.Facts.Amount.Decimal().Equal(other.Facts.Amount.Decimal())
}

// unreadable is a reason, not a judgement: an amount of 0 is told, and is booked as 0.
func unreadable(amount ipn.Money, currency string) ipn.UnbookedReason {
	switch {
	case amount.IsZero():
		return ipn.UnbookedNoAmount
	case currency == "":
		return ipn.UnbookedNoCurrency
	}
	return ""
}

// leave notes that an event's money is not booked. Nothing that tells money is passed over without a note: every
// event of a money type ends in a movement, in a note, or in both.
func (b *booking) leave(e *entry, reason ipn.UnbookedReason) {
	b.unreadable = b.unreadable || reason == ipn.UnbookedNoAmount || reason == ipn.UnbookedNoCurrency
	b.unbooked = append(b.unbooked, ipn.Unbooked{EventID: e.ID, Test: e.Facts.Test, ReferenceNumber: b.reference, Reason: reason})
}

// take books the one amount of an event. Tax and dollars come with it only where the sender tells those of this
// amount: a partial reversal carries the whole invoice's, which the facts leave out.
func (b *booking) take(e *entry) {
	if reason := e.unreadable(); reason != "" {
		b.leave(e, reason)
		return
	}
	m := b.movement(e, 0, e.kind, e.Facts.Currency, e.Facts.Amount)
	m.Tax = signed(kinds[e.kind].sign, e.Facts.TaxAmount)
	if !e.Facts.AmountUSD.IsZero() {
		m.AmountUSD = signed(kinds[e.kind].sign, e.Facts.AmountUSD)
	}
	b.movements = append(b.movements, m)
	if e.part != noPart {
		if b.takings == nil {
			b.takings = make(map[string][]ipn.Movement)
		}
		b.takings[e.Facts.ReversalReference] = append(b.takings[e.Facts.ReversalReference], m)
	}
}

// payOut books a payout's deposits, a line per currency; a payout is always booked by itself. Those that cannot be read are left, and noted once.
func (b *booking) payOut(e *entry) {
	var reason ipn.UnbookedReason
	for _, deposit := range e.Facts.Deposits {
		if why := unreadable(deposit.Amount, deposit.Currency); why != "" {
			reason = cmp.Or(reason, why)
			continue
		}
		b.movements = append(b.movements, b.movement(e, len(b.movements), e.kind, deposit.Currency, deposit.Amount))
	}
	if len(e.Facts.Deposits) == 0 {
		reason = ipn.UnbookedNoAmount
	}
	if reason != "" {
		b.leave(e, reason)
	}
}

// giveBack books the return of all that a won dispute took, under the event that brought the verdict: the first of the
// last run of news that say so, so that telling the verdict again does not move the money to another day.
func (b *booking) giveBack(d *dispute) {
	takings := b.takings[d.ReversalReference]
	if len(takings) == 0 {
		b.leave(d.turned, ipn.UnbookedNoOpening)
	}
	line := b.lines(d.turned.ID)
	for i, taken := range takings {
		m := b.movement(d.turned, line+i, ipn.MoveChargebackReversal, taken.Currency, ipn.Money{})
		m.Amount, m.Tax, m.AmountUSD = taken.Amount.Neg(), negated(taken.Tax), negated(taken.AmountUSD)
		m.Country, m.State, m.ContractID = taken.Country, taken.State, taken.ContractID // so that each of them nets to zero too
		b.movements = append(b.movements, m)
	}
}

// movement returns a line of the event, with its amount in the direction of the kind. Its tax is not known yet, its
// dollars only if it is in dollars.
func (b *booking) movement(e *entry, line int, kind ipn.MovementKind, currency string, amount ipn.Money) ipn.Movement {
	m := ipn.Movement{
		EventID: e.ID, Line: line, Kind: kind, Test: e.Facts.Test,
		ReferenceNumber: b.reference, SubscriptionID: e.Facts.SubscriptionID, At: when(e.Stored), Currency: currency,
	}
	if kinds[kind].side != beside {
		from := originOf(e).or(b.charge)
		m.Country, m.State, m.ContractID = from.country, from.state, from.contract
	}
	value := signed(kinds[kind].sign, amount)
	m.Amount = value.Decimal
	if currency == "USD" {
		m.AmountUSD = value // in dollars by itself, even where the sender does not say so twice
	}
	return m
}

// lines counts the movements that an event has so far: an opening may bring its own verdict.
func (b *booking) lines(event int64) int {
	n := 0
	for i := range b.movements {
		if b.movements[i].EventID == event {
			n++
		}
	}
	return n
}

// signed gives a magnitude the direction of its kind; null when it was not told.
func signed(sign ipn.Sign, magnitude ipn.Money) decimal.NullDecimal {
	if magnitude.IsZero() {
		return decimal.NullDecimal{}
	}
	value := magnitude.Decimal()
	if sign == ipn.Out {
		value = value.Neg()
	}
	return decimal.NewNullDecimal(value)
}

// negated turns a known amount around; an unknown one stays unknown.
func negated(n decimal.NullDecimal) decimal.NullDecimal {
	if n.Valid {
		n.Decimal = n.Decimal.Neg()
	}
	return n
}
