package page

import (
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// subscriptionsData is the list of subscriptions.
type subscriptionsData struct {
	Subscriptions []ipn.SubscriptionBook
	Next          string
	Filters       []menu
	Filtered      bool
}

var subscriptionStates = []ipn.SubscriptionState{ipn.SubscriptionTrial, ipn.SubscriptionActive, ipn.SubscriptionPastDue, ipn.SubscriptionEnding,
	ipn.SubscriptionCancelled, ipn.SubscriptionUnknown}

func (p *Page) subscriptions(v *visit) (sheet, error) {
	if p.Office.Books == nil {
		return sheet{}, errNothing
	}
	byState, state, err := pick(v, "state", "State", "any state", subscriptionStates...)
	if err != nil {
		return sheet{}, err
	}
	byRisk, risk, err := pick(v, "atRisk", "Only those that may be lost", "no", "true")
	if err != nil {
		return sheet{}, err
	}
	d := subscriptionsData{Filters: []menu{byState, byRisk.named("true", "yes")}, Filtered: state != "" || risk != ""}
	q := ipn.SubscriptionQuestion{State: state, AtRisk: risk == "true", Test: v.test, Limit: perPage}
	if d.Subscriptions, d.Next, err = p.Office.ListSubscriptions(v.Context(), q, v.cursor()); err != nil {
		return sheet{}, err
	}
	return sheet{name: "subscriptions", title: "Subscriptions", data: d, wide: true}, nil
}

// subscriptionData is what became of a subscription.
type subscriptionData struct {
	ipn.SubscriptionBook
	Steps []step
	More  bool // there are steps before these
}

func (p *Page) subscription(v *visit) (sheet, error) {
	id := v.part("id")
	if p.Office.Books == nil || !askable(id) {
		return sheet{}, errNothing
	}
	book, err := p.Office.Books.Subscription(v.Context(), id, v.test)
	if err != nil {
		return sheet{}, err
	}
	d := subscriptionData{SubscriptionBook: book}
	if d.Steps, d.More, err = p.steps(v, ipn.Question{SubscriptionID: id, Test: &v.test}); err != nil {
		return sheet{}, err
	}
	return sheet{name: "subscription", title: "Subscription " + id, data: d}, nil
}
