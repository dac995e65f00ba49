package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

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
