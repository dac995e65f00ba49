package simulator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
)

const charge = `{"cardTransactionType":"AUTH_CAPTURE","amount":21.00,"currency":"EUR","softDescriptor":"Blue yarn",
	"cardHolderInfo":{"firstName":"Ann","lastName":"Example","zip":"10115","country":"de"},
	"creditCard":{"cardNumber":"4111111111111111","securityCode":"123","expirationMonth":"12","expirationYear":"2035"}}`

// world is a simulator with both doors open, and a merchant that keeps what comes.
type world struct {
	*simulator.Simulator
	service, control *httptest.Server
	merchant         *merchant
}

type merchant struct {
	*httptest.Server
	mu    sync.Mutex
	posts []string
}

func (m *merchant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.posts = append(m.posts, string(body))
}

// bodies is what has come so far.
func (m *merchant) bodies() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.posts...)
}

func start(tb testing.TB, o simulator.Options) *world {
	tb.Helper()
	w := &world{merchant: &merchant{}}
	w.merchant.Server = httptest.NewServer(w.merchant)
	if o.IPNURL == "" {
		o.IPNURL = w.merchant.URL
	}
	o.BaseURL = func() string { return w.service.URL }
	w.Simulator = simulator.New(o)
	w.service, w.control = httptest.NewServer(w.Handler()), httptest.NewServer(w.Control())
	ctx, stop := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	tb.Cleanup(func() {
		stop()
		running.Wait()
		for _, server := range []*httptest.Server{w.service, w.control, w.merchant.Server} {
			server.Close()
		}
	})
	return w
}

// ask makes a request, with the API's credentials, and returns the answer.
func ask(tb testing.TB, method, url, body string) (status int, answer string) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	request.SetBasicAuth("paysim", "paysim-password")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// idle waits until all IPNs have arrived.
func (w *world) idle(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	if err := w.Sender.Idle(ctx); err != nil {
		tb.Fatal(err)
	}
}

func TestEachDoorAnswersWhatIsBehindIt(t *testing.T) {
	w := start(t, simulator.Options{})
	for _, c := range []struct {
		name, method, url string
		status            int
		holds             string
	}{
		{"the shop", http.MethodGet, w.service.URL + "/", 200, "<html"},
		{"the API", http.MethodGet, w.service.URL + "/services/2/notification-config/", 200, "sendCharge"},
		{"a path that the API does not know", http.MethodGet, w.service.URL + "/services/2/dance", 404, "message"},
		{"an order that the bank does not know", http.MethodGet, w.service.URL + "/bank/1", 404, "<html"},
		{"what the control door offers", http.MethodGet, w.control.URL + "/", 200, "/faults"},
		{"no control by the service door", http.MethodGet, w.service.URL + "/faults", 404, ""},
		{"no API by the control door", http.MethodGet, w.control.URL + "/services/2/notification-config/", 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := ask(t, c.method, c.url, "")
			if status != c.status || !strings.Contains(answer, c.holds) {
				t.Errorf("got %d %.300s, want %d with %q", status, answer, c.status, c.holds)
			}
		})
	}
}

func TestAPortalWithAURLSendsEveryTypeThatHasAFlag(t *testing.T) {
	w := start(t, simulator.Options{IPNURL: "http://127.0.0.1:9/ipn"})
	configuration, ok := w.Service.Configuration()
	if !ok || len(configuration.Destinations) != 1 || configuration.Destinations[0].URL != "http://127.0.0.1:9/ipn" {
		t.Fatalf("got %+v, %t", configuration, ok)
	}
	for _, transactionType := range notice.Types() {
		if flag := notice.Flag(transactionType); flag != "" && !configuration.Destinations[0].Send[flag] {
			t.Errorf("%s is not set", flag)
		}
	}
	if got := len(configuration.Destinations[0].Send); got != 28 {
		t.Errorf("got %d flags, want 28", got)
	}
}

