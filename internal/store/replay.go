package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ReplayHandler lets a handler see events again. All and Since set its cursor back, never forward, and drop the failures
// behind the new place, which it meets again anyway. Matching leaves the cursor and parks the events as due now, with
// all their attempts. Who leads the handler is fenced. A dry run counts by the same conditions, changes nothing and
// leaves no entry in the audit. It fails with ipn.ErrNotFound or ipn.ErrUnavailable.
func (s *Store) ReplayHandler(ctx context.Context, r ipn.Replay, act ipn.Act) (ipn.Replayed, error) {
	if ways := [...]bool{r.All, !r.Since.IsZero(), r.Matching != nil}; countTrue(ways[:]) != 1 {
		return ipn.Replayed{}, errWhich
	}
	came := replayed{Replayed: ipn.Replayed{DryRun: r.DryRun}}
	do := func(tx pgx.Tx) (any, error) { return &came, came.replay(ctx, tx, &r) }
	var err error
	if r.DryRun {
		err = s.patiently(ctx, func(tx pgx.Tx) error { _, err := do(tx); return err })
	} else {
		err = s.act(ctx, "replay", r.Handler, act, do)
	}
	if err != nil {
		return ipn.Replayed{}, err
	}
	return came.Replayed, nil
}

var errWhich = errors.New("a replay is of all, since a time, or of what matches: exactly one of these")

func countTrue(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// replayed is what a replay came to, as the audit keeps it.
type replayed struct {
	ipn.Replayed
	Before   int64      `json:"positionBefore"`
	All      bool       `json:"all,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Matching *asked     `json:"matching,omitempty"`
}

// asked is a Question as the audit keeps it: of what may be personal, only that it was asked for.
type asked struct {
	TransactionType       string     `json:"transactionType,omitempty"`
	ReferenceNumber       string     `json:"referenceNumber,omitempty"`
	SubscriptionID        string     `json:"subscriptionId,omitempty"`
	MerchantTransactionID string     `json:"merchantTransactionId,omitempty"`
	Currency              string     `json:"currency,omitempty"`
	From                  *time.Time `json:"from,omitempty"`
	To                    *time.Time `json:"to,omitempty"`
	Test                  *bool      `json:"test,omitempty"`
	ByAccount             bool       `json:"byAccount,omitempty"`
	ByText                bool       `json:"byText,omitempty"`
}

func newAsked(q *ipn.Question) *asked {
	return &asked{
		TransactionType: q.TransactionType, ReferenceNumber: q.ReferenceNumber, SubscriptionID: q.SubscriptionID,
		MerchantTransactionID: q.MerchantTransactionID, Currency: q.Currency, From: timeOrNull(q.From), To: timeOrNull(q.To),
		Test: q.Test, ByAccount: q.AccountID != "", ByText: q.Text != "",
	}
}

// replay looks for the events first and takes the lock that settlements take too only to write: a look at the whole log may
// take a minute, and a leader must not be held up for so long.
func (came *replayed) replay(ctx context.Context, tx pgx.Tx, r *ipn.Replay) error {
	if err := tx.QueryRow(ctx, "select position from handler_cursors where handler = $1", r.Handler).Scan(&came.Before); err != nil {
		return err
	}
	came.Position = came.Before
	if r.Matching != nil {
		came.Matching = newAsked(r.Matching)
		return came.park(ctx, tx, r)
	}
	came.All, came.Since = r.All, timeOrNull(r.Since)
	return came.setBack(ctx, tx, r)
}

// fence keeps the leader from settling until the transaction ends, and lets it notice then. It returns the cursor.
func fence(ctx context.Context, tx pgx.Tx, handler string) (position int64, err error) {
	err = tx.QueryRow(ctx, "update handler_cursors set epoch = epoch + 1 where handler = $1 returning position", handler).Scan(&position)
	return position, err
}

// setBack finds the new place, before the first event in log order that was received then or later: ids ascend with
// commits, while times of receipt are those of several clocks.
func (came *replayed) setBack(ctx context.Context, tx pgx.Tx, r *ipn.Replay) error {
	if err := tx.QueryRow(ctx, `
		with place as (
			select case when $2 then 0 else least($1, coalesce((select id - 1 from events where received_at >= $3 order by id limit 1), $1)) end as id
		)
		select place.id, (select count(*) from events e where e.id > place.id and e.id <= $1) from place`,
		came.Before, r.All, r.Since).Scan(&came.Position, &came.Events); err != nil || r.DryRun {
		return err
	}
	at, err := fence(ctx, tx, r.Handler)
	if err != nil {
		return err
	}
	var meanwhile int64 // what the leader did while the place was looked for
	if err := tx.QueryRow(ctx, "select count(*) from events where id > $1 and id <= $2", came.Before, at).Scan(&meanwhile); err != nil {
		return err
	}
	came.Before, came.Events, came.Position = at, came.Events+meanwhile, min(came.Position, at)
	if _, err := tx.Exec(ctx, "update handler_cursors set position = $2, started = least(started, $2) where handler = $1", r.Handler, came.Position); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "delete from parked where handler = $1 and event_id > $2", r.Handler, came.Position)
	return err
}

// park makes the events due that match, as far as the cursor has passed them; the others are still to come.
func (came *replayed) park(ctx context.Context, tx pgx.Tx, r *ipn.Replay) error {
	q := *r.Matching
	q.After = nil
	which := restrict(q)
	which.add("c.handler = ?", r.Handler)
	where := " from events e join handler_cursors c on e.id <= c.position " + which.where()
	if r.DryRun {
		return tx.QueryRow(ctx, "select count(*)"+where, which.args...).Scan(&came.Events)
	}
	rows, err := tx.Query(ctx, "select e.id"+where, which.args...)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if _, err := fence(ctx, tx, r.Handler); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		insert into parked (handler, event_id, state, attempts, first_failed_at, next_at, last_error)
		select $1, id, 'parked', 0, now(), now(), '' from unnest($2::bigint[]) as chosen (id)
		on conflict (handler, event_id) do update set state = 'parked', attempts = 0, first_failed_at = now(), next_at = now()`, r.Handler, ids)
	came.Events = tag.RowsAffected()
	return err
}
