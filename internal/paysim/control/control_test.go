package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

var beginning = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// world is a door before a payment service that does nothing by itself.
type world struct {
	*httptest.Server
	agenda  *agenda.Agenda
	sender  *delivery.Sender
	service *service
	api     *control.APIFaults
	seen    chan string // the bodies that the receiver got
	ipnURL  string
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{agenda: agenda.New(beginning, 1), seen: make(chan string, 1000)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.seen <- string(body)
	}))
	t.Cleanup(receiver.Close)
	w.ipnURL = receiver.URL
	w.sender = delivery.New(delivery.Config{Agenda: w.agenda})
	w.service = &service{send: w.sender.Send, portal: map[string]bool{}}
	w.api = control.NewAPIFaults(w.agenda)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.sender.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	w.Server = httptest.NewServer(control.New(control.Config{Service: w.service, Sender: w.sender, Agenda: w.agenda, API: w.api}))
	t.Cleanup(w.Close)
	return w
}

// service is a payment service that remembers its configuration.
type service struct {
	mu            sync.Mutex
	send          func(string, notice.Notice)
	configuration *paysim.Configuration
	portal        map[string]bool
}

func (s *service) Configuration() (paysim.Configuration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration == nil {
		return paysim.Configuration{}, false
	}
	return *s.configuration, true
}

func (s *service) ReplaceConfiguration(c paysim.Configuration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configuration = &c
}

func (s *service) DeleteConfigurations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configuration = nil
}

func (s *service) SwitchPortalType(transactionType string, on bool) error {
	if notice.Flag(transactionType) != "" {
		return &paysim.Refusal{Status: http.StatusConflict, Name: "HAS_A_FLAG"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.portal[transactionType] = on
	return nil
}

func (s *service) Emit(transactionType string, fields ...notice.Field) (notice.Notice, error) {
	c, exists := s.Configuration()
	if !exists {
		return notice.Notice{}, &paysim.Refusal{Status: http.StatusConflict, Name: "NO_DESTINATION"}
	}
	n := notice.Sample(transactionType, 1, beginning, "serviceNode").With(fields...)
	s.send(c.Destinations[0].URL, n)
	return n, nil
}

// ask sends a request to the door and reads its JSON into an answer.
func (w *world) ask(t *testing.T, method, path, body string, into any) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s %s: %d %s: %s", method, path, answer.StatusCode, answer.Header.Get("Content-Type"), text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return answer.StatusCode
}

// must is ask for what has to succeed.
func (w *world) must(t *testing.T, method, path, body string, into any) {
	t.Helper()
	var answer json.RawMessage
	if status := w.ask(t, method, path, body, &answer); status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(err)
	}
}

func TestTheDoorDescribesItself(t *testing.T) {
	w := start(t)
	answer, err := w.Client().Get(w.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(delivery.FaultNames(), "curl -s "+w.URL+"/history/1", "POST /burst", "garbage") {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in it", want)
		}
	}
}

// Each example of the description works as it is typed, in the order in which they stand.
func TestTheExamplesWork(t *testing.T) {
	w := start(t)
	w.service.ReplaceConfiguration(paysim.Configuration{Destinations: []paysim.Destination{{URL: w.ipnURL}}})
	w.sender.Send(w.ipnURL, notice.Sample("CHARGE", 1, beginning, "serviceNode"))
	answer, err := w.Client().Get(w.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^ +curl -s(?: -X ([A-Z]+))? '?`+regexp.QuoteMeta(w.URL)+`([^' \n]*)'?(?: -d '(.*)')?$`).FindAllStringSubmatch(string(text), -1)
	if len(examples) != 19 {
		t.Fatalf("got %d examples, want 19", len(examples))
	}
	for _, e := range examples {
		method := e[1]
		if method == "" {
			method = map[bool]string{true: http.MethodPost, false: http.MethodGet}[e[3] != ""]
		}
		t.Run(method+" "+e[2], func(t *testing.T) { w.must(t, method, e[2], e[3], nil) })
	}
}

