package finance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestATransactionIsToldInWords(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	for _, tc := range []struct{ path, want string }{
		{"R1", "Charged 21.00 EUR on 2 November 2026, 5.00 EUR refunded."},
		{"R2", "Charged 100.00 USD on 3 November 2026, a dispute over 100.00 USD is open since 10 November 2026, nothing is left to refund."},
		{"R3", "Charged 9.00 EUR on 11 November 2026, a dispute over 9.00 EUR was won on 14 November 2026."},
		{"R4", "Declined on 15 November 2026."},
		{"R5", "Authorised on 16 November 2026, not charged."},
		{"R6", "Pending since 17 November 2026, not charged."},
	} {
		got := o.get("/api/v1/transactions/" + tc.path)
		if got["summary"] != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.path, got["summary"], tc.want)
		}
		for _, entry := range got["timeline"].([]any) {
			if sentence := entry.(map[string]any)["sentence"].(string); !strings.HasSuffix(sentence, ".") {
				t.Errorf("%s: an event says %q", tc.path, sentence)
			}
		}
	}
	disputes := o.get("/api/v1/transactions/R2")["disputes"].([]any)
	if d := disputes[0].(map[string]any); len(disputes) != 1 || d["ageDays"] != 10.0 || d["amount"] != "100.00" || d["estimatedDeadline"] != "2026-11-20T16:30:00Z" {
		t.Errorf("the disputes of R2: got %v", disputes)
	}
}

func TestANumberIsToldWhateverItIsTheNumberOf(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	o.record("transactionType=RECURRING&referenceNumber=R7&originalRefNum=R0&subscriptionId=S7&transactionDate=11/16/2026+08:30+AM&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR")
	o.record("transactionType=CANCELLATION&subscriptionId=R1&transactionDate=11/17/2026+08:30+AM")
	for _, tc := range []struct{ number, is, types string }{
		{"R2", `[{"id":"R2","kind":"transaction"}]`, "CHARGE CHARGEBACK"},
		{"R0", `[{"id":"R0","kind":"transaction"}]`, "RECURRING"},
		{"S1", `[{"id":"S1","kind":"subscription"}]`, "CHARGE DECLINE SUBSCRIPTION_CHARGE_FAILURE"},
		{"V3", `[{"id":"V3","kind":"reversal","referenceNumbers":["R3"]}]`, "CHARGEBACK CHARGEBACK_STATUS_CHANGED"},
		{"order-77", `[{"id":"order-77","kind":"merchantTransaction","referenceNumbers":["R1"]}]`, "CHARGE"},
		{"A1", `[{"id":"A1","kind":"account"}]`, "CHARGE"},
		{"T1", `[{"id":"T1","kind":"transaction"}]`, "CHARGE"},
		{"R1", `[{"id":"R1","kind":"transaction"},{"id":"R1","kind":"subscription"}]`, "CHARGE REFUND CANCELLATION"},
	} {
		got := o.get("/api/v1/stories/" + tc.number)
		var types []string
		for _, entry := range got["timeline"].([]any) {
			e := entry.(map[string]any)
			types = append(types, fmt.Sprint(e["transactionType"]))
			if e["sentence"] == "" || e["test"] != (tc.number == "T1") {
				t.Errorf("%s: got %v", tc.number, e)
			}
		}
		if is := told(t, got["is"]); is != tc.is || strings.Join(types, " ") != tc.types || got["number"] != tc.number || got["more"] != false {
			t.Errorf("%s: got %s of %v, want %s of %s", tc.number, is, types, tc.is, tc.types)
		}
	}
	for _, path := range []string{"R11", "R1?test=true", "T1?test=false", "a%00", "%ff"} {
		wantProblem(t, o.do(http.MethodGet, "/api/v1/stories/"+path), http.StatusNotFound)
	}
}
