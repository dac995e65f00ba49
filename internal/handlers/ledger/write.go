package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The statements take a column per parameter, so that a batch of any size is a handful of statements in one round trip.
// Text that is empty stands for null. A book is written only where it differs, so that a replay leaves no dead rows.
const (
	deleteMovements = `
		delete from movements m using unnest($1::bigint[], $2::smallint[]) as g (event_id, line)
		where m.event_id = g.event_id and m.line = g.line`
	insertMovements = `
		insert into movements (event_id, line, kind, test, reference_number, subscription_id, at, day, currency, amount, tax, amount_usd, country, state, contract_id)
		select m.event_id, m.line, m.kind, m.test, nullif(m.reference_number, ''), nullif(m.subscription_id, ''), m.at, (m.at at time zone 'UTC')::date,
			m.currency, m.amount::numeric, nullif(m.tax, '')::numeric, nullif(m.amount_usd, '')::numeric, nullif(m.country, ''), nullif(m.state, ''), nullif(m.contract_id, '')
		from unnest($1::bigint[], $2::smallint[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::text[],
			$12::text[], $13::text[], $14::text[])
			as m (event_id, line, kind, test, reference_number, subscription_id, at, currency, amount, tax, amount_usd, country, state, contract_id)`

	deleteUnbooked = `
		delete from unbooked u using unnest($1::bigint[], $2::text[]) as g (event_id, reason)
		where u.event_id = g.event_id and u.reason = g.reason`
	insertUnbooked = `
		insert into unbooked (event_id, reason, test, reference_number)
		select u.event_id, u.reason, u.test, nullif(u.reference_number, '')
		from unnest($1::bigint[], $2::text[], $3::boolean[], $4::text[]) as u (event_id, reason, test, reference_number)`

	writeTransactions = `
		insert into transactions (test, reference_number, state, currency, charged, refunded, disputed, refundable, tax, tax_refundable, charged_usd,
			subscription_id, merchant_transaction_id, account_id, first_at, last_at, events, attention)
		select t.test, t.reference_number, t.state, nullif(t.currency, ''), t.charged::numeric, t.refunded::numeric, t.disputed::numeric, t.refundable::numeric,
			nullif(t.tax, '')::numeric, nullif(t.tax_refundable, '')::numeric, nullif(t.charged_usd, '')::numeric,
			nullif(t.subscription_id, ''), nullif(t.merchant_transaction_id, ''), nullif(t.account_id, ''), t.first_at, t.last_at, t.events, nullif(t.attention, '')::jsonb
		from unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
			$12::text[], $13::text[], $14::text[], $15::timestamptz[], $16::timestamptz[], $17::integer[], $18::text[])
			as t (test, reference_number, state, currency, charged, refunded, disputed, refundable, tax, tax_refundable, charged_usd,
			subscription_id, merchant_transaction_id, account_id, first_at, last_at, events, attention)
		on conflict (reference_number, test) do update set
			(state, currency, charged, refunded, disputed, refundable, tax, tax_refundable, charged_usd,
			subscription_id, merchant_transaction_id, account_id, first_at, last_at, events, attention) =
			(excluded.state, excluded.currency, excluded.charged, excluded.refunded, excluded.disputed, excluded.refundable, excluded.tax, excluded.tax_refundable, excluded.charged_usd,
			excluded.subscription_id, excluded.merchant_transaction_id, excluded.account_id, excluded.first_at, excluded.last_at, excluded.events, excluded.attention)
		where transactions.* is distinct from excluded.*`

	writeSubscriptions = `
		insert into subscriptions (test, subscription_id, state, contract_id, plan_moves, charges, failures, last_amount, currency,
			next_due_at, started_at, ended_at, last_at, account_id, events, attention)
		select s.test, s.subscription_id, s.state, nullif(s.contract_id, ''), nullif(s.plan_moves, '')::jsonb, s.charges, s.failures, nullif(s.last_amount, '')::numeric, nullif(s.currency, ''),
			s.next_due_at, s.started_at, s.ended_at, s.last_at, nullif(s.account_id, ''), s.events, nullif(s.attention, '')::jsonb
		from unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[], $8::text[], $9::text[],
			$10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::text[], $15::integer[], $16::text[])
			as s (test, subscription_id, state, contract_id, plan_moves, charges, failures, last_amount, currency,
			next_due_at, started_at, ended_at, last_at, account_id, events, attention)
		on conflict (subscription_id, test) do update set
			(state, contract_id, plan_moves, charges, failures, last_amount, currency, next_due_at, started_at, ended_at, last_at, account_id, events, attention) =
			(excluded.state, excluded.contract_id, excluded.plan_moves, excluded.charges, excluded.failures, excluded.last_amount, excluded.currency,
			excluded.next_due_at, excluded.started_at, excluded.ended_at, excluded.last_at, excluded.account_id, excluded.events, excluded.attention)
		where subscriptions.* is distinct from excluded.*`

	writeDisputes = `
		insert into disputes (test, reference_number, reversal_reference, state, status, path, amount, currency, opened_at, ended_at, last_at, events)
		select d.test, d.reference_number, d.reversal_reference, d.state, nullif(d.status, ''), d.path::jsonb, nullif(d.amount, '')::numeric, nullif(d.currency, ''),
			d.opened_at, d.ended_at, d.last_at, d.events
		from unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::integer[])
			as d (test, reference_number, reversal_reference, state, status, path, amount, currency, opened_at, ended_at, last_at, events)
		on conflict (reference_number, reversal_reference, test) do update set
			(state, status, path, amount, currency, opened_at, ended_at, last_at, events) =
			(excluded.state, excluded.status, excluded.path, excluded.amount, excluded.currency, excluded.opened_at, excluded.ended_at, excluded.last_at, excluded.events)
		where disputes.* is distinct from excluded.*`
	// deleteDisputes takes all disputes of some transactions but those that are named.
	deleteDisputes = `
		delete from disputes d using unnest($1::text[], $2::boolean[]) as g (reference_number, test)
		where d.reference_number = g.reference_number and d.test = g.test and not exists (
			select from unnest($3::text[], $4::text[], $5::boolean[]) as k (reference_number, reversal_reference, test)
			where k.reference_number = d.reference_number and k.reversal_reference = d.reversal_reference and k.test = d.test)`

	// The totals are written in this order: a row that comes to nothing goes, one that stands grows, what is new comes.
	deleteTotals = `
		delete from daily_totals t using unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::bigint[]) as g (test, day, kind, currency, n)
		where t.test = g.test and t.day = g.day::date and t.kind = g.kind and t.currency = g.currency and t.n + g.n = 0`
	updateTotals = `
		update daily_totals t set n = t.n + g.n, amount = t.amount + g.amount::numeric, tax = t.tax + g.tax::numeric, amount_usd = t.amount_usd + g.amount_usd::numeric
		from unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[]) as g (test, day, kind, currency, n, amount, tax, amount_usd)
		where t.test = g.test and t.day = g.day::date and t.kind = g.kind and t.currency = g.currency`
	insertTotals = `
		insert into daily_totals (test, day, kind, currency, n, amount, tax, amount_usd)
		select g.test, g.day::date, g.kind, g.currency, g.n, g.amount::numeric, g.tax::numeric, g.amount_usd::numeric
		from unnest($1::boolean[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[]) as g (test, day, kind, currency, n, amount, tax, amount_usd)
		where g.n > 0 and not exists (select from daily_totals t where t.test = g.test and t.day = g.day::date and t.kind = g.kind and t.currency = g.currency)`
)

