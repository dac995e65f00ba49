package payments_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// refusals are requests that the specification rules out, and the field that is to blame.
func refusals(tb testing.TB) []refused {
	ctx := tb.Context()
	old := payments.QuoteReference{ID: "q-1", CreatedAt: time.Now().Add(-payments.QuoteLifetime)}
	twoLines := quoteRequest(tb)
	twoLines.Lines = append(twoLines.Lines, twoLines.Lines...)
	quote := func(edit func(*payments.TaxQuoteRequest)) func(*payments.Client) error {
		return func(c *payments.Client) error {
			r := quoteRequest(tb)
			edit(&r)
			_, err := c.CreateTaxQuote(ctx, r)
			return err
		}
	}
	charge := func(edit func(*payments.CardTransactionRequest)) func(*payments.Client) error {
		return func(c *payments.Client) error {
			r := cardRequest(tb, "10.00")
			edit(&r)
			_, err := c.CreateCardTransaction(ctx, r)
			return err
		}
	}
	subscribe := func(edit func(*payments.SubscriptionRequest)) func(*payments.Client) error {
		return func(c *payments.Client) error {
			r := subscriptionRequest(5)
			edit(&r)
			_, err := c.CreateSubscription(ctx, r)
			return err
		}
	}
	transfer := func(edit func(*payments.BankTransferRequest)) func(*payments.Client) error {
		return func(c *payments.Client) error {
			r := transferRequest(tb, "Ann")
			edit(&r)
			_, err := c.CreateBankTransfer(ctx, r)
			return err
		}
	}
	refund := func(r payments.RefundRequest) func(*payments.Client) error {
		return func(c *payments.Client) error { _, err := c.Refund(ctx, r); return err }
	}
	update := func(id string, u payments.SubscriptionUpdate) func(*payments.Client) error {
		return func(c *payments.Client) error { _, err := c.UpdateSubscription(ctx, id, u); return err }
	}
	capture := func(r payments.CaptureRequest) func(*payments.Client) error {
		return func(c *payments.Client) error { _, err := c.Capture(ctx, r); return err }
	}
	return []refused{
		{"a quote of more than a day ago", "taxReference", payments.ErrQuoteExpired, charge(func(r *payments.CardTransactionRequest) { r.TaxReference = old })},
		{"an initial quote of more than a day ago", "initialTaxReference", payments.ErrQuoteExpired, subscribe(func(r *payments.SubscriptionRequest) { r.InitialTaxReference = old })},
		{"a recurring quote of more than a day ago", "recurringTaxReference", payments.ErrQuoteExpired, subscribe(func(r *payments.SubscriptionRequest) { r.RecurringTaxReference = old })},
		{"an update with a quote of more than a day ago", "recurringTaxReference", payments.ErrQuoteExpired, update("3", payments.SubscriptionUpdate{RecurringTaxReference: old})},
		{"a partial capture", "amount", payments.ErrPartialCapture, capture(payments.CaptureRequest{TransactionID: "1", Amount: amount(tb, "9.99"), Authorized: amount(tb, "10.00")})},
		{"a capture of an amount against nothing", "amount", payments.ErrPartialCapture, capture(payments.CaptureRequest{TransactionID: "1", Amount: amount(tb, "10.00")})},
		{"a capture of nothing", "transactionId", nil, capture(payments.CaptureRequest{})},
		{"more tax than refund", "taxAmount", nil, refund(payments.RefundRequest{TransactionID: "1", Amount: amount(tb, "52.50"), TaxAmount: amount(tb, "52.51")})},
		{"tax of a refund without an amount", "amount", nil, refund(payments.RefundRequest{TransactionID: "1", TaxAmount: amount(tb, "2.50")})},
		{"a refund of 0", "amount", nil, refund(payments.RefundRequest{TransactionID: "1", Amount: amount(tb, "0.00")})},
		{"a negative refund", "amount", nil, refund(payments.RefundRequest{TransactionID: "1", Amount: amount(tb, "-1")})},
		{"negative tax", "taxAmount", nil, refund(payments.RefundRequest{TransactionID: "1", Amount: amount(tb, "1"), TaxAmount: amount(tb, "-1")})},
		{"a refund for a long reason", "reason", nil, refund(payments.RefundRequest{TransactionID: "1", Reason: strings.Repeat("x", 4001)})},
		{"a refund of a path", "transactionId", nil, refund(payments.RefundRequest{TransactionID: "../1"})},
		{"a transfer without a return URL", "returnUrl", nil, transfer(func(r *payments.BankTransferRequest) { r.ReturnURL = "" })},
		{"a transfer that returns to a script", "returnUrl", nil, transfer(func(r *payments.BankTransferRequest) { r.ReturnURL = "javascript:alert(1)" })},
		{"a transfer of nobody", "payerInfo", nil, transfer(func(r *payments.BankTransferRequest) { r.PayerInfo = nil })},
		{"a transfer of nothing", "amount", nil, transfer(func(r *payments.BankTransferRequest) { r.Amount = payments.Amount{} })},
		{"a transfer with a long id", "merchantTransactionId", nil, transfer(func(r *payments.BankTransferRequest) { r.MerchantTransactionID = strings.Repeat("x", 51) })},
		{"a charge in lower case", "currency", nil, charge(func(r *payments.CardTransactionRequest) { r.Currency = "usd" })},
		{"a charge in no currency", "currency", nil, charge(func(r *payments.CardTransactionRequest) { r.Currency = "" })},
		{"a long descriptor", "softDescriptor", nil, charge(func(r *payments.CardTransactionRequest) { r.SoftDescriptor = strings.Repeat("ä", 21) })},
		{"a long id", "merchantTransactionId", nil, charge(func(r *payments.CardTransactionRequest) { r.MerchantTransactionID = strings.Repeat("ä", 51) })},
		{"a charge of nothing", "amount", nil, charge(func(r *payments.CardTransactionRequest) { r.Amount = payments.Amount{} })},
		{"a charge below zero", "amount", nil, charge(func(r *payments.CardTransactionRequest) { r.Amount = amount(tb, "-0.01") })},
		{"a charge of too much", "amount", nil, charge(func(r *payments.CardTransactionRequest) { r.Amount = amount(tb, "10000000000.00") })},
		{"a charge that captures", "cardTransactionType", nil, charge(func(r *payments.CardTransactionRequest) { r.CardTransactionType = "CAPTURE" })},
		{"a card without a number", "cardNumber", nil, charge(func(r *payments.CardTransactionRequest) { r.CreditCard.CardNumber = "" })},
		{"a card of month 2", "expirationMonth", nil, charge(func(r *payments.CardTransactionRequest) { r.CreditCard.ExpirationMonth = "2" })},
		{"a card of year 31", "expirationYear", nil, charge(func(r *payments.CardTransactionRequest) { r.CreditCard.ExpirationYear = "31" })},
		{"a subscription to nothing", "planId", nil, subscribe(func(r *payments.SubscriptionRequest) { r.PlanID = 0 })},
		{"a subscription of nobody", "payerInfo", nil, subscribe(func(r *payments.SubscriptionRequest) { r.PayerInfo = nil })},
		{"a subscription paid by nothing", "paymentSource", nil, subscribe(func(r *payments.SubscriptionRequest) { r.PaymentSource = nil })},
		{"a trial of less than nothing", "overrideTrialPeriodDays", nil, subscribe(func(r *payments.SubscriptionRequest) { r.OverrideTrialPeriodDays = -1 })},
		{"an update of nothing", "subscriptionId", nil, update("", payments.SubscriptionUpdate{PlanID: 6})},
		{"a quantity without its plan", "quantity", nil, update("3", payments.SubscriptionUpdate{Quantity: 2})},
		{"a quote without lines", "lines", nil, quote(func(r *payments.TaxQuoteRequest) { r.Lines = nil })},
		{"a quote with an item twice", "itemCode", nil, quote(func(r *payments.TaxQuoteRequest) { r.Lines = twoLines.Lines })},
		{"a quote to nowhere", "country", nil, quote(func(r *payments.TaxQuoteRequest) { r.ShipTo.Country = "" })},
		{"a quote without a tax code", "taxCode", nil, quote(func(r *payments.TaxQuoteRequest) { r.Lines[0].TaxCode = "" })},
		{"a quote for no piece", "quantity", nil, quote(func(r *payments.TaxQuoteRequest) { r.Lines[0].Quantity = 0 })},
		{"a quote that is a path", "taxReference", nil, func(c *payments.Client) error { _, err := c.TaxQuote(ctx, "../transactions"); return err }},
		{"a transaction that is nothing", "transactionId", nil, func(c *payments.Client) error { _, err := c.CardTransaction(ctx, ""); return err }},
		{"a subscription that is a path", "subscriptionId", nil, func(c *payments.Client) error { _, err := c.Subscription(ctx, "1/charges"); return err }},
		{"a transfer of the merchant's that is none", "merchantTransactionId", nil, func(c *payments.Client) error {
			_, err := c.BankTransferByMerchantID(ctx, "", "900")
			return err
		}},
		{"a transfer of the merchant's with a long id", "merchantTransactionId", nil, func(c *payments.Client) error {
			_, err := c.BankTransferByMerchantID(ctx, strings.Repeat("x", 51), "900")
			return err
		}},
		{"a transfer of no merchant", "merchantId", nil, func(c *payments.Client) error { _, err := c.BankTransferByMerchantID(ctx, "order-1", ""); return err }},
		{"a pending refund that is a path", "refundTransactionId", nil, func(c *payments.Client) error { return c.CancelPendingRefund(ctx, "../1") }},
		{"a transfer that is a query", "transactionId", nil, func(c *payments.Client) error { _, err := c.BankTransfer(ctx, "resolve?orderId=1"); return err }},
	}
}

