package finance_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

const sample = "transactionType=CHARGE&referenceNumber=R1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR" +
	"&subscriptionId=S1&accountId=A1&merchantTransactionId=M1&testMode=Y&firstName=J%C3%BCrgen&sku=1&empty=&sku=2&odd=%zz"

func TestAnEventIsShownWhole(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	id := o.record(sample).EventID
	o.record(sample)
	o.record(strings.Replace(sample, "21.00", "22.00", 1))
	got := o.get(fmt.Sprint("/api/v1/events/", id))
	want := map[string]any{
		"id": float64(id), "transactionType": "CHARGE", "referenceNumber": "R1", "subscriptionId": "S1", "accountId": "A1", "merchantTransactionId": "M1",
		"amount": "21.00", "currency": "EUR", "test": true, "occurredAt": "2026-11-20T16:30:00Z", "receivedAt": "2026-11-21T12:00:00Z",
		"lastReceivedAt": "2026-11-21T12:00:00Z", "receipts": 3.0, "variantCount": 1.0, "handlers": []any{}, "verification": "signature", "family": "payment",
		"digest": ipn.DigestOf([]byte(sample)).String(), "identity": receipt(sample, "").Identity.String(),
		"fields": map[string]any{
			"transactionType": "CHARGE", "referenceNumber": "R1", "transactionDate": "11/20/2026 08:30 AM", "invoiceChargeAmount": "21.00",
			"invoiceChargeCurrency": "EUR", "subscriptionId": "S1", "accountId": "A1", "merchantTransactionId": "M1", "testMode": "Y",
			"firstName": "J***", "sku": []any{"***", "***"}, "***": "", "odd": "***",
		},
		"masked": true, "sentence": "Charged 21.00 EUR.",
	}
	for name, value := range want {
		if !reflect.DeepEqual(got[name], value) {
			t.Errorf("%s: got %v, want %v", name, got[name], value)
		}
	}
	if details, _ := got["details"].(map[string]any); len(details) == 0 {
		t.Errorf("details: got %v", got["details"])
	}
	problems, _ := got["problems"].([]any)
	if len(problems) == 0 || problems[0].(map[string]any)["code"] != ipn.BadEscape || problems[0].(map[string]any)["sentence"] == "" {
		t.Errorf("problems: got %v", got["problems"])
	}
	variants, _ := got["variants"].([]any)
	if len(variants) != 1 || variants[0].(map[string]any)["fields"].(map[string]any)["invoiceChargeAmount"] != "22.00" {
		t.Errorf("variants: got %v", got["variants"])
	}
	listed := o.get("/api/v1/events")["items"].([]any)[0].(map[string]any)
	for _, name := range []string{"family", "masked", "fields", "details", "variants", "handlers"} {
		delete(got, name)
	}
	if !reflect.DeepEqual(listed, got) {
		t.Errorf("the list shows\n%v\nthe event\n%v", listed, got)
	}
}