func TestWithoutAURLThereIsNoConfiguration(t *testing.T) {
	if configuration, ok := simulator.New(simulator.Options{}).Service.Configuration(); ok {
		t.Errorf("got %+v, want none", configuration)
	}
}

func TestAChargeByTheAPIReachesTheMerchant(t *testing.T) {
	w := start(t, simulator.Options{})
	if status, answer := ask(t, http.MethodPost, w.service.URL+"/services/2/transactions", charge); status/100 != 2 {
		t.Fatalf("got %d %s", status, answer)
	}
	w.idle(t)
	got := w.merchant.bodies()
	if len(got) != 1 || !strings.Contains(got[0], "transactionType=CHARGE&") || !strings.Contains(got[0], "&invoiceChargeAmount=21.00&") {
		t.Fatalf("got %q, want one charge of 21.00", got)
	}
	sent := w.Sender.Deliveries(delivery.Query{})
	if len(sent) != 1 || sent[0].State != delivery.Delivered || string(sent[0].Attempts[0].Body) != got[0] {
		t.Errorf("the history does not tell what came: %+v", sent)
	}
}

func TestOneSeedAndOneStoryGiveTheSameBodies(t *testing.T) {
	start0 := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	tell := func(seed uint64) []string {
		w := start(t, simulator.Options{Seed: seed, Start: start0})
		for range 3 {
			ask(t, http.MethodPost, w.service.URL+"/services/2/transactions", charge)
			w.idle(t)
		}
		return w.merchant.bodies()
	}
	first, again, other := tell(7), tell(7), tell(8)
	if len(first) != 3 || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("one seed told two stories:\n%q\n%q", first, again)
	}
	if fmt.Sprint(first) == fmt.Sprint(other) {
		t.Error("another seed told the same story")
	}
}

func TestAFaultOfTheAPIStrikesTheAPIAndNotTheShop(t *testing.T) {
	w := start(t, simulator.Options{})
	status, answer := ask(t, http.MethodPut, w.control.URL+"/api-faults", `[{"answer":"500"}]`)
	if status/100 != 2 {
		t.Fatalf("setting the fault was answered %d %s", status, answer)
	}
	if got, _ := ask(t, http.MethodGet, w.service.URL+"/services/2/notification-config/", ""); got != http.StatusInternalServerError {
		t.Errorf("the API: got %d, want 500", got)
	}
	if got, _ := ask(t, http.MethodGet, w.service.URL+"/", ""); got != http.StatusOK {
		t.Errorf("the shop: got %d, want 200", got)
	}
}

func TestTheDocumentTellsEveryPathOfTheControlDoorAndEveryFault(t *testing.T) {
	text, err := os.ReadFile("../../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, simulator.Options{})
	_, door := ask(t, http.MethodGet, w.control.URL+"/", "")
	paths := regexp.MustCompile(`(?m)^(?:GET|PUT|POST|DELETE) (/\S+)$`).FindAllStringSubmatch(door, -1)
	if len(paths) < 15 {
		t.Fatalf("got %d paths, want all of them: %s", len(paths), door)
	}
	for _, path := range paths {
		if !strings.Contains(string(text), path[1]) {
			t.Errorf("the document does not tell %s", path[0])
		}
	}
	for _, fault := range delivery.FaultNames() {
		if !strings.Contains(string(text), "\n| `"+fault+"` |") {
			t.Errorf("the document has no row for the fault %s", fault)
		}
	}
}

func TestTheBankIsWhereTheBaseURLSays(t *testing.T) {
	w := start(t, simulator.Options{})
	_, answer := ask(t, http.MethodPost, w.service.URL+"/services/2/alt-transactions/",
		`{"amount":10.00,"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Example","zip":"10115","country":"de"},"sofortTransaction":{"returnUrl":"https://shop.example.com/return"}}`)
	if !strings.Contains(answer, w.service.URL+"/bank/") {
		t.Errorf("got %s, want an address of the bank's page", answer)
	}
}
