// Package store is the memory of the receiver: it keeps receipts in PostgreSQL and answers questions about them.
//
// Its one non-obvious decision is that the events table is itself the log. Every insert takes one advisory lock before
// its id is drawn, so ids ascend in commit order and a reader needs nothing but "id > cursor". That makes writing a
// matter of one committer per process: the Recorder gathers whatever waits and commits it as a group, which costs a
// lone receipt nothing and makes a crowd share one flush.
//
// Errors that leave this room are those of internal/ipn (ErrUnavailable, ErrOverloaded, RefusedError, ErrNotFound), or
// an *UnsafeError that names the server setting to mend. The server's own messages stay inside: they quote data.
package store

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Advisory lock numbers of this database, all in one place. The first two stand in migrations/00001_events.sql too.
const (
	logLock      = 5278945612340001 // held by whoever inserts into events, until its commit is visible
	partsLock    = 5278945612340002 // held while a month of payloads is made
	migratorLock = 5278945612340003 // held by the migrator's session
	handlerLocks = 5278945612340004 // seeds the hash of a handler's name, which is the lock that its leader's session holds
	servedLocks  = 5278945612340005 // seeds it for the lock that each process shares that has the handler in its settings
	configLock   = 5278945612340006 // held by the session of the process that looks at the notification configuration
)

// logChannel is notified after each commit that may have extended the log.
const logChannel = "ipn_events"

// Config says how to reach the database.
type Config struct {
	DSN      string // URL or key=value form; several hosts are allowed, the one that takes writes is used
	PoolSize int    // connections for questions; recording and quarantine have three more of their own, and each Lead and Listen one. 0: 10
	// QuarantineRows and QuarantineBytes bound the copies of refused posts (answered 401, 403, 415); 0: 10,000 rows,
	// 100 MiB. Posts answered 200 are owned: they are neither counted against the bounds nor evicted.
	QuarantineRows, QuarantineBytes int64
	// AllowVolatile accepts a server that may lose acknowledged commits in a crash (fsync off and the like).
	// For tests on throw-away clusters; no setting of the program reaches it.
	AllowVolatile bool
	// Registerer receives the metrics of this room; nil registers none.
	Registerer prometheus.Registerer
}

// Store holds the connections. Intake has a pool of its own, so that no report can starve it.
type Store struct {
	intake  *pgxpool.Pool
	queries *pgxpool.Pool

	quarantineRows, quarantineBytes int64

	returnsKept atomic.Int64 // by this process
}

const intakeConnections = 3 // for the recorder and quarantine

// OwnConnections is how many connections a process may hold besides those for questions and one for each handler that it
// leads: for intake, for news of the log, for a migration, and for its turn to configure.
const OwnConnections = intakeConnections + 3

// ConnectionsAllowed is how many connections the server lets its ordinary users have, all together.
func (s *Store) ConnectionsAllowed(ctx context.Context) (n int, err error) {
	err = s.queries.QueryRow(ctx, "select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int").Scan(&n)
	if err != nil {
		return 0, unavailable(err)
	}
	return n, nil
}

// Open prepares the pools; it connects lazily, so it succeeds while the database is away. It fails only on a DSN that
// cannot be read.
func Open(ctx context.Context, c Config) (*Store, error) {
	c.PoolSize = cmp.Or(c.PoolSize, 10)
	intake, err := newPool(ctx, c, "intake", intakeConnections, 0)
	if err != nil {
		return nil, err
	}
	queries, err := newPool(ctx, c, "queries", int32(c.PoolSize), 5*time.Second)
	if err != nil {
		intake.Close()
		return nil, err
	}
	s := &Store{
		intake: intake, queries: queries,
		quarantineRows: cmp.Or(c.QuarantineRows, 10_000), quarantineBytes: cmp.Or(c.QuarantineBytes, 100<<20),
	}
	if c.Registerer != nil {
		if err := c.Registerer.Register(newCollector(s)); err != nil {
			s.Close()
			return nil, fmt.Errorf("register the store's metrics: %w", err)
		}
	}
	return s, nil
}

// newPool opens a pool whose every connection has passed the guard, so that a failover to an unsafe or read-only
// server is noticed by the first connection made there. A statementTimeout of 0 sets none.
func newPool(ctx context.Context, c Config, purpose string, size int32, statementTimeout time.Duration) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	config.MaxConns = size
	if purpose == "intake" {
		config.MinConns = size // kept, so that nobody else can use up what the server allows
	}
	config.ConnConfig.ConnectTimeout = 2 * time.Second
	params := config.ConnConfig.RuntimeParams
	params["application_name"] = "ipn-receiver " + purpose
	params["search_path"] = "public"
	params["default_transaction_isolation"] = "read committed" // the log lock's argument needs a snapshot taken after it
	params["idle_in_transaction_session_timeout"] = "10000"
	params["jit"] = "off" // compiling a plan takes longer than any question here
	if statementTimeout > 0 {
		params["statement_timeout"] = fmt.Sprint(statementTimeout.Milliseconds())
		params["max_parallel_workers_per_gather"] = "0" // a question takes one processor, and leaves the others to intake
	}
	if !c.AllowVolatile {
		config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return guard(ctx, conn) }
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the %s pool: %w", purpose, err)
	}
	return pool, nil
}

// Close closes every connection, after those in use were given back. With a server that hangs it may take a quarter of a
// minute: so long the driver goes on trying to end a statement in order.
func (s *Store) Close() {
	s.queries.Close()
	s.intake.Close()
}
