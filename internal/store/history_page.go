package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// references are the columns that q.Text may stand in. Each has an index.
var references = []string{
	"e.reference_number", "e.original_reference", "e.reversal_reference", "e.subscription_id", "e.merchant_transaction_id", "e.account_id",
}

// placeOf returns the time that a listing goes by.
func placeOf(by ipn.ListOrder) string {
	if by == ipn.ByReceived {
		return "e.received_at"
	}
	return "e.sorted_at"
}

// noColumn makes a time of one that is stored: the same, but nothing that the planner knows an order of. So it takes the
// narrowest way to what matches and sorts that, and does not walk a list in its order and wait for matches to come.
const noColumn = " + interval '0'"

// paged is a query for the ids of a page, newest first, and its parameters.
type paged struct {
	query string
	args  []any
}

// pages returns the queries for a page: the first whose answer is full has it, else the last.
func pages(q ipn.Question) []paged {
	if ranged(&q) && q.Text == "" && !crossed(&q) {
		return []paged{near(q), far(q)}
	}
	return []paged{far(q)}
}

// window is how many events of a list are looked at one by one before all that match are sorted.
const window = 4000

// near looks for amounts of a range among the newest events. Nothing tells the planner whether they still occur, nor whether
// they occur in a currency; without this look it would have to guess.
func near(q ipn.Question) paged {
	bare := q
	bare.AmountFrom, bare.AmountTo = decimal.NullDecimal{}, decimal.NullDecimal{}
	r := restrict(bare)
	others := len(r.clauses)
	r.amounts(q)
	place := placeOf(q.Order)
	query := fmt.Sprintf("select e.id, at from (select e.id, e.amount, %[1]s as at from events e %[2]s order by %[1]s desc, e.id desc limit %[3]d) as e %[4]s order by at desc, e.id desc limit %[5]s",
		place, whereAll(r.clauses[:others]), window, whereAll(r.clauses[others:]), r.next(max(q.Limit, 1)))
	return paged{query, r.args}
}

// far goes through all events.
func far(q ipn.Question) paged {
	text := q.Text
	q.Text = ""
	r := restrict(q)
	place := placeOf(q.Order)
	if ranged(&q) || crossed(&q) {
		place += noColumn
	}
	limit := r.next(max(q.Limit, 1))
	if text == "" {
		return paged{listing(place, r.clauses, limit), r.args}
	}
	return paged{eachReference(place, r.clauses, r.next(text), limit), r.args}
}

// next adds a parameter and returns its name.
func (r *restriction) next(value any) string {
	r.args = append(r.args, value)
	return fmt.Sprintf("$%d", len(r.args))
}

// listing is the beginning of the list of what is restricted by clauses.
func listing(place string, clauses []string, limit string) string {
	return fmt.Sprintf("select e.id, %s as at from events e %s order by 2 desc, 1 desc limit %s", place, whereAll(clauses), limit)
}

// eachReference looks for a text in each column by itself, and puts the newest of each together: so each column's index is
// walked, and no further than the page is long.
func eachReference(place string, clauses []string, text, limit string) string {
	each := make([]string, len(references))
	for i, column := range references {
		each[i] = "(" + listing(place, append(slices.Clone(clauses), column+" = "+text), limit) + ")"
	}
	return fmt.Sprintf("%s order by 2 desc, 1 desc limit %s", strings.Join(each, " union "), limit)
}

// ranged tells whether amounts of a range are asked for, and not one amount.
func ranged(q *ipn.Question) bool {
	if !q.AmountFrom.Valid && !q.AmountTo.Valid {
		return false
	}
	return !q.AmountFrom.Valid || !q.AmountTo.Valid || !q.AmountFrom.Decimal.Equal(q.AmountTo.Decimal)
}

// crossed tells whether a listing by one time is restricted by the other. The two go together so closely that a walk of the
// one from its newest end would find nothing until it came to the range of the other, and no statistics tell the planner.
func crossed(q *ipn.Question) bool {
	if q.Order == ipn.ByReceived {
		return !q.From.IsZero() || !q.To.IsZero()
	}
	return !q.ReceivedFrom.IsZero() || !q.ReceivedTo.IsZero()
}
