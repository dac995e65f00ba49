package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// refuseRows makes the server raise a SQLSTATE for each new event that fits the condition. The message quotes the row,
// as the server's own messages do.
func refuseRows(tb testing.TB, dsn, condition, sqlState string) {
	tb.Helper()
	execute(tb, dsn, fmt.Sprintf(`create or replace function refuse_rows() returns trigger language plpgsql as $$ begin
			if %s then raise exception 'Jane Doe %%', new.reference_number using errcode = '%s'; end if;
			return new;
		end $$`, condition, sqlState),
		"create or replace trigger refuse_rows before insert on events for each row execute function refuse_rows()")
}

// B-16: a row that is refused for good fails alone.
func TestARefusedRowFailsAloneInItsBatch(t *testing.T) {
	t.Parallel()
	for _, sqlState := range []string{"22000", "23514", "54000"} {
		t.Run("SQLSTATE "+sqlState, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			refuseRows(t, dsn, "new.reference_number like 'POISON%'", sqlState)
			receipts := make([]*ipn.Receipt, 20)
			for i := range receipts {
				receipts[i] = charge(fmt.Sprint("R", i))
			}
			receipts[0], receipts[7], receipts[19] = charge("POISON1"), charge("POISON2"), charge("POISON3")
			for i, a := range recordInOrder(t, newRecorder(t, open(t, dsn)), receipts...) {
				var refused *ipn.RefusedError
				switch poison := i == 0 || i == 7 || i == 19; {
				case !poison && (a.err != nil || a.Outcome != ipn.OutcomeNew):
					t.Errorf("neighbour %d: got %+v", i, a)
				case poison && (!errors.As(a.err, &refused) || refused.SQLState != sqlState || strings.Contains(a.err.Error(), "POISON")):
					t.Errorf("poison %d: got %+v", i, a)
				}
			}
			wantSums(t, dsn, 17, 17)
		})
	}
}

func TestATransientRefusalIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, sqlState := range []string{"40001", "40P01", "55P03", "57014", "53300"} {
		t.Run("SQLSTATE "+sqlState, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			execute(t, dsn, "create sequence tries")
			refuseRows(t, dsn, "nextval('tries') <= 3", sqlState)
			registry := prometheus.NewRegistry()
			r, err := store.NewRecorder(open(t, dsn), 0, registry)
			if err != nil {
				t.Fatal(err)
			}
			run(t, r)
			if got := mustRecord(t, r, charge("R1")); got.Outcome != ipn.OutcomeNew {
				t.Errorf("got %+v", got)
			}
			if n := observations(t, registry, "ipn_record_hold_seconds"); n != 1 {
				t.Errorf("the hold was observed %d times, want once", n)
			}
			mustRecord(t, r, charge("R2"))
			if n := observations(t, registry, "ipn_record_hold_seconds"); n != 1 {
				t.Errorf("a receipt that was not held was observed")
			}
			if n := observations(t, registry, "ipn_record_batch_size"); n != 2 {
				t.Errorf("got %d batches, want 2", n)
			}
		})
	}
}

// observations returns how often a histogram was observed.
func observations(tb testing.TB, registry *prometheus.Registry, name string) uint64 {
	tb.Helper()
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	tb.Fatalf("there is no %s", name)
	return 0
}

func TestACallerWhosePatienceEndsHearsWhyAndNoData(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	refuseRows(t, dsn, "true", "55P03")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := running(t, dsn).Record(ctx, charge("R1"))
	wantUnavailable(t, err, "SQLSTATE 55P03")
}

func TestAnOutageIsHeldThroughAndImpatientCallersLeave(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	outages := []struct {
		name       string
		begin, end func()
		want       string // why, as the caller that leaves is told
	}{
		{"an orderly stop", server.Stop, server.Start, "connect"},
		{"a kill", server.Kill, server.Start, "connect"},
		{"a halt", server.Pause, server.Resume, ""},
	}
	for i, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			s := openWith(t, store.Config{DSN: server.DSN()})
			r, err := store.NewRecorder(s, 0, registry)
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, r)
			mustRecord(t, r, charge(fmt.Sprint("before-", i)))
			outage.begin()
			patient := recordAll(context.Background(), r, charge(fmt.Sprint("held-", i)), charge(fmt.Sprint("held-too-", i)))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err = r.Record(ctx, charge(fmt.Sprint("left-", i), "firstName=Ann"))
			if !errors.Is(err, ipn.ErrUnavailable) || !strings.Contains(err.Error(), outage.want) || strings.Contains(err.Error(), "Ann") {
				t.Errorf("got %v", err)
			}
			if err := s.Ready(ctx); !errors.Is(err, ipn.ErrUnavailable) {
				t.Errorf("ready during the outage: got %v", err)
			}
			if n := observations(t, registry, "ipn_record_hold_seconds"); n != 1 {
				t.Errorf("the hold of the caller that left was observed %d times, want once", n)
			}
			outage.end()
			for _, a := range patient() {
				if a.err != nil {
					t.Error(a.err)
				}
			}
			eventually(t, "it is ready again", func() bool { return s.Ready(t.Context()) == nil })
			stop()
			if n := ask[int](t, server.DSN(), "select count(*) from events where reference_number like 'held-%' || $1", fmt.Sprint(i)); n != 2 {
				t.Errorf("%d of 2 held receipts were kept", n)
			}
		})
	}
}

// A row that the server stumbles over, without judging it, must not stand at the head of the queue for everyone.
func TestARowTheServerStumblesOverHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	refuseRows(t, dsn, "new.reference_number like 'POISON%'", "XX001")
	r := running(t, dsn)
	impatient, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	waitForPoison := recordAll(impatient, r, charge("POISON1"))
	for i := range 20 {
		mustRecord(t, r, charge(fmt.Sprint("R", i)))
	}
	if impatient.Err() != nil {
		t.Error("the neighbours waited until the poison had left")
	}
	cancel()
	wantUnavailable(t, waitForPoison()[0].err, "SQLSTATE XX001")
	wantSums(t, dsn, 20, 20)
}
