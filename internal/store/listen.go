package store

import (
	"context"
)

// Listen calls wake when the log may have grown or an operator has acted, by any process, and once at the start, since
// nobody listened before. wake must not block. It returns nil when ctx ends, and ipn.ErrUnavailable when the connection
// is lost; a caller also looks by itself from time to time, for a notification is a courtesy and no promise.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	conn, err := s.connect(ctx, "listen", listenSession)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer closeAtOnce(conn)
	if _, err := conn.Exec(ctx, "listen "+logChannel); err != nil {
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
