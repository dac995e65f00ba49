package finance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// TaxRecords is where the tax of each item of a purchase is kept, as the merchant told it. All methods fail with
// ipn.ErrUnavailable while the record is away.
type TaxRecords interface {
	// AddTaxRecord keeps a record; ipn.ErrConflict when another one stands under either number.
	AddTaxRecord(ctx context.Context, r ipn.TaxRecord, act ipn.Act) (ipn.TaxRecord, error)
	// TaxRecord returns the record of a transaction by its reference number or the merchant's own id, or ipn.ErrNotFound.
	TaxRecord(ctx context.Context, number string, test bool) (ipn.TaxRecord, error)
	// AddTaxRefund notes what was refunded: an *ipn.ItemError for what is not left, ipn.ErrConflict for a reversal number
	// that was noted with other items.
	AddTaxRefund(ctx context.Context, recordID int64, refund ipn.TaxRefund, act ipn.Act) (ipn.TaxRecord, error)
}

// registerTaxRecords adds what merchants keep of the tax of each item, and what follows from it for a partial refund.
func (o *Office) registerTaxRecords(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "add-tax-record", Method: http.MethodPost, Path: "/api/v1/tax-records", Tags: []string{"taxes"}, Metadata: access.Needs(access.Record),
		Summary: "Keep the tax of each item of a purchase",
		Description: "Send the payment service's answer to Create Tax Quote as it is, with referenceNumber or merchantTransactionId beside it (specification section 1). " +
			"The merchant's id can be told before the first IPN comes. What totalTax holds beyond the lines, or a line that is a tax on nothing, is the delivery fee. The same again changes nothing; something else under the same number is refused.",
		Errors: []int{http.StatusConflict},
	}, o.addTaxRecord)
	huma.Register(api, huma.Operation{
		OperationID: "get-tax-record", Method: http.MethodGet, Path: "/api/v1/tax-records/{number}", Tags: []string{"taxes"}, Metadata: access.Needs(access.See),
		Summary:     "Show the tax of each item of a purchase, what is left to refund, and the words its invoice must use",
		Description: "By reference number or the merchant's own id, whichever it was told under.",
	}, o.getTaxRecord)
	huma.Register(api, huma.Operation{
		OperationID: "get-tax-refund", Method: http.MethodGet, Path: "/api/v1/tax-records/{number}/refund", Tags: []string{"taxes"}, Metadata: access.Needs(access.See),
		Summary: "Work out amount and taxAmount of a partial refund",
		Description: "Both are the sums of the items that go back, ready for the payment service's refund (specification section 4, rule 3). Nothing is changed. " +
			"The delivery fee stays out of it: it is refunded only with a cancelled or voided transaction and certain disputes.",
	}, o.getTaxRefund)
	huma.Register(api, huma.Operation{
		OperationID: "add-tax-refund", Method: http.MethodPost, Path: "/api/v1/tax-records/{number}/refunds", Tags: []string{"taxes"}, Metadata: access.Needs(access.Record),
		Summary:     "Note that items were refunded",
		Description: "So that no piece is refunded twice, and what is left is known. Under one reversalRefNum it is noted once, however often it is told.",
		Errors:      []int{http.StatusConflict},
	}, o.addTaxRefund)
}

// ExactAmount is an amount of a request, a string or a number, read to the digit. Exported, so that it is described.
type ExactAmount struct {
	decimal.Decimal
	unreadable bool
}

// longestAmount bounds what is read as an amount: no exponent, which could make a few bytes a number that fills memory.
const (
	longestAmount = 32
	mostDigits    = 20 // before the point
)

// UnmarshalJSON implements json.Unmarshaler. It leaves it to mistake to refuse what is no amount: an error from here would
// name the whole body.
func (a *ExactAmount) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	whole, _, _ := strings.Cut(text, ".")
	if a.unreadable = len(text) > longestAmount || len(whole) > mostDigits || strings.ContainsAny(text, "eE"); a.unreadable {
		return nil
	}
	amount, err := decimal.NewFromString(text)
	a.Decimal, a.unreadable = amount, err != nil
	return nil
}

// Pieces is a number of pieces in a request. Exported, so that it is described.
type Pieces int64

