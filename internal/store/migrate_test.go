package store_test

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
	"github.com/ipn-receiver/ipn-receiver/migrations"
)

func silent(string, ...any) {}

func TestMigratingTwiceAppliesOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.NewEmpty(t)
	var lines int
	for range 2 {
		if err := store.Migrate(t.Context(), dsn, func(string, ...any) { lines++ }); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := migrations.FS.ReadDir("."); lines != len(files) {
		t.Errorf("%d migrations were told, want %d", lines, len(files))
	}
	if err := open(t, dsn).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReplicasThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.NewEmpty(t)
	var applied atomic.Int64
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() {
			if err := store.Migrate(t.Context(), dsn, func(string, ...any) { applied.Add(1) }); err != nil {
				t.Error(err)
			}
		})
	}
	replicas.Wait()
	if files, _ := migrations.FS.ReadDir("."); int(applied.Load()) != len(files) {
		t.Errorf("%d migrations were applied, want %d", applied.Load(), len(files))
	}
}

// downTo takes back all migrations behind a version.
func downTo(tb testing.TB, dsn string, version int64) *sql.DB {
	tb.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := provider.DownTo(tb.Context(), version); err != nil {
		tb.Fatal(err)
	}
	return db
}

func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	downTo(t, dsn, 0)
	const ours = `select (select count(*) from pg_class where relnamespace = 'public'::regnamespace and relname not like 'goose%')
		+ (select count(*) from pg_proc where pronamespace = 'public'::regnamespace)`
	if left := ask[int](t, dsn, ours); left != 0 {
		t.Errorf("%d objects are left", left)
	}
	if err := store.Migrate(t.Context(), dsn, silent); err != nil {
		t.Fatal(err)
	}
	mustRecord(t, running(t, dsn), charge("R1"))
}

// A long report holds the payloads while a month is due. The migrator waits its lock_timeout and no longer, so that
// nobody queues up behind it, and comes again until the report is done.
func TestAMigrationGivesWayToAReader(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	execute(t, dsn, `do $$ begin execute (select format('drop table %s', max(inhrelid)::regclass) from pg_inherits
			where inhparent = 'payloads'::regclass and inhrelid <> 'payloads_default'::regclass); end $$`)
	const months = "select count(*) from pg_inherits where inhparent = 'payloads'::regclass"
	before := ask[int](t, dsn, months)
	reader := connect(t, dsn)
	tx, err := reader.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table payloads in access share mode"); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() { migrated <- store.Migrate(context.WithoutCancel(t.Context()), dsn, silent) }()
	watcher := connect(t, dsn)
	waits := func() (waits bool) {
		if err := watcher.QueryRow(t.Context(), "select exists (select from pg_locks where locktype = 'relation' and not granted)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
		return waits
	}
	eventually(t, "the migrator waits for the reader", waits)
	eventually(t, "it gives way", func() bool { return !waits() })
	mustRecord(t, running(t, dsn), charge("R1"))
	eventually(t, "it comes again", waits)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	if after := ask[int](t, dsn, months); after != before+1 {
		t.Errorf("got %d partitions after %d", after, before)
	}
}
