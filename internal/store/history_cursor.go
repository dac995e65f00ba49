package store

import "context"

// CursorKey returns the key that seals the cursors of lists, 32 bytes, the same for every process on this database. It fails
// with ipn.ErrUnavailable.
func (s *Store) CursorKey(ctx context.Context) (key []byte, err error) {
	if err := s.queries.QueryRow(ctx, "select key from cursor_key").Scan(&key); err != nil {
		return nil, known(err)
	}
	return key, nil
}
