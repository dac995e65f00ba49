package payments

import (
	"context"
	"encoding/json"
)

// Types of card transactions (specification sections 2.2 and 2.3).
const (
	AuthCapture  = "AUTH_CAPTURE"  // authorize and capture at once
	AuthOnly     = "AUTH_ONLY"     // authorize; a capture follows
	capture      = "CAPTURE"       // sent by Capture
	authReversal = "AUTH_REVERSAL" // sent by ReverseAuthorization
)

// CardTransactionRequest charges or authorizes a card (specification section 2.2). The fields of raw JSON are sent as they
// are: the interface leaves their shape to documents of their own.
type CardTransactionRequest struct {
	CardTransactionType   string          `json:"cardTransactionType"`             // AuthCapture or AuthOnly
	SoftDescriptor        string          `json:"softDescriptor,omitempty"`        // what the shopper's statement shows; at most 20 characters
	DescriptorPhoneNumber string          `json:"descriptorPhoneNumber,omitempty"` // beside it
	Amount                Amount          `json:"amount"`                          // with tax
	Currency              string          `json:"currency"`                        // ISO 4217, upper case
	TaxReference          QuoteReference  `json:"taxReference,omitzero"`           // optional
	MerchantTransactionID string          `json:"merchantTransactionId,omitempty"` // returns in IPNs: set it always
	VaultedShopperID      int64           `json:"vaultedShopperId,omitempty"`      // a stored shopper, in the place of a holder
	StoreCard             *bool           `json:"storeCard,omitempty"`             // nil: the service's default
	CardHolderInfo        *CardHolder     `json:"cardHolderInfo,omitempty"`        // required without VaultedShopperID
	CreditCard            *CreditCard     `json:"creditCard,omitempty"`            // required without a stored shopper, a token or a wallet
	FieldsToken           string          `json:"pfToken,omitempty"`               // of fields hosted by the service, in the place of a card
	FraudInfo             *FraudInfo      `json:"transactionFraudInfo,omitempty"`  // optional
	MetaData              *MetaData       `json:"transactionMetaData,omitempty"`   // optional
	Initiator             string          `json:"transactionInitiator,omitempty"`  // who asked for the charge, MERCHANT or SHOPPER
	VendorsInfo           json.RawMessage `json:"vendorsInfo,omitempty"`
	Level3Data            json.RawMessage `json:"level3Data,omitempty"`
	ThreeDSecure          json.RawMessage `json:"threeDSecure,omitempty"`
	Wallet                json.RawMessage `json:"wallet,omitempty"`
	IdempotencyKey        string          `json:"-"` // "": one is made, which a later call cannot repeat
}

func (r CardTransactionRequest) quotes() bool { return !r.TaxReference.IsZero() }

// CardHolder is who pays.
type CardHolder struct {
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
	Zip       string `json:"zip,omitempty"`     // of the billing address, as all that follow
	Country   string `json:"country,omitempty"` // two letters, lower case
	State     string `json:"state,omitempty"`
	City      string `json:"city,omitempty"`
	Address   string `json:"address,omitempty"`
	Email     string `json:"email,omitempty"`
	Phone     string `json:"phone,omitempty"`
}

// FraudInfo helps the service to tell fraud.
type FraudInfo struct {
	FraudSessionID   string          `json:"fraudSessionId,omitempty"`   // of the device's data, collected while the shopper was there
	ShopperIPAddress string          `json:"shopperIpAddress,omitempty"` // of the shopper, not of the merchant
	Company          string          `json:"company,omitempty"`
	ShippingContact  json.RawMessage `json:"shippingContactInfo,omitempty"`
}

// MetaData are fields that the merchant names. They return in IPNs.
type MetaData struct {
	Entries []MetaEntry `json:"metaData"`
}

// MetaEntry is one field of MetaData.
type MetaEntry struct {
	Key         string `json:"metaKey"` // the name of a field of the IPN
	Value       string `json:"metaValue"`
	Description string `json:"metaDescription,omitempty"`
	Visible     bool   `json:"isVisible"` // shown to the shopper
}

