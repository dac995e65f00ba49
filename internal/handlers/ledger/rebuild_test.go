package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// kept is a desk with books in order.
func kept(t *testing.T, seed uint64) (*desk, []ipn.Stored) {
	t.Helper()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(seed, 5)), 120)...)
	events := d.log()
	for batch := range slices.Chunk(events, 25) {
		d.project(batch)
	}
	return d, events
}

func (d *desk) rebuild(upTo int64) ledger.Report {
	d.Helper()
	report, err := ledger.RebuildAt(d.Context(), d.dsn, upTo, d.next, nil)
	if err != nil {
		d.Fatal(err)
	}
	return report
}

// differing are the tables of a report that stood otherwise, with rows missing, extra and differing.
func differing(r ledger.Report) []string {
	var found []string
	for _, t := range r.Tables {
		if !t.Equal() {
			found = append(found, fmt.Sprintf("%s %d %d %d", t.Table, t.Missing, t.Extra, t.Differing))
		}
	}
	return found
}

func TestARebuildProvesBooksThatWereKeptInOrder(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 1)
	d.project(events[:40]) // a replay on the way
	last := events[len(events)-1].ID
	var position, target int64
	report, err := ledger.RebuildAt(t.Context(), d.dsn, last, d.next, func(p, of int64) { position, target = p, of })
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() || report.UpTo != last || report.Events != int64(len(events)) {
		t.Errorf("got %+v, want equal books of %d events up to %d", report, len(events), last)
	}
	if position != last || target != last {
		t.Errorf("the progress ended at %d of %d, want %d", position, target, last)
	}
	for _, table := range report.Tables {
		if count := d.column("select count(*)::text from " + table.Table)[0]; count != fmt.Sprint(table.Rows) || count == "0" {
			t.Errorf("%s: %d rows reported, %s stand", table.Table, table.Rows, count)
		}
	}
	d.wantBooks(events)
}

func TestARebuildFindsAndMendsWhatWasTamperedWith(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 2)
	d.execute("set session_replication_role = replica") // whoever tampers does not let the sums follow
	for _, tt := range []struct{ name, statement, want string }{
		{"a movement that is gone", "delete from movements where (event_id, line) = (select event_id, line from movements limit 1)", "movements 1 0 0"},
		{"another amount", "update movements set amount = amount * 2 where (event_id, line) = (select event_id, line from movements where amount <> 0 limit 1)", "movements 0 0 1"},
		{"a movement of no event", "insert into movements select 9999, 7, kind, test, reference_number, subscription_id, at, day, currency, amount, tax, amount_usd from movements limit 1", "movements 0 1 0"},
		{"tax where none was told", "update movements set tax = 0 where (event_id, line) = (select event_id, line from movements where tax is null limit 1)", "movements 0 0 1"},
		{"another state", "update transactions set state = 'won' where reference_number = 'R1' and not test", "transactions 0 0 1"},
		{"nothing to attend to", "update transactions set attention = null where (reference_number, test) = (select reference_number, test from transactions where attention is not null limit 1)", "transactions 0 0 1"},
		{"a subscription of nobody", "insert into subscriptions (test, subscription_id, state, charges, failures, started_at, last_at, events) values (false, 'S9', 'active', 0, 0, now(), now(), 1)", "subscriptions 0 1 0"},
		{"another path", `update disputes set path = '[]' where (reference_number, reversal_reference, test) = (select reference_number, reversal_reference, test from disputes where path <> '[]' limit 1)`, "disputes 0 0 1"},
		{"a day that is gone", "delete from daily_totals where (test, day, kind, currency) = (select test, day, kind, currency from daily_totals limit 1)", "daily_totals 1 0 0"},
		{"a day's sum", "update daily_sums set n = n + 1 where ctid = (select ctid from daily_sums limit 1)", "daily_sums 0 0 1"},
		{"a month of nothing", "insert into monthly_totals values (false, '2024-05-01', 'charge', 'XTS', 1, 5, 0, 5)", "monthly_totals 0 1 0"},
		{"a failure that is told twice", "insert into declines select 9999, test, day from declines limit 1", "declines 0 1 0"},
		{"a place's tax", "update daily_taxes set refunded = refunded + 0.01 where ctid = (select ctid from daily_taxes limit 1)", "daily_taxes 0 0 1"},
		{"a plan of nobody", "insert into monthly_contracts values (false, '2024-05-01', 'P9', 'EUR', 1, 1, 5, 0, 5)", "monthly_contracts 0 1 0"},
		{"a day without declines", "delete from daily_declines where ctid = (select ctid from daily_declines limit 1)", "daily_declines 1 0 0"},
		{"a note that is gone", "delete from unbooked where (event_id, reason) = (select event_id, reason from unbooked limit 1)", "unbooked 1 0 0"},
	} {
		d.execute(tt.statement)
		if got := differing(d.rebuild(0)); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
	d.wantBooks(events)
	if got := differing(d.rebuild(0)); got != nil {
		t.Errorf("after the mending: found %q", got)
	}
}

