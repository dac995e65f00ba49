package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// listening lets s listen until the test ends; each waking up is a token.
func listening(tb testing.TB, s *store.Store) (woken chan struct{}, ended chan error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	woken, ended = make(chan struct{}, 100), make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- s.Listen(ctx, []string{sink.Handler}, func() { woken <- struct{}{} })
	}()
	tb.Cleanup(func() { cancel(); <-done })
	return woken, ended
}

func waitFor[T any](tb testing.TB, c <-chan T) (what T) {
	tb.Helper()
	select {
	case what = <-c:
	case <-time.After(patience):
		tb.Fatal("it did not happen")
	}
	return what
}

func TestAListenerIsWokenAtTheStartAndByEachCommit(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	woken, _ := listening(t, open(t, dsn))
	waitFor(t, woken)
	r := running(t, dsn)
	for _, reference := range []string{"R1", "R2"} {
		mustRecord(t, r, charge(reference))
		waitFor(t, woken)
	}
}

func TestAListenerTellsThatItsConnectionIsLost(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	woken, ended := listening(t, open(t, dsn))
	waitFor(t, woken)
	ask[bool](t, dsn, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ipn-receiver listen' and datname = current_database()")
	wantUnavailable(t, waitFor(t, ended), "SQLSTATE 57P01")
}

func TestAListenerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Listen(ctx, nil, cancel); err != nil {
		t.Errorf("got %v", err)
	}
	if err := s.Listen(ctx, nil, func() { t.Error("it listened") }); err != nil {
		t.Errorf("when it had ended already: got %v", err)
	}
}
