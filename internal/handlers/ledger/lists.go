package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The listings of disputes: every one ends in a walk of an index from the position onwards. Which one it is must show in
// the statement's text; a parameter that may or may not restrict would make the server guess.
const (
	disputeColumns = `
		select test, reference_number, reversal_reference, state, coalesce(status, ''), path, amount::text, coalesce(currency, ''), opened_at, ended_at, last_at, events
		from disputes where test = $1 `
	disputesBehind = "and (opened_at, reference_number, reversal_reference) < ($2, $3, $4) "
	disputesBefore = "and (opened_at, reference_number, reversal_reference) > ($2, $3, $4) "
	newestDisputes = "order by opened_at desc, reference_number desc, reversal_reference desc limit $5"
	oldestDisputes = "order by opened_at, reference_number, reversal_reference limit $5"

	disputesDown        = disputeColumns + disputesBehind + newestDisputes
	disputesUp          = disputeColumns + disputesBefore + oldestDisputes
	disputesOfStateDown = disputeColumns + "and state = $6 " + disputesBehind + newestDisputes
	disputesOfStateUp   = disputeColumns + "and state = $6 " + disputesBefore + oldestDisputes
	disputesOfCharge    = disputeColumns + "and reference_number = $6 and ($7 = '' or state = $7) "
	disputesOfDown      = disputesOfCharge + disputesBehind + newestDisputes
	disputesOfUp        = disputesOfCharge + disputesBefore + oldestDisputes
)

// Disputes returns at most q.Limit disputes. AgeDays and EstimatedDeadline, which change with the clock, are left to the
// caller: Age and Deadline.
func (r *Reader) Disputes(ctx context.Context, q ipn.DisputeQuestion) ([]ipn.DisputeBook, error) {
	after := ipn.DisputePosition{}
	opened := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true} // in front of all
	if q.OldestFirst {
		opened.InfinityModifier = pgtype.NegativeInfinity
	}
	if q.After != nil {
		after = *q.After
		opened = pgtype.Timestamptz{Time: after.OpenedAt, Valid: true}
	}
	args := []any{q.Test, opened, after.ReferenceNumber, after.ReversalReference, max(q.Limit, 1)}
	down, up := disputesDown, disputesUp
	switch {
	case q.ReferenceNumber != "":
		down, up, args = disputesOfDown, disputesOfUp, append(args, q.ReferenceNumber, string(q.State))
	case q.State != "":
		down, up, args = disputesOfStateDown, disputesOfStateUp, append(args, string(q.State))
	}
	query := down
	if q.OldestFirst {
		query = up
	}
	return collect(ctx, r, readDispute, query, args...)
}

func readDispute(row pgx.CollectableRow) (ipn.DisputeBook, error) {
	var d ipn.DisputeBook
	err := row.Scan(&d.Test, &d.ReferenceNumber, &d.ReversalReference, &d.State, &d.Status, &d.Path, &d.Amount, &d.Currency, &d.OpenedAt, &d.EndedAt, &d.LastAt, &d.Events)
	d.OpenedAt, d.LastAt, d.EndedAt = d.OpenedAt.UTC(), d.LastAt.UTC(), inUTC(d.EndedAt)
	return d, err
}

// Movements returns at most q.Limit movements. The index begins with the kind: of any kind, a page of each is read and
// the best of them taken. The end of the span and the page before are one bound: of two, the server walks from the
// farther one.
func (r *Reader) Movements(ctx context.Context, q ipn.MovementQuestion) ([]ipn.Movement, error) {
	after, at := ipn.MovementPosition{}, startOf(q.To, pgtype.Infinity) // in front of all that is earlier
	if q.After != nil && (q.To.IsZero() || q.After.At.Before(q.To)) {
		after = *q.After
		at = pgtype.Timestamptz{Time: after.At, Valid: true}
	}
	of := []string{string(q.Kind)}
	if q.Kind == "" {
		of = kindsOf(beside, charges, refunds, disputed)
	}
	return collect(ctx, r, readMovement, `
		select m.event_id, m.line, m.kind, m.test, coalesce(m.reference_number, ''), coalesce(m.subscription_id, ''), m.at, m.currency,
			m.amount::text, m.tax::text, m.amount_usd::text, coalesce(m.country, ''), coalesce(m.state, ''), coalesce(m.contract_id, '')
		from unnest($1::text[]) as k (kind), lateral (
			select * from movements
			where test = $2 and kind = k.kind and at >= $3 and (at, event_id, line) < ($4, $5, $6)
			order by at desc, event_id desc, line desc limit $7) as m
		order by m.at desc, m.event_id desc, m.line desc limit $7`,
		of, q.Test, startOf(q.From, pgtype.NegativeInfinity), at, after.EventID, after.Line, max(q.Limit, 1))
}

