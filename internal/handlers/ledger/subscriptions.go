package ledger

import (
	"cmp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// subscription is one that is being folded, event by event in the order in which they happened.
type subscription struct {
	ipn.SubscriptionBook
	span
	renewals    map[renewal]bool
	twice       bool // one renewal seems to be charged twice
	reactivated bool // charged after a cancellation
}

// renewal is what two charges of one period have in common.
type renewal struct {
	until            int64
	amount, currency string
}

// foldSubscription returns the book of one subscription from all events that name it, of any type: refunds, disputes
// and news of its shopper are counted and dated, and change nothing.
func foldSubscription(key Key, entries []*entry) ipn.SubscriptionBook {
	s := new(subscription)
	s.SubscriptionID, s.Test, s.State = key.ID, key.Test, ipn.SubscriptionUnknown
	for _, e := range entries {
		s.Events++
		s.span.add(e.Stored)
		s.AccountID = cmp.Or(s.AccountID, e.Facts.AccountID)
		s.ContractID = cmp.Or(s.ContractID, e.Facts.ContractID)
		if e.subscription != nil {
			e.subscription(s, e)
		}
	}
	s.StartedAt, s.LastAt = s.first, s.last
	s.Attention = remarksOn(s, subscriptionRemarks)
	return s.SubscriptionBook
}

// try begins a trial: an authorisation before anything else is known. Behind a charge it is a card being checked.
func (s *subscription) try(e *entry) {
	if s.State == ipn.SubscriptionUnknown {
		s.State = ipn.SubscriptionTrial
	}
	s.remind(e)
}

// pay makes the subscription active, also one that had ended: the sender charges no subscription that is not alive. An
// undated charge cannot be said to be later than a cancellation.
func (s *subscription) pay(e *entry) {
	s.Charges++
	s.Failures = 0
	s.remember(e)
	s.remind(e)
	s.ContractID = cmp.Or(e.Facts.ContractID, s.ContractID)
	if s.State == ipn.SubscriptionCancelled {
		if e.Facts.OccurredAt.IsZero() {
			return
		}
		s.reactivated, s.EndedAt = true, nil
	}
	s.State = ipn.SubscriptionActive
}

// remember keeps what was charged, and notices when one renewal seems to be charged twice: as CHARGE and as RECURRING,
// or under two reference numbers. Both are counted, because nothing proves that they are one.
func (s *subscription) remember(e *entry) {
	if e.unreadable() != "" {
		return
	}
	amount := e.Facts.Amount.Decimal()
	s.LastAmount, s.Currency = decimal.NewNullDecimal(amount), e.Facts.Currency
	if e.Facts.UntilAt.IsZero() {
		return
	}
	r := renewal{until: e.Facts.UntilAt.Unix(), amount: amount.String(), currency: e.Facts.Currency}
	if s.renewals == nil {
		s.renewals = make(map[renewal]bool)
	}
	s.twice = s.twice || s.renewals[r]
	s.renewals[r] = true
}

// fail counts a renewal that failed. It ends no subscription, and revives none.
func (s *subscription) fail(*entry) {
	s.Failures++
	if s.State != ipn.SubscriptionCancelled && s.State != ipn.SubscriptionEnding {
		s.State = ipn.SubscriptionPastDue
	}
}

// move changes the plan, unless the sender says that the move did not succeed.
func (s *subscription) move(e *entry) {
	if result := e.Facts.Status; result != "" && !strings.EqualFold(result, "SUCCESS") || e.Facts.NewContractID == "" {
		return
	}
	s.PlanMoves = append(s.PlanMoves, ipn.PlanMove{At: when(e.Stored), From: e.Facts.ContractID, To: e.Facts.NewContractID})
	s.ContractID = e.Facts.NewContractID
	s.remind(e)
}

// remind takes the next due date, of which the last one told counts: a change of plan may bring it forward.
func (s *subscription) remind(e *entry) {
	if until := e.Facts.UntilAt; !until.IsZero() {
		s.NextDueAt = &until
	}
}

// end notes that the subscription will not be renewed. A charge that comes all the same makes it active again: see pay.
func (s *subscription) end(e *entry) {
	s.remind(e)
	if s.State != ipn.SubscriptionCancelled {
		s.State = ipn.SubscriptionEnding
	}
}

// cancel ends the subscription; a second cancellation does not end it later.
func (s *subscription) cancel(e *entry) {
	s.remind(e)
	if s.State != ipn.SubscriptionCancelled {
		ended := when(e.Stored)
		s.State, s.EndedAt = ipn.SubscriptionCancelled, &ended
	}
}

// The closed set of remarks on a subscription.
const (
	PossibleDoubleCharge = "possible_double_charge" // two charges with one untilDate, amount and currency; both counted
	Reactivated          = "reactivated"            // charged after it was cancelled
)

// subscriptionRemarks say when each applies.
var subscriptionRemarks = []remark[*subscription]{
	{PossibleDoubleCharge, func(s *subscription) bool { return s.twice }},
	{Reactivated, func(s *subscription) bool { return s.reactivated }},
}
