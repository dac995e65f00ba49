//go:build linux || darwin

package embeddedpg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// Whatever lies in the data directory and is not a cluster these programs can
// run stays untouched: an empty cluster in its place would hide payments.
func TestDataThatCannotBeRunIsRefusedAndLeft(t *testing.T) {
	t.Parallel()
	needServers(t)
	tests := []struct{ name, file, text, want string }{
		{"another major", "PG_VERSION", "9\n", "was made by PostgreSQL 9, and only"},
		{"a version that is none", "PG_VERSION", "new\n", "read the cluster's version"},
		{"something else", "notes.txt", "mine", "no cluster of PostgreSQL"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := place(t)
			data := filepath.Join(dir, "postgres", "data")
			must(t, os.MkdirAll(data, 0o700))
			must(t, os.WriteFile(filepath.Join(data, test.file), []byte(test.text), 0o600))
			cfg := config(dir)
			cfg.Fetch = false
			_, err := embeddedpg.Start(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if text, err := os.ReadFile(filepath.Join(data, test.file)); err != nil || string(text) != test.text {
				t.Errorf("the data was changed: %q, %v", text, err)
			}
		})
	}
}

func TestAHalfMadeClusterIsMadeAgain(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := place(t)
	half := filepath.Join(dir, "postgres", "data.new")
	must(t, os.MkdirAll(half, 0o700))
	must(t, os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("15\n"), 0o600))
	start(t, config(dir))
	if _, err := os.Stat(half); err == nil {
		t.Error("the half is still there")
	}
}

func TestADatabaseIsMadeWhenMissingAndKeptWhenNot(t *testing.T) {
	t.Parallel()
	needServers(t)
	cfg := config(place(t))
	cfg.Durable = true
	server := start(t, cfg)
	must(t, execute(t, server, "create table kept ()"))
	stop(t, server)
	cfg.Database = `odd "name`
	server = start(t, cfg)
	if got := ask(t, server, `select count(*)::text from pg_database where datname in ('ipn', 'odd "name')`); got != "2" {
		t.Errorf("got %s databases, want 2", got)
	}
	must(t, execute(t, server, "drop table kept"))
}
