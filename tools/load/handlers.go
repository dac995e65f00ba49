package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// measured is a handler to be measured; project is its work where it is a projection.
type measured struct {
	dispatch.Handler
	project store.Projection
}

// butOneFails behind a name is that handler with one event that always fails.
const butOneFails = " but one fails"

// projections and sinks are the handlers by name; "nothing" moves its cursor and does nothing else.
var (
	projections = map[string]store.Projection{
		"nothing": func(context.Context, pgx.Tx, []ipn.Stored) error { return nil },
		"ledger":  ledger.Project,
	}
	sinks = map[string]sinkFunc{
		"answering sink": func(context.Context, *ipn.Stored) error { return nil },
		"sleeper": func(context.Context, *ipn.Stored) error { // it does not listen
			time.Sleep(time.Minute)
			return nil
		},
	}
)

type sinkFunc func(context.Context, *ipn.Stored) error

// Send calls the function.
func (f sinkFunc) Send(ctx context.Context, e *ipn.Stored) error { return f(ctx, e) }

// poisonous is the event that fails; its tries are over in no time, so that all of them fall into what is measured.
const poisonous = 500

var errPoisonous = errors.New("the event cannot be handled")

// handler makes a handler by its name; finish is called when it is not used any more.
func (c *dispatched) handler(name string) (h measured, finish func()) {
	finish = func() {}
	plain, fails := strings.CutSuffix(name, butOneFails)
	h.Handler = dispatch.Handler{
		Name: strings.ReplaceAll(plain, " ", "-"), Kind: ipn.KindSink, Batch: c.Batch, Budget: 2 * time.Second,
		Retry: dispatch.Retry{First: time.Millisecond, Longest: 4 * time.Millisecond, Attempts: 5},
	}
	switch project, is := projections[plain]; {
	case is:
		h.Kind, h.project = ipn.KindProjection, project
		if fails {
			h.project = func(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
				if first, last := events[0].ID, events[len(events)-1].ID; first <= poisonous && poisonous <= last {
					return errors.Join(project(ctx, tx, events), errPoisonous)
				}
				return project(ctx, tx, events)
			}
		}
	case plain == "posting sink":
		h.Sink, finish = postingSink()
	default:
		send := sinks[plain]
		h.Sink = sinkFunc(func(ctx context.Context, e *ipn.Stored) error {
			if fails && e.ID == poisonous {
				return errPoisonous
			}
			return send(ctx, e)
		})
	}
	return h, finish
}

// postingSink forwards to a server in this process that takes everything.
func postingSink() (dispatch.Sink, func()) {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	sink, err := forward.New(forward.Target{URL: target.URL, Unsigned: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		panic(err) // the target is made two lines above
	}
	return sink, func() { sink.Close(); target.Close() }
}
