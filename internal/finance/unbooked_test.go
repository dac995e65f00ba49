package finance_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestWhatIsNotBookedIsListedPageByPage(t *testing.T) {
	t.Parallel()
	note := func(id int64, test bool, reason ipn.UnbookedReason) ipn.UnbookedEvent {
		return ipn.UnbookedEvent{Unbooked: ipn.Unbooked{EventID: id, Test: test, Reason: reason}}
	}
	o := newOffice(t, nowhere(t), withShelf(&shelf{unbooked: []ipn.UnbookedEvent{
		note(9, false, ipn.UnbookedSameReversal), note(7, true, ipn.UnbookedNoAmount),
		note(4, false, ipn.UnbookedNoOpening), note(4, false, ipn.UnbookedNoAmount), note(1, false, ipn.UnbookedNoAmount),
	}}))
	for _, tc := range []struct {
		name  string
		query []string
		want  string
		pages int
	}{
		{"one by one", []string{"limit", "1"}, "9 same_reversal, 4 opening_unknown, 4 amount_missing, 1 amount_missing", 4},
		{"two by two", []string{"limit", "2"}, "9 same_reversal, 4 opening_unknown, 4 amount_missing, 1 amount_missing", 2},
		{"for a reason", []string{"reason", "amount_missing", "limit", "1"}, "4 amount_missing, 1 amount_missing", 2},
		{"of test orders", []string{"test", "true"}, "7 amount_missing", 1},
		{"none", []string{"test", "true", "reason", "same_reversal"}, "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, pages := o.follow("/api/v1/unbooked", tc.query, func(u map[string]any) string { return fmt.Sprint(u["eventId"], " ", u["reason"]) })
			if strings.Join(got, ", ") != tc.want || pages != tc.pages {
				t.Errorf("got %v on %d pages, want %s on %d", got, pages, tc.want, tc.pages)
			}
		})
	}
}

func TestWhatTheLedgerDidNotBookIsToldInWords(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	id := o.record("transactionType=CHARGE&referenceNumber=R1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=1e3&invoiceChargeCurrency=EUR").EventID
	o.record("transactionType=CHARGE&referenceNumber=R2&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR")
	o.keepBooks(dsn)
	want := []any{map[string]any{"eventId": float64(id), "test": false, "transactionType": "CHARGE", "referenceNumber": "R1",
		"reason": "amount_missing", "sentence": ipn.UnbookedNoAmount.Sentence()}}
	if got := o.get("/api/v1/unbooked")["items"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEveryReasonNotToBookIsDescribed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withShelf(&shelf{}))
	description := o.get("/openapi.json")
	schemas := description["components"].(map[string]any)["schemas"].(map[string]any)
	shown := schemas["UnbookedView"].(map[string]any)["properties"].(map[string]any)["reason"].(map[string]any)["enum"]
	var asked any
	operation := description["paths"].(map[string]any)["/api/v1/unbooked"].(map[string]any)["get"].(map[string]any)
	for _, parameter := range operation["parameters"].([]any) {
		if p := parameter.(map[string]any); p["name"] == "reason" {
			asked = p["schema"].(map[string]any)["enum"]
		}
	}
	want := make([]any, 0, 4)
	for _, reason := range ipn.UnbookedReasons() {
		want = append(want, string(reason))
	}
	if !reflect.DeepEqual(shown, want) || !reflect.DeepEqual(asked, want) {
		t.Errorf("shown %v, asked %v, want %v", shown, asked, want)
	}
}

func TestATimelineNeedsNoBodies(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn, withShelf(&shelf{}))
	o.record(sample)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "alter table payloads rename to elsewhere")
	if closed := conn.Close(t.Context()); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	if timeline := o.get("/api/v1/transactions/R1?test=true")["timeline"].([]any); len(timeline) != 1 {
		t.Errorf("got %v", timeline)
	}
}
