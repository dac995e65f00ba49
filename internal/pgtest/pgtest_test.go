package pgtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestANewDatabaseHasTheSchemaAndNoRows(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.New(t))
	if got := count(t, conn, "select count(*) from events"); got != 0 {
		t.Errorf("events: got %d rows, want none", got)
	}
}

func TestAnEmptyDatabaseHasNoTables(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.NewEmpty(t))
	if got := count(t, conn, "select count(*) from pg_tables where schemaname = 'public'"); got != 0 {
		t.Errorf("got %d tables, want none", got)
	}
}

func TestDatabasesOfTestsAreTheirOwn(t *testing.T) {
	t.Parallel()
	first, second := pgtest.New(t), pgtest.New(t)
	execute(t, first, "create table mine ()")
	execute(t, second, "create table mine ()")
}

// The connection stays open until the test has ended, as a forgotten pool does.
func TestADatabaseIsDroppedWhenItsTestEnds(t *testing.T) {
	t.Parallel()
	var dsn string
	t.Run("a test that leaves a connection", func(t *testing.T) {
		dsn = pgtest.New(t)
		if _, err := pgx.Connect(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
	})
	_, err := pgx.Connect(t.Context(), dsn)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" {
		t.Errorf("got %v, want SQLSTATE 3D000, no such database", err)
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func count(t *testing.T, conn *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
