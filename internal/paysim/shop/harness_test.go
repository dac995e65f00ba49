package shop_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
)

// world is a simulator with a receiver beside it that says 200 to everything.
type world struct {
	*simulator.Simulator
	url    string
	client *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	var door *httptest.Server
	w := &world{}
	w.Simulator = simulator.New(simulator.Options{
		Seed: 7, Start: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), IPNURL: receiver.URL + "/ipn",
		BaseURL: func() string { return door.URL },
	})
	door = httptest.NewServer(w.Handler())
	w.url = door.URL
	w.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-over; door.Close(); receiver.Close() })
	return w
}

type answer struct {
	status   int
	location string
	header   http.Header
	body     string
}

func (w *world) do(t *testing.T, r *http.Request) answer {
	t.Helper()
	got, err := w.client.Do(r)
	if err != nil {
		t.Fatalf("ask the shop: %v", err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("read the page: %v", err)
	}
	return answer{got.StatusCode, got.Header.Get("Location"), got.Header, string(body)}
}

func (w *world) get(t *testing.T, path string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.do(t, r)
}

func (w *world) post(t *testing.T, path string, form url.Values, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return w.do(t, r)
}

func (a answer) sees(t *testing.T, words ...string) {
	t.Helper()
	for _, one := range words {
		if !strings.Contains(a.body, one) {
			t.Errorf("the page (%d, to %q) does not say %q", a.status, a.location, one)
		}
	}
}

var (
	boston = url.Values{"currency": {"USD"}, "blanket": {"1"}, "tea": {"2"}, "address": {"10 Main St"}, "city": {"Boston"}, "state": {"MA"}, "zip": {"02110"}, "country": {"US"}}
	payer  = url.Values{"firstName": {"Ada"}, "lastName": {"Muster"}, "email": {"ada@example.com"}, "month": {"12"}, "year": {"2028"}, "securityCode": {"123"}, "number": {"4111 1111 1111 1111"}}
)

// with is a form with other values in it.
func with(form url.Values, pairs ...string) url.Values {
	other := url.Values{}
	for name, values := range form {
		other[name] = values
	}
	for i := 0; i < len(pairs); i += 2 {
		other.Set(pairs[i], pairs[i+1])
	}
	return other
}

// bought posts its way through the checkout and returns the path of the order.
func (w *world) bought(t *testing.T) string {
	t.Helper()
	quoted := w.post(t, "/shop/checkout", boston)
	if quoted.status != http.StatusSeeOther {
		t.Fatalf("the checkout answered %d: %s", quoted.status, quoted.body)
	}
	paid := w.post(t, quoted.location+"/card", payer)
	if paid.status != http.StatusSeeOther {
		t.Fatalf("the payment answered %d: %s", paid.status, paid.body)
	}
	return paid.location
}

// pathsOf are all pages, with something on each.
func pathsOf(t *testing.T, w *world) []string {
	t.Helper()
	order := w.bought(t)
	quoted := w.post(t, "/shop/checkout", with(boston, "city", "Denver", "state", "CO"))
	plan := w.Service.Plans()[0]
	planned := w.post(t, "/shop/checkout", with(boston, "plan", itoa(plan.ID)))
	subscribed := w.post(t, planned.location+"/subscribe", payer)
	w.post(t, order+"/refund", url.Values{"amount": {"14.50"}, "tax": {"0"}, "reason": {"too green"}})
	w.post(t, order+"/dispute", url.Values{"reason": {"Not as described"}})
	if err := w.Sender.Idle(t.Context()); err != nil {
		t.Fatalf("wait for the IPNs: %v", err)
	}
	return []string{
		"/", "/?currency=JPY", "/shop/plans", "/shop/checkout?currency=USD&blanket=1&tea=2", quoted.location, planned.location,
		"/shop/orders", order, "/shop/subscriptions", subscribed.location, "/shop/ipns", "/shop/ipns/" + itoa(w.newest(t)), "/shop/account",
		"/shop/return?STATUS=PENDING&ORDER-ID=1&MTI=own-1",
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// newest is the number of the IPN that was sent last.
func (w *world) newest(t *testing.T) int64 {
	t.Helper()
	all := w.Sender.Deliveries(delivery.Query{Limit: 1})
	if len(all) == 0 {
		t.Fatal("no IPN was sent")
	}
	return all[0].ID
}
