package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// The tests of this file run both programs' halves together: the receiver as a process, the payment service behind a
// socket, and between them nothing but HTTP.

// together is a receiver that a payment service sends to.
type together struct {
	*running
	pay *simulated
	dsn string
	env []string
}

// openTogether starts both and waits until the receiver has pushed its configuration.
func openTogether(tb testing.TB, env ...string) *together {
	tb.Helper()
	b := &together{pay: simulate(tb, ""), dsn: pgtest.Own(tb).DSN()}
	b.env = append(append(b.pay.env(b.dsn), "IPN_CONFIGURE_INTERVAL=1s"), env...)
	b.running = start(tb, b.env...)
	eventually(tb, "the configuration is pushed", func() bool { _, on := b.pay.flags(); return on == 28 })
	return b
}

// settled waits until everything that was sent has arrived and is in the books.
func (b *together) settled() {
	b.tb.Helper()
	b.pay.idle()
	eventually(b.tb, "the ledger is done", func() bool {
		var handlers struct{ Items []ipn.HandlerState }
		b.answer("/api/v1/handlers", &handlers)
		return len(handlers.Items) > 0 && handlers.Items[0].LagEvents == 0 && handlers.Items[0].Parked == 0
	})
}

// advance lets simulated time pass, and everything arrive on the way.
func (b *together) advance(d time.Duration) {
	b.tb.Helper()
	if err := b.pay.Sender.Advance(b.tb.Context(), d); err != nil {
		b.tb.Fatal(err)
	}
}

// transaction reads a transaction from the books.
func (b *together) transaction(reference payments.ID) (t struct {
	ipn.Transaction
	Timeline []struct{ TransactionType, ReversalRefNum string }
}) {
	b.tb.Helper()
	b.settled()
	b.answer("/api/v1/transactions/"+string(reference), &t)
	return t
}

// types are those of the timeline.
func types(timeline []struct{ TransactionType, ReversalRefNum string }) string {
	var names []string
	for _, entry := range timeline {
		names = append(names, entry.TransactionType)
	}
	return strings.Join(names, " ")
}

func money(text string) payments.Amount {
	amount, err := payments.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return amount
}

// ann buys with a card that is never refused.
var (
	ann     = &payments.CardHolder{FirstName: "Ann", LastName: "Müller", Zip: "02110", Country: "us", State: "MA"}
	annCard = &payments.CreditCard{CardNumber: "4111111111111111", SecurityCode: "837", ExpirationMonth: "02", ExpirationYear: "2030"}
)

// quote asks for the tax of a shirt and a scarf in Boston.
func (b *together) quote(shirt, scarf string) payments.TaxQuote {
	b.tb.Helper()
	quote, err := b.pay.client.CreateTaxQuote(b.tb.Context(), payments.TaxQuoteRequest{
		Currency: "USD", ShipTo: payments.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"},
		Lines: []payments.TaxLine{
			{ItemCode: "shirt", Description: "Shirt", TaxCode: "PS081282", Quantity: 1, Amount: money(shirt)},
			{ItemCode: "scarf", Description: "Scarf", TaxCode: "PS081282", Quantity: 2, Amount: money(scarf)},
		},
	})
	if err != nil {
		b.tb.Fatal(err)
	}
	return quote
}

