package pgtest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

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

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func count(t *testing.T, conn *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
