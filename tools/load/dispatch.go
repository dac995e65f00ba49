package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
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
	Profile     string        `type:"path" help:"File that gets a CPU profile of this process, for go tool pprof."`
	Dir         string        `type:"path" help:"Where the private PostgreSQL lives; not set: a temporary directory, removed at the end."`
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
	ctx := context.Background()
	as := &compare{Dir: c.Dir, Profile: c.Profile}
	dir, remove, err := as.dataDir()
	if err != nil {
		return err
	}
	defer remove()
	postgres, err := embeddedpg.Start(ctx, embeddedpg.Config{Dir: dir, Durable: true})
	if err != nil {
		return err
	}
	defer func() { _ = postgres.Stop(ctx) }()
	finish, err := as.startProfile()
	if err != nil {
		return err
	}
	defer finish()
	fmt.Printf("%s; PostgreSQL %s, durable; %s, %d processors; %d rounds; interval %s, batch %d\n",
		time.Now().UTC().Format(time.DateTime), postgres.Version(), runtime.Version(), runtime.NumCPU(), c.Rounds, c.Interval, c.Batch)
	for _, part := range []func(context.Context, *embeddedpg.Server) error{c.delay, c.drain, c.cost} {
		if err := part(ctx, postgres); err != nil {
			return err
		}
	}
	return nil
}

// delay measures from the acknowledgement to the commit of the ledger's part.
func (c *dispatched) delay(ctx context.Context, postgres *embeddedpg.Server) error {
	if c.Rate == 0 {
		return nil
	}
	var p50s, p99s []float64
	for range c.Rounds {
		delays := &delays{acked: map[int64]time.Time{}, done: map[int64]time.Time{}}
		err := c.behindADoor(ctx, postgres, delays, []string{"ledger"}, func(d *door) error {
			f := newFigures()
			openLoop(d.target, newBodies(1, usualBody), f, &journal{}, c.Rate, c.Duration)
			return delays.await()
		})
		if err != nil {
			return err
		}
		waits := delays.sorted()
		p50s = append(p50s, float64(percentile(waits, .5).Microseconds())/1000)
		p99s = append(p99s, float64(percentile(waits, .99).Microseconds())/1000)
	}
	fmt.Printf("delay at %d posts a second, acknowledgement to ledger done: p50 %s ms, p99 %s ms\n", c.Rate, spread(p50s, "%.2f"), spread(p99s, "%.1f"))
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
			if err := freshDatabase(ctx, postgres); err != nil {
				return err
			}
			kept, err := store.Open(ctx, store.Config{DSN: postgres.DSN(databaseName), PoolSize: 4})
			if err != nil {
				return err
			}
			head, err := fill(ctx, kept, c.Backlog)
			if err != nil {
				return err
			}
			if err := settleDown(ctx, postgres); err != nil {
				return err
			}
			arrived := &arrival{head: head, reached: make(chan struct{})}
			ownBefore, databaseBefore := processorTime(postgres.PID())
			began := time.Now()
			var took time.Duration
			if err := c.run(ctx, kept, arrived.settled, []string{name}, func() error {
				err := arrived.await()
				took = time.Since(began)
				return err
			}); err != nil {
				return err
			}
			ownAfter, databaseAfter := processorTime(postgres.PID())
			kept.Close()
			rates = append(rates, float64(c.Backlog)/took.Seconds())
			own = append(own, float64((ownAfter-ownBefore).Microseconds())/float64(c.Backlog))
			database = append(database, float64((databaseAfter-databaseBefore).Microseconds())/float64(c.Backlog))
		}
		fmt.Printf("drain of %d by %s: %s events/s; CPU µs each, program + PostgreSQL: %s + %s\n",
			c.Backlog, name, spread(rates, "%.0f"), spread(own, "%.1f"), spread(database, "%.1f"))
	}
	return nil
}

// cost compares acknowledgements with the ledger at work and without any handler, in turn.
func (c *dispatched) cost(ctx context.Context, postgres *embeddedpg.Server) error {
	if c.Connections == 0 {
		return nil
	}
	var rates [2][]float64
	var ratios []float64
	for range c.Rounds {
		for i, names := range [][]string{nil, {"ledger"}} {
			err := c.behindADoor(ctx, postgres, nil, names, func(d *door) error {
				f := newFigures()
				began := time.Now()
				closedLoop(d.target, newBodies(1, usualBody), f, &journal{}, c.Connections, c.Duration)
				rates[i] = append(rates[i], f.sum(time.Since(began)).perSecond)
				return nil
			})
			if err != nil {
				return err
			}
		}
		last := len(rates[0]) - 1
		ratios = append(ratios, rates[1][last]/rates[0][last])
	}
	fmt.Printf("acknowledged a second at %d connections: %s without handlers, %s with the ledger; ratio %s\n",
		c.Connections, spread(rates[0], "%.0f"), spread(rates[1], "%.0f"), spread(ratios, "%.2f"))
	return nil
}

