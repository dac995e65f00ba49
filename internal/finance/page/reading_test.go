package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/page"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// shelf is a branch with a few plain events: a charge with a refund and a dispute, told twice and in two ways, and a test order.
func shelf(t *testing.T, furnish ...func(*finance.Office)) *branch {
	t.Helper()
	b := newBranch(t, furnish...)
	const charge = "transactionType=CHARGE&referenceNumber=R1&merchantTransactionId=order-1&accountId=A1&subscriptionId=S1&contractId=P1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=1234.50&" +
		"invoiceChargeCurrency=EUR&taxChargeAmount=197.10&paymentMethod=CC&country=DE&firstName=Mathilda&lastName=Sommer&email=mathilda@example.org&creditCardLastFourDigits=4242&creditCardExpDate=12/2031"
	b.record(charge)
	b.record(charge)
	b.record(charge + "&custom1=told+otherwise&lastName=Winter")
	b.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&transactionDate=11/21/2026+01:30+AM")
	b.record("transactionType=CHARGEBACK&referenceNumber=R1&reversalRefNum=C1&reversalAmount=5.00&currency=EUR&transactionDate=11/14/2026+08:30+AM&cbStatus=NEW")
	b.record("transactionType=CHARGE&referenceNumber=T1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=7.00&invoiceChargeCurrency=EUR&testMode=Y")
	b.record("transactionType=TELEPATHY&referenceNumber=U1&transactionDate=11/20/2026+08:30+AM")
	b.keepBooks()
	return b
}

func TestThePagesTellWhatHappened(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	tests := []struct {
		path   string
		says   []string
		silent []string
	}{
		{"/", []string{"<h1>Overview</h1>", "1,228.60", "EUR", "events that were told in two ways", "disputes near their deadline", "November 2026"}, []string{"7.00"}},
		{"/?test=true", []string{"7.00", "book of test orders"}, []string{"1,228.60"}},
		{"/events", []string{"<h1>Events</h1>", "TELEPATHY", "1,234.50", "3× told", "1" + "\u00a0" + "variant"}, []string{"<bdi class=\"number\">T1<", "Sommer", "4242"}},
		{"/events?test=true", []string{"T1"}, []string{"TELEPATHY"}},
		{"/events?transactionType=refund", []string{"REFUND"}, []string{"TELEPATHY</bdi></a>"}},
		{"/events?q=C1", []string{"CHARGEBACK</bdi></a>"}, []string{"REFUND</bdi></a>"}},
		{"/events?amountFrom=1000", []string{"1,234.50"}, []string{"0.90"}},
		{"/transactions/R1", []string{"Transaction <bdi>R1</bdi>", "1,234.50\u00a0EUR", "0.90\u00a0EUR", "Refunded 0.90 EUR", "S1", "order-1", "Dispute"}, []string{"Sommer"}},
		{"/stories/V1", []string{"What happened to <bdi>V1</bdi>", "Refunded 0.90 EUR", "/transactions/R1"}, nil},
		{"/stories/S1", []string{"/subscriptions/S1", "Charged 1234.50 EUR"}, nil},
		{"/money", []string{"<h1>Money</h1>", "1,234.50", "−0.90", "197.10", "DE", "P1"}, []string{"7.00"}},
		{"/money?from=2026-11-21&to=2026-11-21", []string{"−0.90"}, []string{"1,234.50"}},
		{"/money?from=2025-11-01&groupBy=day", []string{"<td>", "2026-11</th>"}, []string{"2026-11-20</th>"}},
	}
	for _, tc := range tests {
		t.Run(tc.path, func(t *testing.T) {
			a := b.as(access.Viewer, tc.path, nil)
			a.sees(t, http.StatusOK, tc.says...)
			wellMade(t, tc.path, a)
			for _, word := range tc.silent {
				if strings.Contains(a.body, word) {
					t.Errorf("the page says %q", word)
				}
			}
		})
	}
}

func TestAnEventTellsAllButWhoItIsAbout(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	a := b.as(access.Viewer, "/events/1", nil)
	a.sees(t, http.StatusOK, "CHARGE", "1,234.50\u00a0EUR", "197.10\u00a0EUR", "order-1", "told 3 times", "Told in another way", "custom1", "told otherwise", "M***", "Card")
	for _, personal := range []string{"Mathilda", "Sommer", "Winter", "mathilda@", "12/2031"} {
		if strings.Contains(a.body, personal) {
			t.Errorf("a viewer sees %q", personal)
		}
	}
	if strings.Contains(a.body, "/reveal") || strings.Contains(a.body, "/raw") {
		t.Error("a viewer is offered to reveal")
	}
	if a.body == "" || !strings.Contains(a.body, "<bdi class=\"code\">lastName</bdi>") {
		t.Error("a masked field that differs is not told to differ")
	}
}