// UnmarshalJSON implements json.Unmarshaler. What it cannot read is no piece, which is refused by its field: an error from
// here would name the whole body.
func (p *Pieces) UnmarshalJSON(raw []byte) error {
	n, _ := strconv.ParseInt(string(raw), 10, 64)
	*p = Pieces(n)
	return nil
}

const mostPieces = 1_000_000_000

// Schema implements huma.SchemaProvider.
func (Pieces) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(mostPieces)
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
}

// mistake refuses what is no amount, by its field.
func (a *ExactAmount) mistake(location string) error {
	if a.unreadable {
		return invalid(location, "write an amount as digits with a decimal point, such as 52.50: at most 20 digits before it, 32 characters in all")
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (ExactAmount) Schema(huma.Registry) *huma.Schema {
	const digits = `^[0-9]{1,20}(\.[0-9]{1,10})?$`
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString, Pattern: digits}, {Type: huma.TypeNumber}}, Examples: []any{"2.50"}}
}

type taxRecordRequest struct {
	Body struct {
		_                     struct{}     `additionalProperties:"true"`
		ReferenceNumber       string       `json:"referenceNumber,omitempty" maxLength:"255" doc:"Of the transaction" example:"1012345678"`
		MerchantTransactionID string       `json:"merchantTransactionId,omitempty" maxLength:"255" doc:"Your own id of the transaction"`
		Test                  bool         `json:"test,omitempty" doc:"Of a test order"`
		TaxReference          string       `json:"taxReference,omitempty" maxLength:"255" doc:"Of the quote"`
		Currency              string       `json:"currency" pattern:"^[A-Za-z]{3}$" example:"USD"`
		Lines                 []taxLine    `json:"lines" minItems:"1" maxItems:"1000"`
		TotalTax              *ExactAmount `json:"totalTax,omitempty" doc:"Of the quote, fees of delivery included; left out: the sum of the lines"`
		ShipTo                struct {
			_       struct{} `additionalProperties:"true"`
			Country string   `json:"country,omitempty" maxLength:"255" example:"US"`
			State   string   `json:"state,omitempty" maxLength:"255" example:"CO"`
		} `json:"shipTo,omitempty" doc:"Only country and state are kept"`
	}
}

type taxLine struct {
	_           struct{}    `additionalProperties:"true"`
	ItemCode    string      `json:"itemCode" minLength:"1" maxLength:"255" example:"SHIRT"`
	Description string      `json:"description,omitempty" maxLength:"1000"`
	Quantity    Pieces      `json:"quantity"`
	Amount      ExactAmount `json:"amount" doc:"Of the whole line, without tax"`
	Tax         ExactAmount `json:"tax" doc:"On amount, not in it"`
}

// record checks what the schema cannot. Errors name the field.
//
// A quote tells a fee of the state in one of two ways: totalTax holds more than the lines, or one of them is a tax on nothing.
func (in *taxRecordRequest) record() (ipn.TaxRecord, error) {
	b := &in.Body
	r := ipn.TaxRecord{
		ReferenceNumber: b.ReferenceNumber, MerchantTransactionID: b.MerchantTransactionID, Test: b.Test, TaxReference: b.TaxReference,
		Currency: strings.ToUpper(b.Currency), Country: b.ShipTo.Country, State: b.ShipTo.State,
	}
	if err := cmp.Or(in.texts(), in.amounts()); err != nil {
		return r, err
	}
	if r.ReferenceNumber == "" && r.MerchantTransactionID == "" {
		return r, invalid("body.referenceNumber", "say which transaction: send referenceNumber, merchantTransactionId or both")
	}
	for _, line := range b.Lines {
		if line.Amount.IsZero() && line.Tax.IsPositive() {
			r.DeliveryFee = r.DeliveryFee.Add(line.Tax.Decimal)
			continue
		}
		r.Items = append(r.Items, ipn.TaxItem{ItemCode: line.ItemCode, Description: line.Description, Quantity: int64(line.Quantity),
			Amount: line.Amount.Decimal, Tax: line.Tax.Decimal})
	}
	if b.TotalTax != nil {
		_, tax := r.Totals()
		beyond := b.TotalTax.Sub(tax)
		if beyond.LessThan(r.DeliveryFee) {
			return r, invalid("body.totalTax", "it is less than the tax of the lines together")
		}
		r.DeliveryFee = beyond
	}
	var item *ipn.ItemError
	if err := r.Check(); errors.As(err, &item) {
		return r, invalid("body.lines", item.Error())
	}
	return r, nil
}

