package finance_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// A shelf holds books as the ledger would have written them: transaction R1 and subscription S1 of the test book.
type shelf struct {
	finance.Books // of what is not asked here
	err           error
	disputes      []ipn.DisputeBook   // in the order of the listing
	unbooked      []ipn.UnbookedEvent // likewise
	totals        ipn.TotalsQuestion
}

func withShelf(s *shelf) func(*finance.Office) {
	return func(o *finance.Office) {
		o.Books, o.DisputeDays, o.Now = s, 10, func() time.Time { return noon }
		o.Cursors = sealing()
	}
}

func (s *shelf) Transaction(_ context.Context, reference string, test bool) (ipn.Transaction, error) {
	if s.err != nil || reference != "R1" || !test {
		return ipn.Transaction{}, orNotFound(s.err)
	}
	return ipn.Transaction{ReferenceNumber: "R1", Test: true, State: ipn.TransactionPartiallyRefunded, Currency: "EUR", Charged: money("21.00"),
		Refunded: money("0.90"), Refundable: money("20.10"), Tax: decimal.NewNullDecimal(money("2.00"))}, nil
}

func (s *shelf) Subscription(_ context.Context, id string, test bool) (ipn.SubscriptionBook, error) {
	if s.err != nil || id != "S1" || !test {
		return ipn.SubscriptionBook{}, orNotFound(s.err)
	}
	return ipn.SubscriptionBook{SubscriptionID: "S1", Test: true, State: ipn.SubscriptionActive, LastAmount: decimal.NewNullDecimal(money("1000"))}, nil
}

func (s *shelf) Disputes(_ context.Context, q ipn.DisputeQuestion) ([]ipn.DisputeBook, error) {
	from := 0
	if q.After != nil {
		from = 1 + slices.IndexFunc(s.disputes, func(d ipn.DisputeBook) bool { return d.Position() == *q.After })
	}
	var page []ipn.DisputeBook
	for _, d := range s.disputes[from:] {
		if (q.State == "" || d.State == q.State) && (q.ReferenceNumber == "" || d.ReferenceNumber == q.ReferenceNumber) && d.Test == q.Test && len(page) < q.Limit {
			page = append(page, d)
		}
	}
	return page, s.err
}

func (s *shelf) DisputeAges(context.Context, ipn.DisputeAgesQuestion) ([]ipn.DisputeAgeTotal, error) {
	return nil, s.err
}

func (s *shelf) Subscriptions(context.Context, ipn.SubscriptionQuestion) ([]ipn.SubscriptionBook, error) {
	return nil, s.err
}

func (s *shelf) Movements(context.Context, ipn.MovementQuestion) ([]ipn.Movement, error) {
	return nil, s.err
}

func (s *shelf) Balance(context.Context, ipn.Span) ([]ipn.Balance, error) { return nil, s.err }

func (s *shelf) Taxes(context.Context, ipn.Span) ([]ipn.TaxTotal, error) { return nil, s.err }

func (s *shelf) Contracts(context.Context, ipn.Span, int) ([]ipn.ContractTotal, error) {
	return nil, s.err
}

func (s *shelf) Rates(context.Context, ipn.Span) (ipn.Rates, error) { return ipn.Rates{}, s.err }

func (s *shelf) Unbooked(_ context.Context, q ipn.UnbookedQuestion) ([]ipn.UnbookedEvent, error) {
	from := 0
	if q.After != nil {
		from = 1 + slices.IndexFunc(s.unbooked, func(u ipn.UnbookedEvent) bool { return u.Position() == *q.After })
	}
	var page []ipn.UnbookedEvent
	for _, u := range s.unbooked[from:] {
		if (q.Reason == "" || u.Reason == q.Reason) && u.Test == q.Test && len(page) < q.Limit {
			page = append(page, u)
		}
	}
	return page, s.err
}

