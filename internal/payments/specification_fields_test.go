package payments_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/api"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func section2() []statement {
	return slices.Concat(quoteFields(), cardRequestFields(), captureFields(), cardAnswerFields(), subscriptionFields(),
		refundFields(), transferFields(), returnFields(), configurationFields(), flagFields())
}

// act is something to do, after which the last exchange is looked at.
type act func(*testing.T, *world)

// asks states that a request carries a member of a kind and, unless it is "", of a value.
func asks(id, says, where string, do act, path, ofKind, value string) statement {
	return statement{id, says, where, func(t *testing.T, w *world) {
		do(t, w)
		wants(t, w.last().request, path, ofKind, value)
		if w.last().status > 299 {
			t.Errorf("the service answered %d %s", w.last().status, w.last().answer)
		}
	}}
}

func charges(t *testing.T, w *world) { w.charge(t) }

func captures(t *testing.T, w *world) {
	authorized := w.authorize(t)
	_, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID),
		TaxReference: payments.QuoteReference{ID: authorized.TaxReference}})
	must(t, err)
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func quoteFields() []statement {
	return []statement{
		{"2.1-taxReference", "A quote has a reference in the form of a UUID, which later requests carry.", "payments.TaxQuote.TaxReference, payments.TaxQuote.Reference, paysim.Service.CreateQuote",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				if !uuid.MatchString(quote.TaxReference) || quote.Reference().ID != quote.TaxReference {
					t.Errorf("got %q", quote.TaxReference)
				}
				wants(t, w.last().answer, "taxReference", "string", quote.TaxReference)
			}},
		{"2.1-tax", "The answer tells the tax of each item and of all.", "payments.TaxedLine.Tax, payments.TaxQuote.TotalTax",
			func(t *testing.T, w *world) {
				request := quoteRequest(t)
				request.Lines = append(request.Lines, payments.TaxLine{ItemCode: "needle-1", Description: "Needles", TaxCode: "PH400000", Quantity: 3, Amount: amount(t, "12.00")})
				quote, err := w.client.CreateTaxQuote(t.Context(), request)
				must(t, err)
				same(t, "tax of the lines", []payments.Amount{quote.Lines[0].Tax, quote.Lines[1].Tax, quote.TotalTax}, "[6.25 0.75 7.00]")
				wants(t, w.last().answer, "lines.1.tax", "decimal", "0.75")
				wants(t, w.last().answer, "totalTax", "decimal", "7.00")
			}},
		{"2.1-open", "Left open: the other fields. The request tells currency, addresses and lines; the answer completes it.", "payments.TaxQuoteRequest, payments.TaxQuote",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				for path, value := range map[string]string{"currency": "USD", "shipTo.state": shoppersState, "lines.0.itemCode": "yarn-1", "lines.0.quantity": "1", "lines.0.amount": "100.00", "lines.0.taxCode": "PS081282"} {
					same(t, path, dig(t, w.last().request, path), value)
				}
				same(t, "sums", []payments.Amount{quote.TotalAmount, quote.TotalTaxable, quote.TotalExempt, quote.Total()}, "[100.00 100.00 0.00 106.25]")
				again, err := w.client.TaxQuote(t.Context(), quote.TaxReference)
				must(t, err)
				again.CreatedAt = quote.CreatedAt
				same(t, "the quote read again", fmt.Sprintf("%+v", again), fmt.Sprintf("%+v", quote))
			}},
	}
}

