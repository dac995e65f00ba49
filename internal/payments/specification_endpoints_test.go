package payments_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

func section4() []statement {
	return append(endpoints(), endpointRules()...)
}

// reaches states that an operation is one method on one path, answered with a success.
func reaches(id, says, where string, do act, method, path string) statement {
	return statement{id, says, where, func(t *testing.T, w *world) {
		do(t, w)
		said := w.last()
		if said.method != method || !strings.HasPrefix(said.path, path) || said.status > 299 {
			t.Errorf("got %s %s, answered %d; want %s %s", said.method, said.path, said.status, method, path)
		}
	}}
}

func endpoints() []statement {
	const configurations = "/services/2/notification-config/"
	return []statement{
		{"4-headers", "Every request carries Content-Type and Accept of application/json, and Authorization.", "payments.Client.request",
			func(t *testing.T, w *world) {
				everything(t, w)
				for _, said := range w.exchanges() {
					same(t, said.method+" "+said.path, []string{said.header.Get("Content-Type"), said.header.Get("Accept"), said.header.Get("Authorization")},
						[]string{"application/json", "application/json", basic(simulatorUser, simulatorPassword)})
				}
			}},
		reaches("4-create-tax-quote", "Left open: how a quote is created. It is POST /services/2/tax-quote.", "payments.Client.CreateTaxQuote",
			func(t *testing.T, w *world) { w.quote(t, "100.00") }, "POST", "/services/2/tax-quote"),
		reaches("4-create-tax-quote-path", "The last part of that path can be set: some documents write taxQuote.", "payments.Config.QuotePath, payments.DefaultQuotePath",
			func(t *testing.T, w *world) {
				client := connect(t, w.door.URL, func(c *payments.Config) {
					c.QuotePath = "taxQuote"
					c.Credentials = func() (string, string, error) { return simulatorUser, simulatorPassword, nil }
				})
				quote, err := client.CreateTaxQuote(t.Context(), quoteRequest(t))
				must(t, err)
				_, err = client.TaxQuote(t.Context(), quote.TaxReference)
				must(t, err)
				same(t, "where it is read", w.last().path, "/services/2/taxQuote/"+quote.TaxReference)
				_, err = client.CreateTaxQuote(t.Context(), quoteRequest(t))
				must(t, err)
			}, "POST", "/services/2/taxQuote"),
		reaches("4-create-card-transaction", "A card transaction is created by POST /services/2/transactions.", "payments.Client.CreateCardTransaction", charges, "POST", "/services/2/transactions"),
		reaches("4-capture", "A capture is PUT /services/2/transactions; the transaction is answered.", "payments.Client.Capture", captures, "PUT", "/services/2/transactions"),
		reaches("4-refund", "A refund is POST /services/2/transactions/refund/ with the transaction; left open: its answer, which tells the refund.", "payments.Client.Refund",
			func(t *testing.T, w *world) {
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(w.charge(t).TransactionID)})
				must(t, err)
				same(t, "the refund", []any{refund.RefundTransactionID != "", refund.Currency, refund.RefundStatus, refund.CancelSubscriptions}, "[true USD SUCCESS true]")
			}, "POST", "/services/2/transactions/refund/"),
		reaches("4-cancel-pending-refund", "Beside the specification: a refund that is still pending is called back by DELETE /services/2/transactions/pending-refund/ with its number.", "payments.Client.CancelPendingRefund, paysim.Service.CancelRefund",
			func(t *testing.T, w *world) {
				request := cardRequest(t, "10.00")
				request.CreditCard.CardNumber = bankCard
				charge, err := w.client.CreateCardTransaction(t.Context(), request)
				must(t, err)
				w.Agenda.Advance(4 * day)
				refund, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(charge.TransactionID)})
				must(t, err)
				same(t, "the refund", refund.RefundStatus, "PENDING")
				number := string(refund.RefundTransactionID)
				must(t, w.client.CancelPendingRefund(t.Context(), number))
				if err := w.client.CancelPendingRefund(t.Context(), number); !errors.Is(err, payments.ErrNotFound) {
					t.Errorf("again: got %v", err)
				}
				again, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: string(charge.TransactionID)})
				must(t, err)
				must(t, w.client.CancelPendingRefund(t.Context(), string(again.RefundTransactionID)))
				w.Agenda.Advance(4 * day)
				same(t, "IPNs", w.types(), "CHARGE_PENDING CHARGE")
			}, "DELETE", "/services/2/transactions/pending-refund/"),
		reaches("4-create-subscription", "A subscription is created by POST /services/2/recurring/subscriptions.", "payments.Client.CreateSubscription",
			func(t *testing.T, w *world) { w.subscribe(t) }, "POST", "/services/2/recurring/subscriptions"),
		reaches("4-update-subscription", "A subscription is changed by PUT /services/2/recurring/subscriptions/ with its identifier.", "payments.Client.UpdateSubscription",
			func(t *testing.T, w *world) {
				id := string(w.subscribe(t).SubscriptionID)
				_, err := w.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{PlanID: yearly})
				must(t, err)
				if !strings.HasSuffix(w.last().path, "/"+id) {
					t.Errorf("got %s", w.last().path)
				}
			}, "PUT", "/services/2/recurring/subscriptions/"),
		reaches("4-create-bank-transfer", "A bank transfer is created by POST /services/2/alt-transactions/.", "payments.Client.CreateBankTransfer",
			func(t *testing.T, w *world) { w.transfer(t, "Ann") }, "POST", "/services/2/alt-transactions/"),
		reaches("4-read-bank-transfer-by-merchant", "Beside the specification: a bank transfer is found by the merchant's own identifier, also while it is pending.", "payments.Client.BankTransferByMerchantID, paysim.Service.TransferByMerchantID",
			func(t *testing.T, w *world) {
				request := transferRequest(t, "Ann")
				request.MerchantTransactionID = "order/77, second part?"
				transfer, err := w.client.CreateBankTransfer(t.Context(), request)
				must(t, err)
				found, err := w.client.BankTransferByMerchantID(t.Context(), request.MerchantTransactionID, "900001")
				must(t, err)
				same(t, "what is found", []any{found.OrderID, found.ProcessingInfo.ProcessingStatus}, []any{transfer.OrderID, "PENDING"})
				if _, err := w.client.BankTransferByMerchantID(t.Context(), "another", "900001"); !errors.Is(err, payments.ErrNotFound) {
					t.Errorf("another: got %v", err)
				}
				_, err = w.client.BankTransferByMerchantID(t.Context(), request.MerchantTransactionID, "900001")
				must(t, err)
			}, "GET", "/services/2/alt-transactions/"),
		reaches("4-retrieve-configuration", "The configuration is retrieved by GET /services/2/notification-config/; left open: its answer, which is read as the request's body.", "payments.Client.NotificationConfiguration",
			func(t *testing.T, w *world) {
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				same(t, "the address", actual.Destinations[0].URL, ours)
			}, "GET", configurations),
		reaches("4-replace-configuration", "IPNs are enabled and disabled by POST /services/2/notification-config/, in JSON.", "payments.Client.ReplaceNotificationConfiguration",
			func(t *testing.T, w *world) {
				must(t, w.client.ReplaceNotificationConfiguration(t.Context(), configuration(ours)))
			}, "POST", configurations),
		reaches("4-replace-configuration-xml", "The same is understood in XML.", "payments.Client.ReplaceNotificationConfigurationXML",
			func(t *testing.T, w *world) {
				desired := configuration("https://hooks.example/ipn?a=1&b=2", "sendCharge", "sendCcStatusChanged")
				desired.EnsureReceipt = true
				must(t, w.client.ReplaceNotificationConfigurationXML(t.Context(), desired))
				replaced := w.last()
				report, err := payments.Converge(t.Context(), w.client, desired, payments.Options{})
				must(t, err)
				same(t, "what is there", report.Result, payments.ResultInSync)
				same(t, "the format", replaced.header.Get("Content-Type"), "application/xml")
				must(t, w.client.ReplaceNotificationConfigurationXML(t.Context(), desired))
			}, "POST", configurations),
		reaches("4-delete-configurations", "All configurations are deleted by DELETE /services/2/notification-config/.", "payments.Client.DeleteNotificationConfigurations",
			func(t *testing.T, w *world) { must(t, w.client.DeleteNotificationConfigurations(t.Context())) }, "DELETE", configurations),
	}
}