// CaptureRequest takes the money of an authorization (specification section 2.3). The interface knows no amount: a capture is
// for all of it. Who says what he means to capture is told, before anything is sent, if that is not what was authorized.
type CaptureRequest struct {
	TransactionID string         // of the AUTH_ONLY transaction
	TaxReference  QuoteReference // required under the reseller payment model
	Amount        Amount         // what is meant to be captured; absent: all
	Authorized    Amount         // what was authorized; required with Amount
}

// CardTransaction is what the service answers (specification section 2.4). Its enumerations are open: text is kept as sent.
type CardTransaction struct {
	CardTransactionType     string          `json:"cardTransactionType"`   // as asked for
	TransactionID           ID              `json:"transactionId"`         // referenceNumber of IPNs
	OriginalTransactionID   ID              `json:"originalTransactionId"` // of a capture: the authorization
	MerchantTransactionID   string          `json:"merchantTransactionId"` // the merchant's own; in IPNs too
	SoftDescriptor          string          `json:"softDescriptor"`
	DescriptorPhoneNumber   string          `json:"descriptorPhoneNumber"`
	Amount                  Amount          `json:"amount"`                  // with tax
	USDAmount               Amount          `json:"usdAmount"`               // at the service's rate of exchange
	OpenToCapture           json.RawMessage `json:"openToCapture"`           // after AUTH_ONLY; its form is not documented
	Currency                string          `json:"currency"`                // of all amounts but USDAmount
	AVSResponseCode         string          `json:"avsResponseCode"`         // of the address verification
	TransactionApprovalDate string          `json:"transactionApprovalDate"` // MM/DD/YYYY
	TransactionApprovalTime string          `json:"transactionApprovalTime"` // HH:MM:SS
	CardHolderInfo          CardHolder      `json:"cardHolderInfo"`
	VaultedShopperID        int64           `json:"vaultedShopperId"` // accountId of IPNs
	CreditCard              MaskedCard      `json:"creditCard"`
	ProcessingInfo          ProcessingInfo  `json:"processingInfo"`
	FraudResultInfo         FraudResultInfo `json:"fraudResultInfo"`
	TaxReference            string          `json:"taxReference"` // as asked for; "" without a quote
	Refunds                 Refunds         `json:"refunds"`
	Chargebacks             Chargebacks     `json:"chargebacks"`
	NetworkTransactionInfo  json.RawMessage `json:"networkTransactionInfo"`
	NetworkTransactionID    ID              `json:"networkTransactionId"`
	ThreeDSecure            json.RawMessage `json:"threeDSecure"`
	Wallet                  json.RawMessage `json:"wallet"`
	VendorsInfo             json.RawMessage `json:"vendorsInfo"`
}

// ProcessingInfo tells what the processor and the shopper's bank said.
type ProcessingInfo struct {
	ProcessingStatus       string          `json:"processingStatus"`  // such as success, PENDING, FAIL; the letter case varies
	CVVResponseCode        string          `json:"cvvResponseCode"`   // such as MA, a match
	AuthorizationCode      string          `json:"authorizationCode"` // of the shopper's bank
	AVSResponseCodeZip     string          `json:"avsResponseCodeZip"`
	AVSResponseCodeAddress string          `json:"avsResponseCodeAddress"`
	AVSResponseCodeName    string          `json:"avsResponseCodeName"`
	NetworkTransactionID   ID              `json:"networkTransactionId"`
	TransactionRegion      string          `json:"transactionRegion"`
	ProcessingErrors       json.RawMessage `json:"processingErrors"`
}

// FraudResultInfo tells what was found of fraud.
type FraudResultInfo struct {
	DeviceDataCollector string `json:"deviceDataCollector"` // a code, such as Y
}

