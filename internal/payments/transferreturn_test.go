package payments_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

func TestTheReturnQueryIsRead(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]payments.BankTransferReturn{
		"STATUS=SUCCESS&ORDER-ID=7&TRANSACTION-ID=38490000&MTI=order-77": {Status: "SUCCESS", OrderID: 7, TransactionID: "38490000", MerchantTransactionID: "order-77"},
		"basket=7&STATUS=PENDING&ORDER-ID=7":                             {Status: "PENDING", OrderID: 7},
		"STATUS=FAIL&ORDER-ID=7&MTI=%C3%A4":                              {Status: "FAIL", OrderID: 7, MerchantTransactionID: "ä"},
	} {
		values, err := url.ParseQuery(query)
		must(t, err)
		if got, err := payments.ParseBankTransferReturn(values); err != nil || got != want {
			t.Errorf("%s: got %v, %v", query, got, err)
		}
	}
}

func TestAReturnQueryThatCannotBeNamesItsParameter(t *testing.T) {
	t.Parallel()
	for query, field := range map[string]string{
		"": "STATUS",
		"STATUS=success&ORDER-ID=7&TRANSACTION-ID=1":                "STATUS",
		"STATUS=PENDING&STATUS=SUCCESS&ORDER-ID=7&TRANSACTION-ID=1": "STATUS",
		"STATUS=PENDING":                                "ORDER-ID",
		"STATUS=PENDING&ORDER-ID=-7":                    "ORDER-ID",
		"STATUS=PENDING&ORDER-ID=7.0":                   "ORDER-ID",
		"STATUS=PENDING&ORDER-ID=99999999999999999999":  "ORDER-ID",
		"STATUS=SUCCESS&ORDER-ID=7":                     "TRANSACTION-ID",
		"STATUS=SUCCESS&ORDER-ID=7&TRANSACTION-ID=../1": "TRANSACTION-ID",
		"STATUS=PENDING&ORDER-ID=7&TRANSACTION-ID=1":    "TRANSACTION-ID",
		"STATUS=PENDING&ORDER-ID=7&MTI=1&MTI=2":         "MTI",
		"STATUS=PENDING&ORDER-ID=7&MTI=123456789012345678901234567890123456789012345678901": "MTI",
	} {
		values, err := url.ParseQuery(query)
		must(t, err)
		var wrong *payments.FieldError
		got, err := payments.ParseBankTransferReturn(values)
		if !errors.As(err, &wrong) || wrong.Field != field || got != (payments.BankTransferReturn{}) {
			t.Errorf("%s: got %v, %v", query, got, err)
		}
	}
}

func TestTheAddressOfTheBankIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for answer, good := range map[string]bool{
		`{"orderId":7,"bankTransferUrl":"https://bank.example/7"}`:                       true,
		`{"orderId":7,"sofortTransaction":{"bankTransferUrl":"https://bank.example/7"}}`: true,
		`{"orderId":7,"sofortTransaction":{"sofortUrl":"https://bank.example/7"}}`:       true,
		`{"orderId":7}`: false,
		`{"orderId":7,"bankTransferUrl":"javascript:alert(1)"}`: false,
		`{"orderId":7,"bankTransferUrl":"//bank.example/7"}`:    false,
	} {
		_, client := serve(t, says(http.StatusOK, answer))
		got, err := client.CreateBankTransfer(t.Context(), transferRequest(t, "Ann"))
		if (err == nil) != good || good && (got.BankTransferURL != "https://bank.example/7" || got.OrderID != 7) {
			t.Errorf("%s: got %v, %v", answer, got, err)
		}
		if !good && !errors.Is(err, payments.ErrUnreadable) {
			t.Errorf("%s: got %v", answer, err)
		}
	}
}
