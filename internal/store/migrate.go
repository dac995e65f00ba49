package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/ipn-receiver/ipn-receiver/migrations"
)

// lockNotAvailable is what a statement gets that has waited lock_timeout for a table in use.
const lockNotAvailable = "55P03"

// Migrate brings the schema up to the newest migration, under a session lock so that replicas that start together do
// it once; who comes second looks again every second, for five minutes. A migration that finds its table busy gives way after its lock_timeout and is tried again for a minute, so
// that intake is never stalled behind it. It also makes the months of payloads that are due. logf gets one line per
// migration applied, and what one leaves to a person.
func Migrate(ctx context.Context, dsn string, logf func(format string, args ...any)) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("read the database URL: %w", err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" { // what a migration leaves to a person
			logf("%s", n.Message)
		}
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migratorLock), lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("prepare the migrator's lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if err := retryWhileLocked(ctx, func() error { return migrateUp(ctx, provider, logf) }); err != nil {
		return err
	}
	return retryWhileLocked(ctx, func() error {
		return makeMonths(time.Now(), func(query string, month time.Time) error {
			_, err := db.ExecContext(ctx, query, month)
			return err
		})
	})
}

func migrateUp(ctx context.Context, provider *goose.Provider, logf func(string, ...any)) error {
	results, err := provider.Up(ctx)
	for _, r := range results {
		logf("migrated %s (%d ms)", r.Source.Path, r.Duration.Milliseconds())
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// retryWhileLocked repeats try for up to a minute, 250 ms apart, while it fails for a lock that others hold.
func retryWhileLocked(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(time.Minute)
	for {
		err := try()
		var pg *pgconn.PgError
		if err == nil || !errors.As(err, &pg) || pg.Code != lockNotAvailable || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("migrate: %w", ctx.Err())
		case <-time.After(250 * time.Millisecond):
		}
	}
}