// write brings the tables to what the batch comes to, in one round trip. before is the old reach: only transactions
// that have events up to there can have disputes that no longer follow.
func (t *touched) write(ctx context.Context, tx pgx.Tx, want Books, c change, before int64) error {
	batch := &pgx.Batch{}
	c.queue(batch)
	t.queueStaleDisputes(batch, want.Disputes, before)
	queueTransactions(batch, want.Transactions)
	queueSubscriptions(batch, want.Subscriptions)
	queueDisputes(batch, want.Disputes)
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, batch).Close()
}

// queue adds the statements about money.
func (c change) queue(batch *pgx.Batch) {
	if m := c.gone; len(m) > 0 {
		batch.Queue(deleteMovements, column(m, func(m *ipn.Movement) int64 { return m.EventID }), column(m, lineNumber))
	}
	if m := c.booked; len(m) > 0 {
		batch.Queue(insertMovements,
			column(m, func(m *ipn.Movement) int64 { return m.EventID }), column(m, lineNumber),
			column(m, func(m *ipn.Movement) string { return string(m.Kind) }), column(m, func(m *ipn.Movement) bool { return m.Test }),
			column(m, func(m *ipn.Movement) string { return m.ReferenceNumber }), column(m, func(m *ipn.Movement) string { return m.SubscriptionID }),
			column(m, func(m *ipn.Movement) time.Time { return m.At }), column(m, func(m *ipn.Movement) string { return m.Currency }),
			column(m, func(m *ipn.Movement) string { return ipn.Digits(m.Amount) }), column(m, func(m *ipn.Movement) string { return digitsOrNull(m.Tax) }),
			column(m, func(m *ipn.Movement) string { return digitsOrNull(m.AmountUSD) }), column(m, func(m *ipn.Movement) string { return m.Country }),
			column(m, func(m *ipn.Movement) string { return m.State }), column(m, func(m *ipn.Movement) string { return m.ContractID }))
	}
	eventID, reason := func(u *ipn.Unbooked) int64 { return u.EventID }, func(u *ipn.Unbooked) string { return string(u.Reason) }
	if u := c.settled; len(u) > 0 {
		batch.Queue(deleteUnbooked, column(u, eventID), column(u, reason))
	}
	if u := c.left; len(u) > 0 {
		batch.Queue(insertUnbooked, column(u, eventID), column(u, reason),
			column(u, func(u *ipn.Unbooked) bool { return u.Test }), column(u, func(u *ipn.Unbooked) string { return u.ReferenceNumber }))
	}
	queueTotals(batch, c.totals)
	c.queueDeclines(batch)
}

