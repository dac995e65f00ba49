package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// looked is a look that found a difference and replaced it.
func looked() ipn.ConfigurationPush {
	return ipn.ConfigurationPush{
		Process: "here:1", Trigger: ipn.ConfigurationAtStart, Result: ipn.ConfigurationReplaced,
		Desired: json.RawMessage(`{"url":"https://pay.example.com/ipn", "CHARGE":true,  "a":1}`), After: json.RawMessage(`{"z":"\u0000","CHARGE":true}`),
		Changes: []ipn.ConfigurationChange{{Setting: "https://pay.example.com/ipn CHARGE", From: "false", To: "true"}},
	}
}

func mustAdd(tb testing.TB, s *store.Store, p ipn.ConfigurationPush) {
	tb.Helper()
	if err := s.AddConfigurationPush(tb.Context(), p); err != nil {
		tb.Fatal(err)
	}
}

func mustList(tb testing.TB, s *store.Store, before int64, limit int) []ipn.ConfigurationPush {
	tb.Helper()
	pushes, err := s.ConfigurationPushes(tb.Context(), before, limit)
	if err != nil {
		tb.Fatal(err)
	}
	return pushes
}

func TestALookIsKeptInTheWordsItWasToldIn(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	want := looked()
	mustAdd(t, s, want)
	got := mustList(t, s, 0, 10)[0]
	if got.ID == 0 || got.At.IsZero() || got.At.Location().String() != "UTC" {
		t.Errorf("the database gave id %d, %v", got.ID, got.At)
	}
	want.ID, want.At = got.ID, got.At
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Before != nil {
		t.Errorf("nothing was there before: got %s", got.Before)
	}
}

func TestWhatTheRowCannotHoldIsMadeToFit(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	mustAdd(t, s, ipn.ConfigurationPush{
		Trigger: ipn.ConfigurationAtInterval, Result: ipn.ConfigurationFailed, Before: json.RawMessage("{\"a\":\"\xff\"}"),
	})
	mustAdd(t, s, ipn.ConfigurationPush{
		Process: strings.Repeat("é", 200), Trigger: ipn.ConfigurationByCommand, Result: ipn.ConfigurationFailed, Error: "\x00" + strings.Repeat("x", 1000),
	})
	pushes := mustList(t, s, 0, 10)
	if long := pushes[0]; len(long.Process) > 255 || len(long.Error) > 500 || !strings.HasSuffix(long.Error, "xxx") {
		t.Errorf("got %d bytes of a process, %d of an error", len(long.Process), len(long.Error))
	}
	bare := pushes[1]
	if bare.Process != "unnamed" || bare.Error != "no reason was given" || string(bare.Before) != "{\"a\":\"\uFFFD\"}" || len(bare.Changes) != 0 {
		t.Errorf("got %+v", bare)
	}
}

func TestLooksAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	if got := mustList(t, s, 0, 10); len(got) != 0 {
		t.Errorf("got %+v of nothing", got)
	}
	for i := range 3 {
		p := looked()
		p.Process = fmt.Sprint("here:", i)
		mustAdd(t, s, p)
	}
	all := mustList(t, s, 0, 2)
	all = append(all, mustList(t, s, all[len(all)-1].ID, 2)...)
	if len(all) != 3 || all[0].Process != "here:2" || all[2].Process != "here:0" {
		t.Errorf("got %+v", all)
	}
}

