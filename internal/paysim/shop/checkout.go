package shop

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// homePage is the window of the shop. Wanted is the query of its address, in which a cart may be.
type homePage struct {
	Products   []product
	Currency   string
	Currencies []string
	Wanted     url.Values
}

// Quantity is how many of a product are wanted: what the address says, and one of the first thing
// when it says nothing.
func (p homePage) Quantity(code string) string {
	// "0" said of all is an answer, too: only an address without any product gets the first one
	// filled in.
	said := slices.ContainsFunc(p.Products, func(one product) bool { return p.Wanted.Has(one.Code) })
	if !said && code == p.Products[0].Code {
		return "1"
	}
	return cmp.Or(p.Wanted.Get(code), "0")
}

// Link leads to the same window with prices in another currency, and the same quantities.
func (p homePage) Link(currency string) string {
	q := url.Values{"currency": {currency}}
	for _, one := range p.Products {
		q.Set(one.Code, p.Quantity(one.Code))
	}
	return "/?" + q.Encode()
}

// home is the window: what there is, in one currency. Its form leads on with GET, so that the cart
// is in the address.
func (s *shop) home(r *http.Request) (page, error) {
	return page{name: "home", title: "Shop", data: homePage{products, currencyOf(r.URL.Query()), currencies, r.URL.Query()}}, nil
}

// plans lists what can be subscribed to, each with a link to its checkout.
func (s *shop) plans(*http.Request) (page, error) {
	return page{name: "plans", title: "Plans", data: s.service.Plans()}, nil
}

// checkoutPage asks where the goods go.
type checkoutPage struct {
	cart
	Places    []place
	Place     string // the key of the one filled in; "" when the person has written another
	Address   paysim.Address
	Countries []choice
}

// Fields is the cart for hidden fields, so that the posted form has it as well.
func (p checkoutPage) Fields() url.Values { return p.query() }

// Back leads to the window, with the cart as it is, to be changed there.
func (p checkoutPage) Back() string { return "/?" + p.query().Encode() }

// Link leads to this page with the address of a place filled in.
func (p checkoutPage) Link(place string) string {
	q := p.query()
	q.Set("place", place)
	return "/shop/checkout?" + q.Encode()
}

// checkout asks for the address. It is filled with what was sent before, if that was refused, or
// else with the place that the address of the page names, or else with one where the currency of
// the cart is at home.
func (s *shop) checkout(r *http.Request) (page, error) {
	if err := readForm(r); err != nil {
		return page{}, err
	}
	c, err := s.readCart(r.Form)
	if err != nil {
		return page{}, err
	}
	p := checkoutPage{cart: c, Places: places, Address: addressOf(r), Countries: countries}
	if p.Address == (paysim.Address{}) {
		filled, ok := placeOf(r.Form.Get("place"))
		if !ok {
			filled, _ = placeOf(homes[c.Currency])
		}
		p.Place, p.Address = filled.Key, filled.Address
	}
	return page{name: "checkout", title: "Where to?", data: p, here: "/shop/checkout?" + c.query().Encode()}, nil
}

// addressOf reads the posted address, zero when none was posted. The state is written upper case,
// as its codes are. Whether there is such a place, the payment service says.
func addressOf(r *http.Request) paysim.Address {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	return paysim.Address{
		Address: field("address"), City: field("city"), State: strings.ToUpper(field("state")),
		Zip: field("zip"), Country: field("country"),
	}
}

// quote asks the payment service for the tax (specification section 1, tax flow, step 1) and goes
// on to the page of the quote.
func (s *shop) quote(r *http.Request) (string, error) {
	c, err := s.readCart(r.Form)
	if err != nil {
		return "", err
	}
	q, err := s.service.CreateQuote(paysim.QuoteRequest{Currency: c.Currency, ShipTo: addressOf(r), Lines: c.lines()})
	if err != nil {
		return "", err
	}
	return payPath(q.Reference), nil
}
