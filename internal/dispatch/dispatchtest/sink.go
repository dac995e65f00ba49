package dispatchtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Limits of the checks.
const (
	patience = 20 * time.Second // for what a working target answers
	grace    = time.Second      // after its context has ended a Send is left behind
)

// Harness is a sink with its target in three states. Each function makes a sink and a target of the check's own, and
// leaves their end to tb.Cleanup.
type Harness struct {
	// Working makes a sink whose target takes everything. Required.
	Working func(tb testing.TB) dispatch.Sink
	// Failing makes a sink whose target refuses everything, ideally while quoting what it was sent. nil skips what
	// needs it.
	Failing func(tb testing.TB) dispatch.Sink
	// Hanging makes a sink whose target takes the call and never answers. nil: only a context that has ended before is
	// tried.
	Hanging func(tb testing.TB) dispatch.Sink
}

// Sink checks the contract of a sink in sub-tests: every type of event is taken, an event may come twice, also at the
// same time, Send returns when its context ends, and no error tells a field of the event. Run it with -race.
func Sink(t *testing.T, h Harness) {
	t.Helper()
	t.Run("an event of every type is taken, and taken again", func(t *testing.T) { takesAll(t, h.Working(t)) })
	t.Run("many goroutines may send", func(t *testing.T) { takesAtOnce(t, h.Working(t)) })
	t.Run("a context that has ended is heeded", func(t *testing.T) { heedsEnd(t, h) })
	t.Run("an error tells no field of the event", func(t *testing.T) { keepsSecrets(t, h) })
}

func takesAll(t *testing.T, s dispatch.Sink) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, e := range Samples(t) {
		for _, which := range []string{"first", "second"} {
			if err := s.Send(ctx, &e); err != nil {
				t.Errorf("%s, the %s time: %v", e.Facts.TransactionType, which, err)
			}
		}
	}
}

func takesAtOnce(t *testing.T, s dispatch.Sink) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events := Samples(t)
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for i := range events {
				if err := s.Send(ctx, &events[i]); err != nil {
					t.Errorf("%s: %v", events[i].Facts.TransactionType, err)
				}
			}
		})
	}
	senders.Wait()
}

// heedsEnd ends the context before Send and, where the harness can hang, during it.
func heedsEnd(t *testing.T, h Harness) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	returns(t, h.Working(t), ended, "before it began")
	if h.Hanging == nil {
		return
	}
	soon, cancel := context.WithTimeout(t.Context(), grace/4)
	defer cancel()
	if err := returns(t, h.Hanging(t), soon, "while its target hung"); err == nil {
		t.Error("Send says that it is done, though its target has not answered")
	}
}

// returns sends a canary and waits for the answer, at most for the grace after the end of ctx.
func returns(t *testing.T, s dispatch.Sink, ctx context.Context, when string) error {
	t.Helper()
	e, came := Canary(t), make(chan error, 1)
	go func() { came <- s.Send(ctx, &e) }()
	select {
	case err := <-came:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-came:
		return err
	case <-time.After(grace):
		t.Errorf("Send did not return within %s of the end of its context, which ended %s", grace, when)
		return errors.New("no answer")
	}
}

// keepsSecrets makes Send fail in every way there is and reads what it says.
func keepsSecrets(t *testing.T, h Harness) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	silent(t, h.Working(t), ended, "before it began")
	if h.Hanging != nil {
		soon, cancel := context.WithTimeout(t.Context(), grace/4)
		defer cancel()
		silent(t, h.Hanging(t), soon, "while its target hung")
	}
	if h.Failing != nil {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := silent(t, h.Failing(t), ctx, "while its target refused"); err == nil {
			t.Error("Send says that it is done, though its target has refused the event")
		}
	}
}

// silent is returns, and reads the error.
func silent(t *testing.T, s dispatch.Sink, ctx context.Context, when string) error {
	t.Helper()
	err := returns(t, s, ctx, when)
	if e := Canary(t); told(err, &e) != "" {
		t.Errorf("the error tells %s", told(err, &e))
	}
	return err
}

// told names what an error tells of a canary, "" when that is nothing.
func told(err error, e *ipn.Stored) string {
	if err == nil {
		return ""
	}
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "canary"):
		return "a text of the event"
	case strings.Contains(text, e.Facts.Amount.String()):
		return "the amount of the event"
	}
	return ""
}
