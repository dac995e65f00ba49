package dispatchtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/dispatch/dispatchtest"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// brokenVariable names the fault that a child process of these tests is to find.
const brokenVariable = "DISPATCHTEST_BROKEN"

// A check is worth what it catches, and a check that fails fails its test. So each fault is given to the kit in a child
// process, whose verdict is read.
func TestTheKitCatchesWhatBreaksTheContract(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a sink that refuses a repeat":              "the second time: seen before",
		"a sink that ignores its context":           "Send did not return within",
		"a sink that calls a hanging target done":   "though its target has not answered",
		"a sink that calls a refusal done":          "though its target has refused",
		"a sink that quotes the event":              "the error tells a text of the event",
		"a sink that quotes the amount":             "the error tells the amount of the event",
		"a projection that counts a repeat":         "has a row that the log at once does not come to",
		"a projection that takes the last for true": "lacks a row that the log at once comes to",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBrokenHandler$", "-test.timeout", "60s")
			child.Env = append(os.Environ(), brokenVariable+"="+name)
			output, err := child.CombinedOutput()
			if err == nil || !strings.Contains(string(output), want) {
				t.Errorf("want %q, got %v and:\n%s", want, err, output)
			}
		})
	}
}

// TestBrokenHandler is the child's side.
func TestBrokenHandler(t *testing.T) {
	fault := os.Getenv(brokenVariable)
	if fault == "" {
		t.Skip("this is a part of TestTheKitCatchesWhatBreaksTheContract, which runs it")
	}
	if project := brokenProjections[fault]; project != nil {
		dispatchtest.Fold{Project: project, Tables: []string{"counts"}, Prepare: prepareCounts}.Check(t)
		return
	}
	broken := brokenSinks[fault]
	sink := func(testing.TB) dispatch.Sink { return &brokenSink{send: broken} }
	dispatchtest.Sink(t, dispatchtest.Harness{Working: sink, Failing: sink, Hanging: sink})
}

type brokenSink struct {
	send func(s *brokenSink, ctx context.Context, e *ipn.Stored) error
	seen sync.Map
}

func (s *brokenSink) Send(ctx context.Context, e *ipn.Stored) error { return s.send(s, ctx, e) }

var brokenSinks = map[string]func(s *brokenSink, ctx context.Context, e *ipn.Stored) error{
	"a sink that refuses a repeat": func(s *brokenSink, _ context.Context, e *ipn.Stored) error {
		if _, again := s.seen.LoadOrStore(e.ID, true); again {
			return errors.New("seen before")
		}
		return nil
	},
	"a sink that ignores its context": func(_ *brokenSink, ctx context.Context, _ *ipn.Stored) error {
		if ctx.Done(); ctx.Err() != nil {
			select {}
		}
		return nil
	},
	"a sink that calls a hanging target done": func(*brokenSink, context.Context, *ipn.Stored) error { return nil },
	"a sink that calls a refusal done":        func(*brokenSink, context.Context, *ipn.Stored) error { return nil },
	"a sink that quotes the event": func(_ *brokenSink, _ context.Context, e *ipn.Stored) error {
		return fmt.Errorf("no such order: %s", e.Facts.MerchantTransactionID)
	},
	"a sink that quotes the amount": func(_ *brokenSink, _ context.Context, e *ipn.Stored) error {
		return fmt.Errorf("too much: %s", e.Facts.Amount)
	},
}

var brokenProjections = map[string]func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error{
	"a projection that counts a repeat": func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
		_, err := tx.Exec(ctx, "insert into counts values ('all', $1) on conflict (currency) do update set charges = counts.charges + $1", len(events))
		return err
	},
	"a projection that takes the last for true": func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
		_, err := tx.Exec(ctx, "insert into counts values ('last', $1) on conflict (currency) do update set charges = $1", events[len(events)-1].ID)
		return err
	},
}
