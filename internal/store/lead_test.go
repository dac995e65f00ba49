package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// sink is a handler that begins at the first event.
var sink = store.LeadConfig{Handler: "forward.billing", Kind: ipn.KindSink, Process: "here:1"}

// mustLead leads a handler as soon as the server has noticed that the leader before is gone.
func mustLead(tb testing.TB, s *store.Store, c store.LeadConfig) *store.Lead {
	tb.Helper()
	var lead *store.Lead
	eventually(tb, "the handler can be led", func() bool {
		var err error
		if lead, err = s.Lead(tb.Context(), c); err != nil && !errors.Is(err, ipn.ErrLed) {
			tb.Fatal(err)
		}
		return err == nil
	})
	tb.Cleanup(lead.Close)
	return lead
}

// logged records charges by the names R1, R2 and so on, and returns their ids.
func logged(tb testing.TB, dsn string, n int) []int64 {
	tb.Helper()
	receipts := make([]*ipn.Receipt, n)
	for i := range receipts {
		receipts[i] = charge(fmt.Sprint("R", i+1))
	}
	ids := make([]int64, n)
	for i, a := range recordInOrder(tb, newRecorder(tb, open(tb, dsn)), receipts...) {
		if a.err != nil {
			tb.Fatal(a.err)
		}
		ids[i] = a.EventID
	}
	return ids
}

func mustSettle(tb testing.TB, l *store.Lead, s ipn.Settlement) {
	tb.Helper()
	if err := l.Settle(tb.Context(), s); err != nil {
		tb.Fatal(err)
	}
}

// byMaria is who acts in these tests.
var byMaria = ipn.Act{Actor: "cli:maria", Reason: "ticket 4711"}

func TestAHandlerIsLedByOneAtATime(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	first, second := open(t, dsn), open(t, dsn)
	lead := mustLead(t, first, sink)
	for _, s := range []*store.Store{first, second} {
		if _, err := s.Lead(t.Context(), sink); !errors.Is(err, ipn.ErrLed) {
			t.Errorf("a second lead: got %v", err)
		}
	}
	other := sink
	other.Handler = "forward.other"
	mustLead(t, second, other)
	lead.Close()
	lead.Close()
	mustLead(t, second, sink)
}

// What Lead asks before it connects may be out of date when it takes the lock.
func TestOfManyThatWantToLeadOneDoes(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	type taken struct {
		lead *store.Lead
		err  error
	}
	all := make(chan taken, 8)
	for range cap(all) {
		go func() { lead, err := s.Lead(t.Context(), sink); all <- taken{lead, err} }()
	}
	var leaders int
	for range cap(all) {
		switch one := waitFor(t, all); {
		case one.err == nil:
			leaders++
			t.Cleanup(one.lead.Close)
		case !errors.Is(one.err, ipn.ErrLed):
			t.Error(one.err)
		}
	}
	if leaders != 1 {
		t.Errorf("%d lead", leaders)
	}
}

func TestAPauseThatIsUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	mustLead(t, s, sink).Close()
	tx, err := connect(t, dsn).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "update handler_cursors set paused_at = now(), paused_because = 'why'"); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		for {
			if _, err := s.Lead(t.Context(), sink); !errors.Is(err, ipn.ErrLed) {
				result <- err
				return
			}
		}
	}()
	eventually(t, "the next leader waits", func() bool {
		return ask[bool](t, dsn, "select exists (select from pg_locks where locktype = 'transactionid' and not granted)")
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(t, result); !errors.Is(err, ipn.ErrPaused) {
		t.Errorf("got %v", err)
	}
}

// The session is what a leader has. Without it, it can do nothing any more, however fast the next one was.
func TestALeaderWhoseSessionEndedWritesNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 1)
	stores := []*store.Store{open(t, dsn), open(t, dsn)}
	admin := connect(t, dsn)
	stale := mustLead(t, stores[0], sink)
	for i := range 50 {
		if _, err := admin.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ipn-receiver handler forward.billing' and datname = current_database()"); err != nil {
			t.Fatal(err)
		}
		next := mustLead(t, stores[(i+1)%2], sink)
		failure := ipn.Failure{EventID: ids[0], Number: 1, Error: "stale"}
		for name, err := range map[string]error{
			"settle": stale.Settle(t.Context(), ipn.Settlement{Position: ids[0], Failed: []ipn.Failure{failure}}),
			"check":  stale.Check(t.Context()),
			"hold":   stale.Hold(t.Context(), "stale"),
			"pause":  stale.Pause(t.Context(), "stale"),
		} {
			if !errors.Is(err, ipn.ErrFenced) && !errors.Is(err, ipn.ErrUnavailable) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		mustSettle(t, next, ipn.Settlement{})
		stale = next
	}
	if got := ask[string](t, dsn, "select position || ' ' || coalesce(held_because, '-') || (select count(*) from parked) from handler_cursors"); got != "0 -0" {
		t.Errorf("got %s", got)
	}
}

