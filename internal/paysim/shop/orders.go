package shop

import (
	"net/http"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// ordersPage lists what was bought.
type ordersPage struct {
	Transactions []paysim.Transaction
	Transfers    []paysim.Transfer // without a transaction
}

// orders lists all transactions, and those bank transfers that have led to none (yet).
func (s *shop) orders(*http.Request) (page, error) {
	p := ordersPage{Transactions: s.service.Transactions()}
	for _, t := range s.service.Transfers() {
		if t.TransactionID == "" {
			p.Transfers = append(p.Transfers, t)
		}
	}
	return page{name: "orders", title: "Orders", data: p}, nil
}

// orderPage shows one transaction and what can be done with it.
type orderPage struct {
	paysim.Transaction
	Quote               *paysim.Quote // nil: without tax
	TaxLabel            string
	Refundable, LeftTax money.Amount // what a refund can still give back, and the tax in it
	Reserved            bool         // not charged yet
	Disputable          bool
}

// subject makes the list beside the page the IPNs of this order: refunds and disputes carry its
// number, too.
func (p orderPage) subject() string { return p.ID }

// Moves are the buttons under a dispute: where it can go, in words. One that is final has none.
func (p orderPage) Moves(d paysim.Dispute) []choice {
	var buttons []choice
	for _, status := range d.Next() {
		buttons = append(buttons, choice{status, moves[status]})
	}
	return buttons
}

// Returned tells whether the button beside a line has given its money back.
func (p orderPage) Returned(l paysim.Line) bool {
	return slices.ContainsFunc(p.Refunds, func(r paysim.Refund) bool { return r.Reason == returnReason(l.Description) })
}

// returnReason is the reason that the button beside a line gives. The page knows by it what it has
// given back already.
func returnReason(description string) string { return description + " returned" }

// moves are the words for moving a dispute to a status.
var moves = map[string]string{
	paysim.DisputeWorking: "Take it up", paysim.DisputeChallenged: "Challenge it", paysim.DisputeWon: "Won",
	paysim.DisputeLost: "Lost", paysim.DisputeClosed: "Let it expire",
}

// order shows a transaction with the lines of its quote, if it has one. What can be done follows
// from its state and from what is left, by the same rules as the payment service's; a form that was
// open while they changed is refused there.
func (s *shop) order(r *http.Request) (page, error) {
	t, err := s.service.Transaction(r.PathValue("id"))
	if err != nil {
		return page{}, err
	}
	p := orderPage{Transaction: t, TaxLabel: "Tax", Reserved: t.State == paysim.Authorized}
	if t.State == paysim.Captured {
		p.Refundable, p.LeftTax = t.Left()
		p.Disputable = p.Refundable+t.Fee > 0
	}
	if q, err := s.service.Quote(t.TaxReference); err == nil {
		p.Quote, p.TaxLabel = &q, taxLabel(q)
	}
	return page{name: "order", title: "Order " + t.ID, data: p, here: orderPath(t.ID)}, nil
}

// capture charges the whole of what was reserved; partial captures are not supported (specification
// section 8).
func (s *shop) capture(r *http.Request) (string, error) {
	reserved, err := s.service.Transaction(r.PathValue("id"))
	if err != nil {
		return "", err
	}
	t, err := s.service.Capture(reserved.ID, reserved.TaxReference)
	return orderPath(t.ID), err
}

// void lets go of what was reserved, which nobody is told of by an IPN.
func (s *shop) void(r *http.Request) (string, error) {
	t, err := s.service.ReverseAuthorization(r.PathValue("id"))
	return orderPath(t.ID), err
}

// refund gives back what the form says, with the tax in it (specification section 4, rule 3), or
// all that is left when it says no amount. A subscription ends with it only if the form says so,
// though the interface's own default is that it does.
func (s *shop) refund(r *http.Request) (string, error) {
	request := paysim.RefundRequest{
		Reason:              r.PostFormValue("reason"),
		CancelSubscriptions: r.PostFormValue("endSubscription") != "", CancelSubscriptionsSaid: true,
	}
	var err error
	if request.Amount, err = sumOf(r, "amount"); err != nil {
		return "", err
	}
	if request.TaxAmount, err = sumOf(r, "tax"); err != nil {
		return "", err
	}
	_, err = s.service.Refund(r.PathValue("id"), request)
	return orderPath(r.PathValue("id")), err
}

// sumOf reads a field of a form as a sum of money; nil when it is empty, a mistake when it is no
// sum.
func sumOf(r *http.Request, field string) (*money.Amount, error) {
	text := r.PostFormValue(field)
	if text == "" {
		return nil, nil
	}
	sum, err := money.Parse(text)
	if err != nil {
		return nil, wrong("The " + field + " cannot be read: " + err.Error() + ".")
	}
	return &sum, nil
}

// dispute opens a chargeback of all that was not refunded, as the shopper's bank would.
func (s *shop) dispute(r *http.Request) (string, error) {
	_, err := s.service.OpenDispute(r.PathValue("id"), nil, r.PostFormValue("reason"))
	return orderPath(r.PathValue("id")), err
}

// changeDispute moves a dispute on, as the bank or the merchant would.
func (s *shop) changeDispute(r *http.Request) (string, error) {
	return orderPath(r.PathValue("id")), s.service.ChangeDispute(r.PathValue("dispute"), r.PostFormValue("status"))
}

// returnPage is where the bank's page sends the person back to.
type returnPage struct {
	Status, Order, Transaction, Own string           // of the query: STATUS, ORDER-ID, TRANSACTION-ID, MTI
	Transfer                        *paysim.Transfer // as the payment service knows it; nil: it knows of none
}

// returned explains the return query of specification section 2.7. The query is unsigned, so the
// page shows beside it what the payment service knows, which is what counts.
func (s *shop) returned(r *http.Request) (page, error) {
	q := r.URL.Query()
	p := returnPage{Status: q.Get("STATUS"), Order: q.Get("ORDER-ID"), Transaction: q.Get("TRANSACTION-ID"), Own: q.Get("MTI")}
	if id, err := number(p.Order); err == nil {
		if t, err := s.service.Transfer(id); err == nil {
			p.Transfer = &t
		}
	}
	return page{name: "return", title: "Back from the bank", data: p}, nil
}