func TestRevealingNeedsTheRightAndAReasonAndIsKept(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	reason := url.Values{"reason": {"The shopper asks on the phone"}}
	for _, role := range []access.Role{access.Viewer, access.Operator} {
		b.as(role, "/events/1/reveal", reason).sees(t, http.StatusForbidden)
		b.as(role, "/events/999/reveal", reason).sees(t, http.StatusForbidden)
	}
	b.as(access.Finance, "/events/1", nil).sees(t, http.StatusOK, `action="/events/1/reveal"`, "/api/v1/events/1/raw")
	refused := b.as(access.Finance, "/events/1/reveal", url.Values{"reason": {"x"}})
	refused.sees(t, http.StatusUnprocessableEntity, "Please mend this", `value="x"`, "M***")
	if strings.Contains(refused.body, "Sommer") {
		t.Error("revealed without a reason")
	}
	b.as(access.Finance, "/events/999/reveal", reason).sees(t, http.StatusNotFound)

	shown := b.as(access.Finance, "/events/1/reveal", reason)
	shown.sees(t, http.StatusOK, "Mathilda", "Sommer", "Winter", "mathilda@example.org", "12/2031")
	wellMade(t, "the revealed event", shown)
	entries, err := b.store.Audit(t.Context(), 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Action != "reveal" || entries[0].Reason != reason.Get("reason") || entries[0].Actor != "api:the-finance" {
		t.Errorf("the audit has %+v, %v", entries, err)
	}
}

func TestWhatSomebodyMayNotSeeLooksLikeNothing(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	nothing := b.as(access.Viewer, "/events/999", nil)
	nothing.sees(t, http.StatusNotFound, "There is nothing at this address.")
	for _, path := range []string{"/events/0", "/events/-1", "/events/x", "/transactions/none", "/transactions/%00", "/transactions/%FF", "/nowhere"} {
		if a := b.as(access.Viewer, path, nil); a.status != http.StatusNotFound || wordsOf(t, a) != wordsOf(t, nothing) {
			t.Errorf("%s: got %d %s", path, a.status, wordsOf(t, a))
		}
	}
	for _, path := range []string{"/", "/events", "/events/1", "/events/999", "/transactions/R1", "/money", "/stories?number=R1"} {
		a := b.as("", path, nil)
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to(), "/sign-in") || strings.Contains(a.body, "R1") && !strings.Contains(path, "R1") {
			t.Errorf("%s: nobody gets %d to %q", path, a.status, a.to())
		}
	}
}

// wordsOf is the text of a page's own part.
func wordsOf(tb testing.TB, a answer) string {
	tb.Helper()
	_, after, found := strings.Cut(a.body, "<main")
	if !found {
		tb.Fatalf("no page: %.200s", a.body)
	}
	return after
}

func TestALongListIsWalkedFromPageToPage(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for i := range 120 {
		b.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=N%03d&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR", i))
	}
	link := regexp.MustCompile(`href="(/events\?[^"]*cursor=[^"]*)" rel="next"`)
	path, seen := "/events?transactionType=CHARGE", map[string]bool{}
	for range 3 {
		a := b.as(access.Viewer, path, nil)
		a.sees(t, http.StatusOK)
		for _, number := range regexp.MustCompile(`N\d{3}`).FindAllString(a.body, -1) {
			seen[number] = true
		}
		if found := link.FindStringSubmatch(a.body); found != nil {
			path = strings.ReplaceAll(found[1], "&amp;", "&")
		} else {
			path = ""
		}
	}
	if len(seen) != 120 || path != "" {
		t.Errorf("%d events were seen on three pages, and there is a fourth at %q", len(seen), path)
	}
	b.as(access.Viewer, "/events?cursor=made-up", nil).sees(t, http.StatusUnprocessableEntity, "cursor")
}

func TestABadFilterIsToldBesideItsField(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for _, path := range []string{"/events?amountFrom=much", "/events?from=yesterday", "/events?currency=EURO", "/events?from=2026-11-02&to=2026-11-01"} {
		a := b.as(access.Viewer, path, nil)
		a.sees(t, http.StatusUnprocessableEntity, `aria-invalid="true"`, "<h1>Events</h1>")
		wellMade(t, path, a)
	}
	for _, path := range []string{"/money?from=yesterday", "/money?from=2026-11-02&to=2026-11-01", "/money?groupBy=moon", "/money?from=1980-01-01"} {
		b.as(access.Viewer, path, nil).sees(t, http.StatusUnprocessableEntity, "<h1>Money</h1>")
	}
	b.as(access.Viewer, "/stories?number=", nil).sees(t, http.StatusUnprocessableEntity)
}

