package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// A transaction is what the receiver's books say of one.
type transaction struct {
	State                       string
	Charged, Refunded, Disputed payments.Amount
	Tax, TaxRefundable          payments.Amount
}

// A booked is what the receiver's books say of a subscription.
type booked struct {
	State, ContractID string
	Charges, Failures int
}

// inTheBooks waits until the books say of a number what is wanted of it. What they said last is in the error.
func inTheBooks[T any](ctx context.Context, s *stage, path string, wanted func(T) bool) (T, error) {
	var last T
	err := await(ctx, "the books", func(ctx context.Context) (bool, error) {
		var found T
		err := s.private.call(ctx, http.MethodGet, "/api/v1/"+path, nil, &found)
		var refused *refusal
		if errors.As(err, &refused) && refused.status == http.StatusNotFound {
			return false, nil // its IPN is still on its way
		}
		last = found
		return err == nil && wanted(found), err
	})
	if err != nil {
		err = fmt.Errorf("%s: the books say %+v: %w", path, last, err)
	}
	return last, err
}

// typesOf waits until the receiver has these types of IPN, and no others, of a merchant's transaction.
func typesOf(ctx context.Context, s *stage, merchantID string, wanted ...string) error {
	return await(ctx, strings.Join(wanted, ", ")+" of "+merchantID, func(ctx context.Context) (bool, error) {
		var page struct {
			Items []struct{ TransactionType string }
		}
		err := s.private.call(ctx, http.MethodGet, "/api/v1/events?merchantTransactionId="+url.QueryEscape(merchantID), nil, &page)
		if err != nil || len(page.Items) != len(wanted) {
			return false, err
		}
		for i, item := range page.Items { // newest first
			if item.TransactionType != wanted[len(wanted)-1-i] {
				return false, fmt.Errorf("%s came where %s was awaited", item.TransactionType, wanted[len(wanted)-1-i])
			}
		}
		return true, nil
	})
}

// amount reads an amount that this program itself wrote.
func amount(text string) payments.Amount {
	a, err := payments.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// card is the test number that the simulator approves.
func card() *payments.CreditCard {
	return &payments.CreditCard{CardNumber: "4111111111111111", SecurityCode: "123", ExpirationMonth: "12", ExpirationYear: "2035"}
}
