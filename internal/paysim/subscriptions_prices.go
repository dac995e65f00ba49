package paysim

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

const day = 24 * time.Hour

// The periods count days, not calendar months, so that a clock that is advanced by 720 hours passes exactly one renewal.
var plans = []Plan{
	{ID: 3000001, Name: "Yarn box, monthly", Amount: money.Units(25), Currency: "USD", Period: 30 * day, Frequency: "MONTHLY"},
	{ID: 3000002, Name: "Yarn box, yearly", Amount: money.Units(250), Currency: "USD", Period: 365 * day, Frequency: "ANNUALLY"},
	{ID: 3000003, Name: "Pattern library, monthly", Amount: money.MustParse("14.90"), Currency: "EUR", Period: 30 * day, Frequency: "MONTHLY"},
	{ID: 3000004, Name: "Pattern library after two weeks for free", Amount: money.MustParse("9.90"), Currency: "EUR", Period: 30 * day, Frequency: "MONTHLY", Trial: 14 * day},
}

// Plans are what one can subscribe to; the list is the same in every run.
func (s *Service) Plans() []Plan { return slices.Clone(plans) }

// planOf finds a plan; the interface documents no code of its own for a plan that is not there.
func planOf(id int64) (Plan, error) {
	at := slices.IndexFunc(plans, func(p Plan) bool { return p.ID == id })
	if at < 0 {
		return Plan{}, Refuse("10001", "planId", strconv.FormatInt(id, 10))
	}
	return plans[at], nil
}

// price is what one charge of a subscription takes. Before a quote is laid over it, net is the sum that a quote may be about
// without its tax: the interface does not say whether a plan's price has the tax in it, so both are right. An amount that the
// merchant gave has the tax in it, and its net is 0.
type price struct {
	amount, net, tax money.Amount
	reference        string
	quote            *Quote
}

// priceOf is the price of a plan, or what the merchant gave in its place; nil: nothing.
func priceOf(plan Plan, override *money.Amount) price {
	if override != nil {
		return price{amount: *override}
	}
	return price{amount: plan.Amount, net: plan.Amount}
}

// fits reports whether a quote is about this price.
func (p price) fits(q *Quote) bool {
	if q == nil {
		return false
	}
	return q.Total() == p.amount || p.net > 0 && q.TotalAmount == p.net
}

// prices returns what the first charge takes and what each later one. A lone quote that fits both charges serves both, in
// whichever field it came (specification section 4, rule 4).
func (s *Service) prices(r SubscriptionRequest, plan Plan) (first, later price, err error) {
	first, later = priceOf(plan, r.InitialAmount), priceOf(plan, r.RecurringAmount)
	if plan.Trial > 0 && r.InitialAmount == nil {
		first = price{}
	}
	if first.amount != 0 {
		err = payable(first.amount, plan.Currency, "overrideInitialChargeAmount")
	}
	if err = cmp.Or(err, payable(later.amount, plan.Currency, "overrideRecurringChargeAmount")); err != nil {
		return first, later, err
	}
	firstQuote, laterQuote := r.InitialTaxReference, r.RecurringTaxReference
	switch {
	case firstQuote == "" && first.fits(s.quotes[laterQuote]):
		firstQuote = laterQuote
	case laterQuote == "" && later.fits(s.quotes[firstQuote]):
		laterQuote = firstQuote
	}
	if first, err = s.quoted(first, firstQuote, plan.Currency); err != nil {
		return first, later, err
	}
	later, err = s.quoted(later, laterQuote, plan.Currency)
	return first, later, err
}

// quoted lays a tax quote over a price. The charge is the quote's total, whichever of its sums the price was.
func (s *Service) quoted(p price, reference, currency string) (price, error) {
	if reference == "" {
		return p, nil
	}
	if q := s.quotes[reference]; p.fits(q) {
		p.amount = q.Total()
	}
	q, err := s.quoteFor(reference, p.amount, currency)
	if err != nil {
		return p, err
	}
	p.quote, p.tax, p.reference = q, q.TotalTax, reference
	return p, nil
}
