package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// fillLog makes a log of 50,000 events of three kinds of day: one charge per transaction, or a charge and in every
// fifth transaction a refund far behind it, or the renewals of 5,000 subscriptions.
const fillLog = `
	insert into events (identity, transaction_type, reference_number, reversal_reference, subscription_id, account_id, merchant_transaction_id, amount, currency,
		amount_usd, tax_amount, tax_usd, payment_method, country, state, contract_id, test, occurred_at, verification, digest, content_digest, received_at, last_received_at)
	select sha256(n::text::bytea), case when reversal then 'REFUND' when $1 = 'renewals' then 'RECURRING' else 'CHARGE' end,
		(case when reversal then n - 10000 else n end + 1000000000)::text, case when reversal then n::text end, case when $1 = 'renewals' then (n % 5000 + 7000000)::text end,
		(n % 9973)::text, 'order-' || n, 21.00, 'EUR', 22.84, 3.35, 3.65, 'CC', (array['DE', 'US', 'FR', 'GB'])[1 + n % 4], case when n % 4 = 1 then (array['CA', 'NY', 'TX', 'WA', 'FL'])[1 + n % 5] end, (2000000 + n % 40)::text, false,
		date_trunc('minute', timestamptz '2024-05-01' + n * interval '1 second'), 'signature', sha256(n::text::bytea), sha256(n::text::bytea), timestamptz '2024-06-01', timestamptz '2024-06-01'
	from (select n, $1 = 'refunds' and n > 10000 and n % 5 = 0 as reversal from generate_series(1, 50000) n) as n`

// BenchmarkProject measures the ledger's share of a backlog: batches that are read already go into the books of a
// durable server, a commit each.
func BenchmarkProject(b *testing.B) {
	owned := pgtest.Own(b)
	for _, day := range []string{"charges", "refunds", "renewals"} {
		events := fill(b, owned.DSN(), day)
		for _, size := range []int{256, 1024, 2000} {
			b.Run(fmt.Sprintf("%s/%d", day, size), func(b *testing.B) { projectAll(b, owned.DSN(), events, size) })
		}
	}
}

func fill(b *testing.B, dsn, day string) []ipn.Stored {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range []string{"truncate events restart identity cascade", "set work_mem = '64MB'"} {
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := conn.Exec(b.Context(), fillLog, day); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), "vacuum analyze events"); err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), store.Config{DSN: dsn})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	return (&desk{TB: b, store: s}).log()
}

// projectAll takes b.N events, in batches, as often around the log as it needs; each time around begins with empty
// books.
func projectAll(b *testing.B, dsn string, events []ipn.Stored, size int) {
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	d := &desk{TB: b, conn: conn}
	at := len(events)
	for done := 0; done < b.N; {
		if at >= len(events) {
			b.StopTimer()
			d.execute("truncate movements, unbooked, transactions, subscriptions, disputes, daily_totals, daily_sums, monthly_totals, declines, daily_declines, daily_taxes, monthly_taxes, daily_contracts, monthly_contracts")
			d.execute("update ledger_reach set event_id = 0, declines = 0")
			d.execute("checkpoint")
			at = 0
			b.StartTimer()
		}
		batch := events[at:min(at+size, len(events), at+b.N-done)]
		if err := pgx.BeginFunc(b.Context(), conn, func(tx pgx.Tx) error { return ledger.Project(b.Context(), tx, batch) }); err != nil {
			b.Fatal(err)
		}
		at, done = at+len(batch), done+len(batch)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// fillYear makes the books of a year of $1 events: of a hundred, 90 charges, 6 refunds, 1 dispute and 3 failures, in 5
// currencies, 12 countries and the 50 states of one of them, of 1,000 plans, 400,000 subscriptions and a payout a day.
const (
	fillYear = `
		insert into movements (event_id, line, kind, test, reference_number, subscription_id, at, day, currency, amount, tax, amount_usd, country, state, contract_id)
		select n, 0, kind, false, n::text, null, at, (at at time zone 'UTC')::date, (array['USD', 'EUR', 'GBP', 'JPY', 'CAD'])[1 + n % 5],
			sign * 21.00, case when kind = 'charge' then 3.35 end, sign * 22.84,
			(array['US', 'DE', 'FR', 'GB', 'IT', 'ES', 'NL', 'SE', 'JP', 'CA', 'AU', 'BR'])[1 + place], case place when 0 then 'S' || n / 7 % 50 end, 'P' || n::bigint * 7919 % 1000
		from (
			select n, case when n % 100 < 90 then 'charge' when n % 100 < 96 then 'refund' else 'chargeback' end as kind, case when n % 100 < 90 then 1 else -1 end as sign,
				timestamptz '2024-01-01Z' + interval '366 days' * (n::float8 / $1::int) as at, n / 3 % 12 as place
			from generate_series(1, $1::int - 1) n where n % 100 < 97) as n`
	fillPayouts = `
		insert into movements (event_id, line, kind, test, at, day, currency, amount)
		select 100000000 + n, 0, 'payout', false, timestamptz '2024-01-01Z' + n * interval '1 day', date '2024-01-01' + n, 'USD', -1000 from generate_series(0, 365) n`
	fillTotals = `
		insert into daily_totals (test, day, kind, currency, n, amount, tax, amount_usd)
		select test, day, kind, currency, count(*), sum(amount), coalesce(sum(tax), 0), coalesce(sum(amount_usd), 0) from movements group by 1, 2, 3, 4`
	fillDeclines = `
		insert into daily_declines (test, day, n) select false, date '2024-01-01' + n, $1::int / 100 * 3 / 366 + 1 from generate_series(0, 365) n`
	fillDisputes = `
		insert into disputes (test, reference_number, reversal_reference, state, path, amount, currency, opened_at, ended_at, last_at, events)
		select false, n::text, 'D' || n, case when n % 20 = 0 then 'open' else 'lost' end, '[]', 21, 'USD', at, case when n % 20 = 0 then null else at end, at, 1
		from (select n, timestamptz '2024-01-01Z' + interval '366 days' * (n::float8 / ($1::int / 100)) as at from generate_series(1, $1::int / 100) n) as n`
	fillSubscriptions = `
		insert into subscriptions (test, subscription_id, state, charges, failures, next_due_at, started_at, last_at, events, attention)
		select false, n::text, (array['active', 'active', 'active', 'active', 'cancelled', 'cancelled', 'cancelled', 'trial', 'cancel_at_period_end', 'past_due'])[1 + n % 10], 5, 0,
			case when n % 50 <> 0 then timestamptz '2024-06-01Z' + n % 400 * interval '1 day' end, '2024-01-01Z', '2024-02-01Z', 5, case when n % 1000 = 1 then '["reactivated"]'::jsonb end
		from generate_series(1, $1::int / 5) n`
)

// BenchmarkReports measures what finance asks of a year: go test -run xxx -bench Reports ./internal/handlers/ledger
func BenchmarkReports(b *testing.B) {
	owned := pgtest.Own(b)
	for _, events := range []int{200_000, 2_000_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) { askAll(b, owned.DSN(), events) })
	}
}

