package store

import (
	"context"
)

// Listen calls wake when the log may have grown or an operator has acted, by any process, and once at the start, since
// nobody listened before. wake must not block. While it listens the handlers named count as served, whoever leads them and
// whether or not they are paused: nobody may forget them. It returns nil when ctx ends, and ipn.ErrUnavailable when the connection
// is lost; a caller also looks by itself from time to time, for a notification is a courtesy and no promise.
func (s *Store) Listen(ctx context.Context, handlers []string, wake func()) error {
	conn, err := s.connect(ctx, "listen", listenSession)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer closeAtOnce(conn)
	if _, err := conn.Exec(ctx, "listen "+logChannel); err != nil {
		return unlessEnded(ctx, err)
	}
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared(hashtextextended(name, $2::bigint)) from unnest($1::text[]) as served (name)", handlers, servedLocks); err != nil {
		return unlessEnded(ctx, err)
	}
	for {
		wake()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return unlessEnded(ctx, err)
		}
	}
}

func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return unavailable(err)
}
