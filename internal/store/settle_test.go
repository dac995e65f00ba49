package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestASettlementKeepsWhatBecameOfEachEvent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 3)
	lead := mustLead(t, open(t, dsn), sink)
	mustSettle(t, lead, ipn.Settlement{Position: ids[2], Failed: []ipn.Failure{
		{EventID: ids[0], Number: 1, Took: 1500 * time.Millisecond, Error: "500", Wait: time.Hour},
		{EventID: ids[1], Number: 1, Error: "400", Bury: true},
	}})
	const rows = `select string_agg(concat_ws(' ', event_id - $1, state, attempts, last_error, round(extract(epoch from next_at - first_failed_at))), ', ' order by event_id) from parked`
	if got, want := ask[string](t, dsn, rows, ids[0]), "0 parked 1 500 3600, 1 buried 1 400"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	mustSettle(t, lead, ipn.Settlement{Failed: []ipn.Failure{{EventID: ids[0], Number: 2, Error: strings.Repeat("é", 400) + "\x00\xff", Wait: time.Minute}}})
	mustSettle(t, lead, ipn.Settlement{Done: []ipn.Success{{EventID: ids[0], Number: 3, Took: time.Second}}})
	const history = `select string_agg(concat_ws(' ', event_id - $1, number, result, took_ms, octet_length(error)), ', ' order by id) from attempts`
	if got, want := ask[string](t, dsn, history, ids[0]), "0 1 failed 1500 3, 1 1 buried 0 3, 0 2 failed 0 500, 0 3 done 1000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := ask[int64](t, dsn, "select event_id from parked"); got != ids[1] {
		t.Errorf("event %d is left", got)
	}
	if lead.Position() != ids[2] || ask[int64](t, dsn, "select position from handler_cursors") != ids[2] {
		t.Errorf("the cursor is at %d", lead.Position())
	}
}

func TestASettlementFromAnotherPositionChangesNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 3)
	lead := mustLead(t, open(t, dsn), sink)
	mustSettle(t, lead, ipn.Settlement{Position: ids[1]})
	failed := []ipn.Failure{{EventID: ids[0], Number: 1, Error: "no"}}
	if err := lead.Settle(t.Context(), ipn.Settlement{Position: ids[0], Failed: failed}); !errors.Is(err, ipn.ErrFenced) {
		t.Errorf("backwards: got %v", err)
	}
	execute(t, dsn, fmt.Sprintf("update handler_cursors set position = %d", ids[0]))
	if err := lead.Settle(t.Context(), ipn.Settlement{Position: ids[2], Failed: failed}); !errors.Is(err, ipn.ErrFenced) {
		t.Errorf("from elsewhere: got %v", err)
	}
	if got := ask[string](t, dsn, "select concat_ws(' ', position - $1, (select count(*) from parked), (select count(*) from attempts)) from handler_cursors", ids[0]); got != "0 0 0" {
		t.Errorf("got %s", got)
	}
}

func TestParkedEventsAreDueByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 3)
	for _, bodies := range []bool{false, true} {
		lead := mustLead(t, open(t, dsn), store.LeadConfig{Handler: fmt.Sprint("h", bodies), Kind: ipn.KindSink, Bodies: bodies})
		if due, wait, err := lead.Due(t.Context(), 10); err != nil || len(due) != 0 || wait != 0 {
			t.Errorf("nothing is parked: got %v, %s, %v", due, wait, err)
		}
		mustSettle(t, lead, ipn.Settlement{Failed: []ipn.Failure{
			{EventID: ids[0], Number: 7, Error: "no", Wait: 2 * time.Hour},
			{EventID: ids[1], Number: 1, Error: "no", Wait: time.Hour},
			{EventID: ids[2], Number: 1, Error: "no", Bury: true},
		}})
		if due, wait, err := lead.Due(t.Context(), 10); err != nil || len(due) != 0 || wait <= 59*time.Minute || wait > time.Hour {
			t.Errorf("before its time: got %v, %s, %v", due, wait, err)
		}
		execute(t, dsn, "update parked set next_at = next_at - interval '90 minutes'")
		if due, _, err := lead.Due(t.Context(), 10); err != nil || len(due) != 1 || due[0].ID != ids[1] {
			t.Errorf("in time for one of them: got %+v, %v", due, err)
		}
		execute(t, dsn, "update parked set next_at = next_at - interval '1 hour'")
		due, wait, err := lead.Due(t.Context(), 10)
		if err != nil || len(due) != 2 || wait != 0 || due[0].ID != ids[1] || due[1].ID != ids[0] {
			t.Fatalf("in time: got %+v, %s, %v", due, wait, err)
		}
		if due[1].Attempts != 7 || due[1].FirstFailedAt.IsZero() || due[1].Facts.ReferenceNumber != "R1" || (due[1].Raw != nil) != bodies {
			t.Errorf("got %+v", due[1])
		}
		if due, _, err := lead.Due(t.Context(), 1); err != nil || len(due) != 1 {
			t.Errorf("a limit: got %d, %v", len(due), err)
		}
	}
}

// deposits is a projection: it writes each event to a table of its own, then does as the test wants.
func deposits(then func(context.Context, pgx.Tx) error) store.LeadConfig {
	return store.LeadConfig{Handler: "ledger", Kind: ipn.KindProjection, Project: func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
		for _, e := range events {
			if _, err := tx.Exec(ctx, "insert into deposits values ($1)", e.ID); err != nil {
				return err
			}
		}
		return then(ctx, tx)
	}}
}

const depositsTable = "create table deposits (event_id bigint primary key, of bigint references events (id) deferrable initially deferred, note text check (note <> 'Jane'))"

func TestAProjectionAndItsCursorBecomeTrueTogether(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("no such account")
	exec := func(statement string) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("deposit: %w", err)
			}
			return nil
		}
	}
	tests := []struct {
		name   string
		then   func(context.Context, pgx.Tx) error
		is     error  // what the error is
		reads  string // how it reads
		closed bool   // the session is over
	}{
		{name: "it goes well", then: exec("select 1")},
		{name: "an error of its own", then: func(context.Context, pgx.Tx) error { return fmt.Errorf("deposit: %w", errOwn) }, is: errOwn, reads: "project: deposit: no such account"},
		{name: "a row the database refuses", then: exec("update deposits set note = 'Jane'"), reads: "project: deposit: SQLSTATE 23514 (deposits_note_check)"},
		{name: "a refusal at the commit", then: exec("update deposits set of = -4711"), reads: "project: SQLSTATE 23503 (deposits_of_fkey)"},
		{name: "a statement that is wrong", then: exec("select jane from deposits"), reads: "project: deposit: SQLSTATE 42703"},
		{name: "an error that it ignores", then: func(ctx context.Context, tx pgx.Tx) error {
			_, _ = tx.Exec(ctx, "select jane from deposits")
			return nil
		}, is: pgx.ErrTxCommitRollback, reads: "project: commit unexpectedly resulted in rollback"},
		{name: "a statement after one it ignored", then: func(ctx context.Context, tx pgx.Tx) error {
			_, _ = tx.Exec(ctx, "select jane from deposits")
			_, err := tx.Exec(ctx, "select 1")
			return err
		}, reads: "project: SQLSTATE 25P02"},
		{name: "trouble of the server", then: exec("do $$ begin raise exception 'Jane' using errcode = '40001'; end $$"), is: ipn.ErrUnavailable, reads: "the record is unavailable: SQLSTATE 40001"},
		{name: "a session that is lost", then: exec("select pg_terminate_backend(pg_backend_pid())"), is: ipn.ErrUnavailable, reads: "the record is unavailable: SQLSTATE 57P01", closed: true},
	}
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 1)
	execute(t, dsn, depositsTable)
	s := open(t, dsn)
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			execute(t, dsn, "truncate deposits")
			books := deposits(tc.then)
			books.Handler = fmt.Sprint("ledger", i)
			lead := mustLead(t, s, books)
			defer lead.Close()
			err := lead.Settle(t.Context(), ipn.Settlement{Project: []ipn.Stored{{ID: ids[0]}}, Position: ids[0]})
			if tc.is != nil && !errors.Is(err, tc.is) || err != nil && err.Error() != tc.reads || err == nil && tc.reads != "" {
				t.Errorf("got %v", err)
			}
			if errors.Is(err, ipn.ErrUnavailable) != errors.Is(tc.is, ipn.ErrUnavailable) {
				t.Errorf("whose fault is it? got %v", err)
			}
			together := ask[string](t, dsn, "select concat_ws(' ', position, (select count(*) from deposits)) from handler_cursors where handler = $1", books.Handler)
			if want := map[bool]string{true: fmt.Sprint(ids[0], " 1"), false: "0 0"}[err == nil]; together != want {
				t.Errorf("got %s, want %s", together, want)
			}
			if still := lead.Check(t.Context()); (still != nil) != tc.closed {
				t.Errorf("afterwards: got %v", still)
			}
		})
	}
}

