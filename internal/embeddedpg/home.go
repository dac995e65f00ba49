//go:build linux || darwin

package embeddedpg

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A home is the directory of one cluster while this process owns it.
type home struct {
	base    string // <Dir>/postgres
	account account
	lock    *Lock
}

func (h *home) data() string { return filepath.Join(h.base, "data") }
func (h *home) log() string  { return filepath.Join(h.base, "log") }

// openHome makes the directories and takes the lock. The part below Dir belongs
// to the account of the server; Dir and its parents stay as they are.
func openHome(dir string, a account) (*home, error) {
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if err := a.passable(dir, "IPN_DATA_DIR"); err != nil {
		return nil, err
	}
	h := &home{base: filepath.Join(dir, "postgres"), account: a}
	if err := a.own(h.base); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := TryLock(filepath.Join(h.base, "lock"))
	var held *LockedError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("another ipn-receiver runs here (pid %s): %s: %w", held.Holder, dir, err)
	}
	if err != nil {
		return nil, err
	}
	h.lock = lock
	return h, nil
}

// makeDir makes dir and its missing parents: readable for others when root
// makes them, whatever the umask, since the account of the server has to pass.
func makeDir(dir string) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, 0o700)
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// major is the major version that made the cluster, 0 where there is none yet.
func (h *home) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, h.noStrangeData()
	}
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version in %s: %w", h.data(), err)
	}
	return major, nil
}

// noStrangeData refuses a data directory that holds something and is no cluster:
// beginning an empty one beside or over it could hide payments.
func (h *home) noStrangeData() error {
	entries, err := os.ReadDir(h.data())
	if errors.Is(err, os.ErrNotExist) || (err == nil && len(entries) == 0) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s holds something that is no cluster of PostgreSQL (PG_VERSION is missing); nothing was changed", h.data())
}

// longestSocket is what the path of a unix socket may hold, in bytes.
func longestSocket() int {
	if runtime.GOOS == "darwin" {
		return 103
	}
	return 107
}

// socketDir makes the directory of the socket: in the home, or where that path
// would be too long, in one of the same owner under a temporary directory,
// found again under the same name.
func (h *home) socketDir() (string, error) {
	near := filepath.Join(h.base, "s")
	if len(near)+len(socketName) <= longestSocket() {
		return near, h.account.own(near)
	}
	sum := sha256.Sum256([]byte(h.base))
	name := fmt.Sprintf("ipn-%d-%x", h.account.uid, sum[:6])
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		dir := filepath.Join(temp, name)
		if len(dir)+len(socketName) > longestSocket() || h.account.passable(temp, "TMPDIR") != nil {
			continue
		}
		return dir, h.claim(dir)
	}
	return "", fmt.Errorf("no place for a unix socket: the path %s%s is longer than %d bytes and %s will not do either; choose a shorter IPN_DATA_DIR or TMPDIR",
		near, socketName, longestSocket(), os.TempDir())
}

// claim makes a directory of the account where anybody may make directories, or
// takes the one of an earlier start. A stranger's is refused: whoever owns it
// could pose as the server.
func (h *home) claim(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return h.account.own(dir)
	}
	info, statErr := os.Lstat(dir)
	if !errors.Is(err, os.ErrExist) || statErr != nil {
		return fmt.Errorf("make the socket's directory: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(owner.Uid) != h.account.uid {
		return fmt.Errorf("make the socket's directory: %s exists and is not ours", dir)
	}
	return nil
}

// release gives the home up and removes what lies outside it.
func (h *home) release(socketDir string) {
	if filepath.Dir(socketDir) != h.base {
		os.Remove(socketDir)
	}
	h.lock.Unlock()
}
