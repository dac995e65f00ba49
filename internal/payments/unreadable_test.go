package payments_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// TestAnAnswerThatCannotBeReadStillTellsWhatWasMade: the money has moved, and somebody will look for it.
func TestAnAnswerThatCannotBeReadStillTellsWhatWasMade(t *testing.T) {
	for _, c := range []struct{ name, body, reason, identifier string }{
		{"a field of another type", `{"transactionId":"70010001","amount":"much"}`, "amount has the wrong type", "70010001"},
		{"a number for an identifier", `{"subscriptionId":8001,"amount":{}}`, "amount has the wrong type", "8001"},
		{"a refund and its transaction", `{"transactionId":"7","refundTransactionId":9,"amount":[]}`, "amount has the wrong type", "9"},
		{"an identifier of another type", `{"transactionId":{},"orderId":42}`, "transactionId has the wrong type", "42"},
		{"no identifier", `{"amount":1}`, "transactionId is missing", ""},
		{"no object", `[]`, "it is no JSON object", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := serve(t, says(http.StatusOK, c.body))
			_, err := client.CreateCardTransaction(t.Context(), cardRequest(t, "10"))
			var unreadable *payments.UnreadableError
			if !errors.As(err, &unreadable) || !errors.Is(err, payments.ErrUnreadable) || unreadable.Reason != c.reason || unreadable.Identifier != c.identifier {
				t.Errorf("got %+v (%v), want %q and %q", unreadable, err, c.reason, c.identifier)
			}
		})
	}
}

func TestThereBeingNothingToDeleteIsASuccess(t *testing.T) {
	_, client := serve(t, says(http.StatusNotFound, ""), says(http.StatusForbidden, ""))
	if err := client.DeleteNotificationConfigurations(t.Context()); err != nil {
		t.Error(err)
	}
	if err := client.DeleteNotificationConfigurations(t.Context()); !errors.Is(err, payments.ErrForbidden) {
		t.Errorf("got %v, want %v", err, payments.ErrForbidden)
	}
}
