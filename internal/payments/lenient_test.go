package payments_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// TestAnAnswerWithAnOddSideFieldIsReadAllTheSame: what was asked for has been done, and an error would have it done again.
func TestAnAnswerWithAnOddSideFieldIsReadAllTheSame(t *testing.T) {
	t.Parallel()
	charge := func(c *payments.Client) (payments.CardTransaction, error) {
		return c.CreateCardTransaction(t.Context(), cardRequest(t, "10"))
	}
	subscription := func(c *payments.Client) (payments.Subscription, error) {
		return c.CreateSubscription(t.Context(), subscriptionRequest(5))
	}
	refund := func(c *payments.Client) (payments.Refund, error) {
		return c.Refund(t.Context(), payments.RefundRequest{TransactionID: "1"})
	}
	quote := func(c *payments.Client) (payments.TaxQuote, error) {
		return c.CreateTaxQuote(t.Context(), quoteRequest(t))
	}
	transfer := func(c *payments.Client) (payments.BankTransfer, error) {
		return c.CreateBankTransfer(t.Context(), transferRequest(t, "Ann"))
	}
	for name, c := range map[string]struct {
		answer string
		read   func(*payments.Client) (any, error)
		want   string
	}{
		"a shopper's number as a string": {`{"transactionId":"1","vaultedShopperId":"123"}`, reading(charge, func(c payments.CardTransaction) any { return c.VaultedShopperID }), "123"},
		"zeros before a number":          {`{"transactionId":"1","vaultedShopperId":"00123","softDescriptor":7}`, reading(charge, func(c payments.CardTransaction) any { return []any{c.VaultedShopperID, c.SoftDescriptor} }), "[123 7]"},
		"a truth for a letter":           {`{"transactionId":"1","creditCard":{"cardRegulated":true,"cardType":"VISA"}}`, reading(charge, func(c payments.CardTransaction) any { return c.CreditCard }), "{ VISA     true    }"},
		"a number for a code":            {`{"transactionId":"1","processingInfo":{"authorizationCode":654321}}`, reading(charge, func(c payments.CardTransaction) any { return c.ProcessingInfo.AuthorizationCode }), "654321"},
		"no amount":                      {`{"transactionId":"1","amount":""}`, reading(charge, func(c payments.CardTransaction) any { return c.Amount.IsZero() }), "true"},
		"nothing for an object":          {`{"transactionId":"1","amount":5,"fraudResultInfo":"","processingInfo":[]}`, reading(charge, func(c payments.CardTransaction) any { return []any{c.Amount, c.FraudResultInfo} }), "[5 {}]"},
		"a refund without its list":      {`{"transactionId":"1","refunds":{"refund":{"refundTransactionId":7,"amount":"3.00","cancelSubscriptions":"Y"}}}`, reading(charge, func(c payments.CardTransaction) any { return c.Refunds.Refund[0].Amount }), "3.00"},
		"odd refunds in their list":      {`{"transactionId":"1","refunds":{"refund":[{"amount":1},{"amount":2,"cancelSubscriptions":"true"}]}}`, reading(charge, func(c payments.CardTransaction) any { return c.Refunds.Refund[1].CancelSubscriptions }), "true"},
		"nothing for a list":             {`{"transactionId":"1","refunds":{"refund":""},"chargebacks":""}`, reading(charge, func(c payments.CardTransaction) any { return len(c.Refunds.Refund) }), "0"},
		"a subscription of strings": {`{"subscriptionId":3,"autoRenew":"true","quantity":"1","planId":"5","recurringChargeAmount":"25.00","paymentSource":{"creditCardInfo":{"creditCard":{"cardRegulated":false}}}}`,
			reading(subscription, func(s payments.Subscription) any {
				return []any{s.AutoRenew, s.Quantity, s.PlanID, s.RecurringChargeAmount}
			}), "[true 1 5 25.00]"},
		"a truth as a string": {`{"refundTransactionId":2,"cancelSubscriptions":"true"}`, reading(refund, func(r payments.Refund) any { return r.CancelSubscriptions }), "true"},
		"a quote of strings":  {`{"taxReference":"q","totalTax":"1.00","used":"N","lines":{"quantity":"2","tax":"1.00"}}`, reading(quote, func(q payments.TaxQuote) any { return []any{q.Used, q.Lines[0].Quantity} }), "[false 2]"},
		"a transfer of strings": {`{"orderId":"7","vaultedShopperId":"8","payerInfo":"","sofortTransaction":{"sofortUrl":"https://bank.example/7","language":null}}`,
			reading(transfer, func(b payments.BankTransfer) any { return []any{b.OrderID, b.VaultedShopperID, b.BankTransferURL} }), "[7 8 https://bank.example/7]"},
		"the specification's own name": {`{"orderId":7,"bankTransferUrl":"https://bank.example/7"}`, reading(transfer, func(b payments.BankTransfer) any { return b.BankTransferURL }), "https://bank.example/7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client := serve(t, says(http.StatusOK, c.answer))
			got, err := c.read(client)
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("got %v, %v; want %s", got, err, c.want)
			}
		})
	}
}

// TestAnAnswerWithNothingOddIsReadAsItIs compares with what encoding/json makes of the simulator's answers.
func TestAnAnswerWithNothingOddIsReadAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := string(w.charge(t).TransactionID)
	_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id, Amount: amount(t, "10.00"), TaxAmount: amount(t, "0.50")})
	must(t, err)
	_, err = w.Service.OpenDispute(id, nil, "not received")
	must(t, err)
	transaction, err := w.client.CardTransaction(t.Context(), id)
	must(t, err)
	sameAsJSON(t, w, transaction)
	subscription := w.subscribe(t)
	sameAsJSON(t, w, subscription)
	quote := w.quote(t, "12345.60")
	quote.CreatedAt = time.Time{}
	sameAsJSON(t, w, quote)
}

func sameAsJSON[T any](t *testing.T, w *world, got T) {
	t.Helper()
	var want T
	must(t, json.Unmarshal(w.last().answer, &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// reading does something and reads a field of the answer.
func reading[T any](do func(*payments.Client) (T, error), field func(T) any) func(*payments.Client) (any, error) {
	return func(c *payments.Client) (any, error) {
		answer, err := do(c)
		if err != nil {
			return nil, err
		}
		return field(answer), nil
	}
}