// projections are the handlers that can be measured; "nothing" moves its cursor and does nothing else.
var projections = map[string]store.Projection{
	"nothing": func(context.Context, pgx.Tx, []ipn.Stored) error { return nil },
	"ledger":  ledger.Project,
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
		config := store.LeadConfig{Handler: name, Kind: ipn.KindProjection, Process: "load", Project: projections[name]}
		all = append(all, dispatch.Handler{Name: name, Kind: ipn.KindProjection, Batch: c.Batch, Lead: func(ctx context.Context) (dispatch.Lead, error) {
			lead, err := kept.Lead(ctx, config)
			if err != nil {
				return nil, err
			}
			return watched{lead, settled}, nil
		}})
	}
	dispatcher, err := dispatch.New(dispatch.Config{Handlers: all, Listen: kept.Listen, Interval: c.Interval})
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

// settleDown lets neither the garbage nor the dirty pages of the filling be paid for by what is measured.
func settleDown(ctx context.Context, postgres *embeddedpg.Server) error {
	runtime.GC()
	conn, err := pgx.Connect(ctx, postgres.DSN(databaseName))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, order := range []string{"vacuum analyze", "checkpoint"} {
		if _, err := conn.Exec(ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// arrival is when a handler's cursor reaches the head of the log. Nobody asks the database for it: that would be measured
// too.
type arrival struct {
	head    int64
	reached chan struct{}
}

func (a *arrival) settled(s ipn.Settlement) {
	if s.Position >= a.head {
		close(a.reached)
	}
}

func (a *arrival) await() error {
	select {
	case <-a.reached:
		return nil
	case <-time.After(2 * time.Minute):
		return errors.New("the handler did not catch up in two minutes")
	}
}

// fill records so many charges, as fast as it goes, and returns the highest event id.
func fill(ctx context.Context, kept *store.Store, n int) (head int64, err error) {
	recorder, err := store.NewRecorder(kept, 0, nil)
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	var running, workers sync.WaitGroup
	var highest sync.Mutex
	running.Go(func() { recorder.Run(ctx) })
	from, decoder := newBodies(2, usualBody), new(ipn.Decoder)
	left := make(chan struct{}, n+n/50)
	for range n + n/50 { // one in a hundred repeats another
		left <- struct{}{}
	}
	close(left)
	failed := make(chan error, 64)
	for range 64 {
		workers.Go(func() {
			for range left {
				body, _ := from.take()
				event := decoder.Decode([]byte(body), "")
				recorded, err := recorder.Record(ctx, &ipn.Receipt{
					Event: event, Identity: ipn.Scope{}.Identify(event), Digest: ipn.DigestOf([]byte(body)), Content: event.ContentDigest(),
					Vouched: ipn.VouchedOff, Raw: []byte(body), Origin: ipn.Origin{ReceivedAt: time.Now()},
				})
				if err != nil {
					failed <- err
					return
				}
				highest.Lock()
				head = max(head, recorded.EventID)
				highest.Unlock()
			}
		})
	}
	workers.Wait()
	stop()
	running.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		fmt.Fprintf(os.Stderr, "filled %d events\n", n)
		return head, nil
	}
}

// watched tells of each settlement once it is committed.
type watched struct {
	dispatch.Lead
	settled func(ipn.Settlement)
}

// Settle settles, and tells.
func (w watched) Settle(ctx context.Context, s ipn.Settlement) error {
	err := w.Lead.Settle(ctx, s)
	if err == nil && w.settled != nil {
		w.settled(s)
	}
	return err
}

// delays holds when events were acknowledged and when they were done.
type delays struct {
	mu    sync.Mutex
	acked map[int64]time.Time
	done  map[int64]time.Time
}

func (d *delays) ack(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, repeated := d.acked[id]; !repeated {
		d.acked[id] = time.Now()
	}
}

func (d *delays) settled(s ipn.Settlement) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range s.Project {
		d.done[s.Project[i].ID] = now
	}
}

// await waits until every acknowledged event is done.
func (d *delays) await() error {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		d.mu.Lock()
		left := len(d.acked) - len(d.done)
		d.mu.Unlock()
		if left <= 0 {
			return nil
		}
	}
	return errors.New("the ledger did not catch up in a minute")
}

// sorted returns each event's delay, 0 where the ledger was done before the acknowledgement had left.
func (d *delays) sorted() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []time.Duration
	for id, at := range d.acked {
		all = append(all, max(d.done[id].Sub(at), 0))
	}
	slices.Sort(all)
	return all
}
