package payments_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// section7 proves what is known of errors beside the specification, which leaves all of it open.
func section7() []statement {
	return append(errorBodies(), errorCodes()...)
}

func errorBodies() []statement {
	const where = "payments.Error, payments.Message"
	return []statement{
		{"7-json", "Left open: the body. It is a list of messages with name, code, description and the field to blame.", where,
			func(t *testing.T, w *world) {
				_, err := w.client.CreateCardTransaction(t.Context(), cardRequest(t, "0.00"))
				var answer *payments.Error
				if !errors.As(err, &answer) || len(answer.Messages) != 1 || answer.Messages[0].Property != "amount" || answer.Messages[0].Code == "" || answer.Messages[0].Description == "" {
					t.Errorf("got %#v", err)
				}
				wants(t, w.last().answer, "message", "list", "")
			}},
		{"7-xml", "The same is understood in XML.", where,
			func(t *testing.T, w *world) {
				said := w.ask(t, "POST", "/services/2/transactions", `{"cardTransactionType":"SALE","amount":1,"currency":"USD"}`, "Accept", "application/xml")
				_, client := serve(t, says(said.status, string(said.answer), "Content-Type", "application/xml"))
				if _, err := client.CardTransaction(t.Context(), "1"); payments.Code(err) != "7" {
					t.Errorf("got %v from %s", err, said.answer)
				}
			}},
		{"7-authentication", "Wrong credentials are 401, with a body of its own form.", "payments.ErrUnauthorized",
			func(t *testing.T, w *world) {
				_, err := connect(t, w.door.URL).NotificationConfiguration(t.Context())
				if !errors.Is(err, payments.ErrUnauthorized) || payments.Code(err) != "401" {
					t.Errorf("got %v", err)
				}
			}},
		{"7-not-found", "What does not exist is 404.", "payments.ErrNotFound",
			func(t *testing.T, w *world) {
				_, err := w.client.CardTransaction(t.Context(), "1")
				if !errors.Is(err, payments.ErrNotFound) {
					t.Errorf("got %v", err)
				}
			}},
		{"7-method", "Another method than the path's is 405.", where, raw("85", http.StatusMethodNotAllowed, "DELETE", "/services/2/transactions", "")},
		{"7-media-type", "Another format than the path's is 415.", where,
			func(t *testing.T, w *world) {
				same(t, "the status", w.ask(t, "POST", "/services/2/transactions", "a=b", "Content-Type", "text/plain").status, http.StatusUnsupportedMediaType)
			}},
		{"7-expired-quote", "Left open: a request with an expired quote. It is refused with a code of the tax group; the client does not send it.", "payments.ErrQuote, payments.ErrQuoteExpired",
			func(t *testing.T, w *world) {
				request := purchase(t, w.quote(t, "100.00"))
				w.Agenda.Advance(25 * time.Hour)
				if _, err := w.client.CreateCardTransaction(t.Context(), request); !errors.Is(err, payments.ErrQuoteExpired) {
					t.Errorf("got %v", err)
				}
				request.TaxReference.CreatedAt = time.Time{}
				if _, err := w.client.CreateCardTransaction(t.Context(), request); !errors.Is(err, payments.ErrQuote) || payments.Code(err) != "300" {
					t.Errorf("got %v", err)
				}
			}},
		{"7-idempotency", "A POST that comes twice with one idempotency-key is done once and answered alike.", "payments.RefundRequest.IdempotencyKey",
			func(t *testing.T, w *world) {
				request := payments.RefundRequest{TransactionID: string(w.charge(t).TransactionID), Amount: amount(t, "1.00"), TaxAmount: amount(t, "0.00"), IdempotencyKey: "refund-1"}
				first, err := w.client.Refund(t.Context(), request)
				must(t, err)
				second, err := w.client.Refund(t.Context(), request)
				must(t, err)
				same(t, "the second refund", second, first)
				same(t, "IPNs", w.types(), "CHARGE REFUND")
			}},
	}
}

// raw asks for something that the client would not send.
func raw(code string, status int, method, path, body string, header ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		said := w.ask(t, method, path, body, header...)
		same(t, "the status", said.status, status)
		wants(t, said.answer, "message.0.code", "string", code)
	}
}

// fails does something that is answered with a code.
func fails(code string, group error, do func(*testing.T, *world) error) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		err := do(t, w)
		if payments.Code(err) != code || group != nil && !errors.Is(err, group) {
			t.Errorf("got %v, want %s", err, code)
		}
	}
}