func cardRequestFields() []statement {
	const in = "payments.CardTransactionRequest."
	return []statement{
		asks("2.2-cardTransactionType", "AUTH_CAPTURE and AUTH_ONLY create a transaction.", in+"CardTransactionType, payments.AuthCapture, payments.AuthOnly",
			func(t *testing.T, w *world) {
				charges(t, w)
				wants(t, w.last().request, "cardTransactionType", "string", "AUTH_CAPTURE")
				w.authorize(t)
			}, "cardTransactionType", "string", "AUTH_ONLY"),
		asks("2.2-softDescriptor", "The descriptor is free text.", in+"SoftDescriptor", charges, "softDescriptor", "string", "Example shop"),
		asks("2.2-amount", "The amount is a decimal number, with the tax in it.", in+"Amount", charges, "amount", "decimal", "106.25"),
		asks("2.2-currency", "The currency is an upper-case code.", in+"Currency", charges, "currency", "string", "USD"),
		{"2.2-taxReference", "A create request may name a tax quote, or none.", in + "TaxReference, payments.QuoteReference",
			func(t *testing.T, w *world) {
				transaction := w.charge(t)
				wants(t, w.last().request, "taxReference", "string", transaction.TaxReference)
				_, err := w.client.CreateCardTransaction(t.Context(), cardRequest(t, "10.00"))
				must(t, err)
				wants(t, w.last().request, "taxReference", "absent", "")
			}},
		{"2.2-cardHolderInfo", "The card holder is an object of firstName, lastName, zip and country, the country in two lower-case letters.", in + "CardHolderInfo, payments.CardHolder",
			func(t *testing.T, w *world) {
				charges(t, w)
				for name, value := range map[string]string{"firstName": "Ann", "lastName": "Example", "zip": "02110", "country": "us"} {
					wants(t, w.last().request, "cardHolderInfo."+name, "string", value)
				}
			}},
		{"2.2-creditCard", "The card is an object of strings: number, security code, month of two digits, year of four.", in + "CreditCard, payments.CreditCard",
			func(t *testing.T, w *world) {
				charges(t, w)
				for name, value := range map[string]string{"cardNumber": approvedCard, "securityCode": "837", "expirationMonth": "02", "expirationYear": "2031"} {
					wants(t, w.last().request, "creditCard."+name, "string", value)
				}
			}},
	}
}

func captureFields() []statement {
	return []statement{
		asks("2.3-cardTransactionType", "A capture says CAPTURE.", "payments.Client.Capture", captures, "cardTransactionType", "string", "CAPTURE"),
		{"2.3-transactionId", "A capture names the AUTH_ONLY transaction.", "payments.CaptureRequest.TransactionID",
			func(t *testing.T, w *world) {
				authorized := w.authorize(t)
				captured, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID)})
				must(t, err)
				wants(t, w.last().request, "transactionId", "string", string(authorized.TransactionID))
				same(t, "what was captured", captured.OriginalTransactionID, authorized.TransactionID)
			}},
		{"2.3-taxReference", "A capture may name the tax quote.", "payments.CaptureRequest.TaxReference",
			func(t *testing.T, w *world) {
				captures(t, w)
				wants(t, w.last().request, "taxReference", "string", fmt.Sprint(dig(t, w.last().answer, "taxReference")))
				authorized := w.authorize(t)
				_, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID)})
				must(t, err)
				wants(t, w.last().request, "taxReference", "absent", "")
			}},
		{"2.3-taxReference-reseller", "Under the reseller payment model a capture without the tax quote is refused.", "paysim.Config.Reseller, payments.CaptureRequest.TaxReference",
			func(t *testing.T, w *world) {
				reseller := paysim.New(paysim.Config{Agenda: w.Agenda, Send: func(string, notice.Notice) {}, Reseller: true})
				server := httptest.NewServer(api.New(api.Config{Service: reseller, Agenda: w.Agenda, Username: username, Password: password}))
				t.Cleanup(server.Close)
				client := connect(t, server.URL)
				quote, err := client.CreateTaxQuote(t.Context(), quoteRequest(t))
				must(t, err)
				request := purchase(t, quote)
				request.CardTransactionType = payments.AuthOnly
				authorized, err := client.CreateCardTransaction(t.Context(), request)
				must(t, err)
				capture := payments.CaptureRequest{TransactionID: string(authorized.TransactionID)}
				if _, err := client.Capture(t.Context(), capture); payments.Code(err) != "43003" {
					t.Errorf("without it: got %v", err)
				}
				capture.TaxReference = quote.Reference()
				_, err = client.Capture(t.Context(), capture)
				must(t, err)
			}},
	}
}

// answers states that the answer of a charge tells members, and that the client reads each as it is on the wire.
func answers(id, says, where string, ofKind string, members map[string]func(payments.CardTransaction) any) statement {
	return statement{id, says, where, func(t *testing.T, w *world) {
		transaction := w.charge(t)
		for path, read := range members {
			wants(t, w.last().answer, path, ofKind, fmt.Sprint(read(transaction)))
			if fmt.Sprint(read(transaction)) == "" {
				t.Errorf("%s is empty", path)
			}
		}
	}}
}

