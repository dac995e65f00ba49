package ledger_test

import (
	"context"
	"fmt"
	"testing"

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
			d.execute("truncate movements, unbooked, transactions, subscriptions, disputes, daily_totals, declines, daily_declines, tax_totals, contract_totals")
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
