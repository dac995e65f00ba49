package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Handlers returns where every handler stands that was ever led on this database, by name. Configured is told
// of those that some process has in its settings and listens for; a leader only while its session holds the lock. It fails with ipn.ErrUnavailable.
func (s *Store) Handlers(ctx context.Context) ([]ipn.HandlerState, error) {
	rows, err := s.handlerRows(ctx, mostListed)
	if err != nil {
		return nil, err
	}
	states := make([]ipn.HandlerState, len(rows))
	for i := range rows {
		states[i] = rows[i].HandlerState
		for _, t := range []**time.Time{&states[i].OldestAt, &states[i].PausedAt, &states[i].HeldSince, &states[i].LedSince, &states[i].MovedAt} {
			*t = inUTC(*t)
		}
	}
	return states, nil
}

// handlerRow is a state, and the age of OldestAt by the database's clock.
type handlerRow struct {
	ipn.HandlerState
	OldestSeconds float64
}

// What lies behind a cursor is counted so far, so that a new handler on an old log costs little, and a scrape less.
const (
	mostListed  = 1_000_000
	mostScraped = 100_000
)

// handlerRows counts what lies behind each cursor up to most.
func (s *Store) handlerRows(ctx context.Context, most int) ([]handlerRow, error) {
	rows, err := s.queries.Query(ctx, `
		with held as (`+heldKeys+`)
		select c.handler as name, c.kind, c.position, c.started, c.moved_at,
			lag.events as lag_events, coalesce(greatest(extract(epoch from now() - next.received_at), 0), 0)::float8 as lag_seconds,
			failed.parked, failed.buried, failed.oldest_at, coalesce(greatest(extract(epoch from now() - failed.oldest_at), 0), 0)::float8 as oldest_seconds,
			c.paused_at, coalesce(c.paused_because, '') as paused_because, c.held_since, coalesce(c.held_because, '') as held_because,
			hashtextextended(c.handler, $3) in (select * from held) as configured,
			case when led then coalesce(c.leader, '') else '' end as leader, case when led then c.led_since end as led_since
		from handler_cursors c
			cross join lateral (select hashtextextended(c.handler, $1) in (select * from held) as led) as session
			cross join lateral (select count(*) as events from (select from events e where e.id > c.position limit $2) as behind) as lag
			cross join lateral (select count(*) filter (where state = 'parked') as parked, count(*) filter (where state = 'buried') as buried,
				min(first_failed_at) as oldest_at from parked k where k.handler = c.handler) as failed
			left join lateral (select e.received_at from events e where e.id > c.position order by e.id limit 1) as next on true
		order by c.handler`, handlerLocks, most, servedLocks)
	if err != nil {
		return nil, known(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[handlerRow])
	if err != nil {
		return nil, known(err)
	}
	return found, nil
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// nothing are the details of an act that has none.
type nothing struct{}

// PauseHandler keeps a handler from being led until it is resumed, across restarts. Who leads it is fenced at once. It
// fails with ipn.ErrNotFound or ipn.ErrUnavailable.
func (s *Store) PauseHandler(ctx context.Context, name string, act ipn.Act) error {
	return s.act(ctx, "pause", name, act, func(tx pgx.Tx) (any, error) {
		return nothing{}, one(tx.Exec(ctx, `
			update handler_cursors set epoch = epoch + 1, paused_at = coalesce(paused_at, now()), paused_because = $2 where handler = $1`,
			name, storableText(act.Reason, maxReason)))
	})
}

// ResumeHandler lets a paused handler go on where it stood; one that was not paused is left alone. It fails with
// ipn.ErrNotFound or ipn.ErrUnavailable.
func (s *Store) ResumeHandler(ctx context.Context, name string, act ipn.Act) error {
	return s.resume(ctx, name, act, "")
}

// resume ends a pause whose reason begins with because, "" any; without one like it the error is ipn.ErrNotFound.
func (s *Store) resume(ctx context.Context, name string, act ipn.Act, because string) error {
	return s.act(ctx, "resume", name, act, func(tx pgx.Tx) (any, error) {
		return nothing{}, one(tx.Exec(ctx, `
			update handler_cursors set epoch = epoch + (paused_at is not null)::int, paused_at = null, paused_because = null
			where handler = $1 and starts_with(coalesce(paused_because, ''), $2)`, name, because))
	})
}

// ForgetHandler removes the cursor of a handler with its parked events and attempts; the audit stays. Led again, the
// handler is a new one. It fails with ipn.ErrLed while a process leads it or listens for it, ipn.ErrNotFound or
// ipn.ErrUnavailable.
func (s *Store) ForgetHandler(ctx context.Context, name string, act ipn.Act) error {
	return s.act(ctx, "forget", name, act, func(tx pgx.Tx) (any, error) {
		for _, locks := range []int64{handlerLocks, servedLocks} {
			var free bool
			if err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock("+handlerKey+")", name, locks).Scan(&free); err != nil {
				return nil, err
			}
			if !free {
				return nil, ipn.ErrLed
			}
		}
		var stood struct {
			Position int64 `json:"position"`
			Failed   int64 `json:"failed"`
		}
		err := tx.QueryRow(ctx, `
			delete from handler_cursors c where handler = $1 returning position, (select count(*) from parked k where k.handler = c.handler)`,
			name).Scan(&stood.Position, &stood.Failed)
		return stood, err
	})
}

// one turns the outcome of a statement that should change one row into an error.
func one(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() == 0 {
		return ipn.ErrNotFound
	}
	return err
}
