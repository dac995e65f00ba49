package ledger

import (
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// statuses are the sender's words for where a dispute stands, in upper case, and their order within one minute. An
// expired dispute is over without a verdict: nothing is booked, so the money stays where the opening put it. Of two
// verdicts in one minute the worse one counts.
var statuses = map[string]struct {
	state ipn.DisputeState
	step  int
}{
	"NEW":               {ipn.DisputeOpen, 1},
	"WORKING":           {ipn.DisputeOpen, 2},
	"COMPLETED_PENDING": {ipn.DisputeOpen, 3},
	"CLOSED":            {ipn.DisputeClosed, 4},
	"COMPLETED_WON":     {ipn.DisputeWon, 5},
	"COMPLETED_LOST":    {ipn.DisputeLost, 6},
}

// dispute is one that is being folded.
type dispute struct {
	ipn.DisputeBook
	span
	turned   *entry // the event that brought the present state
	latest   int    // where its last event stands among those of the reference number
	openings int    // events that took the money
	priced   bool   // the amount is an opening's
	followed bool   // news came
	strange  bool   // nothing is known of its last status
}

// foldDisputes returns the disputes of one reference number, in the order of their first events. A dispute is known
// by its reversal number; openings and news without one make a single dispute of the reference number.
func foldDisputes(entries []*entry) []*dispute {
	var disputes []*dispute
	for at, e := range entries {
		if e.part == noPart {
			continue
		}
		d := find(disputes, e.Facts.ReversalReference)
		if d == nil {
			d = newDispute(e)
			disputes = append(disputes, d)
		}
		d.latest = at
		d.add(e)
	}
	return disputes
}

// find returns the dispute of a reversal number, nil when it is new. A charge has one dispute or two: a list is enough.
func find(disputes []*dispute, number string) *dispute {
	for _, d := range disputes {
		if d.ReversalReference == number {
			return d
		}
	}
	return nil
}

// newDispute begins a dispute with whatever event came first in order. It is open until its
// news say otherwise.
func newDispute(e *entry) *dispute {
	d := &dispute{turned: e}
	d.ReferenceNumber, d.ReversalReference, d.Test = e.Facts.ReferenceNumber, e.Facts.ReversalReference, e.Facts.Test
	d.State = ipn.DisputeOpen
	return d
}

// add takes the next event of the dispute.
func (d *dispute) add(e *entry) {
	d.Events++
	d.span.add(e.Stored)
	d.price(e)
	if status := e.Facts.Status; status != "" {
		d.Path = append(d.Path, ipn.DisputeStep{At: when(e.Stored), Status: status})
	}
	d.turn(e)
}

// turn moves the dispute to the state that the event tells. An opening that is dated behind the news of its own dispute
// says nothing new.
func (d *dispute) turn(e *entry) {
	if e.part == opens && d.followed {
		return
	}
	d.followed = d.followed || e.part == follows
	status, known := statuses[e.Facts.Status]
	state := status.state
	switch {
	case known:
	case e.part == resolves:
		state = ipn.DisputeLost
	case e.Facts.Status == "":
		return
	default:
		state = ipn.DisputeOpen
	}
	d.strange = !known && e.part != resolves
	if e.Facts.Status != "" {
		d.Status = e.Facts.Status
	}
	if state != d.State {
		d.State, d.turned = state, e
	}
}

// price takes the amount of the first opening that tells one, else of the first event that does.
func (d *dispute) price(e *entry) {
	opening := e.part != follows
	if opening {
		d.openings++
	}
	if e.unreadable() != "" || d.priced || d.Amount.Valid && !opening {
		return
	}
	d.Amount, d.Currency, d.priced = decimal.NewNullDecimal(e.Facts.Amount.Decimal()), e.Facts.Currency, opening
}

// close returns the finished book. It opened with the earliest event that is known of it, which is its opening unless
// that has not come in.
func (d *dispute) close() ipn.DisputeBook {
	d.OpenedAt, d.LastAt = d.first, d.last
	if d.State != ipn.DisputeOpen {
		ended := when(d.turned.Stored)
		d.EndedAt = &ended
	}
	return d.DisputeBook
}