func cardAnswerFields() []statement {
	const in = "payments.CardTransaction."
	type read = func(payments.CardTransaction) any
	echo := func(name string, field func(payments.CardTransaction) any) statement {
		return statement{"2.4-" + name, "The answer repeats what was asked for.", in + strings.ToUpper(name[:1]) + name[1:], func(t *testing.T, w *world) {
			transaction := w.charge(t)
			said := w.last()
			same(t, name, fmt.Sprint(dig(t, said.answer, name)), fmt.Sprint(dig(t, said.request, name)))
			same(t, name+" as read", field(transaction), dig(t, said.answer, name))
		}}
	}
	return []statement{
		echo("cardTransactionType", func(c payments.CardTransaction) any { return c.CardTransactionType }),
		answers("2.4-transactionId", "A transaction has an identifier, a string.", in+"TransactionID", "string", map[string]read{"transactionId": func(c payments.CardTransaction) any { return c.TransactionID }}),
		echo("softDescriptor", func(c payments.CardTransaction) any { return c.SoftDescriptor }),
		echo("amount", func(c payments.CardTransaction) any { return c.Amount }),
		answers("2.4-usdAmount", "The amount is told in USD too.", in+"USDAmount", "decimal", map[string]read{"usdAmount": func(c payments.CardTransaction) any { return c.USDAmount }}),
		echo("currency", func(c payments.CardTransaction) any { return c.Currency }),
		answers("2.4-avsResponseCode", "The result of the address verification is a code.", in+"AVSResponseCode", "string", map[string]read{"avsResponseCode": func(c payments.CardTransaction) any { return c.AVSResponseCode }}),
		{"2.4-transactionApprovalDate", "The date of approval is MM/DD/YYYY.", in + "TransactionApprovalDate", approved("01/02/2006", func(c payments.CardTransaction) string { return c.TransactionApprovalDate })},
		{"2.4-transactionApprovalTime", "The time of approval is HH:MM:SS.", in + "TransactionApprovalTime", approved("15:04:05", func(c payments.CardTransaction) string { return c.TransactionApprovalTime })},
		answers("2.4-cardHolderInfo", "The card holder is told: firstName, lastName, country, zip.", in+"CardHolderInfo, payments.CardHolder", "string", map[string]read{
			"cardHolderInfo.firstName": func(c payments.CardTransaction) any { return c.CardHolderInfo.FirstName },
			"cardHolderInfo.lastName":  func(c payments.CardTransaction) any { return c.CardHolderInfo.LastName },
			"cardHolderInfo.country":   func(c payments.CardTransaction) any { return c.CardHolderInfo.Country },
			"cardHolderInfo.zip":       func(c payments.CardTransaction) any { return c.CardHolderInfo.Zip }}),
		answers("2.4-vaultedShopperId", "The stored shopper has a whole number.", in+"VaultedShopperID", "integer", map[string]read{"vaultedShopperId": func(c payments.CardTransaction) any { return c.VaultedShopperID }}),
		answers("2.4-creditCard", "The card is told without its number: last four digits, types, categories, issuer.", in+"CreditCard, payments.MaskedCard", "string", map[string]read{
			"creditCard.cardLastFourDigits": func(c payments.CardTransaction) any { return c.CreditCard.CardLastFourDigits },
			"creditCard.cardType":           func(c payments.CardTransaction) any { return c.CreditCard.CardType },
			"creditCard.cardSubType":        func(c payments.CardTransaction) any { return c.CreditCard.CardSubType },
			"creditCard.cardCategory":       func(c payments.CardTransaction) any { return c.CreditCard.CardCategory },
			"creditCard.binCategory":        func(c payments.CardTransaction) any { return c.CreditCard.BinCategory },
			"creditCard.issuingBank":        func(c payments.CardTransaction) any { return c.CreditCard.IssuingBank },
			"creditCard.issuingCountryCode": func(c payments.CardTransaction) any { return c.CreditCard.IssuingCountryCode }}),
		answers("2.4-processingInfo", "The processing is told: status, codes of card and address verification, authorization.", in+"ProcessingInfo, payments.ProcessingInfo", "string", map[string]read{
			"processingInfo.processingStatus":       func(c payments.CardTransaction) any { return c.ProcessingInfo.ProcessingStatus },
			"processingInfo.cvvResponseCode":        func(c payments.CardTransaction) any { return c.ProcessingInfo.CVVResponseCode },
			"processingInfo.authorizationCode":      func(c payments.CardTransaction) any { return c.ProcessingInfo.AuthorizationCode },
			"processingInfo.avsResponseCodeZip":     func(c payments.CardTransaction) any { return c.ProcessingInfo.AVSResponseCodeZip },
			"processingInfo.avsResponseCodeAddress": func(c payments.CardTransaction) any { return c.ProcessingInfo.AVSResponseCodeAddress },
			"processingInfo.avsResponseCodeName":    func(c payments.CardTransaction) any { return c.ProcessingInfo.AVSResponseCodeName }}),
		answers("2.4-fraudResultInfo", "What was found of fraud is told: a code of the device data collector.", in+"FraudResultInfo, payments.FraudResultInfo", "string", map[string]read{
			"fraudResultInfo.deviceDataCollector": func(c payments.CardTransaction) any { return c.FraudResultInfo.DeviceDataCollector }}),
		echo("taxReference", func(c payments.CardTransaction) any { return c.TaxReference }),
		{"2.4-open", "Left open: further fields and the enumerations. Refunds and disputes are listed by the transaction; text is kept as it was sent.", in + "Refunds, payments.CardTransaction.Chargebacks",
			func(t *testing.T, w *world) {
				id := string(w.charge(t).TransactionID)
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id, Amount: amount(t, "10.00"), TaxAmount: amount(t, "0.50")})
				must(t, err)
				dispute, err := w.Service.OpenDispute(id, nil, "not received")
				must(t, err)
				now, err := w.client.CardTransaction(t.Context(), id)
				must(t, err)
				if len(now.Refunds.Refund) != 1 || len(now.Chargebacks.Chargeback) != 1 {
					t.Fatalf("got %+v", now)
				}
				same(t, "the refund", now.Refunds.Refund[0].RefundTransactionID, refund.RefundTransactionID)
				same(t, "what is left", []payments.Amount{now.Refunds.BalanceAmount, now.Refunds.TaxBalanceAmount}, "[96.25 5.75]")
				same(t, "the dispute", now.Chargebacks.Chargeback[0].ChargebackTransactionID, dispute.ID)
			}},
	}
}

