package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// standing tells where the handler is: its cursor, where it began, and what is parked, as numbers of events.
const standing = `
	select concat_ws(' ', position, started, 'parked:', coalesce((select string_agg(concat_ws('/', event_id, attempts, state, (next_at <= now())::text), ' ' order by event_id) from parked), '-'))
	from handler_cursors`

// Five events with ids from 1 to 5, an hour apart; the handler began behind the first, is done with four, has event 2
// parked for later and event 3 buried.
func aHandlerThatStands(t *testing.T) (string, *store.Store) {
	dsn := pgtest.New(t)
	r := newRecorder(t, open(t, dsn))
	stop := run(t, r)
	for i := range 5 {
		receipt := charge(fmt.Sprint("R", i+1), "accountId=A"+fmt.Sprint(i%2))
		receipt.ReceivedAt = noon.Add(time.Duration(i) * time.Hour)
		mustRecord(t, r, receipt)
	}
	stop()
	letStand(t, dsn)
	return dsn, open(t, dsn)
}

// letStand puts the handler back to where it stood.
func letStand(t *testing.T, dsn string) {
	execute(t, dsn,
		"delete from handler_cursors",
		"insert into handler_cursors (handler, kind, position, started) values ('forward.billing', 'sink', 4, 1)",
		"insert into parked values ('forward.billing', 2, 'parked', 3, now() - interval '1 hour', now() + interval '1 hour', 'no'), ('forward.billing', 3, 'buried', 12, now() - interval '2 hours', null, 'no')")
}

func TestAReplayDoesWhatItsDryRunCounts(t *testing.T) {
	t.Parallel()
	later := func(d time.Duration) ipn.Replay { return ipn.Replay{Since: noon.Add(d)} }
	tests := []struct {
		name     string
		replay   ipn.Replay
		events   int64
		position int64
		want     string // how the handler stands
	}{
		{"all", ipn.Replay{All: true}, 4, 0, "0 0 parked: -"},
		{"since the moment of an event", later(2 * time.Hour), 2, 2, "2 1 parked: 2/3/parked/false"},
		{"since a moment before an event", later(2*time.Hour - time.Microsecond), 2, 2, "2 1 parked: 2/3/parked/false"},
		{"since before the first", later(-time.Hour), 4, 0, "0 0 parked: -"},
		{"since an event that is still to come", later(4 * time.Hour), 0, 4, "4 1 parked: 2/3/parked/false 3/12/buried"},
		{"since after the last", later(24 * time.Hour), 0, 4, "4 1 parked: 2/3/parked/false 3/12/buried"},
		{"one that matches", ipn.Replay{Matching: &ipn.Question{ReferenceNumber: "R4"}}, 1, 4, "4 1 parked: 2/3/parked/false 3/12/buried 4/0/parked/true"},
		{"one that is parked", ipn.Replay{Matching: &ipn.Question{ReferenceNumber: "R2"}}, 1, 4, "4 1 parked: 2/0/parked/true 3/12/buried"},
		{"those of an account", ipn.Replay{Matching: &ipn.Question{AccountID: "A0"}}, 2, 4, "4 1 parked: 1/0/parked/true 2/3/parked/false 3/0/parked/true"},
		{"those by any reference", ipn.Replay{Matching: &ipn.Question{Text: "A1", Limit: 1, After: &ipn.Position{ID: 1}}}, 2, 4, "4 1 parked: 2/0/parked/true 3/12/buried 4/0/parked/true"},
		{"one the cursor has not reached", ipn.Replay{Matching: &ipn.Question{ReferenceNumber: "R5"}}, 0, 4, "4 1 parked: 2/3/parked/false 3/12/buried"},
		{"everything the cursor has passed", ipn.Replay{Matching: &ipn.Question{}}, 4, 4, "4 1 parked: 1/0/parked/true 2/0/parked/true 3/0/parked/true 4/0/parked/true"},
	}
	dsn, s := aHandlerThatStands(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			letStand(t, dsn)
			before := ask[string](t, dsn, standing)
			replay := tc.replay
			replay.Handler = sink.Handler
			for _, dry := range []bool{true, false} {
				replay.DryRun = dry
				want := ipn.Replayed{Events: tc.events, Position: tc.position, DryRun: dry}
				if came, err := s.ReplayHandler(t.Context(), replay, byMaria); err != nil || came != want {
					t.Errorf("got %+v, %v, want %+v", came, err, want)
				}
				if now := ask[string](t, dsn, standing); dry && now != before {
					t.Errorf("the dry run changed something: %s", now)
				}
			}
			if now := ask[string](t, dsn, standing); now != tc.want {
				t.Errorf("got %q, want %q", now, tc.want)
			}
		})
	}
}

func TestAReplaySaysInOneWayWhichEventsItIsOf(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	for _, r := range []ipn.Replay{{}, {All: true, Since: noon}, {All: true, Matching: &ipn.Question{}}, {Since: noon, Matching: &ipn.Question{}}} {
		r.Handler = sink.Handler
		if _, err := s.ReplayHandler(t.Context(), r, byMaria); err == nil || errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("%+v: got %v", r, err)
		}
	}
	if got := ask[int64](t, dsn, "select position from handler_cursors"); got != 4 {
		t.Errorf("the cursor is at %d", got)
	}
}

func TestAReplayIsInTheAuditWithoutPersonalData(t *testing.T) {
	t.Parallel()
	_, s := aHandlerThatStands(t)
	for _, q := range []ipn.Question{{AccountID: "A0", Currency: "EUR"}, {Text: "A1"}} {
		if _, err := s.ReplayHandler(t.Context(), ipn.Replay{Handler: sink.Handler, Matching: &q}, byMaria); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.Audit(t.Context(), 0, 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("got %+v, %v", entries, err)
	}
	for i, wants := range [][]string{{`"byText": true`}, {`"byAccount": true`, `"currency": "EUR"`, `"events": 0`, `"position": 4`, `"positionBefore": 4`}} {
		details := string(entries[i].Details)
		for _, want := range wants {
			if !strings.Contains(details, want) {
				t.Errorf("%s lacks %s", details, want)
			}
		}
		if strings.Contains(details, "A0") || strings.Contains(details, "A1") {
			t.Errorf("the account is told: %s", details)
		}
	}
}

func TestWhatNeverWasCanNotBeActedUpon(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	const name = "forward.nobody"
	acts := map[string]func() error{
		"pause":  func() error { return s.PauseHandler(t.Context(), name, byMaria) },
		"resume": func() error { return s.ResumeHandler(t.Context(), name, byMaria) },
		"forget": func() error { return s.ForgetHandler(t.Context(), name, byMaria) },
		"replay": func() error {
			_, err := s.ReplayHandler(t.Context(), ipn.Replay{Handler: name, All: true}, byMaria)
			return err
		},
		"a replay that only counts": func() error {
			_, err := s.ReplayHandler(t.Context(), ipn.Replay{Handler: name, All: true, DryRun: true}, byMaria)
			return err
		},
		"redrive": func() error { _, err := s.RedriveParked(t.Context(), ipn.Redrive{Handler: name}, byMaria); return err },
		"a redrive that only counts": func() error {
			_, err := s.RedriveParked(t.Context(), ipn.Redrive{Handler: name, DryRun: true}, byMaria)
			return err
		},
	}
	for what, act := range acts {
		if err := act(); !errors.Is(err, ipn.ErrNotFound) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if n := ask[int](t, dsn, "select count(*) from audit"); n != 0 {
		t.Errorf("the audit has %d entries", n)
	}
}