type refused struct {
	name, field string
	is          error
	do          func(*payments.Client) error
}

func TestWhatTheSpecificationRulesOutIsNotSent(t *testing.T) {
	t.Parallel()
	s, client := serve(t, says(http.StatusOK, "{}"))
	for _, r := range refusals(t) {
		err := r.do(client)
		var field *payments.FieldError
		if !errors.As(err, &field) || field.Field != r.field || r.is != nil && !errors.Is(err, r.is) {
			t.Errorf("%s: got %v, want the field %s", r.name, err, r.field)
		}
		tells(t, err, "javascript")
	}
	if got := s.requests(); len(got) != 0 {
		t.Errorf("%d requests were sent: %v", len(got), got)
	}
}

func TestAQuoteThatWasUsedDoesNotExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		quote payments.QuoteReference
		good  bool
	}{
		"a second younger than a day":     {payments.QuoteReference{ID: "q-1", CreatedAt: now.Add(-24*time.Hour + time.Second)}, true},
		"a day old":                       {payments.QuoteReference{ID: "q-1", CreatedAt: now.Add(-24 * time.Hour)}, false},
		"a day old, and used":             {payments.QuoteReference{ID: "q-1", CreatedAt: now.Add(-24 * time.Hour), Used: true}, true},
		"known by its reference alone":    {payments.QuoteReference{ID: "q-1"}, true},
		"with a reference that is a path": {payments.QuoteReference{ID: "../q-1"}, false},
	} {
		client := connect(t, "https://payments.example", func(config *payments.Config) {
			config.Now = func() time.Time { return now }
			config.Transport = wire(func(*http.Request) (*http.Response, error) {
				return answered(http.StatusOK, `{"transactionId":"1"}`, nil), nil
			})
		})
		request := cardRequest(t, "10")
		request.TaxReference = c.quote
		if _, err := client.CreateCardTransaction(t.Context(), request); (err == nil) != c.good {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestACreatedQuoteKnowsItsAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	client := connect(t, "https://payments.example", func(config *payments.Config) {
		config.Now = func() time.Time { return now }
		config.Transport = wire(func(*http.Request) (*http.Response, error) {
			now = now.Add(time.Second) // the answer takes a while
			return answered(http.StatusOK, `{"taxReference":"q-1","totalTax":"6.25","totalAmount":100,"used":false}`, nil), nil
		})
	})
	quote, err := client.CreateTaxQuote(t.Context(), quoteRequest(t))
	must(t, err)
	if want := (payments.QuoteReference{ID: "q-1", CreatedAt: now.Add(-time.Second)}); quote.Reference() != want {
		t.Errorf("got %v, want %v", quote.Reference(), want)
	}
	if got := quote.Total().String(); got != "106.25" {
		t.Errorf("the total is %s", got)
	}
}

func TestACardDoesNotShowItself(t *testing.T) {
	t.Parallel()
	request := cardRequest(t, "10")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, shown := range []string{fmt.Sprintf(verb, *request.CreditCard), fmt.Sprintf(verb, request.CreditCard), fmt.Sprintf(verb, struct{ Card payments.CreditCard }{*request.CreditCard})} {
			if strings.Contains(shown, "4111") || strings.Contains(shown, "837") || strings.Contains(shown, "34313131") {
				t.Errorf("%s shows %s", verb, shown)
			}
		}
	}
	if !strings.Contains(string(marshal(t, request)), `"cardNumber":"4111111111111111"`) {
		t.Error("the card is not sent")
	}
}

