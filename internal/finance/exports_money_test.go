package finance_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// sums are amounts by kind and currency.
type sums map[string]decimal.Decimal

func (s sums) add(kind, currency, amount string) {
	value := decimal.RequireFromString(amount)
	s[kind+" "+currency] = s[kind+" "+currency].Add(value)
}

// String tells sums in order, with the digits that are there.
func (s sums) String() string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		lines = append(lines, key+" "+s[key].String())
	}
	return strings.Join(lines, "\n")
}

// kindOf tells which kind of movement a type makes.
var kindOf = map[string]string{
	"CHARGE": "charge", "RECURRING": "recurring", "REFUND": "refund", "CANCELLATION_REFUND": "cancellation_refund", "CHARGEBACK": "chargeback", "PAYOUT": "payout",
}

// generated makes the bodies of some hundred IPNs of many types and currencies from the end of October to the beginning of
// December, on both sides of midnight; many are sent twice.
func generated(random *rand.Rand) (bodies []string) {
	currencies := []struct {
		code   string
		places int32
	}{{"JPY", 0}, {"EUR", 2}, {"USD", 2}, {"BHD", 3}}
	types := []string{"CHARGE", "CHARGE", "CHARGE", "RECURRING", "REFUND", "CANCELLATION_REFUND", "CHARGEBACK", "PAYOUT", "DECLINE", "AUTH_ONLY", "CANCELLATION", "INVENTED"}
	for n := range 500 {
		currency := currencies[random.IntN(len(currencies))]
		amount := decimal.New(random.Int64N(10_000_000)+1, -currency.places).StringFixed(currency.places)
		at := time.Date(2026, 10, 30, random.IntN(24), random.IntN(60), 0, 0, time.UTC).AddDate(0, 0, random.IntN(34))
		body := url.Values{"transactionType": {types[random.IntN(len(types))]}, "transactionDate": {at.Format("01/02/2006 03:04 PM")}, "referenceNumber": {fmt.Sprint(1_000_000 + n)}}
		if random.IntN(10) == 0 {
			body.Set("testMode", "Y")
		}
		switch body.Get("transactionType") {
		case "REFUND", "CANCELLATION_REFUND":
			body.Set("reversalRefNum", fmt.Sprint(2_000_000+n))
			body.Set("reversalAmount", amount)
			body.Set("currency", currency.code)
		case "CHARGEBACK":
			body.Set("reversalRefNum", fmt.Sprint(2_000_000+n))
			body.Set("invoiceChargeAmount", "-"+amount)
			body.Set("invoiceChargeCurrency", currency.code)
		case "PAYOUT":
			body.Set("payoutId", fmt.Sprint(n))
			body.Set("amount[0]", amount)
			body.Set("currency[0]", currency.code)
			body.Set("amount[1]", "7")
			body.Set("currency[1]", "JPY")
		default:
			body.Set("invoiceChargeAmount", amount)
			body.Set("invoiceChargeCurrency", currency.code)
		}
		bodies = append(bodies, body.Encode())
		if random.IntN(4) == 0 {
			bodies = append(bodies, body.Encode())
		}
	}
	return bodies
}

// sumOfBodies adds up November of the live book from the bodies alone: nothing of ours reads them.
func sumOfBodies(t *testing.T, bodies []string) sums {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	found, seen := sums{}, map[string]bool{}
	for _, text := range bodies {
		body, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("01/02/2006 03:04 PM", body.Get("transactionDate"), zone)
		if err != nil {
			t.Fatal(err)
		}
		kind := kindOf[body.Get("transactionType")]
		if kind == "" || seen[text] || body.Get("testMode") == "Y" || at.UTC().Format("2006-01") != "2026-11" {
			continue
		}
		seen[text] = true
		switch kind {
		case "payout":
			found.add(kind, body.Get("currency[0]"), "-"+body.Get("amount[0]"))
			found.add(kind, body.Get("currency[1]"), "-"+body.Get("amount[1]"))
		case "refund", "cancellation_refund":
			found.add(kind, body.Get("currency"), "-"+body.Get("reversalAmount"))
		default:
			found.add(kind, body.Get("invoiceChargeCurrency"), body.Get("invoiceChargeAmount"))
		}
	}
	return found
}

func TestAnExportOfAMonthEqualsTheTotalsAndTheBodiesToTheCent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	bodies := generated(rand.New(rand.NewPCG(20, 26)))
	for _, body := range bodies {
		o.record(body)
	}
	o.keepBooks(dsn)
	november := []string{"from", "2026-11-01", "to", "2026-12-01", "test", "false"}

	sent := sumOfBodies(t, bodies)
	if len(sent) < 20 {
		t.Fatalf("the bodies come to little:\n%s", sent)
	}
	totals := sums{}
	for _, item := range o.get("/api/v1/totals" + query(append([]string{"groupBy", "transactionType"}, november...)...))["items"].([]any) {
		total := item.(map[string]any)
		totals.add(total["kind"].(string), total["currency"].(string), total["amount"].(string))
	}
	movements := sums{}
	for _, row := range table(t, o.export(append([]string{"of", "movements"}, november...)...).Body.String()) {
		movements.add(row["kind"], row["currency"], row["amount"])
	}
	events := sums{}
	for _, row := range table(t, o.export(november...).Body.String()) {
		if kind := kindOf[row["transactionType"]]; row["signedAmount"] != "" {
			events.add(kind, row["currency"], row["signedAmount"])
		}
	}
	if totals.String() != sent.String() {
		t.Errorf("the totals are\n%s\nthe bodies come to\n%s", totals, sent)
	}
	if movements.String() != sent.String() {
		t.Errorf("the exported movements come to\n%s\nthe bodies to\n%s", movements, sent)
	}
	maps.DeleteFunc(sent, func(key string, _ decimal.Decimal) bool { return strings.HasPrefix(key, "payout") })
	if events.String() != sent.String() {
		t.Errorf("the exported events come to\n%s\nthe bodies without payouts to\n%s", events, sent)
	}
}
