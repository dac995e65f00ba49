package finance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// withPeople lets people be searched for.
func withPeople(o *finance.Office) {
	secret, err := ipn.NewSecret("search", []byte("0123456789abcdef"))
	if err != nil {
		panic(err)
	}
	o.People = ipn.NewPersonKey(secret)
}

func types(tb testing.TB, answer *httptest.ResponseRecorder) string {
	tb.Helper()
	if answer.Code != http.StatusOK {
		tb.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	var found []string
	for _, item := range object(tb, answer.Body)["items"].([]any) {
		found = append(found, item.(map[string]any)["transactionType"].(string))
	}
	return strings.Join(found, " ")
}

func TestThePostedSearchAsksWhatTheQueryAsks(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.record(sample)
	o.record("transactionType=REFUND&referenceNumber=R2&originalRefNum=R1&transactionDate=11/21/2026+08:30+AM&reversalAmount=5.00&currency=EUR&vendorId=V1")
	for _, tc := range []struct{ query, body, want string }{
		{"", `{}`, "REFUND CHARGE"},
		{query("originalRefNum", "R1"), `{"originalRefNum":"R1"}`, "REFUND"},
		{query("vendorId", "V1"), `{"vendorId":"V1"}`, "REFUND"},
		{query("amountFrom", "20", "currency", "eur"), `{"amountFrom":"20","currency":"eur"}`, "CHARGE"},
		{query("amountTo", "5"), `{"amountTo":"5"}`, "REFUND"},
		{query("hasProblems", "false", "test", "false"), `{"hasProblems":false,"test":false}`, "REFUND"},
		{query("isParked", "true"), `{"isParked":true}`, ""},
		{query("hasVariants", "false", "limit", "1"), `{"hasVariants":false,"limit":1}`, "REFUND"},
		{query("order", "received", "limit", "1"), `{"order":"received","limit":1}`, "REFUND"},
	} {
		if got := types(t, o.do(http.MethodGet, "/api/v1/events"+tc.query)); got != tc.want {
			t.Errorf("GET %s: got %q, want %q", tc.query, got, tc.want)
		}
		if got := types(t, o.post("/api/v1/events/search", tc.body)); got != tc.want {
			t.Errorf("POST %s: got %q, want %q", tc.body, got, tc.want)
		}
	}
}

func TestPeopleAreFoundByAPostedSearchAlone(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn, withPeople)
	o.record("transactionType=REFUND&referenceNumber=R2")
	event := o.record("transactionType=CHARGE&referenceNumber=R1&firstName=Maria&lastName=Santos&email=maria@santos.example").EventID
	var office finance.Office
	withPeople(&office)
	for _, text := range []func() (ipn.PersonToken, bool){
		func() (ipn.PersonToken, bool) { return office.People.Email("maria@santos.example") },
		func() (ipn.PersonToken, bool) { return office.People.Name("maria santos") },
	} {
		token, _ := text()
		sql(t, dsn, "insert into people (token, event_id) values ($1, $2)", token[:], event)
	}
	for _, body := range []string{`{"email":"Maria@Santos.example"}`, `{"name":"SANTOS"}`, `{"name":"maria  santos","transactionType":"CHARGE"}`, `{"email":"maria@santos.example","name":"Doe"}`} {
		want := "CHARGE"
		if body == `{"name":"SANTOS"}` {
			want = "" // of her, only the whole name was written above
		}
		if got := types(t, o.post("/api/v1/events/search", body)); got != want {
			t.Errorf("%s: got %q", body, got)
		}
	}
	if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/events?email=maria@santos.example"), http.StatusUnprocessableEntity); strings.Contains(text, "maria") {
		t.Errorf("the address is repeated: %s", text)
	}
}

// sealing seals the cursors of an office whose record is away.
func sealing() *ask.Cursors {
	return ask.NewCursors(func(context.Context) ([]byte, error) { return make([]byte, 32), nil })
}

// sql runs a statement past the store.
func sql(tb testing.TB, dsn, statement string, args ...any) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(tb.Context()) }()
	if _, err := conn.Exec(tb.Context(), statement, args...); err != nil {
		tb.Fatal(err)
	}
}

func TestWithoutAKeyNobodyIsSearchedFor(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	text := wantProblem(t, o.post("/api/v1/events/search", `{"email":"maria@santos.example"}`), http.StatusUnprocessableEntity)
	if !strings.Contains(text, "IPN_SEARCH_KEY") || !strings.Contains(text, `"body.email"`) || strings.Contains(text, "maria") {
		t.Errorf("got %s", text)
	}
}

func TestABadFieldOfTheSearchIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withPeople)
	o.record(sample)
	o.record(strings.Replace(sample, "R1", "R2", 1))
	cursor := o.get("/api/v1/events?limit=1")["nextCursor"].(string)
	for _, tc := range []struct {
		name, body, location string
		status               int
	}{
		{"a limit of a billion", `{"limit":1000000000}`, "body.limit", 422},
		{"an unknown column", `{"digest":"x"}`, "body.digest", 422},
		{"an operator", `{"accountId":{"$gt":""}}`, "body.accountId", 422},
		{"no object", `"x"`, `"body"`, 422},
		{"the cursor of another question", `{"cursor":"` + cursor + `","test":true}`, "body.cursor", 422},
		{"no address", `{"email":"x"}`, "body.email", 422},
		{"10 MB", `{"q":"` + strings.Repeat("x", 10<<20) + `"}`, "", 413},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if text := wantProblem(t, o.post("/api/v1/events/search", tc.body), tc.status); !strings.Contains(text, tc.location) {
				t.Errorf("%s is not named: %s", tc.location, text)
			}
		})
	}
	if got := types(t, o.post("/api/v1/events/search", `{"cursor":"`+cursor+`"}`)); got != "CHARGE" {
		t.Errorf("its own cursor: got %q", got)
	}
}

