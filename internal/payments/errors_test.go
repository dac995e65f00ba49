package payments_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

func TestErrorBodiesAreReadInAllTheirForms(t *testing.T) {
	t.Parallel()
	declined := payments.Message{Name: "INSUFFICIENT_FUNDS", Code: "14002", Description: "Not enough", Property: "amount"}
	for name, c := range map[string]struct {
		body string
		want []payments.Message
	}{
		"JSON": {`{"message":[{"errorName":"INSUFFICIENT_FUNDS","code":"14002","description":"Not enough",
			"invalidProperty":{"name":"amount","messageValue":"-1"},"fraudEvents":{"fraudEvent":[{"fraudEventCode":"x"}]}}]}`, []payments.Message{declined}},
		"a number for a code and a string for a property": {`{"message":[{"errorName":"INSUFFICIENT_FUNDS","code":14002,"description":"Not enough",
			"invalidProperty":"amount"}]}`, []payments.Message{declined}},
		"a message without its list": {`{"message":{"errorName":"INSUFFICIENT_FUNDS","code":"14002","description":"Not enough",
			"invalidProperty":{"name":"amount"}}}`, []payments.Message{declined}},
		"two messages": {`{"message":[{"code":"1"},{"code":2}]}`, []payments.Message{{Code: "1"}, {Code: "2"}}},
		"the form of failed authentication": {`{"errorCode":"401","errorDescription":"Wrong","errorName":"UNAUTHORIZED"}`,
			[]payments.Message{{Name: "UNAUTHORIZED", Code: "401", Description: "Wrong"}}},
		"XML in a namespace": {`<?xml version="1.0" encoding="UTF-8"?><messages xmlns="http://service.example"><message><error-name>INSUFFICIENT_FUNDS</error-name>
			<code>14002</code><description>Not enough</description><invalid-property><name>amount</name><message-value>-1</message-value></invalid-property></message></messages>`,
			[]payments.Message{declined}},
		"XML without one":        {`<messages><message><code>1</code></message><message><code>2</code></message></messages>`, []payments.Message{{Code: "1"}, {Code: "2"}}},
		"a property that is odd": {`{"message":[{"code":"1","invalidProperty":[7]}]}`, []payments.Message{{Code: "1"}}},
		"text":                   {"Service unavailable", nil},
		"a number":               {"7", nil},
		"nothing":                {"", nil},
		"cut JSON":               {`{"message":[{"code":"1"`, nil},
		"cut XML":                {`<messages><message><code>1</code>`, nil},
		"other XML":              {`<html><message><code>1</code></message></html>`, nil},
		"too many messages":      {`{"message":[` + strings.Repeat(`{"code":"1"},`, 99) + `{"code":"1"}]}`, many(16)},
	} {
		_, client := serve(t, says(http.StatusBadRequest, c.body))
		_, err := client.CardTransaction(t.Context(), "1")
		var answer *payments.Error
		if !errors.As(err, &answer) || answer.Status != http.StatusBadRequest || !reflect.DeepEqual(answer.Messages, c.want) {
			t.Errorf("%s: got %#v", name, answer)
		}
	}
}

func many(n int) []payments.Message {
	messages := make([]payments.Message, n)
	for i := range messages {
		messages[i].Code = "1"
	}
	return messages
}

func TestAnErrorTellsCodeAndNameAndNothingThatWasSent(t *testing.T) {
	t.Parallel()
	_, client := serve(t, says(http.StatusBadRequest, `{"message":[{"errorName":"CVV_ERROR","code":"14002","description":"card 4111111111111111 of Ann",
		"invalidProperty":{"name":"securityCode","messageValue":"837"}},{"errorName":"card 4111111111111111","code":"4111111111111111","invalidProperty":"4111111111111111"},
		{"errorName":"4111-1111-1111-1111","code":"card-4111111111111111","invalidProperty":"4111.1111.1111.1111"}]}`))
	_, err := client.CreateCardTransaction(t.Context(), cardRequest(t, "10"))
	tells(t, err, "837", "Ann", "card 4")
	if want := "create the card transaction: the payment service answered 400 Bad Request; 14002 CVV_ERROR (securityCode)"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestDocumentedErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	groups := map[string]error{"declined": payments.ErrDeclined, "refund": payments.ErrRefund, "transaction": payments.ErrTransaction,
		"quote": payments.ErrQuote, "idempotency": payments.ErrIdempotency, "not found": payments.ErrNotFound, "busy": payments.ErrBusy,
		"service": payments.ErrService, "unauthorized": payments.ErrUnauthorized, "forbidden": payments.ErrForbidden}
	for _, c := range []struct {
		status int
		code   string
		in     string // groups, parted by commas
	}{
		{400, "14002", "declined"}, {400, "14016", "declined"}, {400, "14022", "refund"}, {400, "14055", "refund"}, {400, "20010", "transaction"},
		{400, "43009", "quote"}, {400, "300", ""}, {422, "60101", "idempotency"}, {404, "", "not found"}, {400, "90009", "not found"},
		{400, "20009", "not found,transaction"}, {401, "", "unauthorized"}, {403, "", "forbidden"}, {429, "", "busy"}, {503, "", "busy,service"}, {500, "", "service"}, {400, "1", ""}, {302, "", ""},
	} {
		body := ""
		if c.code != "" {
			body = fmt.Sprintf(`{"message":[{"code":%q}]}`, c.code)
		}
		_, client := serve(t, says(c.status, body))
		_, err := client.CardTransaction(t.Context(), "1")
		if payments.Code(err) != c.code {
			t.Errorf("%d %s: the code is %q", c.status, c.code, payments.Code(err))
		}
		for name, group := range groups {
			if want := c.in != "" && strings.Contains(","+c.in+",", ","+name+","); errors.Is(err, group) != want {
				t.Errorf("%d %s: is %s: %t", c.status, c.code, name, !want)
			}
		}
	}
	if payments.Code(errors.New("another")) != "" || payments.Code(nil) != "" {
		t.Error("an error of another has a code")
	}
}

// odd is an error that cannot be compared, and so not be a key.
type odd struct{ parts []string }

func (odd) Error() string { return "odd" }

func TestAnErrorMayBeComparedWithAnyOther(t *testing.T) {
	t.Parallel()
	if errors.Is(&payments.Error{Status: http.StatusNotFound}, odd{[]string{"x"}}) {
		t.Error("it is what it is not")
	}
}

func TestAnAnswerOfTheWrongShapeNamesItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, field string }{
		{`{"transactionId":"1","amount":"much"}`, "amount has the wrong type"},
		{`{"transactionId":"1","amount":1e99}`, "amount has the wrong type"},
		{`{"transactionId":"1","amount":true}`, "amount has the wrong type"},
		{`{"transactionId":"1","vaultedShopperId":"abc"}`, "vaultedShopperId has the wrong type"},
		{`{"transactionId":"1","refunds":{"refund":[{"taxAmount":{}}]}}`, "refunds.refund.taxAmount has the wrong type"},
		{`{"transactionId":1.5}`, "transactionId has the wrong type"},
		{`{"amount":1}`, "transactionId is missing"},
		{`{"transactionId":"1"} and more`, "it is no JSON"},
	} {
		_, client := serve(t, says(http.StatusOK, c.answer))
		got, err := client.CardTransaction(t.Context(), "1")
		if !errors.Is(err, payments.ErrUnreadable) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: got %v", c.answer, err)
		}
		if !reflect.DeepEqual(got, payments.CardTransaction{}) {
			t.Errorf("%s: half an answer: %v", c.answer, got)
		}
		tells(t, err, "much", "abc")
	}
}