func approved(layout string, field func(payments.CardTransaction) string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		if _, err := time.Parse(layout, field(w.charge(t))); err != nil {
			t.Error(err)
		}
	}
}

func subscriptionFields() []statement {
	const in, up = "payments.SubscriptionRequest.", "payments.SubscriptionUpdate."
	subscribes := func(t *testing.T, w *world) {
		quote := w.quote(t, "25.00").Reference()
		w.subscribe(t, func(r *payments.SubscriptionRequest) {
			r.InitialTaxReference, r.RecurringTaxReference = quote, quote
			r.FraudInfo = &payments.FraudInfo{FraudSessionID: "session-1"}
		})
	}
	updates := func(t *testing.T, w *world) {
		id := string(w.subscribe(t).SubscriptionID)
		quote := w.quote(t, "50.00")
		_, err := w.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{PlanID: yearly, OverrideRecurringChargeAmount: quote.Total(), RecurringTaxReference: quote.Reference()})
		must(t, err)
	}
	return []statement{
		{"2.5-payerInfo", "The payer is an object of zip, firstName, lastName and phone.", in + "PayerInfo, payments.PayerInfo",
			func(t *testing.T, w *world) {
				subscribes(t, w)
				for name, value := range map[string]string{"zip": "02110", "firstName": "Ann", "lastName": "Example", "phone": "555-0101"} {
					wants(t, w.last().request, "payerInfo."+name, "string", value)
				}
			}},
		{"2.5-creditCard", "The card stands in paymentSource.creditCardInfo.creditCard.", in + "PaymentSource, payments.PaymentSource",
			func(t *testing.T, w *world) {
				subscribes(t, w)
				for name, value := range map[string]string{"cardNumber": approvedCard, "securityCode": "837", "expirationMonth": "02", "expirationYear": "2031"} {
					wants(t, w.last().request, "paymentSource.creditCardInfo.creditCard."+name, "string", value)
				}
			}},
		asks("2.5-planId", "The plan is a whole number.", in+"PlanID", subscribes, "planId", "integer", "3000001"),
		asks("2.5-transactionFraudInfo", "The fraud session is told in transactionFraudInfo.", in+"FraudInfo, payments.FraudInfo", subscribes, "transactionFraudInfo.fraudSessionId", "string", "session-1"),
		asks("2.5-initialTaxReference", "The quote of the first charge is initialTaxReference.", in+"InitialTaxReference", subscribes, "initialTaxReference", "string", ""),
		asks("2.5-recurringTaxReference", "The quote of the later charges is recurringTaxReference.", in+"RecurringTaxReference", subscribes, "recurringTaxReference", "string", ""),
		asks("2.5-update-overrideRecurringChargeAmount", "An update may tell another recurring amount, a number.", up+"OverrideRecurringChargeAmount", updates, "overrideRecurringChargeAmount", "decimal", "53.13"),
		asks("2.5-update-planId", "An update may tell another plan, a whole number.", up+"PlanID", updates, "planId", "integer", "3000002"),
		asks("2.5-update-recurringTaxReference", "An update may tell another quote for the later charges.", up+"RecurringTaxReference", updates, "recurringTaxReference", "string", ""),
		{"2.5-open", "Left open: which fields are required, and the answer. The answer tells identifier, plan, status, amount and the next charge.", "payments.Subscription, payments.Client.Subscription",
			func(t *testing.T, w *world) {
				subscription := w.subscribe(t)
				same(t, "the subscription", []any{subscription.PlanID, subscription.Status, subscription.RecurringChargeAmount, subscription.Currency, subscription.ChargeFrequency, subscription.NextChargeDate, subscription.AutoRenew},
					"[3000001 ACTIVE 25.00 USD MONTHLY 21-Dec-26 true]")
				again, err := w.client.Subscription(t.Context(), string(subscription.SubscriptionID))
				must(t, err)
				same(t, "the subscription read again", again, subscription)
			}},
	}
}

