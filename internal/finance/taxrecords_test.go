package finance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// withTaxRecords keeps tax records in the office's own record.
func withTaxRecords(o *finance.Office) { o.TaxRecords = o.History.(*store.Store) }

const taxRecords = "/api/v1/tax-records"

// quoteTo is what the payment service answers to Create Tax Quote for shirts and mugs that are shipped there.
func quoteTo(tb testing.TB, country, state string) string {
	tb.Helper()
	request := httptest.NewRequest(http.MethodPost, "/services/2/tax-quote", strings.NewReader(fmt.Sprintf(`{"currency":"USD",
		"shipTo":{"address":"1 Main St","city":"Anywhere","state":%q,"zip":"80202","country":%q},
		"lines":[{"itemCode":"SHIRT","description":"Shirt","taxCode":"PS081282","quantity":1,"amount":50},
			{"itemCode":"MUG","description":"Mug","taxCode":"PS081282","quantity":3,"amount":10.01}]}`, state, country)))
	request.SetBasicAuth("paysim", "paysim-password")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("service-version", "3.0")
	answer := httptest.NewRecorder()
	simulator.New(simulator.Options{Seed: 7, Start: noon}).Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		tb.Fatalf("the payment service answered %d %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// besides is a body with members put before its own.
func besides(members, body string) string { return "{" + members + "," + strings.TrimPrefix(body, "{") }

// must fails unless an answer is 200, and returns its JSON.
func (o *office) must(answer *httptest.ResponseRecorder) map[string]any {
	o.tb.Helper()
	if answer.Code != http.StatusOK {
		o.tb.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	return object(o.tb, answer.Body)
}

// counted asks the database for a number.
func counted(tb testing.TB, dsn, question string) (n int) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(tb.Context(), question).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// at walks down an object: a.b.0.c
func at(found any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch within := found.(type) {
		case map[string]any:
			found = within[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(within) {
				return nil
			}
			found = within[i]
		default:
			return nil
		}
	}
	return found
}

func wantAt(tb testing.TB, found map[string]any, want map[string]any) {
	tb.Helper()
	for path, value := range want {
		if got := at(found, path); !reflect.DeepEqual(got, value) {
			tb.Errorf("%s is %v, want %v", path, got, value)
		}
	}
}

func TestAQuoteIsKeptAsThePaymentServiceAnsweredIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	// 2.9 percent of 50.00 and of 10.01, and the fee of 0.29, which the quote tells as a line of its own.
	wantAt(t, o.must(o.post(taxRecords, besides(`"merchantTransactionId":"cart-1"`, quoteTo(t, "US", "CO")))), map[string]any{
		"merchantTransactionId": "cart-1", "currency": "USD", "country": "US", "state": "CO", "test": false,
		"lines.0.itemCode": "SHIRT", "lines.0.amount": "50.00", "lines.0.tax": "1.45", "lines.0.left": 1.0,
		"lines.1.itemCode": "MUG", "lines.1.amount": "10.01", "lines.1.tax": "0.29", "lines.1.quantity": 3.0, "lines.2": nil,
		"amount": "60.01", "tax": "1.74", "deliveryFee": "0.29", "total": "62.04", "invoiceTax": "2.03",
		"labels.tax": "Tax & Delivery Fee", "labels.taxId": "VAT ID",
		"remaining.amount": "61.75", "remaining.taxAmount": "1.74", "refunds": []any{},
	})
	o.record("transactionType=CHARGE&referenceNumber=1012345678&merchantTransactionId=cart-1&invoiceChargeAmount=62.04&invoiceChargeCurrency=USD")
	for _, number := range []string{"cart-1", "1012345678"} {
		wantAt(t, o.get(taxRecords+"/"+number), map[string]any{"merchantTransactionId": "cart-1", "deliveryFee": "0.29"})
	}
}

func TestAustraliaHasItsOwnLabel(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	wantAt(t, o.must(o.post(taxRecords, besides(`"referenceNumber":"1"`, quoteTo(t, "AU", "")))), map[string]any{
		"labels.taxId": "ABN", "labels.tax": "Tax", "deliveryFee": "0.00", "country": "AU",
	})
}

// aRecord is a record in few words; its fee is what totalTax holds beyond the lines.
const aRecord = `{"referenceNumber":"1012345678","currency":"usd","shipTo":{"country":"US","state":"CO"},"totalTax":3.79,
	"lines":[{"itemCode":"SHIRT","quantity":1,"amount":"50.00","tax":2.50},{"itemCode":"MUG","quantity":3,"amount":10,"tax":"1.00"}]}`

func TestAmountsAreReadToTheDigitWhateverTheyAreWrittenAs(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	for i, tc := range []struct{ currency, amount, tax, want, wantTax string }{
		{"USD", `"50.00"`, `2.50`, "50.00", "2.50"},
		{"USD", `50`, `"0"`, "50.00", "0.00"},
		{"USD", `90071992547409.93`, `0.1`, "90071992547409.93", "0.10"}, // more than a float tells apart
		{"USD", `"12345678901234567890.12"`, `0.07`, "12345678901234567890.12", "0.07"},
		{"JPY", `1000`, `"100.00"`, "1000", "100"},
		{"BHD", `1.234`, `"0.001"`, "1.234", "0.001"},
	} {
		body := fmt.Sprintf(`{"referenceNumber":"%d","currency":%q,"lines":[{"itemCode":"A","quantity":1,"amount":%s,"tax":%s}]}`, i, tc.currency, tc.amount, tc.tax)
		wantAt(t, o.must(o.post(taxRecords, body)), map[string]any{"lines.0.amount": tc.want, "lines.0.tax": tc.wantTax})
	}
}

func TestARecordThatCannotBeIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn, withTaxRecords)
	long, wide := strings.Repeat("9", 40), strings.Repeat("ü", 200)
	for _, tc := range []struct{ name, old, now, field string }{
		{"an exponent", `"50.00"`, `"5e1"`, "body.lines[0].amount"},
		{"an exponent of a number", `"50.00"`, `5e1`, "body.lines[0].amount"},
		{"an exponent that would fill memory", `"50.00"`, `1e300`, "body.lines[0].amount"},
		{"an exponent beyond floats", `"50.00"`, `1e999999999`, "body"},
		{"40 digits", `"50.00"`, `"` + long + `"`, "body.lines[0].amount"},
		{"40 digits of a number", `"50.00"`, long, "body.lines[0].amount"},
		{"no amount", `"50.00"`, `null`, "body.lines[0].amount"},
		{"a word", `"50.00"`, `"fifty"`, "body.lines[0].amount"},
		{"a sign", `"50.00"`, `"-50.00"`, "body.lines[0].amount"},
		{"a negative number", `"50.00"`, `-50`, "body.lines"},
		{"a list", `"50.00"`, `[50]`, "body.lines[0].amount"},
		{"too many decimals", `"50.00"`, `"50.001"`, "body.lines"},
		{"a tax of too many decimals", `2.50`, `2.505`, "body.lines"},
		{"a total below the lines", `3.79`, `3.49`, "body.totalTax"},
		{"a total of too many decimals", `3.79`, `3.795`, "body.lines"},
		{"an item twice", `"MUG"`, `"SHIRT"`, "body.lines"},
		{"an item with a comma", `"MUG"`, `"MUG,2"`, "body.lines"},
		{"an item without a name", `"MUG"`, `""`, "body.lines[1].itemCode"},
		{"an item with NUL", `"MUG"`, `"MU\u0000G"`, "body.lines[1].itemCode"},
		{"no pieces", `"quantity":3`, `"quantity":0`, "body.lines[1].quantity"},
		{"more pieces than there can be", `"quantity":3`, `"quantity":1e30`, "body.lines[1].quantity"},
		{"pieces with an exponent", `"quantity":3`, `"quantity":3e0`, "body.lines"},
		{"32 digits of a number", `"50.00"`, strings.Repeat("9", 32), "body.lines[0].amount"},
		{"a third of a piece", `"quantity":3`, `"quantity":0.3`, "body.lines[1].quantity"},
		{"no currency", `"usd"`, `""`, "body.currency"},
		{"no transaction", `"referenceNumber":"1012345678",`, ``, "body.referenceNumber"},
		{"an empty transaction", `"1012345678"`, `""`, "body.referenceNumber"},
		{"a number with NUL", `"1012345678"`, `"1\u0000"`, "body.referenceNumber"},
		{"a number that is too wide for the record", `"1012345678"`, `"` + wide + `"`, "body.referenceNumber"},
		{"a state that is too wide for the record", `"CO"`, `"` + wide + `"`, "body.shipTo.state"},
		{"nothing but a fee", aRecord[strings.Index(aRecord, `"lines"`):], `"lines":[{"itemCode":"FEE","quantity":1,"amount":0,"tax":0.29}]}`, "body.lines"},
		{"no lines", aRecord[strings.Index(aRecord, `"lines"`):], `"lines":[]}`, "body.lines"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.Replace(aRecord, tc.old, tc.now, 1)
			if body == aRecord {
				t.Fatal("nothing was changed")
			}
			answer := o.post(taxRecords, body)
			if answer.Code != http.StatusUnprocessableEntity && answer.Code != http.StatusBadRequest {
				t.Fatalf("got %d %s", answer.Code, answer.Body)
			}
			if text := wantProblem(t, answer, answer.Code); !strings.Contains(text, `"location":"`+tc.field+`"`) {
				t.Errorf("the answer does not name %s: %s", tc.field, text)
			}
		})
	}
	if n := counted(t, dsn, "select count(*) from tax_records"); n != 0 {
		t.Errorf("%d records were kept", n)
	}
}

func TestItemsAreAskedForByWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	o.must(o.post(taxRecords, `{"referenceNumber":"R1","currency":"USD","lines":[{"itemCode":" A ","quantity":2,"amount":"10.00","tax":"1.00"},
		{"itemCode":"B","quantity":2,"amount":"40.00","tax":"4.00"}]}`))
	for items, want := range map[string]string{"%20A%20": "11.00", "%20A%20:1": "5.50", "B:2": "44.00", "%20B%20:%201,%20A%20,": "33.00"} {
		wantAt(t, o.get(taxRecords+"/R1/refund?items="+items), map[string]any{"amount": want})
	}
	if text := wantProblem(t, o.post(taxRecords+"/R1/refunds", `{"items":[]}`), http.StatusUnprocessableEntity); !strings.Contains(text, `"location":"body.items"`) {
		t.Errorf("no items are all of them: %s", text)
	}
}

func TestTheSameRecordAgainIsFineAndAnotherOneIsNot(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	first := o.must(o.post(taxRecords, aRecord))
	if again := o.must(o.post(taxRecords, aRecord)); !reflect.DeepEqual(again, first) {
		t.Errorf("the same again is answered %v, was %v", again, first)
	}
	text := wantProblem(t, o.post(taxRecords, strings.Replace(aRecord, "2.50", "2.51", 1)), http.StatusConflict)
	if !strings.Contains(text, "another tax record") {
		t.Errorf("the conflict says %s", text)
	}
	if other := o.must(o.post(taxRecords, besides(`"test":true`, aRecord))); other["id"] == first["id"] || other["test"] != true {
		t.Errorf("the record of a test order is %v", other)
	}
}