func TestAProjectionThatRunsOutOfTimeIsToldApart(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 1)
	execute(t, dsn, depositsTable)
	ways := map[string]func(context.Context, pgx.Tx) error{
		"within a statement": func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, "select pg_sleep(600)"); return err },
		"by itself":          func(ctx context.Context, _ pgx.Tx) error { <-ctx.Done(); return errors.New("gave up") },
		"without a word":     func(ctx context.Context, _ pgx.Tx) error { <-ctx.Done(); return nil },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			lead := mustLead(t, open(t, dsn), deposits(way))
			defer lead.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := lead.Settle(ctx, ipn.Settlement{Project: []ipn.Stored{{ID: ids[0]}}, Position: ids[0]})
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ipn.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			mustSettle(t, lead, ipn.Settlement{})
		})
	}
	if n := ask[int](t, dsn, "select count(*) from deposits"); n != 0 {
		t.Errorf("%d deposits are left", n)
	}
}

func TestAProjectionThatDoesNotReturnIsRolledBack(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 1)
	execute(t, dsn, depositsTable)
	ways := map[string]func(){"a panic": func() { panic("at the disco") }, "the end of its goroutine": runtime.Goexit}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			lead := mustLead(t, open(t, dsn), deposits(func(context.Context, pgx.Tx) error { way(); return nil }))
			defer lead.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }()
				_ = lead.Settle(t.Context(), ipn.Settlement{Project: []ipn.Stored{{ID: ids[0]}}, Position: ids[0]})
			}()
			<-ended
			mustSettle(t, lead, ipn.Settlement{})
			if got := ask[string](t, dsn, "select concat_ws(' ', position, (select count(*) from deposits)) from handler_cursors"); got != "0 0" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestASinkProjectsNothing(t *testing.T) {
	t.Parallel()
	lead := mustLead(t, open(t, pgtest.New(t)), sink)
	if err := lead.Settle(t.Context(), ipn.Settlement{Project: make([]ipn.Stored, 1)}); err == nil {
		t.Error("it did")
	}
}

func TestATroubleOfTheProjectionsOwnIsNotTakenForALostLead(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	execute(t, dsn, depositsTable)
	events := logged(t, dsn, 1)
	for _, own := range []error{ipn.ErrUnavailable, ipn.ErrFenced, ipn.ErrLed, ipn.ErrPaused} {
		lead := mustLead(t, s, deposits(func(context.Context, pgx.Tx) error { return fmt.Errorf("ask the rates: %w", own) }))
		err := lead.Settle(t.Context(), ipn.Settlement{Project: []ipn.Stored{{ID: events[0]}}, Position: events[0]})
		if err == nil || errors.Is(err, own) || !strings.Contains(err.Error(), "ask the rates") {
			t.Errorf("got %v", err)
		}
		lead.Close()
	}
}