func TestFaultsAreSetAndCleared(t *testing.T) {
	w := start(t)
	var faults []delivery.Fault
	w.must(t, http.MethodPut, "/faults", `[{"name":"delay","types":["REFUND"],"delay":"2h","times":1}]`, &faults)
	if len(faults) != 1 || faults[0].Delay != 2*time.Hour {
		t.Errorf("got %+v", faults)
	}
	if got := w.sender.Faults(); len(got) != 1 || got[0].Name != "delay" {
		t.Errorf("the sender has %+v", got)
	}
	w.must(t, http.MethodDelete, "/faults", "", &faults)
	w.must(t, http.MethodGet, "/faults", "", &faults)
	if len(faults) != 0 || len(w.sender.Faults()) != 0 {
		t.Errorf("got %+v", faults)
	}
}

func TestWhatMakesNoSenseIsRefusedWithTheReason(t *testing.T) {
	w := start(t)
	for name, row := range map[string]struct {
		method, path, body string
		status             int
		reason             string
	}{
		"a fault that is none":        {"PUT", "/faults", `[{"name":"gremlins"}]`, 400, "gremlins"},
		"a fault misspelt":            {"PUT", "/faults", `[{"nome":"delay"}]`, 400, "nome"},
		"a fault of the API":          {"PUT", "/api-faults", `[{"answer":"gremlins"}]`, 400, "gremlins"},
		"a status that is none":       {"PUT", "/api-faults", `[{"answer":"99"}]`, 400, "99"},
		"a code of no error":          {"PUT", "/api-faults", `[{"answer":"302","code":"14016"}]`, 400, "from 400 on"},
		"a name of no answer":         {"PUT", "/api-faults", `[{"answer":"garbage","name":"TRANSACTION_LOCKED"}]`, 400, "from 400 on"},
		"a status without a number":   {"PUT", "/api-faults", `[{"answer":"status","status":503}]`, 400, "a status from 200"},
		"no JSON":                     {"PUT", "/faults", `faults`, 400, "read the request"},
		"two values":                  {"PUT", "/faults", `[] []`, 400, "more than one"},
		"too much":                    {"PUT", "/faults", `[` + strings.Repeat(" ", 2<<20) + `]`, 413, "too large"},
		"a clock that goes back":      {"POST", "/clock", `{"advance":"-1h"}`, 400, "advance"},
		"a clock that runs back":      {"POST", "/clock", `{"speed":-1}`, 400, "speed"},
		"a clock beyond all measure":  {"POST", "/clock", `{"speed":1e300}`, 400, "speed"},
		"a century":                   {"POST", "/clock", `{"advance":"876000h"}`, 400, "advance"},
		"a question that is none":     {"GET", "/history?typ=CHARGE", "", 400, "typ"},
		"a limit that is none":        {"GET", "/history?limit=all", "", 400, "limit"},
		"a state that is none":        {"GET", "/history?state=nope", "", 400, "state"},
		"an IPN that never was":       {"GET", "/history/77", "", 404, "no such"},
		"an IPN without a number":     {"GET", "/history/x", "", 404, "no such"},
		"an empty burst":              {"POST", "/burst", `{"count":0}`, 400, "count"},
		"a burst to nowhere":          {"POST", "/burst", `{"count":1}`, 409, "destination"},
		"what the service refuses":    {"POST", "/notices/CHARGE", "", 409, "NO_DESTINATION"},
		"a field that is no text":     {"POST", "/notices/CHARGE", `{"amount":[]}`, 400, "read the request"},
		"no configuration":            {"GET", "/portal/configuration", "", 404, "no notification configuration"},
		"a flag that is none":         {"PUT", "/portal/configuration", `{"ipnDestinations":[{"ipnUrl":"http://192.0.2.1/","sendCake":true}]}`, 400, "sendCake"},
		"a flag of words":             {"PUT", "/portal/configuration", `{"ipnDestinations":[{"ipnUrl":"http://192.0.2.1/","sendCharge":"yes"}]}`, 400, "sendCharge"},
		"a destination without a URL": {"PUT", "/portal/configuration", `{"ipnDestinations":[{"sendCharge":true}]}`, 400, "ipnUrl"},
		"a type that has a flag":      {"POST", "/portal/types", `{"CHARGE":true}`, 409, "HAS_A_FLAG"},
		"no patience at all":          {"POST", "/idle?timeout=0s", "", 400, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			var answer struct{ Error string }
			if status := w.ask(t, row.method, row.path, row.body, &answer); status != row.status || !strings.Contains(answer.Error, row.reason) {
				t.Errorf("got %d %q, want %d and %q", status, answer.Error, row.status, row.reason)
			}
		})
	}
}

