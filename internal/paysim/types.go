package paysim

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// Address is where something is shipped to or from. State and Country are codes, in letters of
// either case; State is "" where there are none.
type Address struct {
	Address, City, State, Zip, Country string
}

// Line is an item of a tax quote. A request fills in the first five; the service adds the rest.
type Line struct {
	ItemCode, TaxCode, Description string       // ItemCode is unique in its quote; TaxCode is the product tax code
	Quantity                       int          // of pieces, at least one
	Amount                         money.Amount // of the line, not of one piece, without tax
	Tax                            money.Amount // as calculated
	Rate                           int64        // in hundredths of a percent
	Fee                            bool         // a retail delivery fee, which the service has added; Tax is the fee
}

// QuoteRequest asks what tax is due on some lines that go to one address.
type QuoteRequest struct {
	Currency string // upper case, of all amounts
	ShipTo   Address
	ShipFrom Address // zero: the merchant's address
	Lines    []Line
}

// Quote is a tax quote: good for 24 hours, and afterwards if a transaction was sent with it
// (specification section 3.1). Its state is told by Expired and TakenBy; nobody needs a name for
// it.
type Quote struct {
	QuoteRequest        // with ShipFrom filled in and, to Colorado, a fee among the Lines
	Reference    string // a UUID
	Created      time.Time
	Used         bool   // a transaction was sent with it, declined or not: it expires no more
	TakenBy      string // the transaction that was authorized, or waits to be, with it; "" while there is none
	TotalTax     money.Amount
	TotalAmount  money.Amount // without tax
	TotalExempt  money.Amount // the part of TotalAmount that no tax is due on
	Fee          money.Amount // the part of TotalTax that is a retail delivery fee
	VAT          bool         // the tax is a VAT
}

// Shopper is a person the account knows. Everything but the ID is as the merchant told it, and may
// be "".
type Shopper struct {
	ID                              int64 // vaultedShopperId of the API, accountId of IPNs; 0 in a request
	FirstName, LastName             string
	Zip, Country, State, City       string
	Address1, Phone, Email, Company string
	Card                            Card // the one that was to be charged last; without a number: none yet
}

// Card is a payment card. Month and year are digits, the year four of them; SecurityCode may be "".
// The zero Card is none.
type Card struct {
	Number, SecurityCode, ExpirationMonth, ExpirationYear string
}

// CardRequest asks for a card transaction (specification section 2.2).
type CardRequest struct {
	Type                  string            // AUTH_CAPTURE or AUTH_ONLY
	Amount                money.Amount      // with tax (specification section 4, rule 1)
	Currency              string            // upper case
	TaxReference          string            // of the tax quote; "": without tax
	SoftDescriptor        string            // what the statement of the card says, at most 20 characters
	MerchantTransactionID string            // the merchant's own number, at most 50 characters; need not be unique
	VaultedShopperID      int64             // 0: the holder is a new shopper
	Holder                Shopper           // of a new shopper; else not looked at
	Card                  Card              // zero: the vaulted shopper's card of last time
	Product               string            // what the IPN calls it; "" lets the service choose
	Custom                map[string]string // metadata: fields the merchant named, which come back in IPNs
}

// State is where a transaction stands. The interface does not show the states of transactions;
// these are the simulator's.
type State string

// The states of a transaction.
const (
	Authorized State = "authorized"  // reserved, not charged
	Captured   State = "captured"    // paid, and perhaps refunded in part
	Voided     State = "voided"      // an authorization that was let go
	Declined   State = "declined"    // refused by bank or fraud rules, at once or after a review
	InReview   State = "in review"   // somebody at the service looks at it
	Refunded   State = "refunded"    // wholly, but for the delivery fee
	Pending    State = "pending"     // a bank has not decided: a debit that has not cleared, a transfer
	Failed     State = "failed"      // the bank of a pending one has refused
	Disputed   State = "disputed"    // a dispute is open
	ChargedOff State = "charged off" // a dispute was lost
)

// Transaction is money that moved, or may, or was refused: one number from the attempt to the last
// dispute. A capture changes the transaction that was authorized; refunds and disputes hang on it.
type Transaction struct {
	ID                    string // transactionId of the API, referenceNumber of IPNs
	Type                  string // AUTH_CAPTURE, AUTH_ONLY, CAPTURE of an authorization that was captured, or RECURRING, SOFORT
	State                 State
	Created               time.Time
	Amount, Tax           money.Amount // Amount is with tax, Tax the part of it that is tax
	Fee                   money.Amount // the part of Tax that is a retail delivery fee, which no refund gives back
	TaxRate               int64        // in hundredths of a percent; 0: none, or of several rates
	Currency              string
	TaxReference          string
	SoftDescriptor        string
	MerchantTransactionID string
	SubscriptionID        string   // "": a single charge
	Shopper               *Shopper // as the account knows them now
	Card                  Card     // as it was charged; zero for a bank transfer
	Product               string   // "": the sample's
	PlanID                int64    // contractId of IPNs; 0: no subscription
	AuthorizationCode     string   // of the bank, six digits
	Refunds               []Refund // oldest first, without those that were called back
	Disputes              []Dispute
	Seed                  uint64            // of the sample that its IPNs are laid over
	Custom                map[string]string // fields the merchant named
}

// RefundRequest asks for money back (specification section 2.6). A nil Amount is the whole of what
// remains, with its tax; then TaxAmount must be nil, too. The zero request is a full refund.
type RefundRequest struct {
	Amount, TaxAmount       *money.Amount // TaxAmount is the part of Amount that is tax
	Reason                  string        // at most 4000 characters; "" is the documented default
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

// Dispute is a chargeback: the shopper's bank has taken money back. Status is one of DisputeNew and
// the like.
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
