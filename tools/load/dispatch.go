package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// dispatched measures handlers: how soon after the acknowledgement the ledger is done with an event, how fast it works
// off a backlog, and what handlers cost the front door.
type dispatched struct {
	Rate        int           `default:"200" help:"Posts a second while the delay is measured; 0 leaves it out."`
	Duration    time.Duration `default:"10s" help:"How long each run with posts goes on."`
	Backlog     int           `default:"100000" help:"Events that are worked off; 0 leaves it out."`
	Connections int           `default:"64" help:"Closed loop in which acknowledgements with and without handlers are compared; 0 leaves it out."`
	Rounds      int           `default:"3" help:"Rounds of each, in turn."`
	Interval    time.Duration `default:"2ms" help:"Shortest time between two looks at the log, as --claim-interval of the program."`
	Batch       int           `default:"256" help:"Events a handler is handed at a time, as --batch-size of the program."`

	private
}

// Validate refuses what would measure nothing.
func (c *dispatched) Validate() error {
	if c.Rounds < 1 || c.Duration <= 0 {
		return errors.New("--rounds and --duration must be positive")
	}
	return nil
}

// Run prints one line per figure.
func (c *dispatched) Run() error {
	debug.SetGCPercent(200) // as the program has it
	return c.measured(func(ctx context.Context, postgres *embeddedpg.Server) error {
		fmt.Printf("%s; %d rounds; interval %s, batch %d\n", machine(postgres), c.Rounds, c.Interval, c.Batch)
		for _, part := range []func(context.Context, *embeddedpg.Server) error{c.delay, c.poison, c.drain, c.cost} {
			if err := part(ctx, postgres); err != nil {
				return err
			}
		}
		return nil
	})
}

// delay measures from the acknowledgement to the commit of the ledger's part, alone and beside a sink that takes a minute
// for each event and does not listen to its context.
func (c *dispatched) delay(ctx context.Context, postgres *embeddedpg.Server) error {
	if c.Rate == 0 {
		return nil
	}
	var acks, p50s, p99s [2][]float64
	for range c.Rounds {
		for i, names := range [][]string{{"ledger"}, {"ledger", "sleeper"}} {
			delays := &delays{acked: map[int64]time.Time{}, done: map[int64]time.Time{}}
			f := newFigures()
			err := c.behindADoor(ctx, postgres, delays, names, func(d *door) error {
				began := time.Now()
				openLoop(d.target, newBodies(1, usualBody), f, &journal{}, c.Rate, c.Duration)
				acks[i] = append(acks[i], float64(f.sum(time.Since(began)).p99.Microseconds())/1000)
				return delays.await()
			})
			if err != nil {
				return err
			}
			waits := delays.sorted()
			p50s[i] = append(p50s[i], float64(percentile(waits, .5).Microseconds())/1000)
			p99s[i] = append(p99s[i], float64(percentile(waits, .99).Microseconds())/1000)
		}
	}
	for i, beside := range []string{"alone", "beside a sink that sleeps"} {
		fmt.Printf("%d posts a second, %s: acknowledgement p99 %s ms; acknowledgement to ledger done p50 %s ms, p99 %s ms\n",
			c.Rate, beside, spread(acks[i], "%.1f"), spread(p50s[i], "%.2f"), spread(p99s[i], "%.1f"))
	}
	return nil
}

// poison measures how long 1,000 events take with and without one that always fails, as they come in and as a backlog: the
// good ones are done when the cursor has passed the last.
func (c *dispatched) poison(ctx context.Context, postgres *embeddedpg.Server) error {
	const events = 1000
	for _, live := range []bool{true, false} {
		how := "waiting"
		if live {
			how = "coming in"
		}
		for _, name := range []string{"ledger", "answering sink"} {
			var ratios []float64
			for range 5 * c.Rounds {
				good, err := c.workOff(ctx, postgres, name, events, live)
				if err != nil {
					return err
				}
				bad, err := c.workOff(ctx, postgres, name+butOneFails, events, live)
				if err != nil {
					return err
				}
				ratios = append(ratios, bad.took.Seconds()/good.took.Seconds())
			}
			fmt.Printf("%d events %s, %s: with one that fails %s times the time without\n", events, how, name, spread(ratios, "%.2f"))
		}
	}
	return nil
}

