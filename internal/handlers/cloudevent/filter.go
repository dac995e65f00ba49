package cloudevent

import (
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Orders says whether a target hears of live orders, of test orders, or of both.
type Orders string

// The closed set of Orders. The zero value means LiveOrders: a test order must never book a licence by mistake.
const (
	LiveOrders Orders = "live"
	TestOrders Orders = "test"
	AllOrders  Orders = "both"
)

// Filter says which events a target gets. Every condition that is set must hold; the zero Filter lets all live events
// pass.
type Filter struct {
	// Types and Families are one condition: the event's type is among the former, or its family among the latter.
	Types    []string // canonical names
	Families []ipn.Family
	// Currencies in upper case. Events without a currency do not pass when it is set.
	Currencies []string
	// MinAmount and MaxAmount bound the event's magnitude in whatever currency it has, both inclusive. Events without
	// an amount do not pass when one is set.
	MinAmount, MaxAmount ipn.Money
	Orders               Orders
}

// Wants tells whether an event passes.
func (f Filter) Wants(e *ipn.Stored) bool {
	return f.wantsOrders(e.Facts.Test) && f.wantsType(e) && f.wantsAmount(&e.Facts) &&
		(len(f.Currencies) == 0 || slices.Contains(f.Currencies, e.Facts.Currency))
}

func (f Filter) wantsOrders(test bool) bool {
	switch f.Orders {
	case AllOrders:
		return true
	case TestOrders:
		return test
	default:
		return !test
	}
}

// wantsType looks the type up anew, so that an event stored before its type was known passes by its family today.
func (f Filter) wantsType(e *ipn.Stored) bool {
	if len(f.Types) == 0 && len(f.Families) == 0 {
		return true
	}
	kind, _ := ipn.LookupType(e.Facts.TransactionType)
	return kind.Known() && slices.Contains(f.Types, kind.Name) || slices.Contains(f.Families, FamilyOf(e))
}

func (f Filter) wantsAmount(facts *ipn.Facts) bool {
	if f.MinAmount.IsZero() && f.MaxAmount.IsZero() {
		return true
	}
	if facts.Amount.IsZero() {
		return false
	}
	amount := facts.Amount.Abs().Decimal()
	return (f.MinAmount.IsZero() || amount.GreaterThanOrEqual(f.MinAmount.Decimal())) &&
		(f.MaxAmount.IsZero() || amount.LessThanOrEqual(f.MaxAmount.Decimal()))
}
