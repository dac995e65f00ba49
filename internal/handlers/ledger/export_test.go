package ledger

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// Changes is changes, of movements.
func Changes(have, want Books) (gone, come []ipn.Movement, totals []ipn.Total) {
	c := changes(have, want)
	return c.gone, c.booked, c.totals
}
