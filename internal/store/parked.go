package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ParkedEvents answers a ParkedQuestion: at most q.Limit entries by event id, then handler. It fails with
// ipn.ErrUnavailable.
func (s *Store) ParkedEvents(ctx context.Context, q ipn.ParkedQuestion) ([]ipn.ParkedEvent, error) {
	rows, err := s.queries.Query(ctx, `
		select k.handler, k.event_id, coalesce(e.transaction_type, '') as transaction_type, coalesce(e.reference_number, '') as reference_number,
			k.state, k.attempts, k.first_failed_at, k.next_at, k.last_error
		from parked k join events e on e.id = k.event_id
		where ($1 = '' or k.handler = $1) and ($2 = '' or k.state = $2) and (k.event_id, k.handler) > ($3::bigint, $4::text)
		order by k.event_id, k.handler limit $5`,
		q.Handler, string(q.State), q.After, q.AfterHandler, max(q.Limit, 1))
	if err != nil {
		return nil, known(err)
	}
	parked, err := pgx.CollectRows(rows, pgx.RowToStructByName[ipn.ParkedEvent])
	if err != nil {
		return nil, known(err)
	}
	for i := range parked {
		parked[i].FirstFailedAt, parked[i].NextAt = parked[i].FirstFailedAt.UTC(), inUTC(parked[i].NextAt)
	}
	return parked, nil
}

// RedriveParked makes failed events due now, with all their attempts and a new age, and returns how many. The leaders of
// their handlers are fenced, so that an attempt under way does not overrule it. A dry run counts by the same conditions
// and leaves no entry in the audit. It fails with ipn.ErrNotFound for a handler that never was, or ipn.ErrUnavailable.
func (s *Store) RedriveParked(ctx context.Context, r ipn.Redrive, act ipn.Act) (events int64, err error) {
	if r.DryRun {
		err = s.patiently(ctx, func(tx pgx.Tx) error {
			if err := mustKnow(ctx, tx, r.Handler); err != nil {
				return err
			}
			return tx.QueryRow(ctx, "select count(*) from parked k where "+redriven, r.Handler, string(r.State), r.EventID).Scan(&events)
		})
		return events, err
	}
	err = s.act(ctx, "redrive", r.Handler, act, func(tx pgx.Tx) (any, error) {
		if err := mustKnow(ctx, tx, r.Handler); err != nil {
			return nil, err
		}
		events, err = redrive(ctx, tx, &r)
		return map[string]any{"state": r.State, "eventId": r.EventID, "events": events}, err
	})
	return events, err
}

// redriven names the parked events k that a Redrive is about.
const redriven = "($1 = '' or k.handler = $1) and ($2 = '' or k.state = $2) and ($3::bigint = 0 or k.event_id = $3)"

// redrive takes the cursors first, in the order of their names, as whoever touches parked events does.
func redrive(ctx context.Context, tx pgx.Tx, r *ipn.Redrive) (int64, error) {
	rows, err := tx.Query(ctx, `
		with concerned as (
			select c.handler from handler_cursors c where exists (select from parked k where k.handler = c.handler and `+redriven+`)
			order by c.handler for no key update
		)
		update handler_cursors c set epoch = epoch + 1 from concerned where c.handler = concerned.handler returning c.handler`,
		r.Handler, string(r.State), r.EventID)
	if err != nil {
		return 0, err
	}
	handlers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	tag, err := tx.Exec(ctx, `
		update parked k set state = 'parked', attempts = 0, first_failed_at = now(), next_at = now()
		where k.handler = any($4) and `+redriven, r.Handler, string(r.State), r.EventID, handlers)
	return tag.RowsAffected(), err
}

// mustKnow fails with ipn.ErrNotFound for a name that no handler has; "" stands for all.
func mustKnow(ctx context.Context, tx pgx.Tx, handler string) error {
	var known bool
	err := tx.QueryRow(ctx, "select $1 = '' or exists (select from handler_cursors where handler = $1)", handler).Scan(&known)
	if err == nil && !known {
		return ipn.ErrNotFound
	}
	return err
}

// Handlings returns what became of an event at every handler that was ever led, by name, each with its latest hundred
// attempts that were kept; nothing for an event that does not exist. It fails with ipn.ErrUnavailable.
func (s *Store) Handlings(ctx context.Context, eventID int64) ([]ipn.Handling, error) {
	rows, err := s.queries.Query(ctx, `
		select c.handler, coalesce(k.state, case when e.id > c.position then 'waiting' when e.id <= c.started then 'before' else 'done' end) as state,
			coalesce(k.attempts, 0) as attempts, k.next_at, coalesce(k.last_error, '') as last_error
		from events e cross join handler_cursors c left join parked k on k.event_id = e.id and k.handler = c.handler
		where e.id = $1 order by c.handler`, eventID)
	if err != nil {
		return nil, known(err)
	}
	handlings, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[ipn.Handling])
	if err != nil {
		return nil, known(err)
	}
	history, err := s.attempts(ctx, eventID)
	if err != nil {
		return nil, err
	}
	for i := range handlings {
		h := &handlings[i]
		h.NextAt, h.History = inUTC(h.NextAt), history[h.Handler]
		if n := len(h.History); n > 0 && h.State == ipn.EventDone {
			h.Attempts = h.History[n-1].Number
		}
	}
	return handlings, nil
}

// attempts returns the latest attempts of an event by handler, oldest first.
func (s *Store) attempts(ctx context.Context, eventID int64) (map[string][]ipn.Attempt, error) {
	rows, err := s.queries.Query(ctx, `
		select handler, number, at, took_ms, result, coalesce(error, '')
		from (select *, row_number() over (partition by handler order by id desc) as age from attempts where event_id = $1) as latest
		where age <= 100 order by id`, eventID)
	if err != nil {
		return nil, known(err)
	}
	history := map[string][]ipn.Attempt{}
	var handler string
	var took int64
	var a ipn.Attempt
	_, err = pgx.ForEachRow(rows, []any{&handler, &a.Number, &a.At, &took, &a.Result, &a.Error}, func() error {
		a.At, a.Took = a.At.UTC(), time.Duration(took)*time.Millisecond
		history[handler] = append(history[handler], a)
		return nil
	})
	if err != nil {
		return nil, known(err)
	}
	return history, nil
}
