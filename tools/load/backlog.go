package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// worked is what it took to work off a backlog.
type worked struct{ took, own, postgres time.Duration }

// workOff lets one handler work off events in a fresh database: those that are there already, or those that come in
// meanwhile.
func (c *dispatched) workOff(ctx context.Context, postgres *embeddedpg.Server, name string, events int, live bool) (w worked, err error) {
	if err := freshDatabase(ctx, postgres); err != nil {
		return w, err
	}
	kept, err := store.Open(ctx, store.Config{DSN: postgres.DSN(databaseName), PoolSize: 4})
	if err != nil {
		return w, err
	}
	defer kept.Close()
	var head int64
	if !live {
		if head, err = fill(ctx, kept, events); err != nil {
			return w, err
		}
	}
	if err := settleDown(ctx, postgres); err != nil {
		return w, err
	}
	cursor := &cursor{moved: make(chan struct{}, 1)}
	own, database := processorTime(postgres.PID())
	began := time.Now()
	err = c.run(ctx, kept, cursor.settled, []string{name}, func() (err error) {
		if live {
			if head, err = fill(ctx, kept, events); err != nil {
				return err
			}
		}
		err = cursor.await(head)
		w.took = time.Since(began)
		return err
	})
	ownAfter, databaseAfter := processorTime(postgres.PID())
	w.own, w.postgres = ownAfter-own, databaseAfter-database
	return w, err
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

// cursor is how far a handler is. Nobody asks the database for it: that would be measured too.
type cursor struct {
	position atomic.Int64
	moved    chan struct{} // holds a token when it has moved
}

func (c *cursor) settled(s ipn.Settlement) {
	if s.Position == 0 { // parked events only
		return
	}
	c.position.Store(s.Position)
	select {
	case c.moved <- struct{}{}:
	default:
	}
}

func (c *cursor) await(head int64) error {
	patience := time.After(2 * time.Minute)
	for c.position.Load() < head {
		select {
		case <-c.moved:
		case <-patience:
			return errors.New("the handler did not catch up in two minutes")
		}
	}
	return nil
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
