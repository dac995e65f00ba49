package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// browse follows one redirect of a page, as a browser that is told to stop at each does, and returns where it leads.
func browse(tb testing.TB, method, address string, form url.Values) string {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		tb.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	stop := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := stop.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		tb.Fatalf("%s %s: got %s, want 303", method, address, response.Status)
	}
	return response.Header.Get("Location")
}

// payAtBank goes through the bank's page of a transfer and returns where the bank sends the shopper to.
func payAtBank(tb testing.TB, transfer payments.BankTransfer) string {
	tb.Helper()
	return browse(tb, http.MethodPost, transfer.BankTransferURL, url.Values{
		"country": {"DE"}, "bank": {"Musterbank Berlin"}, "step": {"account"}, "account": {"current"}, "decision": {"confirm"}})
}

// listed is a bank transfer as the list has it.
type listed struct {
	TransactionType, ReferenceNumber, Amount, Currency, Trouble string
	Return                                                      *struct {
		Status, TransactionID, MerchantTransactionID string
		OrderID, Receipts                            int64
	}
}

// transfers reads the list of bank transfers by the orders of their returns.
func (b *together) transfers() map[int64]listed {
	b.tb.Helper()
	b.settled()
	var page struct{ Items []listed }
	b.answer("/api/v1/transfers", &page)
	found := map[int64]listed{}
	for i, item := range page.Items {
		key := int64(-i) // without a return
		if item.Return != nil {
			key = item.Return.OrderID
		}
		found[key] = item
	}
	return found
}

func TestAShopperComesBackFromTheBankAndItsIPNFindsTheReturn(t *testing.T) {
	t.Parallel()
	thanked := make(chan url.Values, 10)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { thanked <- r.URL.Query() }))
	defer shop.Close()
	b := openTogether(t, "IPN_RETURN_TO="+shop.URL+"/thanks?lang=en")
	returnURL := strings.TrimSuffix(b.intake, "/ipn") + "/return?cart=7"
	bought := map[int64]struct{ suffix, later string }{}
	for _, c := range []struct{ suffix, status, now, later string }{
		{"_APPROVE", "SUCCESS", "CHARGE", "CHARGE"},
		{"_REJECT", "FAIL", "DECLINE", "DECLINE"},
		{"_DELAYAP", "PENDING", "CHARGE_PENDING", "CHARGE"},
		{"_DELAYRJ", "PENDING", "CHARGE_PENDING", "DECLINE"},
	} {
		transfer, err := b.pay.client.CreateBankTransfer(t.Context(), payments.BankTransferRequest{
			Amount: money("21.00"), Currency: "EUR", MerchantTransactionID: "cart" + c.suffix, ReturnURL: returnURL,
			PayerInfo: &payments.PayerInfo{FirstName: "Ann" + c.suffix, LastName: "Lee", Country: "de"},
		})
		if err != nil {
			t.Fatal(err)
		}
		back := payAtBank(t, transfer)
		for range 2 { // people reload pages
			if onward := browse(t, http.MethodGet, back, nil); !strings.HasPrefix(onward, shop.URL+"/thanks?") {
				t.Fatalf("%s: sent on to %s", c.suffix, onward)
			} else if response, err := http.Get(onward); err != nil {
				t.Fatal(err)
			} else {
				response.Body.Close()
			}
			brought := <-thanked
			if brought.Get("STATUS") != c.status || brought.Get("ORDER-ID") != fmt.Sprint(transfer.OrderID) || brought.Get("MTI") != "cart"+c.suffix ||
				brought.Get("cart") != "7" || brought.Get("lang") != "en" || brought.Has("TRANSACTION-ID") != (c.status == "SUCCESS") {
				t.Errorf("%s: the shop's page was given %v", c.suffix, brought)
			}
		}
		bought[transfer.OrderID] = struct{ suffix, later string }{c.suffix, c.later}
		found := b.transfers()[transfer.OrderID]
		if found.TransactionType != c.now || found.ReferenceNumber == "" || found.Amount != "21.00" || found.Currency != "EUR" || found.Trouble != "" ||
			found.Return == nil || found.Return.Status != c.status || found.Return.Receipts != 2 || found.Return.MerchantTransactionID != "cart"+c.suffix {
			t.Errorf("%s: right after the return the list has %+v with %+v", c.suffix, found, found.Return)
		}
	}
	b.advance(15 * time.Minute)
	found := b.transfers()
	if len(found) != len(bought) {
		t.Errorf("the list has %d transfers, want %d: %+v", len(found), len(bought), found)
	}
	for order, c := range bought {
		if found[order].TransactionType != c.later || found[order].Trouble != "" {
			t.Errorf("%s: fifteen minutes later the list has %+v", c.suffix, found[order])
		}
	}
	if strings.Contains(b.said(), "cart_APPROVE") {
		t.Error("the log tells what a shopper brought")
	}
	b.sumsAgree()
}