func errorCodes() []statement {
	statements := append(refusalCodes(), refundCodes()...)
	statements = append(statements, transactionCodes()...)
	statements = append(statements, requestCodes()...)
	statements = append(statements, quoteCodes()...)
	statements = append(statements, unsentCodes()...)
	return append(statements, toldCodes()...)
}

func refusalCodes() []statement {
	var statements []statement
	for name, number := range map[string]string{
		"DO_NOT_HONOR": declinedCard, "INSUFFICIENT_FUNDS": "4000000000009995", "EXPIRED_CARD": "4000000000000069", "CVV_ERROR": "4000000000000127",
		"CARD_LOST_OR_STOLEN": "4000000000009979", "PROCESSING_TIMEOUT": "4000000000000119", "THREE_D_SECURITY_AUTHENTICATION_REQUIRED": "4000002500003155",
	} {
		statements = append(statements, statement{"7-14002-" + name, "A refusal of the shopper's bank is 14002, told apart by its name: " + name + ".", "payments.ErrDeclined, payments.Message.Name",
			func(t *testing.T, w *world) {
				request := cardRequest(t, "10.00")
				request.CreditCard.CardNumber = number
				_, err := w.client.CreateCardTransaction(t.Context(), request)
				var answer *payments.Error
				if !errors.Is(err, payments.ErrDeclined) || payments.Code(err) != "14002" || !errors.As(err, &answer) || answer.Messages[0].Name != name {
					t.Errorf("got %v", err)
				}
				tells(t, err, number)
				same(t, "IPNs", w.types(), "CC_CHARGE_FAILED")
			}})
	}
	sortByID(statements)
	return append(statements, statement{"7-14011", "A card of an unknown brand is 14011.", "payments.ErrDeclined",
		fails("14011", payments.ErrDeclined, func(t *testing.T, w *world) error {
			request := cardRequest(t, "10.00")
			request.CreditCard.CardNumber = "9999999999999995"
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			return err
		})})
}

func refundCodes() []statement {
	const where = "payments.ErrRefund, paysim.Service.Refund"
	// refund asks for a refund of a charge of 106.25, of which 6.25 is tax, after the earlier refunds given.
	refund := func(parts ...[2]string) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			id := string(w.charge(t).TransactionID)
			var err error
			for _, part := range parts {
				must(t, err)
				request := payments.RefundRequest{TransactionID: id}
				if part[0] != "" {
					request.Amount = amount(t, part[0])
				}
				if part[1] != "" {
					request.TaxAmount = amount(t, part[1])
				}
				_, err = w.client.Refund(t.Context(), request)
			}
			return err
		}
	}
	// beyond asks for what the client would not send.
	beyond := func(code, body string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			raw(code, http.StatusBadRequest, "POST", "/services/2/transactions/refund/"+string(w.charge(t).TransactionID), body)(t, w)
		}
	}
	return []statement{
		{"7-14004", "What was not paid is not refunded: 14004.", where, fails("14004", payments.ErrRefund, func(t *testing.T, w *world) error {
			_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(w.authorize(t).TransactionID)})
			return err
		})},
		{"7-14007", "After two years nothing is refunded: 14007.", where, fails("14007", payments.ErrRefund, func(t *testing.T, w *world) error {
			id := string(w.charge(t).TransactionID)
			w.Agenda.Advance(732 * day)
			_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id})
			return err
		})},
		{"7-14009", "More than earlier refunds have left is 14009.", where, fails("14009", payments.ErrRefund, refund([2]string{"100.00", "5.00"}, [2]string{"10.00", "1.00"}))},
		{"7-14022", "A refund of what was refunded wholly is 14022.", where, fails("14022", payments.ErrRefund, refund([2]string{}, [2]string{}))},
		{"7-14051", "A partial refund of a taxed charge must tell its tax: 14051.", where, fails("14051", payments.ErrRefund, refund([2]string{"10.00", ""}))},
		{"7-14052", "A negative tax is 14052; the client does not send it.", where, beyond("14052", `{"amount":10.00,"taxAmount":-1.00}`)},
		{"7-14053", "More tax than is left is 14053.", where, fails("14053", payments.ErrRefund, refund([2]string{"10.00", "7.00"}))},
		{"7-14054", "More tax than refund is 14054; the client does not send it.", where, beyond("14054", `{"amount":1.00,"taxAmount":2.00}`)},
		{"7-14055", "A part without tax that is larger than what is left without tax is 14055.", where, fails("14055", payments.ErrRefund, refund([2]string{"104.00", "1.00"}))},
	}
}

