package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// maker records a history.
type maker struct {
	Events      int    `default:"200000" help:"How many events."`
	Months      int    `default:"24" help:"Over how many months, up to now."`
	Seed        uint64 `default:"1" help:"The same seed makes the same history."`
	DatabaseURL string `name:"database-url" placeholder:"URL" help:"PostgreSQL to put it into; it must be empty. Not set: a private one in --data-dir, as the program would start."`
	DataDir     string `type:"path" placeholder:"DIR" help:"Data directory of the private PostgreSQL: the IPN_DATA_DIR of the program afterwards."`
	SearchKey   string `placeholder:"KEY" help:"The program's IPN_SEARCH_KEY, if people are to be found by e-mail and name."`
}

// Validate refuses what would record nothing.
func (m *maker) Validate() error {
	if m.Events < 1 || m.Months < 1 {
		return errors.New("--events and --months must be positive")
	}
	if (m.DatabaseURL == "") == (m.DataDir == "") {
		return errors.New("say where to: --data-dir DIR or --database-url URL")
	}
	return nil
}

// Run records the events, then takes them into the books, and tells how fast.
func (m *maker) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dsn := m.DatabaseURL
	if dsn == "" {
		postgres, err := embeddedpg.Start(ctx, embeddedpg.Config{Dir: m.DataDir, Database: "ipn", Durable: true})
		if err != nil {
			return err
		}
		defer func() { _ = postgres.Stop(context.WithoutCancel(ctx)) }()
		dsn = postgres.DSN("ipn")
	}
	if err := store.Migrate(ctx, dsn, func(string, ...any) {}); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{DSN: dsn})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := m.record(ctx, s); err != nil {
		return err
	}
	return m.project(ctx, s)
}

// recorders is how many posts are in flight at a time.
const recorders = 512

// record sends every happening through decoder and recorder, in the order of time.
func (m *maker) record(ctx context.Context, s *store.Store) error {
	end := time.Now().UTC().Truncate(time.Minute)
	for month := -m.Months; month <= 1; month++ {
		if err := s.MakeMonths(ctx, end.AddDate(0, month, 0)); err != nil {
			return err
		}
	}
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		return err
	}
	recorder, err := store.NewRecorder(s, 0, nil)
	if err != nil {
		return err
	}
	working, finish := context.WithCancel(context.WithoutCancel(ctx))
	var recording sync.WaitGroup
	recording.Go(func() { recorder.Run(working) })
	defer recording.Wait()
	defer finish()

	told := story(m.Events, m.Months, end, m.Seed)
	work := make(chan happening, recorders)
	failed := make(chan error, recorders)
	var posts sync.WaitGroup
	decoder, scope := &ipn.Decoder{Zone: zone}, ipn.Scope{NodeFields: []string{"serviceNode"}}
	for range recorders {
		posts.Go(func() {
			for h := range work {
				if err := keep(working, recorder, decoder, scope, h, zone); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	report := progress("events recorded", m.Events)
	var stopped error
	for i, h := range told {
		select {
		case work <- h:
		case stopped = <-failed:
		case <-ctx.Done():
			stopped = ctx.Err()
		}
		if stopped != nil {
			break
		}
		report(i + 1)
	}
	close(work)
	posts.Wait()
	return stopped
}

// keep records one happening as if it had come a few seconds after it happened.
func keep(ctx context.Context, recorder *store.Recorder, decoder *ipn.Decoder, scope ipn.Scope, h happening, zone *time.Location) error {
	body := h.body(zone)
	event := decoder.Decode(body, "application/x-www-form-urlencoded")
	_, err := recorder.Record(ctx, &ipn.Receipt{
		Event: event, Identity: scope.Identify(event), Digest: ipn.DigestOf(body), Content: event.ContentDigest(), Vouched: ipn.VouchedSignature, Raw: body,
		Origin: ipn.Origin{ReceivedAt: time.Unix(h.at, 0).Add(3 * time.Second), Headers: map[string]string{"content-type": "application/x-www-form-urlencoded"}},
	})
	return err
}

// project lets the handlers of the program take everything in.
func (m *maker) project(ctx context.Context, s *store.Store) error {
	handlers := []store.LeadConfig{{Handler: "ledger", Project: ledger.Project}}
	if m.SearchKey != "" {
		secret, err := ipn.NewSecret("search", []byte(m.SearchKey))
		if err != nil {
			return fmt.Errorf("--search-key: %w", err)
		}
		people := store.People{Key: ipn.NewPersonKey(secret), Decoder: &ipn.Decoder{}}
		handlers = append(handlers, store.LeadConfig{Handler: "people", Bodies: true, Project: people.Project})
	}
	for _, h := range handlers {
		h.Kind, h.Process = ipn.KindProjection, "history"
		if err := catchUp(ctx, s, h, m.Events); err != nil {
			return fmt.Errorf("%s: %w", h.Handler, err)
		}
	}
	return nil
}

// catchUp hands all events to a projection.
func catchUp(ctx context.Context, s *store.Store, c store.LeadConfig, events int) error {
	lead, err := s.Lead(ctx, c)
	if err != nil {
		return err
	}
	defer lead.Close()
	report := progress("events taken in by "+c.Handler, events)
	for done := 0; ; {
		batch, err := lead.Next(ctx, 1000)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := lead.Settle(ctx, ipn.Settlement{Project: batch, Position: batch[len(batch)-1].ID}); err != nil {
			return err
		}
		done += len(batch)
		report(done)
	}
}

// progress tells how far something is, now and then, and at its end.
func progress(what string, all int) func(done int) {
	began, last := time.Now(), time.Now()
	return func(done int) {
		if now := time.Now(); done == all || now.Sub(last) > 5*time.Second {
			last = now
			fmt.Printf("%d of %d %s, %.0f a second\n", done, all, what, float64(done)/now.Sub(began).Seconds())
		}
	}
}
