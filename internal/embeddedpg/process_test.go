//go:build linux || darwin

package embeddedpg_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// The receiver is killed with no time to say goodbye. Its server must not stay
// behind, and the next receiver must start on the same data at once.
func TestAKilledParentTakesItsServerAlong(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := place(t)
	helper := startHelper(t, dir, -1)
	pid := helper.server(t)
	must(t, helper.cmd.Process.Kill())
	helper.cmd.Wait()
	start(t, config(dir))
	awaitEnd(t, pid)
}

// The last server of the data needs a while to end. Another server of the same
// account plays it: its number stands in the pid file until it has ended.
func TestAServerThatIsStillEndingIsWaitedFor(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := place(t)
	stop(t, start(t, config(dir)))
	last := start(t, config(place(t)))
	pidFile := filepath.Join(dir, "postgres", "data", "postmaster.pid")
	must(t, os.WriteFile(pidFile, fmt.Appendln(nil, last.PID()), 0o644))
	started := make(chan error, 1)
	go func() {
		next, err := embeddedpg.Start(t.Context(), config(dir))
		if err == nil {
			err = next.Stop(context.Background())
		}
		started <- err
	}()
	awaitText(t, filepath.Join(dir, "postgres", "log"), "already exists")
	stop(t, last)
	must(t, <-started)
}

func TestAnOrdinaryUserRunsItsOwnServer(t *testing.T) {
	t.Parallel()
	needRoot(t)
	const nobody = 65534
	dir := place(t)
	must(t, os.Chown(dir, nobody, nobody))
	helper := startHelper(t, dir, nobody)
	pid := helper.server(t)
	if owner := ownerOf(t, pid); owner != nobody {
		t.Errorf("the server belongs to %d, want %d", owner, nobody)
	}
	must(t, helper.stdin.Close())
	must(t, helper.cmd.Wait())
	awaitEnd(t, pid)
}

func TestAUidWithoutANameIsToldWhyInitdbFails(t *testing.T) {
	t.Parallel()
	needRoot(t)
	const nameless = 70000
	dir := place(t)
	must(t, os.Chown(dir, nameless, nameless))
	helper := startHelper(t, dir, nameless)
	if !strings.Contains(helper.first, "uid 70000 has no entry in /etc/passwd") {
		t.Errorf("got %q", helper.first)
	}
}

func TestTwoProcessesOnOneDirectoryAreRefused(t *testing.T) {
	t.Parallel()
	needServers(t)
	dir := place(t)
	helper := startHelper(t, dir, -1)
	helper.server(t)
	_, err := embeddedpg.Start(t.Context(), config(dir))
	want := fmt.Sprintf("another ipn-receiver runs here (pid %d)", helper.cmd.Process.Pid)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAParentThatCannotBePassedIsNamed(t *testing.T) {
	t.Parallel()
	needRoot(t)
	closed := filepath.Join(place(t), "closed")
	must(t, os.Mkdir(closed, 0o700))
	_, err := embeddedpg.Start(t.Context(), config(filepath.Join(closed, "data")))
	if err == nil || !strings.HasPrefix(err.Error(), closed+" (drwx------)") {
		t.Errorf("got %v, want the name %s", err, closed)
	}
}

// ownerOf is the user of a process, by its directory in /proc.
func ownerOf(t *testing.T, pid int) int {
	t.Helper()
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		t.Skipf("this system has no /proc: %v", err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}