func TestAPurchaseGoesFromItsTaxQuoteToAWonDispute(t *testing.T) {
	t.Parallel()
	b := openTogether(t)
	quote := b.quote("50", "30")
	charge, err := b.pay.client.CreateCardTransaction(t.Context(), payments.CardTransactionRequest{
		CardTransactionType: payments.AuthCapture, Amount: quote.Total(), Currency: "USD", TaxReference: quote.Reference(),
		MerchantTransactionID: "order-77", SoftDescriptor: "Yarn shop", CardHolderInfo: ann, CreditCard: annCard,
	})
	if err != nil {
		t.Fatal(err)
	}
	booked := b.transaction(charge.TransactionID)
	if booked.State != "charged" || !booked.Charged.Equal(quote.Total().Decimal()) || !booked.Tax.Decimal.Equal(quote.TotalTax.Decimal()) || booked.MerchantTransactionID != "order-77" {
		t.Errorf("after the charge of %s with %s tax: %+v", quote.Total(), quote.TotalTax, booked)
	}

	shirt := quote.Lines[0]
	refund, err := b.pay.client.Refund(t.Context(), payments.RefundRequest{
		TransactionID: string(charge.TransactionID), Amount: shirt.Amount.Add(shirt.Tax), TaxAmount: shirt.Tax, Reason: "too small",
	})
	if err != nil {
		t.Fatal(err)
	}
	booked = b.transaction(charge.TransactionID)
	// An IPN does not tell the tax of a refund, so what is left of the tax is not claimed to be known.
	if booked.State != "partially_refunded" || !booked.Refunded.Equal(refund.Amount.Decimal()) ||
		booked.TaxRefundable.Valid || booked.Timeline[1].ReversalRefNum != string(refund.RefundTransactionID) {
		t.Errorf("after the refund of %s with %s tax: %+v", refund.Amount, refund.TaxAmount, booked)
	}

	dispute, err := b.pay.Service.OpenDispute(string(charge.TransactionID), nil, "not as described")
	if err != nil {
		t.Fatal(err)
	}
	if booked = b.transaction(charge.TransactionID); booked.State != "disputed" || booked.Disputed.String() != decimal.RequireFromString(dispute.Amount.String()).String() {
		t.Errorf("after the dispute of %s: %+v", dispute.Amount, booked)
	}
	for _, status := range []string{"WORKING", "COMPLETED_PENDING", "COMPLETED_WON"} {
		b.advance(24 * time.Hour)
		if err := b.pay.Service.ChangeDispute(dispute.ID, status); err != nil {
			t.Fatal(err)
		}
	}
	booked = b.transaction(charge.TransactionID)
	if told := types(booked.Timeline); booked.State != "partially_refunded" || // as before the dispute
		!booked.Disputed.IsZero() || !strings.HasPrefix(told, "CHARGE REFUND CHARGEBACK CHARGEBACK_STATUS_CHANGED") {
		t.Errorf("after the dispute was won: %s, %+v", told, booked)
	}
	if _, err := b.pay.Service.Payout("USD", false); err != nil {
		t.Fatal(err)
	}
	b.sumsAgree()
}

func TestASubscriptionGoesFromItsFirstChargeToItsEnd(t *testing.T) {
	t.Parallel()
	b := openTogether(t)
	plans := b.pay.Service.Plans()
	subscription, err := b.pay.client.CreateSubscription(t.Context(), payments.SubscriptionRequest{
		PlanID: plans[0].ID, PayerInfo: &payments.PayerInfo{FirstName: "Ann", LastName: "Müller", Zip: "02110", Country: "us"},
		PaymentSource: &payments.PaymentSource{CreditCardInfo: &payments.CreditCardInfo{CreditCard: annCard}},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := string(subscription.SubscriptionID)
	book := func() (s struct {
		ipn.SubscriptionBook
		Timeline []struct{ TransactionType, ReversalRefNum string }
	}) {
		t.Helper()
		b.settled()
		b.answer("/api/v1/subscriptions/"+id, &s)
		return s
	}
	period := plans[0].Period
	b.advance(2*period + 24*time.Hour)
	if told := types(book().Timeline); strings.Count(told, "RECURRING") != 2 || !strings.HasPrefix(told, "CHARGE ") {
		t.Errorf("after two renewals: %s", told)
	}

	if err := b.pay.Service.FailNextRenewal(id, true); err != nil {
		t.Fatal(err)
	}
	b.advance(period)
	if told := types(book().Timeline); !strings.Contains(told, "SUBSCRIPTION_CHARGE_FAILURE") {
		t.Errorf("after a renewal that failed: %s", told)
	}
	if err := b.pay.Service.FailNextRenewal(id, false); err != nil {
		t.Fatal(err)
	}
	b.advance(7 * 24 * time.Hour)
	if got := book(); got.State != ipn.SubscriptionActive {
		t.Errorf("after the card was good again: %s, %s", got.State, types(got.Timeline))
	}

	if _, err := b.pay.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{PlanID: plans[1].ID}); err != nil {
		t.Fatal(err)
	}
	if told := types(book().Timeline); !strings.HasSuffix(told, "CONTRACT_CHANGE") {
		t.Errorf("after the plan was changed: %s", told)
	}
	if _, err := b.pay.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{Status: "CANCELED"}); err != nil {
		t.Fatal(err)
	}
	if got := book(); got.State != ipn.SubscriptionCancelled || !strings.HasSuffix(types(got.Timeline), "CANCELLATION") {
		t.Errorf("after the end: %s, %s", got.State, types(got.Timeline))
	}
	b.sumsAgree()
}