// texts refuses what the record cannot hold: it counts bytes where the schema counts letters.
func (in *taxRecordRequest) texts() error {
	b := &in.Body
	fields := []struct{ name, text string }{
		{"referenceNumber", b.ReferenceNumber}, {"merchantTransactionId", b.MerchantTransactionID}, {"taxReference", b.TaxReference},
		{"shipTo.country", b.ShipTo.Country}, {"shipTo.state", b.ShipTo.State},
	}
	for _, field := range fields {
		if err := keepable("body."+field.name, field.text); err != nil {
			return err
		}
	}
	for i, line := range b.Lines {
		if !storable(line.ItemCode) {
			return invalid(fmt.Sprintf("body.lines[%d].itemCode", i), plainText)
		}
		if !storable(line.Description) {
			return invalid(fmt.Sprintf("body.lines[%d].description", i), plainText)
		}
	}
	return nil
}

// amounts refuses what is no amount.
func (in *taxRecordRequest) amounts() error {
	if in.Body.TotalTax != nil {
		if err := in.Body.TotalTax.mistake("body.totalTax"); err != nil {
			return err
		}
	}
	for i, line := range in.Body.Lines {
		at := fmt.Sprintf("body.lines[%d].", i)
		if err := cmp.Or(line.Amount.mistake(at+"amount"), line.Tax.mistake(at+"tax")); err != nil {
			return err
		}
	}
	return nil
}

const plainText = "write it as UTF-8 without NUL"

// keepable refuses an identifier that the record cannot hold.
func keepable(location, text string) error {
	const longest = 255 // bytes
	if !storable(text) {
		return invalid(location, plainText)
	}
	if len(text) > longest {
		return invalid(location, fmt.Sprintf("it is %d bytes long: write at most %d", len(text), longest))
	}
	return nil
}

type taxRecordAnswer struct {
	Body TaxRecordView
}

func (o *Office) addTaxRecord(ctx context.Context, in *taxRecordRequest) (*taxRecordAnswer, error) {
	record, err := in.record()
	if err != nil {
		return nil, err
	}
	kept, err := o.TaxRecords.AddTaxRecord(ctx, record, actBy(ctx, "told through the API", ""))
	if err != nil {
		return nil, taxProblem(err, "another tax record stands under this number")
	}
	return &taxRecordAnswer{Body: viewTaxRecord(&kept)}, nil
}

// taxProblem is problem for what may stand in the way of a tax record.
func taxProblem(err error, conflict string) error {
	var item *ipn.ItemError
	switch {
	case errors.As(err, &item):
		return invalid("body.items", item.Error())
	case errors.Is(err, ipn.ErrConflict):
		return huma.Error409Conflict(conflict)
	}
	return problem(err)
}

// TaxQuery names a record. Exported, because what is embedded is only read if it is.
type TaxQuery struct {
	BookQuery
	Number string `path:"number" maxLength:"255" doc:"Reference number, or the merchant's own id" example:"1012345678"`
}

func (o *Office) getTaxRecord(ctx context.Context, in *TaxQuery) (*taxRecordAnswer, error) {
	view, err := o.TaxRecord(ctx, in.Number, in.test())
	if err != nil {
		return nil, err
	}
	return &taxRecordAnswer{Body: view}, nil
}

// TaxRecord shows the record of a transaction. Errors are fit to be shown.
func (o *Office) TaxRecord(ctx context.Context, number string, test bool) (TaxRecordView, error) {
	record, err := o.taxRecord(ctx, number, test)
	if err != nil {
		return TaxRecordView{}, err
	}
	return viewTaxRecord(&record), nil
}

func (o *Office) taxRecord(ctx context.Context, number string, test bool) (ipn.TaxRecord, error) {
	if !storable(number) {
		return ipn.TaxRecord{}, problem(ipn.ErrNotFound)
	}
	record, err := o.TaxRecords.TaxRecord(ctx, number, test)
	if err != nil {
		return record, problem(err)
	}
	return record, nil
}

