package payments

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// RefundRequest gives money back (specification section 2.6).
type RefundRequest struct {
	TransactionID       string          `json:"-"`
	Amount              Amount          `json:"amount,omitzero"`               // with tax; absent: everything
	TaxAmount           Amount          `json:"taxAmount,omitzero"`            // the part of Amount that is tax
	Reason              string          `json:"reason,omitempty"`              // at most 4000 characters
	CancelSubscriptions *bool           `json:"cancelSubscriptions,omitempty"` // nil: the service does cancel them
	VendorsRefundInfo   json.RawMessage `json:"vendorsRefundInfo,omitempty"`
	MetaData            *MetaData       `json:"transactionMetaData,omitempty"`
	IdempotencyKey      string          `json:"-"` // "": one is made, which a later call cannot repeat
}

// Refund is money that went back, as answered or as listed by its transaction.
type Refund struct {
	RefundTransactionID ID     `json:"refundTransactionId"` // reversalRefNum of IPNs; "" when the service answered without a body
	Amount              Amount `json:"amount"`              // with tax
	TaxAmount           Amount `json:"taxAmount"`           // the part of it that is tax
	Currency            string `json:"currency"`
	Date                string `json:"date"` // MM/DD/YYYY
	Reason              string `json:"reason"`
	RefundStatus        string `json:"refundStatus"` // SUCCESS, PENDING
	CancelSubscriptions bool   `json:"cancelSubscriptions"`
	VendorAmount        Amount `json:"vendorAmount"`
}

// mayBeEmpty: older editions of the interface answer 204.
func (*Refund) mayBeEmpty() {}

// Refund gives back a whole transaction, or a part of it with its part of the tax (specification section 4, rule 3). The
// idempotency-key keeps it single; who repeats a refund himself must give the same key again.
func (c *Client) Refund(ctx context.Context, request RefundRequest) (Refund, error) {
	if err := request.check(); err != nil {
		return Refund{}, err
	}
	return create[Refund](ctx, c, "refund the transaction", refundPath+request.TransactionID, request.IdempotencyKey, request)
}

// CancelPendingRefund calls back a refund that is still pending: the money stays where it is. The error is [ErrNotFound] when
// no refund of this number is pending: it is final by now, or an earlier attempt called it back and its answer was lost.
func (c *Client) CancelPendingRefund(ctx context.Context, refundTransactionID string) error {
	if err := checkID("refundTransactionId", refundTransactionID); err != nil {
		return err
	}
	_, err := c.exchange(ctx, call{operation: "cancel the pending refund", method: http.MethodDelete,
		path: pendingRefundPath + refundTransactionID, repeat: always, unread: true})
	return err
}

// check tells what the specification rules out. What was refunded before, the service knows.
func (r RefundRequest) check() error {
	return first(
		checkID("transactionId", r.TransactionID),
		checkOptionalAmount("amount", r.Amount), checkOptionalAmount("taxAmount", r.TaxAmount),
		wrong(!r.Amount.IsZero() && r.Amount.Decimal().IsZero(), "amount", "must be more than 0: a full refund has none"),
		wrong(r.Amount.IsZero() && !r.TaxAmount.IsZero(), "amount", "is required with taxAmount: a full refund has neither"),
		wrong(r.TaxAmount.Decimal().GreaterThan(r.Amount.Decimal()), "taxAmount", "must not be more than amount, which includes it"),
		wrong(utf8.RuneCountInString(r.Reason) > longestReason, "reason", "must be at most 4000 characters"),
	)
}