// everything does one of each.
func everything(t *testing.T, w *world) {
	captures(t, w)
	id := string(w.charge(t).TransactionID)
	_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id})
	must(t, err)
	_, err = w.client.CardTransaction(t.Context(), id)
	must(t, err)
	_, err = w.client.ReverseAuthorization(t.Context(), string(w.authorize(t).TransactionID))
	must(t, err)
	subscription := string(w.subscribe(t).SubscriptionID)
	_, err = w.client.UpdateSubscription(t.Context(), subscription, payments.SubscriptionUpdate{PlanID: yearly})
	must(t, err)
	_, err = w.client.Subscription(t.Context(), subscription)
	must(t, err)
	transfer := w.transfer(t, "Ann")
	_, err = w.client.BankTransfer(t.Context(), w.visit(t, transfer).TransactionID)
	must(t, err)
	w.status(t, transfer)
	_, err = w.client.NotificationConfiguration(t.Context())
	must(t, err)
	must(t, w.client.ReplaceNotificationConfiguration(t.Context(), configuration(ours)))
	must(t, w.client.DeleteNotificationConfigurations(t.Context()))
}

func endpointRules() []statement {
	return []statement{
		{"4-rule-1", "The amount of a card transaction includes the tax, and the reference links the quote.", "payments.TaxQuote.Total, paysim.Service.CreateTransaction",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "100.00")
				request := purchase(t, quote)
				request.Amount = quote.TotalAmount
				if _, err := w.client.CreateCardTransaction(t.Context(), request); payments.Code(err) != "43009" {
					t.Errorf("without the tax: got %v", err)
				}
				transaction, err := w.client.CreateCardTransaction(t.Context(), purchase(t, quote))
				must(t, err)
				same(t, "the charge", []any{transaction.Amount, transaction.TaxReference}, []any{"106.25", quote.TaxReference})
				sent := w.sent()
				same(t, "the IPN", []string{sent[0].Type, sent[0].Get("referenceNumber"), sent[0].Get("invoiceChargeAmount"), sent[0].Get("taxChargeAmount")},
					[]string{"CHARGE", string(transaction.TransactionID), "106.25", "6.25"})
			}},
		{"4-rule-2", "AUTH_ONLY with the tax, then CAPTURE of the whole authorization.", "payments.Client.Capture, payments.ErrPartialCapture, paysim.Service.Capture",
			func(t *testing.T, w *world) {
				authorized := w.authorize(t)
				same(t, "IPNs before", w.types(), "")
				captured, err := w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID), Amount: amount(t, "106.25"), Authorized: authorized.Amount})
				must(t, err)
				same(t, "what was captured", []any{captured.CardTransactionType, captured.Amount}, "[CAPTURE 106.25]")
				same(t, "IPNs", w.types(), "CHARGE")
				if _, err = w.client.Capture(t.Context(), payments.CaptureRequest{TransactionID: string(authorized.TransactionID)}); payments.Code(err) != "20010" {
					t.Errorf("again: got %v", err)
				}
			}},
		{"4-rule-3", "A shirt of 50 with a tax of 2.50 is refunded with taxAmount 2.50 and amount 52.50; what is left, with neither.", "payments.Client.Refund, paysim.Service.Refund",
			func(t *testing.T, w *world) {
				id := string(w.charge(t).TransactionID)
				part, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id, Amount: amount(t, "52.50"), TaxAmount: amount(t, "2.50")})
				must(t, err)
				same(t, "the part", []payments.Amount{part.Amount, part.TaxAmount}, "[52.50 2.50]")
				rest, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id})
				must(t, err)
				same(t, "the rest", []payments.Amount{rest.Amount, rest.TaxAmount}, "[53.75 3.75]")
				sent := w.sent()
				same(t, "IPNs", w.types(), "CHARGE REFUND REFUND")
				same(t, "the IPN's own number", sent[1].Get("reversalRefNum"), part.RefundTransactionID)
				if _, err = w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: id}); !errors.Is(err, payments.ErrRefund) {
					t.Errorf("once more: got %v", err)
				}
			}},
		{"4-rule-4", "A subscription takes a quote for the first charge and one for the later ones.", "payments.Client.CreateSubscription, paysim.Service.CreateSubscription",
			func(t *testing.T, w *world) {
				first, later := w.quote(t, "10.00"), w.quote(t, "25.00")
				subscription := w.subscribe(t, func(r *payments.SubscriptionRequest) {
					r.OverrideInitialChargeAmount = first.Total()
					r.InitialTaxReference, r.RecurringTaxReference = first.Reference(), later.Reference()
				})
				same(t, "the quotes", []string{subscription.InitialTaxReference, subscription.RecurringTaxReference}, []string{first.TaxReference, later.TaxReference})
				w.renewed(t, subscription, [][2]string{{"10.63", "0.63"}, {"26.56", "1.56"}, {"26.56", "1.56"}})
			}},
		{"4-rule-4-initial", "With equal amounts one quote suffices, as initialTaxReference.", "payments.SubscriptionRequest.InitialTaxReference",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "25.00").Reference()
				subscription := w.subscribe(t, func(r *payments.SubscriptionRequest) { r.InitialTaxReference = quote })
				w.renewed(t, subscription, [][2]string{{"26.56", "1.56"}, {"26.56", "1.56"}})
			}},
		{"4-rule-4-recurring", "With equal amounts one quote suffices, as recurringTaxReference.", "payments.SubscriptionRequest.RecurringTaxReference",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "25.00").Reference()
				subscription := w.subscribe(t, func(r *payments.SubscriptionRequest) { r.RecurringTaxReference = quote })
				w.renewed(t, subscription, [][2]string{{"26.56", "1.56"}, {"26.56", "1.56"}})
			}},
		{"4-rule-5", "Another plan or recurring amount takes a new quote as recurringTaxReference.", "payments.Client.UpdateSubscription, paysim.Service.UpdateSubscription",
			func(t *testing.T, w *world) {
				quote := w.quote(t, "25.00").Reference()
				subscription := w.subscribe(t, func(r *payments.SubscriptionRequest) { r.RecurringTaxReference = quote })
				id, dearer := string(subscription.SubscriptionID), w.quote(t, "50.00")
				update := payments.SubscriptionUpdate{OverrideRecurringChargeAmount: dearer.Total()}
				if _, err := w.client.UpdateSubscription(t.Context(), id, update); payments.Code(err) != "43003" {
					t.Errorf("without a quote: got %v", err)
				}
				update.RecurringTaxReference = dearer.Reference()
				updated, err := w.client.UpdateSubscription(t.Context(), id, update)
				must(t, err)
				same(t, "the update", []any{updated.RecurringChargeAmount, updated.RecurringTaxReference}, []any{"53.13", dearer.TaxReference})
				year := w.quote(t, "250.00")
				_, err = w.client.UpdateSubscription(t.Context(), id, payments.SubscriptionUpdate{PlanID: yearly, RecurringTaxReference: year.Reference()})
				must(t, err)
				w.renewed(t, subscription, [][2]string{{"26.56", "1.56"}, {"265.63", "15.63"}})
			}},
		{"4-rule-6", "The shopper is sent to the bank, chooses country, bank and account, and comes back with the return query.", "payments.BankTransfer.BankTransferURL, payments.ParseBankTransferReturn",
			func(t *testing.T, w *world) {
				transfer := w.transfer(t, "Ann_APPROVE")
				chosen := "country=DE&bank=Musterbank+Berlin"
				var back string
				for _, step := range []struct {
					method, form string
					status       int
				}{
					{http.MethodGet, "", http.StatusOK},
					{http.MethodGet, chosen, http.StatusOK},
					{http.MethodPost, chosen + "&step=details&login=demo&pin=12345", http.StatusOK},
					{http.MethodPost, chosen + "&step=account&account=current&decision=confirm", http.StatusSeeOther},
				} {
					var status int
					status, back = browse(t, step.method, transfer.BankTransferURL, step.form)
					same(t, "the bank's answer to "+step.form, status, step.status)
				}
				same(t, "the return", returned(t, back).OrderID, transfer.OrderID)
				if !strings.HasPrefix(back, "https://shop.example/return?") {
					t.Errorf("the shopper is sent to %s", back)
				}
			}},
		{"4-rule-7", "The configuration that is sent replaces the earlier one; ipnUrl is required.", "payments.Client.ReplaceNotificationConfiguration, payments.Converge, paysim.Service.ReplaceConfiguration",
			func(t *testing.T, w *world) {
				must(t, w.client.ReplaceNotificationConfiguration(t.Context(), configuration("https://hooks.example/first", "sendCharge")))
				report, err := payments.Converge(t.Context(), w.client, configuration("https://hooks.example/second", "sendRefund"), apply)
				must(t, err)
				same(t, "the result", report.Result, payments.ResultReplaced)
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				same(t, "what is there", string(marshal(t, actual)), string(marshal(t, configuration("https://hooks.example/second", "sendRefund"))))
				if err := w.client.ReplaceNotificationConfiguration(t.Context(), configuration("")); err == nil {
					t.Error("a configuration without ipnUrl is sent")
				}
			}},
		{"4-rule-8", "Deleting removes every destination: nothing is sent any more.", "payments.Client.DeleteNotificationConfigurations, paysim.Service.DeleteConfigurations",
			func(t *testing.T, w *world) {
				must(t, w.client.DeleteNotificationConfigurations(t.Context()))
				w.charge(t)
				same(t, "IPNs", w.types(), "")
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				same(t, "destinations", len(actual.Destinations), 0)
			}},
	}
}

