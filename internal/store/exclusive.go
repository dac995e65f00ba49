package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// exclusiveSession holds a handler's lock while somebody works on its tables, however long that takes.
var exclusiveSession = session{settings: map[string]string{"statement_timeout": "0"}}

// leaveTime is how long a leader may take to leave.
const leaveTime = 15 * time.Second

// Exclusively does something to a handler's own tables while nobody leads it: the handler is paused, its leader leaves,
// do is called with the cursor's position, and the handler goes on, unless somebody else has paused it, before or
// meanwhile. What do returns goes into the audit. When the process is cut meanwhile the handler stays paused, for all to
// see, until it is resumed. It fails with ipn.ErrNotFound, ipn.ErrUnavailable, ipn.ErrLed when the leader does not leave,
// or the error of do.
func (s *Store) Exclusively(ctx context.Context, action, handler string, act ipn.Act, do func(ctx context.Context, position int64) (details any, err error)) (err error) {
	underWay := action + " under way: "
	var pausedByOthers bool
	if err := s.queries.QueryRow(ctx, "select paused_at is not null and not starts_with(paused_because, $2) from handler_cursors where handler = $1",
		handler, underWay).Scan(&pausedByOthers); err != nil {
		return notFound(err)
	}
	if !pausedByOthers {
		if err := s.PauseHandler(ctx, handler, ipn.Act{Actor: act.Actor, Reason: underWay + act.Reason}); err != nil {
			return err
		}
		defer func() {
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
			defer cancel()
			if resumed := s.resume(after, handler, act, underWay); !errors.Is(resumed, ipn.ErrNotFound) { // else somebody paused it meanwhile
				err = errors.Join(err, resumed)
			}
		}()
	}
	conn, err := s.connect(ctx, action+" "+handler, exclusiveSession)
	if err != nil {
		return unavailable(err)
	}
	defer closeAtOnce(conn)
	position, err := awaitLock(ctx, conn, handler)
	if err != nil {
		return err
	}
	details, err := do(ctx, position)
	if err != nil {
		return err
	}
	return s.act(ctx, action, handler, act, func(pgx.Tx) (any, error) { return details, nil })
}

// awaitLock takes the lock of a handler as soon as its leader has left, and returns the cursor.
func awaitLock(ctx context.Context, conn *pgx.Conn, handler string) (position int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for {
		var locked bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock("+handlerKey+")", handler, handlerLocks).Scan(&locked); err != nil {
			return 0, unavailable(err)
		}
		if locked {
			break
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the leader of %s to leave: %w", handler, ipn.ErrLed)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := conn.QueryRow(ctx, "select position from handler_cursors where handler = $1", handler).Scan(&position); err != nil {
		return 0, notFound(err)
	}
	return position, nil
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ipn.ErrNotFound
	}
	return unavailable(err)
}

// Log returns at most limit events behind the id after, in commit order, without their payloads. It fails with
// ipn.ErrUnavailable.
func (s *Store) Log(ctx context.Context, after int64, limit int) ([]ipn.Stored, error) {
	return readEvents(ctx, s.queries, "select "+factColumns+" from events e where e.id > $1 order by e.id limit $2", after, limit)
}
