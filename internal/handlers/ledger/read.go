package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Reader answers from the books, over connections of its own. All methods fail with ipn.ErrUnavailable while the
// database is away.
type Reader struct{ pool *pgxpool.Pool }

// OpenReader prepares a Reader with at most connections connections, each question bounded by five seconds. It connects
// lazily, so it succeeds while the database is away; it fails only on a DSN that cannot be read.
func OpenReader(ctx context.Context, dsn string, connections int) (*Reader, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	config.MaxConns = int32(max(connections, 1))
	config.ConnConfig.ConnectTimeout = 2 * time.Second
	params := config.ConnConfig.RuntimeParams
	params["application_name"] = "ipn-receiver books"
	params["search_path"] = "public"
	params["default_transaction_read_only"] = "on"
	params["statement_timeout"] = "5000"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the pool of the books: %w", err)
	}
	return &Reader{pool: pool}, nil
}

// Close closes every connection, after those in use were given back.
func (r *Reader) Close() { r.pool.Close() }

// Transaction returns what is known of a reference number in the live books or in those of test orders, or
// ipn.ErrNotFound.
func (r *Reader) Transaction(ctx context.Context, reference string, test bool) (ipn.Transaction, error) {
	t := ipn.Transaction{ReferenceNumber: reference, Test: test}
	err := r.pool.QueryRow(ctx, `
		select state, coalesce(currency, ''), charged::text, refunded::text, disputed::text, refundable::text, tax::text, tax_refundable::text, charged_usd::text,
			coalesce(subscription_id, ''), coalesce(merchant_transaction_id, ''), coalesce(account_id, ''), first_at, last_at, events, attention
		from transactions where reference_number = $1 and test = $2`, reference, test).Scan(
		&t.State, &t.Currency, &t.Charged, &t.Refunded, &t.Disputed, &t.Refundable, &t.Tax, &t.TaxRefundable, &t.ChargedUSD,
		&t.SubscriptionID, &t.MerchantTransactionID, &t.AccountID, &t.FirstAt, &t.LastAt, &t.Events, &t.Attention)
	t.FirstAt, t.LastAt = t.FirstAt.UTC(), t.LastAt.UTC()
	return t, known(err)
}

// Subscription returns what is known of a subscription in the live books or in those of test orders, or
// ipn.ErrNotFound.
func (r *Reader) Subscription(ctx context.Context, id string, test bool) (ipn.SubscriptionBook, error) {
	s := ipn.SubscriptionBook{SubscriptionID: id, Test: test}
	err := r.pool.QueryRow(ctx, `
		select state, coalesce(contract_id, ''), plan_moves, charges, failures, last_amount::text, coalesce(currency, ''),
			next_due_at, started_at, ended_at, last_at, coalesce(account_id, ''), events, attention
		from subscriptions where subscription_id = $1 and test = $2`, id, test).Scan(
		&s.State, &s.ContractID, &s.PlanMoves, &s.Charges, &s.Failures, &s.LastAmount, &s.Currency,
		&s.NextDueAt, &s.StartedAt, &s.EndedAt, &s.LastAt, &s.AccountID, &s.Events, &s.Attention)
	s.StartedAt, s.LastAt = s.StartedAt.UTC(), s.LastAt.UTC()
	s.NextDueAt, s.EndedAt = inUTC(s.NextDueAt), inUTC(s.EndedAt)
	return s, known(err)
}

// Disputes returns at most q.Limit disputes. AgeDays and EstimatedDeadline, which change with the clock, are left to the
// caller: Age and Deadline.
func (r *Reader) Disputes(ctx context.Context, q ipn.DisputeQuestion) ([]ipn.DisputeBook, error) {
	after := ipn.DisputePosition{}
	opened := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true} // in front of all
	if q.After != nil {
		after = *q.After
		opened = pgtype.Timestamptz{Time: after.OpenedAt, Valid: true}
	}
	rows, err := r.pool.Query(ctx, `
		select test, reference_number, reversal_reference, state, coalesce(status, ''), path, amount::text, coalesce(currency, ''), opened_at, ended_at, last_at, events
		from disputes where test = $1 and ($2 = '' or state = $2) and (opened_at, reference_number, reversal_reference) < ($3, $4, $5)
		order by opened_at desc, reference_number desc, reversal_reference desc limit $6`,
		q.Test, string(q.State), opened, after.ReferenceNumber, after.ReversalReference, max(q.Limit, 1))
	if err != nil {
		return nil, known(err)
	}
	disputes, err := pgx.CollectRows(rows, readDispute)
	return disputes, known(err)
}