func (s *shelf) Totals(_ context.Context, q ipn.TotalsQuestion) ([]ipn.Total, error) {
	s.totals = q
	return []ipn.Total{{Day: "2026-11-20", Currency: "KWD", Count: 2, Amount: money("-1.500"), USD: money("0.00")}}, s.err
}

func orNotFound(err error) error {
	if err == nil {
		return ipn.ErrNotFound
	}
	return err
}

func money(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func TestATransactionIsShownWithItsTimeline(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withShelf(&shelf{}))
	refund := o.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&transactionDate=11/21/2026+08:30+AM&testMode=Y").EventID
	charge := o.record(sample).EventID
	o.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=live&transactionDate=11/19/2026+08:30+AM")
	o.record("transactionType=CHARGE&referenceNumber=R2&transactionDate=11/19/2026+08:30+AM&testMode=Y")

	got := o.get("/api/v1/transactions/R1?test=true")
	want := map[string]any{"state": "partially_refunded", "charged": "21.00", "refunded": "0.90", "refundable": "20.10", "disputed": "0", "tax": "2.00", "taxRefundable": nil}
	for name, value := range want {
		if !reflect.DeepEqual(got[name], value) {
			t.Errorf("%s: got %v, want %v", name, got[name], value)
		}
	}
	var steps []string
	for _, entry := range got["timeline"].([]any) {
		e := entry.(map[string]any)
		steps = append(steps, fmt.Sprint(e["eventId"], e["transactionType"], e["at"], e["amount"], e["currency"], e["reversalRefNum"]))
	}
	wantSteps := []string{
		fmt.Sprint(charge, "CHARGE", "2026-11-20T16:30:00Z", "21.00", "EUR", nil),
		fmt.Sprint(refund, "REFUND", "2026-11-21T16:30:00Z", "0.90", "EUR", "V1"),
	}
	if !slices.Equal(steps, wantSteps) {
		t.Errorf("the timeline: got %q, want %q", steps, wantSteps)
	}
}

func TestASubscriptionIsShownWithItsTimeline(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withShelf(&shelf{}))
	o.record(sample)
	got := o.get("/api/v1/subscriptions/S1?test=true")
	if timeline := got["timeline"].([]any); got["state"] != "active" || got["lastAmount"] != "1000" || len(timeline) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestTheLiveBooksAreAskedUnlessTestIsSaid(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	o := newOffice(t, nowhere(t), withShelf(s))
	for _, path := range []string{"transactions/R1", "transactions/R1?test=false", "subscriptions/S1", "transactions/a%00", "subscriptions/%ff", "transactions/R2?test=true"} {
		wantProblem(t, o.do(http.MethodGet, "/api/v1/"+path), http.StatusNotFound)
	}
	if o.get("/api/v1/totals"); s.totals.Test {
		t.Error("the totals of test orders were told")
	}
}

