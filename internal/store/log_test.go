package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// Two replicas record while a reader follows the log with nothing but its cursor. Were an id drawn before the lock, a
// later id could become visible first, and the reader would step over the earlier one.
func TestAReaderThatAsksForIDsAfterItsCursorMissesNothing(t *testing.T) {
	t.Parallel()
	const each = 600
	dsn := pgtest.New(t)
	var waits []func() []answer
	for _, replica := range []string{"A", "B"} {
		receipts := make([]*ipn.Receipt, each)
		for i := range receipts {
			receipts[i] = charge(fmt.Sprint(replica, i))
		}
		waits = append(waits, recordAll(t.Context(), running(t, dsn), receipts...))
	}
	reader := connect(t, dsn)
	var cursor, seen int64
	eventually(t, "the reader sees every event", func() bool {
		var n, last int64
		if err := reader.QueryRow(t.Context(), "select count(*), coalesce(max(id), 0) from events where id > $1", cursor).Scan(&n, &last); err != nil {
			t.Fatal(err)
		}
		seen, cursor = seen+n, max(cursor, last)
		return cursor > 0 && seen == ask[int64](t, dsn, "select count(*) from events") && seen == 2*each
	})
	for _, wait := range waits {
		for _, a := range wait() {
			if a.err != nil {
				t.Fatal(a.err)
			}
		}
	}
}

// A backfill by hand takes the lock through the trigger: the recorder's commit waits for it, and gets the higher id.
func TestAnyWriterOfTheLogIsHeldToCommitOrder(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	psql := connect(t, dsn)
	tx, err := psql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var byHand int64
	if err := tx.QueryRow(t.Context(), `insert into events (identity, test, verification, digest, content_digest, received_at, last_received_at)
		values (sha256('by hand'), false, 'off', sha256(''), sha256(''), now(), now()) returning id`).Scan(&byHand); err != nil {
		t.Fatal(err)
	}
	wait := recordAll(t.Context(), running(t, dsn), charge("R1"))
	eventually(t, "the recorder waits for the log lock", func() bool {
		return ask[bool](t, dsn, "select exists (select from pg_locks where locktype = 'advisory' and not granted)")
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := wait()[0]; a.err != nil || a.EventID <= byHand {
		t.Errorf("got %+v after %d", a, byHand)
	}
}

func TestEachCommitOfTheLogIsNotified(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	entry := keep(t, s, dsn, quarantined(ipn.ReasonSignatureMismatch, 401, "transactionType=CHARGE&referenceNumber=R2"))
	commits := []struct {
		name   string
		commit func() error
	}{
		{"by the recorder", func() error { _, err := r.Record(t.Context(), charge("R1")); return err }},
		{"by a promotion", func() error { _, err := s.Promote(t.Context(), entry, charge("R2"), byMaria); return err }},
	}
	for _, tc := range commits {
		t.Run(tc.name, func(t *testing.T) {
			listener := connect(t, dsn)
			if _, err := listener.Exec(t.Context(), "listen ipn_events"); err != nil {
				t.Fatal(err)
			}
			if err := tc.commit(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if _, err := listener.WaitForNotification(ctx); err != nil {
				t.Errorf("no notification: %v", err)
			}
		})
	}
}

func TestTheLockOfTheMigrationIsTheRecorders(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	if !ask[bool](t, dsn, "select prosrc like '%' || $1::bigint || '%' from pg_proc where proname = 'events_in_commit_order'", int64(store.LogLock)) {
		t.Error("the trigger takes another lock than the recorder")
	}
}
