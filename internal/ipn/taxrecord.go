package ipn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// ErrConflict says that something else stands where a thing was to be put.
var ErrConflict = errors.New("something else stands there already")

// TaxRecord is the tax of each item of one purchase, as the merchant's quote told it. IPNs tell the tax of a whole only, and
// the payment service makes no invoices: merchants are told to keep it (specification section 1).
type TaxRecord struct {
	ID                    int64           `json:"id"`
	ReferenceNumber       string          `json:"referenceNumber,omitempty"`
	MerchantTransactionID string          `json:"merchantTransactionId,omitempty"`
	Test                  bool            `json:"test"`
	TaxReference          string          `json:"taxReference,omitempty" doc:"Of the tax quote"`
	Currency              string          `json:"currency"`
	Country               string          `json:"country,omitempty" doc:"Where the purchase goes to"`
	State                 string          `json:"state,omitempty"`
	Items                 []TaxItem       `json:"lines"`
	DeliveryFee           decimal.Decimal `json:"deliveryFee" doc:"Of the state, on the delivery as a whole; not refundable"`
	RecordedAt            time.Time       `json:"recordedAt"`
	Refunds               []TaxRefund     `json:"refunds" doc:"What was given back of it so far, oldest first"`
}

// TaxItem is one line of a quote.
type TaxItem struct {
	ItemCode    string          `json:"itemCode"`
	Description string          `json:"description,omitempty"`
	Quantity    int64           `json:"quantity"`
	Amount      decimal.Decimal `json:"amount" doc:"Of the whole line, without tax"`
	Tax         decimal.Decimal `json:"tax" doc:"On amount, not in it"`
}

// ItemCount is so many pieces of an item.
type ItemCount struct {
	ItemCode string `json:"itemCode"`
	Quantity int64  `json:"quantity"`
}

// TaxRefund is what a partial refund is asked with: both figures are the sums of the items that go back (specification section
// 4, rule 3).
type TaxRefund struct {
	ID             int64           `json:"id,omitempty"`
	Items          []ItemCount     `json:"items"`
	Amount         decimal.Decimal `json:"amount" doc:"The total to refund, tax included"`
	TaxAmount      decimal.Decimal `json:"taxAmount" doc:"The tax to refund, a part of amount"`
	ReversalRefNum string          `json:"reversalRefNum,omitempty" doc:"Of the refund at the payment service"`
	RefundedAt     *time.Time      `json:"refundedAt,omitempty"`
}

// ItemError says what is wrong with the items of a refund, or with a record. It holds no value of a person.
type ItemError struct{ Item, Mend string }

// Error implements error.
func (e *ItemError) Error() string {
	if e.Item == "" {
		return e.Mend
	}
	return fmt.Sprintf("item %q: %s", e.Item, e.Mend)
}

// maxTaxItems bounds the lines of a record.
const maxTaxItems = 1000

// Check tells what a record may not be like, as an *ItemError; nil for one that can be kept.
func (r *TaxRecord) Check() error {
	if r.ReferenceNumber == "" && r.MerchantTransactionID == "" {
		return &ItemError{"", "say which transaction: referenceNumber, merchantTransactionId or both"}
	}
	if len(r.Items) == 0 || len(r.Items) > maxTaxItems {
		return &ItemError{"", fmt.Sprintf("send 1 to %d lines", maxTaxItems)}
	}
	if r.DeliveryFee.IsNegative() || !r.fits(r.DeliveryFee) {
		return &ItemError{"", "deliveryFee must be an amount of the currency, 0 or more"}
	}
	seen := make(map[string]bool, len(r.Items))
	for _, item := range r.Items {
		switch {
		case item.ItemCode == "" || strings.ContainsAny(item.ItemCode, ",:"):
			return &ItemError{item.ItemCode, "itemCode must be there, without comma and colon"}
		case seen[item.ItemCode]:
			return &ItemError{item.ItemCode, "comes twice: make one line of it"}
		case item.Quantity < 1:
			return &ItemError{item.ItemCode, "quantity must be 1 or more"}
		case item.Amount.IsNegative() || !r.fits(item.Amount):
			return &ItemError{item.ItemCode, "amount must be an amount of the currency, 0 or more"}
		case item.Tax.IsNegative() || !r.fits(item.Tax):
			return &ItemError{item.ItemCode, "tax must be an amount of the currency, 0 or more"}
		}
		seen[item.ItemCode] = true
	}
	return nil
}

// fits tells whether an amount has no more decimals than the currency.
func (r *TaxRecord) fits(amount decimal.Decimal) bool {
	return amount.Equal(amount.Truncate(r.scale()))
}

// scale is how many decimals the currency has; two for one that nobody knows.
func (r *TaxRecord) scale() int32 {
	scale, known := scaleOf(r.Currency)
	if !known {
		return 2
	}
	return int32(scale)
}

