package pgtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// inner says what the copy of this program that a test started should do.
const inner = "PGTEST_INNER"

// TestInner is the test of another process, which the tests below watch.
func TestInner(t *testing.T) {
	order := os.Getenv(inner)
	if order == "" {
		t.Skip("it runs in a process of its own, started by other tests")
	}
	dsn := pgtest.New(t)
	execute(t, dsn, "select id from quarantine")
	switch order {
	case "fail":
		t.Fatal("as ordered")
	case "wait":
		fmt.Println(dsn)
		io.Copy(io.Discard, os.Stdin)
	}
}

// innerCommand prepares a process that runs TestInner alone.
func innerCommand(t *testing.T, order string, environment ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInner$", "-test.v")
	cmd.Env = append(append(cmd.Environ(), inner+"="+order), environment...)
	return cmd
}

func TestProcessesShareOneTemplateOnAServerOfOthers(t *testing.T) {
	t.Parallel()
	owned := pgtest.Own(t)
	conn := connect(t, owned.DSN())
	makeTemplateUnfinished(t, owned.DSN())
	var processes sync.WaitGroup
	for range 3 {
		processes.Go(func() {
			if out, err := innerCommand(t, "pass", "TEST_DATABASE_URL="+owned.DSN()).CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
	processes.Wait()
	if got := count(t, conn, "select count(*) from pg_database where datname like 'ipn\\_template%' and datistemplate and not datallowconn"); got != 1 {
		t.Errorf("got %d finished templates, want 1", got)
	}
	if got := count(t, conn, "select count(*) from pg_database where datname like 't\\_%'"); got != 0 {
		t.Errorf("%d databases of tests are left", got)
	}
}

// makeTemplateUnfinished turns the template into what a process leaves that died
// while it made one: an empty database without the mark.
func makeTemplateUnfinished(t *testing.T, dsn string) {
	t.Helper()
	conn := connect(t, dsn)
	defer conn.Close(context.Background())
	var name string
	if err := conn.QueryRow(t.Context(), "select datname from pg_database where datname like 'ipn\\_template%'").Scan(&name); err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"alter database " + name + " is_template false", "drop database " + name, "create database " + name} {
		if _, err := conn.Exec(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFailedTestLeavesItsDatabaseOnAServerOfOthers(t *testing.T) {
	t.Parallel()
	owned := pgtest.Own(t)
	out, err := innerCommand(t, "fail", "TEST_DATABASE_URL="+owned.DSN()).CombinedOutput()
	if err == nil {
		t.Fatal("the inner test passed")
	}
	_, rest, _ := strings.Cut(string(out), "psql '")
	dsn, _, found := strings.Cut(rest, "'")
	if !found {
		t.Fatalf("no way to open it is told:\n%s", out)
	}
	if got := count(t, connect(t, dsn), "select count(*) from quarantine"); got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestWithoutAServerATestFailsWithAdvice(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, setting, want string }{
		{"no PostgreSQL", "IPN_POSTGRES_BIN=/nowhere", "IPN_DATABASE_URL"},
		{"a server that is not there", "TEST_DATABASE_URL=postgres://postgres@/x?host=/nowhere", "use the server of TEST_DATABASE_URL"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, err := innerCommand(t, "pass", "TEST_DATABASE_URL=", test.setting).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestInner") || !strings.Contains(string(out), test.want) {
				t.Errorf("got %v, want a failure that says %q:\n%s", err, test.want, out)
			}
		})
	}
}

func TestShortSkipsAloud(t *testing.T) {
	t.Parallel()
	cmd := innerCommand(t, "pass")
	cmd.Args = append(cmd.Args, "-test.short")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- SKIP: TestInner") || !strings.Contains(string(out), "-short") {
		t.Errorf("got %v:\n%s", err, out)
	}
}

// A test process that is killed cannot tidy up: its server dies with it, and the
// next process removes the files.
func TestWhatAKilledProcessLeavesIsRemovedByTheNext(t *testing.T) {
	t.Parallel()
	cmd := innerCommand(t, "wait", "TEST_DATABASE_URL=")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := runDirOf(t, stdout)
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("its files are gone already: %v", err)
	}
	if out, err := innerCommand(t, "pass", "TEST_DATABASE_URL=").CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

// runDirOf reads the URL that an inner process prints, and finds its directory.
func runDirOf(t *testing.T, out io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		u, err := url.Parse(lines.Text())
		if err != nil || u.Scheme != "postgres" {
			continue
		}
		dir := u.Query().Get("host")
		for !strings.HasPrefix(filepath.Base(dir), "run-") && len(dir) > 1 {
			dir = filepath.Dir(dir)
		}
		return dir
	}
	t.Fatal("the inner process told no URL")
	return ""
}
