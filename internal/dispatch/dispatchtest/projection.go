package dispatchtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// course is one way in which the events of a log may reach a projection.
type course struct {
	name  string
	order func(events []ipn.Stored) []ipn.Stored
	batch func(left int) int
}

// courses begin with the one that the others are compared with. The random ones are the same in every run.
func courses() []course {
	whole := func(left int) int { return left }
	single := func(int) int { return 1 }
	asIs := func(events []ipn.Stored) []ipn.Stored { return events }
	all := []course{
		{"the log at once", asIs, whole},
		{"event by event", asIs, single},
		{"the last event first", func(events []ipn.Stored) []ipn.Stored { slices.Reverse(events); return events }, single},
		{"everything twice", func(events []ipn.Stored) []ipn.Stored { return append(events, events...) }, func(left int) int { return min(left, 7) }},
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		all = append(all, course{
			fmt.Sprintf("shuffled, some twice, in batches of any size (%d)", seed),
			func(events []ipn.Stored) []ipn.Stored {
				events = append(events, events[:random.IntN(len(events)+1)]...)
				random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				return events
			},
			func(left int) int { return 1 + random.IntN(left) },
		})
	}
	return all
}

// Projection checks that a projection folds the set of events, whatever their order: it is Fold.Check with an event of
// every type. project is a store.Projection; a table is a name, with the columns to leave out behind it, such as
// "movements -updated_at".
func Projection(t *testing.T, project func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error, tables ...string) {
	t.Helper()
	Fold{Project: project, Tables: tables}.Check(t)
}

// Fold is a projection with what is needed to judge it.
type Fold struct {
	Project func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error
	Tables  []string // those that are compared, as in [Projection]
	// Events are what is folded, made by [Event]; nil: [Samples]. Their identities must differ, or the log takes two
	// of them for one. Ids are given by the log, in their order.
	Events []ipn.Stored
	// Prepare makes what the projection needs in a fresh database; nil when the migrations do.
	Prepare func(ctx context.Context, tx pgx.Tx) error
}

// Check records the events in a real log and applies them in several orders, with repeats and in other batches, each
// time to a fresh database; the tables must end with the same rows. Each course is a sub-test.
func (f Fold) Check(t *testing.T) {
	t.Helper()
	if f.Events == nil {
		f.Events = Samples(t)
	}
	var want map[string][]string
	for _, c := range courses() {
		t.Run(c.name, func(t *testing.T) {
			got := f.run(t, c)
			if want == nil {
				want = got
			}
			compare(t, want, got, f.Tables)
		})
	}
}

// compare reports rows that are in one outcome and not in the other.
func compare(t *testing.T, want, got map[string][]string, tables []string) {
	t.Helper()
	for _, table := range tables {
		for _, row := range got[table] {
			if !slices.Contains(want[table], row) {
				t.Errorf("%s has a row that the log at once does not come to: %s", table, row)
			}
		}
		for _, row := range want[table] {
			if !slices.Contains(got[table], row) {
				t.Errorf("%s lacks a row that the log at once comes to: %s", table, row)
			}
		}
		if len(got[table]) != len(want[table]) {
			t.Errorf("%s has %d rows, want %d", table, len(got[table]), len(want[table]))
		}
	}
}

// run applies the events in the course's manner and returns the rows of each table.
func (f Fold) run(t *testing.T, c course) map[string][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dsn := pgtest.New(t)
	events := c.order(recorded(ctx, t, dsn, f.Events))
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if f.Prepare != nil {
		inTx(ctx, t, conn, func(tx pgx.Tx) error { return f.Prepare(ctx, tx) })
	}
	for len(events) > 0 {
		n := c.batch(len(events))
		inTx(ctx, t, conn, func(tx pgx.Tx) error { return f.Project(ctx, tx, slices.Clone(events[:n])) })
		events = events[n:]
	}
	rows := make(map[string][]string)
	for _, table := range f.Tables {
		rows[table] = read(ctx, t, conn, table)
	}
	return rows
}

func inTx(ctx context.Context, t *testing.T, conn *pgx.Conn, work func(tx pgx.Tx) error) {
	t.Helper()
	if err := pgx.BeginFunc(ctx, conn, work); err != nil {
		t.Fatal(err)
	}
}

// recorded keeps the events one by one, so that each has the same id in every database, and reads them from the log.
func recorded(ctx context.Context, t *testing.T, dsn string, events []ipn.Stored) []ipn.Stored {
	t.Helper()
	s, err := store.Open(ctx, store.Config{DSN: dsn, AllowVolatile: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recorder, err := store.NewRecorder(s, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { recorder.Run(running) })
	defer work.Wait()
	defer stop()
	for i := range events {
		kept, err := recorder.Record(ctx, receiptOf(&events[i]))
		if err != nil || kept.Outcome != ipn.OutcomeNew {
			t.Fatalf("dispatchtest: record event %d, a %s: %s, %v", i, events[i].Facts.TransactionType, kept.Outcome, err)
		}
	}
	lead, err := s.Lead(ctx, store.LeadConfig{Handler: "dispatchtest", Kind: ipn.KindSink, Bodies: true})
	if err != nil {
		t.Fatal(err)
	}
	defer lead.Close()
	found, err := lead.Next(ctx, len(events)+1)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// read returns the rows of a table as JSON, sorted.
func read(ctx context.Context, t *testing.T, conn *pgx.Conn, table string) []string {
	t.Helper()
	words := strings.Fields(table)
	omit := []string{}
	for _, word := range words[1:] {
		omit = append(omit, strings.TrimPrefix(word, "-"))
	}
	statement := "select (to_jsonb(t) - $1::text[])::text as row from " + pgx.Identifier{words[0]}.Sanitize() + " as t order by row"
	rows, err := conn.Query(ctx, statement, omit)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("dispatchtest: read %s: %v", table, err)
	}
	return found
}
