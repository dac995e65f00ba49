package paysim

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The states of a subscription. One that waits for a refused renewal to be tried again is still active.
const (
	Active   = "ACTIVE"
	Canceled = "CANCELED"
)

// CreateSubscription begins a subscription and charges its first period (IPN CHARGE). If a trial comes first, or the first
// charge is overridden with zero, nothing is charged yet (IPN AUTH_ONLY). The answers are 10001 for a plan that does not
// exist, a trial of more than ten years and texts that are too long, and those of amounts, payers, cards and tax quotes; a
// refused card leaves no subscription behind.
func (s *Service) CreateSubscription(r SubscriptionRequest) (Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	plan, err := r.plan()
	if err != nil {
		return Subscription{}, err
	}
	shopper, err := s.payer(r.VaultedShopperID, r.Payer, r.Card)
	if err != nil {
		return Subscription{}, err
	}
	first, later, err := s.prices(r, plan)
	if err != nil {
		return Subscription{}, err
	}
	sub := s.newSubscription(r, plan, shopper, first)
	if err := s.begin(sub, first); err != nil {
		return Subscription{}, err
	}
	sub.settle(later)
	s.subscriptions[sub.ID] = sub
	s.schedule(sub)
	return sub.copy(), nil
}

// longestTrial is a bound of the simulator's own, ten years, and keeps the first charge within what a time.Duration can hold.
const longestTrial = 3650 // days

// plan is the plan that is asked for, with the trial that is asked for.
func (r SubscriptionRequest) plan() (Plan, error) {
	plan, err := planOf(r.PlanID)
	if err != nil {
		return Plan{}, err
	}
	if r.TrialDays > longestTrial {
		return Plan{}, Refuse("10001", "overrideTrialPeriodDays", strconv.Itoa(r.TrialDays))
	}
	if r.TrialDays > 0 {
		plan.Trial = time.Duration(r.TrialDays) * day
	}
	return plan, checkTexts(r.SoftDescriptor, r.MerchantTransactionID)
}

// newSubscription is one that has charged nothing and is not kept yet: it may still be refused. Its number is given out
// beforehand, because the IPN of the first charge names it.
func (s *Service) newSubscription(r SubscriptionRequest, plan Plan, shopper *Shopper, first price) *Subscription {
	now := s.agenda.Now()
	wait := plan.Period
	if plan.Trial > 0 {
		wait = plan.Trial
	}
	return &Subscription{
		ID: s.numberText(), Plan: plan, Shopper: shopper, Card: shopper.Card, Status: Active, AutoRenew: true,
		Currency: plan.Currency, InitialTaxReference: first.reference, Created: now, NextCharge: now.Add(wait),
		SoftDescriptor: r.SoftDescriptor, MerchantTransactionID: r.MerchantTransactionID,
	}
}

// begin makes the first charge, or announces the trial. A trial looks at the card and asks the bank nothing; its zero
// authorization is no transaction that can be read or refunded.
func (s *Service) begin(sub *Subscription, first price) error {
	o := s.orderOf(sub, "AUTH_CAPTURE", first)
	o.MerchantTransactionID = sub.MerchantTransactionID
	if first.amount == 0 {
		if err := s.checkCard(sub.Card); err != nil {
			return err
		}
		o.Transaction.ID, o.Created, o.State = s.numberText(), sub.Created, Authorized
		sub.origin = &o.Transaction
		s.notify(s.occasion(sub.origin, "AUTH_ONLY", sub.told()...))
		return nil
	}
	o.success, o.failure = "CHARGE", "CC_CHARGE_FAILED"
	o.decided = func(t *Transaction, approved bool) {
		if !approved {
			s.takeBack(sub, t, func() { s.cancel(sub, "INITIAL_CHARGE_FAILED") })
		}
	}
	charged, err := s.charge(o)
	if err != nil {
		return err
	}
	sub.origin = charged
	sub.Charges = append(sub.Charges, charged.ID)
	return nil
}

// orderOf is a charge of a subscription, before it is said which IPNs it makes.
func (s *Service) orderOf(sub *Subscription, kind string, p price) order {
	return order{
		Transaction: Transaction{
			Type: kind, Amount: p.amount, Tax: p.tax, Currency: sub.Currency, TaxReference: p.reference,
			SoftDescriptor: sub.SoftDescriptor, SubscriptionID: sub.ID, Shopper: sub.Shopper, Card: sub.Card,
			Product: sub.Plan.Name, PlanID: sub.Plan.ID, Seed: s.random.Uint64(),
		},
		quote: p.quote, fields: sub.told(),
	}
}

// settle makes a price that of all later charges. Its quote belongs to the subscription from then on.
func (sub *Subscription) settle(p price) {
	sub.RecurringAmount, sub.RecurringTax, sub.RecurringTaxReference, sub.quote = p.amount, p.tax, p.reference, p.quote
	if p.quote != nil && p.quote.TakenBy == "" {
		p.quote.TakenBy = sub.ID
	}
}

// told is what the IPNs of a subscription say besides the transaction: until when it is paid for.
func (sub *Subscription) told() []notice.Field {
	return []notice.Field{{Name: "untilDate", Value: notice.Date(sub.NextCharge)}}
}

// Subscription returns a copy of one subscription; 90009 when there is none.
func (s *Service) Subscription(id string) (Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.subscription(id)
	if err != nil {
		return Subscription{}, err
	}
	return sub.copy(), nil
}

// subscription is the one that the service keeps, not a copy. The lock is held.
func (s *Service) subscription(id string) (*Subscription, error) {
	sub, known := s.subscriptions[id]
	if !known {
		return nil, Refuse("90009", "subscriptionId", id)
	}
	return sub, nil
}

// Subscriptions returns copies of all, newest first.
func (s *Service) Subscriptions() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Subscription, 0, len(s.subscriptions))
	for _, sub := range s.subscriptions {
		all = append(all, sub.copy())
	}
	slices.SortFunc(all, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID)) // numbers, the greater the newer
	})
	return all
}

// copy shares nothing with the service that changes.
func (sub *Subscription) copy() Subscription {
	c := *sub
	shopper := *sub.Shopper
	c.Shopper, c.Charges, c.origin, c.quote = &shopper, slices.Clone(sub.Charges), nil, nil
	return c
}

// CancelSubscription ends a subscription now (IPN CANCELLATION); 90009 when there is none, 10001 when it has ended already.
func (s *Service) CancelSubscription(id string) error {
	_, err := s.UpdateSubscription(id, SubscriptionChange{Status: Canceled})
	return err
}

// Renew charges a subscription's next period now, as the sandbox can be asked to; the periods that follow count from now. A
// refused renewal is no error: the IPN and Failures tell. 90009 when there is none, 10001 when it has ended.
func (s *Service) Renew(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.subscription(id)
	if err != nil {
		return err
	}
	if sub.Status != Active {
		return Refuse("10001", "status", sub.Status)
	}
	sub.NextCharge = s.agenda.Now()
	s.renew(sub)
	return nil
}

// FailNextRenewal makes the bank refuse the next renewal, or lets it take it again; 90009 when there is no such
// subscription.
func (s *Service) FailNextRenewal(id string, fail bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.subscription(id)
	if err != nil {
		return err
	}
	sub.FailNext = fail
	return nil
}
