package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
)

// What the simulator and the receiver are told of each other in tests.
const (
	simulatorPassword = "canary-paysim-password"
	simulatorKey      = "canary-signing-key-0001"
)

// simulated is the payment service as the receiver meets it: behind a socket.
type simulated struct {
	*simulator.Simulator
	tb     testing.TB
	api    *httptest.Server
	client *payments.Client
}

// simulate starts a payment service that signs what it sends. destination is where its portal sends IPNs at first, "" for
// nowhere.
func simulate(tb testing.TB, destination string) *simulated {
	tb.Helper()
	s := &simulated{tb: tb}
	s.Simulator = simulator.New(simulator.Options{
		Seed: 7, IPNURL: destination, Password: simulatorPassword, Key: func() []byte { return []byte(simulatorKey) },
		BaseURL: func() string { return s.api.URL },
	})
	s.api = httptest.NewServer(s.Handler())
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	tb.Cleanup(func() { stop(); running.Wait(); s.api.CloseClientConnections(); s.api.Close() })
	var err error
	if s.client, err = payments.New(payments.Config{BaseURL: s.api.URL, Credentials: func() (string, string, error) { return "paysim", simulatorPassword, nil }}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.client.Close)
	return s
}

// env is what a receiver needs to work with this payment service and enforce its signatures.
func (s *simulated) env(dsn string) []string {
	return []string{
		"IPN_DATABASE_URL=" + dsn, "IPN_SIGNING_SECRETS_FILE=" + mustWrite(s.tb, simulatorKey),
		"IPN_PAYMENTS_URL=" + s.api.URL, "IPN_PAYMENTS_CREDENTIALS_FILE=" + mustWrite(s.tb, "paysim:"+simulatorPassword),
	}
}

// variables is env for a run of the program in this process.
func (s *simulated) variables(dsn string) map[string]string {
	set := map[string]string{"IPN_PUBLIC_URL": "https://hooks.example/ipn", "USER": "maria"}
	for _, entry := range s.env(dsn) {
		name, value, _ := strings.Cut(entry, "=")
		set[name] = value
	}
	return set
}

// idle waits until nothing is on its way.
func (s *simulated) idle() {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), 30*time.Second)
	defer cancel()
	if err := s.Sender.Idle(ctx); err != nil {
		s.tb.Fatalf("the payment service does not come to rest: %v", err)
	}
}

// portal puts another configuration into the portal, behind everybody's back.
func (s *simulated) portal(url string, flags ...string) {
	c := payments.NotificationConfiguration{Destinations: []payments.NotificationDestination{{URL: url, Send: map[string]bool{}}}}
	for _, flag := range flags {
		c.Destinations[0].Send[flag] = true
	}
	if err := s.client.ReplaceNotificationConfiguration(s.tb.Context(), c); err != nil {
		s.tb.Fatal(err)
	}
}

// flags tells how many are on at the first destination, and its URL.
func (s *simulated) flags() (url string, on int) {
	c, ok := s.Service.Configuration()
	if !ok || len(c.Destinations) == 0 {
		return "", 0
	}
	for _, is := range c.Destinations[0].Send {
		if is {
			on++
		}
	}
	return c.Destinations[0].URL, on
}

// answer reads what the receiver's API says under a path.
func (r *running) answer(path string, into any) {
	r.tb.Helper()
	if err := json.Unmarshal([]byte(r.get(path)), into); err != nil {
		r.tb.Fatalf("GET %s: %v", path, err)
	}
}