// Refunds are those of a transaction, and what is left of it.
type Refunds struct {
	Refund           []Refund `json:"refund"`
	BalanceAmount    Amount   `json:"balanceAmount"`    // what can still be refunded
	TaxBalanceAmount Amount   `json:"taxBalanceAmount"` // the part of it that is tax
}

// Chargebacks are the disputes of a transaction.
type Chargebacks struct {
	Chargeback []Chargeback `json:"chargeback"`
}

// Chargeback is one dispute.
type Chargeback struct {
	ChargebackTransactionID ID     `json:"chargebackTransactionId"` // reversalRefNum of IPNs
	Amount                  Amount `json:"amount"`                  // disputed
	Currency                string `json:"currency"`
	Date                    string `json:"date"` // of its opening, MM/DD/YYYY
}

func (t *CardTransaction) missing() string {
	if t.TransactionID == "" {
		return "transactionId"
	}
	return ""
}

// CreateCardTransaction charges or authorizes a card (specification section 4, rules 1 and 2). A refusal of the shopper's
// bank is [ErrDeclined]; the same tax quote may then be used with another card.
func (c *Client) CreateCardTransaction(ctx context.Context, request CardTransactionRequest) (CardTransaction, error) {
	if err := first(request.check(), c.checkQuote("taxReference", request.TaxReference)); err != nil {
		return CardTransaction{}, err
	}
	return create[CardTransaction](ctx, c, "create the card transaction", transactionPath, request.IdempotencyKey, request)
}

// check tells what the specification rules out. Who pays, and with what, is left to the service: there are many ways.
func (r CardTransactionRequest) check() error {
	return first(
		wrong(r.CardTransactionType != AuthCapture && r.CardTransactionType != AuthOnly, "cardTransactionType", "must be AUTH_CAPTURE or AUTH_ONLY"),
		checkAmount("amount", r.Amount), checkCurrency(r.Currency),
		checkDescriptor(r.SoftDescriptor), checkMerchantID(r.MerchantTransactionID),
		r.CreditCard.check(),
	)
}

// settlement is the body of a PUT on transactions.
type settlement struct {
	CardTransactionType string         `json:"cardTransactionType"`
	TransactionID       string         `json:"transactionId"`
	TaxReference        QuoteReference `json:"taxReference,omitzero"`
}

func (s settlement) quotes() bool { return !s.TaxReference.IsZero() }

// Capture takes the money of an authorization, all of it (specification section 4, rule 2). Because it can carry no
// idempotency-key, it is repeated only when it was surely not done: after [ErrUnreachable], read the transaction.
func (c *Client) Capture(ctx context.Context, request CaptureRequest) (CardTransaction, error) {
	// The age of the quote does not matter here: a transaction was sent with it.
	if !request.Amount.IsZero() && !request.Amount.Equal(request.Authorized) {
		return CardTransaction{}, &FieldError{Field: "amount", Reason: ErrPartialCapture.Error(), Err: ErrPartialCapture}
	}
	return c.settle(ctx, "capture the transaction", settlement{capture, request.TransactionID, request.TaxReference})
}

// ReverseAuthorization gives an authorization up that was not captured. It is repeated as Capture is.
func (c *Client) ReverseAuthorization(ctx context.Context, transactionID string) (CardTransaction, error) {
	return c.settle(ctx, "reverse the authorization", settlement{CardTransactionType: authReversal, TransactionID: transactionID})
}

// settle puts what ends an authorization.
func (c *Client) settle(ctx context.Context, operation string, body settlement) (CardTransaction, error) {
	if err := checkID("transactionId", body.TransactionID); err != nil {
		return CardTransaction{}, err
	}
	return change[CardTransaction](ctx, c, operation, transactionPath, body)
}

// CardTransaction reads a transaction.
func (c *Client) CardTransaction(ctx context.Context, transactionID string) (CardTransaction, error) {
	if err := checkID("transactionId", transactionID); err != nil {
		return CardTransaction{}, err
	}
	return read[CardTransaction](ctx, c, "read the card transaction", transactionPath+"/"+transactionID)
}