func refundFields() []statement {
	refunds := func(t *testing.T, w *world) {
		_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(w.charge(t).TransactionID), Amount: amount(t, "52.50"), TaxAmount: amount(t, "2.50")})
		must(t, err)
	}
	return []statement{
		asks("2.6-amount", "A refund tells its total, tax included, as a decimal number.", "payments.RefundRequest.Amount", refunds, "amount", "decimal", "52.50"),
		{"2.6-amount-omitted", "Without an amount everything is refunded.", "payments.RefundRequest.Amount, paysim.Service.Refund",
			func(t *testing.T, w *world) {
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(w.charge(t).TransactionID)})
				must(t, err)
				same(t, "the body", string(w.last().request), "{}")
				same(t, "what was refunded", []payments.Amount{refund.Amount, refund.TaxAmount}, "[106.25 6.25]")
			}},
		asks("2.6-taxAmount", "A partial refund tells its part of the tax.", "payments.RefundRequest.TaxAmount", refunds, "taxAmount", "decimal", "2.50"),
	}
}

func transferFields() []statement {
	transfers := func(t *testing.T, w *world) { w.transfer(t, "Ann_APPROVE") }
	return []statement{
		{"2.7-returnUrl", "A return URL is required.", "payments.BankTransferRequest.ReturnURL",
			func(t *testing.T, w *world) {
				transfers(t, w)
				for _, path := range []string{"returnUrl", "sofortTransaction.returnUrl"} { // the specification's place, and the one others have seen
					wants(t, w.last().request, path, "string", "https://shop.example/return?basket=7")
				}
				onTop := w.ask(t, "POST", "/services/2/alt-transactions/", `{"amount":21.00,"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"},"returnUrl":"https://shop.example/return?basket=7"}`)
				same(t, "the answer to one on top alone", onTop.status, 200)
				said := w.ask(t, "POST", "/services/2/alt-transactions/", `{"amount":21.00,"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"},"sofortTransaction":{}}`)
				wants(t, said.answer, "message.0.code", "string", "16001")
			}},
		asks("2.7-payerInfo.firstName", "The payer has a first name, whose suffix chooses the outcome in the sandbox.", "payments.PayerInfo.FirstName", transfers, "payerInfo.firstName", "string", "Ann_APPROVE"),
		{"2.7-bankTransferUrl", "The answer tells where to send the shopper, in bankTransferUrl, or in a field of the method's own name.", "payments.BankTransfer.BankTransferURL, payments.BankTransfer.UnmarshalJSON",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann")
				same(t, "the address", transfer.BankTransferURL, fmt.Sprintf("%s/bank/%d", w.door.URL, transfer.OrderID))
				for _, path := range []string{"bankTransferUrl", "sofortTransaction.sofortUrl"} {
					wants(t, w.last().answer, path, "string", transfer.BankTransferURL)
				}
				for _, answer := range []string{`"bankTransferUrl":"https://bank.example/7"`, `"sofortTransaction":{"sofortUrl":"https://bank.example/7"}`} {
					_, client := serve(t, says(200, `{"orderId":7,`+answer+`}`))
					read, err := client.CreateBankTransfer(t.Context(), transferRequest(t, "Ann"))
					must(t, err)
					same(t, "the address in either alone", read.BankTransferURL, "https://bank.example/7")
				}
			}},
		asks("2.7-merchantTransactionId", "The merchant's own identifier is optional; its field, left open, is merchantTransactionId.", "payments.BankTransferRequest.MerchantTransactionID", transfers, "merchantTransactionId", "string", "order-77"),
		{"2.7-open", "Left open: the other parameters and answer fields. Amount, currency and payer are told, and an order comes back.", "payments.BankTransferRequest, payments.BankTransfer",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann")
				same(t, "the transfer", []any{transfer.Amount, transfer.Currency, transfer.ProcessingInfo.ProcessingStatus, transfer.PayerInfo.LastName, transfer.OrderID > 0, transfer.TransactionID}, "[21.00 EUR PENDING Lee true ]")
			}},
	}
}