func TestImpossibleLooksAreRefused(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	mustAdd(t, s, looked())
	tests := []struct {
		name   string
		change func(*ipn.ConfigurationPush)
	}{
		{"a trigger nobody knows", func(p *ipn.ConfigurationPush) { p.Trigger = "mood" }},
		{"a result nobody knows", func(p *ipn.ConfigurationPush) { p.Result = "lost" }},
		{"a configuration that is a list", func(p *ipn.ConfigurationPush) { p.Before = json.RawMessage("[]") }},
		{"a configuration that is no JSON", func(p *ipn.ConfigurationPush) { p.After = json.RawMessage("{") }},
		{"nothing that was wanted", func(p *ipn.ConfigurationPush) { p.Desired = nil }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := looked()
			tc.change(&p)
			var refused *ipn.RefusedError
			if err := s.AddConfigurationPush(t.Context(), p); !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
		})
	}
	for statement, sqlState := range map[string]string{
		"update configuration_pushes set result = 'in_sync'":                                                         "IPN02",
		"delete from configuration_pushes":                                                                           "IPN02",
		"truncate configuration_pushes":                                                                              "IPN02",
		"insert into configuration_pushes (process, trigger, result) values ('p', 'start', 'failed')":                "23514",
		"insert into configuration_pushes (process, trigger, result) values ('', 'start', 'deleted')":                "23514",
		"insert into configuration_pushes (process, trigger, result, error) values ('p', 'start', 'deleted', '')":    "23514",
		"insert into configuration_pushes (process, trigger, result, changes) values ('p', 'start', 'deleted', '1')": "23514",
	} {
		_, err := connect(t, dsn).Exec(t.Context(), statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != sqlState {
			t.Errorf("%s: got %v, want SQLSTATE %s", statement, err, sqlState)
		}
	}
}

func TestTheSchemaKnowsTheWordsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	for _, trigger := range ipn.ConfigurationTriggers() {
		for _, result := range ipn.ConfigurationResults() {
			p := looked()
			p.Trigger, p.Result = trigger, result
			mustAdd(t, s, p)
		}
	}
}

func TestOneConfiguresAtATimeAndEachHasItsTurn(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	var busy, done atomic.Int64
	var replicas sync.WaitGroup
	for range 5 {
		s := open(t, dsn)
		replicas.Go(func() {
			err := s.AloneConfiguring(t.Context(), func(ctx context.Context) error {
				defer busy.Add(-1)
				if busy.Add(1) != 1 {
					t.Error("two configure at once")
				}
				mustAdd(t, s, looked())
				done.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	replicas.Wait()
	if done.Load() != 5 {
		t.Errorf("%d had their turn", done.Load())
	}
}

func TestWhoWaitsForItsTurnMayGoAway(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	first, second := open(t, dsn), open(t, dsn)
	err := first.AloneConfiguring(t.Context(), func(ctx context.Context) error {
		waiting, leave := context.WithCancel(ctx)
		result := make(chan error, 1)
		go func() {
			result <- second.AloneConfiguring(waiting, func(context.Context) error {
				t.Error("it was not its turn")
				return nil
			})
		}()
		leave()
		wantUnavailable(t, waitFor(t, result), "no answer in time")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// It is longer than the server waits for a sign of life, which is what a heartbeat is for.
func TestALongTurnIsKept(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	first, second := open(t, dsn), open(t, dsn)
	var over atomic.Bool
	next := make(chan error, 1)
	err := first.AloneConfiguring(t.Context(), func(ctx context.Context) error {
		go func() {
			next <- second.AloneConfiguring(t.Context(), func(context.Context) error {
				if !over.Load() {
					t.Error("the turn was taken away")
				}
				return nil
			})
		}()
		_, err := connect(t, dsn).Exec(ctx, "select pg_sleep(4.5)")
		over.Store(true)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := waitFor(t, next); err != nil {
		t.Error(err)
	}
}

func TestATurnThatIsLostEndsTheWork(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	err := s.AloneConfiguring(t.Context(), func(ctx context.Context) error {
		execute(t, dsn, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ipn-receiver configuring' and datname = current_database()")
		waitFor(t, ctx.Done())
		return ctx.Err()
	})
	if !errors.Is(err, ipn.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAFrozenProcessHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	frozen, err := open(t, dsn).TakeTurn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = frozen.Close(context.Background()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var had bool
	if err := open(t, dsn).AloneConfiguring(ctx, func(context.Context) error { had = true; return nil }); err != nil || !had {
		t.Errorf("got %v, %v", had, err)
	}
}

func TestWhatTheWorkFailsWithIsReturned(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	broken := errors.New("broken")
	if err := s.AloneConfiguring(t.Context(), func(context.Context) error { return broken }); err != broken {
		t.Errorf("got %v", err)
	}
	away := open(t, "host="+t.TempDir())
	never := func(context.Context) error { t.Error("nobody may work without a turn"); return nil }
	if err := away.AloneConfiguring(t.Context(), never); !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