func TestAnEventTellsItsNextPlanItsEndAndItsDeposits(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	deposit := func(index float64, amount, currency string) any {
		return map[string]any{"index": index, "amount": amount, "currency": currency}
	}
	for _, tc := range []struct {
		name, body string
		want       map[string]any
	}{
		{"a move of plan", "transactionType=CONTRACT_CHANGE&referenceNumber=R1&oldContractId=P1&newContractId=P2&untilDate=12/20/2026+08:30+AM",
			map[string]any{"contractId": "P1", "newContractId": "P2", "untilAt": "2026-12-20T16:30:00Z", "deposits": nil}},
		{"a payout", "transactionType=PAYOUT&payoutId=1&amount[0]=500.00&currency[0]=EUR&amount[1]=x&currency[1]=USD",
			map[string]any{"newContractId": nil, "untilAt": nil, "deposits": []any{deposit(0, "500.00", "EUR"), map[string]any{"index": 1.0, "currency": "USD"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := o.get(fmt.Sprint("/api/v1/events/", o.record(tc.body).EventID))
			for name, value := range tc.want {
				if !reflect.DeepEqual(got[name], value) {
					t.Errorf("%s: got %v, want %v", name, got[name], value)
				}
			}
		})
	}
}

func TestTheRawBodyIsGivenByteForByte(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	for i, body := range []string{sample, "\x00\xff\r\n<script>" + strings.Repeat("é", 5000), ""} {
		answer := o.do(http.MethodGet, fmt.Sprintf("/api/v1/events/%d/raw", o.record(body).EventID))
		if answer.Code != http.StatusOK || answer.Body.String() != body {
			t.Errorf("body %d: got %d %q", i, answer.Code, answer.Body)
		}
		if got := answer.Header(); got.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(got.Get("Content-Disposition"), "attachment") {
			t.Errorf("body %d: a browser might run it: %v", i, got)
		}
	}
}

func TestTheQueryFilters(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.record(sample)
	o.record("transactionType=REFUND&referenceNumber=R2&reversalRefNum=V2&accountId=A2&transactionDate=11/21/2026+08:30+AM")
	o.record("transactionType=NOVEL&referenceNumber=S1&transactionDate=11/22/2026+08:30+AM")
	tests := []struct{ name, query, want string }{
		{"nothing", "", "NOVEL REFUND CHARGE"},
		{"type", query("transactionType", "CHARGE"), "CHARGE"},
		{"type in another spelling", query("transactionType", " charge"), "CHARGE"},
		{"unknown type", query("transactionType", "NOVEL"), "NOVEL"},
		{"reference", query("referenceNumber", "R2"), "REFUND"},
		{"subscription", query("subscriptionId", "S1"), "CHARGE"},
		{"merchant transaction", query("merchantTransactionId", "M1"), "CHARGE"},
		{"account", query("accountId", "A2"), "REFUND"},
		{"currency in small letters", query("currency", "eur"), "CHARGE"},
		{"from a day", query("from", "2026-11-21"), "NOVEL REFUND"},
		{"to an instant", query("to", "2026-11-21T08:30:00-08:00"), "CHARGE"},
		{"test", query("test", "true"), "CHARGE"},
		{"not test", query("test", "false"), "NOVEL REFUND"},
		{"text", query("q", "S1"), "NOVEL CHARGE"},
		{"together", query("q", "S1", "test", "true"), "CHARGE"},
		{"nothing fits", query("q", "nothing"), ""},
		{"limit", query("limit", "1"), "NOVEL"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var types []string
			for _, item := range o.get("/api/v1/events" + tc.query)["items"].([]any) {
				types = append(types, item.(map[string]any)["transactionType"].(string))
			}
			if got := strings.Join(types, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestABadParameterIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	cursor := func(raw string) string { return base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	tests := []struct{ name, query, location string }{
		{"a date of another form", query("from", "20.11.2026"), "query.from"},
		{"no such day", query("to", "2026-02-30"), "query.to"},
		{"currency", query("currency", "EURO"), "query.currency"},
		{"test", query("test", "maybe"), "query.test"},
		{"limit of nothing", query("limit", "0"), "query.limit"},
		{"limit beyond", query("limit", "1001"), "query.limit"},
		{"limit in words", query("limit", "ten"), "query.limit"},
		{"a limit of a billion", query("limit", "1e9"), "query.limit"},
		{"a negative limit", query("limit", "-1"), "query.limit"},
		{"a deep offset", query("offset", "1000000000"), "query.offset"},
		{"an order that sleeps", query("order", "pg_sleep(10)"), "query.order"},
		{"an unknown column", query("digest", "x"), "query.digest"},
		{"a filter of a million bytes", query("q", strings.Repeat("x", 1<<20)), "query"},
		{"a year of long ago", query("from", "0001-01-01"), "query.from"},
		{"a long text", query("q", strings.Repeat("x", 256)), "query.q"},
		{"a text with a NUL", query("q", "a\x00"), "query.q"},
		{"a reference that is no UTF-8", query("referenceNumber", "\xff"), "query.referenceNumber"},
		{"a type with a NUL", query("transactionType", "\x00"), "query.transactionType"},
		{"a cursor that is no base64", query("cursor", "***"), "query.cursor"},
		{"a short cursor", query("cursor", cursor("short")), "query.cursor"},
		{"a cursor before time began", query("cursor", cursor("\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01")), "query.cursor"},
		{"a cursor of no event", query("cursor", cursor(strings.Repeat("\x00", 16))), "query.cursor"},
		{"an unknown parameter", query("referencenumber", "R1"), "query.referencenumber"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/events"+tc.query), http.StatusUnprocessableEntity); !strings.Contains(text, `"`+tc.location+`"`) {
				t.Errorf("%s is not named: %s", tc.location, text)
			}
		})
	}
}

func TestPagesFollowTheCursorToTheEnd(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	var want, got []float64
	for i := range 9 {
		want = append(want, float64(o.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=R%d&transactionDate=11/20/2026+08:3%d+AM", i, i/4)).EventID))
	}
	slices.Reverse(want)
	pages := 0
	for next := query("limit", "3"); next != "" && pages < 9; pages++ {
		page := o.get("/api/v1/events" + next)
		for _, item := range page["items"].([]any) {
			got = append(got, item.(map[string]any)["id"].(float64))
		}
		next = ""
		if cursor, more := page["nextCursor"].(string); more {
			next = query("limit", "3", "cursor", cursor)
		}
	}
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("got %v on %d pages, want %v on 3", got, pages, want)
	}
}

func TestAnUnknownIDIs404(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	for _, path := range []string{"/api/v1/events/42", "/api/v1/events/42/raw"} {
		wantProblem(t, o.do(http.MethodGet, path), http.StatusNotFound)
	}
	wantProblem(t, o.post("/api/v1/quarantine/42/promote", because), http.StatusNotFound)
	for _, id := range []string{"0", "-1", "x", "9223372036854775808"} {
		if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/events/"+id), http.StatusUnprocessableEntity); !strings.Contains(text, "path.id") {
			t.Errorf("%s: %s", id, text)
		}
	}
}
