package paysim

import (
	"fmt"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// order is one attempt to take money from a card. Of the Transaction whoever orders fills in what is to be charged: Type,
// Amount, Tax (without a quote), Currency, TaxReference, Shopper, Card, Product and the like; a Seed of 0 is chosen.
type order struct {
	Transaction
	quote   *Quote         // of quoteFor; nil: the Tax is as given
	success string         // the IPN of success: CHARGE, AUTH_ONLY_SINGLE_CHARGE or RECURRING
	failure string         // the IPN of refusal: CC_CHARGE_FAILED or SUBSCRIPTION_CHARGE_FAILURE
	renewal bool           // a later charge of a subscription: some cards refuse only these
	refuse  bool           // the bank refuses, whatever the card
	fields  []notice.Field // laid over the IPNs
}

// charge takes the money or reserves it, and sends the IPN that tells so. A card that waits for a review or a bank gives a
// transaction in that state, which the agenda decides. Refused, it returns the transaction as well as the *Refusal, 14002;
// only a card that is no card leaves no transaction behind. The lock is held.
func (s *Service) charge(o order) (*Transaction, error) {
	if err := s.checkCard(o.Card); err != nil {
		return nil, err
	}
	t := s.enter(o)
	becomes := s.decide(o)
	switch {
	case becomes.fraud != "":
		t.State = Declined
		s.notify(s.occasion(t, "FRAUD_DECLINE", append(o.fields, notice.Field{Name: "amount", Value: t.Amount.String()})...))
		refused := declined("FRAUD_DETECTED")
		refused.FraudRule = becomes.fraud
		return t, refused
	case becomes.refusal != "":
		t.State = Declined
		reason := notice.Field{Name: "failureReason", Value: becomes.refusal}
		s.notify(s.occasion(t, o.failure, append(o.fields, reason)...))
		return t, declined(becomes.refusal)
	case becomes.waits != "":
		s.wait(t, o, becomes)
	default:
		s.approve(t, o)
	}
	return t, nil
}

// enter keeps the transaction of an order. The lock is held.
func (s *Service) enter(o order) *Transaction {
	t := o.Transaction
	t.ID, t.Created = s.numberText(), s.agenda.Now()
	t.AuthorizationCode = fmt.Sprintf("%06d", s.random.IntN(1_000_000))
	if t.Seed == 0 {
		t.Seed = s.random.Uint64()
	}
	if o.quote != nil {
		t.Tax, t.Fee, t.TaxRate = o.quote.TotalTax, o.quote.Fee, o.quote.rate()
	}
	s.transactions[t.ID] = &t
	s.order = append(s.order, t.ID)
	return &t
}

// decide is what the bank does with an order.
func (s *Service) decide(o order) fate {
	becomes := fateOf(o.Card)
	switch {
	case o.refuse:
		return fate{refusal: "DO_NOT_HONOR"}
	case o.renewal && becomes.renewal != "":
		return fate{refusal: becomes.renewal}
	case becomes.refusal == "" && o.Card.expired(s.agenda.Now()):
		return fate{refusal: "EXPIRED_CARD"}
	}
	return becomes
}

// approve is the end of a charge that went well: the tax of its quote is final. The lock is held.
func (s *Service) approve(t *Transaction, o order) {
	t.State = Captured
	if t.Type == "AUTH_ONLY" {
		t.State = Authorized
	}
	o.take(t)
	s.notify(s.occasion(t, o.success, o.fields...))
}

// take gives the order's quote to a transaction, so that no other can use it.
func (o order) take(t *Transaction) {
	if o.quote != nil {
		o.quote.TakenBy = t.ID
	}
}

// wait leaves a charge undecided until its time. The quote is taken meanwhile, and free again if nothing comes of it. The
// lock is held.
func (s *Service) wait(t *Transaction, o order, becomes fate) {
	t.State = becomes.waits
	o.take(t)
	s.notify(s.occasion(t, becomes.ipn, o.fields...))
	s.agenda.After(becomes.wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !becomes.fails {
			s.approve(t, o)
			return
		}
		if t.State = Declined; becomes.byBank {
			t.State = Failed
		}
		if o.quote != nil {
			o.quote.TakenBy = ""
		}
		s.notify(s.occasion(t, "DECLINE", append(o.fields, notice.Field{Name: "declineReason", Value: "DO_NOT_HONOR"})...))
	})
}