func TestABankTransferEndsAsItsSuffixSays(t *testing.T) {
	t.Parallel()
	b := openTogether(t)
	for _, c := range []struct {
		suffix, status string // of the return
		later          string // status after fifteen minutes
		types          string
	}{
		{"_APPROVE", "SUCCESS", "SUCCESS", "CHARGE"},
		{"_REJECT", "FAIL", "FAIL", "DECLINE"},
		{"_DELAYAP", "PENDING", "SUCCESS", "CHARGE_PENDING CHARGE"},
		{"_DELAYRJ", "PENDING", "FAIL", "CHARGE_PENDING DECLINE"},
	} {
		t.Run(c.suffix, func(t *testing.T) {
			transfer, err := b.pay.client.CreateBankTransfer(t.Context(), payments.BankTransferRequest{
				Amount: money("21.00"), Currency: "EUR", MerchantTransactionID: "transfer" + c.suffix, ReturnURL: "https://shop.example/return?cart=7",
				PayerInfo: &payments.PayerInfo{FirstName: "Ann" + c.suffix, LastName: "Lee", Country: "de"},
			})
			if err != nil {
				t.Fatal(err)
			}
			back, err := b.pay.Service.FinishTransfer(transfer.OrderID, true)
			if err != nil {
				t.Fatal(err)
			}
			returned := mustReturn(t, back)
			if returned.Status != c.status || returned.OrderID != transfer.OrderID || returned.MerchantTransactionID != "transfer"+c.suffix ||
				(returned.TransactionID != "") != (c.status == "SUCCESS") {
				t.Errorf("the shopper came back with %+v", returned)
			}
			b.advance(15 * time.Minute)
			resolved, err := b.pay.client.ResolveBankTransfer(t.Context(), transfer.OrderID)
			if err != nil || !strings.EqualFold(resolved.ProcessingInfo.ProcessingStatus, c.later) {
				t.Errorf("after fifteen minutes: %+v, %v", resolved.ProcessingInfo, err)
			}
			b.settled()
			var events struct {
				Items []struct{ TransactionType, Amount string }
			}
			b.answer("/api/v1/events?merchantTransactionId=transfer"+c.suffix, &events)
			var told []string
			for _, e := range slices.Backward(events.Items) {
				told = append(told, e.TransactionType)
			}
			if strings.Join(told, " ") != c.types {
				t.Errorf("the receiver was told %v, want %s", told, c.types)
			}
		})
	}
	b.sumsAgree()
}

func mustReturn(tb testing.TB, text string) payments.BankTransferReturn {
	tb.Helper()
	u, err := url.Parse(text)
	if err != nil || u.Query().Get("cart") != "7" {
		tb.Fatalf("the return URL lost its own query: %s", text)
	}
	returned, err := payments.ParseBankTransferReturn(u.Query())
	if err != nil {
		tb.Fatal(err)
	}
	return returned
}

// sumsAgree compares the receiver's books with what the payment service says it sent, per kind and currency: counts, amounts
// and tax, to the cent. What came back of won disputes is taken from the payment service's own list of them.
func (b *together) sumsAgree() {
	b.tb.Helper()
	b.settled()
	kinds := map[string]string{"CHARGE": "charge", "RECURRING": "recurring", "REFUND": "refund", "CANCELLATION_REFUND": "cancellation_refund", "CHARGEBACK": "chargeback", "PAYOUT": "payout"}
	sent := map[string]line{}
	for _, total := range b.pay.Sender.Totals() {
		if kind := kinds[total.Type]; kind != "" && total.All.Count > 0 {
			sent[kind+" "+total.Currency] = line{total.All.Count, decimal.RequireFromString(total.All.Amount.String()), decimal.RequireFromString(total.All.Tax.String())}
		}
	}
	won, ended := map[string]bool{}, b.pay.Sender.Deliveries(delivery.Query{Type: "CHARGEBACK_STATUS_CHANGED", Limit: 10_000})
	for _, d := range ended {
		won[d.Notice.Get("reversalRefNum")] = won[d.Notice.Get("reversalRefNum")] || d.Notice.Get("cbStatus") == "COMPLETED_WON"
	}
	for _, d := range b.pay.Sender.Deliveries(delivery.Query{Type: "CHARGEBACK", Limit: 10_000}) {
		if key := "chargeback_reversal " + d.Notice.Get("invoiceChargeCurrency"); won[d.Notice.Get("reversalRefNum")] {
			sent[key] = sent[key].add(line{1, told(d.Notice.Get("invoiceChargeAmount")), told(d.Notice.Get("taxChargeAmount"))})
		}
	}
	var totals struct {
		Items []struct {
			Kind, Currency string
			Count          int64
			Amount, Tax    decimal.Decimal
		}
	}
	b.answer("/api/v1/totals?groupBy=transactionType", &totals)
	booked := map[string]line{}
	for _, total := range totals.Items {
		booked[total.Kind+" "+total.Currency] = line{total.Count, total.Amount.Abs(), total.Tax.Abs()}
	}
	if got, want := fmt.Sprint(booked), fmt.Sprint(sent); got != want || len(sent) == 0 {
		b.tb.Errorf("the books say %s,\nthe payment service sent %s", got, want)
	}
}

