package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// compare measures two ways to commit, in turn, on one server: the Recorder, and one transaction per request over a
// pool of 16 connections, which is what most receivers do. All else is the same: door, socket, bodies, statements.
type compare struct {
	Connections []int         `default:"1,16,64,256" help:"Closed loops to measure."`
	Rate        int           `default:"500" help:"Open loop to measure, posts a second; 0 leaves it out."`
	Rounds      int           `default:"5" help:"Rounds of each, in turn."`
	Duration    time.Duration `default:"4s" help:"How long each run goes on."`

	private
}

// Validate refuses what would measure nothing.
func (c *compare) Validate() error {
	if c.Rounds < 1 || c.Duration <= 0 || c.Rate < 0 {
		return errors.New("--rounds and --duration must be positive, --rate must not be negative")
	}
	return nil
}

// ways are the two that are compared.
var ways = []struct {
	name  string
	group bool
}{{"group commit", true}, {"one transaction each", false}}

// Run prints a Markdown table of medians (least to greatest).
func (c *compare) Run() error {
	return c.measured(func(ctx context.Context, postgres *embeddedpg.Server) error {
		fmt.Printf("%s; %d rounds of %s\n\n", machine(postgres), c.Rounds, c.Duration)
		fmt.Println("| load | way | acknowledged/s | p50 ms | p99 ms | CPU µs each: door and client + PostgreSQL | acknowledged/s against one each |")
		fmt.Println("|---|---|---|---|---|---|---|")
		return c.measureAll(ctx, postgres)
	})
}

// load posts to a door until it has enough.
type load func(*target, *bodies, *figures)

func (c *compare) measureAll(ctx context.Context, postgres *embeddedpg.Server) error {
	for _, n := range c.Connections {
		closed := func(to *target, from *bodies, f *figures) { closedLoop(to, from, f, &journal{}, n, c.Duration) }
		title := fmt.Sprintf("%d connections", n)
		if n == 1 {
			title = "1 connection"
		}
		if err := c.measure(ctx, postgres, title, closed); err != nil {
			return err
		}
	}
	if c.Rate == 0 {
		return nil
	}
	open := func(to *target, from *bodies, f *figures) { openLoop(to, from, f, &journal{}, c.Rate, c.Duration) }
	return c.measure(ctx, postgres, fmt.Sprintf("%d a second, open loop", c.Rate), open)
}

// series is one column of figures for each way.
type series [2][]float64

// measure runs one load both ways, in turn, and prints a row for each.
func (c *compare) measure(ctx context.Context, postgres *embeddedpg.Server, title string, load load) error {
	var rates, p50s, p99s, own, database series
	var ratios []float64
	for round := range c.Rounds {
		for i, way := range ways {
			fmt.Fprintf(os.Stderr, "%s, round %d of %d, %s\n", title, round+1, c.Rounds, way.name)
			r, err := once(ctx, postgres, way.group, load)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", title, way.name, err)
			}
			rates[i] = append(rates[i], r.perSecond)
			p50s[i] = append(p50s[i], float64(r.p50.Microseconds())/1000)
			p99s[i] = append(p99s[i], float64(r.p99.Microseconds())/1000)
			own[i] = append(own[i], float64(r.own.Microseconds())/float64(r.good))
			database[i] = append(database[i], float64(r.postgres.Microseconds())/float64(r.good))
		}
		ratios = append(ratios, rates[0][round]/rates[1][round])
	}
	compared := []string{spread(ratios, "%.2f"), ""}
	for i, way := range ways {
		fmt.Printf("| %s | %s | %s | %s | %s | %s + %s | %s |\n", title, way.name, spread(rates[i], "%.0f"), spread(p50s[i], "%.2f"),
			spread(p99s[i], "%.1f"), spread(own[i], "%.0f"), spread(database[i], "%.0f"), compared[i])
	}
	return nil
}

func spread(values []float64, format string) string {
	middle, least, greatest := median(values)
	return fmt.Sprintf(format+" ("+format+"–"+format+")", middle, least, greatest)
}

// result is a run's summary and the processor time it took: of this process, which is door and client, and of PostgreSQL.
type result struct {
	summary
	own, postgres time.Duration
}

// once measures one run on a fresh database behind a checkpoint, so that no run pays for another's.
func once(ctx context.Context, postgres *embeddedpg.Server, group bool, load load) (r result, err error) {
	if err := freshDatabase(ctx, postgres); err != nil {
		return r, err
	}
	d, err := openDoor(ctx, postgres.DSN(databaseName), group, nil)
	if err != nil {
		return r, err
	}
	f, from := newFigures(), newBodies(1, usualBody)
	own, database := processorTime(postgres.PID())
	begin := time.Now()
	load(d.target, from, f)
	r.summary = f.sum(time.Since(begin))
	ownAfter, databaseAfter := processorTime(postgres.PID())
	r.own, r.postgres = ownAfter-own, databaseAfter-database
	if err := d.close(); err != nil {
		return r, err
	}
	if r.good == 0 || r.good != r.posts {
		return r, fmt.Errorf("not every answer was 200: %s", r.status)
	}
	return r, nil
}

// databaseName is the database that each run makes anew.
const databaseName = "load"

func freshDatabase(ctx context.Context, postgres *embeddedpg.Server) error {
	conn, err := pgx.Connect(ctx, postgres.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, order := range []string{"drop database if exists " + databaseName + " with (force)", "create database " + databaseName} {
		if _, err := conn.Exec(ctx, order); err != nil {
			return err
		}
	}
	if err := store.Migrate(ctx, postgres.DSN(databaseName), func(string, ...any) {}); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "checkpoint")
	return err
}