func TestTheHistoryTellsWhatWasSentAndAnswered(t *testing.T) {
	w := start(t)
	w.must(t, http.MethodPut, "/portal/configuration", `{"ipnDestinations":[{"ipnUrl":"`+w.ipnURL+`","sendCharge":true}]}`, nil)
	var sent notice.Notice
	w.must(t, http.MethodPost, "/notices/CHARGE", `{"referenceNumber":"70010001","invoiceChargeAmount":"21.00","Color":"blue"}`, &sent)
	w.must(t, http.MethodPost, "/idle", "", nil)
	body := <-w.seen
	if !strings.Contains(body, "referenceNumber=70010001") || !strings.Contains(body, "Color=blue") || sent.Get("invoiceChargeAmount") != "21.00" {
		t.Errorf("got %s", body)
	}
	var history []delivery.Delivery
	w.must(t, http.MethodGet, "/history?type=CHARGE&state=delivered&reference=70010001&limit=5", "", &history)
	if len(history) != 1 || string(history[0].Attempts[0].Body) != body || history[0].Attempts[0].Status != 200 {
		t.Errorf("got %+v", history)
	}
	w.must(t, http.MethodGet, "/history?state=waiting", "", &history)
	if len(history) != 0 {
		t.Errorf("waiting: got %+v", history)
	}
	w.must(t, http.MethodGet, "/history?after=1", "", &history)
	if len(history) != 0 {
		t.Errorf("after the last: got %+v", history)
	}
	var one delivery.Delivery
	w.must(t, http.MethodGet, "/history/1", "", &one)
	if one.Notice.Get("referenceNumber") != "70010001" {
		t.Errorf("got %+v", one)
	}
	var totals []delivery.Total
	w.must(t, http.MethodGet, "/totals", "", &totals)
	if len(totals) != 1 || totals[0].Acknowledged.Amount.String() != "21.00" {
		t.Errorf("got %+v", totals)
	}
	w.must(t, http.MethodPost, "/notices/CHARGE", "", nil)
	w.must(t, http.MethodPost, "/idle", "", nil)
	w.must(t, http.MethodGet, "/history?after=0&limit=1", "", &history)
	if len(history) != 1 || history[0].ID != 1 {
		t.Errorf("from the beginning: got %+v", history)
	}
}

func TestABurstGoesToTheFirstDestination(t *testing.T) {
	w := start(t)
	w.service.ReplaceConfiguration(paysim.Configuration{Destinations: []paysim.Destination{{URL: w.ipnURL}}})
	w.must(t, http.MethodPost, "/burst", `{"type":"REFUND","count":20,"perSecond":0}`, nil)
	w.must(t, http.MethodPost, "/idle?timeout=20s", "", nil)
	if len(w.seen) != 20 || !strings.Contains(<-w.seen, "transactionType=REFUND") {
		t.Errorf("%d arrived", len(w.seen))
	}
}

