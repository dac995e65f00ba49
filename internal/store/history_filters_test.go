package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func amount(text string) decimal.NullDecimal {
	return decimal.NewNullDecimal(decimal.RequireFromString(text))
}

// listed returns the reference numbers of an answer, in its order.
func listed(tb testing.TB, s *store.Store, q ipn.Question) string {
	tb.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	events, err := s.Events(tb.Context(), q)
	if err != nil {
		tb.Fatal(err)
	}
	var numbers []string
	for _, e := range events {
		numbers = append(numbers, e.Facts.ReferenceNumber)
	}
	return strings.Join(numbers, " ")
}

// received moves the time of receipt, as a sender does who repeats a post for hours.
func received(r *ipn.Receipt, after time.Duration) *ipn.Receipt {
	r.ReceivedAt = noon.Add(after)
	return r
}

func TestEachOfTheFiltersOfFinanceNarrowsTheHistory(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	day := func(clock string) string { return "transactionDate=11/20/2026+" + clock + "+AM" }
	money := func(amount string) string { return "invoiceChargeAmount=" + amount + "&invoiceChargeCurrency=EUR" }
	mustRecord(t, r, received(charge("R1", day("08:00"), money("10.00"), "originalRefNum=R0", "vendorId=V1"), 4*time.Hour))
	second := mustRecord(t, r, received(charge("R2", day("09:00"), money("20.50"), "subscriptionId=R0", "testMode=Y", "email=maria@santos.example"), 3*time.Hour)).EventID
	mustRecord(t, r, received(charge("R3", day("10:00"), money("x"), "vendorId=V2"), 2*time.Hour))
	mustRecord(t, r, received(receipt("transactionType=CHARGEBACK&referenceNumber=R4&reversalRefNum=V9&cbStatus=won&"+day("11:00")), time.Hour))
	mustRecord(t, r, received(charge("R1", day("08:00"), money("11.00"), "originalRefNum=R0", "vendorId=V1"), 5*time.Hour))
	execute(t, dsn, "insert into handler_cursors (handler, kind, position, started) values ('forward.x', 'sink', 0, 0)", fmt.Sprintf(`
		insert into parked (handler, event_id, state, attempts, first_failed_at, last_error) values ('forward.x', %d, 'buried', 1, now(), 'x')`, second))
	p := people(t, "0123456789abcdef")
	index(t, indexing(t, dsn, p))
	maria, _ := p.Key.Email("maria@santos.example")
	nobody, _ := p.Key.Email("nobody@santos.example")
	yes, no := true, false
	for _, tc := range []struct {
		name     string
		question ipn.Question
		want     string
	}{
		{"original reference", ipn.Question{OriginalReference: "R0"}, "R1"},
		{"vendor", ipn.Question{VendorID: "V2"}, "R3"},
		{"status", ipn.Question{Status: "WON"}, "R4"},
		{"amount from, inclusive", ipn.Question{AmountFrom: amount("20.5")}, "R2"},
		{"amount to, inclusive", ipn.Question{AmountTo: amount("10")}, "R1"},
		{"amounts between", ipn.Question{AmountFrom: amount("10.01"), AmountTo: amount("20.49")}, ""},
		{"one amount, however many decimals", ipn.Question{AmountFrom: amount("10"), AmountTo: amount("10.000")}, "R1"},
		{"received from, inclusive", ipn.Question{ReceivedFrom: noon.Add(3 * time.Hour)}, "R2 R1"},
		{"received to, exclusive", ipn.Question{ReceivedTo: noon.Add(3 * time.Hour)}, "R4 R3"},
		{"by time of receipt", ipn.Question{Order: ipn.ByReceived}, "R1 R2 R3 R4"},
		{"received from, by time of receipt", ipn.Question{ReceivedFrom: noon.Add(2 * time.Hour), Order: ipn.ByReceived}, "R1 R2 R3"},
		{"from, by time of receipt", ipn.Question{From: at("09:00"), Order: ipn.ByReceived}, "R2 R3 R4"},
		{"problems", ipn.Question{Problems: &yes}, "R3"},
		{"no problems", ipn.Question{Problems: &no}, "R4 R2 R1"},
		{"variants", ipn.Question{Variants: &yes}, "R1"},
		{"no variants", ipn.Question{Variants: &no}, "R4 R3 R2"},
		{"parked", ipn.Question{Parked: &yes}, "R2"},
		{"not parked", ipn.Question{Parked: &no}, "R4 R3 R1"},
		{"text finds original and subscription", ipn.Question{Text: "R0"}, "R2 R1"},
		{"text finds a reversal", ipn.Question{Text: "V9"}, "R4"},
		{"text finds an event once", ipn.Question{Text: "R1"}, "R1"},
		{"text, by time of receipt", ipn.Question{Text: "R0", Order: ipn.ByReceived}, "R1 R2"},
		{"text and a limit", ipn.Question{Text: "R0", Limit: 1}, "R2"},
		{"text with others", ipn.Question{Text: "R0", Test: &no, AmountTo: amount("10")}, "R1"},
		{"people", ipn.Question{People: []ipn.PersonToken{maria}}, "R2"},
		{"any of several people", ipn.Question{People: []ipn.PersonToken{nobody, maria}}, "R2"},
		{"nobody", ipn.Question{People: []ipn.PersonToken{nobody}}, ""},
		{"all together", ipn.Question{SubscriptionID: "R0", AmountFrom: amount("20"), AmountTo: amount("21"), From: at("09:00"), To: at("09:01"),
			ReceivedFrom: noon, ReceivedTo: noon.Add(4 * time.Hour), Test: &yes, Problems: &no, Variants: &no, Parked: &yes, Text: "R2", People: []ipn.PersonToken{maria}}, "R2"},
		{"SQL in a filter is text", ipn.Question{Status: "' or pg_sleep(9) is null --"}, ""},
		{"a backslash is text", ipn.Question{Text: `\'; select pg_sleep(9); --`}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := listed(t, s, tc.question); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// In either order, and of a text that stands in several columns, the pages visit each event once.
func TestPagesOfEveryOrderVisitEveryEventOnce(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	for i := range 20 {
		body := charge(fmt.Sprint("R", i), "subscriptionId=S1", "originalRefNum=S1", fmt.Sprintf("transactionDate=11/20/2026+08:%02d+AM", i%7))
		mustRecord(t, r, received(body, time.Duration(i%5)*time.Minute))
	}
	for _, q := range []ipn.Question{
		{}, {Order: ipn.ByReceived}, {Text: "S1"}, {Text: "S1", Order: ipn.ByReceived}, {From: at("08:00"), Order: ipn.ByReceived}, {ReceivedFrom: noon},
	} {
		whole := listed(t, s, q)
		var paged []string
		for q.Limit = 3; len(paged) < 40; {
			page, err := s.Events(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for i := range page {
				paged = append(paged, page[i].Facts.ReferenceNumber)
			}
			last := page[len(page)-1].Position(q.Order)
			q.After = &last
		}
		if got := strings.Join(paged, " "); got != whole || len(paged) != 20 {
			t.Errorf("%+v: got %s, want %s", q, got, whole)
		}
	}
}

func TestTheStateIsKeptAndReadBack(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	event, err := s.Event(t.Context(), mustRecord(t, r, charge("R1", "country=US", "state=CO")).EventID)
	if err != nil || event.Facts.State != "CO" || event.Facts.Country != "US" {
		t.Errorf("got %+v, %v", event, err)
	}
}

// A page shows the payloads that are still there, and those of events that share no month.
func TestAPageHoldsThePayloadOfEachEvent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	var dropped int64
	for i := range 4 {
		id := mustRecord(t, r, received(charge(fmt.Sprint("R", i)), time.Duration(-i)*40*24*time.Hour)).EventID
		if i == 2 {
			dropped = id
		}
	}
	execute(t, dsn, fmt.Sprintf("delete from payloads where event_id = %d", dropped))
	events, err := s.Events(t.Context(), ipn.Question{Limit: 10})
	if err != nil || len(events) != 4 {
		t.Fatalf("got %d events, %v", len(events), err)
	}
	for _, e := range events {
		want := "transactionType=CHARGE&referenceNumber=" + e.Facts.ReferenceNumber
		if e.ID == dropped {
			want = ""
		}
		if string(e.Raw) != want || (want != "") != (e.Headers != nil) {
			t.Errorf("%s: got %q, %v", e.Facts.ReferenceNumber, e.Raw, e.Headers)
		}
	}
}

// A thousand old events have what is asked for; many newer ones do not. However many of these come, the first page must not
// read them all.
func TestTheFirstPageOfAnyFilterReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	execute(t, dsn, `insert into handler_cursors (handler, kind, position, started) values ('forward.x', 'sink', 0, 0)`, `
		insert into events (identity, transaction_type, reference_number, original_reference, reversal_reference, subscription_id, account_id, merchant_transaction_id, vendor_id,
			amount, currency, status, test, occurred_at, problems, verification, digest, content_digest, received_at, last_received_at, varied)
		select sha256(i::text::bytea), case when i < 1000 then 'OLD' else 'CHARGE' end, 'R' || i, 'O' || i, 'V' || i, 'S' || i,
			case when i < 1000 then 'OLD' else 'A' || i end, 'M' || i, case when i < 1000 then 'OLD' else 'NEW' end,
			case when i < 1000 then 5 else 100 + i end, case when i < 1000 then 'ISK' else 'EUR' end, case when i < 1000 then 'WON' end, i < 1000,
			at, case when i < 1000 then '[{}]' else '[]' end::jsonb, 'off', sha256(''), sha256(''), at, at, i < 1000
		from generate_series(1, 16000) i, lateral (select timestamptz '2026-01-01' + i * interval '1 minute' as at) as t`,
		`insert into parked (handler, event_id, state, attempts, first_failed_at, last_error) select 'forward.x', id, 'buried', 1, now(), 'x' from events where test limit 20`,
		`insert into people (token, event_id) select substring(sha256(''), 1, 16), id from events where test limit 20`,
		"vacuum analyze events, parked, people")
	conn := connect(t, dsn)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	yes := true
	empty := ipn.DigestOf(nil)
	for name, q := range map[string]ipn.Question{
		"nothing":                {},
		"by receipt":             {Order: ipn.ByReceived},
		"type":                   {TransactionType: "OLD"},
		"reference":              {ReferenceNumber: "R1"},
		"original reference":     {OriginalReference: "O1"},
		"subscription":           {SubscriptionID: "S1"},
		"merchant transaction":   {MerchantTransactionID: "M1"},
		"account":                {AccountID: "OLD"},
		"vendor":                 {VendorID: "OLD"},
		"currency":               {Currency: "ISK"},
		"status":                 {Status: "WON"},
		"amount":                 {AmountFrom: amount("5"), AmountTo: amount("5")},
		"amounts":                {AmountFrom: amount("4"), AmountTo: amount("6")},
		"amounts of now":         {AmountFrom: amount("90")},
		"amounts of no currency": {AmountFrom: amount("90"), Currency: "ISK"},
		"to":                     {To: day(2)},
		"received to":            {ReceivedTo: day(2), Order: ipn.ByReceived},
		"received, by occurred":  {ReceivedFrom: day(1), ReceivedTo: day(2)},
		"occurred, by received":  {From: day(1), To: day(2), Order: ipn.ByReceived},
		"test":                   {Test: &yes},
		"problems":               {Problems: &yes},
		"variants":               {Variants: &yes},
		"parked":                 {Parked: &yes},
		"people":                 {People: []ipn.PersonToken{ipn.PersonToken(empty[:16])}},
		"text of one":            {Text: "V1"},
		"text of many":           {Text: "OLD"},
		"text of none":           {Text: "none"},
		"test of a type":         {Test: &yes, TransactionType: "OLD"},
	} {
		t.Run(name, func(t *testing.T) {
			q.Limit = 51
			queries, args := store.Pages(q)
			for i, query := range queries {
				var plan string
				if err := conn.QueryRow(t.Context(), "explain (analyze, format json) "+query, append([]any{pgx.QueryExecModeDescribeExec}, args[i]...)...).Scan(&plan); err != nil {
					t.Fatal(err)
				}
				var nodes []planNode
				if err := json.Unmarshal([]byte(plan), &nodes); err != nil || len(nodes) != 1 {
					t.Fatalf("%v: %s", err, plan)
				}
				if read := nodes[0].Plan.read(); read > 5000 {
					t.Errorf("%.0f entries are read: %s", read, plan)
				}
				if nodes[0].Plan.Rows == 51 {
					return
				}
			}
		})
	}
}

// planNode is a part of the server's account of what it did.
type planNode struct {
	Plan  *planNode
	Plans []planNode

	NodeType string  `json:"Node Type"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
}

// read counts the entries that the scans looked at.
func (n *planNode) read() (sum float64) {
	if strings.Contains(n.NodeType, "Scan") && !slices.Contains([]string{"CTE Scan", "Subquery Scan"}, n.NodeType) {
		sum = n.Loops * (n.Rows + n.Filtered)
	}
	for i := range n.Plans {
		sum += n.Plans[i].read()
	}
	return sum
}

// Whoever writes a variant, the event says so: an older program beside a newer one, or a person with psql.
func TestAnEventKnowsThatItWasToldDifferently(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	event := mustRecord(t, running(t, dsn), charge("R1")).EventID
	execute(t, dsn, fmt.Sprintf(`insert into variants (event_id, digest, content_digest, raw, fields, headers, verification, received_at, last_received_at)
		values (%d, sha256(''), sha256(''), '', '{}', '{}', 'off', now(), now())`, event))
	if !ask[bool](t, dsn, "select varied from events") {
		t.Error("it does not")
	}
}

func TestVariantsFromBeforeTheMarkAreMarkedByTheMigration(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	r := running(t, dsn)
	mustRecord(t, r, charge("R1"))
	mustRecord(t, r, charge("R2"))
	mustRecord(t, r, charge("R2", "invoiceChargeAmount=9.00"))
	downTo(t, dsn, 5)
	if err := store.Migrate(t.Context(), dsn, silent); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, dsn, "select string_agg(reference_number, ' ') from events where varied"); got != "R2" {
		t.Errorf("marked are %q, want R2", got)
	}
}

// A build that somebody interrupted leaves an index that is written to and never read.
func TestAnInterruptedBuildOfAnIndexIsDoneAgain(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	const indexes = "select string_agg(definition, '; ' order by definition) from (select pg_get_indexdef(indexrelid) || ' ' || indisvalid as definition from pg_index where indrelid = 'events'::regclass) as i"
	want := ask[string](t, dsn, indexes)
	r := running(t, dsn)
	mustRecord(t, r, charge("R1"))
	mustRecord(t, r, charge("R2"))
	db := downTo(t, dsn, 6)
	if _, err := db.ExecContext(t.Context(), "create unique index concurrently events_test on events (test)"); err == nil {
		t.Fatal("the build was not interrupted")
	}
	if err := store.Migrate(t.Context(), dsn, silent); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, dsn, indexes); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