func transactionCodes() []statement {
	const where = "payments.ErrTransaction"
	capture := func(w *world, t *testing.T, id payments.ID) error {
		_, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(id)})
		return err
	}
	return []statement{
		{"7-20002", "Several transactions under one merchantTransactionId are 20002.", where, func(t *testing.T, w *world) {
			w.charge(t)
			w.charge(t)
			raw("20002", http.StatusBadRequest, "GET", "/services/2/transactions/order-1,7", "")(t, w)
		}},
		{"7-20005", "A capture of what is no authorization is 20005.", where, fails("20005", payments.ErrTransaction, func(t *testing.T, w *world) error { return capture(w, t, w.charge(t).TransactionID) })},
		{"7-20007", "A capture of an authorization that is too old is 20007.", where, fails("20007", payments.ErrTransaction, func(t *testing.T, w *world) error {
			authorized := w.authorize(t)
			w.Agenda.Advance(60 * day)
			return capture(w, t, authorized.TransactionID)
		})},
		{"7-20008", "A capture without a transaction is 20008; the client does not send it.", where, raw("20008", http.StatusBadRequest, "PUT", "/services/2/transactions", `{"cardTransactionType":"CAPTURE"}`)},
		{"7-20009", "A transaction that does not exist is 20009.", where, fails("20009", payments.ErrTransaction, func(t *testing.T, w *world) error { return capture(w, t, "1") })},
		{"7-20010", "A second capture is 20010.", where, fails("20010", payments.ErrTransaction, func(t *testing.T, w *world) error {
			authorized := w.authorize(t)
			must(t, capture(w, t, authorized.TransactionID))
			return capture(w, t, authorized.TransactionID)
		})},
		{"7-20020", "Another method of payment than the service has is 20020.", "payments.ErrRequest", raw("20020", http.StatusBadRequest, "POST", "/services/2/alt-transactions/", `{"amount":1,"currency":"EUR","idealTransaction":{}}`)},
		{"7-20026", "A plan of another currency is 20026.", "payments.ErrPlan", fails("20026", payments.ErrPlan, func(t *testing.T, w *world) error {
			_, err := w.client.UpdateSubscription(t.Context(), string(w.subscribe(t).SubscriptionID), payments.SubscriptionUpdate{PlanID: euroMonthly})
			return err
		})},
		{"7-20035", "A bank transfer from a country without it is 20035.", "payments.ErrRequest", fails("20035", payments.ErrRequest, func(t *testing.T, w *world) error {
			request := transferRequest(t, "Ann")
			request.PayerInfo.Country = "us"
			_, err := w.client.CreateBankTransfer(t.Context(), request)
			return err
		})},
		{"7-90009", "A subscription that does not exist is 90009.", "payments.ErrNotFound", fails("90009", payments.ErrNotFound, func(t *testing.T, w *world) error {
			_, err := w.client.Subscription(t.Context(), "1")
			return err
		})},
	}
}