// line is a sum of the books; its amounts are magnitudes.
type line struct {
	count       int64
	amount, tax decimal.Decimal
}

func (l line) add(one line) line {
	return line{l.count + one.count, l.amount.Add(one.amount), l.tax.Add(one.tax)}
}

func (l line) String() string {
	return fmt.Sprintf("%d: %s with %s tax", l.count, l.amount.StringFixed(2), l.tax.StringFixed(2))
}

// told is the magnitude of an amount in an IPN, 0 where it tells none.
func told(text string) decimal.Decimal {
	amount, err := decimal.NewFromString(text)
	if err != nil {
		return decimal.Zero
	}
	return amount.Abs()
}

// TestAThousandIPNsThroughEveryFaultAndKillsTieOutToTheCent plays all faults at once while the receiver is killed and
// started again. Every notice the payment service holds to be delivered is an event, and the sums are equal.
func TestAThousandIPNsThroughEveryFaultAndKillsTieOutToTheCent(t *testing.T) {
	t.Parallel()
	b := openTogether(t)
	faults := []delivery.Fault{
		{Name: "duplicate", Every: 7}, {Name: "reorder", Every: 5}, {Name: "delay", Every: 11, Delay: time.Hour},
		{Name: "lose-request", Every: 13}, {Name: "lose-answer", Every: 6}, {Name: "change-field", Every: 3},
		{Name: "bad-signature", Every: 17}, {Name: "old-timestamp", Every: 9}, {Name: "wrong-charset", Every: 8},
		{Name: "cut-body", Every: 19}, {Name: "unknown-type", Every: 23}, {Name: "burst", Every: 301, PerSecond: 200},
	}
	if err := b.pay.Sender.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
	kills := 3
	for n := range 1000 {
		if _, err := b.pay.Service.Emit([]string{"CHARGE", "RECURRING", "REFUND", "CHARGEBACK", "DECLINE"}[n%5]); err != nil {
			t.Fatal(err)
		}
		if n%(1000/kills) == 200 {
			b.kill()
		}
	}
	b.advance(48 * time.Hour) // all retries of the payment service
	struck := map[string]int{}
	for _, d := range b.pay.Sender.Deliveries(delivery.Query{Limit: 10_000}) {
		if d.State != delivery.Delivered {
			t.Errorf("delivery %d (%s) is %s: %s", d.ID, d.Type, d.State, d.Note)
		}
		for _, a := range d.Attempts {
			for _, name := range a.Faults {
				struck[name]++
			}
		}
	}
	for _, f := range faults {
		if struck[f.Name] == 0 {
			t.Errorf("the fault %s struck nothing: %v", f.Name, struck)
		}
	}
	t.Logf("faults struck: %v", struck)
	b.sumsAgree()
}

// kill ends the receiver without a word and starts another on the same address.
func (b *together) kill() {
	b.tb.Helper()
	if err := b.command.Process.Kill(); err != nil {
		b.tb.Fatal(err)
	}
	_ = b.command.Wait()
	listen := strings.TrimSuffix(strings.TrimPrefix(b.intake, "http://"), "/ipn")
	b.running = start(b.tb, append(slices.Clone(b.env), "IPN_LISTEN="+listen)...)
}

// getStatus asks the receiver's private door for a status alone.
func (r *running) getStatus(path string) int {
	r.tb.Helper()
	response, err := http.Get(r.private + path)
	if err != nil {
		r.tb.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
