package ipn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// shirtAndMugs is the example of the specification (section 4, rule 3) beside mugs whose tax cannot be parted evenly.
func shirtAndMugs() ipn.TaxRecord {
	return ipn.TaxRecord{
		ReferenceNumber: "1012345678", Currency: "USD", Country: "US", State: "CO", DeliveryFee: dec("0.29"),
		Items: []ipn.TaxItem{
			{ItemCode: "SHIRT", Quantity: 1, Amount: dec("50.00"), Tax: dec("2.50")},
			{ItemCode: "MUG", Quantity: 3, Amount: dec("10.00"), Tax: dec("1.00")},
		},
	}
}

func TestAPartialRefundIsTheSumOfItsItemsWithTheirTax(t *testing.T) {
	record := shirtAndMugs()
	for _, tc := range []struct {
		name, amount, tax string
		items             []ipn.ItemCount
	}{
		{"the shirt of the specification", "52.50", "2.50", []ipn.ItemCount{{ItemCode: "SHIRT", Quantity: 1}}},
		{"a third of the mugs", "3.66", "0.33", []ipn.ItemCount{{ItemCode: "MUG", Quantity: 1}}},
		{"two thirds of them", "7.34", "0.67", []ipn.ItemCount{{ItemCode: "MUG", Quantity: 2}}},
		{"both", "56.16", "2.83", []ipn.ItemCount{{ItemCode: "SHIRT", Quantity: 1}, {ItemCode: "MUG", Quantity: 1}}},
		{"all that is left, without the fee", "63.50", "3.50", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := record.Refund(tc.items)
			if err != nil || got.Amount.StringFixed(2) != tc.amount || got.TaxAmount.StringFixed(2) != tc.tax {
				t.Errorf("got %s with tax %s, %v; want %s with %s", got.Amount, got.TaxAmount, err, tc.amount, tc.tax)
			}
		})
	}
}

func TestNoPieceIsRefundedTwice(t *testing.T) {
	record := shirtAndMugs()
	record.Refunds = []ipn.TaxRefund{{Items: []ipn.ItemCount{{ItemCode: "MUG", Quantity: 2}, {ItemCode: "SHIRT", Quantity: 1}}}}
	rest, err := record.Refund(nil)
	if err != nil || rest.Amount.String() != "3.66" || len(rest.Items) != 1 || rest.Items[0] != (ipn.ItemCount{ItemCode: "MUG", Quantity: 1}) {
		t.Errorf("left are %+v, %v", rest, err)
	}
	for _, tc := range []struct {
		items []ipn.ItemCount
		says  string
	}{
		{[]ipn.ItemCount{{ItemCode: "SHIRT", Quantity: 1}}, "only 0 of 1 are left"},
		{[]ipn.ItemCount{{ItemCode: "MUG", Quantity: 2}}, "only 1 of 3 are left"},
		{[]ipn.ItemCount{{ItemCode: "HAT", Quantity: 1}}, "not in the record"},
		{[]ipn.ItemCount{{ItemCode: "MUG", Quantity: 0}}, "1 or more"},
		{[]ipn.ItemCount{{ItemCode: "MUG", Quantity: 1}, {ItemCode: "MUG", Quantity: 1}}, "asked for twice"},
	} {
		_, err := record.Refund(tc.items)
		var item *ipn.ItemError
		if !errors.As(err, &item) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v: got %v, want %q", tc.items, err, tc.says)
		}
	}
}

func TestPiecesInAnyPortionsComeToTheWholeLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		currency := rapid.SampledFrom([]string{"USD", "JPY", "KWD"}).Draw(t, "currency")
		scale := map[string]int32{"USD": 2, "JPY": 0, "KWD": 3}[currency]
		all := rapid.Int64Range(1, 50).Draw(t, "quantity")
		record := ipn.TaxRecord{ReferenceNumber: "1", Currency: currency, Items: []ipn.TaxItem{{
			ItemCode: "X", Quantity: all,
			Amount: decimal.New(rapid.Int64Range(0, 1_000_000).Draw(t, "amount"), -scale),
			Tax:    decimal.New(rapid.Int64Range(0, 1_000_000).Draw(t, "tax"), -scale),
		}}}
		var amount, tax decimal.Decimal
		for left := all; left > 0; {
			n := rapid.Int64Range(1, left).Draw(t, "portion")
			got, err := record.Refund([]ipn.ItemCount{{ItemCode: "X", Quantity: n}})
			if err != nil {
				t.Fatal(err)
			}
			if got.TaxAmount.IsNegative() || got.Amount.LessThan(got.TaxAmount) || !got.Amount.Equal(got.Amount.Truncate(scale)) {
				t.Fatalf("a portion is %s with tax %s", got.Amount, got.TaxAmount)
			}
			amount, tax, left = amount.Add(got.Amount), tax.Add(got.TaxAmount), left-n
			record.Refunds = append(record.Refunds, got)
		}
		if whole := record.Items[0]; !tax.Equal(whole.Tax) || !amount.Equal(whole.Amount.Add(whole.Tax)) {
			t.Errorf("the portions come to %s with tax %s, the line is %s and %s", amount, tax, whole.Amount, whole.Tax)
		}
	})
}

func TestInvoicesUseTheWordsOfTheCountry(t *testing.T) {
	for _, tc := range []struct {
		country, fee string
		want         ipn.InvoiceLabels
	}{
		{"US", "0.29", ipn.InvoiceLabels{TaxID: "VAT ID", Tax: "Tax & Delivery Fee"}},
		{"US", "0", ipn.InvoiceLabels{TaxID: "VAT ID", Tax: "Tax"}},
		{"au", "0", ipn.InvoiceLabels{TaxID: "ABN", Tax: "Tax"}},
		{"", "0", ipn.InvoiceLabels{TaxID: "VAT ID", Tax: "Tax"}},
	} {
		if got := (&ipn.TaxRecord{Country: tc.country, DeliveryFee: dec(tc.fee)}).Labels(); got != tc.want {
			t.Errorf("%s with a fee of %s: got %+v, want %+v", tc.country, tc.fee, got, tc.want)
		}
	}
}

func TestARecordThatCannotBeRightIsRefusedWithItsReason(t *testing.T) {
	for _, tc := range []struct {
		says  string
		spoil func(*ipn.TaxRecord)
	}{
		{"which transaction", func(r *ipn.TaxRecord) { r.ReferenceNumber = "" }},
		{"1 to 1000 lines", func(r *ipn.TaxRecord) { r.Items = nil }},
		{"deliveryFee", func(r *ipn.TaxRecord) { r.DeliveryFee = dec("-1") }},
		{"deliveryFee", func(r *ipn.TaxRecord) { r.DeliveryFee = dec("0.001") }},
		{"comes twice", func(r *ipn.TaxRecord) { r.Items[1].ItemCode = "SHIRT" }},
		{"without comma", func(r *ipn.TaxRecord) { r.Items[1].ItemCode = "A,B" }},
		{"quantity", func(r *ipn.TaxRecord) { r.Items[1].Quantity = 0 }},
		{"amount", func(r *ipn.TaxRecord) { r.Items[1].Amount = dec("-0.01") }},
		{"tax must", func(r *ipn.TaxRecord) { r.Items[1].Tax = dec("0.005") }},
	} {
		record := shirtAndMugs()
		tc.spoil(&record)
		if err := record.Check(); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("got %v, want %q", err, tc.says)
		}
	}
	record := shirtAndMugs()
	if err := record.Check(); err != nil {
		t.Errorf("a good record is refused: %v", err)
	}
}
