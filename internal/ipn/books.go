package ipn

import (
	"time"

	"github.com/shopspring/decimal"
)

// MovementKind says why money moved.
type MovementKind string

// The closed set of kinds; the schema checks the same words.
const (
	MoveCharge             MovementKind = "charge"
	MoveRecurring          MovementKind = "recurring"
	MoveRefund             MovementKind = "refund"
	MoveCancellationRefund MovementKind = "cancellation_refund"
	MoveChargeback         MovementKind = "chargeback"
	MoveChargebackReversal MovementKind = "chargeback_reversal" // a dispute was won: the money comes back
	MovePayout             MovementKind = "payout"              // from the balance to the merchant's bank: beside the net, not in it
)

// Movement is one signed amount of money in one currency, from one event. Positive comes in.
type Movement struct {
	EventID         int64
	Line            int // 0, and on for the further currencies of a payout
	Kind            MovementKind
	Test            bool // of a test order: a book of its own
	ReferenceNumber string
	SubscriptionID  string
	Country, State  string    // where the shopper lives, in upper case: as the event tells, else as its charge does
	ContractID      string    // the plan: likewise
	At              time.Time // when it happened: the event's occurredAt, else receivedAt
	Currency        string
	Amount          decimal.Decimal     // signed, in Currency
	Tax             decimal.NullDecimal // signed part of Amount; null where the sender did not tell
	AmountUSD       decimal.NullDecimal // signed
}

// TransactionState is the state of a reference number.
type TransactionState string

// The closed set of states; the schema checks the same words.
const (
	TransactionAuthorised        TransactionState = "authorised"         // AUTH_ONLY: money is reserved, or a trial began
	TransactionInReview          TransactionState = "in_review"          // a person looks at it
	TransactionPending           TransactionState = "pending"            // accepted, not cleared
	TransactionCharged           TransactionState = "charged"            //
	TransactionPartiallyRefunded TransactionState = "partially_refunded" //
	TransactionRefunded          TransactionState = "refunded"           // nothing refundable is left
	TransactionDisputed          TransactionState = "disputed"           // a dispute is open
	TransactionWon               TransactionState = "won"                // the last dispute was won
	TransactionLost              TransactionState = "lost"               // the last dispute was lost
	TransactionDeclined          TransactionState = "declined"           //
	TransactionIncomplete        TransactionState = "incomplete"         // a reversal is known, its charge has not come in yet
)

// Transaction is what is known of one reference number, folded from all of its events.
type Transaction struct {
	ReferenceNumber       string              `json:"referenceNumber"`
	Test                  bool                `json:"test"`
	State                 TransactionState    `json:"state" enum:"authorised,in_review,pending,charged,partially_refunded,refunded,disputed,won,lost,declined,incomplete"`
	Currency              string              `json:"currency,omitempty"`
	Charged               decimal.Decimal     `json:"charged"`
	Refunded              decimal.Decimal     `json:"refunded"`
	Disputed              decimal.Decimal     `json:"disputed" doc:"Held by open disputes or lost to them"`
	Refundable            decimal.Decimal     `json:"refundable" doc:"The rest that can still be refunded"`
	Tax                   decimal.NullDecimal `json:"tax"`
	TaxRefundable         decimal.NullDecimal `json:"taxRefundable" doc:"The tax part of the rest; null when a partial refund did not tell its tax"`
	ChargedUSD            decimal.NullDecimal `json:"chargedUSD"`
	SubscriptionID        string              `json:"subscriptionId,omitempty"`
	MerchantTransactionID string              `json:"merchantTransactionId,omitempty"`
	AccountID             string              `json:"accountId,omitempty"`
	FirstAt               time.Time           `json:"firstAt"`
	LastAt                time.Time           `json:"lastAt"`
	Events                int                 `json:"events"`
	Attention             []string            `json:"attention,omitempty" doc:"What a person should look at: see docs/ledger.md"`
}

// SubscriptionState is where a subscription stands.
type SubscriptionState string

// The closed set of states; the schema checks the same words.
const (
	SubscriptionTrial     SubscriptionState = "trial"
	SubscriptionActive    SubscriptionState = "active"
	SubscriptionPastDue   SubscriptionState = "past_due"             // the last renewal failed
	SubscriptionEnding    SubscriptionState = "cancel_at_period_end" // runs to its end, then stops
	SubscriptionCancelled SubscriptionState = "cancelled"
	SubscriptionUnknown   SubscriptionState = "unknown" // only news that tell no state
)

// PlanMove is a move of a subscription from one plan to another.
type PlanMove struct {
	At   time.Time `json:"at"`
	From string    `json:"from"`
	To   string    `json:"to"`
}

// SubscriptionBook is what is known of one subscription, folded from all of its events.
type SubscriptionBook struct {
	SubscriptionID string              `json:"subscriptionId"`
	Test           bool                `json:"test"`
	State          SubscriptionState   `json:"state" enum:"trial,active,past_due,cancel_at_period_end,cancelled,unknown"`
	ContractID     string              `json:"contractId,omitempty" doc:"The plan now"`
	PlanMoves      []PlanMove          `json:"planMoves,omitempty"`
	Charges        int                 `json:"charges"`
	Failures       int                 `json:"failures" doc:"Failed renewals since the last charge"`
	LastAmount     decimal.NullDecimal `json:"lastAmount"`
	Currency       string              `json:"currency,omitempty"`
	NextDueAt      *time.Time          `json:"nextDueAt,omitempty" doc:"Next renewal, or the end of the last period paid"`
	StartedAt      time.Time           `json:"startedAt"`
	EndedAt        *time.Time          `json:"endedAt,omitempty"`
	LastAt         time.Time           `json:"lastAt"`
	AccountID      string              `json:"accountId,omitempty"`
	Events         int                 `json:"events"`
	Attention      []string            `json:"attention,omitempty"`
}

