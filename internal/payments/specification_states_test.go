package payments_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

const day = 24 * time.Hour

// section1 are the statements of the introduction that no later section repeats.
func section1() []statement {
	return []statement{
		{"1-rate", "The tax follows from the product tax code and the shopper's address.", "payments.TaxLine.TaxCode, payments.TaxQuoteRequest.ShipTo",
			func(t *testing.T, w *world) {
				for _, c := range []struct{ taxCode, state, tax string }{{"PS081282", "MA", "6.25"}, {"NT", "MA", "0.00"}, {"PS081282", "OR", "0.00"}} {
					request := quoteRequest(t)
					request.Lines[0].TaxCode, request.ShipTo.State = c.taxCode, c.state
					quote, err := w.client.CreateTaxQuote(t.Context(), request)
					must(t, err)
					same(t, c.taxCode+" in "+c.state, quote.TotalTax, c.tax)
				}
			}},
		{"1-delivery-fee", "For deliveries to Colorado a fee is a part of the tax, and is not refunded.", "payments.TaxQuote.TotalTax, paysim.Service.Refund",
			func(t *testing.T, w *world) {
				request := quoteRequest(t)
				request.ShipTo = payments.Address{Address: "1 Example St", City: "Denver", State: "CO", Zip: "80202", Country: "US"}
				quote, err := w.client.CreateTaxQuote(t.Context(), request)
				must(t, err)
				same(t, "tax and fee", quote.TotalTax, "3.19")
				bought, err := w.client.CreateCardTransaction(t.Context(), purchase(t, quote))
				must(t, err)
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(bought.TransactionID)})
				must(t, err)
				same(t, "what was refunded", []payments.Amount{refund.Amount, refund.TaxAmount}, "[102.90 2.90]")
			}},
		{"1-amounts", "The tax of each item is there to be stored, for a partial refund later.", "payments.TaxedLine",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				bought, err := w.client.CreateCardTransaction(t.Context(), purchase(t, quote))
				must(t, err)
				line := quote.Lines[0]
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(bought.TransactionID), Amount: line.Amount.Add(line.Tax), TaxAmount: line.Tax})
				must(t, err)
				same(t, "what was refunded", refund.Amount, bought.Amount)
			}},
	}
}

func section3() []statement {
	return slices.Concat(quoteStates(), transferStates(), openStates())
}

// openStates are those of section 3.3, of which the specification shows nothing.
func openStates() []statement {
	return []statement{
		{"3.3-open-transactions", "Left open: the states of card transactions. Authorized, captured or given up, refunded in part or wholly, disputed: each is told by the answer, and no text is refused.", "payments.CardTransaction.ProcessingInfo, payments.CardTransaction.OpenToCapture, payments.Client.ReverseAuthorization",
			func(t *testing.T, w *world) {
				state := func(id payments.ID) []any {
					now, err := w.client.CardTransaction(t.Context(), string(id))
					must(t, err)
					return []any{string(now.OpenToCapture), now.CardTransactionType, strings.ToUpper(now.ProcessingInfo.ProcessingStatus), len(now.Refunds.Refund), len(now.Chargebacks.Chargeback)}
				}
				id := w.authorize(t).TransactionID
				same(t, "authorized", state(id), `["Y" AUTH_ONLY SUCCESS 0 0]`)
				_, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(id)})
				must(t, err)
				same(t, "captured", state(id), "[ CAPTURE SUCCESS 0 0]")
				_, err = w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(id), Amount: amount(t, "10.00"), TaxAmount: amount(t, "0.00")})
				must(t, err)
				same(t, "refunded in part", state(id), "[ CAPTURE SUCCESS 1 0]")
				_, err = w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(id)})
				must(t, err)
				same(t, "refunded", state(id), "[ CAPTURE REFUNDED 2 0]")

				given := w.authorize(t).TransactionID
				_, err = w.client.ReverseAuthorization(t.Context(), string(given))
				must(t, err)
				if _, err = w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(given)}); !errors.Is(err, payments.ErrTransaction) {
					t.Errorf("captured after it was given up: got %v", err)
				}
				disputed := w.charge(t).TransactionID
				_, err = w.Service.OpenDispute(string(disputed), nil, "not received")
				must(t, err)
				same(t, "disputed", state(disputed), "[ AUTH_CAPTURE CHARGEBACKED 0 1]")
			}},
		{"3.3-open-subscriptions", "Left open: the states of subscriptions. An active one can be told to end with its period, and cancelled; a cancelled one is charged no more.", "payments.Subscription.Status, payments.Subscription.AutoRenew, payments.SubscriptionUpdate.Status",
			func(t *testing.T, w *world) {
				subscription := w.subscribe(t)
				id, no := string(subscription.SubscriptionID), false
				same(t, "a new one", []any{subscription.Status, subscription.AutoRenew}, "[ACTIVE true]")
				ending, err := w.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{AutoRenew: &no})
				must(t, err)
				same(t, "one that ends", []any{ending.Status, ending.AutoRenew}, "[ACTIVE false]")
				ended, err := w.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{Status: "CANCELED"})
				must(t, err)
				same(t, "one that ended", ended.Status, "CANCELED")
				w.Agenda.Advance(60 * day)
				same(t, "IPNs", w.types(), "CHARGE CANCEL_ON_RENEWAL CANCELLATION")
			}},
	}
}