// A hundred years of events are a question like any other: the page is as long as was asked for, and a wait has an end.
func TestAHundredYearsAreOnePage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	for range 3 {
		o.record(sample)
	}
	o.record(strings.Replace(sample, "R1", "R2", 1))
	page := o.get("/api/v1/events" + query("from", "1971-01-01", "to", "2171-01-01", "limit", "1"))
	if items := page["items"].([]any); len(items) != 1 || page["nextCursor"] == nil {
		t.Errorf("got %v", page)
	}
}

func TestEveryListRefusesAForgedCursor(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withDesk(&desk{}), withShelf(&shelf{}), withLookout(&lookout{}), func(o *finance.Office) { o.Transfers = o.History.(finance.Transfers) })
	o.record(sample)
	o.record(strings.Replace(sample, "R1", "R2", 1))
	ofEvents := o.get("/api/v1/events?limit=1")["nextCursor"].(string)
	var lists []string
	for path, item := range o.get("/openapi.json")["paths"].(map[string]any) {
		get, _ := item.(map[string]any)["get"].(map[string]any)
		parameters, _ := get["parameters"].([]any)
		if slices.ContainsFunc(parameters, func(p any) bool { return p.(map[string]any)["name"] == "cursor" }) {
			lists = append(lists, path)
		}
	}
	if len(lists) < 9 {
		t.Fatalf("only %v have a cursor", lists)
	}
	for _, path := range lists {
		for _, cursor := range []string{"7", "-1", "AAAA", "AAYj0gAAAAAAAAAAAAAAAQ", ofEvents} {
			asked := query("cursor", cursor)
			if path == "/api/v1/events" {
				asked = query("cursor", cursor, "test", "false")
			}
			if text := wantProblem(t, o.do(http.MethodGet, path+asked), http.StatusUnprocessableEntity); !strings.Contains(text, `"query.cursor"`) {
				t.Errorf("%s %s: %s", path, cursor, text)
			}
		}
	}
}

// The table that is read and the operation that is described are one.
func TestTheDescriptionNamesEveryFilterOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir())
	paths := o.get("/openapi.json")["paths"].(map[string]any)
	var described []string
	for _, p := range paths["/api/v1/events"].(map[string]any)["get"].(map[string]any)["parameters"].([]any) {
		described = append(described, p.(map[string]any)["name"].(string))
	}
	var known []string
	for _, f := range ask.Filters() {
		known = append(known, f.Name)
	}
	if !slices.Equal(described, known) {
		t.Errorf("described are %v, known %v", described, known)
	}
	content := paths["/api/v1/events/search"].(map[string]any)["post"].(map[string]any)["requestBody"].(map[string]any)["content"].(map[string]any)
	properties := content["application/json"].(map[string]any)["schema"].(map[string]any)["properties"].(map[string]any)
	if len(content) != 1 || len(properties) != len(known)+len(ask.People()) || properties["email"] == nil || properties["name"] == nil {
		t.Errorf("the body is described as %v", content)
	}
}

// Somebody holds the table, and the question must not wait for him for ever.
func TestAQuestionThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table events in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- o.do(http.MethodGet, "/api/v1/events") }()
	select {
	case answer := <-answered:
		wantProblem(t, answer, http.StatusServiceUnavailable)
	case <-time.After(patience):
		t.Error("it waits for ever")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := o.do(http.MethodGet, "/api/v1/events"); answer.Code != http.StatusOK {
		t.Errorf("afterwards: got %d %s", answer.Code, answer.Body)
	}
}

func TestAnAnswerThatIsKnownIsNotSentAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withDesk(&desk{}), withShelf(&shelf{}))
	id := o.record(sample).EventID
	event := fmt.Sprint("/api/v1/events/", id)
	for _, path := range []string{event, "/api/v1/events", "/api/v1/totals", "/openapi.json"} {
		first := o.do(http.MethodGet, path)
		tag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || len(tag) != 26 || !strings.HasPrefix(tag, `"`) || first.Body.Len() == 0 {
			t.Fatalf("%s: got %d, ETag %s", path, first.Code, tag)
		}
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			again := o.do(http.MethodGet, path, "If-None-Match", known)
			if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != tag || again.Header().Get("Content-Type") != "" {
				t.Errorf("%s with %s: got %d %s", path, known, again.Code, again.Body)
			}
		}
		for _, other := range []string{`"other"`, strings.Trim(tag, `"`), ""} {
			if again := o.do(http.MethodGet, path, "If-None-Match", other); again.Code != http.StatusOK || again.Body.Len() == 0 {
				t.Errorf("%s with %s: got %d", path, other, again.Code)
			}
		}
	}
	tag := o.do(http.MethodGet, event).Header().Get("ETag")
	o.record(sample) // one more receipt
	if again := o.do(http.MethodGet, event, "If-None-Match", tag); again.Code != http.StatusOK || again.Header().Get("ETag") == tag {
		t.Errorf("the event has changed: got %d", again.Code)
	}
	for _, path := range []string{event + "/raw", "/api/v1/events/42", "/api/v1/export?format=jsonl"} {
		if got := o.do(http.MethodGet, path).Header().Get("ETag"); got != "" {
			t.Errorf("%s has the ETag %s", path, got)
		}
	}
	if answer := o.as("").do(http.MethodGet, event, "If-None-Match", "*"); answer.Code != http.StatusUnauthorized {
		t.Errorf("nobody learns whether it has changed: got %d", answer.Code)
	}
}
