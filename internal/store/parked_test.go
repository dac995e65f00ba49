package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestARedriveGivesExactlyWhatItNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		redrive ipn.Redrive
		events  int64
		want    string // how the handler stands
	}{
		{"the buried", ipn.Redrive{State: ipn.EventBuried}, 1, "4 1 parked: 2/3/parked/false 3/0/parked/true"},
		{"the parked", ipn.Redrive{State: ipn.EventParked}, 1, "4 1 parked: 2/0/parked/true 3/12/buried"},
		{"both", ipn.Redrive{Handler: "forward.billing"}, 2, "4 1 parked: 2/0/parked/true 3/0/parked/true"},
		{"one event", ipn.Redrive{EventID: 3}, 1, "4 1 parked: 2/3/parked/false 3/0/parked/true"},
		{"an event that did not fail", ipn.Redrive{EventID: 4}, 0, "4 1 parked: 2/3/parked/false 3/12/buried"},
		{"one event in another state", ipn.Redrive{EventID: 3, State: ipn.EventParked}, 0, "4 1 parked: 2/3/parked/false 3/12/buried"},
	}
	dsn, s := aHandlerThatStands(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			letStand(t, dsn)
			before := ask[string](t, dsn, standing)
			dry := tc.redrive
			dry.DryRun = true
			if n, err := s.RedriveParked(t.Context(), dry, byMaria); err != nil || n != tc.events || ask[string](t, dsn, standing) != before {
				t.Errorf("the dry run: got %d, %v", n, err)
			}
			if n, err := s.RedriveParked(t.Context(), tc.redrive, byMaria); err != nil || n != tc.events {
				t.Errorf("got %d, %v, want %d", n, err, tc.events)
			}
			if now := ask[string](t, dsn, standing); now != tc.want {
				t.Errorf("got %q, want %q", now, tc.want)
			}
			if n := ask[int](t, dsn, "select count(*) from parked where attempts = 0 and first_failed_at < now() - interval '1 minute'"); n != 0 {
				t.Errorf("%d redriven events are old already", n)
			}
			if n := ask[int64](t, dsn, "select count(*) from handler_cursors where epoch > 1"); n != min(tc.events, 1) {
				t.Errorf("%d leaders were fenced", n)
			}
		})
	}
}

