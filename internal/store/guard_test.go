package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// B-4, for settings that a role can carry: a server that may lose what it has committed is not acknowledged from, and the setting to mend is named.
func TestAnUnsafeServerIsNamedAndRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	const writable = "set default_transaction_read_only = off"
	hazards := []struct{ setting, damage, mend string }{
		{"synchronous_commit", "alter role current_user set synchronous_commit = off", "alter role current_user reset synchronous_commit"},
		{"default_transaction_read_only", "alter role current_user set default_transaction_read_only = on", "alter role current_user reset default_transaction_read_only"},
	}
	for _, h := range hazards {
		t.Run(h.setting, func(t *testing.T) {
			execute(t, server.DSN(), writable, h.damage, "select pg_reload_conf()")
			s := openWith(t, store.Config{DSN: server.DSN()})
			r := newRecorder(t, s)
			run(t, r)
			var unsafe *store.UnsafeError
			eventually(t, "the hazard is named", func() bool { return errors.As(s.Ready(t.Context()), &unsafe) })
			if unsafe.Setting != h.setting || unsafe.Mend == "" || !errors.Is(s.Ready(t.Context()), ipn.ErrUnavailable) {
				t.Errorf("got %+v", unsafe)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := r.Record(ctx, charge("refused-"+h.setting))
			wantUnavailable(t, err, unsafe.Error())

			execute(t, server.DSN(), writable, h.mend, "select pg_reload_conf()")
			eventually(t, "it is ready after mending", func() bool { return s.Ready(t.Context()) == nil })
			mustRecord(t, r, charge("kept-"+h.setting))
		})
	}
	if got := ask[string](t, server.DSN(), "select count(*) filter (where reference_number like 'refused%') || ' refused, ' || count(*) || ' in all' from events"); got != "0 refused, 2 in all" {
		t.Errorf("kept: %s", got)
	}
}

func TestAServerThatTurnsUnsafeLosesItsConnections(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	s := openWith(t, store.Config{DSN: server.DSN()})
	r := newRecorder(t, s)
	run(t, r)
	mustRecord(t, r, charge("R1"))
	execute(t, server.DSN(), "alter system set default_transaction_read_only = on", "select pg_reload_conf()")
	var unsafe *store.UnsafeError
	eventually(t, "the hazard is named", func() bool { return errors.As(s.Ready(t.Context()), &unsafe) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := r.Record(ctx, charge("R2"))
	wantUnavailable(t, err, unsafe.Error())
	if _, err := s.Event(t.Context(), 1); !errors.As(err, &unsafe) {
		t.Errorf("a question: got %v", err)
	}
	eventually(t, "no connection of the store is left", func() bool {
		return ask[int](t, server.DSN(), "select count(*) from pg_stat_activity where application_name like 'ipn-receiver %'") == 0
	})
}

func TestAVolatileServerIsAcceptedOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	if got := ask[string](t, dsn, "show fsync"); got != "off" {
		t.Skipf("the test server is durable: fsync is %s", got)
	}
	if err := open(t, dsn).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	var unsafe *store.UnsafeError
	if err := openWith(t, store.Config{DSN: dsn}).Ready(t.Context()); !errors.As(err, &unsafe) || unsafe.Setting != "fsync" {
		t.Errorf("got %v, want an UnsafeError about fsync", err)
	}
	for setting, bad := range store.Hazards() {
		if found := ask[string](t, dsn, "select "+bad[0]); (found == bad[1]) != (setting == "fsync" || setting == "full_page_writes" || setting == "synchronous_commit") {
			t.Errorf("%s is %s here, and bad when %s", setting, found, bad[1])
		}
	}
}

func TestADatabaseThatIsNotMigratedIsNotReady(t *testing.T) {
	t.Parallel()
	if err := open(t, pgtest.NewEmpty(t)).Ready(t.Context()); err == nil {
		t.Error("ready without tables")
	}
}

func TestADSNThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := store.Open(t.Context(), store.Config{DSN: "postgres://%zz"}); err == nil {
		t.Error("opened")
	}
}
