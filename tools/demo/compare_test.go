package main

import (
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

func total(currency, transactionType string, count int64, sum, tax string) sent {
	t := sent{Currency: currency, TransactionType: transactionType}
	t.All.Count, t.All.Amount, t.All.Tax = count, amount(sum), amount(tax)
	return t
}

func TestWhatWasSentBecomesBooks(t *testing.T) {
	t.Parallel()
	got := expected([]sent{
		total("USD", "CHARGE", 2, "100.00", "8.00"), total("USD", "REFUND", 1, "52.50", "2.50"), total("EUR", "CHARGE", 1, "7.00", "0.00"),
		total("USD", "CHARGEBACK", 2, "30.00", "0.00"), total("USD", "DECLINE", 9, "900.00", "0.00"),
	}, []sent{total("USD", "CHARGEBACK", 1, "10.00", "0.00")})
	want := books{
		{"USD", ipn.MoveCharge}:             {2, amount("100"), amount("8")},
		{"USD", ipn.MoveRefund}:             {1, amount("-52.5"), amount("-2.5")},
		{"EUR", ipn.MoveCharge}:             {1, amount("7"), payments.Amount{}},
		{"USD", ipn.MoveChargeback}:         {2, amount("-30"), amount("0")},
		{"USD", ipn.MoveChargebackReversal}: {1, amount("10"), amount("0")},
	}
	if err := differences(want, got); err != nil {
		t.Error(err)
	}
}

func TestACentIsADifference(t *testing.T) {
	t.Parallel()
	at := account{"USD", ipn.MoveCharge}
	right := books{at: {2, amount("100.00"), amount("8.00")}}
	for name, wrong := range map[string]books{
		"a cent":        {at: {2, amount("100.01"), amount("8.00")}},
		"a cent of tax": {at: {2, amount("100.00"), amount("8.01")}},
		"one more":      {at: {3, amount("100.00"), amount("8.00")}},
		"nothing":       {},
		"another kind":  {at: {2, amount("100.00"), amount("8.00")}, {"USD", ipn.MoveRefund}: {1, amount("0"), amount("0")}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{differences(right, wrong), differences(wrong, right)} {
				if err == nil || !strings.Contains(err.Error(), "USD") {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}
