package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch/dispatchtest"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func people(tb testing.TB, key string) store.People {
	tb.Helper()
	secret, err := ipn.NewSecret("", []byte(key))
	if err != nil {
		tb.Fatal(err)
	}
	return store.People{Key: ipn.NewPersonKey(secret), Decoder: new(ipn.Decoder)}
}

// indexing leads the handler of the index.
func indexing(tb testing.TB, dsn string, p store.People) *store.Lead {
	tb.Helper()
	return mustLead(tb, open(tb, dsn), store.LeadConfig{Handler: "people", Kind: ipn.KindProjection, Bodies: true, Project: p.Project})
}

// index takes the events behind the cursor into the index.
func index(tb testing.TB, lead *store.Lead) []ipn.Stored {
	tb.Helper()
	events, err := lead.Next(tb.Context(), 100)
	if err != nil || len(events) == 0 {
		tb.Fatalf("got %d events, %v", len(events), err)
	}
	mustSettle(tb, lead, ipn.Settlement{Project: events, Position: events[len(events)-1].ID})
	return events
}

// found returns the ids of the events of somebody, as text.
func found(tb testing.TB, dsn string, token ipn.PersonToken, ok bool) string {
	tb.Helper()
	if !ok {
		tb.Fatal("there is no token")
	}
	return ask[string](tb, dsn, "select coalesce(string_agg(event_id::text, ' ' order by event_id), '') from people where token = $1", token[:])
}

func TestEventsAreFoundByTheirPeople(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	r := running(t, dsn)
	mustRecord(t, r, charge("R1", "firstName=Maria", "lastName=Santos", "email=maria@santos.example"))
	mustRecord(t, r, charge("R2", "invoiceFirstName=Jo", "invoiceLastName=SANTOS", "invoiceEmail=Jo@Santos.example"))
	mustRecord(t, r, charge("R3", "company=Santos"))
	p := people(t, "0123456789abcdef")
	events := index(t, indexing(t, dsn, p))
	first, second := fmt.Sprint(events[0].ID), fmt.Sprint(events[1].ID)
	for _, tt := range []struct {
		what string
		make func(string) (ipn.PersonToken, bool)
		text string
		want string
	}{
		{"last name", p.Key.Name, "santos", first + " " + second},
		{"full name", p.Key.Name, "Jo Santos", second},
		{"first name", p.Key.Name, "Maria", ""},
		{"address", p.Key.Email, "MARIA@santos.example", first},
		{"the invoice's address", p.Key.Email, "jo@santos.example", second},
		{"under another key", people(t, "fedcba9876543210").Key.Name, "santos", ""},
	} {
		token, ok := tt.make(tt.text)
		if got := found(t, dsn, token, ok); got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.what, got, tt.want)
		}
	}
}

// S-82 at rest: nothing that was sent of a person stands in the index.
func TestTheIndexHoldsNoNames(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	mustRecord(t, running(t, dsn), charge("R1", "firstName=Maria", "lastName=Santos", "email=maria@santos.example"))
	index(t, indexing(t, dsn, people(t, "0123456789abcdef")))
	if n := ask[int](t, dsn, "select count(*) from people where octet_length(token) = 16"); n != 3 {
		t.Errorf("%d tokens, want 3", n)
	}
	if n := ask[int](t, dsn, "select count(*) from people where lower(encode(token, 'escape')) ~ 'mar|sant'"); n != 0 {
		t.Errorf("%d tokens hold a name", n)
	}
}

func TestTheIndexIsTheSameInWhateverOrder(t *testing.T) {
	t.Parallel()
	dispatchtest.Projection(t, people(t, "0123456789abcdef").Project, "people")
}

func TestAReplayUnderAnotherKeyWritesTheIndexAnew(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	mustRecord(t, running(t, dsn), charge("R1", "firstName=Maria", "lastName=Santos"))
	events := index(t, indexing(t, dsn, people(t, "0123456789abcdef")))
	old, fresh := people(t, "0123456789abcdef"), people(t, "fedcba9876543210")
	project(t, dsn, fresh, events)
	project(t, dsn, fresh, events)
	token, ok := fresh.Key.Name("santos")
	if got := found(t, dsn, token, ok); got != fmt.Sprint(events[0].ID) {
		t.Errorf("found %q by the new key", got)
	}
	token, ok = old.Key.Name("santos")
	if got := found(t, dsn, token, ok); got != "" {
		t.Errorf("found %q by the old key", got)
	}
}

func TestABodyThatWasDroppedIsNoTrouble(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	mustRecord(t, running(t, dsn), charge("R1", "lastName=Santos"))
	p := people(t, "0123456789abcdef")
	events := index(t, indexing(t, dsn, p))
	events[0].Raw, events[0].Headers = nil, nil
	project(t, dsn, p, events)
	token, ok := p.Key.Name("santos")
	if got := found(t, dsn, token, ok); got != fmt.Sprint(events[0].ID) {
		t.Errorf("found %q, want what was known before", got)
	}
}

func project(tb testing.TB, dsn string, p store.People, events []ipn.Stored) {
	tb.Helper()
	conn := connect(tb, dsn)
	defer func() { _ = conn.Close(context.Background()) }()
	if err := pgx.BeginFunc(tb.Context(), conn, func(tx pgx.Tx) error { return p.Project(tb.Context(), tx, events) }); err != nil {
		tb.Fatal(err)
	}
}
