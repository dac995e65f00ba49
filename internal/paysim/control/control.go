// Package control is the simulator's second door: what a test or a person does to the payment service that no merchant
// could. It sets faults, reads what was sent and received, moves the clock and acts as the portal would.
//
// Its one non-obvious decision is that it moves the clock in steps of an hour and lets all IPNs of a step arrive before the
// next: a year played in a moment happens at the receiver hour after hour, as it would have happened.
package control

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Service is what the control door asks of the payment service.
type Service interface {
	// Configuration returns the notification configuration; false when there is none.
	Configuration() (paysim.Configuration, bool)
	// ReplaceConfiguration puts another in its place.
	ReplaceConfiguration(paysim.Configuration)
	// DeleteConfigurations removes all destinations.
	DeleteConfigurations()
	// SwitchPortalType switches a type on or off that has no send flag; an error for any other.
	SwitchPortalType(transactionType string, on bool) error
	// Emit sends a sample of a type, laid over with fields, to the destinations that take it; an error when none does.
	Emit(transactionType string, fields ...notice.Field) (notice.Notice, error)
}

// Config says what the door controls.
type Config struct {
	Service Service
	Sender  *delivery.Sender
	Agenda  *agenda.Agenda
	API     *APIFaults // nil: the paths of the API's faults and history are not there
}

// New returns the handler of the second door. It asks for no credentials: whoever serves it keeps it on loopback. Pages of
// other sites cannot make a browser act on it.
func New(c Config) http.Handler {
	d := door(c)
	routes := d.routes()
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.pattern, answering(r.do))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { describe(w, r.Host, routes) })
	return http.NewCrossOriginProtection().Handler(mux)
}

type door Config

// route is a path of the door, and what one may type to try it.
type route struct {
	pattern, about, example string
	do                      action
}

func (d door) routes() []route {
	routes := []route{
		{"GET /faults", "the faults of IPNs in force", "curl -s {}/faults", d.faults},
		{"PUT /faults", "replace the faults of IPNs", `curl -s -X PUT {}/faults -d '[{"name":"duplicate","every":3},{"name":"delay","types":["REFUND"],"delay":"2h","times":1}]'`, d.setFaults},
		{"DELETE /faults", "no faults of IPNs", "curl -s -X DELETE {}/faults", d.clearFaults},
		{"GET /history", "IPNs sent, newest first (type, state, reference, limit); with after=ID those since, oldest first", "curl -s '{}/history?type=CHARGE&state=waiting&limit=10'", d.history},
		{"GET /history/{id}", "one IPN with all its attempts", "curl -s {}/history/1", d.delivery},
		{"GET /totals", "sums of what was sent, by currency and type", "curl -s {}/totals", d.totals},
		{"GET /clock", "the simulated time", "curl -s {}/clock", d.clock},
		{"POST /clock", "move it ahead, or change its speed; what is due on the way is done, and its IPNs posted", `curl -s {}/clock -d '{"advance":"720h","speed":3600}'`, d.setClock},
		{"POST /notices/{type}", "send an IPN of any type, with fields of your choice", `curl -s {}/notices/CHARGE -d '{"referenceNumber":"70010001","invoiceChargeAmount":"21.00"}'`, d.emit},
		{"POST /burst", "send samples at a pace, to url or the first destination", `curl -s {}/burst -d '{"type":"CHARGE","count":100,"perSecond":500}'`, d.burst},
		{"POST /idle", "wait until no IPN is on its way or due (timeout)", "curl -s -X POST '{}/idle?timeout=30s'", d.idle},
		{"GET /portal/configuration", "the notification configuration", "curl -s {}/portal/configuration", d.configuration},
		{"PUT /portal/configuration", "replace it, behind the back of the API's client", `curl -s -X PUT {}/portal/configuration -d '{"ipnDestinations":[{"ipnUrl":"http://127.0.0.1:8080/ipn","sendCharge":true}]}'`, d.setConfiguration},
		{"DELETE /portal/configuration", "remove it", "curl -s -X DELETE {}/portal/configuration", d.deleteConfiguration},
		{"POST /portal/types", "switch types on or off that have no send flag", `curl -s {}/portal/types -d '{"UNDER_REVIEW":true}'`, d.switchTypes},
	}
	if d.API == nil {
		return routes
	}
	return append(routes, []route{
		{"GET /api-faults", "the faults of the API in force", "curl -s {}/api-faults", d.apiFaults},
		{"PUT /api-faults", "replace the faults of the API", `curl -s -X PUT {}/api-faults -d '[{"answer":"429","retryAfter":"2","path":"/services/2/transactions","times":2}]'`, d.setAPIFaults},
		{"DELETE /api-faults", "no faults of the API", "curl -s -X DELETE {}/api-faults", d.clearAPIFaults},
		{"GET /api-history", "what the API was asked, newest first (method, path, limit), and how often", "curl -s '{}/api-history?path=/services/2/notification-config'", d.apiHistory},
	}...)
}

// describe writes what the door can do, for people.
func describe(w http.ResponseWriter, host string, routes []route) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprint(w, "The simulator's control door. It speaks JSON.\n")
	for _, r := range routes {
		fmt.Fprintf(w, "\n%s\n    %s\n    %s\n", r.pattern, r.about, strings.ReplaceAll(r.example, "{}", "http://"+host))
	}
	list(w, "Faults of IPNs", delivery.FaultNames(), delivery.FaultMeaning)
	if slices.ContainsFunc(routes, func(r route) bool { return strings.HasSuffix(r.pattern, "/api-faults") }) {
		list(w, "Faults of the API", apiFaultNames(), func(name string) string { return apiEffects[name].meaning })
	}
}

func list(w http.ResponseWriter, title string, names []string, meaning func(string) string) {
	fmt.Fprintf(w, "\n%s\n", title)
	for _, name := range names {
		fmt.Fprintf(w, "    %-14s %s\n", name, meaning(name))
	}
}
