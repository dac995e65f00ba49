package ipn

import (
	"time"

	"github.com/shopspring/decimal"
)

// Span asks about a span of days in one of the two books.
type Span struct {
	From, To time.Time // days in UTC: From inclusive, To exclusive; zero does not restrict
	Test     bool      // which of the two books
}

// Balance is what a span of days came to in one currency. Charges less Refunds less Disputed is Net; what was paid out of it
// leaves Rest, which the IPNs do not explain: fees, reserves, and what is still to be paid out.
type Balance struct {
	Currency string          `json:"currency"`
	Charges  decimal.Decimal `json:"charges"`
	Refunds  decimal.Decimal `json:"refunds"`
	Disputed decimal.Decimal `json:"disputed" doc:"Taken by disputes, less what won disputes gave back"`
	Net      decimal.Decimal `json:"net" doc:"charges - refunds - disputed"`
	Payouts  decimal.Decimal `json:"payouts" doc:"Paid to the bank"`
	Rest     decimal.Decimal `json:"rest" doc:"net - payouts: what no IPN explains, such as fees, reserves and what is not paid out yet"`
}

// TaxTotal is the tax of one country and state in one currency.
type TaxTotal struct {
	Country   string          `json:"country,omitempty" doc:"In upper case; absent where the sender gave none"`
	State     string          `json:"state,omitempty" doc:"In upper case, as far as the sender gave one"`
	Currency  string          `json:"currency"`
	Charged   decimal.Decimal `json:"charged" doc:"Charges, tax included"`
	Collected decimal.Decimal `json:"collected" doc:"Tax within charged"`
	Reversed  decimal.Decimal `json:"reversed" doc:"Refunds and disputes, tax included"`
	Refunded  decimal.Decimal `json:"refunded" doc:"Tax within reversed, as far as it was told"`
	Untold    int64           `json:"untold" doc:"Refunds and disputes whose tax the sender did not tell"`
}

// ContractTotal is what one plan came to in one currency.
type ContractTotal struct {
	ContractID string          `json:"contractId" doc:"Empty for movements whose event named no plan"`
	Currency   string          `json:"currency"`
	Charges    int64           `json:"charges" doc:"How many"`
	Charged    decimal.Decimal `json:"charged"`
	Reversed   decimal.Decimal `json:"reversed" doc:"Refunds and disputes, a magnitude"`
	USD        decimal.Decimal `json:"amountUSD" doc:"Charged less reversed in US dollars, as far as that was told: what the list is ordered by"`
}

// Rates are how often things went wrong. A rate is a share of 0 to 1 with four decimals, absent where there is nothing to divide by.
type Rates struct {
	Charges        int64               `json:"charges" doc:"Charges and renewals that went well"`
	Declines       int64               `json:"declines" doc:"Payments and renewals that failed"`
	Chargebacks    int64               `json:"chargebacks"`
	Refunds        int64               `json:"refunds"`
	DeclineRate    decimal.NullDecimal `json:"declineRate" doc:"declines / (charges + declines)"`
	ChargebackRate decimal.NullDecimal `json:"chargebackRate" doc:"chargebacks / charges"`
	RefundRate     decimal.NullDecimal `json:"refundRate" doc:"refunds / charges"`
}

// MovementQuestion asks for a page of movements: the latest first, then by event and by line, both descending.
type MovementQuestion struct {
	Span
	Kind  MovementKind      // "": any
	After *MovementPosition // continue behind this movement
	Limit int
}

// MovementPosition is a place in the listing of movements.
type MovementPosition struct {
	At      time.Time
	EventID int64
	Line    int
}

// Position returns where the movement stands in the listing.
func (m *Movement) Position() MovementPosition {
	return MovementPosition{At: m.At, EventID: m.EventID, Line: m.Line}
}

// SubscriptionQuestion asks for a page of subscriptions: those due next first, then those that tell no due date; by id
// between equals.
type SubscriptionQuestion struct {
	State  SubscriptionState // "": any
	AtRisk bool              // only those that may be lost: past due, ending, or with something to look at
	Test   bool
	After  *SubscriptionPosition
	Limit  int
}

// SubscriptionPosition is a place in the listing of subscriptions.
type SubscriptionPosition struct {
	NextDueAt *time.Time // nil: behind all that tell one
	ID        string
}

// Position returns where the subscription stands in the listing.
func (s *SubscriptionBook) Position() SubscriptionPosition {
	return SubscriptionPosition{NextDueAt: s.NextDueAt, ID: s.SubscriptionID}
}

// DisputeAge says how long a dispute has been open.
type DisputeAge string

// The closed set of ages.
const (
	DisputeUnderOneWeek  DisputeAge = "under_one_week"
	DisputeUnderTwoWeeks DisputeAge = "under_two_weeks"
	DisputeOlder         DisputeAge = "older"
)

// DisputeAges returns every age, the youngest first.
func DisputeAges() []DisputeAge {
	return []DisputeAge{DisputeUnderOneWeek, DisputeUnderTwoWeeks, DisputeOlder}
}

// DisputeAgesQuestion asks what is disputed, and for how long it has been.
type DisputeAgesQuestion struct {
	Now  time.Time
	Days int  // from the opening to the estimated deadline; 0: none is estimated
	Test bool // which of the two books
}

// DisputeAgeTotal is a sum of open disputes of one age and currency, on one side of their estimated deadline.
type DisputeAgeTotal struct {
	Age          DisputeAge
	PastDeadline bool
	Currency     string // "" where no amount was told
	Count        int64
	Amount       decimal.Decimal
}