// browse sends a form as a browser does and returns where it is sent on to.
func browse(t *testing.T, method, address, form string) (status int, location string) {
	t.Helper()
	if method == http.MethodGet {
		address, form = address+"?"+form, ""
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	must(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(request)
	must(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode, response.Header.Get("Location")
}

// renewed lets periods pass and compares amount and tax of each charge as its IPN tells them.
func (w *world) renewed(t *testing.T, s payments.Subscription, want [][2]string) {
	t.Helper()
	w.Agenda.Advance(time.Duration(len(want)-1) * 30 * day)
	var got [][2]string
	for _, n := range w.sent() {
		if n.Type == "CHARGE" || n.Type == "RECURRING" {
			same(t, "the subscription", n.Get("subscriptionId"), s.SubscriptionID)
			got = append(got, [2]string{n.Get("invoiceChargeAmount"), n.Get("taxChargeAmount")})
		}
	}
	same(t, "the charges", got, want)
}

func section5() []statement {
	return []statement{
		{"5-basic", "Every request carries Basic and the base64 of user and password, parted by a colon.", "payments.Config.Credentials, payments.Client.request",
			func(t *testing.T, w *world) {
				w.quote(t, "100.00")
				same(t, "the header", w.last().header.Get("Authorization"), basic(simulatorUser, simulatorPassword))
				wrong := connect(t, w.door.URL)
				if _, err := wrong.CreateTaxQuote(t.Context(), quoteRequest(t)); !errors.Is(err, payments.ErrUnauthorized) {
					t.Errorf("with others: got %v", err)
				}
			}},
		{"5-own-configuration", "The configuration is that of the authenticated user.", "payments.Client.DeleteNotificationConfigurations",
			func(t *testing.T, w *world) {
				other := connect(t, w.door.URL)
				if err := other.DeleteNotificationConfigurations(t.Context()); !errors.Is(err, payments.ErrUnauthorized) {
					t.Errorf("another user: got %v", err)
				}
				actual, err := w.client.NotificationConfiguration(t.Context())
				must(t, err)
				same(t, "destinations", len(actual.Destinations), 1)
			}},
		{"5-open", "Left open: how credentials are issued and rotated. They are asked for at each attempt.", "payments.Config.Credentials",
			func(t *testing.T, w *world) {
				password := "the old one"
				client := connect(t, w.door.URL, func(c *payments.Config) {
					c.Credentials = func() (string, string, error) { return simulatorUser, password, nil }
				})
				if _, err := client.CreateTaxQuote(t.Context(), quoteRequest(t)); !errors.Is(err, payments.ErrUnauthorized) {
					t.Errorf("got %v", err)
				}
				password = simulatorPassword
				_, err := client.CreateTaxQuote(t.Context(), quoteRequest(t))
				must(t, err)
			}},
	}
}

func section9() []statement {
	return []statement{
		{"9-prefix", "Every path begins with /services/2.", "payments.Client",
			func(t *testing.T, w *world) {
				everything(t, w)
				for _, said := range w.exchanges() {
					if !strings.HasPrefix(said.path, "/services/2/") {
						t.Errorf("got %s", said.path)
					}
				}
			}},
		{"9-version", "The version header, 2.0, goes with the retrieval and the deletion of the configuration, and with nothing else.", "payments.Config.VersionHeader, payments.DefaultVersionHeader",
			func(t *testing.T, w *world) {
				everything(t, w)
				for _, said := range w.exchanges() {
					want := ""
					if strings.Contains(said.path, "notification-config") && said.method != http.MethodPost {
						want = "2.0"
					}
					same(t, said.method+" "+said.path, said.header.Get("service-version"), want)
				}
			}},
		{"9-open", "Left open: how versions change. A version that the service does not know is refused.", "payments.Error",
			func(t *testing.T, w *world) {
				said := w.ask(t, "GET", "/services/2/notification-config/", "", "service-version", "9.9")
				wants(t, said.answer, "message.0.code", "string", "10000")
			}},
	}
}
