package api

import (
	"slices"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// The length of a page: when nothing is said, and at most. The latter is documented.
const (
	usualPage   = 10
	longestPage = 500
)

// subscriptionList is one page, newest first, those that have ended among them. The next begins
// after the last subscriptionId of this one, so that what begins meanwhile shifts nothing.
type subscriptionList struct {
	LastPage      bool               `json:"lastPage"`
	Total         *int               `json:"totalResults,omitempty"` // when gettotal was asked for
	Subscriptions []subscriptionView `json:"subscriptions"`
}

// listSubscriptions answers one page: pagesize says how long it is, after says behind which
// subscription it begins (10001 when there is no such one), and gettotal=true asks how many there
// are in all, on all pages. No subscriptions are an empty list.
func (d *door) listSubscriptions(r *request) (answer, error) {
	size, err := pageSize(r.URL.Query().Get("pagesize"))
	if err != nil {
		return answer{}, err
	}
	all := d.service.Subscriptions() // newest first; copies, so the page is of one moment
	list := subscriptionList{Subscriptions: []subscriptionView{}}
	if r.URL.Query().Get("gettotal") == "true" {
		total := len(all)
		list.Total = &total
	}
	if after := r.URL.Query().Get("after"); after != "" {
		at := slices.IndexFunc(all, func(sub paysim.Subscription) bool { return sub.ID == after })
		if at < 0 {
			return answer{}, invalid("after", after, "there is no such subscription")
		}
		all = all[at+1:]
	}
	list.LastPage = len(all) <= size // known without asking for the next page, which would be empty
	for _, sub := range all[:min(size, len(all))] {
		list.Subscriptions = append(list.Subscriptions, subscriptionOf(sub))
	}
	return answer{Body: list}, nil
}

// pageSize reads how long a page is to be, "" the usual: 10001 for what is no number, 26001 for
// what is not above zero, 26002 for what is above 500.
func pageSize(text string) (int, error) {
	if text == "" {
		return usualPage, nil
	}
	size, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, invalid("pagesize", text, "it must be a number")
	case size < 1:
		return 0, paysim.Refuse("26001", "pagesize", text)
	case size > longestPage:
		return 0, paysim.Refuse("26002", "pagesize", text)
	}
	return size, nil
}

// chargeList is all that a subscription has charged, the first charge first, on one page.
type chargeList struct {
	LastPage bool         `json:"lastPage"` // always true
	Charges  []chargeView `json:"charges"`
}

// chargeView is one charge of a subscription. As a transaction it can be read at its own path.
type chargeView struct {
	SubscriptionID   int64        `json:"subscriptionId"`
	PlanID           int64        `json:"planId"`
	VaultedShopperID int64        `json:"vaultedShopperId"`
	TransactionID    string       `json:"transactionId"`
	TransactionDate  string       `json:"transactionDate"` // 15-Jun-23
	Amount           money.Amount `json:"amount"`          // with tax
	Currency         string       `json:"currency"`
	SoftDescriptor   string       `json:"softDescriptor,omitempty"`
	TaxReference     string       `json:"taxReference,omitempty"`
	Info             struct {     // as the interface nests it
		Type string `json:"chargeType"` // INITIAL or RECURRING
	} `json:"chargeInfo"`
}

// listCharges leaves out what was refused, of which the IPNs tell; 90009 when there is no such
// subscription.
func (d *door) listCharges(r *request) (answer, error) {
	sub, err := d.service.Subscription(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	list := chargeList{LastPage: true, Charges: []chargeView{}}
	for i, id := range sub.Charges {
		t, err := d.service.Transaction(id)
		if err != nil {
			return answer{}, err
		}
		list.Charges = append(list.Charges, chargeOf(t, i == 0))
	}
	return answer{Body: list}, nil
}

// chargeOf shows a charge. The first is the one that began the subscription, or, after a trial, the
// first that took money.
func chargeOf(t paysim.Transaction, first bool) chargeView {
	v := chargeView{
		SubscriptionID: number(t.SubscriptionID), PlanID: t.PlanID, VaultedShopperID: t.Shopper.ID, TransactionID: t.ID,
		TransactionDate: chargeDate(t.Created), Amount: t.Amount, Currency: t.Currency, SoftDescriptor: t.SoftDescriptor,
		TaxReference: t.TaxReference,
	}
	v.Info.Type = "RECURRING"
	if first {
		v.Info.Type = "INITIAL"
	}
	return v
}

// number reads an identifier that the service made: a text in package paysim, a number in some of
// the answers. It panics on any other text, which cannot come from a request.
func number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		panic("an identifier that is not a number: " + err.Error())
	}
	return n
}
