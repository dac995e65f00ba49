package paysim

import (
	"slices"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const (
	longestReason = 4000 // characters
	defaultReason = "Per your instructions"
	bankRefund    = 3 * 24 * time.Hour // until a refund by bank is final; as long as the debit took to clear
)

// The states of a refund, as answers write them. A pending one is in the sums already, and can be
// called back.
const (
	refundDone    = "SUCCESS"
	refundPending = "PENDING"
)

// Refund gives money back: the whole of what remains, or a part, whose tax is told beside it
// (specification section 4, rule 3). Retail delivery fees stay where they are (section 1). IPN
// REFUND; CANCELLATION_REFUND when the transaction belongs to a subscription that still runs, which
// a refund ends unless the request says otherwise; PENDING_REFUND, and REFUND some days later, for
// a card that stands for a bank account, with a CANCELLATION of its own when that ends a subscription.
//
// The answers are 20008 and 20009 for the number; 14004 for what was not paid or is disputed, 14007
// after two years, 14022 when nothing is left, 14009 for more than earlier refunds have left, 14051
// to 14055 for amount and tax, 16001 for a tax without an amount, 14005 and 10001 for an amount
// that cannot be.
func (s *Service) Refund(id string, r RefundRequest) (Refund, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transaction(id)
	if err != nil {
		return Refund{}, err
	}
	if err := s.refundable(t); err != nil {
		return Refund{}, err
	}
	amount, tax, err := r.of(t)
	if err != nil {
		return Refund{}, err
	}
	refund := Refund{ID: s.numberText(), Amount: amount, Tax: tax, Created: s.agenda.Now(), Reason: r.Reason, Status: refundDone}
	if refund.Reason == "" {
		refund.Reason = defaultReason
	}
	if fateOf(t.Card).byBank {
		refund.Status = refundPending
	}
	t.Refunds = append(t.Refunds, refund)
	s.tellRefund(t, refund, r)
	return refund, nil
}

// refundable refuses what cannot be refunded at all: 14022, 14004 and 14007. The documented limit
// is two calendar years. The lock is held.
func (s *Service) refundable(t *Transaction) error {
	left, _ := t.Left()
	switch {
	case t.State == Refunded, t.State == Captured && left <= 0:
		return Refuse("14022", "transactionId", t.ID)
	case t.State != Captured:
		return Refuse("14004", "transactionId", t.ID)
	case s.agenda.Now().After(t.Created.AddDate(2, 0, 0)):
		return Refuse("14007", "transactionId", t.ID)
	}
	return nil
}

// Left is what can still be refunded, and the tax in it, whether the state allows it or not. A
// delivery fee is not part of it, and a refund that is still pending has been taken off.
func (t *Transaction) Left() (amount, tax money.Amount) {
	amount, tax = t.Amount-t.Fee, t.Tax-t.Fee
	for _, refund := range t.Refunds {
		amount, tax = amount-refund.Amount, tax-refund.Tax
	}
	return amount, tax
}

// of returns the amount and the tax in it that a request refunds of a transaction. The order of the
// rules is the simulator's; what each of the codes refuses is documented. The tax of a taxed charge
// must be told even when it is zero (14051), because only the merchant knows which items come back
// (specification section 4, rule 3).
func (r RefundRequest) of(t *Transaction) (amount, tax money.Amount, err error) {
	left, leftTax := t.Left()
	if len([]rune(r.Reason)) > longestReason {
		return 0, 0, Refuse("10001", "reason", "")
	}
	if r.Amount == nil {
		if r.TaxAmount != nil { // a part of what? The client has forgotten the amount
			return 0, 0, Refuse("16001", "amount", "")
		}
		return left, leftTax, nil
	}
	if err := payable(*r.Amount, t.Currency, "amount"); err != nil {
		return 0, 0, err
	}
	if r.TaxAmount != nil {
		tax = *r.TaxAmount
	}
	// Amount, tax, and the net between them have each a bound, and each bound a code. A refund of tax
	// alone breaks none of them, and is right: an exemption may be shown late.
	switch blame := tax.String(); {
	case tax < 0:
		err = Refuse("14052", "taxAmount", blame)
	case r.TaxAmount == nil && t.Tax > 0:
		err = Refuse("14051", "taxAmount", "")
	case tax%money.Step(t.Currency) != 0:
		err = Refuse("10001", "taxAmount", blame)
	case tax > *r.Amount:
		err = Refuse("14054", "taxAmount", blame)
	case len(t.Refunds) > 0 && *r.Amount > left: // without an earlier refund it is the net or the tax that is too large
		err = Refuse("14009", "amount", r.Amount.String())
	case tax > leftTax:
		err = Refuse("14053", "taxAmount", blame)
	case *r.Amount-tax > left-leftTax:
		err = Refuse("14055", "amount", r.Amount.String())
	}
	return *r.Amount, tax, err
}

// tellRefund sends the IPN of a refund, ends the subscription if it is to end, and, when the money
// goes by bank, plans the refund's end. The lock is held.
func (s *Service) tellRefund(t *Transaction, refund Refund, r RefundRequest) {
	fields, ended := t.refundFields(refund), s.endWith(t, r)
	switch {
	case refund.Status == refundPending:
		// CANCELLATION_REFUND would say that the money is back, which it is not: two IPNs tell the
		// two things that have happened.
		s.notify(s.occasion(t, "PENDING_REFUND", fields...))
		s.agenda.After(bankRefund, func() { s.finishRefund(t, refund.ID) })
		if ended != nil {
			s.tell(ended, "CANCELLATION", cancellation(ended, "CANCELLED_BY_SELLER")...)
		}
		return
	case ended != nil:
		fields = append(fields, notice.Field{Name: "cancelReason", Value: "CANCELLED_BY_SELLER"})
		s.notify(s.occasion(t, "CANCELLATION_REFUND", fields...))
	default:
		s.notify(s.occasion(t, "REFUND", fields...))
	}
	t.closeIfRefunded()
}

// closeIfRefunded makes a paid transaction refunded when nothing is left of it and no refund
// can still be called back. One that is disputed stays so: its end is the dispute's.
func (t *Transaction) closeIfRefunded() {
	pending := slices.ContainsFunc(t.Refunds, func(r Refund) bool { return r.Status == refundPending })
	if left, _ := t.Left(); t.State == Captured && left <= 0 && !pending {
		t.State = Refunded
	}
}

// endWith ends the subscription of a transaction that is refunded, unless the request forbids it or
// it has ended before: the documented default of cancelSubscriptions is true, whichever charge is
// refunded and however small the part. It returns the subscription if it ended, else nil; whoever
// calls tells of the end.
func (s *Service) endWith(t *Transaction, r RefundRequest) *Subscription {
	sub, known := s.subscriptions[t.SubscriptionID]
	if !known || sub.Status != Active || r.CancelSubscriptionsSaid && !r.CancelSubscriptions {
		return nil
	}
	s.end(sub)
	return sub
}

// refundFields are what the IPNs of a refund tell of it. fullRefund is Y when this one refund gives
// everything back, the fee aside; the last of several parts says N, as it is a part.
func (t *Transaction) refundFields(refund Refund) []notice.Field {
	fields := reversal(refund.ID, refund.Amount, refund.Reason)
	if refund.Amount != t.Amount-t.Fee {
		return append(fields, notice.Field{Name: "fullRefund", Value: "N"})
	}
	back := t.Tax - t.Fee // a delivery fee counts as tax and does not go back (specification section 1)
	return append(fields, notice.Field{Name: "fullRefund", Value: "Y"},
		notice.Field{Name: "taxChargeAmount", Value: back.String()}, notice.Field{Name: "taxAmountUSD", Value: USD(back, t.Currency).String()})
}

// finishRefund is when the bank has paid a refund. It does nothing for one that was called back
// meanwhile.
func (s *Service) finishRefund(t *Transaction, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, refund := range t.Refunds {
		if refund.ID != id || refund.Status != refundPending {
			continue
		}
		t.Refunds[i].Status = refundDone
		t.closeIfRefunded()
		s.notify(s.occasion(t, "REFUND", t.refundFields(refund)...))
		return
	}
}

// CancelRefund calls back a refund that is still pending: the money counts as paid again. No type
// of IPN tells of it, and a subscription that ended with the refund stays ended. 20009 when no
// refund of this number is pending.
func (s *Service) CancelRefund(refundID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transactions {
		for i, refund := range t.Refunds {
			if refund.ID == refundID && refund.Status == refundPending {
				t.Refunds = append(t.Refunds[:i:i], t.Refunds[i+1:]...)
				return nil
			}
		}
	}
	return Refuse("20009", "refundTransactionId", refundID)
}
