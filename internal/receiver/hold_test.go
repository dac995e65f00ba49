package receiver_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

func hold(d time.Duration) setting { return func(c *receiver.Config) { c.Hold = d } }

// nowhere is a database that refuses every connection. Its password must not be told to anybody.
const nowhere = "postgres://ipn:canary-password@127.0.0.1:1/ipn"

func TestAPostIsHeldAndThenAskedForAgain(t *testing.T) {
	t.Parallel()
	const held = 300 * time.Millisecond
	for _, tt := range []struct {
		name, body string
		headers    []string
		want       effect
		atLeast    time.Duration
	}{
		{"an event", charge("1"), signedBy(oldKey(t), charge("1")), effect{503, "unavailable", ""}, held},
		{"a body for quarantine", "==", signedBy(oldKey(t), "=="), effect{503, "unavailable", ""}, held},
		{"a forgery, which is not worth waiting for", charge("1"), nil, effect{401, "unauthorized", ""}, 0},
		{"an empty body", "", nil, effect{400, "empty", ""}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoorOn(t, nowhere, hold(held), verify(receiver.Enforce, oldKey(t)))
			d.db.Close()
			d.db = nil // there is nothing to look at
			start := time.Now()
			got, answer := d.watch(t, post(tt.body, tt.headers...))
			if took := time.Since(start); took < tt.atLeast || took > held+time.Second {
				t.Errorf("answered after %s, want between %s and %s", took, tt.atLeast, held+time.Second)
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if later := answer.Header.Get("Retry-After"); tt.want.Status == 503 && later != "5" {
				t.Errorf("Retry-After: got %q", later)
			}
			for _, entry := range d.logs.All() {
				if hasCanary(fmt.Append(nil, entry.Message, entry.ContextMap())) {
					t.Errorf("the log tells the password: %v", entry.ContextMap())
				}
			}
		})
	}
}

// TestAShortOutageIsInvisible stops PostgreSQL for two seconds under a sender that never tries twice (B-7).
func TestAShortOutageIsInvisible(t *testing.T) {
	t.Parallel()
	const posts, interval, stop, start = 400, 10 * time.Millisecond, 100, 300
	owned := pgtest.Own(t)
	d := newDoorOn(t, owned.DSN(), hold(8*time.Second)) // twice the default: other tests share the processors
	client := newClient(t)
	answers := make(chan string, posts)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := range posts {
		<-tick.C // arrivals do not wait for answers
		go func() {
			got, err := d.try(client, charge(fmt.Sprint(i)))
			answers <- fmt.Sprint(got, err)
		}()
		switch i {
		case stop:
			go owned.Stop()
		case start:
			owned.Start()
		}
	}
	for range posts {
		if got := take(t, "an answer", answers); got != "200 <nil>" {
			t.Errorf("got %s, want 200", got)
		}
	}
	if got := ask[int](t, d, "select count(*) from events"); got != posts {
		t.Errorf("kept %d events, want %d", got, posts)
	}
}

// TestAFrozenDatabaseDelaysNobodyLongerThanTheHold halts every process of PostgreSQL (B-11).
func TestAFrozenDatabaseDelaysNobodyLongerThanTheHold(t *testing.T) {
	t.Parallel()
	const held = 500 * time.Millisecond
	owned := pgtest.Own(t)
	d := newDoorOn(t, owned.DSN(), hold(held))
	eventually(t, "a post is taken", func() bool { return d.status(t, post(charge("before"))) == 200 })
	owned.Pause()
	start := time.Now()
	answers := d.crowd(t, 20, post(charge("during")))
	for range 20 {
		if got := take(t, "an answer", answers); got != 503 {
			t.Errorf("frozen: got %d, want 503", got)
		}
	}
	if took := time.Since(start); took > held+time.Second {
		t.Errorf("answered after %s, want at most %s", took, held+time.Second)
	}
	owned.Resume()
	eventually(t, "a post is taken again", func() bool { return d.status(t, post(charge("after"))) == 200 })
	if got := ask[int](t, d, "select count(*) from events where reference_number = 'during'"); got > 1 {
		t.Errorf("kept %d events of one identity", got)
	}
}

// TestAClientThatHangsUpDoesNotCancelTheCommit: what came whole is kept, whoever still listens (F-12). A lock keeps the
// commit waiting until the server has seen the client go.
func TestAClientThatHangsUpDoesNotCancelTheCommit(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	tx, err := d.db.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	_, err = tx.Exec(t.Context(), "lock table events in access exclusive mode")
	must(t, err)

	gone := make(chan struct{})
	handler := d.receiver.Handler()
	through := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go func() {
			<-r.Context().Done()
			close(gone)
		}()
		handler.ServeHTTP(w, r)
	}))
	conn, err := net.Dial("tcp", through)
	must(t, err)
	_, err = conn.Write([]byte(post(charge("1"))))
	must(t, err)
	eventually(t, "the commit waits for the lock", func() bool {
		return ask[bool](t, d, "select exists (select from pg_locks where relation = 'events'::regclass and not granted)")
	})
	must(t, conn.Close())
	take(t, "the end of the request's context", gone)
	must(t, tx.Rollback(t.Context()))
	eventually(t, "the event is kept", func() bool { return ask[int](t, d, "select count(*) from events") == 1 })
	eventually(t, "the request has ended", func() bool { return d.metric(t, "ipn_requests_total", "outcome", "new") == 1 })
}