type taxRefundQuery struct {
	TaxQuery
	Items string `query:"items" maxLength:"10000" doc:"What goes back: ITEM or ITEM:PIECES, separated by commas; an ITEM alone is all that is left of it. Left out: everything that is left" example:"SHIRT,MUG:2"`
}

type taxRefundAnswer struct {
	Body struct {
		TaxRefundView
		DeliveryFee string        `json:"deliveryFee" doc:"Of the purchase; not in amount, because it is not refundable"`
		Remaining   TaxRefundView `json:"remaining" doc:"What would be left to refund by items"`
	}
}

func (o *Office) getTaxRefund(ctx context.Context, in *taxRefundQuery) (*taxRefundAnswer, error) {
	record, err := o.taxRecord(ctx, in.Number, in.test())
	if err != nil {
		return nil, err
	}
	refund, err := refundOf(&record, in.Items)
	if err != nil {
		return nil, err
	}
	answer := &taxRefundAnswer{}
	answer.Body.TaxRefundView, answer.Body.DeliveryFee = viewTaxRefund(&record, refund), record.Digits(record.DeliveryFee)
	record.Refunds = append(record.Refunds, refund)
	rest, _ := record.Refund(nil) // all that is left is always left
	answer.Body.Remaining = viewTaxRefund(&record, rest)
	return answer, nil
}

// RefundOf works out a partial refund of a transaction as the query of the API writes its items. Errors are fit to be shown.
func (o *Office) RefundOf(ctx context.Context, number, items string, test bool) (TaxRefundView, error) {
	record, err := o.taxRecord(ctx, number, test)
	if err != nil {
		return TaxRefundView{}, err
	}
	refund, err := refundOf(&record, items)
	return viewTaxRefund(&record, refund), err
}

// refundOf reads items as the query writes them.
func refundOf(record *ipn.TaxRecord, text string) (ipn.TaxRefund, error) {
	var items []ipn.ItemCount
	for _, part := range strings.Split(text, ",") {
		code, count, counted := strings.Cut(part, ":")
		if !record.Has(code) { // a code may have blanks around it
			code = strings.TrimSpace(code)
		}
		if code == "" && !counted {
			continue
		}
		pieces, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
		if !counted {
			pieces, err = max(1, record.Left(code)), nil
		}
		if err != nil {
			return ipn.TaxRefund{}, invalid("query.items", "write ITEM or ITEM:PIECES, separated by commas, such as SHIRT,MUG:2")
		}
		items = append(items, ipn.ItemCount{ItemCode: code, Quantity: pieces})
	}
	refund, err := record.Refund(items)
	var item *ipn.ItemError
	if errors.As(err, &item) {
		return refund, invalid("query.items", item.Error())
	}
	return refund, nil
}

type taxRefundRequest struct {
	TaxQuery
	Body struct {
		Items          []taxItem `json:"items,omitempty" minItems:"1" maxItems:"1000" doc:"Left out: everything that is left"`
		ReversalRefNum string    `json:"reversalRefNum,omitempty" maxLength:"255" doc:"Of the refund at the payment service; with it, telling it again changes nothing"`
	}
}

type taxItem struct {
	ItemCode string `json:"itemCode" minLength:"1" maxLength:"255" example:"SHIRT"`
	Quantity Pieces `json:"quantity"`
}

func (o *Office) addTaxRefund(ctx context.Context, in *taxRefundRequest) (*taxRecordAnswer, error) {
	record, err := o.taxRecord(ctx, in.Number, in.test())
	if err != nil {
		return nil, err
	}
	if err := keepable("body.reversalRefNum", in.Body.ReversalRefNum); err != nil {
		return nil, err
	}
	refund := ipn.TaxRefund{ReversalRefNum: in.Body.ReversalRefNum}
	for _, item := range in.Body.Items {
		refund.Items = append(refund.Items, ipn.ItemCount{ItemCode: item.ItemCode, Quantity: int64(item.Quantity)})
	}
	kept, err := o.TaxRecords.AddTaxRefund(ctx, record.ID, refund, actBy(ctx, "told through the API", ""))
	if err != nil {
		return nil, taxProblem(err, "other items were refunded under this reversalRefNum")
	}
	return &taxRecordAnswer{Body: viewTaxRecord(&kept)}, nil
}
