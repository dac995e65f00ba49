package delivery_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

var beginning = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// world is a sender, and a receiver that takes down what comes.
type world struct {
	*delivery.Sender
	agenda   *agenda.Agenda
	receiver *receiver
}

// start starts a world. Its clock moves by the hand of the test, besides what the test itself takes.
func start(t *testing.T, c delivery.Config) *world {
	t.Helper()
	w := &world{agenda: agenda.New(beginning, 1), receiver: listen(t)}
	c.Agenda = w.agenda
	w.Sender = delivery.New(c)
	run(t, w.Sender)
	return w
}

// run runs a sender until the test ends.
func run(t *testing.T, s *delivery.Sender) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (w *world) send(n notice.Notice) { w.Send(w.receiver.URL, n) }

func (w *world) settle(t *testing.T) {
	t.Helper()
	idle(t, w.Sender)
}

func idle(t *testing.T, s *delivery.Sender) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Idle(ctx); err != nil {
		t.Fatalf("the sender is not idle: %v", err)
	}
}

// passes lets time pass, and what becomes due be posted.
func (w *world) passes(t *testing.T, d time.Duration) {
	t.Helper()
	w.agenda.Advance(d)
	w.settle(t)
}

func (w *world) setFaults(t *testing.T, faults ...delivery.Fault) {
	t.Helper()
	if err := w.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
}

// deliveries returns all deliveries, oldest first.
func (w *world) deliveries() []delivery.Delivery {
	return w.Deliveries(delivery.Query{Oldest: true, Limit: 100_000})
}

// request is what the receiver took down.
type request struct {
	method, path string
	header       http.Header
	body         []byte
	declared     int64
	whole        bool
}

// receiver answers as it is told, in turn, and 200 when it is told no more.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []request
	answers []int
}

func listen(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	r.seen = append(r.seen, request{q.Method, q.URL.Path, q.Header, body, q.ContentLength, err == nil})
	status := http.StatusOK
	if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	if status/100 == 3 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
}

func (r *receiver) answer(statuses ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = statuses
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

func (r *receiver) bodies() []string {
	var bodies []string
	for _, q := range r.requests() {
		bodies = append(bodies, string(q.body))
	}
	return bodies
}

// until waits for something that is about to happen elsewhere.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-deadline:
			t.Fatalf("%s has not happened", what)
		case <-tick.C:
		}
	}
}

// charge is a small notice of a charge.
func charge(reference, amount string) notice.Notice {
	return small("CHARGE", notice.Field{Name: "referenceNumber", Value: reference},
		notice.Field{Name: "invoiceChargeAmount", Value: amount}, notice.Field{Name: "invoiceChargeCurrency", Value: "EUR"})
}

func small(transactionType string, fields ...notice.Field) notice.Notice {
	all := append([]notice.Field{{Name: "transactionType", Value: transactionType}, {Name: "firstName", Value: "José"}}, fields...)
	return notice.Notice{Type: transactionType, Fields: append(all, notice.Field{Name: "ipnId", Value: "5f0a3c1e-0000-4000-8000-000000000001"})}
}
