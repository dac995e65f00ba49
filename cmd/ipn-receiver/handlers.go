package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/targets"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// The names of the handlers that are no targets.
const (
	ledgerHandler = "ledger"
	peopleHandler = "people"
)

// addHandlers lists every handler of this process. A new one is a file in
// internal/handlers and a line here; docs/handlers.md tells the contract.
func (s *service) addHandlers() error {
	if s.Ledger.On() {
		s.addProjection(ledgerHandler, store.LeadConfig{Project: ledger.Project})
	}
	if !s.people.IsZero() {
		index := store.People{Key: s.people, Decoder: s.decoder()}
		s.addProjection(peopleHandler, store.LeadConfig{Project: index.Project, Bodies: true})
	}
	for _, t := range s.Targets.Forward {
		t.Sink.Envelope = s.envelope(t.Common)
		sink, err := forward.New(t.Sink)
		if err := s.addTarget(t.Handler(), t.Common, sink, err); err != nil {
			return err
		}
	}
	for _, t := range s.Targets.Publish {
		sink, err := s.publisher(t)
		if err := s.addTarget(t.Handler(), t.Common, sink, err); err != nil {
			return err
		}
	}
	return nil
}

// addProjection adds a handler that writes the database; it always begins at
// the beginning of the log. how says what it writes, and whether it needs bodies.
func (s *service) addProjection(name string, how store.LeadConfig) {
	how.Handler, how.Kind = name, ipn.KindProjection
	s.handlers = append(s.handlers, dispatch.Handler{Name: name, Kind: how.Kind, Batch: s.BatchSize, Retry: s.retry(), Lead: s.lead(how)})
}

// closingSink is a sink that holds connections.
type closingSink interface {
	dispatch.Sink
	Close()
}

// addTarget adds a sink of the targets file, made without an error.
func (s *service) addTarget(handler string, t targets.Common, sink closingSink, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w", name("targets-file"), handler, err)
	}
	s.closers = append(s.closers, sink.Close)
	s.addSink(dispatch.Handler{
		Name: handler, Sink: sink, Wants: t.Filter.Wants, Concurrency: t.Concurrency, Budget: t.Timeout + time.Second, Retry: s.retryOf(t.Retry),
	}, store.LeadConfig{FromNow: t.FromNow, Bodies: len(t.Fields) > 0}) // payloads are read only where more than the facts is asked for
	return nil
}

// addSink adds a handler that speaks to the outside. from says where a new one
// begins, and whether it needs bodies.
func (s *service) addSink(h dispatch.Handler, from store.LeadConfig) {
	h.Kind, h.Batch = ipn.KindSink, s.BatchSize
	from.Handler, from.Kind = h.Name, h.Kind
	h.Lead = s.lead(from)
	s.handlers = append(s.handlers, h)
}

// lead returns how the dispatcher asks for the right to serve a handler.
func (s *service) lead(c store.LeadConfig) func(context.Context) (dispatch.Lead, error) {
	host, _ := os.Hostname() // for people who read the listing; "" tells only the process
	c.Process = fmt.Sprintf("%s:%d", host, os.Getpid())
	return func(ctx context.Context) (dispatch.Lead, error) {
		lead, err := s.store.Lead(ctx, c)
		if err != nil {
			return nil, err
		}
		return lead, nil
	}
}

// retry is what a handler gets that has no schedule of its own.
func (d *Dispatching) retry() dispatch.Retry {
	return dispatch.Retry{Attempts: d.RetryAttempts, First: d.RetryFirst, Longest: d.RetryLongest, Age: d.RetryAge}
}

// retryOf takes what a target says over what the settings say.
func (d *Dispatching) retryOf(t targets.Retry) dispatch.Retry {
	retry := d.retry()
	retry.Attempts = cmp.Or(t.Attempts, retry.Attempts)
	retry.First = cmp.Or(t.First, retry.First)
	retry.Longest = cmp.Or(t.Longest, retry.Longest)
	retry.Age = cmp.Or(t.Age, retry.Age)
	return retry
}

func (s *Settings) envelope(t targets.Common) cloudevent.Options {
	return cloudevent.Options{Source: s.EventSource, Fields: t.Fields, Decoder: s.decoder()}
}

// publisher connects nowhere yet: a broker that is away must not stop intake.
func (s *Settings) publisher(t targets.PublishTarget) (closingSink, error) {
	if t.NATS != nil {
		return publish.NewNATS(*t.NATS, s.envelope(t.Common))
	}
	return publish.NewKafka(*t.Kafka, s.envelope(t.Common))
}

// handlerNames are those of the handlers that this process serves.
func (s *service) handlerNames() []string {
	names := make([]string, len(s.handlers))
	for i, h := range s.handlers {
		names[i] = h.Name
	}
	return names
}
