package shop

import (
	"net/url"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// product is something the shop sells. Code is its item code, and the name of its field in forms.
// TaxCode is the product tax code, from which the rate follows (specification section 1).
type product struct {
	Code, Name, About, TaxCode string
	prices                     map[string]string // of one piece, by currency
}

// products are what there is: two taxed in full nearly everywhere, groceries, and a book, which
// many countries tax less.
var products = []product{
	{
		"blanket", "Wool blanket", "Woven from undyed wool, warm for three winters at least.", "PC040100",
		map[string]string{"USD": "89.00", "EUR": "84.00", "GBP": "72.00", "AUD": "135.00", "JPY": "13300"},
	},
	{
		"tea", "Sencha tea", "A hundred grams of the first harvest, in a tin.", "PF050000",
		map[string]string{"USD": "14.50", "EUR": "13.90", "GBP": "11.90", "AUD": "21.50", "JPY": "2150"},
	},
	{
		"mug", "Stoneware mug", "Thrown by hand, holds a third of a litre and its heat.", "P0000000",
		map[string]string{"USD": "24.00", "EUR": "22.50", "GBP": "19.00", "AUD": "36.00", "JPY": "3600"},
	},
	{
		"book", "Pattern book", "Twelve things to knit, from a scarf to a cardigan.", "PB100000",
		map[string]string{"USD": "19.90", "EUR": "18.95", "GBP": "15.99", "AUD": "29.95", "JPY": "2980"},
	},
}

// Price is what one piece costs in a currency of the shop, without tax. It panics for another one:
// see currencies.
func (p product) Price(currency string) money.Amount { return money.MustParse(p.prices[currency]) }

// currencies are those that every product has a price in; the first is the usual one. The yen has
// no decimals.
var currencies = []string{"USD", "EUR", "GBP", "AUD", "JPY"}

// place is an address to try things with. Key stands in addresses of pages; Tells says what is to
// be seen there.
type place struct {
	Key, Name, Tells string
	Address          paysim.Address
}

// places are one for each rule of tax that the specification names, and one with a currency of its
// own.
var places = []place{
	{"boston", "Boston", "sales tax", paysim.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"}},
	{"denver", "Denver", "sales tax and the delivery fee of Colorado", paysim.Address{Address: "1450 Larimer St", City: "Denver", State: "CO", Zip: "80202", Country: "US"}},
	{"berlin", "Berlin", "VAT", paysim.Address{Address: "Musterweg 7", City: "Berlin", Zip: "10115", Country: "DE"}},
	{"paris", "Paris", "VAT", paysim.Address{Address: "3 rue de l’Exemple", City: "Paris", Zip: "75011", Country: "FR"}},
	{"london", "London", "VAT", paysim.Address{Address: "12 Sample Row", City: "London", Zip: "EC1A 1AA", Country: "GB"}},
	{"sydney", "Sydney", "GST, and “ABN” in place of “VAT ID”", paysim.Address{Address: "8 Example Pde", City: "Sydney", State: "NSW", Zip: "2000", Country: "AU"}},
	{"tokyo", "Tokyo", "a currency without decimals", paysim.Address{Address: "1-2-3 Mihon", City: "Tokyo", Zip: "100-0001", Country: "JP"}},
}

// homes are the places that are filled in when none was chosen, by currency.
var homes = map[string]string{"USD": "boston", "EUR": "berlin", "GBP": "london", "AUD": "sydney", "JPY": "tokyo"}

// placeOf finds a place by its key.
func placeOf(key string) (place, bool) {
	for _, p := range places {
		if p.Key == key {
			return p, true
		}
	}
	return place{}, false
}

// choice is one of a list: the key is sent, the name is shown.
type choice struct{ Key, Name string }

// countries can be shipped to, in the order of their names; the codes are those of ISO 3166. The
// payment service knows all others as well: these are enough to choose from.
var countries = []choice{
	{"AU", "Australia"}, {"AT", "Austria"}, {"BE", "Belgium"}, {"CA", "Canada"}, {"FR", "France"}, {"DE", "Germany"}, {"IE", "Ireland"},
	{"IT", "Italy"}, {"JP", "Japan"}, {"NL", "Netherlands"}, {"PL", "Poland"}, {"ES", "Spain"}, {"SE", "Sweden"},
	{"CH", "Switzerland"}, {"GB", "United Kingdom"}, {"US", "United States"},
}

// item is a line of the cart.
type item struct {
	Code, Name, TaxCode string
	Quantity            int
	Amount              money.Amount // of the line
}

// cart is what an address or a form says is wanted: so many of each product, or one plan.
type cart struct {
	Items    []item
	Currency string
	Plan     *paysim.Plan
}

const mostPieces = 99 // of one product

// readCart reads a cart. An unknown currency is the first one; quantities that are not numbers, or
// below one, count as none, and those that are too large as the largest. A mistake when nothing is
// in it; 404 for a plan that there is not.
func (s *shop) readCart(form url.Values) (cart, error) {
	if id := form.Get("plan"); id != "" {
		return s.planCart(id)
	}
	c := cart{Currency: currencyOf(form)}
	for _, p := range products {
		n, _ := strconv.Atoi(form.Get(p.Code)) // 0 for what is no number
		if n = min(n, mostPieces); n > 0 {
			c.Items = append(c.Items, item{p.Code, p.Name, p.TaxCode, n, p.Price(c.Currency) * money.Amount(n)})
		}
	}
	if len(c.Items) == 0 {
		return c, wrong("There is nothing in the cart yet. Choose how many of what, then go on.")
	}
	return c, nil
}

// currencyOf is the currency that a form names, if the shop has prices in it, or else the first.
func currencyOf(form url.Values) string {
	for _, known := range currencies {
		if known == form.Get("currency") {
			return known
		}
	}
	return currencies[0]
}

const (
	planPrefix  = "plan-"    // of the item code of a plan
	planTaxCode = "SW054000" // of something delivered by wire
)

// planCart is a cart with one plan in it, for one period, priced in the plan's own currency; 404
// for a plan that there is not. The quote for it is then told from one for goods by its item code.
func (s *shop) planCart(id string) (cart, error) {
	p := s.planOf(planPrefix + id)
	if p == nil {
		return cart{}, errNothing
	}
	one := item{planPrefix + id, p.Name, planTaxCode, 1, p.Amount}
	return cart{Items: []item{one}, Currency: p.Currency, Plan: p}, nil
}

// planOf returns the plan that an item code names; nil for a product.
func (s *shop) planOf(itemCode string) *paysim.Plan {
	for _, p := range s.service.Plans() {
		if itemCode == planPrefix+strconv.FormatInt(p.ID, 10) {
			return &p
		}
	}
	return nil
}

// query writes a cart the way readCart reads it: this is all that is kept of it, in the address of
// the page.
func (c cart) query() url.Values {
	q := url.Values{}
	if c.Plan != nil {
		q.Set("plan", strconv.FormatInt(c.Plan.ID, 10))
		return q
	}
	q.Set("currency", c.Currency)
	for _, i := range c.Items {
		q.Set(i.Code, strconv.Itoa(i.Quantity))
	}
	return q
}

// lines is the cart as a tax quote asks for it: a line each, with the amount of the line.
func (c cart) lines() []paysim.Line {
	lines := make([]paysim.Line, len(c.Items))
	for i, one := range c.Items {
		lines[i] = paysim.Line{ItemCode: one.Code, TaxCode: one.TaxCode, Description: one.Name, Quantity: one.Quantity, Amount: one.Amount}
	}
	return lines
}

// Net is the sum of the cart, without tax.
func (c cart) Net() money.Amount {
	var sum money.Amount
	for _, i := range c.Items {
		sum += i.Amount
	}
	return sum
}
