package page_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/page"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

const atMost = 30 * time.Second // for one thing of the record

// today is the clock of the office: what is recorded is an hour old.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A branch is the private door as the program opens it, with pages and API, over a record of its own.
type branch struct {
	tb       testing.TB
	dsn      string
	store    *store.Store
	recorder *store.Recorder
	router   chi.Router
	url      string
	tokens   map[access.Role]string // one of each role, held by somebody of the role's name
	client   *http.Client
}

// newBranch opens a branch; furnish may change the office before it answers.
func newBranch(tb testing.TB, furnish ...func(*finance.Office)) *branch {
	tb.Helper()
	b := &branch{tb: tb, dsn: pgtest.New(tb), tokens: map[access.Role]string{}}
	b.client = &http.Client{Timeout: atMost, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var err error
	if b.store, err = store.Open(tb.Context(), store.Config{DSN: b.dsn, AllowVolatile: true}); err != nil {
		tb.Fatal(err)
	}
	if b.recorder, err = store.NewRecorder(b.store, 0, nil); err != nil {
		tb.Fatal(err)
	}
	books, err := ledger.OpenReader(tb.Context(), b.dsn, 4)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { b.recorder.Run(ctx); close(ended) }()
	b.router = b.door(books, furnish)
	door := httptest.NewServer(b.router)
	b.url = door.URL
	tb.Cleanup(func() {
		b.client.CloseIdleConnections()
		door.Close()
		cancel()
		<-ended
		books.Close()
		b.store.Close()
	})
	return b
}

// door mounts the pages and the API as the program does.
func (b *branch) door(books finance.Books, furnish []func(*finance.Office)) chi.Router {
	var tokens access.Tokens
	for _, role := range access.Roles() {
		text, token := access.NewToken("the-"+string(role), role, time.Time{})
		var err error
		if tokens, err = tokens.With(token); err != nil {
			b.tb.Fatal(err)
		}
		b.tokens[role] = text
	}
	senders, err := ipn.ParseSenders([]string{"127.0.0.1/32", "::1/128"})
	if err != nil {
		b.tb.Fatal(err)
	}
	gate := &access.Gate{
		Tokens: func() access.Tokens { return tokens }, Sessions: b.store,
		Proxy: access.Proxy{Networks: senders, UserHeader: "X-User", DefaultRole: access.Admin},
	}
	office := &finance.Office{
		History: b.store, Quarantine: b.store, Judge: judge{}, Handlers: b.store, Witness: b.store, Books: books, Configuration: known{b.store, hostile[2], hostile[0], hostile[0]},
		TaxRecords: b.store, Transfers: b.store, TransferMethods: []string{"WIRE"}, Cursors: ask.NewCursors(b.store.CursorKey),
		Decoder: &ipn.Decoder{}, DisputeDays: 10, Version: "test", Configured: []string{"ledger", hostileHandler}, Now: func() time.Time { return today },
	}
	for _, f := range furnish {
		f(office)
	}
	pages := &page.Page{Office: office, Gate: gate, Now: func() time.Time { return today }}
	router := chi.NewRouter()
	router.Use(server.PrivateHeaders, http.NewCrossOriginProtection().Handler, gate.Identify)
	router.NotFound(pages.NotFound)
	office.Mount(router)
	pages.Mount(router)
	return router
}

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
		Vouched: vouched, Raw: []byte(body), Origin: ipn.Origin{ReceivedAt: today.Add(-time.Hour), Headers: map[string]string{"user-agent": hostile[0]}}}
}

// known is a configuration that differs in one flag.
type known struct {
	*store.Store
	service, place, trouble string
}

func (k known) ConfigurationState() ipn.ConfigurationState {
	at := today.Add(-2 * time.Hour)
	return ipn.ConfigurationState{Mode: "plan", Service: k.service, InSync: new(false), CheckedAt: &at, Result: ipn.ConfigurationDrift, Error: k.trouble,
		Desired: settings(k.place, true), Actual: settings(k.place, false), Changes: []ipn.ConfigurationChange{{Setting: "sendRefund", From: "false", To: "true"}}}
}

func (b *branch) record(body string) ipn.Recorded {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	recorded, err := b.recorder.Record(ctx, receipt(body, ipn.VouchedSignature))
	if err != nil {
		b.tb.Fatalf("record %.80s: %v", body, err)
	}
	return recorded
}

// keepBooks lets the ledger see all events, as its handler would.
func (b *branch) keepBooks() {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	events, err := b.store.Events(ctx, ipn.Question{Limit: 100_000})
	if err != nil {
		b.tb.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, b.dsn)
	if err != nil {
		b.tb.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return ledger.Project(ctx, tx, events) }); err != nil {
		b.tb.Fatal(err)
	}
}

// answer is what came back, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// to is where a redirect leads.
func (a answer) to() string { return a.header.Get("Location") }

// as asks for a path with the token of a role, "" for nobody's. A form makes it a POST, as a browser on this very site sends it.
func (b *branch) as(role access.Role, path string, form url.Values) answer {
	b.tb.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(b.tb.Context(), method, b.url+path, body)
	if err != nil {
		b.tb.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if role != "" {
		r.Header.Set("Authorization", "Bearer "+b.tokens[role])
	}
	return b.do(r)
}

func (b *branch) do(r *http.Request) answer {
	b.tb.Helper()
	got, err := b.client.Do(r)
	if err != nil {
		b.tb.Fatalf("ask the page: %v", err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		b.tb.Fatalf("read the page: %v", err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

// sees fails unless the answer has the status and the words.
func (a answer) sees(tb testing.TB, status int, words ...string) {
	tb.Helper()
	if a.status != status {
		tb.Errorf("got %d (to %q), want %d", a.status, a.to(), status)
	}
	for _, one := range words {
		if !strings.Contains(a.body, one) {
			tb.Errorf("the page (%d) does not say %q", a.status, one)
		}
	}
}

// routes are the patterns of the door's pages or forms: all but the API's and the files'.
func (b *branch) routes(method string) []string {
	b.tb.Helper()
	var found []string
	err := chi.Walk(b.router, func(m, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if m == method && !strings.HasPrefix(pattern, "/api/") && !strings.HasPrefix(pattern, "/assets/") && !strings.HasPrefix(pattern, "/openapi") {
			found = append(found, pattern)
		}
		return nil
	})
	if err != nil {
		b.tb.Fatal(err)
	}
	return found
}

var loopback = netip.MustParseAddr("127.0.0.1")
