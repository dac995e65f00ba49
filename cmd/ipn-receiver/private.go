package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/page"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// privateHandler is what stands behind the private door: API, page, metrics and health. The last two are open to whoever
// reaches the door, as machines ask for them; they tell nothing of any event.
func (s *service) privateHandler(health *server.Health, judge finance.Judge) (http.Handler, error) {
	office := &finance.Office{
		History: s.store, Quarantine: s.store, Judge: judge, Handlers: s.store, Witness: s.store, Books: s.books, Configuration: s.configurer,
		Configured: s.handlerNames(), DisputeDays: s.DisputeDays, Decoder: s.decoder(), People: s.people, Version: server.ReadBuild().Version,
		Cursors: ask.NewCursors(s.store.CursorKey), TaxRecords: s.store, Transfers: s.store, TransferMethods: s.TransferMethods,
	}
	gate := s.gate()
	pages := &page.Page{Office: office, Gate: gate, Log: s.log.Named("page"), Now: s.program.now, Unverified: s.VerificationMode() != "enforce"}
	if err := s.registry.Register(gate); err != nil {
		return nil, fmt.Errorf("register the metrics of signing in: %w", err)
	}
	quiet := []string{"/livez", "/readyz", "/metrics"}
	return s.observed("private", quiet, func(r chi.Router) {
		r.Use(server.PrivateHeaders, http.NewCrossOriginProtection().Handler)
		if gate.Unguarded {
			r.Use(server.LoopbackNames)
		}
		r.Use(gate.Identify)
		r.Method(http.MethodGet, "/livez", health.Live())
		r.Method(http.MethodGet, "/readyz", health.Ready())
		r.Method(http.MethodGet, "/metrics", server.Metrics(s.registry))
		office.Mount(r)
		pages.Mount(r)
		r.NotFound(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/api/") {
				finance.NotFound(w, r)
				return
			}
			pages.NotFound(w, r)
		})
	}), nil
}

// gate finds out who asks at the private door. Where nobody is asked, check has seen to it that this is development, on this
// machine.
func (s *service) gate() *access.Gate {
	return &access.Gate{
		Tokens: s.tokens.current, Sessions: s.store, Unguarded: !s.Guarded(), TrustedProxies: s.TrustedProxies.Senders,
		Proxy: access.Proxy{
			Networks: s.SSOProxies.Senders, UserHeader: s.SSOUserHeader, RoleHeader: s.SSORoleHeader, DefaultRole: access.Role(s.SSODefaultRole),
		},
	}
}