func TestAScriptGetsThePartThatItSwaps(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	r := httptest.NewRequest(http.MethodGet, b.url+"/events?transactionType=REFUND&currency=&q=", nil)
	r.RequestURI = ""
	r.Header.Set("Authorization", "Bearer "+b.tokens[access.Viewer])
	r.Header.Set("HX-Request", "true")
	a := b.do(r)
	a.sees(t, http.StatusOK, `<section id="list"`, "REFUND")
	if strings.Contains(a.body, "<html") || strings.Contains(a.body, "<form class") {
		t.Errorf("got more than the list: %s", a.body)
	}
	if got := a.header.Get("HX-Push-Url"); got != "/events?transactionType=REFUND" {
		t.Errorf("the address becomes %q", got)
	}
	r.Header.Set("HX-History-Restore-Request", "true")
	b.do(r).sees(t, http.StatusOK, "<!doctype html>")
	r.Header.Del("Authorization")
	nobody := b.do(r)
	if nobody.status != http.StatusUnauthorized || !strings.HasPrefix(nobody.header.Get("HX-Redirect"), "/sign-in") {
		t.Errorf("nobody gets %d to %q", nobody.status, nobody.header.Get("HX-Redirect"))
	}
}

func TestAPersonIsFoundByAFormThatIsPosted(t *testing.T) {
	t.Parallel()
	secret, err := ipn.NewSecret("search", []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	key := ipn.NewPersonKey(secret)
	b := shelf(t, func(o *finance.Office) { o.People = key })
	b.indexPeople(key)
	for _, form := range []url.Values{{"email": {" Mathilda@Example.ORG "}}, {"name": {"sommer"}}, {"name": {"Mathilda Sommer"}}} {
		a := b.as(access.Viewer, "/events/search", form)
		a.sees(t, http.StatusOK, `href="/events/1"`)
		wellMade(t, "what was found", a)
	}
	a := b.as(access.Viewer, "/events/search", url.Values{"email": {"nobody@example.org"}})
	a.sees(t, http.StatusOK, "No event is like this.")
	b.as(access.Viewer, "/events/search", url.Values{"email": {"nobody"}}).sees(t, http.StatusUnprocessableEntity, "email")
	b.as(access.Viewer, "/events/search", url.Values{}).sees(t, http.StatusUnprocessableEntity, "Write an e-mail address, or a name.")
	b.as(access.Viewer, "/events/search", nil).sees(t, http.StatusOK, "<h1>Events</h1>") // whoever reloads the address of a search
}

// indexPeople lets the index of people see all events, as its handler would.
func (b *branch) indexPeople(key ipn.PersonKey) {
	b.tb.Helper()
	events, err := b.store.Events(b.tb.Context(), ipn.Question{Limit: 1000})
	b.must("read the events", err)
	conn, err := pgx.Connect(b.tb.Context(), b.dsn)
	b.must("connect", err)
	defer conn.Close(context.Background())
	people := store.People{Key: key, Decoder: &ipn.Decoder{}}
	b.must("index", pgx.BeginFunc(b.tb.Context(), conn, func(tx pgx.Tx) error { return people.Project(b.tb.Context(), tx, events) }))
}

// TestAPageOfLittleIsWhole: without books, handlers, configuration and a key for people, their parts are left out.
func TestAPageOfLittleIsWhole(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	pages := &page.Page{Office: &finance.Office{History: b.store, Quarantine: b.store, Judge: judge{}, Decoder: &ipn.Decoder{}, Cursors: ask.NewCursors(b.store.CursorKey)}, Unverified: true}
	router := chi.NewRouter()
	pages.Mount(router)
	get := func(method, path string, form url.Values) answer {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r.WithContext(access.With(r.Context(), access.Person{Name: "somebody", Role: access.Viewer, Via: access.ViaOpen})))
		return answer{w.Code, w.Header(), w.Body.String()}
	}
	for path, says := range map[string]string{"/": "none runs", "/events": "IPN_SEARCH_KEY", "/events/1": "No handler runs.", "/stories/R1": "Charged 1234.50 EUR"} {
		a := get(http.MethodGet, path, nil)
		a.sees(t, http.StatusOK, says, "Open for development.", "No proof of origin.")
		wellMade(t, path, a)
	}
	get(http.MethodGet, "/money", nil).sees(t, http.StatusNotFound)
	get(http.MethodGet, "/transactions/R1", nil).sees(t, http.StatusNotFound)
	get(http.MethodPost, "/events/search", url.Values{"name": {"Sommer"}}).sees(t, http.StatusUnprocessableEntity, "IPN_SEARCH_KEY")
}

