package payments_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
)

// toldCodes are documented errors that nothing in the simulator leads to: it is told to answer with them.
func toldCodes() []statement {
	told := func(code, name, says, where string, group error, do func(*testing.T, *world) error) statement {
		return statement{"7-" + code, says, where, func(t *testing.T, w *world) {
			must(t, w.API.Set([]control.APIFault{{Answer: "400", Code: code, Name: name, Times: 1}}))
			err := do(t, w)
			var answer *payments.Error
			if !errors.Is(err, group) || payments.Code(err) != code || !errors.As(err, &answer) || answer.Messages[0].Name != name {
				t.Errorf("got %v", err)
			}
			same(t, "IPNs", w.types(), "")
		}}
	}
	const declined, refunds, transactions = "payments.ErrDeclined", "payments.ErrRefund", "payments.ErrTransaction"
	statements := []statement{
		told("11001", "XSS_EXCEPTION", "A text with markup in it is 11001.", "payments.ErrRequest", payments.ErrRequest, buy),
		told("14008", "INSUFFICIENT_FUNDS_FOR_REFUND", "A refund that the merchant's own funds do not cover is 14008.", refunds, payments.ErrRefund, giveBack),
		told("14016", "NO_AVAILABLE_PROCESSORS", "A payment that no processor takes is 14016.", declined, payments.ErrDeclined, buy),
		told("14023", "REFUND_IN_PROCESS", "A refund while another one is under way is 14023.", refunds, payments.ErrRefund, giveBack),
		told("14024", "PARTIAL_REFUND_NOT_SUPPORTED", "A refund of a part where only the whole can be refunded is 14024.", refunds, payments.ErrRefund, giveBack),
		told("14048", "PAYMENT_METHOD_NOT_REFUNDABLE", "A refund to a method of payment that takes none is 14048.", refunds, payments.ErrRefund, giveBack),
		told("14049", "VENDOR_INSUFFICIENT_FUNDS_FOR_REFUND", "A refund that a vendor's funds do not cover is 14049.", refunds, payments.ErrRefund, giveBack),
		told("20003", "TRANSACTION_LOCKED", "A transaction that something else is being done with is 20003.", transactions, payments.ErrTransaction, giveBack),
		told("20006", "TRANSACTION_ALREADY_EXISTS", "A transaction that is there already is 20006.", transactions, payments.ErrTransaction, buy),
		told("43007", "MERCHANT_NOT_BOARDED_TO_TAX_SERVICE", "A quote for a merchant whom the tax service does not know is 43007.", "payments.ErrTax", payments.ErrTax, askTax),
		told("60106", "", "An idempotency-key that could not be looked up in time is 60106.", "payments.ErrIdempotency", payments.ErrIdempotency, buy),
	}
	for n := 24001; n <= 24018; n++ {
		name, group, where := map[int]string{24011: "CURRENCY_CODE_NOT_FOUND", 24012: "USER_NOT_AUTHORIZED"}[n], payments.ErrPlan, "payments.ErrPlan"
		if n == 24012 {
			group, where = payments.ErrForbidden, where+", payments.ErrForbidden"
		}
		statements = append(statements, told(fmt.Sprint(n), name, fmt.Sprintf("A plan that something is wrong with is %d.", n), where, group,
			func(t *testing.T, w *world) error {
				_, err := w.client.CreateSubscription(t.Context(), subscriptionRequest(monthly))
				return err
			}))
	}
	return append(statements, refusalsByName()...)
}

// refusalsByName are the names of 14002 that no test card has.
func refusalsByName() (statements []statement) {
	for _, name := range []string{"AUTHORIZATION_EXPIRED", "CALL_ISSUER", "PROCESSING_DUPLICATE"} {
		statements = append(statements, statement{"7-14002-" + name, "A refusal of the shopper's bank is 14002, told apart by its name: " + name + ".", "payments.ErrDeclined, payments.Message.Name",
			func(t *testing.T, w *world) {
				must(t, w.API.Set([]control.APIFault{{Answer: "400", Code: "14002", Name: name, Times: 1}}))
				err := buy(t, w)
				var answer *payments.Error
				if !errors.Is(err, payments.ErrDeclined) || !errors.As(err, &answer) || answer.Messages[0].Name != name {
					t.Errorf("got %v", err)
				}
			}})
	}
	return statements
}

