package pgtest

import (
	"context"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// An Owned is a durable server of one test, which may stop it, halt it, kill it
// and start it again: the outages of production. Its methods fail the test when
// they cannot do what they say, and belong to the goroutine of the test.
type Owned struct {
	tb      testing.TB
	cfg     embeddedpg.Config
	running *embeddedpg.Server
	dsn     string
}

// Own starts a server with one migrated database, even where TEST_DATABASE_URL
// is set: an outage of that server would be everybody's. It is gone when the
// test ends.
func Own(tb testing.TB) *Owned {
	tb.Helper()
	skipWhenShort(tb)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	w, err := openWorkshop()
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	run, err := w.unpack(ctx)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() { run.remove() })
	o := &Owned{tb: tb, cfg: w.config(run.path)}
	o.cfg.Durable = true
	o.Start()
	tb.Cleanup(o.Stop)
	s := serverOf(o.running)
	if err := s.prepare(ctx); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	if err := s.create(ctx, "ipn", s.template); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	o.dsn = s.dsn("ipn")
	return o
}

// DSN is the URL of the migrated database. It stays the same whatever happens
// to the server.
func (o *Owned) DSN() string { return o.dsn }

// Start starts the server after Stop or Kill and returns when it answers.
func (o *Owned) Start() {
	o.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	running, err := embeddedpg.Start(ctx, o.cfg)
	if err != nil {
		o.tb.Fatalf("pgtest: %v", err)
	}
	o.running = running
}

// Stop ends the server in order: connections are cut, and new ones refused. One
// that has ended already is left alone.
func (o *Owned) Stop() {
	o.tb.Helper()
	if o.ended() {
		return
	}
	o.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := o.running.Stop(ctx); err != nil {
		o.tb.Errorf("pgtest: %v", err)
	}
}

// Kill ends every process of the server at once, as a loss of power does, and
// returns when it is gone. Start recovers what was committed.
func (o *Owned) Kill() {
	o.tb.Helper()
	if err := killFamily(o.running.PID()); err != nil {
		o.tb.Fatalf("pgtest: kill the server: %v", err)
	}
	<-o.running.Done()
}

// Pause halts every process of the server, as a frozen disk or machine does:
// connections stay open and nothing answers.
func (o *Owned) Pause() {
	o.tb.Helper()
	if err := haltFamily(o.running.PID()); err != nil {
		o.tb.Fatalf("pgtest: halt the server: %v", err)
	}
}

// Resume lets a halted server go on.
func (o *Owned) Resume() {
	o.tb.Helper()
	if err := resumeFamily(o.running.PID()); err != nil {
		o.tb.Fatalf("pgtest: resume the server: %v", err)
	}
}

func (o *Owned) ended() bool {
	select {
	case <-o.running.Done():
		return true
	default:
		return false
	}
}