// DisputeState is where a dispute stands.
type DisputeState string

// The closed set of states; the schema checks the same words.
const (
	DisputeOpen   DisputeState = "open"
	DisputeWon    DisputeState = "won"
	DisputeLost   DisputeState = "lost"
	DisputeClosed DisputeState = "closed" // expired, or ended without a verdict the sender tells
)

// DisputeStep is one status on a dispute's path.
type DisputeStep struct {
	At     time.Time `json:"at"`
	Status string    `json:"status"`
}

// DisputeBook is what is known of one dispute, folded from all of its events.
type DisputeBook struct {
	ReferenceNumber   string              `json:"referenceNumber"`
	ReversalReference string              `json:"reversalRefNum,omitempty" doc:"The dispute's own number"`
	Test              bool                `json:"test"`
	State             DisputeState        `json:"state" enum:"open,won,lost,closed"`
	Status            string              `json:"status,omitempty" doc:"The sender's last word, cbStatus"`
	Path              []DisputeStep       `json:"path"`
	Amount            decimal.NullDecimal `json:"amount"`
	Currency          string              `json:"currency,omitempty"`
	OpenedAt          time.Time           `json:"openedAt"`
	EndedAt           *time.Time          `json:"endedAt,omitempty"`
	LastAt            time.Time           `json:"lastAt"`
	AgeDays           int                 `json:"ageDays" doc:"Days from the opening until it ended, or until now"`
	EstimatedDeadline *time.Time          `json:"estimatedDeadline,omitempty" doc:"An estimate: the opening plus the days that are set; the sender tells no deadline. Open disputes only"`
	Events            int                 `json:"events"`
}

// Age returns the whole days from the opening of a dispute until it ended, or until now.
func (d *DisputeBook) Age(now time.Time) int {
	if d.EndedAt != nil {
		now = *d.EndedAt
	}
	return max(0, int(now.Sub(d.OpenedAt)/(24*time.Hour)))
}

// Deadline estimates when an open dispute must be answered: so many days after its opening. The sender tells no
// deadline, so it is a reminder and no fact. Nil for a dispute that is over, and when days is not positive.
func (d *DisputeBook) Deadline(days int) *time.Time {
	if d.State != DisputeOpen || days <= 0 {
		return nil
	}
	deadline := d.OpenedAt.AddDate(0, 0, days)
	return &deadline
}

// Total is a sum of movements.
type Total struct {
	Day      string          `json:"day,omitempty" doc:"YYYY-MM-DD in UTC; YYYY-MM where grouped by month"`
	Kind     MovementKind    `json:"kind,omitempty" enum:"charge,recurring,refund,cancellation_refund,chargeback,chargeback_reversal,payout" doc:"Where it is grouped by kind, and of payouts"`
	Currency string          `json:"currency"`
	Test     bool            `json:"test"`
	Count    int64           `json:"count"`
	Amount   decimal.Decimal `json:"amount" doc:"Signed sum"`
	Tax      decimal.Decimal `json:"tax"`
	USD      decimal.Decimal `json:"amountUSD"`
}

// DisputeQuestion asks for a page of disputes: those opened last first, then by reference number and by the dispute's
// own number, both descending; OldestFirst turns all three around.
type DisputeQuestion struct {
	State           DisputeState // "": any
	ReferenceNumber string       // "": any
	Test            bool         // which of the two books
	OldestFirst     bool
	After           *DisputePosition // continue behind this dispute
	Limit           int              // disputes on the page
}

// DisputePosition is a place in the listing of disputes.
type DisputePosition struct {
	OpenedAt          time.Time
	ReferenceNumber   string
	ReversalReference string // "" where the dispute has no number of its own
}

// Position returns where the dispute stands in the listing.
func (d *DisputeBook) Position() DisputePosition {
	return DisputePosition{OpenedAt: d.OpenedAt, ReferenceNumber: d.ReferenceNumber, ReversalReference: d.ReversalReference}
}

// TotalGroup says what the movements of one Total have in common, besides the currency and the book.
type TotalGroup string

// The closed set of groupings. Currencies are never added up, and payouts never with other movements: where the grouping
// is not by kind they are a Total of their own, whose Kind is MovePayout; the others then have an empty Kind.
const (
	TotalsByDay      TotalGroup = "day"
	TotalsByMonth    TotalGroup = "month"
	TotalsByKind     TotalGroup = "transactionType"
	TotalsByCurrency TotalGroup = "currency"
)

// TotalsQuestion asks for sums of movements, ordered by day, kind and currency.
type TotalsQuestion struct {
	From, To time.Time // days in UTC: From inclusive, To exclusive; zero does not restrict
	GroupBy  TotalGroup
	Test     bool // which of the two books
}
