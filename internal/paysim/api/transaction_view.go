package api

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// transactionView is a card transaction as the interface shows it (specification section 2.4).
type transactionView struct {
	Type                  string       `json:"cardTransactionType"`
	ID                    string       `json:"transactionId"`
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

// processing is what bank and card scheme answered.
type processing struct {
	Status            string `json:"processingStatus"`
	CVVResponseCode   string `json:"cvvResponseCode"`
	AuthorizationCode string `json:"authorizationCode"`
	AVSZip            string `json:"avsResponseCodeZip"`
	AVSAddress        string `json:"avsResponseCodeAddress"`
	AVSName           string `json:"avsResponseCodeName"`
	NetworkID         string `json:"networkTransactionId"`
}

// fraudResult tells whether the shopper's device was looked at.
type fraudResult struct {
	DeviceDataCollector string `json:"deviceDataCollector"`
}

// refundsView are the refunds of a transaction, and what is left to refund.
type refundsView struct {
	Refund     []refundEntry `json:"refund"`
	Balance    money.Amount  `json:"balanceAmount"`
	TaxBalance money.Amount  `json:"taxBalanceAmount"`
}

// refundEntry is one refund of a transaction.
type refundEntry struct {
	ID       int64        `json:"refundTransactionId"`
	Amount   money.Amount `json:"amount"`
	Tax      money.Amount `json:"taxAmount"`
	Currency string       `json:"currency"`
	Date     string       `json:"date"` // MM/DD/YYYY
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
	Date     string       `json:"date"`
}

// processingStatus is what the states are called in answers.
var processingStatus = map[paysim.State]string{
	paysim.Authorized: "success", paysim.Captured: "success", paysim.Voided: "success", paysim.Declined: "FAIL", paysim.Failed: "FAIL",
	paysim.InReview: "PENDING_MERCHANT_REVIEW", paysim.Pending: "PENDING", paysim.Refunded: "REFUNDED",
	paysim.Disputed: "CHARGEBACKED", paysim.ChargedOff: "CHARGEBACKED",
}

// transactionOf shows a card transaction as it is now. Refunds and chargebacks appear once there are any.
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

// approval writes a time in the two parts that answers have, by the clocks that the dates of IPNs are told by.
func approval(t time.Time) (date, clock string) {
	there, _ := time.Parse("01/02/2006 03:04 PM", notice.Date(t)) // which wrote it in this form, to the minute
	return there.Format("01/02/2006"), there.Format("15:04:") + t.UTC().Format("05")
}

// day is the date of a time, by the same clocks.
func day(t time.Time) string {
	date, _ := approval(t)
	return date
}

// refundsOf shows the refunds, nil when there are none.
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