func TestAnActOfAnOperatorFencesTheLeader(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 2)
	s := open(t, dsn)
	name, ctx := sink.Handler, context.Background()
	acts := []struct {
		name string
		act  func() error
		want error // of the heartbeat
	}{
		{"pause", func() error { return s.PauseHandler(ctx, name, byMaria) }, ipn.ErrPaused},
		{"replay of all", func() error {
			_, err := s.ReplayHandler(ctx, ipn.Replay{Handler: name, All: true}, byMaria)
			return err
		}, ipn.ErrFenced},
		{"replay of some", func() error {
			_, err := s.ReplayHandler(ctx, ipn.Replay{Handler: name, Matching: &ipn.Question{ReferenceNumber: "R1"}}, byMaria)
			return err
		}, ipn.ErrFenced},
		{"redrive", func() error { _, err := s.RedriveParked(ctx, ipn.Redrive{}, byMaria); return err }, ipn.ErrFenced},
	}
	for _, tc := range acts {
		t.Run(tc.name, func(t *testing.T) {
			lead := mustLead(t, s, sink)
			mustSettle(t, lead, ipn.Settlement{Position: ids[1], Failed: []ipn.Failure{{EventID: ids[0], Number: 1, Error: "no"}}})
			if err := tc.act(); err != nil {
				t.Fatal(err)
			}
			if err := lead.Check(ctx); !errors.Is(err, tc.want) {
				t.Errorf("check: got %v", err)
			}
			for call, err := range map[string]error{
				"settle": lead.Settle(ctx, ipn.Settlement{Done: []ipn.Success{{EventID: ids[0], Number: 2}}}),
				"hold":   lead.Hold(ctx, "no"), "pause": lead.Pause(ctx, "no"),
			} {
				if !errors.Is(err, ipn.ErrFenced) {
					t.Errorf("%s: got %v", call, err)
				}
			}
			lead.Close()
			if err := s.ResumeHandler(ctx, name, byMaria); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAPauseOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	lead := mustLead(t, s, sink)
	if err := lead.Pause(t.Context(), "410 Gone"); err != nil {
		t.Fatal(err)
	}
	lead.Close()
	s.Close()
	again := open(t, dsn)
	if _, err := again.Lead(t.Context(), sink); !errors.Is(err, ipn.ErrPaused) {
		t.Errorf("got %v", err)
	}
	states, err := again.Handlers(t.Context())
	if err != nil || len(states) != 1 || states[0].PausedAt == nil || states[0].PausedBecause != "410 Gone" {
		t.Errorf("got %+v, %v", states, err)
	}
	entries, err := again.Audit(t.Context(), 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Actor != "handler" || entries[0].Action != "pause" || entries[0].Handler != sink.Handler || entries[0].Reason != "410 Gone" {
		t.Errorf("the audit has %+v, %v", entries, err)
	}
	if err := again.ResumeHandler(t.Context(), sink.Handler, byMaria); err != nil {
		t.Fatal(err)
	}
	mustLead(t, again, sink)
}

func TestANewHandlerBeginsAtTheBeginningOrNow(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 3)
	s := open(t, dsn)
	now := store.LeadConfig{Handler: "publish.bus", Kind: ipn.KindSink, FromNow: true}
	if got := mustLead(t, s, now).Position(); got != ids[2] {
		t.Errorf("from now: got %d, want %d", got, ids[2])
	}
	lead := mustLead(t, s, sink)
	if got := lead.Position(); got != 0 {
		t.Errorf("from the beginning: got %d", got)
	}
	mustSettle(t, lead, ipn.Settlement{Position: ids[0]})
	lead.Close()
	again := sink
	again.FromNow = true
	if got := mustLead(t, s, again).Position(); got != ids[0] {
		t.Errorf("a handler that is not new: got %d, want %d", got, ids[0])
	}
}

// A frozen process sends no heartbeat; the server ends its session after three seconds.
func TestALeaderThatFallsSilentLosesTheLead(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	lead := mustLead(t, open(t, dsn), sink)
	mustLead(t, open(t, dsn), sink)
	if err := lead.Settle(t.Context(), ipn.Settlement{}); !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestALeadReadsWhatTheHandlerAskedFor(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	mustRecord(t, running(t, dsn), charge("R1", "invoiceChargeAmount=10.00", "invoiceChargeCurrency=EUR"))
	for _, bodies := range []bool{false, true} {
		lead := mustLead(t, s, store.LeadConfig{Handler: fmt.Sprint("h", bodies), Kind: ipn.KindSink, Bodies: bodies})
		events, err := lead.Next(t.Context(), 10)
		if err != nil || len(events) != 1 {
			t.Fatalf("got %+v, %v", events, err)
		}
		e := events[0]
		if e.Facts.ReferenceNumber != "R1" || e.Facts.Amount.String() != "10.00" || e.Receipts != 1 || !e.ReceivedAt.Equal(noon) {
			t.Errorf("got %+v", e)
		}
		if (e.Raw != nil) != bodies || (e.Headers != nil) != bodies {
			t.Errorf("bodies %v: got %q, %v", bodies, e.Raw, e.Headers)
		}
	}
}

// Two replicas record while a leader follows the log.
func TestALeaderReadsEachCommittedEventOnce(t *testing.T) {
	t.Parallel()
	const each = 300
	dsn := pgtest.New(t)
	var waits []func() []answer
	for _, replica := range []string{"A", "B"} {
		receipts := make([]*ipn.Receipt, each)
		for i := range receipts {
			receipts[i] = charge(fmt.Sprint(replica, i))
		}
		waits = append(waits, recordAll(t.Context(), running(t, dsn), receipts...))
	}
	lead := mustLead(t, open(t, dsn), sink)
	var read []int64
	eventually(t, "the leader reads every event", func() bool {
		events, err := lead.Next(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.ID <= lead.Position() {
				t.Errorf("event %d came at position %d", e.ID, lead.Position())
			}
			read = append(read, e.ID)
		}
		if len(events) > 0 {
			mustSettle(t, lead, ipn.Settlement{Position: events[len(events)-1].ID})
		}
		return len(read) >= 2*each
	})
	var committed []int64
	for _, wait := range waits {
		for _, a := range wait() {
			committed = append(committed, a.EventID)
		}
	}
	slices.Sort(committed)
	if !slices.Equal(read, committed) {
		t.Errorf("read %d events, committed %d", len(read), len(committed))
	}
	if got := ask[int64](t, dsn, "select position from handler_cursors"); got != committed[len(committed)-1] {
		t.Errorf("the cursor is at %d", got)
	}
}

func TestCloseFreesAStuckSettlementAndTheLead(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	ids := logged(t, dsn, 1)
	started := make(chan struct{})
	books := store.LeadConfig{Handler: "ledger", Kind: ipn.KindProjection, Project: func(ctx context.Context, tx pgx.Tx, _ []ipn.Stored) error {
		close(started)
		_, err := tx.Exec(context.WithoutCancel(ctx), "select pg_sleep(600)")
		return err
	}}
	lead := mustLead(t, open(t, dsn), books)
	settled := make(chan error, 1)
	go func() {
		settled <- lead.Settle(t.Context(), ipn.Settlement{Project: []ipn.Stored{{ID: ids[0]}}, Position: ids[0]})
	}()
	<-started
	if err := lead.Check(t.Context()); err != nil {
		t.Errorf("a heartbeat meanwhile: got %v", err)
	}
	select {
	case err := <-settled:
		t.Fatalf("the heartbeat waited until the settlement ended: %v", err)
	default:
	}
	lead.Close()
	select {
	case err := <-settled:
		if !errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the settlement is still stuck")
	}
	if got := mustLead(t, open(t, dsn), books).Position(); got != 0 {
		t.Errorf("the cursor is at %d", got)
	}
}

func TestAServerThatIsTooOldIsNamed(t *testing.T) {
	t.Parallel()
	err := store.Unavailable(store.ConnectError(fmt.Errorf("connect: %w", &pgconn.PgError{Code: "42704", Message: "secret"})))
	if !errors.Is(err, ipn.ErrUnavailable) || !strings.Contains(err.Error(), "older than PostgreSQL 14") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestALeadOfNoServerIsUnavailable(t *testing.T) {
	t.Parallel()
	s := open(t, "postgres://nobody@127.0.0.1:1/nothing")
	if _, err := s.Lead(t.Context(), sink); !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// A backlog of years lies in as many tables as months; a plan that joins them to the log walks through all.
func TestABacklogIsReadWithoutWalkingThroughAllBodies(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	for month := range 24 {
		if err := s.MakeMonths(t.Context(), noon.AddDate(0, -month, 0)); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dsn, `
		insert into events (identity, transaction_type, reference_number, test, verification, digest, content_digest, received_at, last_received_at)
		select sha256(n::text::bytea), 'CHARGE', n::text, false, 'signature', sha256(n::text::bytea), sha256(n::text::bytea), at, at
		from generate_series(1, 24000) n, lateral (select timestamptz '2026-11-21 12:00Z' - interval '1 hour' * (24000 - n) * 0.7 as at) as told`)
	execute(t, dsn, "insert into payloads (event_id, received_at, raw, fields, headers) select id, received_at, convert_to(reference_number, 'UTF8'), '{}', '{}' from events")
	execute(t, dsn, "analyze events")
	execute(t, dsn, "analyze payloads")
	const read = "select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint from pg_stat_user_tables where relname like 'payloads%'"
	before := ask[int](t, dsn, read)
	lead := mustLead(t, s, store.LeadConfig{Handler: "people", Kind: ipn.KindProjection, Bodies: true, Project: func(context.Context, pgx.Tx, []ipn.Stored) error { return nil }})
	if err := lead.Settle(t.Context(), ipn.Settlement{Position: 20_000}); err != nil { // a walk from the first month on would not stop at once
		t.Fatal(err)
	}
	const batch = 200
	for range 8 { // a plan that is kept is made after five
		events, err := lead.Next(t.Context(), batch)
		if err != nil || len(events) != batch {
			t.Fatalf("got %d events, %v", len(events), err)
		}
		for _, e := range events {
			if string(e.Raw) != e.Facts.ReferenceNumber {
				t.Fatalf("event %d has the body %q", e.ID, e.Raw)
			}
		}
	}
	lead.Close() // then it is counted
	var rows int
	eventually(t, "what was read is counted", func() bool { rows = ask[int](t, dsn, read) - before; return rows >= 8*batch })
	if rows > 2*8*batch {
		t.Errorf("%d bodies were read for %d events", rows, 8*batch)
	}
}
