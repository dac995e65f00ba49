package payments

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// BankTransferRequest asks for a real-time bank transfer (specification section 2.7).
type BankTransferRequest struct {
	Amount                Amount     `json:"amount"`
	Currency              string     `json:"currency"`                        // ISO 4217, upper case
	MerchantTransactionID string     `json:"merchantTransactionId,omitempty"` // comes back as MTI
	PayerInfo             *PayerInfo `json:"payerInfo,omitempty"`             // required without VaultedShopperID
	VaultedShopperID      int64      `json:"vaultedShopperId,omitempty"`
	SoftDescriptor        string     `json:"softDescriptor,omitempty"` // at most 20 characters
	ProductDescription    string     `json:"productDescription,omitempty"`
	AuthorizedByShopper   *bool      `json:"authorizedByShopper,omitempty"`
	MetaData              *MetaData  `json:"transactionMetaData,omitempty"`
	ReturnURL             string     `json:"-"` // required: where the shopper is sent after the purchase
	Language              string     `json:"-"` // of the bank's page, such as en
	IdempotencyKey        string     `json:"-"` // "": one is made, which a later call cannot repeat
}

// MarshalJSON writes the body of the interface, in which an object chooses the method of payment. The return URL stands on
// top, as specification section 2.7 has it, and in that object, where others have seen it.
func (r BankTransferRequest) MarshalJSON() ([]byte, error) {
	type fields BankTransferRequest
	return json.Marshal(struct {
		fields
		ReturnURL string         `json:"returnUrl"`
		Method    transferMethod `json:"sofortTransaction"`
	}{fields(r), r.ReturnURL, transferMethod{ReturnURL: r.ReturnURL, Language: r.Language}})
}

// transferMethod is the object of the method, which is named after the way of paying, as a card or a wallet is, and not after
// the service. The specification's bankTransferUrl has another name there.
type transferMethod struct {
	ReturnURL       string `json:"returnUrl,omitempty"`
	Language        string `json:"language,omitempty"`
	WireURL         string `json:"sofortUrl,omitempty"`
	BankTransferURL string `json:"bankTransferUrl,omitempty"`
}

// BankTransfer is what the service answers. Its ProcessingInfo tells where it stands: PENDING, SUCCESS, FAIL.
type BankTransfer struct {
	OrderID               int64           `json:"orderId"`       // ORDER-ID of the return query
	TransactionID         ID              `json:"transactionId"` // once approved
	Amount                Amount          `json:"amount"`
	USDAmount             Amount          `json:"usdAmount"`
	Currency              string          `json:"currency"`
	VaultedShopperID      int64           `json:"vaultedShopperId"`
	MerchantTransactionID string          `json:"merchantTransactionId"` // MTI of the return query
	PayerInfo             PayerInfo       `json:"payerInfo"`
	ProcessingInfo        ProcessingInfo  `json:"processingInfo"`
	FraudResultInfo       FraudResultInfo `json:"fraudResultInfo"`
	BankTransferURL       string          `json:"bankTransferUrl"` // where the shopper is to be sent
}

// UnmarshalJSON finds the address on top or in the object of the method.
func (t *BankTransfer) UnmarshalJSON(text []byte) error {
	type fields BankTransfer
	var wire struct {
		fields
		Method transferMethod `json:"sofortTransaction"`
	}
	if err := readJSON(text, &wire); err != nil {
		return err
	}
	*t = BankTransfer(wire.fields)
	for _, address := range []string{wire.Method.BankTransferURL, wire.Method.WireURL} {
		if t.BankTransferURL == "" {
			t.BankTransferURL = address
		}
	}
	return nil
}

// createdTransfer is an answer to send a shopper on with.
type createdTransfer struct{ BankTransfer }

func (t *createdTransfer) missing() string {
	if checkURL("bankTransferUrl", t.BankTransferURL) != nil { // another scheme would run in the shopper's browser
		return "bankTransferUrl of https or http"
	}
	return ""
}

// CreateBankTransfer begins a bank transfer (specification section 4, rule 6). The shopper is to be sent to the answer's
// BankTransferURL, and comes back to ReturnURL: see [ParseBankTransferReturn].
func (c *Client) CreateBankTransfer(ctx context.Context, request BankTransferRequest) (BankTransfer, error) {
	if err := request.check(); err != nil {
		return BankTransfer{}, err
	}
	created, err := create[createdTransfer](ctx, c, "create the bank transfer", transferPath, request.IdempotencyKey, request)
	return created.BankTransfer, err
}

// check tells what the specification rules out.
func (r BankTransferRequest) check() error {
	return first(
		checkURL("returnUrl", r.ReturnURL),
		checkAmount("amount", r.Amount), checkCurrency(r.Currency),
		wrong(r.PayerInfo == nil && r.VaultedShopperID == 0, "payerInfo", "or vaultedShopperId is required"),
		checkDescriptor(r.SoftDescriptor), checkMerchantID(r.MerchantTransactionID),
	)
}

// BankTransfer reads a transfer by its transaction, which it has once it is approved.
func (c *Client) BankTransfer(ctx context.Context, transactionID string) (BankTransfer, error) {
	if err := checkID("transactionId", transactionID); err != nil {
		return BankTransfer{}, err
	}
	return read[BankTransfer](ctx, c, "read the bank transfer", transferPath+transactionID)
}

// BankTransferByMerchantID reads a transfer by the merchantTransactionId that it was created with, also while it is pending.
// merchantID is the merchant's own number with the service. The error is an *[Error] with code 20002 when several transfers
// have that identifier.
func (c *Client) BankTransferByMerchantID(ctx context.Context, merchantTransactionID, merchantID string) (BankTransfer, error) {
	if err := first(wrong(merchantTransactionID == "", "merchantTransactionId", "is required"),
		checkMerchantID(merchantTransactionID), checkID("merchantId", merchantID)); err != nil {
		return BankTransfer{}, err
	}
	return read[BankTransfer](ctx, c, "read the bank transfer", transferPath+url.PathEscape(merchantTransactionID)+","+merchantID)
}

// ResolveBankTransfer reads a transfer by its order, which the return query tells. This is how what that query says is
// confirmed.
func (c *Client) ResolveBankTransfer(ctx context.Context, orderID int64) (BankTransfer, error) {
	query := url.Values{"orderId": {strconv.FormatInt(orderID, 10)}}
	return read[BankTransfer](ctx, c, "resolve the bank transfer", transferPath+"resolve?"+query.Encode())
}
