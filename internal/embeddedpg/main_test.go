//go:build linux || darwin

package embeddedpg_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// helperDir names the data directory in a copy of this program that a test
// started to be killed, or to be another user.
const helperDir = "EMBEDDEDPG_TEST_HELPER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		os.Exit(helper(dir))
	}
	os.Exit(m.Run())
}

// helper runs a server until its standard input ends. Its first line is the
// number of the server, or what went wrong.
func helper(dir string) int {
	server, err := embeddedpg.Start(context.Background(), config(dir))
	if err != nil {
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	fmt.Println(server.PID())
	io.Copy(io.Discard, os.Stdin)
	if err := server.Stop(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// A helping is a running helper.
type helping struct {
	cmd   *exec.Cmd
	stdin io.Closer
	first string // its first line
}

// startHelper runs a copy of this program as uid, or as the caller for -1.
func startHelper(t *testing.T, dir string, uid int) *helping {
	t.Helper()
	cmd := exec.Command(passableCopy(t))
	cmd.Dir = "/"
	cmd.Env = append(cmd.Environ(), helperDir+"="+dir, "HOME="+dir)
	if uid >= 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	h := &helping{cmd: cmd, stdin: stdin}
	t.Cleanup(func() { stdin.Close(); cmd.Wait() }) // in order, or its server outlives its directory
	h.first, err = bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	h.first = strings.TrimSpace(h.first)
	return h
}

// server is the number of the helper's server.
func (h *helping) server(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(h.first)
	if err != nil {
		t.Fatalf("the helper started no server: %s", h.first)
	}
	return pid
}

// passableCopy is this program where every user may run it.
func passableCopy(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	path := filepath.Join(place(t), "helper")
	if os.Link(self, path) == nil {
		return path
	}
	text, err := os.ReadFile(self)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o755))
	return path
}

// config is for a forgetful server, from whatever PostgreSQL the machine has.
func config(dir string) embeddedpg.Config {
	cache, _ := embeddedpg.DefaultCacheDir(os.Getuid(), os.Getenv)
	return embeddedpg.Config{Dir: dir, CacheDir: cache, BinDir: os.Getenv("IPN_POSTGRES_BIN"), Fetch: os.Getenv("IPN_POSTGRES_FETCH") != "off"}
}

// place is a directory that any account may pass, unlike t.TempDir.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "embeddedpg-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// start starts a server that is stopped at the end of the test at the latest.
func start(t *testing.T, cfg embeddedpg.Config) *embeddedpg.Server {
	t.Helper()
	server, err := embeddedpg.Start(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { stop(t, server) })
	return server
}

func stop(t *testing.T, server *embeddedpg.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(t, server.Stop(ctx))
}

// execute runs one statement in the server's own database.
func execute(t *testing.T, server *embeddedpg.Server, sql string, args ...any) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.DSN("ipn"))
	must(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql, args...)
	return err
}

func ask(t *testing.T, server *embeddedpg.Server, sql string) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.DSN("ipn"))
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}

// awaitEnd waits until no process has the number.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	await(t, fmt.Sprintf("the end of process %d", pid), func() bool { return syscall.Kill(pid, 0) != nil })
}

// awaitText waits until a file says something.
func awaitText(t *testing.T, path, want string) {
	t.Helper()
	await(t, fmt.Sprintf("%q in %s", want, path), func() bool {
		text, _ := os.ReadFile(path)
		return strings.Contains(string(text), want)
	})
}

func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func needServers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("tests that start PostgreSQL are skipped with -short")
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	needServers(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
}