// serveHTTP serves a handler at an address of its own.
func serveHTTP(tb testing.TB, handler http.Handler) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	edge := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = edge.Serve(listener)
	}()
	tb.Cleanup(func() {
		_ = edge.Close()
		<-ended
	})
	return listener.Addr().String()
}

// TestASlowBodyDoesNotUseUpTheHold: the database is healthy, so that whoever tells slowly is taken all the same.
func TestASlowBodyDoesNotUseUpTheHold(t *testing.T) {
	t.Parallel()
	const held = 100 * time.Millisecond
	// The record is a double that is always there, and heeds its caller's time as the real one does.
	d := newDoorBefore(t, record{keep: func(ctx context.Context, _ *ipn.Receipt) (ipn.Recorded, error) {
		if ctx.Err() != nil {
			return ipn.Recorded{}, ipn.ErrUnavailable
		}
		return ipn.Recorded{EventID: 1, Outcome: ipn.OutcomeNew, Receipts: 1}, nil
	}}, hold(held))
	text := post(charge("1"))
	conn := d.dial(t)
	_, err := conn.Write([]byte(text[:len(text)-10]))
	must(t, err)
	<-time.After(3 * held)
	_, err = conn.Write([]byte(text[len(text)-10:]))
	must(t, err)
	got, err := read(conn, text)
	must(t, err)
	if got.StatusCode != 200 {
		t.Errorf("got %d, want 200", got.StatusCode)
	}
}

// TestARowThatTheDatabaseRefusesForGoodIsOwned: it is kept raw and acknowledged, and its neighbours do not suffer.
func TestARowThatTheDatabaseRefusesForGoodIsOwned(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	_, err := d.db.Exec(t.Context(), "alter table events add constraint no_curse check (reference_number <> 'cursed')")
	must(t, err)
	client := newClient(t)
	answers := make(chan int)
	for i := range 20 {
		go func() {
			got, _ := d.try(client, charge(strings.Repeat("cursed", i%2)+fmt.Sprint(i)[:1-i%2]))
			answers <- got
		}()
	}
	for range 20 {
		if got := take(t, "an answer", answers); got != 200 {
			t.Errorf("got %d, want 200", got)
		}
	}
	if got := ask[int](t, d, "select sum(receipts) from events"); got != 10 {
		t.Errorf("kept %d receipts, want the 10 neighbours", got)
	}
	if got := ask[int](t, d, "select sum(receipts) from quarantine where reason = 'refused_by_database' and detail = '23514' and answered = 200"); got != 10 {
		t.Errorf("quarantined %d, want 10", got)
	}
	if got := ask[string](t, d, "select convert_from(raw, 'UTF8') from quarantine limit 1"); got != charge("cursed") {
		t.Errorf("kept %q", got)
	}
}

func TestTheRecordsErrorsBecomeAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name               string
		record, quarantine error
		want               effect
	}{
		{"unavailable", ipn.ErrUnavailable, nil, effect{503, "unavailable", ""}},
		{"overloaded", ipn.ErrOverloaded, nil, effect{503, "overloaded", ""}},
		{"refused for good", &ipn.RefusedError{SQLState: "22001"}, nil, effect{200, "quarantined", ""}},
		{"refused, and quarantine away", &ipn.RefusedError{SQLState: "22001"}, ipn.ErrUnavailable, effect{503, "unavailable", ""}},
		{"wrapped", fmt.Errorf("insert: %w", &ipn.RefusedError{SQLState: "22001"}), nil, effect{200, "quarantined", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoorBefore(t, record{
				keep:       func(context.Context, *ipn.Receipt) (ipn.Recorded, error) { return ipn.Recorded{}, tt.record },
				quarantine: func(context.Context, *ipn.Quarantined) (bool, error) { return true, tt.quarantine },
			}, hold(200*time.Millisecond))
			if got, _ := d.watch(t, post(charge("1"))); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestQuarantineIsTriedUntilTheHoldIsOver: the first tries fail, as they do while a database restarts.
func TestQuarantineIsTriedUntilTheHoldIsOver(t *testing.T) {
	t.Parallel()
	tries := 0
	d := newDoorBefore(t, record{quarantine: func(context.Context, *ipn.Quarantined) (bool, error) {
		if tries++; tries < 4 {
			return false, ipn.ErrUnavailable
		}
		return true, nil
	}})
	if got, _ := d.watch(t, post("==")); got != (effect{200, "quarantined", ""}) {
		t.Errorf("got %+v after %d tries", got, tries)
	}
}