func TestARefundIsWorkedOutFromItems(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	o.must(o.post(taxRecords, aRecord))
	for _, tc := range []struct{ items, amount, tax, rest, restTax string }{
		{"SHIRT", "52.50", "2.50", "11.00", "1.00"}, // the example of the specification, section 4, rule 3
		{"MUG:1", "3.66", "0.33", "59.84", "3.17"},
		{"MUG", "11.00", "1.00", "52.50", "2.50"},
		{" SHIRT , MUG:2 ", "59.84", "3.17", "3.66", "0.33"},
		{"", "63.50", "3.50", "0.00", "0.00"},
	} {
		wantAt(t, o.get(taxRecords+"/1012345678/refund"+query("items", tc.items)), map[string]any{
			"amount": tc.amount, "taxAmount": tc.tax, "currency": "USD", "deliveryFee": "0.29",
			"remaining.amount": tc.rest, "remaining.taxAmount": tc.restTax,
		})
	}
	for items, says := range map[string]string{
		"SOCK": "is not in the record", "MUG:4": "only 3 of 3 are left", "MUG:0": "ask for 1 or more", "MUG:-1": "ask for 1 or more",
		"MUG:two": "write ITEM or ITEM:PIECES", "MUG:99999999999999999999": "write ITEM or ITEM:PIECES", "MUG:1,MUG:1": "asked for twice", "M\x00G": "not in the record",
	} {
		text := wantProblem(t, o.do(http.MethodGet, taxRecords+"/1012345678/refund"+query("items", items)), http.StatusUnprocessableEntity)
		if !strings.Contains(text, says) || !strings.Contains(text, `"location":"query.items"`) {
			t.Errorf("%q: got %s", items, text)
		}
	}
	if refunds := o.get(taxRecords + "/1012345678")["refunds"].([]any); len(refunds) != 0 {
		t.Errorf("asking has noted %v", refunds)
	}
}

