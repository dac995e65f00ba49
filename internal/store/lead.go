package store

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Projection applies events, which are in commit order, to tables of its own. It uses tx and nothing else, leaves it
// open, and returns when ctx ends. What it wrote becomes true together with the cursor, or not at all.
type Projection func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error

// LeadConfig says who wants to lead which handler.
type LeadConfig struct {
	Handler string
	Kind    ipn.HandlerKind
	FromNow bool       // where a handler that was never led begins: behind the events that are there, or at the first
	Bodies  bool       // read raw bodies and headers too
	Process string     // "host:pid", for the listing; "unnamed" if empty
	Project Projection // of a projection; nil for sinks
}

// Lead is the right of one process to move the cursor of one handler. It rests on an advisory lock in a session of its
// own, so it ends with that session, whoever ends it; and on an epoch in the cursor's row, which every settlement names,
// so that a leader that does not know yet that it was overtaken writes nothing. Its methods may be called from several
// goroutines; they take turns.
//
// Next, Due, Settle, Check, Hold and Pause fail with ipn.ErrUnavailable when the session is in trouble, and Settle,
// Check, Hold and Pause with ipn.ErrFenced when the lead is lost. Either way the Lead is to be closed; who wants to go
// on leads anew.
type Lead struct {
	conn     *pgx.Conn
	turn     chan struct{} // holds a token while a method uses conn
	handler  string
	epoch    int64
	position atomic.Int64
	bodies   bool
	project  Projection
}

// Lead takes the lead of a handler. It fails with ipn.ErrLed, ipn.ErrPaused or ipn.ErrUnavailable, and never waits for
// another leader. A new lead ends a hold of the one before.
func (s *Store) Lead(ctx context.Context, c LeadConfig) (*Lead, error) {
	if err := s.vacant(ctx, c.Handler); err != nil {
		return nil, err
	}
	conn, err := s.connect(ctx, "handler "+c.Handler, leadSession)
	if err != nil {
		return nil, unavailable(err)
	}
	l := &Lead{conn: conn, turn: make(chan struct{}, 1), handler: c.Handler, bodies: c.Bodies, project: c.Project}
	if err := l.take(ctx, c); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// handlerKey is the advisory lock of the handler $1. A hash of 64 bits tells handlers apart whose names would share one
// of 32.
const handlerKey = "hashtextextended($1::text, $2::bigint)"

// heldKeys are the advisory locks that sessions of this database hold; pg_locks shows a key as two halves.
const heldKeys = `select classid::bigint << 32 | objid::bigint from pg_locks
	where locktype = 'advisory' and objsubid = 1 and granted and database = (select oid from pg_database where datname = current_database())`

// vacant asks by a pool before a connection is opened for it: those that stand by ask each second. When there is no
// quick answer the attempt itself will tell.
func (s *Store) vacant(ctx context.Context, handler string) error {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	var led, paused bool
	err := s.queries.QueryRow(ctx, "select "+handlerKey+" in ("+heldKeys+`),
		exists (select from handler_cursors where handler = $1 and paused_at is not null)`, handler, handlerLocks).Scan(&led, &paused)
	switch {
	case err == nil && paused:
		return ipn.ErrPaused
	case err == nil && led:
		return ipn.ErrLed
	}
	return nil
}

// take gets the lock, then the cursor under a new epoch.
func (l *Lead) take(ctx context.Context, c LeadConfig) error {
	var locked bool
	if err := l.conn.QueryRow(ctx, "select pg_try_advisory_lock("+handlerKey+")", l.handler, handlerLocks).Scan(&locked); err != nil {
		return unavailable(err)
	}
	if !locked {
		return ipn.ErrLed
	}
	l.noticeOrphans(ctx)
	var position int64
	err := l.conn.QueryRow(ctx, `
		insert into handler_cursors as c (handler, kind, position, started, leader, led_since)
		select $1, $2, start, start, $3, now() from (select case when $4 then coalesce(max(id), 0) else 0 end as start from events) as log
		on conflict (handler) do update set kind = excluded.kind, epoch = c.epoch + 1, leader = excluded.leader, led_since = excluded.led_since,
			held_since = null, held_because = null
		where c.paused_at is null
		returning position, epoch`, l.handler, string(c.Kind), cmp.Or(storableText(c.Process, maxName), "unnamed"), c.FromNow).Scan(&position, &l.epoch)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ipn.ErrPaused
	case err != nil:
		return unavailable(err)
	}
	l.position.Store(position)
	return nil
}

// noticeOrphans lets the server end a statement whose process is gone, and free the lock, rather than let it run to its
// end. Not every system can; there the statement timeout has to do.
func (l *Lead) noticeOrphans(ctx context.Context) {
	_, _ = l.conn.Exec(ctx, "select set_config('client_connection_check_interval', '1000', false)")
}

// Position returns the cursor as of the last settlement.
func (l *Lead) Position() int64 { return l.position.Load() }

// begin waits for the connection until ctx ends; the caller ends what it began.
func (l *Lead) begin(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}

func (l *Lead) end() { <-l.turn }

// Check is the heartbeat, to be called each second: it keeps the session alive and tells whether the lead still stands.
// It fails with ipn.ErrPaused too. While another method uses the session it returns nil at once, for then that method
// will tell.
func (l *Lead) Check(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		defer l.end()
	default:
		return nil
	}
	var mine, paused bool
	err := l.conn.QueryRow(ctx, "select epoch = $2, paused_at is not null from handler_cursors where handler = $1", l.handler, l.epoch).Scan(&mine, &paused)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ipn.ErrFenced
	case err != nil:
		return unavailable(err)
	case paused:
		return ipn.ErrPaused
	case !mine:
		return ipn.ErrFenced
	}
	return nil
}

// Hold notes for the listing that events are held back, and why; "" notes that they flow again.
func (l *Lead) Hold(ctx context.Context, because string) error {
	return l.note(ctx, `
		update handler_cursors set held_because = $3, held_since = case when $3::text is not null then coalesce(held_since, now()) end
		where handler = $1 and epoch = $2`, textOrNull(storableText(because, maxError)))
}

// Pause lets the handler pause itself until an operator resumes it, with an entry in the audit. The lead ends with it.
func (l *Lead) Pause(ctx context.Context, because string) error {
	because = storableText(because, maxReason)
	if because == "" {
		because = "no reason was given"
	}
	return l.note(ctx, `
		with paused as (
			update handler_cursors set paused_at = now(), paused_because = $3::text, epoch = epoch + 1 where handler = $1 and epoch = $2
			returning handler
		)
		insert into audit (actor, action, handler, reason) select 'handler', 'pause', handler, $3::text from paused`, because)
}

// note runs a statement that changes one row for a leader that still leads.
func (l *Lead) note(ctx context.Context, statement string, text any) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	tag, err := l.conn.Exec(ctx, statement, l.handler, l.epoch, text)
	if err != nil {
		return unavailable(err)
	}
	if tag.RowsAffected() == 0 {
		return ipn.ErrFenced
	}
	return nil
}

// Close ends the lead. It never blocks and may be called at any time, more than once, also while another goroutine is
// stuck in Settle, which then fails. The server frees the lead when it notices, mostly within a millisecond.
func (l *Lead) Close() { closeAtOnce(l.conn) }
