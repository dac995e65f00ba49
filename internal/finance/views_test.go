package finance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// reader is a connection in the role of a program for reports.
func reader(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "set role ipn_finance"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// lines returns the texts of a query of one column.
func lines(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return texts
}

// views are the views of the schema finance.
var views = []string{"bank_transfer_returns", "daily_contracts", "daily_declines", "daily_taxes", "daily_totals", "disputes", "events", "handlers", "movements",
	"payouts", "subscriptions", "tax_records", "tax_refunds", "transactions", "unbooked"}

func TestTheReportingRoleReadsTheViewsAndNothingElse(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := reader(t, dsn)
	if got := lines(t, conn, "select relname::text from pg_class where relnamespace = 'finance'::regnamespace order by 1"); !slices.Equal(got, views) {
		t.Errorf("the views are %v, known here are %v", got, views)
	}
	for _, view := range views {
		lines(t, conn, "select count(*)::text from finance."+view)
	}
	if able := lines(t, conn, `
		select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and n.nspname not in ('finance', 'pg_catalog', 'information_schema')
			and case c.relkind when 'S' then has_sequence_privilege(c.oid, 'usage, select, update')
				else has_any_column_privilege(c.oid, 'select, insert, update, references') or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger') end`); len(able) > 0 {
		t.Errorf("the role has rights on %v", able)
	}
	for _, statement := range []string{
		"select * from public.events", "select raw from public.payloads", "select fields from public.variants", "select raw from public.quarantine",
		"select * from public.people", "select * from public.sessions", "select key from public.cursor_key", "select * from public.audit",
		"insert into finance.movements (event_id) values (1)", "update finance.transactions set state = 'won'", "delete from finance.disputes", "truncate public.movements",
		"create table public.mine (x int)", "create table finance.mine (x int)", "create view finance.mine as select 1", "drop view finance.events", "create schema mine",
		"select pg_read_file('/etc/hostname')", "copy (select 1) to program 'true'",
		"select public.payloads_make_month('2001-01-01')",
	} {
		_, err := conn.Exec(t.Context(), statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("%s: got %v, want that the role may not", statement, err)
		}
	}
	for _, setting := range lines(t, conn, "select unnest(rolconfig) from pg_roles where rolname = 'ipn_finance' and not rolcanlogin") {
		if setting == "statement_timeout=30s" {
			return
		}
	}
	t.Error("the role has no statement_timeout, or may sign in")
}

func TestEveryViewAndEveryColumnOfItIsExplained(t *testing.T) {
	t.Parallel()
	conn := reader(t, pgtest.New(t))
	if silent := lines(t, conn, `
		select v.relname || coalesce('.' || a.attname, '') from pg_class v left join pg_attribute a on a.attrelid = v.oid and a.attnum > 0
		where v.relnamespace = 'finance'::regnamespace and (obj_description(v.oid) is null or col_description(v.oid, a.attnum) is null)`); len(silent) > 0 {
		t.Errorf("without a comment: %s", strings.Join(silent, ", "))
	}
	for _, personal := range []string{"raw", "fields", "headers", "peer", "name", "email", "digest", "identity"} {
		if got := lines(t, conn, "select attrelid::regclass::text from pg_attribute a join pg_class v on v.oid = attrelid where relnamespace = 'finance'::regnamespace and attname like '%"+personal+"%'"); len(got) > 0 {
			t.Errorf("%s stands in %v", personal, got)
		}
	}
}

// Each database of a cluster makes the role that all share: together they must neither fail nor wait for ever.
func TestDatabasesOfOneClusterMakeTheRoleTogether(t *testing.T) {
	t.Parallel()
	var together sync.WaitGroup
	for range 4 {
		dsn := pgtest.NewEmpty(t)
		together.Go(func() {
			if err := store.Migrate(t.Context(), dsn, func(string, ...any) {}); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
}

func TestTheViewsAgreeWithTheAPIToTheCent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o, conn := newNovember(t, dsn), reader(t, dsn)
	const month = " not test and day >= '2026-11-01' and day < '2026-12-01' "
	items := func(path string, name func(map[string]any) string) []string {
		t.Helper()
		texts, _ := o.follow("/api/v1/"+path, []string{"from", "2026-11-01", "to", "2026-12-01"}, name)
		return texts
	}
	for _, tc := range []struct {
		name     string
		api, sql []string
	}{
		{"totals", items("totals", func(s map[string]any) string {
			return fmt.Sprint(s["day"], s["currency"], s["count"], s["amount"], s["tax"], s["amountUSD"])
		}),
			lines(t, conn, "select day || currency || sum(movements) || sum(amount) || sum(tax) || sum(amount_usd) from finance.daily_totals where"+month+"group by day, currency, kind = 'payout' order by day, kind = 'payout', currency")},
		{"balance", items("balance", func(b map[string]any) string { return fmt.Sprint(b["currency"], " ", b["net"], " ", b["payouts"]) }),
			lines(t, conn, "select currency || ' ' || sum(amount) filter (where kind <> 'payout') || ' ' || -sum(amount) filter (where kind = 'payout') from finance.movements where"+month+"group by currency order by currency")},
		{"taxes", items("taxes", func(x map[string]any) string {
			return fmt.Sprint(x["country"], x["currency"], x["collected"], " ", x["refunded"], x["charged"], " ", x["reversed"])
		}),
			lines(t, conn, "select country || currency || sum(collected) || ' ' || sum(refunded) || sum(charged) || ' ' || sum(reversed) from finance.daily_taxes where"+month+"group by country, currency order by country, currency")},
		{"contracts", items("contracts", func(c map[string]any) string { return fmt.Sprint(c["contractId"], c["charged"], c["amountUSD"]) }),
			lines(t, conn, "select contract_id || sum(charged) || sum(amount_usd) from finance.daily_contracts where"+month+"group by contract_id, currency order by sum(amount_usd) desc")},
		{"payouts", items("payouts", func(p map[string]any) string { return fmt.Sprint(p["eventId"], p["currency"], p["amount"]) }),
			lines(t, conn, "select event_id || currency || amount from finance.payouts where"+month+"order by at desc, event_id desc, line desc")},
		{"declines", []string{fmt.Sprint(o.get("/api/v1/rates")["declines"])}, lines(t, conn, "select sum(declines)::text from finance.daily_declines where not test")},
		{"transactions", []string{fmt.Sprint(o.get("/api/v1/transactions/R1")["refundable"])}, lines(t, conn, "select refundable::text from finance.transactions where reference_number = 'R1' and not test")},
	} {
		if len(tc.api) == 0 || !slices.Equal(tc.api, tc.sql) {
			t.Errorf("%s:\n API %q\n SQL %q", tc.name, tc.api, tc.sql)
		}
	}
	for _, view := range []struct{ path, sql string }{
		{"disputes", "select reference_number || state || amount from finance.disputes where not test order by opened_at desc"},
		{"subscriptions?atRisk=true", "select subscription_id || state || last_amount from finance.subscriptions where at_risk and not test"},
	} {
		var api []string
		for _, item := range o.get("/api/v1/" + view.path)["items"].([]any) {
			i := item.(map[string]any)
			if i["subscriptionId"] != nil {
				api = append(api, fmt.Sprint(i["subscriptionId"], i["state"], i["lastAmount"]))
			} else {
				api = append(api, fmt.Sprint(i["referenceNumber"], i["state"], i["amount"]))
			}
		}
		if sql := lines(t, conn, view.sql); !slices.Equal(api, sql) {
			t.Errorf("%s:\n API %q\n SQL %q", view.path, api, sql)
		}
	}
}
