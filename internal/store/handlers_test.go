package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// stateOf is the one handler of a database.
func stateOf(tb testing.TB, s *store.Store) ipn.HandlerState {
	tb.Helper()
	states, err := s.Handlers(tb.Context())
	if err != nil || len(states) != 1 {
		tb.Fatalf("got %+v, %v", states, err)
	}
	return states[0]
}

func TestTheListingTellsWhereAHandlerStands(t *testing.T) {
	t.Parallel()
	_, s := aHandlerThatStands(t)
	h := stateOf(t, s)
	if h.Name != sink.Handler || h.Kind != ipn.KindSink || h.Position != 4 || h.Started != 1 || h.LagEvents != 1 || h.Parked != 1 || h.Buried != 1 || h.OldestAt == nil {
		t.Errorf("got %+v", h)
	}
	if h.PausedAt != nil || h.HeldSince != nil || h.Leader != "" || h.LedSince != nil || h.MovedAt != nil {
		t.Errorf("at rest: got %+v", h)
	}
	lead := mustLead(t, s, sink)
	mustSettle(t, lead, ipn.Settlement{Position: 5})
	if h := stateOf(t, s); h.Leader != "here:1" || h.LedSince == nil || h.MovedAt == nil || h.LagEvents != 0 || h.LagSeconds != 0 {
		t.Errorf("led: got %+v", h)
	}
	lead.Close()
	eventually(t, "a leader that is gone is not told", func() bool { h := stateOf(t, s); return h.Leader == "" && h.LedSince == nil })
}

func TestTheLagIsTheAgeOfTheOldestEventBehindTheCursor(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	execute(t, dsn,
		"update events set received_at = now() - interval '1 hour', last_received_at = now() where id = 4",
		"update events set received_at = now() - interval '2 hours', last_received_at = now() where id = 5",
		"update handler_cursors set position = 3")
	if h := stateOf(t, s); h.LagEvents != 2 || h.LagSeconds < 3600 || h.LagSeconds > 3700 {
		t.Errorf("got %+v", h)
	}
	execute(t, dsn, "update events set received_at = now() + interval '1 hour', last_received_at = now() + interval '1 hour' where id = 4")
	if h := stateOf(t, s); h.LagSeconds != 0 {
		t.Errorf("by a clock that is ahead: got %+v", h)
	}
}

func TestAHoldIsToldUntilItIsOver(t *testing.T) {
	t.Parallel()
	_, s := aHandlerThatStands(t)
	lead := mustLead(t, s, sink)
	hold := func(because string) ipn.HandlerState {
		t.Helper()
		if err := lead.Hold(t.Context(), because); err != nil {
			t.Fatal(err)
		}
		return stateOf(t, s)
	}
	first := hold("503")
	if first.HeldSince == nil || first.HeldBecause != "503" {
		t.Fatalf("got %+v", first)
	}
	if again := hold("504"); !again.HeldSince.Equal(*first.HeldSince) || again.HeldBecause != "504" {
		t.Errorf("still held: got %+v", again)
	}
	if over := hold(""); over.HeldSince != nil || over.HeldBecause != "" {
		t.Errorf("over: got %+v", over)
	}
	hold("503")
	lead.Close()
	mustLead(t, s, sink)
	if h := stateOf(t, s); h.HeldSince != nil {
		t.Errorf("a new leader starts afresh: got %+v", h)
	}
}

func TestAHandlerThatIsLedIsNotForgotten(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	lead := mustLead(t, s, sink)
	mustSettle(t, lead, ipn.Settlement{Failed: []ipn.Failure{{EventID: 4, Number: 1, Error: "no"}}})
	if err := s.ForgetHandler(t.Context(), sink.Handler, byMaria); !errors.Is(err, ipn.ErrLed) {
		t.Errorf("got %v", err)
	}
	lead.Close()
	eventually(t, "it is forgotten", func() bool { return s.ForgetHandler(t.Context(), sink.Handler, byMaria) == nil })
	const left = "select (select count(*) from handler_cursors) + (select count(*) from parked) + (select count(*) from attempts)"
	if n := ask[int](t, dsn, left); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if got := mustLead(t, s, sink).Position(); got != 0 {
		t.Errorf("led again, it begins at %d", got)
	}
}

func TestTheMetricsTellOfTheHandlersThatAreServed(t *testing.T) {
	t.Parallel()
	dsn, s := aHandlerThatStands(t)
	execute(t, dsn,
		"insert into handler_cursors (handler, kind, position, started, paused_at, paused_because) values ('publish.bus', 'sink', 5, 0, now(), 'no'), ('old', 'sink', 0, 0, null, null)")
	registry := prometheus.NewRegistry()
	if err := registry.Register(s.NewHandlerCollector([]string{"forward.billing", "publish.bus", "publish.new"})); err != nil {
		t.Fatal(err)
	}
	got := gathered(t, registry)
	if oldest := got["ipn_oldest_parked_seconds forward.billing"]; oldest < 7200 || oldest > 7300 {
		t.Errorf("the oldest is %v", oldest)
	}
	delete(got, "ipn_oldest_parked_seconds forward.billing")
	delete(got, "ipn_handler_lag_seconds forward.billing") // depends on today
	want := map[string]float64{
		"ipn_handler_lag_events forward.billing": 1, "ipn_handler_paused forward.billing": 0,
		"ipn_parked_events forward.billing parked": 1, "ipn_parked_events forward.billing buried": 1,
		"ipn_handler_lag_events publish.bus": 0, "ipn_handler_lag_seconds publish.bus": 0, "ipn_handler_paused publish.bus": 1,
		"ipn_oldest_parked_seconds publish.bus": 0, "ipn_parked_events publish.bus parked": 0, "ipn_parked_events publish.bus buried": 0,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
	s.Close()
	if got := gathered(t, registry); len(got) != 0 {
		t.Errorf("without a database: got %v", got)
	}
}

// gathered returns all values by name and labels.
func gathered(tb testing.TB, registry *prometheus.Registry) map[string]float64 {
	tb.Helper()
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetGauge().GetValue()
		}
	}
	return values
}

func TestAHandlerThatAProcessServesIsNotForgottenThoughItIsPaused(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	mustLead(t, s, sink).Close()
	if err := s.PauseHandler(t.Context(), sink.Handler, auditor); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	listening, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() { ended <- s.Listen(ctx, []string{sink.Handler}, func() { listening <- struct{}{} }) }()
	<-listening
	if !stateOf(t, s).Configured {
		t.Error("the listing does not say that a process serves it")
	}
	if err := s.ForgetHandler(t.Context(), sink.Handler, auditor); !errors.Is(err, ipn.ErrLed) {
		t.Errorf("got %v, want %v", err, ipn.ErrLed)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the listing says that nobody serves it", func() bool { return !stateOf(t, s).Configured })
	eventually(t, "the handler can be forgotten when the process has gone", func() bool {
		return s.ForgetHandler(t.Context(), sink.Handler, auditor) == nil
	})
}

func TestIntakeKeepsItsConnections(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	open(t, dsn)
	eventually(t, "intake has three connections that nobody asked for", func() bool {
		return ask[int](t, dsn, "select count(*) from pg_stat_activity where application_name = 'ipn-receiver intake' and datname = current_database()") == 3
	})
}