// drain measures how fast handlers work off events that are there already.
func (c *dispatched) drain(ctx context.Context, postgres *embeddedpg.Server) error {
	if c.Backlog == 0 {
		return nil
	}
	for _, name := range []string{"nothing", "ledger"} {
		var rates, own, database []float64
		for range c.Rounds {
			r, err := c.workOff(ctx, postgres, name, c.Backlog, false)
			if err != nil {
				return err
			}
			rates = append(rates, float64(c.Backlog)/r.took.Seconds())
			own = append(own, float64(r.own.Microseconds())/float64(c.Backlog))
			database = append(database, float64(r.postgres.Microseconds())/float64(c.Backlog))
		}
		fmt.Printf("drain of %d by %s: %s events/s; CPU µs each, program + PostgreSQL: %s + %s\n",
			c.Backlog, name, spread(rates, "%.0f"), spread(own, "%.1f"), spread(database, "%.1f"))
	}
	return nil
}

// cost compares acknowledgements with handlers at work and without any, in turn.
func (c *dispatched) cost(ctx context.Context, postgres *embeddedpg.Server) error {
	if c.Connections == 0 {
		return nil
	}
	ways := []struct {
		title    string
		handlers []string
	}{{"no handler", nil}, {"the ledger", []string{"ledger"}}, {"the ledger and a sink that posts", []string{"ledger", "posting sink"}}}
	rates, ratios := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range c.Rounds {
		for i, way := range ways {
			err := c.behindADoor(ctx, postgres, nil, way.handlers, func(d *door) error {
				f := newFigures()
				began := time.Now()
				closedLoop(d.target, newBodies(1, usualBody), f, &journal{}, c.Connections, c.Duration)
				rates[i] = append(rates[i], f.sum(time.Since(began)).perSecond)
				return nil
			})
			if err != nil {
				return err
			}
			ratios[i] = append(ratios[i], rates[i][round]/rates[0][round])
		}
	}
	for i, way := range ways {
		fmt.Printf("acknowledged a second at %d connections with %s: %s, %s times that with none\n",
			c.Connections, way.title, spread(rates[i], "%.0f"), spread(ratios[i], "%.2f"))
	}
	return nil
}

// behindADoor runs a door and handlers on a fresh database while do posts.
func (c *dispatched) behindADoor(ctx context.Context, postgres *embeddedpg.Server, delays *delays, names []string, do func(*door) error) error {
	if err := freshDatabase(ctx, postgres); err != nil {
		return err
	}
	d, err := openDoor(ctx, postgres.DSN(databaseName), true, delays)
	if err != nil {
		return err
	}
	var settled func(ipn.Settlement)
	if delays != nil {
		settled = delays.settled
	}
	return errors.Join(c.run(ctx, d.kept, settled, names, func() error { return do(d) }), d.close())
}

// run serves the handlers while do goes on; settled, if any, is told of each settlement.
func (c *dispatched) run(ctx context.Context, kept *store.Store, settled func(ipn.Settlement), names []string, do func() error) error {
	var all []dispatch.Handler
	for _, name := range names {
		h, finish := c.handler(name)
		defer finish()
		config := store.LeadConfig{Handler: h.Name, Kind: h.Kind, Process: "load", Project: h.project}
		h.Lead = func(ctx context.Context) (dispatch.Lead, error) {
			lead, err := kept.Lead(ctx, config)
			if err != nil {
				return nil, err
			}
			return watched{lead, settled}, nil
		}
		all = append(all, h.Handler)
	}
	dispatcher, err := dispatch.New(dispatch.Config{Handlers: all, Listen: func(ctx context.Context, wake func()) error { return kept.Listen(ctx, names, wake) }, Interval: c.Interval})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { dispatcher.Run(ctx) })
	err = do()
	stop()
	working.Wait()
	return err
}