// returned reads what a browser brings back.
func returned(t *testing.T, address string) payments.BankTransferReturn {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	result, err := payments.ParseBankTransferReturn(u.Query())
	must(t, err)
	if u.Query().Get("basket") != "7" {
		t.Errorf("the merchant's own query is lost: %s", address)
	}
	return result
}

func returnFields() []statement {
	const in = "payments.BankTransferReturn."
	return []statement{
		{"2.7-STATUS", "The return query tells SUCCESS or PENDING.", in + "Status, payments.ParseBankTransferReturn",
			func(t *testing.T, w *world) {
				same(t, "an approved one", w.visit(t, w.transfer(t, "Ann_APPROVE")).Status, payments.TransferSuccess)
				same(t, "a delayed one", w.visit(t, w.transfer(t, "Ann_DELAYAP")).Status, payments.TransferPending)
			}},
		{"2.7-ORDER-ID", "The return query tells the order, a whole number.", in + "OrderID",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann_APPROVE")
				same(t, "the order", w.visit(t, transfer).OrderID, transfer.OrderID)
			}},
		{"2.7-TRANSACTION-ID", "The return query tells the transaction only with SUCCESS.", in + "TransactionID",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann_APPROVE")
				back := w.visit(t, transfer)
				found, err := w.client.BankTransfer(t.Context(), back.TransactionID)
				must(t, err)
				same(t, "the order of the transaction", found.OrderID, transfer.OrderID)
				back = w.visit(t, w.transfer(t, "Ann_DELAYAP"))
				same(t, "present without success", w.tells(t, back, "TRANSACTION-ID"), false)
			}},
		{"2.7-MTI", "The return query tells the merchant's identifier only if one was given.", in + "MerchantTransactionID",
			func(t *testing.T, w *world) {
				same(t, "given", w.visit(t, w.transfer(t, "Ann_APPROVE")).MerchantTransactionID, "order-77")
				request := transferRequest(t, "Ann_APPROVE")
				request.MerchantTransactionID = ""
				transfer, err := w.client.CreateBankTransfer(t.Context(), request)
				must(t, err)
				same(t, "present when not given", w.tells(t, w.visit(t, transfer), "MTI"), false)
			}},
	}
}

