package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// compare measures two ways to commit, in turn, on one server: the Recorder, and one transaction per request over a
// pool of 16 connections, which is what most receivers do. All else is the same: door, socket, bodies, statements.
type compare struct {
	Connections []int         `default:"1,16,64,256" help:"Closed loops to measure."`
	Rate        int           `default:"500" help:"Open loop to measure, posts a second; 0 leaves it out."`
	Rounds      int           `default:"5" help:"Rounds of each, in turn."`
	Duration    time.Duration `default:"4s" help:"How long each run goes on."`
	Dir         string        `type:"path" help:"Where the private PostgreSQL lives; not set: a temporary directory, removed at the end."`
}

// ways are the two that are compared.
var ways = []struct {
	name  string
	group bool
}{{"group commit", true}, {"one transaction each", false}}

// Run prints a Markdown table of medians (least to greatest).
func (c *compare) Run() error {
	ctx := context.Background()
	dir := c.Dir
	if dir == "" {
		made, err := os.MkdirTemp("", "ipn-load-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		if err := os.Chmod(made, 0o755); err != nil {
			return err
		}
		dir = filepath.Join(made, "data")
	}
	postgres, err := embeddedpg.Start(ctx, embeddedpg.Config{Dir: dir, Durable: true})
	if err != nil {
		return err
	}
	defer func() { _ = postgres.Stop(ctx) }()

	fmt.Printf("PostgreSQL %s, durable; %s, %d processors; %d rounds of %s\n\n", postgres.Version(), runtime.Version(), runtime.NumCPU(), c.Rounds, c.Duration)
	fmt.Println("| load | way | acknowledged/s | p50 ms | p99 ms | CPU µs each | against one each |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, n := range c.Connections {
		load := func(to *target, from *bodies, f *figures) { closedLoop(to, from, f, &journal{}, n, c.Duration) }
		if err := c.measure(ctx, postgres, fmt.Sprintf("%d connections", n), load); err != nil {
			return err
		}
	}
	if c.Rate > 0 {
		load := func(to *target, from *bodies, f *figures) { openLoop(to, from, f, &journal{}, c.Rate, c.Duration) }
		return c.measure(ctx, postgres, fmt.Sprintf("%d a second, open loop", c.Rate), load)
	}
	return nil
}

// measure runs one load both ways, in turn, and prints a row for each.
func (c *compare) measure(ctx context.Context, postgres *embeddedpg.Server, title string, load func(*target, *bodies, *figures)) error {
	var rates, p50s, p99s, costs [2][]float64
	var ratios []float64
	for round := range c.Rounds {
		for way := range ways {
			fmt.Fprintf(os.Stderr, "%s, round %d of %d, %s\n", title, round+1, c.Rounds, ways[way].name)
			s, cost, err := once(ctx, postgres, ways[way].group, load)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", title, ways[way].name, err)
			}
			rates[way] = append(rates[way], s.perSecond)
			p50s[way] = append(p50s[way], float64(s.p50.Microseconds())/1000)
			p99s[way] = append(p99s[way], float64(s.p99.Microseconds())/1000)
			costs[way] = append(costs[way], float64(cost.Microseconds())/float64(s.good))
		}
		ratios = append(ratios, rates[0][round]/rates[1][round])
	}
	for way := range ways {
		ratio := ""
		if way == 0 {
			ratio = spread(ratios, "%.2f")
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", title, ways[way].name, spread(rates[way], "%.0f"), spread(p50s[way], "%.2f"),
			spread(p99s[way], "%.1f"), spread(costs[way], "%.0f"), ratio)
	}
	return nil
}

func spread(values []float64, format string) string {
	middle, least, greatest := median(values)
	return fmt.Sprintf(format+" ("+format+"–"+format+")", middle, least, greatest)
}

// once measures one run on a fresh database behind a checkpoint, so that no run pays for another's. cost is the
// processor time of PostgreSQL and of this process, which is door and client together.
func once(ctx context.Context, postgres *embeddedpg.Server, group bool, load func(*target, *bodies, *figures)) (s summary, cost time.Duration, err error) {
	if err := freshDatabase(ctx, postgres); err != nil {
		return s, 0, err
	}
	kept, err := store.Open(ctx, store.Config{DSN: postgres.DSN("load"), PoolSize: 16})
	if err != nil {
		return s, 0, err
	}
	defer kept.Close()
	recorder, err := store.NewRecorder(kept, 0, nil)
	if err != nil {
		return s, 0, err
	}
	door, err := receiver.New(receiver.Config{
		Path: "/ipn", MaxBody: 1 << 20, MemoryBudget: 64 << 20, AdmissionWait: 2 * time.Second, Hold: 4 * time.Second,
		Policy: receiver.Policy{Mode: receiver.Off}, Decoder: new(ipn.Decoder), Record: &way{Store: kept, recorder: recorder, group: group},
	})
	if err != nil {
		return s, 0, err
	}
	listener, err := server.Listen("127.0.0.1:0", server.Limits{})
	if err != nil {
		return s, 0, err
	}
	running, stop := context.WithCancel(ctx)
	var parts errgroup.Group
	parts.Go(func() error { recorder.Run(running); return nil })
	parts.Go(func() error {
		return (&server.Server{Doors: []server.Door{{Name: "public", Listener: listener, Handler: door.Handler()}}}).Run(running, nil)
	})
	to, f := &target{url: &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/ipn"}}, newFigures()
	before, begin := processorTime(postgres.PID()), time.Now()
	load(to, newBodies(1), f)
	s, cost = f.sum(time.Since(begin)), processorTime(postgres.PID())-before
	stop()
	if err := parts.Wait(); err != nil {
		return s, 0, err
	}
	if s.good != s.posts {
		return s, 0, fmt.Errorf("not every answer was 200: %s", s.status)
	}
	return s, cost, nil
}

// way records in groups or alone.
type way struct {
	*store.Store
	recorder *store.Recorder
	group    bool
}

// Record keeps a receipt the way that is being measured.
func (w *way) Record(ctx context.Context, r *ipn.Receipt) (ipn.Recorded, error) {
	if w.group {
		return w.recorder.Record(ctx, r)
	}
	return w.RecordAlone(ctx, r)
}

func freshDatabase(ctx context.Context, postgres *embeddedpg.Server) error {
	conn, err := pgx.Connect(ctx, postgres.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, order := range []string{"drop database if exists load with (force)", "create database load"} {
		if _, err := conn.Exec(ctx, order); err != nil {
			return err
		}
	}
	if err := store.Migrate(ctx, postgres.DSN("load"), func(string, ...any) {}); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "checkpoint")
	return err
}
