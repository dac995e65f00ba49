package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// database is where the events are kept: somebody's server, or a private one that belongs to this process.
type database struct {
	dsn string

	mu      sync.Mutex         // guards private, which keep replaces
	private *embeddedpg.Server // nil: the server is not ours to stop
	config  embeddedpg.Config
}

// openDatabase takes the database that is set, or starts a private PostgreSQL in the data directory. Each step of that
// is logged with its duration.
func openDatabase(ctx context.Context, s *DatabaseSetting, log *zap.Logger) (*database, error) {
	if !s.UsesEmbedded() {
		return &database{dsn: s.DatabaseURL.Reveal()}, nil
	}
	start := time.Now()
	config := embeddedpg.Config{
		Dir: s.DataDir, CacheDir: s.CacheDir, BinDir: s.PostgresBin, Fetch: s.PostgresFetch.On(), Durable: true,
		Logf: log.Named("postgres").Sugar().Infof,
	}
	private, err := embeddedpg.Start(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start a private PostgreSQL in %s, %s (%s is not set): %w", s.DataDir, name("data-dir"), name("database-url"), err)
	}
	log.Info("private PostgreSQL is up", zap.String("version", private.Version()), zap.String("data", s.DataDir), zap.Duration("took", time.Since(start)))
	return &database{dsn: private.DSN("ipn"), private: private, config: config}, nil
}

// server returns the private server, nil when there is none.
func (d *database) server() *embeddedpg.Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.private
}

// keep starts a private server again whenever it has ended by itself, until ctx ends; receipts are held meanwhile.
func (d *database) keep(ctx context.Context, log *zap.Logger) {
	for private := d.server(); private != nil; private = d.server() {
		select {
		case <-ctx.Done():
			return
		case <-private.Done():
		}
		log.Error("the private PostgreSQL ended by itself; starting it again", zap.String("log", d.config.Dir+"/postgres/log"))
		for !d.restart(ctx, log) {
			if !sleep(ctx, time.Second) {
				return
			}
		}
	}
}

func (d *database) restart(ctx context.Context, log *zap.Logger) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	private, err := embeddedpg.Start(ctx, d.config)
	if err != nil {
		log.Error("the private PostgreSQL cannot be started again; trying on", zap.Error(err))
		return false
	}
	d.private = private
	return true
}

// close stops a private server; everything in it is kept.
func (d *database) close(log *zap.Logger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.private == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := d.private.Stop(ctx); err != nil {
		log.Error("the private PostgreSQL did not stop in order; it recovers at the next start", zap.Error(err))
	}
}