// What is done to be told a code. The simulator does not get as far as to look at it.

func buy(t *testing.T, w *world) error {
	_, err := w.client.CreateCardTransaction(t.Context(), cardRequest(t, "10.00"))
	return err
}

func giveBack(t *testing.T, w *world) error {
	_, err := w.client.Refund(t.Context(), payments.RefundRequest{TransactionID: "1"})
	return err
}

func askTax(t *testing.T, w *world) error {
	_, err := w.client.CreateTaxQuote(t.Context(), quoteRequest(t))
	return err
}

// unsentCodes are answers to what the client does not send, and to what it repeats.
func unsentCodes() []statement {
	const where, transfers, lists = "payments.ErrRequest", "/services/2/alt-transactions/", "/services/2/recurring/subscriptions?pagesize="
	const shopper = `"payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"}`
	transfer := func(code, payer string) func(*testing.T, *world) {
		return raw(code, http.StatusBadRequest, "POST", transfers, `{"amount":1,"currency":"EUR","returnUrl":"https://shop.example/return"`+payer+`}`)
	}
	return []statement{
		{"7-20021", "A bank transfer of two payers is 20021.", where, transfer("20021", `,"vaultedShopperId":1,`+shopper)},
		{"7-20022", "A bank transfer of nobody is 20022; the client does not send it.", where, transfer("20022", "")},
		{"7-20023", "A bank transfer of a payer who is not told wholly is 20023.", where, transfer("20023", `,"payerInfo":{"firstName":"Ann"}`)},
		{"7-26001", "A list in pages of nothing is 26001; the client asks for no lists.", where, raw("26001", http.StatusBadRequest, "GET", lists+"0", "")},
		{"7-26002", "A list in pages of more than 500 is 26002; the client asks for no lists.", where, raw("26002", http.StatusBadRequest, "GET", lists+"501", "")},
		{"7-60102", "While the first request with an idempotency-key still runs, the second is 60102, with 409; the client asks again.", "payments.ErrIdempotency, payments.Client.exchange",
			func(t *testing.T, w *world) {
				must(t, w.API.Set([]control.APIFault{{Answer: "409", Code: "60102", Times: 1, Done: true}}))
				must(t, buy(t, w))
				said := w.exchanges()
				same(t, "requests", len(said), 2)
				same(t, "the second key", said[1].header.Get("Idempotency-Key"), said[0].header.Get("Idempotency-Key"))
				same(t, "IPNs", w.types(), "CHARGE")
			}},
		{"7-300-creating", "A quote that the tax service cannot make is 300 too: there is none to create anew.", "payments.ErrTax, payments.ErrQuote",
			func(t *testing.T, w *world) {
				must(t, w.API.Set([]control.APIFault{{Answer: "400", Code: "300", Name: "EXTERNAL_TAX_SERVICE_ERROR", Times: 1}}))
				if err := askTax(t, w); !errors.Is(err, payments.ErrTax) || errors.Is(err, payments.ErrQuote) {
					t.Errorf("got %v", err)
				}
			}},
	}
}

// documented are all codes that are known, by group.
var documented = []struct {
	name  string
	group error
	codes string
}{
	{"request", payments.ErrRequest, "7 30 85 90 10001 11001 16001 20020 20021 20022 20023 20035 26001 26002"},
	{"service", payments.ErrService, "10000"},
	{"declined", payments.ErrDeclined, "14002 14005 14006 14011 14016"},
	{"refund", payments.ErrRefund, "14004 14007 14008 14009 14022 14023 14024 14048 14049 14051 14052 14053 14054 14055"},
	{"transaction", payments.ErrTransaction, "20002 20003 20005 20006 20007 20008 20009 20010"},
	{"plan", payments.ErrPlan, "20026 24001 24002 24003 24004 24005 24006 24007 24008 24009 24010 24011 24012 24013 24014 24015 24016 24017 24018 90009"},
	{"tax", payments.ErrTax, "300 13001 24011 24019 50106 43003 43004 43006 43007"},
	{"quote", payments.ErrQuote, "43008 43009 43010"},
	{"idempotency", payments.ErrIdempotency, "60101 60102 60103 60104 60106"},
	{"not found", payments.ErrNotFound, "15008 20009 90009"},
	{"forbidden", payments.ErrForbidden, "24012"},
}

