package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// longRows are events whose every text is as long as one may be: some 3 kB each.
const longRows = `
	insert into events (identity, transaction_type, reference_number, original_reference, reversal_reference, subscription_id, account_id, contract_id, new_contract_id,
		merchant_transaction_id, vendor_id, payment_method, country, state, status, test, verification, digest, content_digest, received_at, last_received_at)
	select sha256(n::text::bytea), long, long, long, long, long, long, long, long, long, long, long, long, long, long, false, 'signature',
		sha256(n::text::bytea), sha256(n::text::bytea), now(), now()
	from generate_series(1, $1::bigint) n, lateral (select repeat('x', 240) || n as long) as t`

func open(tb testing.TB, dsn string) *store.Store {
	tb.Helper()
	s, err := store.Open(tb.Context(), store.Config{DSN: dsn, AllowVolatile: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// pieces keeps the size of the largest piece that was written.
type pieces struct {
	bytes.Buffer
	largest int
}

func (p *pieces) Write(text []byte) (int, error) {
	p.largest = max(p.largest, len(text))
	return p.Buffer.Write(text)
}

func TestLongRowsMakeNoLargerPieces(t *testing.T) {
	t.Parallel()
	const rows = 4000
	dsn := pgtest.New(t)
	execute(t, dsn, longRows, rows)
	e, err := export.Begin(t.Context(), export.Question{Of: export.Events, Format: export.JSONL}, open(t, dsn), nil)
	if err != nil || e.Rows != rows {
		t.Fatalf("got %+v, %v", e, err)
	}
	out := &pieces{}
	if err := e.Write(t.Context(), out, nil); err != nil {
		t.Fatal(err)
	}
	if limit := 4<<20 + 10_000; out.largest > limit || out.Len() < 2*limit {
		t.Errorf("%d bytes came in pieces of up to %d, want at most %d", out.Len(), out.largest, limit)
	}
	id := int64(0)
	for in := json.NewDecoder(out); in.More(); {
		var row struct{ ID int64 }
		if err := in.Decode(&row); err != nil || row.ID != id+1 {
			t.Fatalf("behind %d: got %d, %v", id, row.ID, err)
		}
		id = row.ID
	}
	if id != rows {
		t.Errorf("got %d rows, want %d", id, rows)
	}
}

var errBroken = errors.New("broken")

// broken takes no more than its first pieces.
type broken struct{ left int }

func (b *broken) Write(text []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errBroken
	}
	return len(text), nil
}

func TestAnExportTellsHowFarItCame(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	execute(t, dsn, longRows, 3000)
	s := open(t, dsn)
	for _, tc := range []struct {
		pieces int
		want   error
		last   int64
	}{{99, nil, 3000}, {2, errBroken, 0}} {
		e, err := export.Begin(t.Context(), export.Question{Of: export.Events, Format: export.CSV}, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		var told []int64
		if err := e.Write(t.Context(), &broken{tc.pieces}, func(rows int64) { told = append(told, rows) }); err != tc.want {
			t.Errorf("got %v, want %v", err, tc.want)
		}
		for i := range told {
			if i > 0 && told[i] <= told[i-1] || told[i] > 3000 {
				t.Errorf("told %v", told)
			}
		}
		if last := told[len(told)-1]; tc.last > 0 && last != tc.last || tc.last == 0 && last == 3000 {
			t.Errorf("told %v in the end", last)
		}
	}
}

// manyMovements are more than a chunk, which ends between the lines of the last event.
const manyMovements = `
	insert into movements (event_id, line, kind, test, at, day, currency, amount)
	select least(n, 4999), greatest(n - 4999, 0), 'payout', false, now(), (now() at time zone 'UTC')::date, 'EUR', -n from generate_series(1, 5003) n`

func TestAnExportGoesOnBetweenTheLinesOfAnEvent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	execute(t, dsn, manyMovements)
	execute(t, dsn, "update ledger_reach set event_id = 4999")
	books, err := ledger.OpenReader(t.Context(), dsn, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer books.Close()
	e, err := export.Begin(t.Context(), export.Question{Of: export.Movements, Format: export.CSV}, nil, books)
	if err != nil || e.Rows != 5003 {
		t.Fatalf("got %+v, %v", e, err)
	}
	var out bytes.Buffer
	if err := e.Write(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\r\n")
	if len(lines) != 5005 || !strings.HasPrefix(lines[5003], "4999,4,payout,") {
		t.Errorf("got %d lines, %q before the last", len(lines), lines[len(lines)-2])
	}
}

func TestAFileIsNamedByItsDaysAlone(t *testing.T) {
	t.Parallel()
	day := func(text string) time.Time {
		at, mend := ask.Time(text)
		if mend != "" {
			t.Fatal(mend)
		}
		return at
	}
	for want, q := range map[string]export.Question{
		"events.csv": {Of: export.Events, Format: export.CSV, Events: ipn.Question{AccountID: "../A1\"", Text: "x"}},
		"events_from_2026-11-01_to_2026-12-01.jsonl": {Of: export.Events, Format: export.JSONL,
			Events: ipn.Question{From: day("2026-11-01"), To: day("2026-12-01")}},
		"movements_to_2026-12-01.csv": {Of: export.Movements, Format: export.CSV, Movements: ipn.MovementFilter{Span: ipn.Span{To: day("2026-12-01")}}},
	} {
		if got := q.FileName(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWhatIsNoPartOfAnExportIsNotContinued(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		of         export.Subject
		format     export.Format
	}{
		{"another file", "name,age\r\n", export.Events, export.CSV},
		{"movements as events", "eventId,line,kind", export.Events, export.CSV},
		{"events as movements", `{"id":1,"transactionType":"CHARGE"}` + "\n", export.Movements, export.JSONL},
		{"CSV as JSON", "id,transactionType\r\n", export.Events, export.JSONL},
		{"rows without the row of names", "1,CHARGE\r\n", export.Events, export.CSV},
	} {
		if kept, err := export.Keep(strings.NewReader(tc.text), tc.of, tc.format); !errors.Is(err, export.ErrOtherFile) {
			t.Errorf("%s: got %+v, %v", tc.name, kept, err)
		}
	}
	for _, text := range []string{"", "\xef", "\xef\xbb\xbf", "id,trans", "\xef\xbb\xbfid"} {
		if kept, err := export.Keep(strings.NewReader(text), export.Events, export.CSV); err != nil || kept != (export.Kept{}) {
			t.Errorf("%q: got %+v, %v, want to begin anew", text, kept, err)
		}
	}
}
