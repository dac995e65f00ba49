package store_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// quarantined is a post that was not believed.
func quarantined(reason ipn.Reason, answered int, body string) *ipn.Quarantined {
	return &ipn.Quarantined{
		Reason: reason, Answered: answered, Digest: ipn.DigestOf([]byte(body)), Raw: []byte(body),
		Origin: ipn.Origin{Headers: map[string]string{"x-signature": "ab"}, Peer: netip.MustParseAddr("2001:db8::1"), ReceivedAt: noon},
	}
}

// keep quarantines a post and returns its id.
func keep(tb testing.TB, s *store.Store, dsn string, q *ipn.Quarantined) int64 {
	tb.Helper()
	if kept, err := s.Quarantine(tb.Context(), q); err != nil || !kept {
		tb.Fatalf("got %v, %v", kept, err)
	}
	return ask[int64](tb, dsn, "select max(id) from quarantine")
}

func TestAQuarantinedPostIsKeptWhole(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	for _, reason := range ipn.Reasons() {
		want := quarantined(reason, 200, "\x00\xff not a form "+string(reason))
		want.Detail = "SQLSTATE 22021"
		want.ID = keep(t, s, dsn, want)
		got, err := s.Quarantined(t.Context(), want.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v, %v\nwant\n%+v", reason, got, err, want)
		}
	}
	if _, err := s.Quarantined(t.Context(), 1<<40); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("an unknown id: got %v", err)
	}
}

// A detail must never cost a post: it may come from a header.
func TestAnUglyDetailIsMadeStorable(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	tests := []struct{ name, detail, want string }{
		{"invalid UTF-8", "text/\xff", "text/\ufffd"},
		{"a NUL", "a\x00b", "a\ufffdb"},
		{"too long", strings.Repeat("é", 200), strings.Repeat("é", 127)},
	}
	for _, tc := range tests {
		q := quarantined(ipn.ReasonMediaType, 415, "x")
		q.Detail = tc.detail
		got, err := s.Quarantined(t.Context(), keep(t, s, dsn, q))
		if err != nil || got.Detail != tc.want {
			t.Errorf("%s: got %+v, %v", tc.name, got, err)
		}
	}
}

func TestCopiesOfRefusedPostsAreBoundedAndOwnedPostsAreNot(t *testing.T) {
	t.Parallel()
	bounds := []struct {
		name   string
		config store.Config
		fits   int // copies of 10 bytes
	}{
		{"by rows", store.Config{QuarantineRows: 3}, 3},
		{"by bytes", store.Config{QuarantineBytes: 25}, 2},
	}
	for _, b := range bounds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			b.config.DSN, b.config.AllowVolatile = dsn, true
			s := openWith(t, b.config)
			keep(t, s, dsn, quarantined(ipn.ReasonNoFields, 200, strings.Repeat("o", 1000))) // takes no room of the copies
			var last int64
			for range b.fits {
				last = keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "0123456789"))
			}
			if kept, err := s.Quarantine(t.Context(), quarantined(ipn.ReasonSignatureMismatch, 403, "0123456789")); err != nil || kept {
				t.Errorf("a copy beyond the bounds: got %v, %v", kept, err)
			}
			keep(t, s, dsn, quarantined(ipn.ReasonRefusedByDatabase, 200, "0123456789"))
			if _, err := s.Promote(t.Context(), last, charge("R1"), byMaria); err != nil {
				t.Fatal(err)
			}
			keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "0123456789")) // a promotion makes room
		})
	}
}

func TestAPromotionWithoutAReasonIsNotDone(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	id := keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "transactionType=CHARGE&referenceNumber=R1"))
	if _, err := s.Promote(t.Context(), id, charge("R1"), ipn.Act{Actor: "api:maria"}); err == nil || errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Quarantined(t.Context(), id); err != nil {
		t.Errorf("it does not wait any more: %v", err)
	}
	if n := ask[int](t, dsn, "select count(*) from events"); n != 0 {
		t.Errorf("%d events were recorded", n)
	}
}

func TestAPromotionHappensOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	id := keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "transactionType=CHARGE&referenceNumber=R1"))
	promoted := charge("R1")
	promoted.Vouched = ipn.VouchedPromoted
	var callers sync.WaitGroup
	answers := make([]answer, 8)
	for i := range answers {
		callers.Go(func() { answers[i].Recorded, answers[i].err = s.Promote(t.Context(), id, promoted, byMaria) })
	}
	callers.Wait()
	var won []answer
	for _, a := range answers {
		switch {
		case a.err == nil:
			won = append(won, a)
		case !errors.Is(a.err, ipn.ErrNotFound):
			t.Errorf("got %v, want ipn.ErrNotFound", a.err)
		}
	}
	if len(won) != 1 || won[0].Outcome != ipn.OutcomeNew || won[0].Receipts != 1 {
		t.Fatalf("promoted: %+v, want once", won)
	}
	event, err := s.Event(t.Context(), won[0].EventID)
	if err != nil || event.Vouched != ipn.VouchedPromoted || event.Receipts != 1 {
		t.Errorf("got %+v, %v", event, err)
	}
	entries, err := s.Audit(t.Context(), 0, 10)
	want := fmt.Sprintf(`{"eventId": %d, "outcome": "new", "quarantineId": %d}`, won[0].EventID, id)
	if err != nil || len(entries) != 1 || entries[0].Action != "promote" || entries[0].Actor != byMaria.Actor || string(entries[0].Details) != want {
		t.Errorf("the audit: got %+v, %v, want one entry with %s", entries, err, want)
	}
	if _, err := s.Quarantined(t.Context(), id); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("the entry still waits: %v", err)
	}
	if waiting, err := s.InQuarantine(t.Context(), 0, 10); err != nil || len(waiting) != 0 {
		t.Errorf("still listed: %v, %v", waiting, err)
	}
	if got := ask[int64](t, dsn, "select promoted_event_id from quarantine"); got != event.ID {
		t.Errorf("the entry names event %d, want %d", got, event.ID)
	}
}

func TestAPromotionThatIsRefusedLeavesTheEntry(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	refuseRows(t, dsn, "true", "22000")
	s := open(t, dsn)
	id := keep(t, s, dsn, quarantined(ipn.ReasonRefusedByDatabase, 200, "transactionType=CHARGE&referenceNumber=R1"))
	var refused *ipn.RefusedError
	if _, err := s.Promote(t.Context(), id, charge("R1"), byMaria); !errors.As(err, &refused) {
		t.Errorf("got %v, want a RefusedError", err)
	}
	if _, err := s.Quarantined(t.Context(), id); err != nil {
		t.Error(err)
	}
}

func TestQuarantineIsListedNewestFirstInPages(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	var want, got []int64
	for i := range 5 {
		want = append([]int64{keep(t, s, dsn, quarantined(ipn.ReasonNoFields, 200, fmt.Sprint("&", i)))}, want...)
	}
	for before := int64(0); ; {
		page, err := s.InQuarantine(t.Context(), before, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 || len(got) > len(want) {
			break
		}
		for _, q := range page {
			got, before = append(got, q.ID), q.ID
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheMetricsOfTheStoreCountQuarantineAndSurviveAnOutage(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	dsn := pgtest.New(t)
	s := openWith(t, store.Config{DSN: dsn, AllowVolatile: true, Registerer: registry})
	keep(t, s, dsn, quarantined(ipn.ReasonNoFields, 200, "x"))
	if got := gauges(t, registry, "ipn_quarantine_entries"); got != 1 {
		t.Errorf("got %d reasons, want 1", got)
	}
	away := prometheus.NewRegistry()
	openWith(t, store.Config{DSN: nobody(t), Registerer: away})
	if q, pools := gauges(t, away, "ipn_quarantine_entries"), gauges(t, away, "ipn_db_pool_connections"); q != 0 || pools != 2 {
		t.Errorf("while the database is away: %d reasons, %d pools; want a gap and 2", q, pools)
	}
}

// nobody is the address of a server that is not there.
func nobody(tb testing.TB) string { return "host=" + tb.TempDir() + " user=nobody dbname=nothing" }

func gauges(tb testing.TB, registry *prometheus.Registry, name string) int {
	tb.Helper()
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return len(family.GetMetric())
		}
	}
	return 0
}

func TestARepeatOfAnOwnedPostIsCountedAndOfARefusedOneKept(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	for range 3 {
		keep(t, s, dsn, quarantined(ipn.ReasonNoFields, 200, "&&"))
		keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "&&"))
	}
	if got := ask[string](t, dsn, "select string_agg(answered || 'x' || receipts, ' ' order by id) from quarantine"); got != "200x3 401x1 401x1 401x1" {
		t.Errorf("got %s", got)
	}
}
