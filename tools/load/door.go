package main

import (
	"context"
	"crypto/rand"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// door is the receiver's public door on a real socket, as the program builds it: signatures enforced, limits as by
// default. Only the log line of each request and the metrics' registry are left out.
type door struct {
	target *target
	kept   *store.Store
	stop   context.CancelFunc
	parts  errgroup.Group
}

// openDoor serves until close, recording in groups or alone; delays, if any, is told of each acknowledgement.
func openDoor(ctx context.Context, dsn string, group bool, delays *delays) (*door, error) {
	kept, err := store.Open(ctx, store.Config{DSN: dsn, PoolSize: 16})
	if err != nil {
		return nil, err
	}
	d := &door{kept: kept}
	if err := d.serve(ctx, group, delays); err != nil {
		kept.Close()
		return nil, err
	}
	return d, nil
}

func (d *door) serve(ctx context.Context, group bool, delays *delays) error {
	recorder, err := store.NewRecorder(d.kept, 0, nil)
	if err != nil {
		return err
	}
	secret, err := ipn.NewSecret("load", []byte(rand.Text()))
	if err != nil {
		return err
	}
	d.target = &target{secret: secret, signatureHeader: "X-IPN-Signature", timestampHeader: "X-IPN-Timestamp"}
	handler, err := receiver.New(receiver.Config{
		Path: "/ipn", MaxBody: 1 << 20, MemoryBudget: 64 << 20, AdmissionWait: 2 * time.Second, Hold: 4 * time.Second,
		Policy: receiver.Policy{
			Mode: receiver.Enforce, Secrets: func() []ipn.Secret { return []ipn.Secret{secret} },
			SignatureHeader: d.target.signatureHeader, TimestampHeader: d.target.timestampHeader,
		},
		Decoder: new(ipn.Decoder), Record: &way{Store: d.kept, recorder: recorder, group: group, delays: delays},
	})
	if err != nil {
		return err
	}
	listener, err := server.Listen("127.0.0.1:0", server.Limits{})
	if err != nil {
		return err
	}
	d.target.url = &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/ipn"}
	ctx, d.stop = context.WithCancel(ctx)
	d.parts.Go(func() error { recorder.Run(ctx); return nil })
	d.parts.Go(func() error {
		return (&server.Server{Doors: []server.Door{{Name: "public", Listener: listener, Handler: handler.Handler()}}}).Run(ctx, nil)
	})
	return nil
}

func (d *door) close() error {
	d.stop()
	defer d.kept.Close()
	return d.parts.Wait()
}

// way records in groups or alone.
type way struct {
	*store.Store
	recorder *store.Recorder
	group    bool
	delays   *delays // nil: nobody wants to know
}

// Record keeps a receipt the way that is being measured.
func (w *way) Record(ctx context.Context, r *ipn.Receipt) (ipn.Recorded, error) {
	if w.group {
		recorded, err := w.recorder.Record(ctx, r)
		if err == nil && w.delays != nil {
			w.delays.ack(recorded.EventID)
		}
		return recorded, err
	}
	return w.RecordAlone(ctx, r)
}