func TestTheClockIsMovedInStepsThatLetIPNsArrive(t *testing.T) {
	w := start(t)
	var order []string
	for day := range 3 {
		w.agenda.After(time.Duration(day*24+1)*time.Hour, func() { // in another order than they were entered
			for len(w.seen) > 0 {
				<-w.seen
				order = append(order, "arrived")
			}
			order = append(order, fmt.Sprint("day ", day))
			w.sender.Send(w.ipnURL, notice.Sample("RECURRING", uint64(day), w.agenda.Now(), "serviceNode"))
		})
	}
	var clock struct {
		Now     time.Time
		Speed   float64
		Pending int
	}
	w.must(t, http.MethodPost, "/clock", `{"advance":"72h","speed":60}`, &clock)
	if want := "[day 0 arrived day 1 arrived day 2]"; fmt.Sprint(order) != want || len(w.seen) != 1 {
		t.Errorf("got %v, want %s", order, want)
	}
	if clock.Now.Before(beginning.Add(72*time.Hour)) || clock.Speed != 60 || clock.Pending != 0 {
		t.Errorf("got %+v", clock)
	}
}

func TestWhoWaitsForNothingToBeOnItsWayIsToldWhenItTakesTooLong(t *testing.T) {
	w := start(t)
	goOn := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-goOn }))
	defer slow.Close()
	w.sender.Send(slow.URL, notice.Sample("CHARGE", 1, beginning, "serviceNode"))
	if status := w.ask(t, http.MethodPost, "/idle?timeout=1ms", "", nil); status != http.StatusGatewayTimeout {
		t.Errorf("got %d", status)
	}
	close(goOn)
	w.must(t, http.MethodPost, "/idle", "", nil)
}

func TestThePortalChangesTheConfiguration(t *testing.T) {
	w := start(t)
	var answer struct {
		Destinations []map[string]any `json:"ipnDestinations"`
		Ensure       bool             `json:"ensureNotificationReceipt"`
	}
	w.must(t, http.MethodPut, "/portal/configuration", `{"ipnDestinations":[{"ipnUrl":"https://hooks.example.com/ipn","sendCharge":true,"sendRefund":false}],"ensureNotificationReceipt":true}`, &answer)
	kept, _ := w.service.Configuration()
	if !kept.EnsureReceipt || kept.ReceiveAffiliate || len(kept.Destinations) != 1 || !kept.Destinations[0].Send["sendCharge"] || kept.Destinations[0].Send["sendRefund"] {
		t.Errorf("the service has %+v", kept)
	}
	first := answer.Destinations[0]
	if first["ipnUrl"] != "https://hooks.example.com/ipn" || first["sendCharge"] != true || first["sendPayout"] != false {
		t.Errorf("got %v", first)
	}
	flags := slices.DeleteFunc(slices.Collect(maps.Keys(first)), func(name string) bool { return name == "ipnUrl" })
	slices.Sort(flags)
	if want := slices.Sorted(slices.Values(ipn.Flags())); !slices.Equal(flags, want) {
		t.Errorf("got the flags %q\nwant %q", flags, want)
	}
	w.must(t, http.MethodDelete, "/portal/configuration", "", nil)
	if _, exists := w.service.Configuration(); exists {
		t.Error("it is still there")
	}
}

func TestThePortalSwitchesTypesWithoutAFlag(t *testing.T) {
	w := start(t)
	w.must(t, http.MethodPost, "/portal/types", `{"UNDER_REVIEW":true,"RDR":false}`, nil)
	if on, known := w.service.portal["RDR"]; !w.service.portal["UNDER_REVIEW"] || on || !known {
		t.Errorf("got %v", w.service.portal)
	}
}

func TestAPageOfAnotherSiteCannotAct(t *testing.T) {
	w := start(t)
	request := httptest.NewRequest(http.MethodDelete, "http://127.0.0.1:8091/faults", nil)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	answer := httptest.NewRecorder()
	w.Config.Handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusForbidden {
		t.Errorf("got %d", answer.Code)
	}
}

func TestWithoutAnAPIItsPathsAreNotThere(t *testing.T) {
	w := start(t)
	w.Config.Handler = control.New(control.Config{Service: w.service, Sender: w.sender, Agenda: w.agenda})
	answer, err := w.Client().Get(w.URL + "/api-faults")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("got %d", answer.StatusCode)
	}
}
