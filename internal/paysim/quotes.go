package paysim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// quoteLifetime is how long a quote is good for while no transaction was sent with it
// (specification section 8).
const quoteLifetime = 24 * time.Hour

// merchant is where things are shipped from when the request does not say: the address of the
// account.
var merchant = Address{Address: "100 Example Street", City: "Boston", State: "MA", Zip: "02110", Country: "US"}

// CreateQuote calculates the tax of lines that are shipped somewhere, and keeps it: the rate
// follows from product tax code and address (specification section 1). For goods that go to
// Colorado it adds a line with the retail delivery fee. Two requests for the same thing make two
// quotes.
//
// The answers are 43003 for what is missing, 43004 for an item code that stands twice, 13001, 24019
// and 50106 for a currency, a country or a state that is unknown, and 10001 for an amount or a
// quantity that cannot be.
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
	// The reference is a UUID (specification section 2.1), and all that later requests say of the
	// quote.
	q := &Quote{QuoteRequest: r, Reference: s.uuid(), Created: s.agenda.Now(), VAT: taxedBy.vat}
	q.calculate(taxedBy)
	s.quotes[q.Reference] = q
	return q.copy(), nil
}

// calculate taxes each line, rounded by itself to the currency's decimals, and adds them up: what a
// shopper is shown of each line then adds up to the total, and a refund of one line gives back
// exactly its tax. The fee is in dollars, so an order in another currency has none. The request's
// lines are not touched.
func (q *Quote) calculate(taxedBy jurisdiction) {
	q.Lines = slices.Clone(q.Lines)
	goods := false // something taxed that can be touched, which is what the fee is for
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

// Total is what a transaction with the quote must charge: all lines with their tax, and the fee
// (specification section 4, rule 1).
func (q Quote) Total() money.Amount { return q.TotalAmount + q.TotalTax }

// Expires is when the quote ends unless a transaction is sent with it before.
func (q Quote) Expires() time.Time { return q.Created.Add(quoteLifetime) }

// Expired reports whether the quote has ended by now: at its 24th hour it has. One that a
// transaction was sent with never does (specification section 3.1).
func (q Quote) Expired(now time.Time) bool { return !q.Used && !now.Before(q.Expires()) }

// rate is the one rate of all lines, as the taxRate of an IPN has room for one; 0 when they differ.
// A fee has no rate.
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

// check refuses a request that lacks something (43003) or cannot be calculated (13001, 10001,
// 43004). It names the first line that is wrong, as "lines[0].amount". An amount of zero is a gift,
// and right.
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
			return Refuse("10001", at("quantity"), strconv.Itoa(line.Quantity))
		case line.Amount < 0, line.Amount%money.Step(r.Currency) != 0:
			return Refuse("10001", at("amount"), line.Amount.String())
		case seen[line.ItemCode]:
			return Refuse("43004", at("itemCode"), line.ItemCode)
		}
		seen[line.ItemCode] = true
	}
	return nil
}

// complete refuses with 43003 what is not there. A state is asked for only where the tax follows
// from it: the documents list it among what is required, but most countries have none to tell.
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
			return Refuse("43003", n.name, "")
		}
	}
	if len(r.Lines) == 0 {
		return Refuse("43003", "lines", "")
	}
	return nil
}

// Quote returns a copy of a quote, expired or not: only using it is refused. Code 300 when there is
// none, with the status 404 of a path that leads nowhere.
func (s *Service) Quote(reference string) (Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, known := s.quotes[reference]
	if !known {
		unknown := Refuse("300", "taxReference", reference)
		unknown.Status = http.StatusNotFound
		return Quote{}, unknown
	}
	return q.copy(), nil
}

// quoteFor is usableQuote for a charge that is sent now: from then on the quote expires no more.
// The lock is held.
func (s *Service) quoteFor(reference string, amount money.Amount, currency string) (*Quote, error) {
	q, err := s.usableQuote(reference, amount, currency)
	if err != nil {
		return nil, err
	}
	q.sent()
	return q, nil
}

// sent notes that a transaction was sent with the quote, declined or not, which ends its expiry
// (specification section 3.1). A nil quote is none.
func (q *Quote) sent() {
	if q != nil {
		q.Used = true
	}
}

// usableQuote returns the quote that a charge names, nil for no reference, if it may be used for
// it: it is there and not expired (300), no authorized transaction has it (43010), the currency
// (43008) and the amount with tax (43009) are its own. Nothing is changed. The interface does not
// show the answer for an expired quote (specification section 7); code 300 is that of the tax
// provider. The lock is held.
func (s *Service) usableQuote(reference string, amount money.Amount, currency string) (*Quote, error) {
	if reference == "" {
		return nil, nil
	}
	q, known := s.quotes[reference]
	switch {
	case !known:
		return nil, Refuse("300", "taxReference", reference)
	case q.Expired(s.agenda.Now()):
		return nil, Refuse("300", "taxReference", reference)
	case q.TakenBy != "":
		return nil, Refuse("43010", "taxReference", reference)
	case q.Currency != currency:
		return nil, Refuse("43008", "currency", currency)
	case q.Total() != amount:
		return nil, Refuse("43009", "amount", amount.String())
	}
	return q, nil
}
