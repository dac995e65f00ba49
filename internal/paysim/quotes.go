package paysim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

const quoteLifetime = 24 * time.Hour // specification section 8

// merchant is where things are shipped from when the merchant does not say.
var merchant = Address{Address: "100 Example Street", City: "Boston", State: "MA", Zip: "02110", Country: "US"}

// CreateQuote calculates the tax of lines that are shipped somewhere, and keeps it. For goods that go to Colorado it adds a
// line with the retail delivery fee. The answers are 43003 for what is missing, 43004 for an item code that stands twice,
// 13001, 24019 and 50106 for a currency, a country or a state that is unknown, and 10001 for an amount or a quantity that
// cannot be.
func (s *Service) CreateQuote(r QuoteRequest) (Quote, error) {
	if err := r.check(); err != nil {
		return Quote{}, err
	}
	taxedBy, err := jurisdictionOf(r.ShipTo)
	if err != nil {
		return Quote{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ShipFrom == (Address{}) {
		r.ShipFrom = merchant
	}
	q := &Quote{QuoteRequest: r, Reference: s.uuid(), Created: s.agenda.Now(), VAT: taxedBy.vat}
	q.calculate(taxedBy)
	s.quotes[q.Reference] = q
	return q.copy(), nil
}

// calculate taxes each line and adds them up. The request's lines are not touched.
func (q *Quote) calculate(taxedBy jurisdiction) {
	q.Lines = slices.Clone(q.Lines)
	goods := false
	for i := range q.Lines {
		line := &q.Lines[i]
		line.Rate = taxedBy.rate(line.TaxCode)
		line.Tax = line.Amount.Share(line.Rate, q.Currency)
		q.TotalTax += line.Tax
		q.TotalAmount += line.Amount
		if line.Rate == 0 {
			q.TotalExempt += line.Amount
		}
		goods = goods || line.Rate > 0 && strings.HasPrefix(line.TaxCode, "P")
	}
	if goods && q.Currency == "USD" && strings.EqualFold(q.ShipTo.Country, "US") && strings.EqualFold(q.ShipTo.State, "CO") {
		q.Lines = append(q.Lines, deliveryFee)
		q.Fee = deliveryFee.Tax
		q.TotalTax += q.Fee
	}
}

// Total is what a transaction with the quote must charge.
func (q Quote) Total() money.Amount { return q.TotalAmount + q.TotalTax }

// rate is the one rate of all lines, 0 when they differ.
func (q *Quote) rate() int64 {
	rate := q.Lines[0].Rate
	for _, line := range q.Lines {
		if !line.Fee && line.Rate != rate {
			return 0
		}
	}
	return rate
}

// copy shares nothing with the service that changes.
func (q *Quote) copy() Quote {
	c := *q
	c.Lines = slices.Clone(q.Lines)
	return c
}

// check refuses a request that lacks something or cannot be calculated.
func (r QuoteRequest) check() error {
	if err := r.complete(); err != nil {
		return err
	}
	if err := knownCurrency(r.Currency); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, line := range r.Lines {
		at := func(member string) string { return fmt.Sprintf("lines[%d].%s", i, member) }
		switch {
		case line.Quantity < 1:
			return refuse("10001", at("quantity"), strconv.Itoa(line.Quantity))
		case line.Amount < 0, line.Amount%money.Step(r.Currency) != 0:
			return refuse("10001", at("amount"), line.Amount.String())
		case seen[line.ItemCode]:
			return refuse("43004", at("itemCode"), line.ItemCode)
		}
		seen[line.ItemCode] = true
	}
	return nil
}

// complete refuses with 43003 what is not there. A state is asked for only where there are states to know.
func (r QuoteRequest) complete() error {
	need := []struct{ name, value string }{
		{"currency", r.Currency}, {"shipTo.address", r.ShipTo.Address}, {"shipTo.city", r.ShipTo.City},
		{"shipTo.zip", r.ShipTo.Zip}, {"shipTo.country", r.ShipTo.Country},
	}
	if _, byState := stateTaxes[strings.ToUpper(r.ShipTo.Country)]; byState {
		need = append(need, struct{ name, value string }{"shipTo.state", r.ShipTo.State})
	}
	for i, line := range r.Lines {
		at := fmt.Sprintf("lines[%d].", i)
		need = append(need, []struct{ name, value string }{
			{at + "itemCode", line.ItemCode}, {at + "taxCode", line.TaxCode}, {at + "description", line.Description},
		}...)
	}
	for _, n := range need {
		if n.value == "" {
			return refuse("43003", n.name, "")
		}
	}
	if len(r.Lines) == 0 {
		return refuse("43003", "lines", "")
	}
	return nil
}

// Quote returns a copy of a quote, expired or not; 404 with code 300 when there is none.
func (s *Service) Quote(reference string) (Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, known := s.quotes[reference]
	if !known {
		unknown := refuse("300", "taxReference", reference)
		unknown.Status = 404
		return Quote{}, unknown
	}
	return q.copy(), nil
}

// quoteFor returns the quote that a charge names, nil for no reference, if it may be used for it: it is there and not expired
// (300), no authorized transaction has it (43010), the currency (43008) and the amount with tax (43009) are its own. From then
// on a transaction was sent with it, and it expires no more. The lock is held.
func (s *Service) quoteFor(reference string, amount money.Amount, currency string) (*Quote, error) {
	if reference == "" {
		return nil, nil
	}
	q, known := s.quotes[reference]
	switch {
	case !known:
		return nil, refuse("300", "taxReference", reference)
	case !q.Used && s.agenda.Now().Sub(q.Created) >= quoteLifetime:
		q.ExpiryRefused = true
		return nil, refuse("300", "taxReference", reference)
	case q.TakenBy != "":
		return nil, refuse("43010", "taxReference", reference)
	case q.Currency != currency:
		return nil, refuse("43008", "currency", currency)
	case q.Total() != amount:
		return nil, refuse("43009", "amount", amount.String())
	}
	q.Used = true
	return q, nil
}