// startOf returns an instant, the given end of time for the zero one.
func startOf(t time.Time, open pgtype.InfinityModifier) pgtype.Timestamptz {
	if t.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: open, Valid: true}
	}
	return pgtype.Timestamptz{Time: t, Valid: true}
}

// The listings of subscriptions. Those that tell no due date stand behind all that do. atRisk is written as the index
// has it.
const (
	subscriptionColumns = `
		s.subscription_id, s.state, coalesce(s.contract_id, ''), s.plan_moves, s.charges, s.failures, s.last_amount::text, coalesce(s.currency, ''),
		s.next_due_at, s.started_at, s.ended_at, s.last_at, coalesce(s.account_id, ''), s.events, s.attention`
	subscriptionsOfStates = `
		select ` + subscriptionColumns + ` from unnest($5::text[]) as k (state), lateral (
			select * from subscriptions
			where test = $1 and state = k.state and (coalesce(next_due_at, 'infinity'), subscription_id) > ($2, $3)
			order by coalesce(next_due_at, 'infinity'), subscription_id limit $4) as s
		order by coalesce(s.next_due_at, 'infinity'), s.subscription_id limit $4`
	subscriptionsAtRisk = `
		select ` + subscriptionColumns + ` from subscriptions s
		where s.test = $1 and (s.state in ('past_due', 'cancel_at_period_end') or s.state <> 'cancelled' and s.attention is not null)
			and ($5 = '' or s.state = $5) and (coalesce(s.next_due_at, 'infinity'), s.subscription_id) > ($2, $3)
		order by coalesce(s.next_due_at, 'infinity'), s.subscription_id limit $4`
)

// subscriptionStates are those a listing of any state reads.
var subscriptionStates = []string{
	string(ipn.SubscriptionTrial), string(ipn.SubscriptionActive), string(ipn.SubscriptionPastDue),
	string(ipn.SubscriptionEnding), string(ipn.SubscriptionCancelled), string(ipn.SubscriptionUnknown),
}

// Subscriptions returns at most q.Limit subscriptions.
func (r *Reader) Subscriptions(ctx context.Context, q ipn.SubscriptionQuestion) ([]ipn.SubscriptionBook, error) {
	due, id := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, "" // in front of all
	if q.After != nil {
		id = q.After.ID
		due = pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
		if q.After.NextDueAt != nil {
			due = pgtype.Timestamptz{Time: *q.After.NextDueAt, Valid: true}
		}
	}
	read := func(row pgx.CollectableRow) (ipn.SubscriptionBook, error) {
		s := ipn.SubscriptionBook{Test: q.Test}
		err := scanSubscription(row, &s)
		return s, err
	}
	if q.AtRisk {
		return collect(ctx, r, read, subscriptionsAtRisk, q.Test, due, id, max(q.Limit, 1), string(q.State))
	}
	states := subscriptionStates
	if q.State != "" {
		states = []string{string(q.State)}
	}
	return collect(ctx, r, read, subscriptionsOfStates, q.Test, due, id, max(q.Limit, 1), states)
}

// scanSubscription reads the subscriptionColumns.
func scanSubscription(row pgx.Row, s *ipn.SubscriptionBook) error {
	err := row.Scan(&s.SubscriptionID, &s.State, &s.ContractID, &s.PlanMoves, &s.Charges, &s.Failures, &s.LastAmount, &s.Currency,
		&s.NextDueAt, &s.StartedAt, &s.EndedAt, &s.LastAt, &s.AccountID, &s.Events, &s.Attention)
	s.StartedAt, s.LastAt = s.StartedAt.UTC(), s.LastAt.UTC()
	s.NextDueAt, s.EndedAt = inUTC(s.NextDueAt), inUTC(s.EndedAt)
	return err
}

// collect asks and reads every row.
func collect[T any](ctx context.Context, r *Reader, read pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, err := r.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, known(err)
	}
	found, err := pgx.CollectRows(rows, read)
	return found, known(err)
}