func quoteStates() []statement {
	return []statement{
		{"3.1-created", "A created quote is active and has a reference.", "payments.Client.CreateTaxQuote, paysim.Service.CreateQuote",
			func(t *testing.T, w *world) {
				_, err := w.client.CreateCardTransaction(t.Context(), purchase(t, w.quote(t, "100.00")))
				must(t, err)
			}},
		{"3.1-expired", "After 24 hours without a transaction it has expired, and a new one must be created.", "payments.ErrQuoteExpired, payments.QuoteLifetime, paysim.Service.Quote",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				w.Agenda.Advance(day)
				asked := len(w.exchanges())
				_, err := w.client.CreateCardTransaction(t.Context(), purchase(t, quote))
				if !errors.Is(err, payments.ErrQuoteExpired) || len(w.exchanges()) != asked {
					t.Errorf("the client sends it: %v", err)
				}
				ageless := purchase(t, quote)
				ageless.TaxReference = payments.QuoteReference{ID: quote.TaxReference}
				if _, err := w.client.CreateCardTransaction(t.Context(), ageless); !errors.Is(err, payments.ErrQuote) {
					t.Errorf("the service takes it: %v", err)
				}
				_, err = w.client.CreateCardTransaction(t.Context(), purchase(t, w.quote(t, "100.00")))
				must(t, err)
			}},
		{"3.1-sent", "Once a transaction was sent with it before that, it does not expire, and its tax is final after the authorization.", "payments.QuoteReference.Used, payments.Client.Capture, paysim.Service.Capture",
			func(t *testing.T, w *world) {
				w.Agenda.Advance(day - time.Hour)
				authorized := w.authorize(t)
				w.Agenda.Advance(2 * day)
				quote, err := w.client.TaxQuote(t.Context(), authorized.TaxReference)
				must(t, err)
				same(t, "the quote was used", quote.Reference().Used, true)
				captured, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID), TaxReference: quote.Reference()})
				must(t, err)
				same(t, "what was captured", []any{captured.Amount, captured.TaxReference}, []any{authorized.Amount, authorized.TaxReference})
			}},
		{"3.1-declined", "When the payment is declined, the same quote serves another card.", "payments.ErrDeclined, paysim.Service.CreateTransaction",
			func(t *testing.T, w *world) {
				request := purchase(t, w.quote(t, "100.00"))
				request.CreditCard.CardNumber = declinedCard
				if _, err := w.client.CreateCardTransaction(t.Context(), request); !errors.Is(err, payments.ErrDeclined) {
					t.Fatalf("got %v", err)
				}
				request.CreditCard.CardNumber = approvedCard
				approved, err := w.client.CreateCardTransaction(t.Context(), request)
				must(t, err)
				same(t, "the quote", approved.TaxReference, request.TaxReference.ID)
				same(t, "IPNs", w.types(), "CC_CHARGE_FAILED CHARGE")
			}},
		{"3.1-open", "Left open: what follows the authorization. The quote serves no second purchase.", "payments.ErrQuote",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				_, err := w.client.CreateCardTransaction(t.Context(), purchase(t, quote))
				must(t, err)
				if _, err = w.client.CreateCardTransaction(t.Context(), purchase(t, quote)); payments.Code(err) != "43010" {
					t.Errorf("got %v", err)
				}
			}},
	}
}

func transferStates() []statement {
	const where = "payments.Client.ResolveBankTransfer, paysim.Service.FinishTransfer"
	statements := []statement{
		{"3.2-created", "An accepted transfer is pending, and the shopper has somewhere to go.", "payments.Client.CreateBankTransfer, paysim.Service.CreateTransfer",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann")
				same(t, "the status", w.status(t, transfer), payments.TransferPending)
				if transfer.BankTransferURL == "" {
					t.Error("the shopper has nowhere to go")
				}
			}},
		{"3.2-success", "A completed purchase that succeeds is approved: SUCCESS, with a transaction.", where,
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann")
				back := w.visit(t, transfer)
				same(t, "the return", []any{back.Status, back.TransactionID != ""}, "[SUCCESS true]")
				same(t, "the status", w.status(t, transfer), payments.TransferSuccess)
				same(t, "IPNs", w.types(), "CHARGE")
			}},
		{"3.2-failure", "A completed purchase that fails has failed: FAIL.", where,
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann")
				back, err := w.Service.FinishTransfer(transfer.OrderID, false)
				must(t, err)
				same(t, "the return", returned(t, back).Status, payments.TransferFail)
				same(t, "the status", w.status(t, transfer), payments.TransferFail)
				same(t, "IPNs", w.types(), "DECLINE")
			}},
		{"3.2-undecided", "A shopper who comes back before the outcome is final brings PENDING.", where,
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann_DELAYAP")
				same(t, "the return", w.visit(t, transfer).Status, payments.TransferPending)
				same(t, "the status", w.status(t, transfer), payments.TransferPending)
				same(t, "IPNs", w.types(), "CHARGE_PENDING")
			}},
	}
	for _, s := range []struct{ suffix, says, now, then, ipns string }{
		{"_APPROVE", "is approved: SUCCESS.", "SUCCESS", "SUCCESS", "CHARGE"},
		{"_REJECT", "is rejected: FAIL.", "FAIL", "FAIL", "DECLINE"},
		{"_DELAYAP", "is pending, and SUCCESS within 15 minutes.", "PENDING", "SUCCESS", "CHARGE_PENDING CHARGE"},
		{"_DELAYRJ", "is pending, and FAIL within 15 minutes.", "PENDING", "FAIL", "CHARGE_PENDING DECLINE"},
	} {
		statements = append(statements, statement{"3.2-suffix" + s.suffix, "In the sandbox, a payer whose first name ends in " + s.suffix + " " + s.says, where,
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann"+s.suffix)
				same(t, "the return", w.visit(t, transfer).Status, s.now)
				same(t, "the status at once", w.status(t, transfer), s.now)
				w.Agenda.Advance(15 * time.Minute)
				same(t, "the status after 15 minutes", w.status(t, transfer), s.then)
				same(t, "IPNs", w.types(), s.ipns)
			}})
	}
	return statements
}