// Totals returns the sums of the lines: what is charged without tax, and the tax. The delivery fee is in neither.
func (r *TaxRecord) Totals() (amount, tax decimal.Decimal) {
	for _, item := range r.Items {
		amount, tax = amount.Add(item.Amount), tax.Add(item.Tax)
	}
	return amount, tax
}

// Refund says what to refund for some items, in the order they are asked for; no items means all that is left. Pieces of a
// line get equal shares, rounded so that all shares together are the line. The error is an *ItemError: an item that is not in
// the record, that is asked for twice, or that has fewer pieces left.
func (r *TaxRecord) Refund(items []ItemCount) (TaxRefund, error) {
	gone := r.gone()
	if len(items) == 0 {
		items = r.left(gone)
	}
	refund := TaxRefund{Items: slices.Clone(items), Amount: r.zero(), TaxAmount: r.zero()}
	asked := make(map[string]bool, len(items))
	for _, want := range items {
		at := slices.IndexFunc(r.Items, func(i TaxItem) bool { return i.ItemCode == want.ItemCode })
		switch {
		case at < 0:
			return TaxRefund{}, &ItemError{want.ItemCode, "is not in the record"}
		case asked[want.ItemCode]:
			return TaxRefund{}, &ItemError{want.ItemCode, "is asked for twice"}
		case want.Quantity < 1:
			return TaxRefund{}, &ItemError{want.ItemCode, "ask for 1 or more"}
		case want.Quantity > r.Items[at].Quantity-gone[want.ItemCode]:
			return TaxRefund{}, &ItemError{want.ItemCode, fmt.Sprintf("only %d of %d are left to refund", r.Items[at].Quantity-gone[want.ItemCode], r.Items[at].Quantity)}
		}
		asked[want.ItemCode] = true
		item, before := r.Items[at], gone[want.ItemCode]
		tax := r.pieces(item.Tax, item.Quantity, before, want.Quantity)
		refund.TaxAmount = refund.TaxAmount.Add(tax)
		refund.Amount = refund.Amount.Add(tax).Add(r.pieces(item.Amount, item.Quantity, before, want.Quantity))
	}
	return refund, nil
}

// gone counts the pieces of each item that were refunded.
func (r *TaxRecord) gone() map[string]int64 {
	gone := make(map[string]int64, len(r.Items))
	for _, refund := range r.Refunds {
		for _, item := range refund.Items {
			gone[item.ItemCode] += item.Quantity
		}
	}
	return gone
}

// left lists what was not refunded yet.
func (r *TaxRecord) left(gone map[string]int64) []ItemCount {
	left := make([]ItemCount, 0, len(r.Items))
	for _, item := range r.Items {
		if n := item.Quantity - gone[item.ItemCode]; n > 0 {
			left = append(left, ItemCount{ItemCode: item.ItemCode, Quantity: n})
		}
	}
	return left
}

// pieces is the share of count pieces out of all of them, after some went before.
func (r *TaxRecord) pieces(whole decimal.Decimal, all, before, count int64) decimal.Decimal {
	upTo := func(n int64) decimal.Decimal {
		if n == all {
			return whole
		}
		return whole.Mul(decimal.NewFromInt(n)).DivRound(decimal.NewFromInt(all), r.scale())
	}
	return upTo(before + count).Sub(upTo(before))
}

// zero is nothing, with the decimals of the currency.
func (r *TaxRecord) zero() decimal.Decimal { return decimal.New(0, -r.scale()) }

// InvoiceLabels are the words that an invoice of the purchase must use (specification section 1).
type InvoiceLabels struct {
	TaxID string `json:"taxId" doc:"Of the number of a shopper who is a business: VAT ID, in Australia ABN"`
	Tax   string `json:"tax" doc:"Of the line with the tax: Tax & Delivery Fee where a delivery fee applies, which is in Colorado"`
}

// Labels returns the words for this record.
func (r *TaxRecord) Labels() InvoiceLabels {
	labels := InvoiceLabels{TaxID: "VAT ID", Tax: "Tax"}
	if strings.EqualFold(r.Country, "AU") {
		labels.TaxID = "ABN"
	}
	if r.DeliveryFee.IsPositive() {
		labels.Tax = "Tax & Delivery Fee"
	}
	return labels
}

// Left is how many pieces of an item were not refunded yet, 0 for one that is not in the record.
func (r *TaxRecord) Left(itemCode string) int64 {
	for _, item := range r.left(r.gone()) {
		if item.ItemCode == itemCode {
			return item.Quantity
		}
	}
	return 0
}

// Has tells whether an item stands in the record under the code, letter by letter.
func (r *TaxRecord) Has(itemCode string) bool {
	return slices.ContainsFunc(r.Items, func(item TaxItem) bool { return item.ItemCode == itemCode })
}

// Digits writes an amount with all decimals of the currency.
func (r *TaxRecord) Digits(amount decimal.Decimal) string { return amount.StringFixed(r.scale()) }
