package paysim

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// Address is where something is shipped to or from.
type Address struct {
	Address, City, State, Zip, Country string
}

// Line is an item of a tax quote. Amount is that of the line, not of one piece.
type Line struct {
	ItemCode, TaxCode, Description string
	Quantity                       int
	Amount                         money.Amount
	Tax                            money.Amount // as calculated
	Rate                           int64        // in hundredths of a percent
	Fee                            bool         // a retail delivery fee, which the service has added; Tax is the fee
}

// QuoteRequest asks what tax is due.
type QuoteRequest struct {
	Currency string
	ShipTo   Address
	ShipFrom Address // zero: the merchant's address
	Lines    []Line
}

// Quote is a tax quote: good for 24 hours, and afterwards if a transaction was sent with it (specification section 3.1).
type Quote struct {
	QuoteRequest
	Reference     string // a UUID
	Created       time.Time
	Used          bool   // a transaction was sent with it, declined or not: it expires no more
	TakenBy       string // the transaction that was authorized, or waits to be, with it; "" while there is none
	TotalTax      money.Amount
	TotalAmount   money.Amount // without tax
	TotalExempt   money.Amount // the part of TotalAmount that no tax is due on
	Fee           money.Amount // the part of TotalTax that is a retail delivery fee
	VAT           bool         // the tax is a VAT
	ExpiryRefused bool         // for the page: it was refused for its age at least once
}

// Shopper is a person the account knows.
type Shopper struct {
	ID                              int64
	FirstName, LastName             string
	Zip, Country, State, City       string
	Address1, Phone, Email, Company string
	Card                            Card // the one charged last
}

// Card is a payment card.
type Card struct {
	Number, SecurityCode, ExpirationMonth, ExpirationYear string
}

// CardRequest asks for a card transaction.
type CardRequest struct {
	Type                  string // AUTH_CAPTURE or AUTH_ONLY
	Amount                money.Amount
	Currency              string
	TaxReference          string
	SoftDescriptor        string
	MerchantTransactionID string
	VaultedShopperID      int64 // 0: the holder is a new shopper
	Holder                Shopper
	Card                  Card
	Product               string            // what the IPN calls it; "" lets the service choose
	Custom                map[string]string // metadata: fields the merchant named
}

// State is where a transaction stands. The interface does not show the states of transactions; these are the simulator's.
type State string

// The states of a transaction.
const (
	Authorized State = "authorized"
	Captured   State = "captured"
	Voided     State = "voided"
	Declined   State = "declined"
	InReview   State = "in review"
	Refunded   State = "refunded"    // wholly
	Pending    State = "pending"     // a bank has not decided
	Failed     State = "failed"      // a bank has refused
	Disputed   State = "disputed"    // a dispute is open
	ChargedOff State = "charged off" // a dispute was lost
)

// Transaction is money that moved, or may.
type Transaction struct {
	ID                    string // transactionId of the API, referenceNumber of IPNs
	Type                  string // AUTH_CAPTURE, AUTH_ONLY, CAPTURE of an authorization that was captured, or RECURRING, SOFORT
	State                 State
	Created               time.Time
	Amount, Tax           money.Amount // Tax is the part of Amount
	Fee                   money.Amount // the part of Tax that is a retail delivery fee, which no refund gives back
	TaxRate               int64        // in hundredths of a percent; 0: none, or of several rates
	Currency              string
	TaxReference          string
	SoftDescriptor        string
	MerchantTransactionID string
	SubscriptionID        string
	Shopper               *Shopper
	Card                  Card
	Product               string
	PlanID                int64
	AuthorizationCode     string
	Refunds               []Refund
	Disputes              []Dispute
	Seed                  uint64 // of the sample that its IPNs are laid over
	Custom                map[string]string
}

// RefundRequest asks for money back. A nil Amount is the whole of what remains, with its tax.
type RefundRequest struct {
	Amount, TaxAmount       *money.Amount
	Reason                  string
	CancelSubscriptions     bool
	CancelSubscriptionsSaid bool // else it is the documented default, true
}

// Refund is money that went back.
type Refund struct {
	ID          string // refundTransactionId; reversalRefNum of IPNs
	Amount, Tax money.Amount
	Created     time.Time
	Reason      string
	Status      string // SUCCESS or PENDING
}

// Dispute is a chargeback. Status is NEW, WORKING, COMPLETED_PENDING, COMPLETED_WON, COMPLETED_LOST or CLOSED.
type Dispute struct {
	ID      string // reversalRefNum of IPNs
	Amount  money.Amount
	Opened  time.Time
	Status  string
	Reason  string
	Changed time.Time
}

// Plan is what one can subscribe to.
type Plan struct {
	ID        int64
	Name      string
	Amount    money.Amount // of one period; a tax quote may be for it with or without the tax in it
	Currency  string
	Period    time.Duration
	Frequency string        // the interface's word for Period, such as MONTHLY
	Trial     time.Duration // nothing is charged before it has passed; 0: the first period is charged at once
}

// SubscriptionRequest asks for a subscription (specification section 2.5).
type SubscriptionRequest struct {
	PlanID                                int64
	Payer                                 Shopper
	Card                                  Card
	VaultedShopperID                      int64
	InitialTaxReference                   string
	RecurringTaxReference                 string
	InitialAmount, RecurringAmount        *money.Amount // overrides of the plan's, with tax
	TrialDays                             int           // overrides the plan's trial; 0: as the plan has it
	MerchantTransactionID, SoftDescriptor string
}

// SubscriptionChange asks for a change; what is nil stays as it is.
type SubscriptionChange struct {
	PlanID                *int64
	RecurringAmount       *money.Amount // overrideRecurringChargeAmount
	RecurringTaxReference string
	AutoRenew             *bool
	Status                string // "", ACTIVE or CANCELED
	Card                  *Card
}

// Subscription is a promise to be charged again.
type Subscription struct {
	ID                    string
	Plan                  Plan
	Shopper               *Shopper
	Card                  Card
	Status                string // ACTIVE or CANCELED
	AutoRenew             bool
	RecurringAmount       money.Amount // what each renewal charges, with tax
	RecurringTax          money.Amount
	Currency              string
	InitialTaxReference   string
	RecurringTaxReference string
	Created, NextCharge   time.Time
	Charges               []string // transaction numbers, the first one first
	Failures              int      // in a row
	FailNext              bool     // the bank will refuse the next renewal
	SoftDescriptor        string
	MerchantTransactionID string

	quote     *Quote       // of the recurring charge; nil: without tax
	origin    *Transaction // the first charge, or the zero authorization of a trial
	plannedAs int          // what was put on the agenda under an older number is void
}

// TransferRequest asks for a real-time bank transfer (specification section 2.7).
type TransferRequest struct {
	Amount                money.Amount
	Currency              string
	ReturnURL             string
	VaultedShopperID      int64   // 0: the payer is a new shopper
	Payer                 Shopper // the suffix of FirstName chooses the outcome (section 3.2)
	MerchantTransactionID string
	SoftDescriptor        string
}

// Transfer is a bank transfer. Status is PENDING, SUCCESS or FAIL.
type Transfer struct {
	OrderID               int64
	TransactionID         string // once approved
	Status                string
	Amount                money.Amount
	Currency              string
	ReturnURL             string
	Payer                 *Shopper
	Outcome               string // the suffix: "", _APPROVE, _REJECT, _DELAYAP, _DELAYRJ
	MerchantTransactionID string
	Created               time.Time
	Visited               bool // the shopper has come to the bank's page and left it
	SoftDescriptor        string

	transaction *Transaction // once the shopper has confirmed or refused
}
