package ledger

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// LoadOthers is the statement that reads what a batch does not hold of its own stories.
const LoadOthers = loadOthers

// Changes is changes, of movements.
func Changes(have, want Books) (gone, come []ipn.Movement, totals []ipn.Total) {
	c := changes(have, want)
	return c.gone, c.booked, c.totals
}