func readDispute(row pgx.CollectableRow) (ipn.DisputeBook, error) {
	var d ipn.DisputeBook
	err := row.Scan(&d.Test, &d.ReferenceNumber, &d.ReversalReference, &d.State, &d.Status, &d.Path, &d.Amount, &d.Currency, &d.OpenedAt, &d.EndedAt, &d.LastAt, &d.Events)
	d.OpenedAt, d.LastAt, d.EndedAt = d.OpenedAt.UTC(), d.LastAt.UTC(), inUTC(d.EndedAt)
	return d, err
}

// Unbooked returns at most q.Limit notes of money that is not booked. An event that the log lost would still be listed,
// with its number alone: what is not booked must never drop out of sight.
func (r *Reader) Unbooked(ctx context.Context, q ipn.UnbookedQuestion) ([]ipn.UnbookedEvent, error) {
	after := ipn.UnbookedPosition{EventID: math.MaxInt64} // in front of all
	if q.After != nil {
		after = *q.After
	}
	rows, err := r.pool.Query(ctx, `
		select u.event_id, u.reason, u.test, coalesce(u.reference_number, e.reference_number, ''), coalesce(e.transaction_type, '')
		from unbooked u left join events e on e.id = u.event_id
		where u.test = $1 and ($2 = '' or u.reason = $2) and (u.event_id, u.reason) < ($3, $4)
		order by u.event_id desc, u.reason desc limit $5`,
		q.Test, string(q.Reason), after.EventID, string(after.Reason), max(q.Limit, 1))
	if err != nil {
		return nil, known(err)
	}
	notes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u ipn.UnbookedEvent, err error) {
		err = row.Scan(&u.EventID, &u.Reason, &u.Test, &u.ReferenceNumber, &u.TransactionType)
		return u, err
	})
	return notes, known(err)
}

// Totals returns the sums of movements that q asks for, ordered by day, kind and currency. An unknown grouping is that
// by currency, which all have in common.
func (r *Reader) Totals(ctx context.Context, q ipn.TotalsQuestion) ([]ipn.Total, error) {
	rows, err := r.pool.Query(ctx, `
		select case $4 when 'day' then to_char(day, 'YYYY-MM-DD') when 'month' then to_char(day, 'YYYY-MM') else '' end,
			case when $4 = 'transactionType' or kind = 'payout' then kind else '' end,
			currency, sum(n)::bigint, sum(amount)::text, sum(tax)::text, sum(amount_usd)::text
		from daily_totals where test = $1 and ($2::date is null or day >= $2) and ($3::date is null or day < $3)
		group by 1, 2, 3 order by 1, 2, 3`, q.Test, dayOf(q.From), dayOf(q.To), string(q.GroupBy))
	if err != nil {
		return nil, known(err)
	}
	totals, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ipn.Total, error) {
		t := ipn.Total{Test: q.Test}
		err := row.Scan(&t.Day, &t.Kind, &t.Currency, &t.Count, &t.Amount, &t.Tax, &t.USD)
		return t, err
	})
	return totals, known(err)
}

// dayOf returns the day of an instant in UTC; null for the zero time, which does not restrict.
func dayOf(t time.Time) pgtype.Date {
	return pgtype.Date{Time: t.UTC(), Valid: !t.IsZero()}
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// known turns any error of a question into one of those that a Reader promises.
func known(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return ipn.ErrNotFound
	}
	return unavailable(err)
}

// unavailable tells no more than a SQLSTATE: the server's own messages quote values.
func unavailable(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fmt.Errorf("%w: SQLSTATE %s", ipn.ErrUnavailable, pg.Code)
	}
	return fmt.Errorf("%w: the books do not answer", ipn.ErrUnavailable)
}
