package pgtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestAnOwnedServerComesBackWithWhatWasCommitted(t *testing.T) {
	t.Parallel()
	outages := []struct {
		name string
		end  func(*pgtest.Owned)
	}{
		{"after an orderly stop", (*pgtest.Owned).Stop},
		{"after a kill", (*pgtest.Owned).Kill},
		{"after a kill while it was halted", func(o *pgtest.Owned) { o.Pause(); o.Kill() }},
		{"after a stop while it was halted", func(o *pgtest.Owned) { o.Pause(); o.Stop() }},
	}
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			t.Parallel()
			owned := pgtest.Own(t)
			execute(t, owned.DSN(), "create table kept as select 42 as n")
			outage.end(owned)
			if conn, err := pgx.Connect(t.Context(), owned.DSN()); err == nil {
				conn.Close(t.Context())
				t.Fatal("the server answers after its end")
			}
			owned.Start()
			if got := count(t, connect(t, owned.DSN()), "select n from kept"); got != 42 {
				t.Errorf("got %d, want 42", got)
			}
		})
	}
}

func TestAnOwnedServerIsMigrated(t *testing.T) {
	t.Parallel()
	if got := count(t, connect(t, pgtest.Own(t).DSN()), "select count(*) from events"); got != 0 {
		t.Errorf("events: got %d rows, want none", got)
	}
}

func TestAPausedServerDoesNotAnswerUntilItIsResumed(t *testing.T) {
	t.Parallel()
	owned := pgtest.Own(t)
	conn := connect(t, owned.DSN())
	owned.Pause()
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "select 1")
		answer <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if other, err := pgx.Connect(ctx, owned.DSN()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connect to a paused server: got %v, %v, want no answer in time", other, err)
	}
	select {
	case err := <-answer:
		t.Fatalf("an open connection answered while the server was paused: %v", err)
	default:
	}
	owned.Resume()
	select {
	case err := <-answer:
		if err != nil {
			t.Errorf("the statement failed after the pause: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no answer after the pause")
	}
}

func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	conn.Close(t.Context())
}
