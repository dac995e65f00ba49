package finance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// withTransfers lists bank transfers as they stand an hour after noon, when all of these tests came in.
func withTransfers(o *finance.Office) {
	o.Transfers, o.TransferMethods = o.History.(*store.Store), []string{"SOFORT"}
	o.Now = func() time.Time { return noon.Add(time.Hour) }
}

// comeBack keeps what a shopper brings back from the bank at noon.
func (o *office) comeBack(status string, order int64, transactionID string) {
	o.tb.Helper()
	err := o.store.AddTransferReturn(o.tb.Context(), ipn.TransferReturn{
		Status: status, OrderID: order, TransactionID: transactionID, MerchantTransactionID: fmt.Sprint("cart-", order), ReceivedAt: noon})
	if err != nil {
		o.tb.Fatal(err)
	}
}

// byTransfer is an IPN of a bank transfer of 21 euros.
func byTransfer(transactionType, reference string) string {
	return "transactionType=" + transactionType + "&referenceNumber=" + reference + "&paymentMethod=SOFORT&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR"
}

const transfersPath = "/api/v1/transfers"

func TestABankTransferIsShownWithItsReturn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTransfers).as(access.Viewer)
	o.comeBack("SUCCESS", 4711, "1012345678")
	o.record(byTransfer("CHARGE", "1012345678"))
	wantAt(t, o.get(transfersPath), map[string]any{
		"items.0.referenceNumber": "1012345678", "items.0.transactionType": "CHARGE", "items.0.amount": "21.00", "items.0.currency": "EUR",
		"items.0.at": "2026-11-21T12:00:00Z", "items.0.trouble": nil, "items.0.sentence": nil,
		"items.0.return.status": "SUCCESS", "items.0.return.orderId": 4711.0, "items.0.return.transactionId": "1012345678",
		"items.0.return.merchantTransactionId": "cart-4711", "items.0.return.receipts": 1.0, "items.1": nil, "nextCursor": nil,
	})
}

func TestTheTroublesOfBankTransfersAreWorkLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTransfers)
	o.comeBack("SUCCESS", 1, "unheard-of")
	o.record(byTransfer("CHARGE", "100"))
	o.record(byTransfer("CHARGE_PENDING", "200"))
	for trouble, want := range map[string]map[string]any{
		"return_without_ipn": {"items.0.return.orderId": 1.0, "items.0.amount": nil, "items.0.eventId": nil},
		"ipn_without_return": {"items.0.referenceNumber": "100", "items.0.return": nil},
		"pending":            {"items.0.referenceNumber": "200"},
	} {
		page := o.get(transfersPath + query("trouble", trouble))
		want["items.0.trouble"], want["items.1"] = trouble, nil
		wantAt(t, page, want)
		if at(page, "items.0.sentence") == nil {
			t.Errorf("%s has no words", trouble)
		}
	}
	if items := o.get(transfersPath + "?test=true")["items"].([]any); len(items) != 1 {
		t.Errorf("the book of test orders has %v: want the return alone, which is of no book", items)
	}
}

func TestPagesOfBankTransfersTakeOnlyTheirOwnCursors(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTransfers)
	for i := range 5 {
		o.record(byTransfer("CHARGE", fmt.Sprint(100+i)))
		o.comeBack("SUCCESS", int64(i+1), fmt.Sprint(900+i))
	}
	seen, cursor, first := map[string]bool{}, "", ""
	for range 10 {
		page := o.get(transfersPath + query("limit", "3", "cursor", cursor))
		for _, item := range page["items"].([]any) {
			seen[fmt.Sprint(at(item, "referenceNumber"), at(item, "return.orderId"))] = true
		}
		if page["nextCursor"] == nil {
			break
		}
		cursor = page["nextCursor"].(string)
		if first == "" {
			first = cursor
		}
	}
	if len(seen) != 10 {
		t.Errorf("saw %d transfers, want 10: %v", len(seen), seen)
	}
	for _, tc := range []struct {
		name, field string
		pairs       []string
	}{
		{"a cursor that was changed", "cursor", []string{"limit", "3", "cursor", first[:len(first)-2] + "AA"}},
		{"one that was made up", "cursor", []string{"limit", "3", "cursor", "eyJOb3ciOiIyMDI2In0"}},
		{"one of another work list", "cursor", []string{"limit", "3", "cursor", first, "trouble", "pending"}},
		{"one of the other book", "cursor", []string{"limit", "3", "cursor", first, "test", "true"}},
		{"one of other days", "cursor", []string{"limit", "3", "cursor", first, "days", "7"}},
		{"no cursor", "cursor", []string{"cursor", "%"}},
		{"no trouble", "trouble", []string{"trouble", "bored"}},
		{"no days", "days", []string{"days", "0"}},
		{"no limit", "limit", []string{"limit", "0"}},
	} {
		text := wantProblem(t, o.do(http.MethodGet, transfersPath+query(tc.pairs...)), http.StatusUnprocessableEntity)
		if !strings.Contains(text, `"location":"query.`+tc.field+`"`) {
			t.Errorf("%s: the answer does not name query.%s: %s", tc.name, tc.field, text)
		}
	}
}

func TestBankTransfersAreLookedForInTheDaysThatWereAsked(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTransfers)
	o.record(byTransfer("CHARGE", "old") + "&transactionDate=11/01/2026+12:00+PM")
	o.record(byTransfer("CHARGE", "young") + "&transactionDate=11/19/2026+12:00+PM")
	for days, want := range map[string]int{"1": 0, "7": 1, "30": 2} {
		if items := o.get(transfersPath + query("days", days))["items"].([]any); len(items) != want {
			t.Errorf("in %s days: got %d, want %d", days, len(items), want)
		}
	}
}
