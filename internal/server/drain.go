package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// drain ends the servers in order: unready, DrainDelay, doors closed one after
// another, what is in flight finished; all within DrainTimeout.
func (s *Server) drain(servers []*http.Server, stopNow <-chan struct{}) error {
	s.draining.Store(true)
	if s.Health != nil {
		s.Health.Drain()
	}
	budget := s.DrainTimeout
	if budget == 0 {
		budget = DefaultDrainTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	// The watcher ends with drain itself, as cancel ends ctx.
	go func() {
		select {
		case <-stopNow:
			cancel()
		case <-ctx.Done():
		}
	}()

	s.Log.Info("draining", zap.Duration("delay", s.DrainDelay), zap.Duration("timeout", budget))
	linger(ctx, s.DrainDelay)
	for i, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			closeAll(servers)
			return fmt.Errorf("drain the %s door: %w: %s", s.Doors[i].Name, ErrCut, reason(err))
		}
	}
	return nil
}

// reason says in words why a shutdown did not wait to its end.
func reason(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "told to stop at once"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time to drain was over"
	default:
		return err.Error()
	}
}

// linger waits for d, or until ctx ends.
func linger(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// closeAll cuts every connection. Errors of closing are of no use to anyone here.
func closeAll(servers []*http.Server) {
	for _, server := range servers {
		_ = server.Close()
	}
}
