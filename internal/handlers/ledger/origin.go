package ledger

import (
	"cmp"
	"strings"
)

// origin is where money came from: the place that taxes are told by, and the plan.
type origin struct{ country, state, contract string }

// originOf returns what an event tells of itself. Shops send codes in either letter case: one place has one name here.
// Only ASCII letters are raised, as a code has no others, and the capital of some letters would not fit a column.
func originOf(e *entry) origin {
	return origin{country: raised(e.Facts.Country), state: raised(e.Facts.State), contract: e.Facts.ContractID}
}

// or takes what is missing from another origin. Country and state are of one address: a state is never put to another
// country, so that the tax of a refund that tells its country alone stands where that of its charge does.
func (o origin) or(other origin) origin {
	if o.country == "" && o.state == "" {
		o.country, o.state = other.country, other.state
	} else if o.state == "" && o.country == other.country {
		o.state = other.state
	}
	o.contract = cmp.Or(o.contract, other.contract)
	return o
}

func raised(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}
