package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/store"
	"github.com/ipn-receiver/ipn-receiver/migrations"
)

// A server is one that databases can be made on.
type server struct {
	admin    string                   // URL of a database to give orders from
	dsn      func(name string) string // URL of a database
	template string                   // the migrated database that tests clone
	strategy string                   // clause of CREATE DATABASE, or ""
	outlives bool                     // the server is still there after the process
	close    func() error
}

// openURL takes the server of TEST_DATABASE_URL.
func openURL(ctx context.Context, dsn string) (*server, error) {
	s := &server{
		admin:    dsn,
		dsn:      func(name string) string { return withDatabase(dsn, name) },
		outlives: true,
		close:    func() error { return nil },
	}
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("use the server of TEST_DATABASE_URL: %w", err)
	}
	return s, nil
}

// withDatabase is dsn with another database, for both forms that libpq knows.
func withDatabase(dsn, name string) string {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn // the connection to it has failed before
	}
	u.Path, u.RawPath = "/"+name, ""
	return u.String()
}

// prepare chooses how to clone and makes sure of the template.
func (s *server) prepare(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if s.strategy, err = strategy(ctx, conn); err != nil {
		return err
	}
	if s.template, err = templateName(); err != nil {
		return err
	}
	return s.ensureTemplate(ctx, conn)
}

// strategy is how PostgreSQL 15 and later should copy the template. Copying
// files forces checkpoints, which cost nothing without fsync and much with it;
// writing the copy to the log is the other way round.
func strategy(ctx context.Context, conn *pgx.Conn) (string, error) {
	var fsync string
	var version int
	err := conn.QueryRow(ctx, "select current_setting('fsync'), current_setting('server_version_num')::int").Scan(&fsync, &version)
	switch {
	case err != nil:
		return "", fmt.Errorf("ask the server for its settings: %w", err)
	case version < 150000:
		return "", nil
	case fsync == "off":
		return " strategy file_copy", nil
	}
	return " strategy wal_log", nil
}

// templateName changes with every migration, and with the month: migrating also
// makes the partitions of the months to come.
func templateName() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, time.Now().UTC().Format("2006-01"))
	err := fs.WalkDir(migrations.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := migrations.FS.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s\n", path, len(text), text)
		return err
	})
	return "ipn_template_" + hex.EncodeToString(sum.Sum(nil)[:8]), err
}

// ensureTemplate makes the template unless it is there. Of several processes one
// makes it and the others wait. It is marked as a template last, so one without
// the mark was left half-made by a process that died, and is dropped.
func (s *server) ensureTemplate(ctx context.Context, conn *pgx.Conn) error {
	key := fnv.New64a()
	key.Write([]byte(s.template))
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(key.Sum64())); err != nil {
		return fmt.Errorf("wait for the template: %w", err)
	}
	// The lock ends with the connection at the latest.
	defer conn.Exec(ctx, "select pg_advisory_unlock($1)", int64(key.Sum64()))
	var finished bool
	err := conn.QueryRow(ctx, "select datistemplate from pg_database where datname = $1", s.template).Scan(&finished)
	if finished {
		return nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("look for the template: %w", err)
	}
	return s.makeTemplate(ctx, conn)
}

func (s *server) makeTemplate(ctx context.Context, conn *pgx.Conn) error {
	for _, order := range []string{"drop database if exists " + s.template, "create database " + s.template} {
		if _, err := conn.Exec(ctx, order); err != nil {
			return fmt.Errorf("make the template: %w", err)
		}
	}
	if err := store.Migrate(ctx, s.dsn(s.template), func(string, ...any) {}); err != nil {
		return fmt.Errorf("make the template: %w", err)
	}
	if _, err := conn.Exec(ctx, "alter database "+s.template+" with is_template true allow_connections false"); err != nil {
		return fmt.Errorf("mark the template: %w", err)
	}
	return nil
}

// create makes a database: a clone of the template, or empty without one.
func (s *server) create(ctx context.Context, name, template string) error {
	order := "create database " + name + s.strategy
	if template != "" {
		order = "create database " + name + " template " + template + s.strategy
	}
	return s.order(ctx, order)
}

// drop cuts the connections that a test forgot.
func (s *server) drop(ctx context.Context, name string) error {
	return s.order(ctx, "drop database if exists "+name+" with (force)")
}

// order runs one statement on a connection of its own: a pool would be one more
// thing for a test to leak.
func (s *server) order(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// databaseName is a name that needs no quotes, tells which test it belongs to
// and is never given twice: 63 bytes at most.
func databaseName(test string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(test))
	return "t_" + plain[:min(len(plain), 40)] + "_" + strings.ToLower(rand.Text()[:12])
}
