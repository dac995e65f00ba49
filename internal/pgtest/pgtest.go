package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// New returns the URL of a fresh database with the newest schema, all of the
// test's own. It is dropped when the test ends; where the server outlives the
// process, a failed test leaves it and says how to open it.
func New(tb testing.TB) string {
	tb.Helper()
	return create(tb, true)
}

// NewEmpty is New without the schema.
func NewEmpty(tb testing.TB) string {
	tb.Helper()
	return create(tb, false)
}

// Main runs the tests of a package and ends the private server in order. It is
// for TestMain, and optional: without it the server ends with the process, and
// the next run removes its files.
func Main(m *testing.M) { os.Exit(Runner(m).Run()) }

// Runner is Main for a TestMain that has another master, such as
// goleak.VerifyTestMain(pgtest.Runner(m)): after Run no goroutine of the private
// server is left.
func Runner(m *testing.M) interface{ Run() int } { return runner{m} }

type runner struct{ m *testing.M }

func (r runner) Run() int {
	code := r.m.Run()
	if err := current.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return max(code, 1)
	}
	return code
}

// limit bounds every step: a server that hangs fails the test, not the pipeline.
const limit = 2 * time.Minute

// current is the one server of this test process.
var current shared

// shared starts a server for the first test that asks. A failed start is told
// to every test that needs it, and tried once.
type shared struct {
	mu     sync.Mutex
	server *server
	err    error
}

func (s *shared) get() (*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil && s.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		s.server, s.err = open(ctx)
	}
	return s.server, s.err
}

func (s *shared) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return nil
	}
	return s.server.close()
}

// open chooses the server.
func open(ctx context.Context) (*server, error) {
	if dsn := os.Getenv("TEST_DATABASE_URL"); dsn != "" {
		return openURL(ctx, dsn)
	}
	return openPrivate(ctx)
}

// create makes the database of one test.
func create(tb testing.TB, migrated bool) string {
	tb.Helper()
	skipWhenShort(tb)
	server, err := current.get()
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	name := databaseName(tb.Name())
	template := ""
	if migrated {
		template = server.template
	}
	if err := server.create(ctx, name, template); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() { server.finish(tb, name) })
	return server.dsn(name)
}

// finish drops the database of a test, or leaves it to be looked at.
func (s *server) finish(tb testing.TB, name string) {
	if tb.Failed() && s.outlives {
		tb.Logf("pgtest: the database is left: psql '%s'", s.dsn(name))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.drop(ctx, name); err != nil {
		tb.Errorf("pgtest: %v", err)
	}
}

func skipWhenShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("pgtest: tests that need a database are skipped with -short")
	}
}