func requestCodes() []statement {
	const where, path = "payments.Error", "/services/2/transactions"
	return []statement{
		{"7-7", "A transaction type that is none is 7, with 403.", "payments.ErrForbidden, payments.ErrRequest", raw("7", http.StatusForbidden, "POST", path, `{"cardTransactionType":"SALE","amount":1,"currency":"USD"}`)},
		{"7-30", "A charge of nobody is 30.", "payments.ErrRequest", fails("30", payments.ErrRequest, func(t *testing.T, w *world) error {
			request := cardRequest(t, "10.00")
			request.CardHolderInfo = nil
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			return err
		})},
		{"7-85", "A capture by POST is 85.", "payments.ErrRequest", raw("85", http.StatusMethodNotAllowed, "POST", path, `{"cardTransactionType":"CAPTURE","transactionId":"1"}`)},
		{"7-90", "A charge of no card is 90.", "payments.ErrRequest", fails("90", payments.ErrRequest, func(t *testing.T, w *world) error {
			request := cardRequest(t, "10.00")
			request.CreditCard = nil
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			return err
		})},
		{"7-10000", "An unknown version is 10000.", "payments.ErrRequest", raw("10000", http.StatusBadRequest, "GET", "/services/2/notification-config/", "", "service-version", "9.9")},
		{"7-10001", "A value of the wrong type is 10001.", "payments.ErrRequest", raw("10001", http.StatusBadRequest, "POST", path, `{"cardTransactionType":"AUTH_CAPTURE","amount":"much","currency":"USD"}`)},
		{"7-14005", "An amount of 0 is below the minimum: 14005.", "payments.ErrDeclined", fails("14005", payments.ErrDeclined, func(t *testing.T, w *world) error {
			_, err := w.client.CreateCardTransaction(t.Context(), cardRequest(t, "0.00"))
			return err
		})},
		{"7-14006", "An amount above 9999999999.99 is 14006; the client does not send it.", "payments.ErrDeclined", raw("14006", http.StatusBadRequest, "POST", path, `{"cardTransactionType":"AUTH_CAPTURE","amount":10000000000.00,"currency":"USD"}`)},
		{"7-15008", "A stored shopper who does not exist is 15008.", "payments.ErrNotFound", fails("15008", payments.ErrNotFound, func(t *testing.T, w *world) error {
			request := cardRequest(t, "10.00")
			request.VaultedShopperID, request.CardHolderInfo = 1, nil
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			return err
		})},
		{"7-16001", "A bank transfer without a return URL is 16001; the client does not send it.", "payments.ErrRequest",
			raw("16001", http.StatusBadRequest, "POST", "/services/2/alt-transactions/", `{"amount":1,"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"},"sofortTransaction":{}}`)},
		{"7-60101", "An idempotency-key that comes with another request is 60101, with 422.", "payments.ErrIdempotency", fails("60101", payments.ErrIdempotency, func(t *testing.T, w *world) error {
			request := cardRequest(t, "10.00")
			request.IdempotencyKey = "key-1"
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			must(t, err)
			request.Amount = amount(t, "11.00")
			_, err = w.client.CreateCardTransaction(t.Context(), request)
			return err
		})},
		{"7-60103", "An idempotency-key of more than 64 characters is 60103; the client does not send it.", "payments.ErrIdempotency",
			raw("60103", http.StatusBadRequest, "POST", path, "{}", "Idempotency-Key", "0123456789012345678901234567890123456789012345678901234567890123456789")},
		{"7-60104", "An idempotency-key of other characters is 60104; the client does not send it.", "payments.ErrIdempotency", raw("60104", http.StatusBadRequest, "POST", path, "{}", "Idempotency-Key", "a_b")},
	}
}

func quoteCodes() []statement {
	asked := func(edit func(*payments.TaxQuoteRequest)) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			request := quoteRequest(t)
			edit(&request)
			_, err := w.client.CreateTaxQuote(t.Context(), request)
			return err
		}
	}
	used := func(edit func(*testing.T, *payments.CardTransactionRequest)) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			request := purchase(t, w.quote(t, "100.00"))
			edit(t, &request)
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			return err
		}
	}
	const lines = `"shipTo":{"address":"10 Main St","city":"Boston","state":"MA","zip":"02110","country":"US"},"lines":[{"itemCode":"a","quantity":1,"amount":1,"taxCode":"P","description":"A"}`
	return []statement{
		{"7-13001", "A quote in an unknown currency is 13001.", "payments.ErrTax", fails("13001", payments.ErrTax, asked(func(r *payments.TaxQuoteRequest) { r.Currency = "XXX" }))},
		{"7-24019", "A quote to an unknown country is 24019.", "payments.ErrTax", fails("24019", payments.ErrTax, asked(func(r *payments.TaxQuoteRequest) { r.ShipTo.Country = "XX" }))},
		{"7-50106", "A quote to an unknown state is 50106.", "payments.ErrTax", fails("50106", payments.ErrTax, asked(func(r *payments.TaxQuoteRequest) { r.ShipTo.State = "XX" }))},
		{"7-43003", "A quote that lacks something is 43003.", "payments.ErrTax", fails("43003", payments.ErrTax, asked(func(r *payments.TaxQuoteRequest) { r.ShipTo.City = "" }))},
		{"7-43004", "A quote with an item twice is 43004; the client does not send it.", "payments.ErrTax",
			raw("43004", http.StatusBadRequest, "POST", "/services/2/tax-quote", `{"currency":"USD",`+lines+`,{"itemCode":"a","quantity":1,"amount":1,"taxCode":"P","description":"A"}]}`)},
		{"7-43006", "A quote that tells its own tax is 43006; the client does not send it.", "payments.ErrTax",
			raw("43006", http.StatusBadRequest, "POST", "/services/2/tax-quote", `{"currency":"USD","totalTax":1,`+lines+`]}`)},
		{"7-300", "A charge with an unknown quote is 300.", "payments.ErrQuote", fails("300", payments.ErrQuote, used(func(_ *testing.T, r *payments.CardTransactionRequest) {
			r.TaxReference = payments.QuoteReference{ID: "unknown"}
		}))},
		{"7-43008", "A charge in another currency than its quote's is 43008.", "payments.ErrQuote", fails("43008", payments.ErrQuote, used(func(_ *testing.T, r *payments.CardTransactionRequest) { r.Currency = "EUR" }))},
		{"7-43009", "A charge of another amount than its quote's total is 43009.", "payments.ErrQuote", fails("43009", payments.ErrQuote, used(func(t *testing.T, r *payments.CardTransactionRequest) { r.Amount = amount(t, "106.24") }))},
		{"7-43010", "A charge with a quote that another was authorized with is 43010.", "payments.ErrQuote", fails("43010", payments.ErrQuote, func(t *testing.T, w *world) error {
			request := purchase(t, w.quote(t, "100.00"))
			_, err := w.client.CreateCardTransaction(t.Context(), request)
			must(t, err)
			_, err = w.client.CreateCardTransaction(t.Context(), request)
			return err
		})},
	}
}

