package finance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// november is a month of a shop, in bodies as the payment service writes them.
var november = []string{
	"transactionType=CHARGE&referenceNumber=R1&transactionDate=11/02/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=22.84&taxChargeAmount=3.35" +
		"&country=de&contractId=P1&subscriptionId=S1&untilDate=12/02/2026+08:30+AM&merchantTransactionId=order-77&accountId=A1",
	"transactionType=CHARGE&referenceNumber=R2&transactionDate=11/03/2026+08:30+AM&invoiceChargeAmount=100.00&invoiceChargeCurrency=USD&taxChargeAmount=7.25&country=US&state=CA&contractId=P2",
	"transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=5.00&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&transactionDate=11/05/2026+08:30+AM",
	"transactionType=CHARGEBACK&referenceNumber=R2&reversalRefNum=V2&invoiceChargeAmount=-100.00&invoiceChargeCurrency=USD&taxChargeAmount=7.25&transactionDate=11/10/2026+08:30+AM&cbStatus=NEW&country=US&state=CA",
	"transactionType=CHARGE&referenceNumber=R3&transactionDate=11/11/2026+08:30+AM&invoiceChargeAmount=9.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=9.80&taxChargeAmount=0.00&country=DE&contractId=P1",
	"transactionType=CHARGEBACK&referenceNumber=R3&reversalRefNum=V3&invoiceChargeAmount=-9.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=9.80&taxChargeAmount=0.00&transactionDate=11/12/2026+08:30+AM",
	"transactionType=CHARGEBACK_STATUS_CHANGED&referenceNumber=R3&reversalRefNum=V3&cbStatus=COMPLETED_WON&transactionDate=11/14/2026+08:30+AM",
	"transactionType=DECLINE&referenceNumber=R4&subscriptionId=S1&transactionDate=11/15/2026+08:30+AM",
	"transactionType=SUBSCRIPTION_CHARGE_FAILURE&subscriptionId=S1&transactionDate=11/15/2026+08:31+AM&failureReason=no+funds",
	"transactionType=PAYOUT&payoutId=9&amount[0]=12.34&currency[0]=EUR&amount[1]=50&currency[1]=USD&transactionDate=11/20/2026+08:30+AM",
	"transactionType=PAYOUT&payoutId=8&amount[0]=0.66&currency[0]=EUR&transactionDate=11/19/2026+08:30+AM",
	"transactionType=AUTH_ONLY&referenceNumber=R5&transactionDate=11/16/2026+08:30+AM&amount=5&currency=EUR",
	"transactionType=CHARGE_PENDING&referenceNumber=R6&transactionDate=11/17/2026+08:30+AM&amount=5&currency=EUR",
	"transactionType=CHARGE&referenceNumber=R9&transactionDate=12/01/2026+08:30+AM&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR",
	"transactionType=CHARGE&referenceNumber=T1&transactionDate=11/02/2026+08:30+AM&invoiceChargeAmount=7.00&invoiceChargeCurrency=EUR&testMode=Y",
}

// newNovember opens an office whose ledger has kept the books of the month, asked on its 21st.
func newNovember(t *testing.T, dsn string) *office {
	t.Helper()
	o := newLedgerOffice(t, dsn, func(o *finance.Office) { o.DisputeDays, o.Now = 10, func() time.Time { return noon } })
	for _, body := range november {
		o.record(body)
	}
	o.keepBooks(dsn)
	return o
}

// told is an answer without the spaces that nobody reads.
func told(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheReportsOfAMonthAreTold(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	month := query("from", "2026-11-01", "to", "2026-12-01")
	for _, tc := range []struct{ path, want string }{
		{"balance" + month, `[{"charges":"30.00","currency":"EUR","disputed":"0.00","net":"25.00","payouts":"13.00","refunds":"5.00","rest":"12.00"},` +
			`{"charges":"100.00","currency":"USD","disputed":"100.00","net":"0.00","payouts":"50","refunds":"0","rest":"-50.00"}]`},
		{"balance" + query("from", "2026-12-01"), `[{"charges":"1.00","currency":"EUR","disputed":"0","net":"1.00","payouts":"0","refunds":"0","rest":"1.00"}]`},
		{"balance" + query("test", "true"), `[{"charges":"7.00","currency":"EUR","disputed":"0","net":"7.00","payouts":"0","refunds":"0","rest":"7.00"}]`},
		{"taxes" + month, `[{"charged":"30.00","collected":"3.35","country":"DE","currency":"EUR","refunded":"0.00","reversed":"5.00","untold":1},` +
			`{"charged":"100.00","collected":"7.25","country":"US","currency":"USD","refunded":"7.25","reversed":"100.00","state":"CA","untold":0}]`},
		{"contracts" + month, `[{"amountUSD":"32.64","charged":"30.00","charges":2,"contractId":"P1","currency":"EUR","reversed":"5.00"},` +
			`{"amountUSD":"0.00","charged":"100.00","charges":1,"contractId":"P2","currency":"USD","reversed":"100.00"}]`},
		{"contracts" + month + "&limit=1", `[{"amountUSD":"32.64","charged":"30.00","charges":2,"contractId":"P1","currency":"EUR","reversed":"5.00"}]`},
		{"taxes" + query("from", "2026-11-21", "to", "2026-11-22"), `[]`},
	} {
		if got := told(t, o.get("/api/v1/" + tc.path)["items"]); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.path, got, tc.want)
		}
	}
	if got, want := told(t, o.get("/api/v1/rates"+month)), `{"chargebackRate":"0.6667","chargebacks":2,"charges":3,"declineRate":"0.2500","declines":1,"refundRate":"0.3333","refunds":1}`; got != want {
		t.Errorf("rates:\n got %s\nwant %s", got, want)
	}
	if got, want := told(t, o.get("/api/v1/rates"+query("to", "2026-01-01"))), `{"chargebackRate":null,"chargebacks":0,"charges":0,"declineRate":null,"declines":0,"refundRate":null,"refunds":0}`; got != want {
		t.Errorf("rates of nothing:\n got %s\nwant %s", got, want)
	}
}

