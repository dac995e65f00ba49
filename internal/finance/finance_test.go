package finance_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

const patience = 30 * time.Second

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// judge believes the posts that say so, as the receiver believes those whose signature is good.
type judge struct{}

func (judge) Reverify(q *ipn.Quarantined) (*ipn.Receipt, ipn.Reason) {
	if !strings.Contains(string(q.Raw), "believe=me") {
		return nil, ipn.ReasonSignatureMismatch
	}
	return receipt(string(q.Raw), ipn.VouchedPromoted), ""
}

func receipt(body string, vouched ipn.Vouched) *ipn.Receipt {
	event := new(ipn.Decoder).Decode([]byte(body), "")
	return &ipn.Receipt{Event: event, Identity: ipn.Scope{}.Identify(event), Digest: ipn.DigestOf([]byte(body)), Content: event.ContentDigest(),
		Vouched: vouched, Raw: []byte(body), Origin: ipn.Origin{ReceivedAt: noon}}
}

// An office is the API over a record of its own, asked by a person.
type office struct {
	tb       testing.TB
	store    *store.Store
	recorder *store.Recorder
	handler  http.Handler
	person   access.Person // the zero person is nobody
}

// tester may everything.
var tester = access.Person{Name: "tester", Role: access.Admin, Via: access.ViaToken}

// newOffice opens an office that the tester asks; furnish may change it before it answers.
func newOffice(tb testing.TB, dsn string, furnish ...func(*finance.Office)) *office {
	tb.Helper()
	s, err := store.Open(tb.Context(), store.Config{DSN: dsn, AllowVolatile: true})
	if err != nil {
		tb.Fatal(err)
	}
	r, err := store.NewRecorder(s, 0, nil)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { r.Run(ctx); close(ended) }()
	tb.Cleanup(func() { cancel(); <-ended; s.Close() })
	router := chi.NewRouter()
	back := &finance.Office{History: s, Quarantine: s, Handlers: s, Witness: s, Judge: judge{}, Decoder: &ipn.Decoder{}, Version: "1.2.3",
		Cursors: ask.NewCursors(s.CursorKey)}
	for _, f := range furnish {
		f(back)
	}
	back.Mount(router)
	router.NotFound(finance.NotFound)
	return &office{tb, s, r, router, tester}
}

// as is the same office, asked by somebody of another role; by nobody for "".
func (o office) as(role access.Role) *office {
	o.person.Role = role
	return &o
}

// serve answers a request of the person.
func (o *office) serve(request *http.Request) *httptest.ResponseRecorder {
	if o.person.Role != "" {
		request = request.WithContext(access.With(request.Context(), o.person))
	}
	answer := httptest.NewRecorder()
	o.handler.ServeHTTP(answer, request)
	return answer
}

func (o *office) record(body string) ipn.Recorded {
	o.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	recorded, err := o.recorder.Record(ctx, receipt(body, ipn.VouchedSignature))
	if err != nil {
		o.tb.Fatal(err)
	}
	return recorded
}

func (o *office) do(method, target string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return o.serve(request)
}

// post sends a body of JSON.
func (o *office) post(target, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	return o.serve(request)
}

// get asks for JSON and fails unless it is 200.
func (o *office) get(target string) map[string]any {
	o.tb.Helper()
	answer := o.do(http.MethodGet, target)
	if answer.Code != http.StatusOK {
		o.tb.Fatalf("GET %s: %d %s", target, answer.Code, answer.Body)
	}
	return object(o.tb, answer.Body)
}

func object(tb testing.TB, r io.Reader) map[string]any {
	tb.Helper()
	var found map[string]any
	if err := json.NewDecoder(r).Decode(&found); err != nil {
		tb.Fatal(err)
	}
	return found
}

// wantProblem checks an error answer and returns its text.
func wantProblem(tb testing.TB, answer *httptest.ResponseRecorder, status int) string {
	tb.Helper()
	if answer.Code != status || answer.Header().Get("Content-Type") != "application/problem+json" {
		tb.Fatalf("got %d %s %s, want %d as a problem", answer.Code, answer.Header().Get("Content-Type"), answer.Body, status)
	}
	text := answer.Body.String()
	if got := object(tb, strings.NewReader(text))["status"]; got != float64(status) {
		tb.Errorf("the problem says %v, want %d", got, status)
	}
	return text
}

func TestAnAwayDatabaseIs503WithoutInternals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOffice(t, "host="+dir+" user=nobody dbname=nothing")
	for _, tc := range []struct{ path, body string }{
		{"/api/v1/events", ""}, {"/api/v1/events/1", ""}, {"/api/v1/events/1/raw", ""},
		{"/api/v1/quarantine", ""}, {"/api/v1/quarantine/1/promote", because},
		{"/api/v1/handlers", ""}, {"/api/v1/parked", ""}, {"/api/v1/audit", ""},
		{"/api/v1/handlers/ledger/pause", `{"reason":"closing"}`}, {"/api/v1/handlers/ledger/resume", `{"reason":"closing"}`},
		{"/api/v1/handlers/ledger/replay", `{"reason":"closing","all":true,"dryRun":true}`}, {"/api/v1/parked/redrive", `{"reason":"closing"}`},
	} {
		ask := func() *httptest.ResponseRecorder { return o.do(http.MethodGet, tc.path) }
		if tc.body != "" {
			ask = func() *httptest.ResponseRecorder { return o.post(tc.path, tc.body) }
		}
		text := wantProblem(t, ask(), http.StatusServiceUnavailable)
		for _, internal := range []string{dir, "dial", "connect", "SQLSTATE", "pgx", "nobody"} {
			if strings.Contains(text, internal) {
				t.Errorf("%s tells %s: %s", tc.path, internal, text)
			}
		}
	}
}

// query writes a query string from pairs.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return "?" + values.Encode()
}