func section8() []statement {
	delayed := func(suffix, end string) statement {
		return statement{"8-delayed" + suffix, "The sandbox decides a transfer of " + suffix + " within 15 minutes.", "paysim.Service.FinishTransfer",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann"+suffix)
				w.visit(t, transfer)
				w.Agenda.Advance(4 * time.Minute)
				same(t, "before", w.status(t, transfer), payments.TransferPending)
				w.Agenda.Advance(11 * time.Minute)
				same(t, "after 15 minutes", w.status(t, transfer), end)
			}}
	}
	return []statement{
		{"8-quote-lifetime", "A quote is good for 24 hours from its creation, and longer once a transaction was sent with it.", "payments.QuoteLifetime, payments.ErrQuoteExpired, paysim.Service.CreateTransaction",
			func(t *testing.T, w *world) {
				young, declined, old := w.quote(t, "100.00"), w.quote(t, "100.00"), w.quote(t, "100.00")
				request := purchase(t, declined)
				request.CreditCard.CardNumber = declinedCard
				if _, err := w.client.CreateCardTransaction(t.Context(), request); !errors.Is(err, payments.ErrDeclined) {
					t.Fatal(err)
				}
				w.Agenda.Advance(day - time.Minute)
				_, err := w.client.CreateCardTransaction(t.Context(), purchase(t, young))
				must(t, err)
				w.Agenda.Advance(time.Minute)
				if _, err := w.client.CreateCardTransaction(t.Context(), purchase(t, old)); !errors.Is(err, payments.ErrQuoteExpired) {
					t.Errorf("after 24 hours: got %v", err)
				}
				request.CreditCard.CardNumber, request.TaxReference.Used = approvedCard, true
				_, err = w.client.CreateCardTransaction(t.Context(), request)
				must(t, err)
			}},
		{"8-partial-capture", "A capture is for the full authorized amount.", "payments.ErrPartialCapture",
			func(t *testing.T, w *world) {
				authorized := w.authorize(t)
				asked := len(w.exchanges())
				_, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID), Amount: amount(t, "106.24"), Authorized: authorized.Amount})
				if !errors.Is(err, payments.ErrPartialCapture) || len(w.exchanges()) != asked {
					t.Errorf("the client sends it: %v", err)
				}
				said := w.ask(t, "PUT", "/services/2/transactions", `{"cardTransactionType":"CAPTURE","amount":106.24,"transactionId":"`+string(authorized.TransactionID)+`"}`)
				same(t, "the service's answer", said.status, http.StatusBadRequest)
				_, err = w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID)})
				must(t, err)
			}},
		delayed("_DELAYAP", payments.TransferSuccess),
		delayed("_DELAYRJ", payments.TransferFail),
		{"8-open", "Left open: rate limits. 429 and 503 are waited out as long as the service asks, within bounds.", "payments.ErrBusy, payments.Error.RetryAfter",
			func(t *testing.T, w *world) {
				busy := true
				client := connect(t, w.door.URL, func(c *payments.Config) {
					c.Credentials = func() (string, string, error) { return simulatorUser, simulatorPassword, nil }
					c.Transport = wire(func(r *http.Request) (*http.Response, error) {
						if busy {
							busy = false
							return answered(http.StatusTooManyRequests, "", nil), nil
						}
						return http.DefaultTransport.RoundTrip(r)
					})
				})
				_, err := client.NotificationConfiguration(t.Context())
				must(t, err)
			}},
	}
}
