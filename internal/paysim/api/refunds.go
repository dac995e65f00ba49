package api

import (
	"net/http"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// refundBody asks for a refund (specification section 2.6). An empty one refunds everything.
// Metadata and vendors' shares are taken and not looked at.
type refundBody struct {
	Amount              amount `json:"amount"`
	TaxAmount           amount `json:"taxAmount"`
	Reason              string `json:"reason"`
	CancelSubscriptions *bool  `json:"cancelSubscriptions"` // absent: true
}

// refundView is a refund as the interface shows it. The specification leaves it open (section 4);
// these are the documented members. Other than a transactionId, its number is a number.
type refundView struct {
	ID                  int64        `json:"refundTransactionId"` // comes back as reversalRefNum of the IPN
	Amount              money.Amount `json:"amount"`              // with tax
	TaxAmount           money.Amount `json:"taxAmount"`
	Currency            string       `json:"currency"`
	Date                string       `json:"date"` // MM/DD/YYYY
	Reason              string       `json:"reason"`
	Status              string       `json:"refundStatus"` // SUCCESS or PENDING
	CancelSubscriptions bool         `json:"cancelSubscriptions"`
}

// registerRefunds serves refunds by the service's number and by the merchant's own, and the calling
// back of those that wait (204, or 20009 when there is no such refund, or it is final).
func (d *door) registerRefunds() {
	d.path("/services/2/transactions/refund/{id}", map[string]operation{http.MethodPost: func(r *request) (answer, error) {
		return d.refund(r, r.PathValue("id"))
	}})
	// A merchant's number that several transactions have is refused with 20002, before anything is
	// refunded.
	d.path("/services/2/transactions/refund/merchant/{id}", map[string]operation{http.MethodPost: func(r *request) (answer, error) {
		t, err := d.service.TransactionByMerchantID(r.PathValue("id"))
		if err != nil {
			return answer{}, err
		}
		return d.refund(r, t.ID)
	}})
	d.path("/services/2/transactions/pending-refund/{id}", map[string]operation{http.MethodDelete: func(r *request) (answer, error) {
		return answer{}, d.service.CancelRefund(r.PathValue("id"))
	}})
}

// refund answers 200 with the refund. Its amount and tax are told even where the request, of the
// whole, did not: a merchant needs them for the books.
func (d *door) refund(r *request, id string) (answer, error) {
	body := refundBody{}
	if err := r.decodeOptional(&body); err != nil {
		return answer{}, err
	}
	asked, err := body.request()
	if err != nil {
		return answer{}, err
	}
	t, err := d.service.Transaction(id) // for its currency, which a refund does not tell
	if err != nil {
		return answer{}, err
	}
	refund, err := d.service.Refund(id, asked)
	if err != nil {
		return answer{}, err
	}
	return answer{Body: refundView{
		ID: number(refund.ID), Amount: refund.Amount, TaxAmount: refund.Tax, Currency: t.Currency, Date: day(refund.Created),
		Reason: refund.Reason, Status: refund.Status, CancelSubscriptions: !asked.CancelSubscriptionsSaid || asked.CancelSubscriptions,
	}}, nil
}

// request reads a body; what is absent stays nil, which is the whole. 10001 and 14006 for what is
// no amount.
func (b refundBody) request() (asked paysim.RefundRequest, err error) {
	asked.Reason = b.Reason
	if b.CancelSubscriptions != nil {
		asked.CancelSubscriptions, asked.CancelSubscriptionsSaid = *b.CancelSubscriptions, true
	}
	if asked.Amount, err = b.Amount.optional("amount"); err != nil {
		return asked, err
	}
	asked.TaxAmount, err = b.TaxAmount.optional("taxAmount")
	return asked, err
}