func TestAnAmountKeepsItsNumberAndItsDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,11})(\.[0-9]{1,4})?`).Filter(func(s string) bool { return strings.Trim(s, "-0.") != "" }).Draw(t, "amount")
		var number, quoted payments.Amount
		if err := json.Unmarshal([]byte(text), &number); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(`"`+text+`"`), &quoted); err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(number)
		if err != nil || string(written) != text || number.String() != text || !number.Equal(quoted) {
			t.Errorf("%s became %s, %s", text, written, quoted)
		}
	})
}

func TestALargeNumberMayHaveAnExponentInJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1.25E7": "12500000", "1e2": "100", "1.050E1": "10.50", "-5e-1": "-0.5"} {
		var got payments.Amount
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.String() != want || string(marshal(t, got)) != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
	for _, bad := range []string{"1e99", "1e2147483647", "1e-99", `"1e2"`} {
		var got payments.Amount
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestAnAmountIsReadStrictly(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", " 1", "1 ", "+1", "1.", ".5", "1e2", "1,234.56", "0x1", "NaN", "--1", "1.2.3", "٣", strings.Repeat("9", 25)} {
		if got, err := payments.ParseAmount(bad); err == nil || !got.IsZero() {
			t.Errorf("%q is %s", bad, got)
		}
	}
	zero := amount(t, "0")
	if zero.IsZero() || zero.Equal(payments.Amount{}) || !zero.Equal(amount(t, "0.00")) {
		t.Error("an amount of 0 is not told from an absent one")
	}
	body := string(marshal(t, payments.RefundRequest{Amount: amount(t, "52.50"), TaxAmount: zero}))
	if body != `{"amount":52.50,"taxAmount":0}` || string(marshal(t, payments.RefundRequest{})) != "{}" {
		t.Errorf("got %s", body)
	}
}
