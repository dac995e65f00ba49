package export_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// benchRows is how many events the benchmark exports.
const benchRows = 2_000_000

// fillLog makes a log of charges, with a refund in every tenth place, each as long as a real one.
const fillLog = `
	insert into events (identity, transaction_type, reference_number, reversal_reference, subscription_id, account_id, contract_id, merchant_transaction_id, amount, currency,
		amount_usd, tax_amount, tax_usd, payment_method, country, state, test, occurred_at, verification, digest, content_digest, received_at, last_received_at)
	select sha256(n::text::bytea), case when n % 10 = 0 then 'REFUND' else 'CHARGE' end, (n + 1000000000)::text, case when n % 10 = 0 then (n + 2000000000)::text end,
		(n % 5000 + 7000000)::text, (n % 9973)::text, (n % 40 + 3000000)::text, 'order-' || n, (n % 100000) / 100.0, 'EUR', 22.84, 3.35, 3.65, 'CC', 'us', 'MA', false,
		date_trunc('minute', timestamptz '2024-05-01' + n * interval '15 seconds'), 'signature', sha256(n::text::bytea), sha256(n::text::bytea),
		timestamptz '2024-05-01' + n * interval '15 seconds', timestamptz '2024-05-01' + n * interval '15 seconds'
	from generate_series(1, $1::bigint) n`

// BenchmarkExport tells how many rows a second go from a durable server into a file, and how much memory that takes over
// idle. An operation is one export of the whole log.
func BenchmarkExport(b *testing.B) {
	owned := pgtest.Own(b)
	execute(b, owned.DSN(), "drop index if exists "+benchIndexes) // what an export does not read is not worth the filling
	fill(b, owned.DSN(), benchRows)
	execute(b, owned.DSN(), "vacuum analyze events")
	s, err := store.Open(b.Context(), store.Config{DSN: owned.DSN()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, format := range []export.Format{export.CSV, export.JSONL} {
		b.Run(string(format), func(b *testing.B) {
			idle, peak := heap(true), uint64(0)
			rows, size := int64(0), int64(0)
			for b.Loop() {
				e, err := export.Begin(b.Context(), export.Question{Of: export.Events, Format: format}, s, nil)
				if err != nil {
					b.Fatal(err)
				}
				out := &meter{Writer: io.Discard}
				if err := e.Write(b.Context(), out, func(int64) { peak = max(peak, heap(false)) }); err != nil {
					b.Fatal(err)
				}
				rows, size = rows+e.Rows, size+out.n
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
			b.ReportMetric(float64(peak-min(idle, peak))/(1<<20), "MB-over-idle")
		})
	}
}

// heap is what the process has from the system for its data.
func heap(settled bool) uint64 {
	if settled {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

type meter struct {
	io.Writer
	n int64
}

func (m *meter) Write(p []byte) (int, error) {
	m.n += int64(len(p))
	return m.Writer.Write(p)
}

// benchIndexes are those of the lists.
const benchIndexes = "events_reference, events_sorted, events_type_listed, events_subscription, events_account_sorted, events_merchant_transaction"

func fill(tb testing.TB, dsn string, rows int) {
	tb.Helper()
	execute(tb, dsn, fillLog, rows)
}

func execute(tb testing.TB, dsn, statement string, args ...any) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context())
	if _, err := conn.Exec(tb.Context(), statement, args...); err != nil {
		tb.Fatal(fmt.Errorf("%s: %w", statement, err))
	}
}
