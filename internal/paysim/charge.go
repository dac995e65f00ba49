package paysim

import (
	"fmt"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// order is one attempt to take money from a card, whoever makes it: a merchant's request, or a
// subscription whose time has come. Of the Transaction whoever orders fills in what is to be
// charged: Type, Amount, Tax (without a quote), Currency, TaxReference, Shopper, Card, Product and
// the like; number, time and state are given by charge, and so is a Seed of 0.
type order struct {
	Transaction
	quote   *Quote         // of quoteFor; nil: the Tax is as given
	success string         // the IPN of success: CHARGE, AUTH_ONLY_SINGLE_CHARGE or RECURRING
	failure string         // the IPN of refusal: CC_CHARGE_FAILED or SUBSCRIPTION_CHARGE_FAILURE
	renewal bool           // a later charge of a subscription: some cards refuse only these
	refuse  bool           // the bank refuses, whatever the card: somebody has asked for it
	fields  []notice.Field // laid over each IPN of this charge
	// decided is told what became of a charge that had to wait, with the lock held; nil: nobody asks.
	decided func(t *Transaction, approved bool)
}

// charge takes the money or reserves it, and sends the IPN that tells so. A card that waits for a
// review or a bank gives a transaction in that state, which the agenda decides later: no error,
// because nothing was refused yet.
//
// Refused, it returns the transaction, which is kept as a bank's would be, as well as the *Refusal:
// 14002, with the name of the bank's reason. Only a card that is no card (see checkCard) leaves no
// transaction behind and sends nothing. The lock is held.
func (s *Service) charge(o order) (*Transaction, error) {
	if err := s.checkCard(o.Card); err != nil {
		return nil, err
	}
	t := s.enter(o)
	becomes := s.decide(o)
	switch {
	case becomes.fraud != "": // one type for all kinds of charges, with the amount in a field of its own
		t.State = Declined
		s.notify(s.occasion(t, "FRAUD_DECLINE", append(o.fields, notice.Field{Name: "amount", Value: t.Amount.String()})...))
		refused := declined("FRAUD_DETECTED")
		refused.FraudRule = becomes.fraud
		return t, refused
	case becomes.refusal != "":
		// The IPN has the bank's reason as well, because nobody else tells it to a merchant whose
		// renewal fails at night.
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

// enter keeps the transaction of an order, whatever becomes of it. With a quote, tax, fee and rate
// are the quote's: they are what the shopper was shown (specification section 1, tax flow). The
// lock is held.
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
	s.entered = append(s.entered, t.ID)
	return &t // from now on the service's own, and changed by all that follows
}

// decide is what the bank does with an order: what somebody has asked for comes before what the
// card does, and a card with a refusal of its own keeps it even when it has expired, so that each
// test card always tells the same.
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

// approve is the end of a charge that went well, captured or only reserved. From here on the tax of
// its quote is final (specification section 3.1), and the quote is for no other charge. The lock is
// held.
func (s *Service) approve(t *Transaction, o order) {
	t.State = Captured
	if t.Type == "AUTH_ONLY" {
		t.State = Authorized
	}
	o.take(t)
	s.notify(s.occasion(t, o.success, o.fields...))
}

// take gives the order's quote, if there is one, to a transaction, so that no other can use it.
func (o order) take(t *Transaction) {
	if o.quote != nil {
		o.quote.TakenBy = t.ID
	}
}

// wait leaves a charge undecided until its time, says so by the IPN of the waiting, and enters the
// decision on the agenda. The quote is taken meanwhile: two charges of one quote must not both be
// approved. It is free again if nothing comes of this one, as after any refusal (specification
// section 3.1). The lock is held.
func (s *Service) wait(t *Transaction, o order, becomes fate) {
	t.State = becomes.waits
	o.take(t)
	s.notify(s.occasion(t, becomes.ipn, o.fields...))
	s.agenda.After(becomes.wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if becomes.fails {
			s.fail(t, o, becomes)
		} else {
			s.approve(t, o)
		}
		if o.decided != nil {
			o.decided(t, !becomes.fails)
		}
	})
}

// fail is the end of a charge that waited in vain. The lock is held.
func (s *Service) fail(t *Transaction, o order, becomes fate) {
	if t.State = Declined; becomes.byBank { // a debit that did not clear was not declined: it failed
		t.State = Failed
	}
	if o.quote != nil {
		o.quote.TakenBy = ""
	}
	s.notify(s.occasion(t, "DECLINE", append(o.fields, notice.Field{Name: "declineReason", Value: "DO_NOT_HONOR"})...))
}
