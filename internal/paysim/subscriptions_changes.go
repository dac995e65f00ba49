package paysim

import (
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// UpdateSubscription changes a subscription: another plan (IPN CONTRACT_CHANGE) or amount, which the next renewal charges;
// another card (PAYMENT_UPDATED); an end with the period (CANCEL_ON_RENEWAL), an end now (CANCELLATION), or a new beginning
// of one that had ended. Either all of a change is made or nothing.
//
// The answers are 90009 when there is no such subscription; 10001 for an unknown plan or status, for a plan change that is
// not in a call of its own, and for changes to one that has ended; 20026 for a plan in another currency; 43003 when the
// amount of a taxed subscription changes without a new quote (specification section 4, rule 5); and those of quotes and cards.
func (s *Service) UpdateSubscription(id string, c SubscriptionChange) (Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.subscription(id)
	if err != nil {
		return Subscription{}, err
	}
	if err := c.check(sub); err != nil {
		return Subscription{}, err
	}
	plan, p, err := s.newPrice(sub, c)
	if err != nil {
		return Subscription{}, err
	}
	if err := s.changeCard(sub, c.Card); err != nil {
		return Subscription{}, err
	}
	s.changePlan(sub, plan, p)
	s.changeStatus(sub, c.Status)
	s.changeAutoRenew(sub, c.AutoRenew)
	return sub.copy(), nil
}

// check refuses what cannot be asked for together, or at this time.
func (c SubscriptionChange) check(sub *Subscription) error {
	alone := c.AutoRenew == nil && c.Status == "" && c.Card == nil
	switch {
	case c.Status != "" && c.Status != Active && c.Status != Canceled:
		return Refuse("10001", "status", c.Status)
	case c.PlanID != nil && !alone:
		return Refuse("10001", "planId", strconv.FormatInt(*c.PlanID, 10))
	case sub.Status == Canceled && c.Status != Active:
		return Refuse("10001", "status", sub.Status)
	}
	return nil
}

// newPrice is the plan and the price after a change; without a change of these they are those of before, and with them stays
// their tax. A new quote alone settles the tax of the same amount anew.
func (s *Service) newPrice(sub *Subscription, c SubscriptionChange) (Plan, price, error) {
	plan := sub.Plan
	was := price{amount: sub.RecurringAmount, net: sub.RecurringAmount - sub.RecurringTax, tax: sub.RecurringTax, reference: sub.RecurringTaxReference, quote: sub.quote}
	p := was
	if c.PlanID != nil {
		var err error
		if plan, err = otherPlan(sub, *c.PlanID); err != nil {
			return plan, p, err
		}
	}
	if c.PlanID != nil || c.RecurringAmount != nil {
		p = priceOf(plan, c.RecurringAmount)
	}
	if err := payable(p.amount, sub.Currency, "overrideRecurringChargeAmount"); err != nil {
		return plan, p, err
	}
	switch {
	case c.RecurringTaxReference != "" && c.RecurringTaxReference == was.reference && p.amount == was.amount:
		return plan, was, nil // told again, not anew: the quote is taken, but by this subscription
	case c.RecurringTaxReference != "":
		p, err := s.quoted(p, c.RecurringTaxReference, sub.Currency)
		return plan, p, err
	case p.amount == was.amount, p.net > 0 && p.net == was.net:
		return plan, was, nil
	case was.reference != "":
		return plan, p, Refuse("43003", "recurringTaxReference", "")
	}
	return plan, p, nil
}

// otherPlan is a plan that a subscription can move to.
func otherPlan(sub *Subscription, id int64) (Plan, error) {
	plan, err := planOf(id)
	if err == nil && plan.Currency != sub.Currency {
		err = Refuse("20026", "planId", strconv.FormatInt(id, 10))
	}
	return plan, err
}

// changePlan takes effect with the next renewal; what is paid for stays paid for. In its IPN contractId is the old plan, as on
// the wire.
func (s *Service) changePlan(sub *Subscription, plan Plan, p price) {
	old := sub.Plan
	sub.Plan = plan
	sub.settle(p)
	if old.ID == plan.ID {
		return
	}
	oldID, newID := strconv.FormatInt(old.ID, 10), strconv.FormatInt(plan.ID, 10)
	s.tell(sub, "CONTRACT_CHANGE",
		notice.Field{Name: "contractId", Value: oldID}, notice.Field{Name: "contractName", Value: old.Name},
		notice.Field{Name: "oldContractId", Value: oldID}, notice.Field{Name: "oldContractName", Value: old.Name},
		notice.Field{Name: "newContractId", Value: newID}, notice.Field{Name: "newContractName", Value: plan.Name},
		notice.Field{Name: "originalInvoiceId", Value: sub.origin.ID}, notice.Field{Name: "resultCode", Value: "SUCCESS"})
}

// changeCard puts another card in the place of the one that is charged; nil leaves it, and so does a card that the bank
// refuses (IPN PAYMENT_UPDATED_FAILURE).
func (s *Service) changeCard(sub *Subscription, card *Card) error {
	if card == nil {
		return nil
	}
	if err := s.checkCard(*card); err != nil {
		return err
	}
	becomes := s.decide(order{Transaction: Transaction{Card: *card}})
	if becomes.fraud != "" {
		becomes.refusal = "FRAUD_DETECTED"
	}
	if becomes.refusal != "" {
		s.tell(sub, "PAYMENT_UPDATED_FAILURE")
		return declined(becomes.refusal)
	}
	sub.Card, sub.Shopper.Card = *card, *card
	s.tell(sub, "PAYMENT_UPDATED")
	return nil
}

// changeStatus ends a subscription, or lets one that has ended go on, with a period that begins now if the paid one is over.
func (s *Service) changeStatus(sub *Subscription, status string) {
	switch {
	case status == Canceled && sub.Status == Active:
		s.cancel(sub, "CANCELLED_BY_SELLER")
	case status == Active && sub.Status == Canceled:
		sub.Status, sub.AutoRenew, sub.Failures = Active, true, 0
		if now := s.agenda.Now(); sub.NextCharge.Before(now) {
			sub.NextCharge = now
		}
		s.schedule(sub)
	}
}

// changeAutoRenew says whether the subscription goes on after the period that is paid for; nil leaves it.
func (s *Service) changeAutoRenew(sub *Subscription, on *bool) {
	if on == nil || *on == sub.AutoRenew || sub.Status != Active {
		return
	}
	sub.AutoRenew = *on
	if !*on {
		s.tell(sub, "CANCEL_ON_RENEWAL")
	}
}
