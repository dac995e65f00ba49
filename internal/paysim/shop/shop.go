// Package shop is a small shop that sells through the simulated payment service: a person buys with
// tax, subscribes, pays by bank transfer, sends money back, disputes, moves the clock, and sees the
// IPNs that go out for it.
//
// Its one non-obvious decision is that it keeps nothing of its own. The cart travels in the
// address, a tax quote is the checkout (it knows the goods and where they go), and everything else
// is the payment service's to know: the back button, two tabs and a restart need no thought, and
// what the pages show is what the service holds.
package shop

import (
	"net/http"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
)

// Config says what the shop is made of. All but ControlURL are needed.
type Config struct {
	Service *paysim.Service
	Sender  *delivery.Sender
	Agenda  *agenda.Agenda
	// ControlURL is where the second door is, shown to the person; nil, or an empty answer: not
	// shown. Asked for each page.
	ControlURL func() string
}

// shop is what the handlers share. Nothing in it changes.
type shop struct {
	service    *paysim.Service
	sender     *delivery.Sender
	agenda     *agenda.Agenda
	controlURL func() string
	pages      pages
}

// show makes a page. Its error is a *paysim.Refusal or a mistake that the person made, and is told
// on a page of its own, with its status.
type show func(r *http.Request) (page, error)

// act does something and says where to go on, as a path of this host. What it refuses is told on
// the page that it was asked from, filled in as it was, so that a person can mend one field and try
// again.
type act func(r *http.Request) (to string, err error)

// New returns the handler of / and of all below /shop/. Pages work without scripts; forms are
// posted and answered with 303, so that a reload repeats nothing. Nobody logs in: whoever reaches
// the shop is the merchant, too. So a form that another site posts is refused with 403; one that is
// too long, with 413.
func New(c Config) http.Handler {
	s := &shop{service: c.Service, sender: c.Sender, agenda: c.Agenda, controlURL: c.ControlURL, pages: readPages()}
	if s.controlURL == nil {
		s.controlURL = func() string { return "" }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /shop/assets/{file}", asset)
	mux.HandleFunc("GET /shop/ipns/latest", s.latest)
	for pattern, view := range s.shows() {
		mux.HandleFunc("GET "+pattern, s.get(view))
	}
	for pattern, a := range s.acts() {
		mux.HandleFunc("POST "+pattern, s.post(a.do, a.from))
	}
	mux.HandleFunc("GET /", s.get(s.nowhere))
	return http.NewCrossOriginProtection().Handler(mux)
}

// shows are the pages, by the pattern of their address. Looking at one changes nothing.
func (s *shop) shows() map[string]show {
	return map[string]show{
		"/{$}":                     s.home,
		"/shop/checkout":           s.checkout,
		"/shop/pay/{reference}":    s.pay,
		"/shop/return":             s.returned,
		"/shop/plans":              s.plans,
		"/shop/orders":             s.orders,
		"/shop/orders/{id}":        s.order,
		"/shop/subscriptions":      s.subscriptions,
		"/shop/subscriptions/{id}": s.subscription,
		"/shop/account":            s.account,
		"/shop/ipns":               s.ipns,
		"/shop/ipns/{id}":          s.ipn,
	}
}

// acts are the forms, by the pattern of what they are posted to: what each does, and the page that
// it stands on, which shares the parts of its address.
func (s *shop) acts() map[string]struct {
	do   act
	from show
} {
	return map[string]struct {
		do   act
		from show
	}{
		"/shop/checkout":                      {s.quote, s.checkout},
		"/shop/pay/{reference}/card":          {s.payByCard, s.pay},
		"/shop/pay/{reference}/transfer":      {s.payByTransfer, s.pay},
		"/shop/pay/{reference}/subscribe":     {s.subscribe, s.pay},
		"/shop/orders/{id}/capture":           {s.capture, s.order},
		"/shop/orders/{id}/void":              {s.void, s.order},
		"/shop/orders/{id}/refund":            {s.refund, s.order},
		"/shop/orders/{id}/dispute":           {s.dispute, s.order},
		"/shop/orders/{id}/dispute/{dispute}": {s.changeDispute, s.order},
		"/shop/subscriptions/{id}/renew":      {s.renew, s.subscription},
		"/shop/subscriptions/{id}/refuse":     {s.refuseNext, s.subscription},
		"/shop/subscriptions/{id}/auto-renew": {s.autoRenew, s.subscription},
		"/shop/subscriptions/{id}/plan":       {s.changePlan, s.subscription},
		"/shop/subscriptions/{id}/cancel":     {s.cancel, s.subscription},
		"/shop/clock":                         {s.moveClock, s.account},
		"/shop/account/portal":                {s.switchType, s.account},
		"/shop/account/payout":                {s.payout, s.account},
	}
}
