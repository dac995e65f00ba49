//go:build linux || darwin

package embeddedpg_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

func TestWithoutPostgreSQLTheErrorHelps(t *testing.T) {
	t.Parallel()
	cfg := embeddedpg.Config{Dir: place(t), SearchDirs: []string{}}
	_, err := embeddedpg.Start(t.Context(), cfg)
	var notFound *embeddedpg.NotFoundError
	if !errors.As(err, &notFound) {
		t.Fatalf("got %v, want a NotFoundError", err)
	}
	for _, want := range []string{"IPN_POSTGRES_FETCH=off", "apt-get install", "dnf install", "apk add", "brew install", "IPN_DATABASE_URL"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestProgramsThatWillNotDoAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		programs map[string]string
		want     string
	}{
		{"an empty directory", nil, "no initdb in it"},
		{"a postgres that fails", map[string]string{"initdb": "true", "postgres": "echo no library >&2; exit 1"}, "no library"},
		{"another program of that name", map[string]string{"initdb": "true", "postgres": "echo hello"}, `said "hello"`},
		{"an old one", map[string]string{"initdb": "true", "postgres": "echo 'postgres (PostgreSQL) 9.6.24'"}, "9.6.24 is too old"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bin := programs(t, test.programs)
			_, err := embeddedpg.FindVersion(t.Context(), embeddedpg.Config{Dir: "/unused", BinDir: bin})
			if err == nil || !strings.Contains(err.Error(), bin) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s and %q", err, bin, test.want)
			}
		})
	}
}

func TestTheNewestOfAGroupIsTaken(t *testing.T) {
	t.Parallel()
	root := place(t)
	for dir, version := range map[string]string{"9": "9.6", "16": "16.9", "18": "18beta1", "17": "17.5 (Debian 17.5-1)"} {
		must(t, os.Mkdir(filepath.Join(root, dir), 0o755))
		write(t, filepath.Join(root, dir), map[string]string{"initdb": "true", "postgres": "echo 'postgres (PostgreSQL) " + version + "'"})
	}
	got, err := embeddedpg.FindVersion(t.Context(), embeddedpg.Config{Dir: "/unused", SearchDirs: []string{root + "/*"}})
	if err != nil || got != "18beta1" {
		t.Errorf("got %q, %v, want 18beta1", got, err)
	}
}

// The lines are of a simulated installation on Debian 12; only what runs a
// server is worth 30 MB.
func TestOnlyThePackagesOfAServerAreFetched(t *testing.T) {
	t.Parallel()
	var simulation strings.Builder
	for _, name := range []string{"perl-modules-5.36", "libgdbm6", "libperl5.36", "perl", "libjson-perl", "netbase", "libpq5", "libllvm14", "ssl-cert",
		"postgresql-client-common", "postgresql-client-15", "postgresql-common", "libxml2", "postgresql-15", "postgresql"} {
		simulation.WriteString("Inst " + name + " (1.0 Debian:12.0/stable [amd64])\nConf " + name + " (1.0)\n")
	}
	names, server := embeddedpg.NeededPackages(simulation.String())
	if want := []string{"libpq5", "postgresql-client-15", "libxml2", "postgresql-15"}; !slices.Equal(names, want) || server != "postgresql-15" {
		t.Errorf("got %q of %q, want %q", names, server, want)
	}
}

func TestTheFetchedServerRuns(t *testing.T) {
	if os.Getenv("IPN_TEST_FETCH") != "1" {
		t.Skip("fetching needs the network: set IPN_TEST_FETCH=1")
	}
	tests := []struct {
		name, way, lists string
	}{
		{"by apt with the package lists of the system", "apt-get", "/var/lib/apt/lists"},
		{"by apt where there are no package lists", "apt-get", "/nowhere"},
		{"by npm", "npm", "/nowhere"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer embeddedpg.OnlyFetchBy(test.way)()
			hideInstalled(t, test.lists)
			cfg := embeddedpg.Config{Dir: place(t), CacheDir: place(t), SearchDirs: []string{}, Fetch: true, Durable: true, Logf: t.Logf}
			server, err := embeddedpg.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("it is %s", ask(t, server, "select version()"))
			stop(t, server)
			cfg.Fetch = false
			stop(t, start(t, cfg)) // from the cache
		})
	}
}

// hideInstalled has apt believe that no PostgreSQL is installed, so that it
// would bring all a bare system needs.
func hideInstalled(t *testing.T, lists string) {
	t.Helper()
	status, err := os.ReadFile("/var/lib/dpkg/status")
	if err != nil {
		return // not a Debian
	}
	dir := place(t)
	kept := slices.DeleteFunc(strings.SplitAfter(string(status), "\n\n"), func(entry string) bool {
		return strings.HasPrefix(entry, "Package: postgresql") || strings.HasPrefix(entry, "Package: libpq")
	})
	must(t, os.WriteFile(filepath.Join(dir, "status"), []byte(strings.Join(kept, "")), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "apt.conf"), []byte(`Dir::State::status "`+dir+`/status"; Dir::State::lists "`+lists+`";`), 0o644))
	t.Setenv("APT_CONFIG", filepath.Join(dir, "apt.conf"))
}

// programs makes a directory of shell scripts.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := place(t)
	write(t, dir, scripts)
	return dir
}

func write(t *testing.T, dir string, scripts map[string]string) {
	t.Helper()
	for name, text := range scripts {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
}
