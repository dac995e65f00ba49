package paysim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// aQuote asks for the tax of one line of goods to Boston.
func aQuote(change func(*paysim.QuoteRequest)) paysim.QuoteRequest {
	r := paysim.QuoteRequest{
		Currency: "USD", ShipTo: paysim.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"},
		Lines: []paysim.Line{{ItemCode: "yarn-1", TaxCode: "PS081282", Description: "Yarn", Quantity: 1, Amount: money.Units(100)}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func TestAQuoteIsCalculatedByPlaceAndProduct(t *testing.T) {
	t.Parallel()
	to := func(country, state string) func(*paysim.QuoteRequest) {
		return func(r *paysim.QuoteRequest) { r.ShipTo.Country, r.ShipTo.State = country, state }
	}
	for _, c := range []struct {
		name       string
		change     func(*paysim.QuoteRequest)
		tax, total string
		vat        bool
	}{
		{"a state's rate", nil, "6.25", "106.25", false},
		{"a state's rate, the codes in lower case", to("us", "ma"), "6.25", "106.25", false},
		{"a state without sales tax", to("US", "OR"), "0.00", "100.00", false},
		{"the shirt of the specification", func(r *paysim.QuoteRequest) { to("US", "WI")(r); r.Lines[0].Amount = money.Units(50) }, "2.50", "52.50", false},
		{"a VAT", func(r *paysim.QuoteRequest) { to("DE", "")(r); r.Currency = "EUR" }, "19.00", "119.00", true},
		{"a reduced VAT for books", func(r *paysim.QuoteRequest) { to("DE", "")(r); r.Lines[0].TaxCode = "PB100000" }, "7.00", "107.00", true},
		{"the GST of Australia", to("AU", "NSW"), "10.00", "110.00", true},
		{"a product without tax", func(r *paysim.QuoteRequest) { r.Lines[0].TaxCode = "NT" }, "0.00", "100.00", false},
		{"goods to Colorado, with the delivery fee", to("US", "CO"), "3.19", "103.19", false},
		{"downloads to Colorado, without", func(r *paysim.QuoteRequest) { to("US", "CO")(r); r.Lines[0].TaxCode = "DC010000" }, "2.90", "102.90", false},
		{"a yen has no decimals", func(r *paysim.QuoteRequest) {
			to("JP", "")(r)
			r.Currency, r.Lines[0].Amount = "JPY", money.Units(1005)
		}, "101.00", "1106.00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, err := newStage().CreateQuote(aQuote(c.change))
			if err != nil {
				t.Fatal(err)
			}
			wants(t, "tax", q.TotalTax.String(), c.tax)
			wants(t, "total", q.Total().String(), c.total)
			wants(t, "VAT", q.VAT, c.vat)
			sum := money.Amount(0)
			for _, line := range q.Lines {
				sum += line.Tax
			}
			wants(t, "sum of the lines' tax", sum, q.TotalTax)
		})
	}
}

func TestAQuoteIsRefusedForWhatItLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*paysim.QuoteRequest)
		code   string
	}{
		{"no currency", func(r *paysim.QuoteRequest) { r.Currency = "" }, "43003"},
		{"a currency that is none", func(r *paysim.QuoteRequest) { r.Currency = "XQQ" }, "13001"},
		{"no address", func(r *paysim.QuoteRequest) { r.ShipTo.Address = "" }, "43003"},
		{"no city", func(r *paysim.QuoteRequest) { r.ShipTo.City = "" }, "43003"},
		{"no postal code", func(r *paysim.QuoteRequest) { r.ShipTo.Zip = "" }, "43003"},
		{"no state where there are states", func(r *paysim.QuoteRequest) { r.ShipTo.State = "" }, "43003"},
		{"no country", func(r *paysim.QuoteRequest) { r.ShipTo.Country = "" }, "43003"},
		{"an unknown country", func(r *paysim.QuoteRequest) { r.ShipTo.Country = "QQ" }, "24019"},
		{"an unknown state", func(r *paysim.QuoteRequest) { r.ShipTo.State = "QQ" }, "50106"},
		{"no lines", func(r *paysim.QuoteRequest) { r.Lines = nil }, "43003"},
		{"no tax code", func(r *paysim.QuoteRequest) { r.Lines[0].TaxCode = "" }, "43003"},
		{"no description", func(r *paysim.QuoteRequest) { r.Lines[0].Description = "" }, "43003"},
		{"an item code twice", func(r *paysim.QuoteRequest) { r.Lines = append(r.Lines, r.Lines[0]) }, "43004"},
		{"no piece", func(r *paysim.QuoteRequest) { r.Lines[0].Quantity = 0 }, "10001"},
		{"a negative amount", func(r *paysim.QuoteRequest) { r.Lines[0].Amount = -1 }, "10001"},
		{"a tenth of a cent", func(r *paysim.QuoteRequest) { r.Lines[0].Amount = money.MustParse("1.001") }, "10001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := newStage().CreateQuote(aQuote(c.change))
			wants(t, "code", codeOf(t, err), c.code)
		})
	}
}

