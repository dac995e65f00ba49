package store_test

import (
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

const partitionsOf2031 = "select coalesce(string_agg(relname, ' ' order by relname), '') from pg_class where relname ~ '^payloads_203._..$' and relkind = 'r'"

func TestMonthsAreMadeAheadAndOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	// Half past midnight of the first of December in Tokyo is still November in UTC.
	now := time.Date(2030, 12, 1, 0, 30, 0, 0, time.FixedZone("Tokyo", 9*60*60))
	for range 2 {
		if err := s.MakeMonths(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := ask[string](t, dsn, partitionsOf2031), "payloads_2030_10 payloads_2030_11 payloads_2030_12 payloads_2031_01"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAReceiptOfAMonthNobodyMadeLandsInTheDefault(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	early, late, other := charge("R1"), charge("R2"), charge("R3")
	early.ReceivedAt = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
	late.ReceivedAt = time.Date(2031, 3, 31, 23, 59, 59, 999999000, time.UTC)
	other.ReceivedAt = time.Date(2031, 7, 1, 0, 0, 0, 0, time.UTC)
	for _, receipt := range []*ipn.Receipt{early, late, other} {
		event, err := s.Event(t.Context(), mustRecord(t, r, receipt).EventID)
		if err != nil || string(event.Raw) != string(receipt.Raw) {
			t.Fatalf("got %+v, %v", event, err)
		}
	}
	const strays = "select count(*) from payloads_default"
	if got := ask[int](t, dsn, strays); got != 3 {
		t.Errorf("%d payloads in the default, want 3", got)
	}
	// The years pass, and the month falls due: what waits in the default must not stand in its way.
	if err := s.MakeMonths(t.Context(), time.Date(2031, 3, 15, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if got := ask[int](t, dsn, strays); got != 1 {
		t.Errorf("%d payloads in the default after the month was made, want 1", got)
	}
	if got := ask[int](t, dsn, "select count(*) from payloads_2031_03"); got != 2 {
		t.Errorf("%d payloads moved to their month, want 2", got)
	}
}
