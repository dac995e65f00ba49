package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// UnsafeError says that the server may lose what it has committed, or takes no writes, and which setting to mend.
type UnsafeError struct {
	Setting string // the server's name for it
	Value   string // as found
	Mend    string // what to do
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("the database is not safe to acknowledge from: %s is %s; %s", e.Setting, e.Value, e.Mend)
}

// hazards lists what makes an acknowledgement a lie, each read by an expression that needs no privilege.
var hazards = []struct{ setting, expression, bad, mend string }{
	{"fsync", "current_setting('fsync')", "off", "set fsync = on in postgresql.conf and restart the server"},
	{"full_page_writes", "current_setting('full_page_writes')", "off", "set full_page_writes = on in postgresql.conf and reload"},
	{"synchronous_commit", "current_setting('synchronous_commit')", "off", "set synchronous_commit = on for the server, the database and this role (alter role ... reset synchronous_commit)"},
	{"pg_is_in_recovery()", "pg_is_in_recovery()::text", "true", "connect to the primary (name all hosts and target_session_attrs=read-write in the database URL)"},
	{"default_transaction_read_only", "current_setting('transaction_read_only')", "on", "set default_transaction_read_only = off for the server, the database and this role"},
}

// guard asks one connection about every hazard. It returns an *UnsafeError for the first that is present.
func guard(ctx context.Context, conn *pgx.Conn) error {
	query, values := "select ", make([]any, len(hazards))
	for i, h := range hazards {
		if i > 0 {
			query += ", "
		}
		query += h.expression
		values[i] = new(string)
	}
	if err := conn.QueryRow(ctx, query).Scan(values...); err != nil {
		return fmt.Errorf("ask the server for its settings: %w", err)
	}
	for i, h := range hazards {
		if found := *values[i].(*string); found == h.bad {
			return &UnsafeError{Setting: h.setting, Value: found, Mend: h.mend}
		}
	}
	return nil
}

// guarded tells whether the connections of this store must pass the guard.
func (s *Store) guarded() bool { return s.intake.Config().AfterConnect != nil }

// Ready says whether the store can record durably right now: nil, or an error that names what is wrong and how to mend
// it. A server that has turned unsafe loses all its pooled connections, so that intake stops too.
func (s *Store) Ready(ctx context.Context) error {
	conn, err := s.intake.Acquire(ctx)
	if err != nil {
		return unavailable(err)
	}
	defer conn.Release()
	if s.guarded() {
		if err := guard(ctx, conn.Conn()); err != nil {
			var unsafe *UnsafeError
			if errors.As(err, &unsafe) {
				s.intake.Reset()
				s.queries.Reset()
			}
			return unavailable(err)
		}
	}
	var migrated bool
	if err := conn.QueryRow(ctx, "select to_regclass('public.events') is not null").Scan(&migrated); err != nil {
		return unavailable(err)
	}
	if !migrated {
		return fmt.Errorf("the database has no events table yet; start-up migrates it, or run: ipn-receiver migrate")
	}
	return nil
}
