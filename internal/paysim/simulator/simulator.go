// Package simulator puts the rooms of the simulator together: one value that the program starts, and that a test starts in
// its own process.
//
// Its one non-obvious decision is that it opens no socket. It hands out two handlers, and whoever serves them tells the base
// URL afterwards: a test mounts them on httptest, the program on its listeners, and both get the same simulator.
package simulator

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/api"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/bank"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/shop"
)

// Options say how a simulator begins. The zero Options are a simulator that starts now, at the world's speed, without a
// notification configuration, and signs nothing.
type Options struct {
	Seed  uint64    // of everything that is chosen; the same seed and the same requests give the same numbers
	Start time.Time // of the simulated clock; zero: now
	Speed float64   // simulated seconds in one of the world's; 0: 1

	// IPNURL is the destination that the account's portal has at the start, with all flags on; "": no configuration.
	IPNURL string
	// Key is what IPNs are signed with, asked for each attempt; nil, or an empty answer: they go unsigned.
	Key                              func() []byte
	SignatureHeader, TimestampHeader string // "": X-IPN-Signature, X-IPN-Timestamp
	UserAgent                        string // of IPNs; "": paysim/1
	NodeField                        string // "": serviceNode
	VersionHeader                    string // of the API; "": service-version
	Username, Password               string // of the API; "": paysim, paysim-password

	// BaseURL is where Handler is served, without a slash at the end; asked each time an address is given out. Nil: the
	// default of the program, http://127.0.0.1:8090.
	BaseURL func() string
	// ControlURL is where Control is served, asked each time the shop shows it; nil: it is not shown.
	ControlURL func() string
	// Client posts the IPNs; nil: one that follows no redirects and waits ten seconds.
	Client *http.Client
}

// withDefaults fills what is not set, except where the rooms have the same default themselves.
func (o Options) withDefaults() Options {
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	if o.BaseURL == nil {
		o.BaseURL = func() string { return "http://127.0.0.1:8090" }
	}
	o.Username = cmp.Or(o.Username, "paysim")
	o.Password = cmp.Or(o.Password, "paysim-password")
	return o
}

// Simulator is a payment service that is not one. Its handlers may be served before Run; without Run nothing is sent and
// what is due on the clock is not done.
type Simulator struct {
	Agenda  *agenda.Agenda
	Service *paysim.Service
	Sender  *delivery.Sender
	API     *control.APIFaults // before the API: its faults, and what it was asked

	handler, control http.Handler
}

// New returns a simulator that nothing has happened to.
func New(o Options) *Simulator {
	o = o.withDefaults()
	clock := agenda.New(o.Start, o.Speed)
	sender := delivery.New(delivery.Config{
		Agenda: clock, Key: o.Key, SignatureHeader: o.SignatureHeader, TimestampHeader: o.TimestampHeader,
		UserAgent: o.UserAgent, NodeField: o.NodeField, Client: o.Client, Seed: o.Seed,
	})
	service := paysim.New(paysim.Config{
		Agenda: clock, Send: sender.Send, Seed: o.Seed, NodeField: o.NodeField,
		BankURL: func() string { return o.BaseURL() + "/bank/" },
	})
	if o.IPNURL != "" {
		service.ReplaceConfiguration(everything(o.IPNURL))
	}
	s := &Simulator{Agenda: clock, Service: service, Sender: sender, API: control.NewAPIFaults(clock)}
	s.handler = s.doors(o)
	s.control = control.New(control.Config{Service: service, Sender: sender, Agenda: clock, API: s.API})
	return s
}

// doors mounts what shares the service door.
func (s *Simulator) doors(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/services/2/", s.API.Wrap(api.New(api.Config{
		Service: s.Service, Agenda: s.Agenda, Username: o.Username, Password: o.Password, VersionHeader: o.VersionHeader,
	})))
	mux.Handle("/bank/", bank.New(bank.Config{Service: s.Service}))
	mux.Handle("/", shop.New(shop.Config{Service: s.Service, Sender: s.Sender, Agenda: s.Agenda, ControlURL: o.ControlURL}))
	return mux
}

// everything is the configuration that sends all types with a flag to one URL.
func everything(url string) paysim.Configuration {
	flags := map[string]bool{}
	for _, flag := range notice.Flags() {
		flags[flag] = true
	}
	return paysim.Configuration{Destinations: []paysim.Destination{{URL: url, Send: flags}}}
}

// Handler is the service door: the API under /services/2/, the bank's page under /bank/, and the shop.
func (s *Simulator) Handler() http.Handler { return s.handler }

// Control is the second door, for whoever makes the simulator misbehave and asks what it did.
func (s *Simulator) Control() http.Handler { return s.control }

// Run does what becomes due on the clock and sends the IPNs, until ctx ends.
func (s *Simulator) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { s.Agenda.Run(ctx) })
	both.Go(func() { s.Sender.Run(ctx) })
	both.Wait()
}