func TestADisputeAgesAndItsDeadlineIsEstimated(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	ended := noon.Add(-2 * day)
	o := newOffice(t, nowhere(t), withShelf(&shelf{disputes: []ipn.DisputeBook{
		{ReferenceNumber: "future", State: ipn.DisputeOpen, OpenedAt: noon.Add(day)},
		{ReferenceNumber: "young", State: ipn.DisputeOpen, OpenedAt: noon.Add(-3*day + time.Second), Amount: decimal.NewNullDecimal(money("21.00"))},
		{ReferenceNumber: "over", State: ipn.DisputeLost, OpenedAt: noon.Add(-9 * day), EndedAt: &ended},
	}}))
	want := []string{"future 0 2026-12-02T12:00:00Z <nil>", "young 2 2026-11-28T12:00:01Z 21.00", "over 7 <nil> <nil>"}
	var got []string
	for _, item := range o.get("/api/v1/disputes")["items"].([]any) {
		d := item.(map[string]any)
		got = append(got, fmt.Sprint(d["referenceNumber"], " ", d["ageDays"], " ", d["estimatedDeadline"], " ", d["amount"]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoDeadlineIsEstimatedWithoutDays(t *testing.T) {
	t.Parallel()
	s := &shelf{disputes: []ipn.DisputeBook{{State: ipn.DisputeOpen, OpenedAt: noon}}}
	o := newOffice(t, nowhere(t), withShelf(s), func(o *finance.Office) { o.DisputeDays = 0 })
	if d := o.get("/api/v1/disputes")["items"].([]any)[0].(map[string]any); d["estimatedDeadline"] != nil {
		t.Errorf("got %v", d)
	}
}

func TestDisputesAreListedPageByPage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withShelf(&shelf{disputes: []ipn.DisputeBook{
		{ReferenceNumber: "R2", ReversalReference: "V2", State: ipn.DisputeOpen, OpenedAt: noon.Add(time.Microsecond)},
		{ReferenceNumber: "R1", ReversalReference: "V2", State: ipn.DisputeWon, OpenedAt: noon},
		{ReferenceNumber: "R1", ReversalReference: "V1", State: ipn.DisputeOpen, OpenedAt: noon},
		{ReferenceNumber: `"R`, State: ipn.DisputeOpen, OpenedAt: noon},
	}}))
	for _, tc := range []struct {
		query []string
		want  string
		pages int
	}{
		{[]string{"limit", "1"}, `R2V2 R1V2 R1V1 "R`, 4},
		{[]string{"limit", "3"}, `R2V2 R1V2 R1V1 "R`, 2},
		{[]string{"state", "open", "limit", "2"}, `R2V2 R1V1 "R`, 2},
		{[]string{"test", "true"}, ``, 1},
	} {
		got, pages := o.follow("/api/v1/disputes", tc.query, func(d map[string]any) string {
			reversal, _ := d["reversalRefNum"].(string)
			return fmt.Sprint(d["referenceNumber"], reversal)
		})
		if strings.Join(got, " ") != tc.want || pages != tc.pages {
			t.Errorf("%v: got %v on %d pages, want %s on %d", tc.query, got, pages, tc.want, tc.pages)
		}
	}
}

// A page must be followed past any number that the record can hold: one byte may take six in JSON.
func TestThePageBehindTheLongestNumbersIsReached(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("<", 255)
	o := newOffice(t, nowhere(t), withShelf(&shelf{disputes: []ipn.DisputeBook{
		{ReferenceNumber: longest, ReversalReference: longest, OpenedAt: noon}, {ReferenceNumber: "R1", OpenedAt: noon.Add(-1)},
	}}))
	got, _ := o.follow("/api/v1/disputes", []string{"limit", "1"}, func(d map[string]any) string { return d["referenceNumber"].(string) })
	if len(got) != 2 || got[1] != "R1" {
		t.Errorf("got %d disputes", len(got))
	}
}

func TestTotalsAreAskedByDaysOfUTC(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		query string
		want  ipn.TotalsQuestion
	}{
		{"", ipn.TotalsQuestion{GroupBy: ipn.TotalsByDay}},
		{query("from", "2026-11-01", "to", "2026-12-01", "groupBy", "month"), ipn.TotalsQuestion{From: day, To: day.AddDate(0, 1, 0), GroupBy: ipn.TotalsByMonth}},
		{query("from", "2026-11-01T01:00:00+01:00", "groupBy", "transactionType"), ipn.TotalsQuestion{From: day, GroupBy: ipn.TotalsByKind}},
		{query("groupBy", "currency", "test", "true"), ipn.TotalsQuestion{GroupBy: ipn.TotalsByCurrency, Test: true}},
	}
	for _, tc := range tests {
		t.Run(tc.query, func(t *testing.T) {
			s := &shelf{}
			o := newOffice(t, nowhere(t), withShelf(s))
			got := o.get("/api/v1/totals" + tc.query)["items"].([]any)[0].(map[string]any)
			want := map[string]any{"day": "2026-11-20", "currency": "KWD", "test": false, "count": 2.0, "amount": "-1.500", "tax": "0", "amountUSD": "0.00"}
			if !reflect.DeepEqual(got, want) || s.totals != tc.want {
				t.Errorf("got %v for %+v, want %v for %+v", got, s.totals, want, tc.want)
			}
		})
	}
}

func TestABadParameterOfTheBooksIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withShelf(&shelf{}))
	cursor := func(raw string) string { return base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	for _, tc := range []struct{ name, path, location string }{
		{"half a day", "totals" + query("from", "2026-11-01T12:00:00Z"), "query.from"},
		{"a date of another form", "totals" + query("to", "1.11.2026"), "query.to"},
		{"an end before the beginning", "balance" + query("from", "2026-11-02", "to", "2026-11-01"), "query.to"},
		{"a span of no day", "taxes" + query("from", "2026-11-01", "to", "2026-11-01"), "query.to"},
		{"half a day of plans", "contracts" + query("from", "2026-11-01T12:00:00Z"), "query.from"},
		{"a thousand and one plans", "contracts" + query("limit", "1001"), "query.limit"},
		{"half a day of rates", "rates" + query("to", "2026-11-01T12:00:00Z"), "query.to"},
		{"half a day of payouts", "payouts" + query("to", "2026-11-01T12:00:00Z"), "query.to"},
		{"a payouts' cursor of one's own", "payouts" + query("cursor", cursor(`{"At":"2026-11-01T00:00:00Z","EventID":1}`)), "query.cursor"},
		{"a risk of maybe", "subscriptions" + query("atRisk", "maybe"), "query.atRisk"},
		{"a subscription's state nobody knows", "subscriptions" + query("state", "asleep"), "query.state"},
		{"a subscriptions' cursor of one's own", "subscriptions" + query("cursor", cursor(`{"ID":"S1"}`)), "query.cursor"},
		{"another order", "disputes" + query("order", "random"), "query.order"},
		{"a story of maybe", "stories/R1" + query("test", "maybe"), "query.test"},
		{"another grouping", "totals" + query("groupBy", "week"), "query.groupBy"},
		{"a test of maybe", "transactions/R1" + query("test", "maybe"), "query.test"},
		{"another state", "disputes" + query("state", "lost and found"), "query.state"},
		{"a reason nobody knows", "unbooked" + query("reason", "mood"), "query.reason"},
		{"a cursor of no reason", "unbooked" + query("cursor", cursor("12345678")), "query.cursor"},
		{"a cursor that is no base64", "disputes" + query("cursor", "***"), "query.cursor"},
		{"a cursor that is no list", "disputes" + query("cursor", cursor(`{}`)), "query.cursor"},
		{"a short cursor", "disputes" + query("cursor", cursor(`["2026-11-01T00:00:00Z","R1"]`)), "query.cursor"},
		{"a cursor of no time", "disputes" + query("cursor", cursor(`["","R1",""]`)), "query.cursor"},
		{"a cursor with a NUL", "disputes" + query("cursor", cursor(`["2026-11-01T00:00:00Z","\u0000",""]`)), "query.cursor"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/"+tc.path), http.StatusUnprocessableEntity); !strings.Contains(text, `"`+tc.location+`"`) {
				t.Errorf("%s is not named: %s", tc.location, text)
			}
		})
	}
}

func TestAwayBooksAre503(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withShelf(&shelf{err: ipn.ErrUnavailable}))
	for _, path := range []string{"transactions/R1", "subscriptions/S1", "subscriptions", "disputes", "disputes/summary", "payouts", "unbooked",
		"totals", "balance", "taxes", "contracts", "rates", "stories/R1"} {
		wantProblem(t, o.do(http.MethodGet, "/api/v1/"+path), http.StatusServiceUnavailable)
	}
}
