package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

var auditor = ipn.Act{Actor: "cli:maria", Reason: "month end"}

func TestWorkOnAHandlersTablesIsDoneWhileNobodyLeadsIt(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	ids := logged(t, dsn, 3)
	lead := mustLead(t, s, sink)
	mustSettle(t, lead, ipn.Settlement{Position: ids[1]})
	leaving := make(chan error, 1)
	go func() { // as a dispatcher does: it leads until its heartbeat says no
		var err error
		for err == nil {
			err = lead.Check(t.Context())
		}
		lead.Close()
		leaving <- err
	}()
	err := s.Exclusively(t.Context(), "rebuild", sink.Handler, auditor, func(ctx context.Context, position int64) (any, error) {
		if position != ids[1] {
			t.Errorf("got position %d, want %d", position, ids[1])
		}
		if _, err := s.Lead(ctx, sink); !errors.Is(err, ipn.ErrPaused) {
			t.Errorf("somebody else would lead meanwhile: %v", err)
		}
		return map[string]int{"rows": 7}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-leaving; !errors.Is(err, ipn.ErrPaused) && !errors.Is(err, ipn.ErrFenced) {
		t.Errorf("the leader left with %v", err)
	}
	mustLead(t, s, sink)
	entries, err := s.Audit(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var actions string
	for _, e := range entries {
		actions = e.Action + " " + actions
	}
	if actions != "pause rebuild resume " {
		t.Errorf("the audit tells %q", actions)
	}
}

func TestWorkThatFailsLeavesTheHandlerAsItWas(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	mustLead(t, s, sink).Close()
	mended := errors.New("it cannot be done")
	fail := func(context.Context, int64) (any, error) { return nil, mended }
	for _, paused := range []bool{false, true} {
		if paused {
			if err := s.PauseHandler(t.Context(), sink.Handler, auditor); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Exclusively(t.Context(), "rebuild", sink.Handler, auditor, fail); !errors.Is(err, mended) {
			t.Errorf("got %v", err)
		}
		if state := stateOf(t, s); (state.PausedAt != nil) != paused {
			t.Errorf("paused before: %v, after: %v", paused, state.PausedAt)
		}
	}
	if err := s.Exclusively(t.Context(), "rebuild", "nobody", auditor, fail); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("a handler that is not there: got %v", err)
	}
}

func TestAPauseDuringTheWorkOutlastsIt(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	mustLead(t, s, sink).Close()
	err := s.Exclusively(t.Context(), "rebuild", sink.Handler, auditor, func(ctx context.Context, _ int64) (any, error) {
		return struct{}{}, s.PauseHandler(ctx, sink.Handler, ipn.Act{Actor: "cli:jonas", Reason: "their migration"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if state := stateOf(t, s); state.PausedBecause != "their migration" {
		t.Errorf("paused because of %q", state.PausedBecause)
	}
}
