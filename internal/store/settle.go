package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Limits of a settlement's last steps, which go on when the caller's context has ended.
const (
	commitTimeout   = 3 * time.Second
	rollbackTimeout = time.Second
)

// SQLSTATEs that a settlement understands.
const (
	fenced              = "IPN01" // raised by handler_settle
	inFailedTransaction = "25P02" // a statement after one whose error was ignored
)

// Settle writes what one step came to: all of it, if this Lead still leads, or nothing. Without events to project it is
// one round trip. Times are counted by the clock of the database.
//
// It fails with ipn.ErrFenced and ipn.ErrUnavailable, after which the truth is in the database and this Lead is to be
// closed. When ctx ends while the projection runs, the error is that of ctx. Any other error is the projection's own; it
// can be unwrapped, and its text holds nothing of the server's messages, which quote rows. A projection that panics
// or ends its goroutine is rolled back.
func (l *Lead) Settle(ctx context.Context, s ipn.Settlement) error {
	if len(s.Project) > 0 && l.project == nil {
		return fmt.Errorf("settle: %s is no projection", l.handler)
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	position := cmp.Or(s.Position, l.Position())
	entries := l.entries(position, &s)
	var err error
	if len(s.Project) == 0 {
		err = settled(l.conn.SendBatch(ctx, entries).Close())
	} else {
		err = l.apply(ctx, entries, s.Project)
	}
	if err == nil {
		l.position.Store(position)
	}
	return err
}

// settled names the error of a settlement's own statements.
func settled(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg) && pg.Code == fenced:
		return ipn.ErrFenced
	default:
		return unavailable(err)
	}
}

// apply runs the projection in the transaction that moves the cursor.
func (l *Lead) apply(ctx context.Context, entries *pgx.Batch, events []ipn.Stored) error {
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return unavailable(err)
	}
	defer rollback(tx)
	if err := settled(tx.SendBatch(ctx, entries).Close()); err != nil {
		return err
	}
	if err := l.project(ctx, tx, events); err != nil || ctx.Err() != nil {
		return l.blame(ctx, err)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err := tx.Commit(last); err != nil {
		return l.blame(last, err)
	}
	return nil
}

// rollback undoes a transaction that was not committed, whatever way the projection ended.
func rollback(tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// blame tells the end of ctx, trouble of the server and a failure of the projection apart.
func (l *Lead) blame(ctx context.Context, err error) error {
	var pg *pgconn.PgError
	switch asked := errors.As(err, &pg); {
	case ctx.Err() != nil:
		return fmt.Errorf("project: %w", ctx.Err())
	case asked && (mayBlameRow(err) || pg.Code == inFailedTransaction):
		return fmt.Errorf("project: %w", &projectionError{text: withoutMessage(err, pg), err: err})
	case asked || l.conn.IsClosed():
		return unavailable(err)
	case errors.Is(err, ipn.ErrUnavailable), errors.Is(err, ipn.ErrFenced), errors.Is(err, ipn.ErrLed), errors.Is(err, ipn.ErrPaused):
		return errors.New("project: " + err.Error()) // about something of its own, and not about this lead
	default:
		return fmt.Errorf("project: %w", err)
	}
}

// projectionError is an error of a projection that holds an answer of the server, with a text that may be shown.
type projectionError struct {
	text string
	err  error
}

func (e *projectionError) Error() string { return e.text }
func (e *projectionError) Unwrap() error { return e.err }

// withoutMessage puts the SQLSTATE, with the constraint or column if it names one, in the place of the server's message.
func withoutMessage(err error, pg *pgconn.PgError) string {
	short := "SQLSTATE " + pg.Code
	if named := cmp.Or(pg.ConstraintName, pg.ColumnName); named != "" {
		short += " (" + named + ")"
	}
	text := strings.ReplaceAll(err.Error(), pg.Error(), short)
	for _, quoted := range []string{pg.Message, pg.Detail, pg.Hint, pg.Where} {
		if quoted != "" && strings.Contains(text, quoted) {
			return short
		}
	}
	return text
}

// entries are the statements of a settlement. The fence comes first: it locks the row of the cursor until the commit.
func (l *Lead) entries(position int64, s *ipn.Settlement) *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue("select handler_settle($1, $2, $3, $4)", l.handler, l.epoch, l.Position(), position)
	if len(s.Failed) > 0 {
		l.park(batch, s.Failed)
	}
	if len(s.Done) > 0 {
		l.unpark(batch, s.Done)
	}
	return batch
}

// park keeps each failure as the state of its event, and as an attempt.
func (l *Lead) park(batch *pgx.Batch, failures []ipn.Failure) {
	n := len(failures)
	ids, numbers, took := make([]int64, n), make([]int, n), make([]int64, n)
	texts, buried, waits := make([]string, n), make([]bool, n), make([]int64, n)
	for i, f := range failures {
		ids[i], numbers[i], took[i] = f.EventID, max(f.Number, 1), max(f.Took.Milliseconds(), 0)
		texts[i], buried[i], waits[i] = storableText(f.Error, maxError), f.Bury, max(f.Wait.Microseconds(), 0)
	}
	batch.Queue(`
		insert into parked (handler, event_id, state, attempts, first_failed_at, next_at, last_error)
		select $1, id, case when bury then 'buried' else 'parked' end, number, now(), case when not bury then now() + wait * interval '1 microsecond' end, error
		from unnest($2::bigint[], $3::int[], $4::text[], $5::bool[], $6::bigint[]) as f(id, number, error, bury, wait)
		on conflict (handler, event_id) do update
			set state = excluded.state, attempts = excluded.attempts, next_at = excluded.next_at, last_error = excluded.last_error`,
		l.handler, ids, numbers, texts, buried, waits)
	batch.Queue(`
		insert into attempts (handler, event_id, number, at, took_ms, result, error)
		select $1, id, number, now() - took * interval '1 millisecond', took, case when bury then 'buried' else 'failed' end, error
		from unnest($2::bigint[], $3::int[], $4::text[], $5::bool[], $6::bigint[]) as f(id, number, error, bury, took)`,
		l.handler, ids, numbers, texts, buried, took)
}

// unpark lets go of events that went well at last. The attempt is kept where others failed before it, which is not so for
// an event that was replayed.
func (l *Lead) unpark(batch *pgx.Batch, successes []ipn.Success) {
	n := len(successes)
	ids, numbers, took := make([]int64, n), make([]int, n), make([]int64, n)
	for i, s := range successes {
		ids[i], numbers[i], took[i] = s.EventID, max(s.Number, 1), max(s.Took.Milliseconds(), 0)
	}
	batch.Queue("delete from parked where handler = $1 and event_id = any($2)", l.handler, ids)
	batch.Queue(`
		insert into attempts (handler, event_id, number, at, took_ms, result)
		select $1, id, number, now() - took * interval '1 millisecond', took, 'done'
		from unnest($2::bigint[], $3::int[], $4::bigint[]) as s(id, number, took)
		where exists (select from attempts a where a.event_id = s.id and a.handler = $1)`,
		l.handler, ids, numbers, took)
}
