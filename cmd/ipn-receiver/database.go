package main

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// database is where the events are kept: somebody's server, or a private one that belongs to this process.
type database struct {
	dsn     string
	private *embeddedpg.Server // nil: the server is not ours to stop
}

// openDatabase takes the database that is set, or starts a private PostgreSQL in the data directory. Each step of that
// is logged with its duration.
func openDatabase(ctx context.Context, s *DatabaseSetting, log *zap.Logger) (*database, error) {
	if !s.UsesEmbedded() {
		return &database{dsn: s.DatabaseURL.Reveal()}, nil
	}
	start := time.Now()
	private, err := embeddedpg.Start(ctx, embeddedpg.Config{
		Dir: s.DataDir, CacheDir: s.CacheDir, BinDir: s.PostgresBin, Fetch: s.PostgresFetch.On(),
		Durable: true, Logf: log.Named("postgres").Sugar().Infof,
	})
	if err != nil {
		return nil, fmt.Errorf("start a private PostgreSQL (%s is not set): %w", name("database-url"), err)
	}
	log.Info("private PostgreSQL is up", zap.String("version", private.Version()), zap.String("data", s.DataDir), zap.Duration("took", time.Since(start)))
	return &database{dsn: private.DSN("ipn"), private: private}, nil
}

// ended is closed when a private server has stopped by itself; never for a server that is not ours.
func (d *database) ended() <-chan struct{} {
	if d.private == nil {
		return nil
	}
	return d.private.Done()
}

// close stops a private server; everything in it is kept.
func (d *database) close(log *zap.Logger) {
	if d.private == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := d.private.Stop(ctx); err != nil {
		log.Error("the private PostgreSQL did not stop in order; it recovers at the next start", zap.Error(err))
	}
}