func TestWithoutAPageToSendShoppersOnProductionHasNoReturn(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Own(t).DSN()
	env := []string{"IPN_ENV=production", "IPN_DATABASE_URL=" + dsn, "IPN_SIGNING_SECRETS=" + canary, "IPN_API_TOKEN=" + canary}
	for _, c := range []struct {
		name string
		env  []string
		path string
		want int
	}{
		{"production without a page", env, "/return", http.StatusNotFound},
		{"production with one", append(env[:len(env):len(env)], "IPN_RETURN_TO=https://shop.example/thanks"), "/return", http.StatusSeeOther},
		{"development without one", []string{"IPN_DATABASE_URL=" + dsn}, "/return", http.StatusOK},
		{"another path", []string{"IPN_DATABASE_URL=" + dsn, "IPN_RETURN_PATH=/back"}, "/back", http.StatusOK},
		{"the usual path while there is another", []string{"IPN_DATABASE_URL=" + dsn, "IPN_RETURN_PATH=/back"}, "/return", http.StatusNotFound},
	} {
		r := start(t, c.env...)
		stop := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		response, err := stop.Get(strings.TrimSuffix(r.intake, "/ipn") + c.path + "?STATUS=PENDING&ORDER-ID=1")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s: %s answered %s, want %d", c.name, c.path, response.Status, c.want)
		}
	}
}

// postJSON sends JSON to the private door and reads the answer, which must be 200.
func (r *running) postJSON(path, body string, into any) {
	r.tb.Helper()
	response, err := http.Post(r.private+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		r.tb.Fatalf("POST %s: %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		r.tb.Fatal(err)
	}
}

// TestATaxRecordGivesTheFiguresOfARefund walks rule 3 of section 4 of the specification: what the receiver works out is what
// the payment service takes, and what its IPN then tells is what the books say.
func TestATaxRecordGivesTheFiguresOfARefund(t *testing.T) {
	t.Parallel()
	b := openTogether(t)
	quote := b.quote("50", "30")
	told, err := json.Marshal(quote)
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ Tax, Total string }
	b.postJSON("/api/v1/tax-records", `{"merchantTransactionId":"order-78",`+strings.TrimPrefix(string(told), "{"), &record)
	if record.Tax != quote.TotalTax.String() || record.Total != quote.Total().String() {
		t.Errorf("the record has tax %s of %s, the quote %s of %s", record.Tax, record.Total, quote.TotalTax, quote.Total())
	}
	charge, err := b.pay.client.CreateCardTransaction(t.Context(), payments.CardTransactionRequest{
		CardTransactionType: payments.AuthCapture, Amount: quote.Total(), Currency: "USD", TaxReference: quote.Reference(),
		MerchantTransactionID: "order-78", SoftDescriptor: "Yarn shop", CardHolderInfo: ann, CreditCard: annCard,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.settled()
	number := string(charge.TransactionID) // which the record was not told under
	var refund struct{ Amount, TaxAmount string }
	b.answer("/api/v1/tax-records/"+number+"/refund?items=scarf:1", &refund)
	done, err := b.pay.client.Refund(t.Context(), payments.RefundRequest{
		TransactionID: number, Amount: money(refund.Amount), TaxAmount: money(refund.TaxAmount), Reason: "one scarf came back"})
	if err != nil {
		t.Fatalf("a refund of %s with tax %s: %v", refund.Amount, refund.TaxAmount, err)
	}
	booked := b.transaction(charge.TransactionID)
	if !booked.Refunded.Equal(decimal.RequireFromString(refund.Amount)) || booked.Timeline[1].ReversalRefNum != string(done.RefundTransactionID) {
		t.Errorf("after a refund of %s the books say %+v", refund.Amount, booked)
	}
	var after struct {
		Remaining struct{ Amount, TaxAmount string }
		Refunds   []struct{ Amount, TaxAmount string }
	}
	b.postJSON("/api/v1/tax-records/"+number+"/refunds", `{"items":[{"itemCode":"scarf","quantity":1}],"reversalRefNum":"`+string(done.RefundTransactionID)+`"}`, &after)
	left := quote.Total().Decimal().Sub(decimal.RequireFromString(refund.Amount))
	if len(after.Refunds) != 1 || after.Refunds[0].Amount != refund.Amount || !decimal.RequireFromString(after.Remaining.Amount).Equal(left) || !booked.Refundable.Equal(left) {
		t.Errorf("left are %s by the record and %s by the books, want %s", after.Remaining.Amount, booked.Refundable, left)
	}
	rest, err := b.pay.client.Refund(t.Context(), payments.RefundRequest{
		TransactionID: number, Amount: money(after.Remaining.Amount), TaxAmount: money(after.Remaining.TaxAmount), Reason: "and the rest"})
	if err != nil || rest.RefundTransactionID == "" {
		t.Fatalf("the rest of %s with tax %s: %v", after.Remaining.Amount, after.Remaining.TaxAmount, err)
	}
	if booked = b.transaction(charge.TransactionID); booked.State != "refunded" {
		t.Errorf("after everything went back the books say %+v", booked)
	}
	b.sumsAgree()
}
