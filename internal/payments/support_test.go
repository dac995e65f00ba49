package payments_test

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	username = "api-user"
	password = "a password: with a colon"
)

func credentials() (string, string, error) { return username, password, nil }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func amount(tb testing.TB, text string) payments.Amount {
	tb.Helper()
	a, err := payments.ParseAmount(text)
	must(tb, err)
	return a
}

// connect makes a client for an address, with pauses too short to notice.
func connect(tb testing.TB, address string, edit ...func(*payments.Config)) *payments.Client {
	tb.Helper()
	config := payments.Config{BaseURL: address, Credentials: credentials, Timeout: 20 * time.Second, Pause: time.Millisecond}
	for _, e := range edit {
		e(&config)
	}
	client, err := payments.New(config)
	must(tb, err)
	tb.Cleanup(client.Close)
	return client
}

// seen is a request as a service saw it.
type seen struct {
	method, path string
	header       http.Header
	body         string
}

// service answers with what it is given, request by request; the last answer is repeated.
type service struct {
	mu      sync.Mutex
	answers []http.HandlerFunc
	seen    []seen
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // of a test's own client
	s.mu.Lock()
	s.seen = append(s.seen, seen{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body)})
	answer := s.answers[min(len(s.seen), len(s.answers))-1]
	s.mu.Unlock()
	answer(w, r)
}

func (s *service) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// serve starts a service and a client for it.
func serve(tb testing.TB, answers ...http.HandlerFunc) (*service, *payments.Client) {
	tb.Helper()
	s := &service{answers: answers}
	server := httptest.NewServer(s)
	tb.Cleanup(server.Close)
	return s, connect(tb, server.URL)
}

// says is an answer of a status and a body.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // to a test's own client
	}
}

// golden compares with a file of testdata, or writes it.
func golden(tb testing.TB, path, got string) {
	tb.Helper()
	if *update {
		must(tb, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(tb, err)
	if got != string(want) {
		tb.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

// tells fails when an error tells what no error may.
func tells(tb testing.TB, err error, secrets ...string) {
	tb.Helper()
	for _, secret := range append(secrets, username, password, "4111111111111111") {
		if err != nil && strings.Contains(err.Error(), secret) {
			tb.Errorf("the error tells %q: %v", secret, err)
		}
	}
}

// The smallest requests that pass all checks.

func quoteRequest(tb testing.TB) payments.TaxQuoteRequest {
	return payments.TaxQuoteRequest{Currency: "USD",
		ShipTo: payments.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"},
		Lines:  []payments.TaxLine{{ItemCode: "yarn-1", Description: "Yarn", TaxCode: "PS081282", Quantity: 1, Amount: amount(tb, "100.00")}}}
}

func card() *payments.CreditCard {
	return &payments.CreditCard{CardNumber: "4111111111111111", SecurityCode: "837", ExpirationMonth: "02", ExpirationYear: "2031"}
}

func cardRequest(tb testing.TB, total string) payments.CardTransactionRequest {
	return payments.CardTransactionRequest{CardTransactionType: payments.AuthCapture, Amount: amount(tb, total), Currency: "USD",
		SoftDescriptor: "Example shop", MerchantTransactionID: "order-1", CreditCard: card(),
		CardHolderInfo: &payments.CardHolder{FirstName: "Ann", LastName: "Example", Zip: "02110", Country: "us"}}
}

func subscriptionRequest(planID int64) payments.SubscriptionRequest {
	return payments.SubscriptionRequest{PlanID: planID,
		PayerInfo:     &payments.PayerInfo{FirstName: "Ann", LastName: "Example", Zip: "02110", Phone: "555-0101", Country: "us"},
		PaymentSource: &payments.PaymentSource{CreditCardInfo: &payments.CreditCardInfo{CreditCard: card()}}}
}

func transferRequest(tb testing.TB, firstName string) payments.BankTransferRequest {
	return payments.BankTransferRequest{Amount: amount(tb, "21.00"), Currency: "EUR", MerchantTransactionID: "order-77",
		ReturnURL: "https://shop.example/return?basket=7", Language: "en",
		PayerInfo: &payments.PayerInfo{FirstName: firstName, LastName: "Lee", Country: "de", Email: "ann@example.com"}}
}

// configuration is one destination with some flags on.
func configuration(url string, on ...string) payments.NotificationConfiguration {
	send := make(map[string]bool)
	for _, flag := range on {
		send[flag] = true
	}
	return payments.NotificationConfiguration{Destinations: []payments.NotificationDestination{{URL: url, Send: send}}}
}