func TestARefundThatIsNotedLeavesLess(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn, withTaxRecords).as(access.Finance)
	o.must(o.post(taxRecords, aRecord))
	refunds := taxRecords + "/1012345678/refunds"
	const mugs = `{"items":[{"itemCode":"MUG","quantity":2}],"reversalRefNum":"R1"}`
	for range 2 {
		wantAt(t, o.must(o.post(refunds, mugs)), map[string]any{
			"lines.1.left": 1.0, "remaining.amount": "56.16", "remaining.taxAmount": "2.83",
			"refunds.0.amount": "7.34", "refunds.0.taxAmount": "0.67", "refunds.0.reversalRefNum": "R1", "refunds.1": nil,
		})
	}
	wantProblem(t, o.post(refunds, strings.Replace(mugs, ":2", ":1", 1)), http.StatusConflict)
	wantProblem(t, o.post(refunds, `{"reversalRefNum":"R1"}`), http.StatusConflict)
	for body, field := range map[string]string{
		`{"items":[{"itemCode":"MUG","quantity":2}]}`: "body.items", `{"items":[{"itemCode":"MUG","quantity":0}]}`: "body.items[0].quantity",
		`{"items":[{"itemCode":"","quantity":1}]}`: "body.items[0].itemCode", `{"pieces":1}`: "body.pieces",
		`{"reversalRefNum":"` + strings.Repeat("ü", 200) + `"}`: "body.reversalRefNum", `{"reversalRefNum":"\u0000"}`: "body.reversalRefNum",
	} {
		if text := wantProblem(t, o.post(refunds, body), http.StatusUnprocessableEntity); !strings.Contains(text, `"location":"`+field+`"`) {
			t.Errorf("%s: the answer does not name %s: %s", body, field, text)
		}
	}
	wantAt(t, o.must(o.post(refunds, `{}`)), map[string]any{"refunds.1.amount": "56.16", "remaining.amount": "0.00", "remaining.items": []any{}})
	if text := wantProblem(t, o.post(refunds, `{}`), http.StatusUnprocessableEntity); !strings.Contains(text, "nothing is left") {
		t.Errorf("a refund of nothing: %s", text)
	}
	if n := counted(t, dsn, "select count(*) from audit where action in ('tax-record', 'tax-refund') and actor = 'api:tester'"); n != 3 {
		t.Errorf("the audit has %d entries, want 3", n)
	}
}

func TestOnlyFinanceKeepsTaxRecordsAndNobodyLearnsWhichThereAre(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), withTaxRecords)
	o.must(o.post(taxRecords, aRecord))
	for _, role := range []access.Role{access.Viewer, access.Operator} {
		for _, number := range []string{"1012345678", "unheard-of"} {
			wantProblem(t, o.as(role).post(taxRecords+"/"+number+"/refunds", `{}`), http.StatusForbidden)
		}
		wantProblem(t, o.as(role).post(taxRecords, aRecord), http.StatusForbidden)
		if got := o.as(role).do(http.MethodGet, taxRecords+"/1012345678"); got.Code != http.StatusOK {
			t.Errorf("%s may not see: %d", role, got.Code)
		}
	}
	wantProblem(t, o.as("").do(http.MethodGet, taxRecords+"/1012345678"), http.StatusUnauthorized)
	for _, path := range []string{"/unheard-of", "/1012345678?test=true", "/%00", "/%ff", "/unheard-of/refund"} {
		wantProblem(t, o.do(http.MethodGet, taxRecords+path), http.StatusNotFound)
	}
	wantProblem(t, o.post(taxRecords+"/unheard-of/refunds", `{}`), http.StatusNotFound)
}

func TestTaxRecordsAnswer503WhileTheRecordIsAway(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir()+" user=nobody dbname=nothing", withTaxRecords, withTransfers)
	for _, answer := range []*httptest.ResponseRecorder{
		o.post(taxRecords, aRecord), o.post(taxRecords+"/1/refunds", `{}`), o.do(http.MethodGet, taxRecords+"/1"),
		o.do(http.MethodGet, taxRecords+"/1/refund"), o.do(http.MethodGet, "/api/v1/transfers"),
	} {
		if text := wantProblem(t, answer, http.StatusServiceUnavailable); strings.Contains(text, "nobody") {
			t.Errorf("the answer tells internals: %s", text)
		}
	}
}
