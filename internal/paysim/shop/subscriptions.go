package shop

import (
	"net/http"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// subscriptions lists all subscriptions, those that have ended among them.
func (s *shop) subscriptions(*http.Request) (page, error) {
	return page{name: "subscriptions", title: "Subscriptions", data: s.service.Subscriptions()}, nil
}

// subscriptionPage shows one subscription and what can be done with it. Its IPNs carry the numbers
// of its charges, not its own, so the list beside the page is that of all.
type subscriptionPage struct {
	paysim.Subscription
	Payments []paysim.Transaction // newest first
	Plans    []paysim.Plan        // that it could change to
	Active   bool                 // false: it has ended, and nothing can be done
}

// subscription shows one, with its payments and the plans in its currency, which alone it can
// change to.
func (s *shop) subscription(r *http.Request) (page, error) {
	sub, err := s.service.Subscription(r.PathValue("id"))
	if err != nil {
		return page{}, err
	}
	p := subscriptionPage{Subscription: sub, Active: sub.Status == paysim.Active}
	for _, t := range s.service.Transactions() {
		if t.SubscriptionID == sub.ID {
			p.Payments = append(p.Payments, t)
		}
	}
	for _, plan := range s.service.Plans() { // another currency would be refused with 20026
		if plan.ID != sub.Plan.ID && plan.Currency == sub.Currency {
			p.Plans = append(p.Plans, plan)
		}
	}
	return page{name: "subscription", title: "Subscription " + sub.ID, data: p, here: subscriptionPath(sub.ID)}, nil
}

// renew charges the next period now. When the card is refused, the page shows it among the
// payments: it is no refusal of the form.
func (s *shop) renew(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return subscriptionPath(id), s.service.Renew(id)
}

// refuseNext makes the bank refuse the next renewal, or takes that back: how failing charges look
// is worth seeing, and real cards do it only when nobody waits for it.
func (s *shop) refuseNext(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return subscriptionPath(id), s.service.FailNextRenewal(id, r.PostFormValue("on") != "")
}

// autoRenew lets the subscription end with its period, or takes that back.
func (s *shop) autoRenew(r *http.Request) (string, error) {
	on := r.PostFormValue("on") != ""
	_, err := s.service.UpdateSubscription(r.PathValue("id"), paysim.SubscriptionChange{AutoRenew: &on})
	return subscriptionPath(r.PathValue("id")), err
}

// changePlan asks for a new quote for the new amount and passes it on (specification section 4,
// rule 5).
func (s *shop) changePlan(r *http.Request) (string, error) {
	sub, err := s.service.Subscription(r.PathValue("id"))
	if err != nil {
		return "", err
	}
	c, err := s.planCart(r.PostFormValue("plan"))
	if err != nil {
		return "", err
	}
	q, err := s.service.CreateQuote(paysim.QuoteRequest{Currency: c.Currency, ShipTo: homeOf(sub.Shopper), Lines: c.lines()})
	if err != nil {
		return "", err
	}
	total := q.Total()
	_, err = s.service.UpdateSubscription(sub.ID, paysim.SubscriptionChange{
		PlanID: &c.Plan.ID, RecurringAmount: &total, RecurringTaxReference: q.Reference,
	})
	return subscriptionPath(sub.ID), err
}

// homeOf is where a shopper lives, for the tax. One whom the API has entered may have told too
// little of it for a quote.
func homeOf(p *paysim.Shopper) paysim.Address {
	return paysim.Address{Address: p.Address1, City: p.City, State: p.State, Zip: p.Zip, Country: p.Country}
}

// cancel ends the subscription now.
func (s *shop) cancel(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return subscriptionPath(id), s.service.CancelSubscription(id)
}
