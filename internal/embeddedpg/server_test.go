//go:build linux || darwin

package embeddedpg_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

func TestDataSurvivesEveryKindOfEnd(t *testing.T) {
	t.Parallel()
	needServers(t)
	cfg := config(place(t))
	cfg.Durable = true
	server := start(t, cfg)
	must(t, execute(t, server, "create table kept as select 42 as n"))
	whole := t // each case leaves its server to the next
	ends := []struct {
		name string
		end  func(t *testing.T, server *embeddedpg.Server)
	}{
		{"stopped", stop},
		{"killed alone, its children orphaned", func(t *testing.T, server *embeddedpg.Server) {
			must(t, syscall.Kill(server.PID(), syscall.SIGKILL))
			<-server.Done()
		}},
		{"halted, then stopped", func(t *testing.T, server *embeddedpg.Server) {
			must(t, syscall.Kill(server.PID(), syscall.SIGSTOP))
			stop(t, server)
		}},
		{"stopped twice", func(t *testing.T, server *embeddedpg.Server) { stop(t, server); stop(t, server) }},
	}
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			e.end(t, server)
			server = start(whole, cfg)
			if got := ask(t, server, "select n::text from kept"); got != "42" {
				t.Errorf("got %s, want 42", got)
			}
		})
	}
	stop(t, server)
}

func TestAStopThatMayNotWaitKills(t *testing.T) {
	t.Parallel()
	needServers(t)
	server := start(t, config(place(t)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := server.Stop(ctx); !errors.Is(err, context.Canceled) {
		// The server may have been the quicker one.
		must(t, err)
	}
	<-server.Done()
}

func TestAServerHasTheSettingsOfItsKind(t *testing.T) {
	t.Parallel()
	needServers(t)
	both := map[string]string{"listen_addresses": "", "server_encoding": "UTF8", "lc_collate": "C.UTF-8", "data_checksums": "on",
		"log_parameter_max_length_on_error": "0", "log_min_error_statement": "panic", "log_error_verbosity": "terse", "jit": "off"}
	kinds := []struct {
		name    string
		durable bool
		own     map[string]string
	}{
		{"durable", true, map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}},
		{"forgetful", false, map[string]string{"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(place(t))
			cfg.Durable = kind.durable
			server := start(t, cfg)
			for _, settings := range []map[string]string{both, kind.own} {
				for name, want := range settings {
					if name == "lc_collate" {
						name = "datcollate from pg_database where datname = 'ipn'"
					} else {
						name = "current_setting('" + name + "')"
					}
					if got := ask(t, server, "select "+name); got != want {
						t.Errorf("%s: got %q, want %q", name, got, want)
					}
				}
			}
			if got := ask(t, server, "select current_setting('wal_compression')"); kind.durable && got == "off" {
				t.Error("a durable server does not compress its log")
			}
		})
	}
}

// A statement that fails holds a payment's data; the server's own file must not
// get it by any of the ways PostgreSQL logs: statement, parameters, detail, text.
func TestTheServersLogHoldsNoValues(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := place(t)
	server := start(t, config(dir))
	must(t, execute(t, server, "create table shoppers (email text primary key, n numeric)"))
	must(t, execute(t, server, "insert into shoppers (email) values ($1)", "secret@example.com"))
	for _, sql := range []string{
		"insert into shoppers (email) values ('secret@example.com')",
		"insert into shoppers (n) values ('secret')",
		"select 'secret'::text::jsonb",
		"syntax error 'secret'",
	} {
		if execute(t, server, sql) == nil {
			t.Fatalf("%s: want an error", sql)
		}
	}
	if execute(t, server, "insert into shoppers (email) values ($1)", "secret@example.com") == nil {
		t.Fatal("want an error for a duplicate")
	}
	stop(t, server)
	log, err := os.ReadFile(filepath.Join(dir, "postgres", "log"))
	must(t, err)
	if len(log) == 0 || strings.Contains(string(log), "secret") {
		t.Errorf("the log is empty or holds a value:\n%s", log)
	}
}

func TestAPathTooLongForASocketMovesTheSocket(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := filepath.Join(place(t), strings.Repeat("long/", 20))
	server := start(t, config(dir))
	if strings.HasPrefix(server.SocketDir(), dir) {
		t.Errorf("the socket is in %s", server.SocketDir())
	}
	if got := ask(t, server, "select current_database()::text"); got != "ipn" {
		t.Errorf("got %q, want ipn", got)
	}
	stop(t, server)
	if _, err := os.Stat(server.SocketDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the socket is left: %v", err)
	}
}

func TestAServerIsPrivateAndSaysHowToReachIt(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := filepath.Join(place(t), "a dir's")
	var told []string
	cfg := config(dir)
	cfg.Logf = func(format string, _ ...any) { told = append(told, format) }
	server := start(t, cfg)
	t.Run("nobody but its account and root may enter", func(t *testing.T) {
		for _, path := range []string{filepath.Join(dir, "postgres"), server.SocketDir()} {
			info, err := os.Stat(path)
			must(t, err)
			if info.Mode().Perm() != 0o700 {
				t.Errorf("%s: got mode %v, want 0700", path, info.Mode().Perm())
			}
		}
	})
	t.Run("root's server is not root's", func(t *testing.T) {
		if owner := ownerOf(t, server.PID()); owner == 0 {
			t.Error("the server runs as root")
		}
	})
	t.Run("the command for psql can be typed", func(t *testing.T) {
		want := `psql -h '` + filepath.Dir(dir) + `/a dir'\''s/postgres/s' -U postgres ipn`
		if got := server.PsqlCommand("ipn"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("the URL leads to it", func(t *testing.T) {
		want, _, _ := strings.Cut(ask(t, server, "show server_version"), " ")
		if got := server.Version(); got != want {
			t.Errorf("got version %q, want %q", got, want)
		}
	})
	t.Run("each step is told with its time", func(t *testing.T) {
		if len(told) < 3 {
			t.Errorf("told %q", told)
		}
		for _, line := range told {
			if !strings.HasSuffix(line, "(%d ms)") {
				t.Errorf("no time in %q", line)
			}
		}
	})
}