func TestExportsAreOfferedToThoseWhoMay(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	for _, path := range []string{"/events?transactionType=CHARGE&order=received", "/money"} {
		links := b.linksOf(path, "/api/v1/export", 9)
		if len(links) != 2 {
			t.Errorf("%s offers %v", path, links)
		}
		for _, link := range links {
			b.as(access.Finance, link, nil).sees(t, http.StatusOK, "R1")
		}
		if a := b.as(access.Viewer, path, nil); strings.Contains(a.body, "/api/v1/export") {
			t.Errorf("%s offers a viewer an export", path)
		}
	}
}

func TestAnAwayRecordIsToldInTheFrame(t *testing.T) {
	t.Parallel()
	b := shelf(t)
	b.store.Close()
	for _, path := range []string{"/", "/events", "/events/1", "/stories/R1"} {
		a := b.as(access.Viewer, path, nil)
		a.sees(t, http.StatusServiceUnavailable, "The record cannot be read")
		for _, internal := range []string{"closed pool", "SQLSTATE", "pgx"} {
			if strings.Contains(a.body, internal) {
				t.Errorf("%s tells %q", path, internal)
			}
		}
	}
}

func TestAFileIsKeptForEverUnderItsOwnAddress(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	page := b.as(access.Viewer, "/", nil).body
	address := regexp.MustCompile(`/assets/[0-9a-f]{16}/[a-z0-9.-]+`)
	found := address.FindAllString(page, -1)
	if len(found) < 4 {
		t.Fatalf("the page names %v", found)
	}
	total := 0
	for _, path := range found {
		a := b.as("", path, nil)
		if a.status != http.StatusOK || a.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || a.header.Get("ETag") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got %d %v", path, a.status, a.header)
		}
		r := httptest.NewRequest(http.MethodGet, b.url+path, nil)
		r.RequestURI = ""
		r.Header.Set("Accept-Encoding", "gzip")
		packed := b.do(r)
		if packed.header.Get("Content-Encoding") != "gzip" || len(packed.body) >= len(a.body) && !strings.HasSuffix(path, ".svg") {
			t.Errorf("%s: %d bytes are sent as %d", path, len(a.body), len(packed.body))
		}
		r.Header.Set("If-None-Match", packed.header.Get("ETag"))
		if again := b.do(r); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s: asked again: %d", path, again.status)
		}
		total += len(packed.body)
	}
	if total > 60_000 {
		t.Errorf("the files weigh %d bytes", total)
	}
	old := regexp.MustCompile(`[0-9a-f]{16}`).ReplaceAllString(found[0], "0000000000000000")
	if a := b.as("", old, nil); a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("another version's file: got %d %q", a.status, a.header.Get("Cache-Control"))
	}
	b.as("", "/assets/0000000000000000/nothing.js", nil).sees(t, http.StatusNotFound)
}

func TestADisputeThatMustBeAnsweredIsSeenFirst(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for i, day := range []string{"11/13/2026", "11/20/2026"} { // with ten days to answer, only the first is near its deadline of 7 days
		b.record(fmt.Sprintf("transactionType=CHARGEBACK&referenceNumber=R%d&reversalRefNum=C%d&reversalAmount=5.00&currency=EUR&transactionDate=%s+08:30+AM", i, i, day))
	}
	b.keepBooks()
	a := b.as(access.Viewer, "/", nil)
	a.sees(t, http.StatusOK, `<b class="badge bad">1</b> disputes near their deadline`)
	for _, reason := range []ipn.Reason{ipn.ReasonMediaType} {
		raw := []byte("a=b")
		if kept, err := b.store.Quarantine(t.Context(), &ipn.Quarantined{Reason: reason, Answered: 415, Digest: ipn.DigestOf(raw), Raw: raw, Origin: ipn.Origin{ReceivedAt: today}}); err != nil || !kept {
			t.Fatal(kept, err)
		}
	}
	b.as(access.Viewer, "/", nil).sees(t, http.StatusOK, `<b class="badge bad">1</b> posts in quarantine`)
}