func configurationFields() []statement {
	replaces := func(t *testing.T, w *world) {
		must(t, w.client.ReplaceNotificationConfiguration(t.Context(), configuration(ours, "sendCharge")))
	}
	setting := func(name string, set func(*payments.NotificationConfiguration), read func(payments.NotificationConfiguration) bool) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			for _, on := range []bool{true, false} {
				desired := configuration(ours)
				if on {
					set(&desired)
				}
				must(t, w.client.ReplaceNotificationConfiguration(t.Context(), desired))
				wants(t, w.last().request, name, "boolean", fmt.Sprint(on))
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				same(t, name, read(actual), on)
			}
			without := strings.Replace(string(marshal(t, configuration(ours))), `"`+name+`":false`, `"other":false`, 1)
			if said := w.ask(t, "POST", "/services/2/notification-config/", without); said.status != 400 {
				t.Errorf("without %s the service answers %d", name, said.status)
			}
		}
	}
	return []statement{
		asks("2.8-ipnDestinations", "The destinations are a list of one object with the URL and the flags.", "payments.NotificationConfiguration.Destinations", replaces, "ipnDestinations", "list", ""),
		asks("2.8-ipnUrl", "The address is required.", "payments.NotificationDestination.URL, payments.NotificationConfiguration.Check",
			func(t *testing.T, w *world) {
				if said := w.ask(t, "POST", "/services/2/notification-config/", `{"ipnDestinations":[{"sendCharge":true}],"ensureNotificationReceipt":false,"receiveAffiliateNotifications":false}`); said.status != 400 {
					t.Errorf("without it the service answers %d", said.status)
				}
				replaces(t, w)
			}, "ipnDestinations.0.ipnUrl", "string", ours),
		{"2.8-ensureNotificationReceipt", "The assurance of receipt is a required setting, sent as a boolean.", "payments.NotificationConfiguration.EnsureReceipt",
			setting("ensureNotificationReceipt", func(c *payments.NotificationConfiguration) { c.EnsureReceipt = true }, func(c payments.NotificationConfiguration) bool { return c.EnsureReceipt })},
		{"2.8-receiveAffiliateNotifications", "The affiliate notifications are a required setting, sent as a boolean.", "payments.NotificationConfiguration.ReceiveAffiliate",
			setting("receiveAffiliateNotifications", func(c *payments.NotificationConfiguration) { c.ReceiveAffiliate = true }, func(c payments.NotificationConfiguration) bool { return c.ReceiveAffiliate })},
		{"2.8-flags", "A flag that is not sent is set to false; the client sends all.", "payments.NotificationDestination.MarshalJSON, paysim.Service.ReplaceConfiguration",
			func(t *testing.T, w *world) {
				w.ask(t, "POST", "/services/2/notification-config/", `{"ipnDestinations":[{"ipnUrl":"`+ours+`","sendRefund":true}],"ensureNotificationReceipt":false,"receiveAffiliateNotifications":false}`)
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				for _, flag := range payments.NotificationFlags() {
					same(t, flag, actual.Destinations[0].Send[flag], flag == "sendRefund")
				}
				replaces(t, w)
				for _, flag := range payments.NotificationFlags() {
					wants(t, w.last().request, "ipnDestinations.0."+flag, "boolean", fmt.Sprint(flag == "sendCharge"))
				}
			}},
	}
}

// flagFields states of each flag that it alone switches its type on.
func flagFields() []statement {
	var statements []statement
	for _, flag := range payments.NotificationFlags() {
		statements = append(statements, statement{"2.8-" + flag, "The flag enables one type of IPN and no other.", "payments.NotificationDestination.Send, notice.Flag, paysim.Service.Emit",
			func(t *testing.T, w *world) {
				must(t, w.client.ReplaceNotificationConfiguration(t.Context(), configuration(ours, flag)))
				delivered := emitAll(w.Service)
				if len(delivered) != 1 || notice.Flag(delivered[0]) != flag {
					t.Errorf("delivered: %v", delivered)
				}
			}})
	}
	return statements
}

// emitAll lets every type happen and returns those that were taken.
func emitAll(service *paysim.Service) []string {
	var taken []string
	for _, name := range notice.Types() {
		if _, err := service.Emit(name); err == nil {
			taken = append(taken, name)
		}
	}
	return taken
}