func lineNumber(m *ipn.Movement) int16 { return int16(m.Line) }

func queueTotals(batch *pgx.Batch, totals []ipn.Total) {
	if len(totals) == 0 {
		return
	}
	row := []any{
		column(totals, func(t *ipn.Total) bool { return t.Test }), column(totals, func(t *ipn.Total) string { return t.Day }),
		column(totals, func(t *ipn.Total) string { return string(t.Kind) }), column(totals, func(t *ipn.Total) string { return t.Currency }),
		column(totals, func(t *ipn.Total) int64 { return t.Count }),
	}
	sums := append(row[:len(row):len(row)],
		column(totals, func(t *ipn.Total) string { return ipn.Digits(t.Amount) }), column(totals, func(t *ipn.Total) string { return ipn.Digits(t.Tax) }),
		column(totals, func(t *ipn.Total) string { return ipn.Digits(t.USD) }))
	batch.Queue(deleteTotals, row...)
	batch.Queue(updateTotals, sums...)
	batch.Queue(insertTotals, sums...)
}

// queueStaleDisputes takes away what transactions that were folded before have as disputes no more. Transactions and
// subscriptions never go: a key that has events has its book.
func (t *touched) queueStaleDisputes(batch *pgx.Batch, disputes []ipn.DisputeBook, before int64) {
	folded := make(map[Key]bool)
	for i := range t.events {
		e := &t.events[i]
		if key, ok := TransactionKey(e); ok && e.ID <= before && t.transactions[key] {
			folded[key] = true
		}
	}
	if len(folded) == 0 {
		return
	}
	ids, test := split(folded)
	batch.Queue(deleteDisputes, ids, test,
		column(disputes, func(d *ipn.DisputeBook) string { return d.ReferenceNumber }),
		column(disputes, func(d *ipn.DisputeBook) string { return d.ReversalReference }),
		column(disputes, func(d *ipn.DisputeBook) bool { return d.Test }))
}

// column is one field of all rows.
func column[T, V any](rows []T, of func(*T) V) []V {
	values := make([]V, len(rows))
	for i := range rows {
		values[i] = of(&rows[i])
	}
	return values
}

func digitsOrNull(d decimal.NullDecimal) string {
	if !d.Valid {
		return ""
	}
	return ipn.Digits(d.Decimal)
}

// jsonOrNull writes a list, "" for an empty one. The lists of the books hold texts and times, which JSON always can.
func jsonOrNull[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	text, _ := json.Marshal(list)
	return string(text)
}