func TestTheListsOfTheBooksAreFollowed(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	for _, tc := range []struct {
		path  string
		query []string
		name  func(map[string]any) string
		want  string
		pages int
	}{
		{"payouts", []string{"limit", "1"}, func(p map[string]any) string { return fmt.Sprint(p["amount"], p["currency"], " ", p["amountUSD"]) },
			"[50USD 50 12.34EUR <nil> 0.66EUR <nil>]", 3},
		{"payouts", []string{"from", "2026-11-20"}, func(p map[string]any) string { return fmt.Sprint(p["amount"]) }, "[50 12.34]", 1},
		{"subscriptions", []string{"atRisk", "true"}, func(s map[string]any) string { return fmt.Sprint(s["subscriptionId"], s["state"], s["lastAmount"]) }, "[S1past_due21.00]", 1},
		{"subscriptions", []string{"state", "active"}, func(s map[string]any) string { return fmt.Sprint(s["subscriptionId"]) }, "[]", 1},
		{"disputes", []string{"limit", "1", "order", "oldest"}, func(d map[string]any) string { return fmt.Sprint(d["referenceNumber"], d["state"]) }, "[R2open R3won]", 2},
		{"disputes", []string{"limit", "1", "order", "newest"}, func(d map[string]any) string { return fmt.Sprint(d["referenceNumber"], d["state"]) }, "[R3won R2open]", 2},
	} {
		got, pages := o.follow("/api/v1/"+tc.path, tc.query, tc.name)
		if fmt.Sprint(got) != tc.want || pages != tc.pages {
			t.Errorf("%s %v: got %v on %d pages, want %s on %d", tc.path, tc.query, got, pages, tc.want, tc.pages)
		}
	}
	payout := o.get("/api/v1/payouts" + query("limit", "1"))["items"].([]any)[0].(map[string]any)
	if event := o.get(fmt.Sprintf("/api/v1/events/%v", payout["eventId"])); event["transactionType"] != "PAYOUT" {
		t.Errorf("the event of a payout: got %v", event)
	}
}

// A cursor belongs to its list and to its filters: under others it would skip what nobody has seen.
func TestACursorIsGoodForItsOwnListOnly(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	cursor := fmt.Sprint(o.get("/api/v1/payouts" + query("limit", "1"))["nextCursor"])
	o.get("/api/v1/payouts" + query("limit", "2", "cursor", cursor))
	disputes := o.get("/api/v1/disputes" + query("limit", "1"))["nextCursor"]
	if rest := o.get("/api/v1/disputes" + query("limit", "9", "cursor", fmt.Sprint(disputes)))["items"].([]any); len(rest) != 1 {
		t.Errorf("behind the first of two disputes, with another limit: got %v", rest)
	}
	for _, path := range []string{"payouts" + query("cursor", cursor, "from", "2026-11-01"), "payouts" + query("cursor", cursor, "test", "true"),
		"disputes" + query("cursor", cursor), "unbooked" + query("cursor", cursor), "payouts" + query("cursor", cursor+"A")} {
		wantProblem(t, o.do(http.MethodGet, "/api/v1/"+path), http.StatusUnprocessableEntity)
	}
}

func TestOpenDisputesAreSummedUpByAge(t *testing.T) {
	t.Parallel()
	o := newNovember(t, pgtest.New(t))
	want := `{"ages":[{"age":"under_one_week","amounts":[],"count":0},{"age":"under_two_weeks","amounts":[{"amount":"100.00","currency":"USD"}],"count":1},` +
		`{"age":"older","amounts":[],"count":0}],"open":{"amounts":[{"amount":"100.00","currency":"USD"}],"count":1},` +
		`"pastDeadline":{"amounts":[{"amount":"100.00","currency":"USD"}],"count":1}}`
	if got := told(t, o.get("/api/v1/disputes/summary")); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := o.get("/api/v1/disputes/summary" + query("test", "true"))["open"].(map[string]any)["count"]; got != 0.0 {
		t.Errorf("of test orders: got %v", got)
	}
}

func TestAViewerMaySeeTheReports(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withShelf(&shelf{}))
	for _, path := range []string{"balance", "taxes", "contracts", "rates", "payouts", "subscriptions", "disputes/summary"} {
		if answer := o.as(access.Viewer).do(http.MethodGet, "/api/v1/"+path); answer.Code != http.StatusOK {
			t.Errorf("%s as a viewer: got %d", path, answer.Code)
		}
		wantProblem(t, o.as("").do(http.MethodGet, "/api/v1/"+path), http.StatusUnauthorized)
	}
}