func TestAQuoteHoldsForADayUnlessATransactionWasSentWithIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		sent  bool // a transaction, which is declined
		after time.Duration
		code  string
	}{
		{"a moment before the end", false, day - 1, ""},
		{"at the end", false, day, "300"},
		{"a month later, after a decline", true, 30 * day, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // where the clock stands still, so that the end is one moment
				s := newStage()
				q := s.taxed(t, "100.00", "USD")
				if c.sent {
					_, err := s.CreateTransaction(aCharge(func(r *paysim.CardRequest) { s.with(q)(r); r.Card = cardNumbered("4000000000000002") }))
					wants(t, "code of the decline", codeOf(t, err), "14002")
				}
				s.agenda.Advance(c.after)
				_, err := s.CreateTransaction(aCharge(s.with(q)))
				wants(t, "code", codeOf(t, err), c.code)
				kept, err := s.Quote(q.Reference)
				wants(t, "the quote can still be read", err, nil)
				wants(t, "expired", kept.Expired(s.agenda.Now()), c.code != "")
			})
		})
	}
}

func TestAQuoteIsForOneAuthorizationOfItsAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*paysim.CardRequest)
		code   string
	}{
		{"the total", nil, ""},
		{"the total without tax", func(r *paysim.CardRequest) { r.Amount = money.Units(100) }, "43009"},
		{"another currency", func(r *paysim.CardRequest) { r.Currency = "EUR" }, "43008"},
		{"an unknown quote", func(r *paysim.CardRequest) { r.TaxReference = "unknown" }, "300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			q := s.taxed(t, "100.00", "USD")
			_, err := s.CreateTransaction(aCharge(func(r *paysim.CardRequest) {
				s.with(q)(r)
				if c.change != nil {
					c.change(r)
				}
			}))
			wants(t, "code", codeOf(t, err), c.code)
			if c.code != "" {
				_, err = s.CreateTransaction(aCharge(s.with(q)))
				wants(t, "code of the right request after it", codeOf(t, err), "")
			}
			_, err = s.CreateTransaction(aCharge(s.with(q)))
			wants(t, "code of a second one", codeOf(t, err), "43010")
		})
	}
}

func TestAReversedAuthorizationFreesItsQuote(t *testing.T) {
	t.Parallel()
	s := newStage()
	q := s.taxed(t, "100.00", "USD")
	held := s.charged(t, func(r *paysim.CardRequest) { s.with(q)(r); r.Type = "AUTH_ONLY" })
	_, err := s.ReverseAuthorization(held.ID)
	wants(t, "error", err, nil)
	s.charged(t, s.with(q))
}

func TestAQuoteIsTakenWhileABankDecides(t *testing.T) {
	t.Parallel()
	s := newStage()
	q := s.taxed(t, "100.00", "USD")
	s.charged(t, func(r *paysim.CardRequest) { s.with(q)(r); r.Card = cardNumbered("5105105105105100") })
	_, err := s.CreateTransaction(aCharge(s.with(q)))
	wants(t, "code meanwhile", codeOf(t, err), "43010")
	s.agenda.Advance(4 * day)
	s.charged(t, s.with(q))
}
