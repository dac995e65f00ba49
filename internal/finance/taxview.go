package finance

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// TaxRecordView is a record with what follows from it. Exported for the page.
type TaxRecordView struct {
	ID                    int64             `json:"id"`
	ReferenceNumber       string            `json:"referenceNumber,omitempty"`
	MerchantTransactionID string            `json:"merchantTransactionId,omitempty"`
	Test                  bool              `json:"test"`
	TaxReference          string            `json:"taxReference,omitempty"`
	Currency              string            `json:"currency"`
	Country               string            `json:"country,omitempty"`
	State                 string            `json:"state,omitempty"`
	Lines                 []TaxLineView     `json:"lines"`
	Amount                string            `json:"amount" doc:"Of the lines, without tax"`
	Tax                   string            `json:"tax" doc:"Of the lines"`
	DeliveryFee           string            `json:"deliveryFee" doc:"Not refundable, except with a cancelled or voided transaction and certain disputes"`
	Total                 string            `json:"total" doc:"amount + tax + deliveryFee: what is charged"`
	Labels                ipn.InvoiceLabels `json:"labels" doc:"The words that the invoice must use (specification section 1)"`
	InvoiceTax            string            `json:"invoiceTax" doc:"Of the invoice's tax line: the sum of tax and delivery fee"`
	Remaining             TaxRefundView     `json:"remaining" doc:"What can still be refunded by items"`
	Refunds               []TaxRefundView   `json:"refunds" doc:"Oldest first"`
}

// TaxLineView is an item of a record.
type TaxLineView struct {
	ItemCode    string `json:"itemCode"`
	Description string `json:"description,omitempty"`
	Quantity    int64  `json:"quantity"`
	Left        int64  `json:"left" doc:"Pieces that were not refunded yet"`
	Amount      string `json:"amount"`
	Tax         string `json:"tax"`
}

// TaxRefundView is a refund of items, done or worked out.
type TaxRefundView struct {
	Items          []ipn.ItemCount `json:"items"`
	Amount         string          `json:"amount" doc:"The total to refund, tax included"`
	TaxAmount      string          `json:"taxAmount" doc:"The tax in it"`
	Currency       string          `json:"currency"`
	ReversalRefNum string          `json:"reversalRefNum,omitempty"`
	RefundedAt     string          `json:"refundedAt,omitempty" format:"date-time"`
}

func viewTaxRecord(r *ipn.TaxRecord) TaxRecordView {
	amount, tax := r.Totals()
	rest, _ := r.Refund(nil) // all that is left is always left
	v := TaxRecordView{
		ID: r.ID, ReferenceNumber: r.ReferenceNumber, MerchantTransactionID: r.MerchantTransactionID, Test: r.Test, TaxReference: r.TaxReference,
		Currency: r.Currency, Country: r.Country, State: r.State, Lines: make([]TaxLineView, len(r.Items)),
		Amount: r.Digits(amount), Tax: r.Digits(tax), DeliveryFee: r.Digits(r.DeliveryFee), Total: r.Digits(amount.Add(tax).Add(r.DeliveryFee)),
		Labels: r.Labels(), InvoiceTax: r.Digits(tax.Add(r.DeliveryFee)), Remaining: viewTaxRefund(r, rest), Refunds: make([]TaxRefundView, len(r.Refunds)),
	}
	left := make(map[string]int64, len(rest.Items))
	for _, item := range rest.Items {
		left[item.ItemCode] = item.Quantity
	}
	for i, item := range r.Items {
		v.Lines[i] = TaxLineView{ItemCode: item.ItemCode, Description: item.Description, Quantity: item.Quantity, Left: left[item.ItemCode],
			Amount: r.Digits(item.Amount), Tax: r.Digits(item.Tax)}
	}
	for i, refund := range r.Refunds {
		v.Refunds[i] = viewTaxRefund(r, refund)
	}
	return v
}

func viewTaxRefund(r *ipn.TaxRecord, f ipn.TaxRefund) TaxRefundView {
	v := TaxRefundView{Items: append([]ipn.ItemCount{}, f.Items...), Amount: r.Digits(f.Amount), TaxAmount: r.Digits(f.TaxAmount),
		Currency: r.Currency, ReversalRefNum: f.ReversalRefNum}
	if f.RefundedAt != nil {
		v.RefundedAt = f.RefundedAt.Format("2006-01-02T15:04:05Z07:00")
	}
	return v
}
