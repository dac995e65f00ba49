package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// limit is how long a test waits for what must happen.
const limit = 60 * time.Second

// database is a real record with handlers on it.
type database struct {
	dsn   string
	pool  *pgxpool.Pool // past the store, as psql would be
	store *store.Store
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	db := &database{dsn: pgtest.New(t)}
	var err error
	if db.pool, err = pgxpool.New(t.Context(), db.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.pool.Close)
	db.store = db.open(t)
	db.exec(t, "create table effects (event_id bigint not null)")
	return db
}

func (db *database) open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{DSN: db.dsn, AllowVolatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func (db *database) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := db.pool.Exec(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func ask[T any](t *testing.T, db *database, query string, args ...any) (found T) {
	t.Helper()
	if err := db.pool.QueryRow(context.Background(), query, args...).Scan(&found); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return found
}

// grow records charges with reference numbers from, from+1, ...
func (db *database) grow(t *testing.T, from, events int) {
	t.Helper()
	recorder, err := store.NewRecorder(db.store, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	var running, callers sync.WaitGroup
	running.Go(func() { recorder.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for i := range events {
		body := fmt.Appendf(nil, "transactionType=CHARGE&referenceNumber=ref-%d", from+i)
		event := new(ipn.Decoder).Decode(body, "application/x-www-form-urlencoded")
		receipt := &ipn.Receipt{Event: event, Identity: ipn.Scope{Endpoint: "/ipn"}.Identify(event), Digest: ipn.DigestOf(body),
			Content: event.ContentDigest(), Vouched: ipn.VouchedSignature, Raw: body, Origin: ipn.Origin{ReceivedAt: time.Now()}}
		callers.Go(func() {
			if _, err := recorder.Record(ctx, receipt); err != nil {
				t.Errorf("record: %v", err)
			}
		})
	}
	callers.Wait()
}

// leadOf is how the program takes the lead of a handler.
func leadOf(s *store.Store, c store.LeadConfig) func(context.Context) (dispatch.Lead, error) {
	return func(ctx context.Context) (dispatch.Lead, error) {
		l, err := s.Lead(ctx, c)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

var impatient = dispatch.Retry{First: 20 * time.Millisecond, Factor: 1, Attempts: 4}

func sinkOn(s *store.Store, f send) dispatch.Handler {
	return dispatch.Handler{Name: "sink", Kind: ipn.KindSink, Sink: f, Retry: impatient,
		Lead: leadOf(s, store.LeadConfig{Handler: "sink", Kind: ipn.KindSink, Process: "test"})}
}

func projectionOn(s *store.Store, f store.Projection) dispatch.Handler {
	return dispatch.Handler{Name: "projection", Kind: ipn.KindProjection, Retry: impatient,
		Lead: leadOf(s, store.LeadConfig{Handler: "projection", Kind: ipn.KindProjection, Process: "test", Project: f})}
}

// effect writes a row per event, and nothing stops it from writing two.
func effect(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
	for _, e := range events {
		if _, err := tx.Exec(ctx, "insert into effects values ($1)", e.ID); err != nil {
			return err
		}
	}
	return nil
}

// dispatchOn runs a dispatcher on a store.
func dispatchOn(t *testing.T, s *store.Store, handlers ...dispatch.Handler) (stop func()) {
	t.Helper()
	d, err := dispatch.New(dispatch.Config{Handlers: handlers, Listen: func(ctx context.Context, wake func()) error { return s.Listen(ctx, nil, wake) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("it did not happen: %s", what)
		case <-tick.C:
		}
	}
}

func (db *database) cursor(t *testing.T, handler string) int64 {
	return ask[int64](t, db, "select coalesce(max(position), 0) from handler_cursors where handler = $1", handler)
}

// One bad event among a thousand, for a sink and for a projection: every good one is done once, the bad one is buried
// after exactly its attempts, and the record shows each of them.
func TestOnARealRecordAPoisonEventIsBuriedAndTheRestIsDone(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	db.grow(t, 0, 1000)
	last := ask[int64](t, db, "select max(id) from events")
	bad := ask[int64](t, db, "select id from events where reference_number = 'ref-500'")
	var sent sync.Map
	sink := sinkOn(db.store, func(_ context.Context, e *ipn.Stored) error {
		if e.ID == bad {
			return errBoom
		}
		if _, again := sent.LoadOrStore(e.ID, true); again {
			t.Errorf("event %d was sent twice", e.ID)
		}
		return nil
	})
	projection := projectionOn(db.store, func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
		for _, e := range events {
			if e.ID == bad {
				return errBoom
			}
		}
		return effect(ctx, tx, events)
	})
	dispatchOn(t, db.store, sink, projection)
	eventually(t, "both handlers are done and have buried the bad event", func() bool {
		return db.cursor(t, "sink") == last && db.cursor(t, "projection") == last &&
			ask[int](t, db, "select count(*) from parked where state = 'buried'") == 2
	})
	if n := ask[int](t, db, "select count(*) from effects"); n != 999 {
		t.Errorf("%d effects, want 999", n)
	}
	if n := ask[int](t, db, "select count(distinct event_id) from effects"); n != 999 {
		t.Errorf("effects of %d events, want 999", n)
	}
	for _, handler := range []string{"sink", "projection"} {
		got := ask[string](t, db, "select string_agg(number || ' ' || result, ', ' order by id) from attempts where handler = $1 and event_id = $2", handler, bad)
		if want := "1 failed, 2 failed, 3 failed, 4 buried"; got != want {
			t.Errorf("%s: got %s, want %s", handler, got, want)
		}
	}
}

// Two processes on one database. While both are well, no two of them ever send at the same time; when the leader's
// connection dies, one of them is back within five seconds and nothing is left out.
func TestOneOfTwoProcessesLeadsAndTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	var sending [2]atomic.Int64
	var overlaps, sends atomic.Int64
	var seen sync.Map
	var old atomic.Int64 // the last event before the kill
	taken := make(chan time.Time, 1)
	for i := range sending {
		s := db.open(t)
		dispatchOn(t, s, sinkOn(s, func(_ context.Context, e *ipn.Stored) error {
			sending[i].Add(1)
			defer sending[i].Add(-1)
			if sending[1-i].Load() > 0 {
				overlaps.Add(1)
			}
			sends.Add(1)
			seen.Store(e.ID, true)
			if before := old.Load(); before > 0 && e.ID > before {
				select {
				case taken <- time.Now():
				default:
				}
			}
			return nil
		}))
	}
	db.grow(t, 0, 2000)
	last := ask[int64](t, db, "select max(id) from events")
	eventually(t, "the first events are handled", func() bool { return db.cursor(t, "sink") == last })
	if overlaps.Load() != 0 || sends.Load() != 2000 {
		t.Errorf("%d sends for 2000 events, %d while the other process was sending", sends.Load(), overlaps.Load())
	}
	old.Store(last)
	db.kill(t)
	killed := time.Now()
	db.grow(t, 2000, 100)
	last = ask[int64](t, db, "select max(id) from events")
	eventually(t, "the later events are handled", func() bool { return db.cursor(t, "sink") == last })
	if took := (<-taken).Sub(killed); took > 5*time.Second {
		t.Errorf("the handler was without a leader for %s", took)
	}
	count := 0
	seen.Range(func(any, any) bool { count++; return true })
	if count != 2100 {
		t.Errorf("%d of 2100 events were sent", count)
	}
}

// kill ends every connection that leads a handler, and says how many there were.
func (db *database) kill(t *testing.T) int {
	t.Helper()
	return ask[int](t, db, `select count(pg_terminate_backend(pid)) from pg_stat_activity
		where datname = current_database() and application_name like 'ipn-receiver handler %'`)
}

func TestAProjectionTakesEffectOnceWhileItsLeaderIsKilledFiftyTimes(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	db.grow(t, 0, 2000)
	last := ask[int64](t, db, "select max(id) from events")
	var s [2]*store.Store
	for i := range s {
		s[i] = db.open(t)
		h := projectionOn(s[i], func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
			if rand.IntN(20) == 0 {
				return errors.New("a failure now and then")
			}
			return effect(ctx, tx, events)
		})
		h.Batch, h.Retry.Attempts = 8, 1000
		dispatchOn(t, s[i], h)
	}
	for kills := 0; kills < 50; {
		at := db.cursor(t, "projection")
		wait := int64(rand.IntN(16)) // anywhere in a batch
		eventually(t, "the cursor moves", func() bool { c := db.cursor(t, "projection"); return c >= min(at+wait, last) })
		kills += db.kill(t)
		if at == last {
			db.grow(t, int(last)*10, 50)
			last = ask[int64](t, db, "select max(id) from events")
		}
	}
	eventually(t, "all events are applied", func() bool {
		return db.cursor(t, "projection") == last && ask[int](t, db, "select count(*) from parked") == 0
	})
	if twice := ask[int](t, db, "select count(*) - count(distinct event_id) from effects"); twice != 0 {
		t.Errorf("%d effects too many", twice)
	}
	if missing := ask[int](t, db, "select count(*) from events where id not in (select event_id from effects)"); missing != 0 {
		t.Errorf("%d events without effect", missing)
	}
}