func TestARebuildMendsMoreMovementsThanTheirSumsKnowOf(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 7)
	d.execute("set session_replication_role = replica")
	d.execute("insert into movements select event_id, line + 10 * n, kind, test, reference_number, subscription_id, at, day, currency, amount, tax, amount_usd from movements, generate_series(1, 9) n")
	if d.rebuild(0).Equal() {
		t.Error("nothing was found")
	}
	d.wantBooks(events)
}

func TestARebuildMendsSumsThatWereMadeTooSmallForTheirMovements(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 6)
	d.execute("set session_replication_role = replica")
	for _, table := range []string{"daily_totals", "daily_sums", "monthly_totals", "daily_taxes", "monthly_taxes"} {
		d.execute("update " + table + " set n = 1" + map[bool]string{true: ", untold = 0"}[strings.HasSuffix(table, "taxes")])
	}
	d.execute("update movements set amount = amount * 2") // all of them are taken away and made anew
	if d.rebuild(0).Equal() {
		t.Error("nothing was found")
	}
	d.wantBooks(events)
}

func TestARebuildGoesAsFarAsTheBooksAndNotFurther(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 3)
	d.post(body("01 CHARGE amount=21"))
	if report := d.rebuild(events[3].ID); !report.Equal() || report.UpTo != events[len(events)-1].ID {
		t.Errorf("behind a cursor that was set back: %+v, want equal books up to %d", report, events[len(events)-1].ID)
	}
	d.wantBooks(events)
}

func TestARebuildBringsBooksToACursorTheyAreBehind(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 4)
	for _, table := range []string{"movements", "unbooked", "transactions", "subscriptions", "disputes", "daily_totals", "daily_sums", "monthly_totals", "declines", "daily_declines", "daily_taxes", "monthly_taxes", "daily_contracts", "monthly_contracts"} {
		d.execute("delete from " + table)
	}
	d.execute("update ledger_reach set event_id = 0, declines = 0")
	report := d.rebuild(events[len(events)-1].ID)
	for _, table := range report.Tables {
		if table.Missing != table.Rows || table.Extra+table.Differing != 0 {
			t.Errorf("%+v, want all rows missing", table)
		}
	}
	d.wantBooks(events)
	d.post(body("01 CHARGE amount=21 ref=R1"))
	events = d.log()
	d.project(events[len(events)-1:]) // what comes next stands on it
	d.wantBooks(events)
}

func TestARebuildLeavesTheTransactionAsItWas(t *testing.T) {
	t.Parallel()
	d, events := kept(t, 7)
	err := pgx.BeginFunc(t.Context(), d.conn, func(tx pgx.Tx) error {
		var before, after string
		if err := tx.QueryRow(t.Context(), "select current_setting('search_path')").Scan(&before); err != nil {
			return err
		}
		if _, err := ledger.Rebuild(t.Context(), tx, 0, d.next, nil); err != nil {
			return err
		}
		err := tx.QueryRow(t.Context(), "select current_setting('search_path')").Scan(&after)
		if before != after {
			t.Errorf("the search path was %q and is %q", before, after)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.wantBooks(events)
}

func TestARebuildThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	d, _ := kept(t, 6)
	d.execute("delete from transactions where reference_number = 'R1'")
	lost := errors.New("the log is lost")
	_, err := ledger.RebuildAt(t.Context(), d.dsn, 0, func(context.Context, int64, int) ([]ipn.Stored, error) { return nil, lost }, nil)
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
	if got := d.column("select nspname from pg_namespace where nspname = 'ledger_rebuild'"); len(got) != 0 {
		t.Error("the room for new books is left behind")
	}
	if got := differing(d.rebuild(0)); len(got) != 1 {
		t.Errorf("after a rebuild that failed: found %q, want the transactions that are gone", got)
	}
}

func TestARebuildSaysWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	_, err := ledger.RebuildAt(t.Context(), "postgres://127.0.0.1:1/x", 0, nil, nil)
	if !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v, want ipn.ErrUnavailable", err)
	}
	if _, err := ledger.RebuildAt(t.Context(), "postgres://%", 0, nil, nil); err == nil || errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v, want that the URL cannot be read", err)
	}
}
