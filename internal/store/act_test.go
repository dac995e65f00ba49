package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestEachActIsInTheAudit(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.PauseHandler(t.Context(), sink.Handler, byMaria))
	must(s.ResumeHandler(t.Context(), sink.Handler, byMaria))
	_, err := s.ReplayHandler(t.Context(), ipn.Replay{Handler: sink.Handler, Since: noon.Add(3 * time.Hour)}, byMaria)
	must(err)
	_, err = s.RedriveParked(t.Context(), ipn.Redrive{State: ipn.EventBuried}, byMaria)
	must(err)
	must(s.ForgetHandler(t.Context(), sink.Handler, byMaria))
	want := []struct{ action, handler, details string }{
		{"forget", sink.Handler, `{"failed": 2, "position": 3}`},
		{"redrive", "", `{"state": "buried", "events": 1, "eventId": 0}`},
		{"replay", sink.Handler, `{"since": "2026-11-21T15:00:00.123456Z", "dryRun": false, "events": 1, "position": 3, "positionBefore": 4}`},
		{"resume", sink.Handler, ""},
		{"pause", sink.Handler, ""},
	}
	entries, err := s.Audit(t.Context(), 0, 100)
	if err != nil || len(entries) != len(want) {
		t.Fatalf("got %+v, %v", entries, err)
	}
	for i, w := range want {
		e := entries[i]
		if e.Action != w.action || e.Handler != w.handler || string(e.Details) != w.details || e.Actor != byMaria.Actor || e.Reason != byMaria.Reason || e.At.IsZero() {
			t.Errorf("got %+v with %s, want %+v", e, e.Details, w)
		}
	}
	page, err := s.Audit(t.Context(), entries[1].ID, 2)
	if err != nil || len(page) != 2 || page[0].ID != entries[2].ID {
		t.Errorf("the next page: got %+v, %v", page, err)
	}
	for _, statement := range []string{"update audit set reason = 'none'", "delete from audit", "truncate audit"} {
		_, err := connect(t, dsn).Exec(t.Context(), statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "IPN02" {
			t.Errorf("%s: got %v", statement, err)
		}
	}
}

func TestAnActWithoutActorOrReasonIsNotDone(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	for _, act := range []ipn.Act{{Actor: "api"}, {Reason: "why not"}, {Actor: "api", Reason: " "}} {
		if err := s.PauseHandler(t.Context(), sink.Handler, act); err == nil || errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("%+v: got %v", act, err)
		}
	}
	if paused := ask[bool](t, dsn, "select paused_at is not null from handler_cursors"); paused {
		t.Error("it was done")
	}
}

func TestWhatAPersonTypedIsMadeStorable(t *testing.T) {
	t.Parallel()
	_, s := aHandlerThatStands(t)
	if err := s.PauseHandler(t.Context(), sink.Handler, ipn.Act{Actor: "cli:\x00" + strings.Repeat("m", 300), Reason: "x" + strings.Repeat("é", 600) + "\xff"}); err != nil {
		t.Fatal(err)
	}
	entries, err := s.Audit(t.Context(), 0, 1)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %+v, %v", entries, err)
	}
	if e := entries[0]; len(e.Actor) != 255 || !strings.HasPrefix(e.Actor, "cli:\ufffdm") || len(e.Reason) != 999 || !strings.HasSuffix(e.Reason, "é") {
		t.Errorf("got %+v", e)
	}
}

func TestAnActWakesTheLeaders(t *testing.T) {
	t.Parallel()
	_, s := aHandlerThatStands(t)
	woken, _ := listening(t, s)
	<-woken
	if err := s.PauseHandler(t.Context(), sink.Handler, byMaria); err != nil {
		t.Fatal(err)
	}
	waitFor(t, woken)
}
