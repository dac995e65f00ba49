package paysim

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const (
	longestReason = 4000
	defaultReason = "Per your instructions"
	bankRefund    = 3 * 24 * time.Hour // until a refund by bank is final
)

// The states of a refund.
const (
	RefundDone    = "SUCCESS"
	RefundPending = "PENDING"
)

// Refund gives money back: the whole of what remains, or a part, whose tax is told beside it (specification section 4, rule
// 3). Retail delivery fees stay where they are. IPN REFUND; CANCELLATION_REFUND when the transaction belongs to a
// subscription that still runs, which a refund ends unless the request says otherwise; PENDING_REFUND, and REFUND some days
// later, for money that came by bank.
//
// The answers are 20009; 14004 for what was not paid or is disputed, 14007 after two years, 14022 when nothing is left, 14009
// for more than earlier refunds have left, 14051 to 14055 for amount and tax, 14005 and 10001 for an amount that cannot be.
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
	refund := Refund{ID: s.numberText(), Amount: amount, Tax: tax, Created: s.agenda.Now(), Reason: r.Reason, Status: RefundDone}
	if refund.Reason == "" {
		refund.Reason = defaultReason
	}
	if fateOf(t.Card).byBank {
		refund.Status = RefundPending
	}
	t.Refunds = append(t.Refunds, refund)
	s.tellRefund(t, refund, r)
	return refund, nil
}

// refundable refuses what cannot be refunded at all.
func (s *Service) refundable(t *Transaction) error {
	left, _ := t.Left()
	switch {
	case t.State == Refunded, t.State == Captured && left <= 0:
		return refuse("14022", "transactionId", t.ID)
	case t.State != Captured:
		return refuse("14004", "transactionId", t.ID)
	case s.agenda.Now().After(t.Created.AddDate(2, 0, 0)):
		return refuse("14007", "transactionId", t.ID)
	}
	return nil
}

// Left is what can still be refunded, and the tax in it. A delivery fee is not part of it.
func (t *Transaction) Left() (amount, tax money.Amount) {
	amount, tax = t.Amount-t.Fee, t.Tax-t.Fee
	for _, refund := range t.Refunds {
		amount, tax = amount-refund.Amount, tax-refund.Tax
	}
	return amount, tax
}

// of returns the amount and the tax in it that a request refunds of a transaction.
func (r RefundRequest) of(t *Transaction) (amount, tax money.Amount, err error) {
	left, leftTax := t.Left()
	if len([]rune(r.Reason)) > longestReason {
		return 0, 0, refuse("10001", "reason", "")
	}
	if r.Amount == nil {
		if r.TaxAmount != nil {
			return 0, 0, refuse("16001", "amount", "")
		}
		return left, leftTax, nil
	}
	if err := payable(*r.Amount, t.Currency, "amount"); err != nil {
		return 0, 0, err
	}
	if r.TaxAmount != nil {
		tax = *r.TaxAmount
	}
	switch blame := tax.String(); {
	case tax < 0:
		err = refuse("14052", "taxAmount", blame)
	case r.TaxAmount == nil && t.Tax > 0:
		err = refuse("14051", "taxAmount", "")
	case tax%money.Step(t.Currency) != 0:
		err = refuse("10001", "taxAmount", blame)
	case tax > *r.Amount:
		err = refuse("14054", "taxAmount", blame)
	case len(t.Refunds) > 0 && *r.Amount > left:
		err = refuse("14009", "amount", r.Amount.String())
	case tax > leftTax:
		err = refuse("14053", "taxAmount", blame)
	case *r.Amount-tax > left-leftTax:
		err = refuse("14055", "amount", r.Amount.String())
	}
	return *r.Amount, tax, err
}

// tellRefund sends the IPN of a refund and, when it is by bank, plans its end.
func (s *Service) tellRefund(t *Transaction, refund Refund, r RefundRequest) {
	fields, ended := t.refundFields(refund), s.endWith(t, r)
	switch {
	case refund.Status == RefundPending:
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
	if left, _ := t.Left(); left <= 0 {
		t.State = Refunded
	}
}

// endWith ends the subscription of a transaction that is refunded, unless the request forbids it or it has ended before. It
// returns the subscription if it ended, else nil.
func (s *Service) endWith(t *Transaction, r RefundRequest) *Subscription {
	sub, known := s.subscriptions[t.SubscriptionID]
	if !known || sub.Status != Active || r.CancelSubscriptionsSaid && !r.CancelSubscriptions {
		return nil
	}
	s.end(sub)
	return sub
}

// refundFields are what the IPNs of a refund tell of it.
func (t *Transaction) refundFields(refund Refund) []notice.Field {
	whole := "N"
	if refund.Amount == t.Amount-t.Fee {
		whole = "Y"
	}
	return append(reversal(refund.ID, refund.Amount, refund.Reason), notice.Field{Name: "fullRefund", Value: whole})
}

// finishRefund is when the bank has paid a refund, unless it was called back meanwhile.
func (s *Service) finishRefund(t *Transaction, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, refund := range t.Refunds {
		if refund.ID != id || refund.Status != RefundPending {
			continue
		}
		t.Refunds[i].Status = RefundDone
		if left, _ := t.Left(); left <= 0 {
			t.State = Refunded
		}
		s.notify(s.occasion(t, "REFUND", t.refundFields(refund)...))
		return
	}
}

// CancelRefund calls back a refund that is still pending; 20009 when there is none of this number.
func (s *Service) CancelRefund(refundID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transactions {
		for i, refund := range t.Refunds {
			if refund.ID == refundID && refund.Status == RefundPending {
				t.Refunds = append(t.Refunds[:i:i], t.Refunds[i+1:]...)
				return nil
			}
		}
	}
	return refuse("20009", "refundTransactionId", refundID)
}
