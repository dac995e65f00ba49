package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	params["jit"] = "off" // compiling a plan takes longer than any question here
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
	s := ipn.SubscriptionBook{Test: test}
	err := scanSubscription(r.pool.QueryRow(ctx, "select "+subscriptionColumns+" from subscriptions s where s.subscription_id = $1 and s.test = $2", id, test), &s)
	if err != nil {
		return ipn.SubscriptionBook{}, known(err)
	}
	return s, nil
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