// TestEveryDocumentedCodeIsStatedAndInItsGroups goes by the list above: a code that is in it and not among the statements, or
// in another group than here, is a gap.
func TestEveryDocumentedCodeIsStatedAndInItsGroups(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{} // by code
	for _, d := range documented {
		for _, code := range strings.Fields(d.codes) {
			groups[code] = append(groups[code], d.name)
		}
	}
	stated := section7()
	for code, want := range groups {
		if !slices.ContainsFunc(stated, func(s statement) bool { return s.id == "7-"+code || strings.HasPrefix(s.id, "7-"+code+"-") }) {
			t.Errorf("%s: no statement is about it", code)
		}
		err := refusedWith(t, code, "ANY_NAME")
		var got []string
		for _, d := range documented {
			if errors.Is(err, d.group) {
				got = append(got, d.name)
			}
		}
		same(t, "the groups of "+code, got, want)
	}
	if err := refusedWith(t, "10000", "INVALID_API_VERSION"); !errors.Is(err, payments.ErrRequest) || errors.Is(err, payments.ErrService) {
		t.Errorf("an unknown version: got %v", err)
	}
}

// refusedWith is what reading a transaction fails with where the service answers a code.
func refusedWith(t *testing.T, code, name string) error {
	t.Helper()
	_, client := serve(t, says(http.StatusBadRequest, fmt.Sprintf(`{"message":[{"code":%q,"errorName":%q}]}`, code, name)))
	_, err := client.CardTransaction(t.Context(), "1")
	return err
}

// TestOnlyARequestWithAQuoteCanFailBecauseOfIt: what an expired quote is answered is documented nowhere.
func TestOnlyARequestWithAQuoteCanFailBecauseOfIt(t *testing.T) {
	t.Parallel()
	quote := payments.QuoteReference{ID: "q-1"}
	for _, c := range []struct {
		status int
		code   string
		quoted bool // is it a refusal of the quote, where the request has one
	}{{400, "300", true}, {404, "300", true}, {400, "43011", true}, {400, "43008", true}, {500, "300", false}, {400, "43003", false}, {400, "43007", false}, {400, "14002", false}} {
		server := httptest.NewServer(says(c.status, fmt.Sprintf(`{"message":[{"code":%q}]}`, c.code)))
		t.Cleanup(server.Close)
		client := connect(t, server.URL)
		for with, do := range map[string]func(payments.QuoteReference) error{
			"a charge": func(q payments.QuoteReference) error {
				request := cardRequest(t, "10.00")
				request.TaxReference = q
				_, err := client.CreateCardTransaction(t.Context(), request)
				return err
			},
			"a capture": func(q payments.QuoteReference) error {
				_, err := client.Capture(t.Context(), payments.CaptureRequest{TransactionID: "1", TaxReference: q})
				return err
			},
			"a subscription": func(q payments.QuoteReference) error {
				request := subscriptionRequest(monthly)
				request.InitialTaxReference = q
				_, err := client.CreateSubscription(t.Context(), request)
				return err
			},
			"a change of one": func(q payments.QuoteReference) error {
				_, err := client.UpdateSubscription(t.Context(), "1", payments.SubscriptionUpdate{RecurringTaxReference: q})
				return err
			},
		} {
			if err := do(quote); errors.Is(err, payments.ErrQuote) != c.quoted {
				t.Errorf("%s with a quote, answered %d %s: got %v", with, c.status, c.code, err)
			}
			if err := do(payments.QuoteReference{}); errors.Is(err, payments.ErrQuote) != (c.code == "43008") {
				t.Errorf("%s without a quote, answered %d %s: got %v", with, c.status, c.code, err)
			}
		}
		if _, err := client.TaxQuote(t.Context(), "q-1"); errors.Is(err, payments.ErrQuote) != c.quoted {
			t.Errorf("reading a quote, answered %d %s: got %v", c.status, c.code, err)
		}
	}
}
