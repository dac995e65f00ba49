package api

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// transactionView is a card transaction as the interface shows it: specification section 2.4, and
// what is documented beside it, from openToCapture to chargebacks. Amounts are numbers, the
// transaction's own number is a text.
type transactionView struct {
	Type                  string       `json:"cardTransactionType"`
	ID                    string       `json:"transactionId"`                   // referenceNumber of IPNs
	OriginalID            string       `json:"originalTransactionId,omitempty"` // of a capture: the authorization
	SoftDescriptor        string       `json:"softDescriptor,omitempty"`
	Amount                money.Amount `json:"amount"`
	USDAmount             money.Amount `json:"usdAmount"`
	OpenToCapture         string       `json:"openToCapture,omitempty"` // Y after AUTH_ONLY
	Currency              string       `json:"currency"`
	AVSResponseCode       string       `json:"avsResponseCode"`
	ApprovalDate          string       `json:"transactionApprovalDate"` // MM/DD/YYYY, in the zone of IPNs
	ApprovalTime          string       `json:"transactionApprovalTime"` // HH:MM:SS
	Holder                holderInfo   `json:"cardHolderInfo"`
	VaultedShopperID      int64        `json:"vaultedShopperId"`
	Card                  cardView     `json:"creditCard"`
	Processing            processing   `json:"processingInfo"`
	Fraud                 fraudResult  `json:"fraudResultInfo"`
	TaxReference          string       `json:"taxReference,omitempty"`
	MerchantTransactionID string       `json:"merchantTransactionId,omitempty"`
	MetaData              *metaData    `json:"transactionMetaData,omitempty"`
	Refunds               *refundsView `json:"refunds,omitempty"`
	Chargebacks           *chargebacks `json:"chargebacks,omitempty"`
}

// processing is what bank and card scheme answered. Which codes there are is not shown: MA, a
// match, and U, unavailable, were seen; NC, not checked, is for a charge without a security code.
type processing struct {
	Status            string `json:"processingStatus"` // see processingStatus
	CVVResponseCode   string `json:"cvvResponseCode"`
	AuthorizationCode string `json:"authorizationCode"` // six digits
	AVSZip            string `json:"avsResponseCodeZip"`
	AVSAddress        string `json:"avsResponseCodeAddress"`
	AVSName           string `json:"avsResponseCodeName"`
	NetworkID         string `json:"networkTransactionId"`
}

// fraudResult tells whether the shopper's device was looked at.
type fraudResult struct {
	DeviceDataCollector string `json:"deviceDataCollector"`
}

// refundsView are the refunds of a transaction, oldest first, and what is left to refund.
type refundsView struct {
	Refund     []refundEntry `json:"refund"`
	Balance    money.Amount  `json:"balanceAmount"`    // with tax, without a delivery fee
	TaxBalance money.Amount  `json:"taxBalanceAmount"` // the part of it that is tax
}

// refundEntry is one refund of a transaction.
type refundEntry struct {
	ID       int64        `json:"refundTransactionId"`
	Amount   money.Amount `json:"amount"`
	Tax      money.Amount `json:"taxAmount"`
	Currency string       `json:"currency"`
	Date     string       `json:"date"` // MM/DD/YYYY, in the zone of IPNs
	Reason   string       `json:"reason"`
}

// chargebacks are the disputes of a transaction.
type chargebacks struct {
	Chargeback []chargeback `json:"chargeback"`
}

// chargeback is one dispute; its state is told by IPNs only.
type chargeback struct {
	Amount   money.Amount `json:"amount"`
	ID       int64        `json:"chargebackTransactionId"`
	Currency string       `json:"currency"`
	Date     string       `json:"date"` // MM/DD/YYYY
}

// processingStatus is what the states are called in answers. Letter case varies, as it does on the
// wire: clients must not depend on it. A refused transaction can be read, too.
var processingStatus = map[paysim.State]string{
	paysim.Authorized: "success", paysim.Captured: "success", paysim.Voided: "success", paysim.Declined: "FAIL", paysim.Failed: "FAIL",
	paysim.InReview: "PENDING_MERCHANT_REVIEW", paysim.Pending: "PENDING", paysim.Refunded: "REFUNDED",
	paysim.Disputed: "CHARGEBACKED", paysim.ChargedOff: "CHARGEBACKED",
}

// transactionOf shows a card transaction as it is now. Refunds and chargebacks appear once there
// are any. A renewal is shown as AUTH_CAPTURE, the only name that the interface has for it; a
// capture has the number of its authorization.
func transactionOf(t paysim.Transaction) transactionView {
	v := transactionView{
		Type: t.Type, ID: t.ID, SoftDescriptor: t.SoftDescriptor, Amount: t.Amount, USDAmount: paysim.USD(t.Amount, t.Currency),
		Currency: t.Currency, AVSResponseCode: "U", Holder: holderOf(t.Shopper), VaultedShopperID: t.Shopper.ID, Card: cardOf(t.Card),
		Processing: processing{
			Status: processingStatus[t.State], CVVResponseCode: "MA", AuthorizationCode: t.AuthorizationCode,
			AVSZip: "U", AVSAddress: "U", AVSName: "U", NetworkID: "NET" + t.ID,
		},
		Fraud: fraudResult{DeviceDataCollector: "Y"}, TaxReference: t.TaxReference, MerchantTransactionID: t.MerchantTransactionID,
		MetaData: metaDataOf(t.Custom), Refunds: refundsOf(t), Chargebacks: chargebacksOf(t),
	}
	v.ApprovalDate, v.ApprovalTime = approval(t.Created)
	if t.Card.SecurityCode == "" {
		v.Processing.CVVResponseCode = "NC"
	}
	switch t.Type {
	case "RECURRING":
		v.Type = "AUTH_CAPTURE"
	case "CAPTURE":
		v.OriginalID = t.ID
	}
	if t.State == paysim.Authorized {
		v.OpenToCapture = "Y"
	}
	return v
}

// approval writes a time in the two parts that answers have (specification section 2.4: MM/DD/YYYY
// and HH:MM:SS), by the clocks that the dates of IPNs are told by: transaction and IPN of one
// charge must not seem hours apart. IPNs tell no seconds; those are the same in every zone.
func approval(t time.Time) (date, clock string) {
	there, _ := time.Parse("01/02/2006 03:04 PM", notice.Date(t)) // cannot fail: it was just written so
	return there.Format("01/02/2006"), there.Format("15:04:") + t.UTC().Format("05")
}

// day is the date of a time, by the same clocks.
func day(t time.Time) string {
	date, _ := approval(t)
	return date
}

// refundsOf shows the refunds, those that are pending among them, nil when there are none.
func refundsOf(t paysim.Transaction) *refundsView {
	if len(t.Refunds) == 0 {
		return nil
	}
	v := &refundsView{}
	v.Balance, v.TaxBalance = t.Left()
	for _, r := range t.Refunds {
		v.Refund = append(v.Refund, refundEntry{
			ID: number(r.ID), Amount: r.Amount, Tax: r.Tax, Currency: t.Currency, Date: day(r.Created), Reason: r.Reason,
		})
	}
	return v
}

// chargebacksOf shows the disputes, nil when there are none.
func chargebacksOf(t paysim.Transaction) *chargebacks {
	if len(t.Disputes) == 0 {
		return nil
	}
	v := &chargebacks{}
	for _, dispute := range t.Disputes {
		v.Chargeback = append(v.Chargeback, chargeback{
			Amount: dispute.Amount, ID: number(dispute.ID), Currency: t.Currency, Date: day(dispute.Opened),
		})
	}
	return v
}
