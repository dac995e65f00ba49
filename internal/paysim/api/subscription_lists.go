package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

const (
	usualPage   = 10
	longestPage = 500
)

// subscriptionList is one page, newest first. The next begins after the last subscriptionId of this one.
type subscriptionList struct {
	LastPage      bool               `json:"lastPage"`
	Total         *int               `json:"totalResults,omitempty"` // when gettotal was asked for
	Subscriptions []subscriptionView `json:"subscriptions"`
}

// listSubscriptions answers one page: pagesize says how long it is, after says behind which subscription it begins, and
// gettotal=true asks how many there are in all.
func (d *door) listSubscriptions(r *request) (answer, error) {
	size, err := pageSize(r.URL.Query().Get("pagesize"))
	if err != nil {
		return answer{}, err
	}
	all := d.service.Subscriptions()
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
	list.LastPage = len(all) <= size
	for _, sub := range all[:min(size, len(all))] {
		list.Subscriptions = append(list.Subscriptions, subscriptionOf(sub))
	}
	return answer{Body: list}, nil
}

// pageSize reads how long a page is to be: 26001 for what is not above zero, 26002 for what is above 500.
func pageSize(text string) (int, error) {
	if text == "" {
		return usualPage, nil
	}
	size, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, invalid("pagesize", text, "it must be a number")
	case size < 1:
		return 0, refusal(http.StatusBadRequest, "26001", "NEGATIVE_PAGE_SIZE", "pagesize must be above zero")
	case size > longestPage:
		return 0, refusal(http.StatusBadRequest, "26002", "MAX_PAGE_SIZE_EXCEEDED", "pagesize is at most 500")
	}
	return size, nil
}

// chargeList is all that a subscription has charged, the first charge first.
type chargeList struct {
	LastPage bool         `json:"lastPage"`
	Charges  []chargeView `json:"charges"`
}

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
	Info             struct {
		Type string `json:"chargeType"` // INITIAL or RECURRING
	} `json:"chargeInfo"`
}

// listCharges leaves out what was refused; the IPNs tell of that.
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

// number reads an identifier that the service made, which is one.
func number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		panic("an identifier that is not a number: " + err.Error())
	}
	return n
}
