package payments_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
)

// world is a payment service to which nothing has happened, and a client of it. Its IPNs are not posted to anybody: they are
// looked at in the history.
type world struct {
	*simulator.Simulator
	client *payments.Client
	door   *httptest.Server

	mu   sync.Mutex
	said []exchange
}

// exchange is a request as it was on the wire, and its answer.
type exchange struct {
	method, path string
	header       http.Header
	request      []byte
	status       int
	answer       []byte
}

const (
	simulatorUser     = "paysim"
	simulatorPassword = "paysim-password"
)

// dawn is when the worlds begin.
var dawn = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{}
	w.Simulator = simulator.New(simulator.Options{Seed: 7, Start: dawn, BaseURL: func() string { return w.door.URL }, IPNURL: ours,
		Username: simulatorUser, Password: simulatorPassword})
	w.door = httptest.NewServer(http.HandlerFunc(w.listen))
	tb.Cleanup(w.door.Close)
	w.client = connect(tb, w.door.URL, func(c *payments.Config) {
		c.Credentials = func() (string, string, error) { return simulatorUser, simulatorPassword, nil }
		c.Now = w.Agenda.Now
	})
	return w
}

// listen serves the simulator and writes down what is said.
func (w *world) listen(to http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // whoever asked has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, r)
	w.mu.Lock()
	w.said = append(w.said, exchange{r.Method, r.URL.RequestURI(), r.Header.Clone(), body, answer.Code, answer.Body.Bytes()})
	w.mu.Unlock()
	for name, values := range answer.Header() {
		to.Header()[name] = values
	}
	to.WriteHeader(answer.Code)
	_, _ = to.Write(answer.Body.Bytes()) // to a test's own client
}

// exchanges are all so far; last is the latest.
func (w *world) exchanges() []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

func (w *world) last() exchange {
	all := w.exchanges()
	return all[len(all)-1]
}

// ask sends what the client would not: any request, with the credentials unless header says otherwise.
func (w *world) ask(t *testing.T, method, path, body string, header ...string) exchange {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.door.URL+path, strings.NewReader(body))
	must(t, err)
	request.SetBasicAuth(simulatorUser, simulatorPassword)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	must(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	must(t, err)
	must(t, response.Body.Close())
	return w.last()
}

// sent are the IPNs that went out, oldest first.
func (w *world) sent() []notice.Notice {
	var notices []notice.Notice
	for _, d := range w.Sender.Deliveries(delivery.Query{Oldest: true, Limit: 1000}) {
		notices = append(notices, d.Notice)
	}
	return notices
}

// types are the types of the IPNs that went out.
func (w *world) types() string {
	var types []string
	for _, n := range w.sent() {
		types = append(types, n.Type)
	}
	return strings.Join(types, " ")
}

// dig finds a member of JSON by its path, such as lines.0.tax. Numbers keep their digits.
func dig(t *testing.T, text []byte, path string) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var at any
	if err := decoder.Decode(&at); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, step := range strings.Split(path, ".") {
		switch in := at.(type) {
		case map[string]any:
			at = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			at = in[i]
		default:
			return nil
		}
	}
	return at
}

// kind is the JSON type of a value, with whole numbers told apart.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "decimal"
		}
		return "integer"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "list"
	}
	return "object"
}

// wants fails unless the member of a text has a kind and a value; "" is any value.
func wants(t *testing.T, text []byte, path, ofKind, value string) {
	t.Helper()
	v := dig(t, text, path)
	if kind(v) != ofKind || value != "" && fmt.Sprint(v) != value {
		t.Errorf("%s is %s %v; want %s %s\n%s", path, kind(v), v, ofKind, value, text)
	}
}

// same fails unless two things print alike.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// The acts from which the checks are built. Each ends the test when it fails.

const (
	approvedCard  = "4111111111111111"
	declinedCard  = "4000000000000002"
	bankCard      = "4012888888881881" // stands for a bank account: what is done waits three days
	monthly       = 3000001            // USD 25.00
	yearly        = 3000002            // USD 250.00
	euroMonthly   = 3000003
	shoppersState = "MA" // where 6.25 percent are due
)

// quote asks for the tax of one item.
func (w *world) quote(t *testing.T, net string) payments.TaxQuote {
	t.Helper()
	request := quoteRequest(t)
	request.Lines[0].Amount = amount(t, net)
	quote, err := w.client.CreateTaxQuote(t.Context(), request)
	must(t, err)
	return quote
}

// purchase is a request for what a quote says.
func purchase(t *testing.T, quote payments.TaxQuote) payments.CardTransactionRequest {
	t.Helper()
	request := cardRequest(t, quote.Total().String())
	request.TaxReference = quote.Reference()
	return request
}

// charge buys something of 100.00 with its tax of 6.25.
func (w *world) charge(t *testing.T) payments.CardTransaction {
	t.Helper()
	transaction, err := w.client.CreateCardTransaction(t.Context(), purchase(t, w.quote(t, "100.00")))
	must(t, err)
	return transaction
}

// authorize reserves the same.
func (w *world) authorize(t *testing.T) payments.CardTransaction {
	t.Helper()
	request := purchase(t, w.quote(t, "100.00"))
	request.CardTransactionType = payments.AuthOnly
	transaction, err := w.client.CreateCardTransaction(t.Context(), request)
	must(t, err)
	return transaction
}

// subscribe begins the monthly subscription, with a quote for both charges if one is given.
func (w *world) subscribe(t *testing.T, edit ...func(*payments.SubscriptionRequest)) payments.Subscription {
	t.Helper()
	request := subscriptionRequest(monthly)
	for _, e := range edit {
		e(&request)
	}
	subscription, err := w.client.CreateSubscription(t.Context(), request)
	must(t, err)
	return subscription
}

// transfer begins a bank transfer.
func (w *world) transfer(t *testing.T, firstName string) payments.BankTransfer {
	t.Helper()
	transfer, err := w.client.CreateBankTransfer(t.Context(), transferRequest(t, firstName))
	must(t, err)
	return transfer
}

// visit is the shopper at the bank; it returns what his browser brings back.
func (w *world) visit(t *testing.T, transfer payments.BankTransfer) payments.BankTransferReturn {
	t.Helper()
	back, err := w.Service.FinishTransfer(transfer.OrderID, true)
	must(t, err)
	return returned(t, back)
}

// tells reports whether the return query has a parameter, be it empty. The shopper who comes again is sent back alike.
func (w *world) tells(t *testing.T, back payments.BankTransferReturn, parameter string) bool {
	t.Helper()
	address, err := w.Service.FinishTransfer(back.OrderID, true)
	must(t, err)
	u, err := url.Parse(address)
	must(t, err)
	return u.Query().Has(parameter)
}

// status is where a transfer stands, asked by its order.
func (w *world) status(t *testing.T, transfer payments.BankTransfer) string {
	t.Helper()
	now, err := w.client.ResolveBankTransfer(t.Context(), transfer.OrderID)
	must(t, err)
	return now.ProcessingInfo.ProcessingStatus
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
