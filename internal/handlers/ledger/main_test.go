package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// desk is a database of a test's own with everything that writes and reads the books.
type desk struct {
	testing.TB
	dsn    string
	store  *store.Store
	conn   *pgx.Conn
	reader *ledger.Reader
	record *store.Recorder
}

func newDesk(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{TB: tb, dsn: pgtest.New(tb)}
	var err error
	if d.store, err = store.Open(tb.Context(), store.Config{DSN: d.dsn, AllowVolatile: true}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.store.Close)
	if d.record, err = store.NewRecorder(d.store, 0, nil); err != nil {
		tb.Fatal(err)
	}
	if d.reader, err = ledger.OpenReader(tb.Context(), d.dsn, 2); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.reader.Close)
	if d.conn, err = pgx.Connect(tb.Context(), d.dsn); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.conn.Close(context.Background()) })
	d.run()
	return d
}

// run lets the recorder work until the test ends.
func (d *desk) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { d.record.Run(ctx) })
	d.Cleanup(func() { cancel(); working.Wait() })
}

// post records bodies one after the other, as the front door would.
func (d *desk) post(bodies ...string) {
	d.Helper()
	decoder := new(ipn.Decoder)
	for i, body := range bodies {
		event := decoder.Decode([]byte(body), "")
		receipt := &ipn.Receipt{
			Event: event, Identity: ipn.Scope{}.Identify(event), Digest: ipn.DigestOf([]byte(body)), Content: event.ContentDigest(),
			Vouched: ipn.VouchedSignature, Raw: []byte(body),
			Origin: ipn.Origin{ReceivedAt: time.Date(2024, 6, 1, 0, 0, i, 0, time.UTC)},
		}
		if _, err := d.record.Record(d.Context(), receipt); err != nil {
			d.Fatalf("record a receipt: %v", err)
		}
	}
}

// log is all events, in the order of the log.
func (d *desk) log() []ipn.Stored {
	d.Helper()
	events, err := d.store.Events(d.Context(), ipn.Question{Limit: 1_000_000})
	if err != nil {
		d.Fatal(err)
	}
	slices.SortFunc(events, func(a, b ipn.Stored) int { return int(a.ID - b.ID) })
	return events
}

// next reads the log for a rebuild.
func (d *desk) next(_ context.Context, after int64, limit int) ([]ipn.Stored, error) {
	events := slices.DeleteFunc(d.log(), func(e ipn.Stored) bool { return e.ID <= after })
	return events[:min(len(events), limit)], nil
}

// project takes one batch into the books, in a transaction of its own.
func (d *desk) project(events []ipn.Stored) {
	d.Helper()
	err := pgx.BeginFunc(d.Context(), d.conn, func(tx pgx.Tx) error { return ledger.Project(d.Context(), tx, events) })
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) execute(statement string, args ...any) {
	d.Helper()
	if _, err := d.conn.Exec(d.Context(), statement, args...); err != nil {
		d.Fatalf("%s: %v", statement, err)
	}
}