func askAll(b *testing.B, dsn string, events int) {
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	d := &desk{TB: b, conn: conn}
	d.execute("truncate movements, disputes, subscriptions, daily_totals, daily_sums, monthly_totals, daily_declines, daily_taxes, monthly_taxes, daily_contracts, monthly_contracts")
	for _, fill := range []string{fillYear, fillDeclines, fillDisputes, fillSubscriptions} {
		d.execute(fill, events)
	}
	for _, then := range []string{fillPayouts, fillTotals, "vacuum analyze"} {
		d.execute(then)
	}
	if d.reader, err = ledger.OpenReader(b.Context(), dsn, 1); err != nil {
		b.Fatal(err)
	}
	defer d.reader.Close()
	at := func(month time.Month, day int) time.Time { return time.Date(2024, month, day, 0, 0, 0, 0, time.UTC) }
	year, odd := ipn.Span{From: at(1, 1), To: at(13, 1)}, ipn.Span{From: at(1, 15), To: at(12, 17)}
	now := at(12, 31)
	for _, question := range []struct {
		name string
		ask  func() error
	}{
		{"totals by day", func() error {
			_, err := d.reader.Totals(b.Context(), ipn.TotalsQuestion{From: year.From, To: year.To, GroupBy: ipn.TotalsByDay})
			return err
		}},
		{"totals by month", func() error {
			_, err := d.reader.Totals(b.Context(), ipn.TotalsQuestion{From: year.From, To: year.To, GroupBy: ipn.TotalsByMonth})
			return err
		}},
		{"balance", func() error { _, err := d.reader.Balance(b.Context(), year); return err }},
		{"taxes", func() error { _, err := d.reader.Taxes(b.Context(), year); return err }},
		{"taxes of odd days", func() error { _, err := d.reader.Taxes(b.Context(), odd); return err }},
		{"contracts", func() error { _, err := d.reader.Contracts(b.Context(), year, 20); return err }},
		{"contracts of odd days", func() error { _, err := d.reader.Contracts(b.Context(), odd, 20); return err }},
		{"rates", func() error { _, err := d.reader.Rates(b.Context(), year); return err }},
		{"payouts", func() error {
			_, err := d.reader.Movements(b.Context(), ipn.MovementQuestion{Kind: ipn.MovePayout, Limit: 50})
			return err
		}},
		{"movements", func() error {
			_, err := d.reader.Movements(b.Context(), ipn.MovementQuestion{Span: year, Limit: 50})
			return err
		}},
		{"disputes", func() error {
			_, err := d.reader.Disputes(b.Context(), ipn.DisputeQuestion{State: ipn.DisputeOpen, OldestFirst: true, Limit: 50})
			return err
		}},
		{"ages", func() error {
			_, err := d.reader.DisputeAges(b.Context(), ipn.DisputeAgesQuestion{Now: now, Days: 10})
			return err
		}},
		{"subscriptions", func() error {
			_, err := d.reader.Subscriptions(b.Context(), ipn.SubscriptionQuestion{Limit: 50})
			return err
		}},
		{"subscriptions at risk", func() error {
			_, err := d.reader.Subscriptions(b.Context(), ipn.SubscriptionQuestion{AtRisk: true, Limit: 50})
			return err
		}},
	} {
		b.Run(question.name, func(b *testing.B) {
			for b.Loop() {
				if err := question.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
