package store

import (
	"fmt"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// restriction is a where clause in the making, beside its parameters.
type restriction struct {
	clauses []string
	args    []any
}

// add appends a clause, a constant of this room, in which each question mark stands for one of values.
func (r *restriction) add(clause string, values ...any) {
	for _, v := range values {
		r.args = append(r.args, v)
		clause = strings.Replace(clause, "?", fmt.Sprintf("$%d", len(r.args)), 1)
	}
	r.clauses = append(r.clauses, clause)
}

func (r *restriction) where() string { return whereAll(r.clauses) }

func whereAll(clauses []string) string {
	if len(clauses) == 0 {
		return ""
	}
	return "where " + strings.Join(clauses, " and ")
}

// restrict names the events e that a Question is about. Their column names stand here and nowhere else: no text of a caller
// becomes SQL.
func restrict(q ipn.Question) *restriction {
	r := &restriction{}
	for _, c := range []struct{ column, value string }{
		{"transaction_type", q.TransactionType},
		{"reference_number", q.ReferenceNumber},
		{"original_reference", q.OriginalReference},
		{"subscription_id", q.SubscriptionID},
		{"merchant_transaction_id", q.MerchantTransactionID},
		{"account_id", q.AccountID},
		{"vendor_id", q.VendorID},
		{"currency", q.Currency},
		{"status", q.Status},
	} {
		if c.value != "" {
			r.add("e."+c.column+" = ?", c.value)
		}
	}
	r.amounts(q)
	r.times(q)
	r.choose(q.Test, "e.test", "not e.test")
	r.choose(q.Problems, "e.problems <> '[]'", "e.problems = '[]'")
	r.choose(q.Variants, "e.varied", "not e.varied")
	r.choose(q.Parked, "e.id in (select event_id from parked)", "not exists (select from parked k where k.event_id = e.id)")
	if q.Text != "" {
		r.add("e.id in ("+anyReference+")", q.Text)
	}
	if len(q.People) > 0 {
		tokens := make([][]byte, len(q.People))
		for i := range q.People {
			tokens[i] = q.People[i][:]
		}
		r.add("e.id in (select event_id from people where token = any(?))", tokens)
	}
	if q.After != nil && q.Order == ipn.ByReceived {
		r.add("(e.received_at, e.id) < (?, ?)", q.After.At, q.After.ID)
	} else if q.After != nil {
		r.add("(e.sorted_at, e.id) < (?, ?)", q.After.At, q.After.ID)
	}
	return r
}

// amounts writes one amount as one, which an index answers in the order of the list.
func (r *restriction) amounts(q ipn.Question) {
	if !ranged(&q) && q.AmountFrom.Valid {
		r.add("e.amount = ?::numeric", q.AmountFrom.Decimal.String())
		return
	}
	if q.AmountFrom.Valid {
		r.add("e.amount >= ?::numeric", q.AmountFrom.Decimal.String())
	}
	if q.AmountTo.Valid {
		r.add("e.amount <= ?::numeric", q.AmountTo.Decimal.String())
	}
}

func (r *restriction) times(q ipn.Question) {
	if !q.From.IsZero() {
		r.add("e.sorted_at >= ?", q.From)
	}
	if !q.To.IsZero() {
		r.add("e.sorted_at < ?", q.To)
	}
	if !q.ReceivedFrom.IsZero() {
		r.add("e.received_at >= ?", q.ReceivedFrom)
	}
	if !q.ReceivedTo.IsZero() {
		r.add("e.received_at < ?", q.ReceivedTo)
	}
}

// choose adds the clause for yes or for no, written out: a value behind a parameter is none that a partial index is for.
func (r *restriction) choose(choice *bool, yes, no string) {
	switch {
	case choice == nil:
	case *choice:
		r.add(yes)
	default:
		r.add(no)
	}
}

// anyReference finds events by a number somebody has at hand, whichever of the indexed references it is.
const anyReference = `
	with wanted as (select ?::text as text)
	select id from events, wanted where reference_number = text
	union select id from events, wanted where original_reference = text
	union select id from events, wanted where reversal_reference = text
	union select id from events, wanted where subscription_id = text
	union select id from events, wanted where merchant_transaction_id = text
	union select id from events, wanted where account_id = text`