// column returns the texts of a query of one column.
func (d *desk) column(query string, args ...any) []string {
	d.Helper()
	rows, err := d.conn.Query(d.Context(), query, args...)
	if err != nil {
		d.Fatalf("%s: %v", query, err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		d.Fatalf("%s: %v", query, err)
	}
	return texts
}

// wantBooks checks every table of the books against the fold of the events.
func (d *desk) wantBooks(events []ipn.Stored) {
	d.Helper()
	want := ledger.Fold(events)
	d.wantMoney(want)
	d.wantTotals()
	d.wantDeclines()
	for _, book := range want.Transactions {
		got, err := d.reader.Transaction(d.Context(), book.ReferenceNumber, book.Test)
		d.wantSame("transaction "+book.ReferenceNumber, got, book, err)
	}
	for _, book := range want.Subscriptions {
		got, err := d.reader.Subscription(d.Context(), book.SubscriptionID, book.Test)
		d.wantSame("subscription "+book.SubscriptionID, got, book, err)
	}
	d.wantDisputes(want.Disputes)
	counts := fmt.Sprint(len(want.Transactions), len(want.Subscriptions), len(want.Disputes))
	if got := d.column("select concat_ws(' ', (select count(*) from transactions), (select count(*) from subscriptions), (select count(*) from disputes))")[0]; got != counts {
		d.Errorf("rows of transactions, subscriptions, disputes: got %s, want %s", got, counts)
	}
}

func (d *desk) wantSame(what string, got, want any, err error) {
	d.Helper()
	if err != nil {
		d.Errorf("%s: %v", what, err)
		return
	}
	if got, want := d.text(got), d.text(want); got != want {
		d.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// text is a book as others read it: decimals and instants have many forms that are equal.
func (d *desk) text(book any) string {
	d.Helper()
	text, err := json.MarshalIndent(book, "", " ")
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}

func (d *desk) wantMoney(want ledger.Books) {
	d.Helper()
	var movements, unbooked []string
	for _, m := range want.Movements {
		movements = append(movements, fmt.Sprintf("%d/%d %s %t %s %s %s %s %s %s%s", m.EventID, m.Line, m.Kind, m.Test, m.ReferenceNumber, m.SubscriptionID,
			m.At.Format(time.RFC3339), m.At.Format(time.DateOnly), m.Currency, m.Amount, optional(" tax=", m.Tax)+optional(" usd=", m.AmountUSD)+fmt.Sprintf(" %s/%s/%s", m.Country, m.State, m.ContractID)))
	}
	for _, u := range want.Unbooked {
		unbooked = append(unbooked, fmt.Sprintf("%d %t %s %s", u.EventID, u.Test, u.ReferenceNumber, u.Reason))
	}
	d.wantLines("movements", d.column(`
		select event_id || '/' || line || ' ' || kind || ' ' || test::text || ' ' || coalesce(reference_number, '') || ' ' || coalesce(subscription_id, '') || ' ' ||
			to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || day || ' ' || currency || ' ' || trim_scale(amount) ||
			coalesce(' tax=' || trim_scale(tax), '') || coalesce(' usd=' || trim_scale(amount_usd), '') ||
			' ' || coalesce(country, '') || '/' || coalesce(state, '') || '/' || coalesce(contract_id, '')
		from movements`), movements)
	d.wantLines("unbooked", d.column("select event_id || ' ' || test::text || ' ' || coalesce(reference_number, '') || ' ' || reason from unbooked"), unbooked)
}

func (d *desk) wantLines(what string, got, want []string) {
	d.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		d.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func (d *desk) wantDisputes(want []ipn.DisputeBook) {
	d.Helper()
	for i := range want {
		want[i].Path = append([]ipn.DisputeStep{}, want[i].Path...) // read as a list, also where it is empty
	}
	slices.SortFunc(want, func(a, b ipn.DisputeBook) int {
		if c := b.OpenedAt.Compare(a.OpenedAt); c != 0 {
			return c
		}
		if c := strings.Compare(b.ReferenceNumber, a.ReferenceNumber); c != 0 {
			return c
		}
		return strings.Compare(b.ReversalReference, a.ReversalReference)
	})
	for _, test := range []bool{false, true} {
		got, err := d.reader.Disputes(d.Context(), ipn.DisputeQuestion{Test: test, Limit: 1000})
		of := slices.DeleteFunc(slices.Clone(want), func(b ipn.DisputeBook) bool { return b.Test != test })
		if len(got)+len(of) > 0 {
			d.wantSame(fmt.Sprintf("disputes, test %t", test), got, of, err)
		}
	}
}

// wantTotals checks that everything that is kept as a sum is the plain sum of what stands, in SQL that knows nothing of how
// it was kept.
func (d *desk) wantTotals() {
	d.Helper()
	d.wantSums("daily_totals", "daily_sums", "monthly_totals", "daily_taxes", "monthly_taxes", "daily_contracts", "monthly_contracts", "daily_declines")
}

func (d *desk) wantSums(tables ...string) {
	d.Helper()
	for _, sum := range []struct{ table, plain string }{
		{"daily_totals", "select test, day, kind, currency, count(*), sum(amount), coalesce(sum(tax), 0), coalesce(sum(amount_usd), 0) from movements group by 1, 2, 3, 4"},
		{"daily_sums", "select test, day, kind = 'payout', currency, count(*), sum(amount), coalesce(sum(tax), 0), coalesce(sum(amount_usd), 0) from movements group by 1, 2, 3, 4"},
		{"monthly_totals", `
			select test, (to_char(day, 'YYYY-MM') || '-01')::date, kind, currency, count(*), sum(amount), coalesce(sum(tax), 0), coalesce(sum(amount_usd), 0)
			from movements group by 1, 2, 3, 4`},
		{"daily_taxes", `
			select test, day, coalesce(country, ''), coalesce(state, ''), currency,
				count(*), sum(case when kind in ('charge', 'recurring') then amount else 0 end), sum(case when kind in ('charge', 'recurring') then coalesce(tax, 0) else 0 end),
				sum(case when kind in ('charge', 'recurring') then 0 else -amount end), sum(case when kind in ('charge', 'recurring') then 0 else -coalesce(tax, 0) end),
				sum(case when tax is null and kind in ('refund', 'cancellation_refund', 'chargeback') then 1 else 0 end)
			from movements where kind <> 'payout' group by 1, 2, 3, 4, 5`},
		{"monthly_taxes", `
			select test, (to_char(day, 'YYYY-MM') || '-01')::date, coalesce(country, ''), coalesce(state, ''), currency,
				count(*), sum(case when kind in ('charge', 'recurring') then amount else 0 end), sum(case when kind in ('charge', 'recurring') then coalesce(tax, 0) else 0 end),
				sum(case when kind in ('charge', 'recurring') then 0 else -amount end), sum(case when kind in ('charge', 'recurring') then 0 else -coalesce(tax, 0) end),
				sum(case when tax is null and kind in ('refund', 'cancellation_refund', 'chargeback') then 1 else 0 end)
			from movements where kind <> 'payout' group by 1, 2, 3, 4, 5`},
		{"daily_contracts", `
			select test, day, coalesce(contract_id, ''), currency,
				count(*), sum(case when kind in ('charge', 'recurring') then 1 else 0 end), sum(case when kind in ('charge', 'recurring') then amount else 0 end), sum(case when kind in ('charge', 'recurring') then 0 else -amount end), sum(coalesce(amount_usd, 0))
			from movements where kind <> 'payout' group by 1, 2, 3, 4`},
		{"monthly_contracts", `
			select test, (to_char(day, 'YYYY-MM') || '-01')::date, coalesce(contract_id, ''), currency,
				count(*), sum(case when kind in ('charge', 'recurring') then 1 else 0 end), sum(case when kind in ('charge', 'recurring') then amount else 0 end), sum(case when kind in ('charge', 'recurring') then 0 else -amount end), sum(coalesce(amount_usd, 0))
			from movements where kind <> 'payout' group by 1, 2, 3, 4`},
		{"daily_declines", "select test, day, count(*) from declines group by 1, 2"},
	} {
		if slices.Contains(tables, sum.table) {
			d.wantRows(sum.table, "select * from "+sum.table, sum.plain)
		}
	}
}

// wantDeclines checks what counts as a failure: of each payer and day, what the most talkative type told.
func (d *desk) wantDeclines() {
	d.Helper()
	d.wantRows("declines by day", "select test, day, n from daily_declines", `
		select test, day, sum(most) from (
			select test, day, payer, max(n) as most from (
				select test, (sorted_at at time zone 'UTC')::date as day, transaction_type, count(*) as n,
					case when subscription_id is not null then 'sub ' || subscription_id when reference_number is not null then 'ref ' || reference_number else 'event ' || id end as payer
				from events where transaction_type in ('DECLINE', 'FRAUD_DECLINE', 'CC_CHARGE_FAILED', 'CANCEL', 'SUBSCRIPTION_CHARGE_FAILURE')
					and id <= (select event_id from ledger_reach)
				group by 1, 2, 3, 5) as by_type
			group by 1, 2, 3) as by_payer
		group by 1, 2`)
}

// wantRows compares two queries, row by row.
func (d *desk) wantRows(what, got, want string) {
	d.Helper()
	differing := d.column("with got as (" + got + "), want as (" + want + `)
		select 'extra: ' || x::text from (table got except table want) x union all select 'missing: ' || x::text from (table want except table got) x`)
	if len(differing) > 0 {
		d.Errorf("%s:\n%s", what, strings.Join(differing, "\n"))
	}
}