func TestTheParkedAreListedInPages(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	execute(t, dsn,
		"insert into handler_cursors (handler, kind, position, started) values ('publish.bus', 'sink', 4, 0)",
		"insert into parked values ('publish.bus', 3, 'parked', 1, now(), now(), 'too')")
	list := func(q ipn.ParkedQuestion) string {
		parked, err := s.ParkedEvents(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range parked {
			names = append(names, fmt.Sprint(p.EventID, p.Handler, " ", p.State))
		}
		return strings.Join(names, ", ")
	}
	tests := []struct {
		name     string
		question ipn.ParkedQuestion
		want     string
	}{
		{"all", ipn.ParkedQuestion{Limit: 10}, "2forward.billing parked, 3forward.billing buried, 3publish.bus parked"},
		{"the first page", ipn.ParkedQuestion{Limit: 2}, "2forward.billing parked, 3forward.billing buried"},
		{"the next page", ipn.ParkedQuestion{Limit: 2, After: 3, AfterHandler: "forward.billing"}, "3publish.bus parked"},
		{"the page after the last", ipn.ParkedQuestion{Limit: 2, After: 3, AfterHandler: "publish.bus"}, ""},
		{"of a handler", ipn.ParkedQuestion{Limit: 10, Handler: "publish.bus"}, "3publish.bus parked"},
		{"in a state", ipn.ParkedQuestion{Limit: 10, State: ipn.EventBuried}, "3forward.billing buried"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := list(tc.question); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	parked, err := s.ParkedEvents(t.Context(), ipn.ParkedQuestion{Limit: 1})
	if err != nil || len(parked) != 1 || parked[0].FirstFailedAt.IsZero() || parked[0].NextAt == nil {
		t.Fatalf("got %+v, %v", parked, err)
	}
	want := ipn.ParkedEvent{
		Handler: "forward.billing", EventID: 2, TransactionType: "CHARGE", ReferenceNumber: "R2", State: ipn.EventParked, Attempts: 3, LastError: "no",
		FirstFailedAt: parked[0].FirstFailedAt, NextAt: parked[0].NextAt,
	}
	if !reflect.DeepEqual(parked[0], want) {
		t.Errorf("got %+v, want %+v", parked[0], want)
	}
}

func TestAnEventShowsWhatBecameOfItAtEachHandler(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	handling := func(id int64) ipn.Handling {
		t.Helper()
		handlings, err := s.Handlings(t.Context(), id)
		if err != nil || len(handlings) != 1 || handlings[0].Handler != sink.Handler {
			t.Fatalf("got %+v, %v", handlings, err)
		}
		return handlings[0]
	}
	for id, want := range map[int64]ipn.EventState{1: ipn.EventBefore, 2: ipn.EventParked, 3: ipn.EventBuried, 4: ipn.EventDone, 5: ipn.EventWaiting} {
		if got := handling(id); got.State != want || (got.NextAt != nil) != (want == ipn.EventParked) || len(got.History) != 0 {
			t.Errorf("event %d: got %+v, want %s", id, got, want)
		}
	}
	lead := mustLead(t, s, sink)
	mustSettle(t, lead, ipn.Settlement{Failed: []ipn.Failure{{EventID: 4, Number: 1, Took: time.Second, Error: "500"}}})
	if got := handling(4); got.State != ipn.EventParked || got.Attempts != 1 || got.LastError != "500" || len(got.History) != 1 {
		t.Errorf("parked: got %+v", got)
	}
	mustSettle(t, lead, ipn.Settlement{Done: []ipn.Success{{EventID: 4, Number: 2, Took: 2 * time.Second}}})
	got := handling(4)
	if got.State != ipn.EventDone || got.Attempts != 2 || len(got.History) != 2 {
		t.Fatalf("done: got %+v", got)
	}
	for i, want := range []ipn.Attempt{{Number: 1, Took: time.Second, Result: "failed", Error: "500"}, {Number: 2, Took: 2 * time.Second, Result: "done"}} {
		want.At = got.History[i].At
		if got.History[i] != want || want.At.IsZero() {
			t.Errorf("got %+v, want %+v", got.History[i], want)
		}
	}
	execute(t, dsn, "insert into attempts (handler, event_id, number, at, took_ms, result, error) select 'forward.billing', 3, n, now(), 0, 'failed', 'no' from generate_series(1, 150) n")
	if h := handling(3).History; len(h) != 100 || h[0].Number != 51 || h[99].Number != 150 {
		t.Errorf("a long history: got %d attempts", len(h))
	}
	if none, err := s.Handlings(t.Context(), 4711); err != nil || len(none) != 0 {
		t.Errorf("an event that does not exist: got %+v, %v", none, err)
	}
}

func TestAReplayedEventThatGoesWellLeavesNoAttempt(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	if _, err := s.ReplayHandler(t.Context(), ipn.Replay{Handler: sink.Handler, Matching: &ipn.Question{ReferenceNumber: "R4"}}, byMaria); err != nil {
		t.Fatal(err)
	}
	lead := mustLead(t, s, sink)
	due, _, err := lead.Due(t.Context(), 10)
	if err != nil || len(due) != 1 || due[0].ID != 4 || due[0].Attempts != 0 {
		t.Fatalf("got %+v, %v", due, err)
	}
	mustSettle(t, lead, ipn.Settlement{Done: []ipn.Success{{EventID: 4, Number: 1}}})
	if n := ask[int](t, dsn, "select count(*) from attempts"); n != 0 {
		t.Errorf("%d attempts are kept", n)
	}
}
