//go:build linux || darwin

package embeddedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usualPlaces are where packagers put initdb and postgres when they keep them
// off PATH.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // packages of the PostgreSQL project for Fedora and RHEL
	"/usr/libexec/postgresql*",                           // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                    // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	"/usr/local/pgsql/bin",                               // built from source
}

// An installation is a directory of PostgreSQL programs that has answered.
type installation struct {
	bin     string
	version string   // "15.18"
	major   int      // 15
	libs    []string // directories of libraries it needs and the system lacks
}

// A search looks for an installation and remembers what it tried, for the text
// of the error.
type search struct {
	cfg     Config
	account account
	want    int // the major that made the existing cluster; 0: any
	tried   []string
	others  []installation // found, but of another major than wanted
}

// find returns the first installation that fits: the directory given, PATH and
// the usual places, an earlier fetch, a fetch.
func (s *search) find(ctx context.Context) (installation, error) {
	began := time.Now()
	if found, ok := s.pick(ctx, s.installed()); ok {
		s.cfg.Logf("found PostgreSQL %s in %s (%d ms)", found.version, found.bin, milliseconds(began))
		return found, nil
	}
	if s.cfg.BinDir == "" {
		if found, ok := s.fetch(ctx); ok {
			return found, nil
		}
	}
	if len(s.others) > 0 {
		return installation{}, s.mismatch()
	}
	return installation{}, &NotFoundError{Tried: s.tried}
}

// installed lists the groups of directories worth asking, in order of
// preference.
func (s *search) installed() [][]string {
	if s.cfg.BinDir != "" {
		return [][]string{{s.cfg.BinDir}}
	}
	groups := [][]string{onPath(), matches(usualPlaces)}
	if s.cfg.SearchDirs != nil {
		groups = [][]string{matches(s.cfg.SearchDirs)}
	}
	if s.cfg.CacheDir != "" {
		groups = append(groups, cached(s.cfg.CacheDir))
	}
	return groups
}

// pick asks every directory of a group for its version and takes the newest
// that fits, group by group.
func (s *search) pick(ctx context.Context, groups [][]string) (installation, bool) {
	for _, group := range groups {
		var fit []installation
		for _, bin := range group {
			found, err := s.probe(ctx, bin)
			switch {
			case err != nil:
				s.tried = append(s.tried, fmt.Sprintf("%s: %v", bin, err))
			case s.want != 0 && found.major != s.want:
				s.others = append(s.others, found)
			default:
				fit = append(fit, found)
			}
		}
		if len(fit) > 0 {
			return slices.MaxFunc(fit, func(a, b installation) int { return a.major - b.major }), true
		}
	}
	return installation{}, false
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (([0-9]+)[^ \n]*)`)

// probe runs `postgres --version` as the account that would run the server, so
// that what it cannot reach or load shows here.
func (s *search) probe(ctx context.Context, bin string) (installation, error) {
	found := installation{bin: bin, libs: libraries(bin)}
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		return found, fmt.Errorf("no initdb in it")
	}
	if err := s.account.passable(bin, "IPN_POSTGRES_BIN"); err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := s.account.command(ctx, found, "/", "postgres", "--version").CombinedOutput()
	if err != nil {
		return found, fmt.Errorf("postgres --version: %w: %s", err, lastLine(out))
	}
	match := versionText.FindSubmatch(out)
	if match == nil {
		return found, fmt.Errorf("postgres --version said %q", lastLine(out))
	}
	found.version = string(match[1])
	if found.major, err = strconv.Atoi(string(match[2])); err != nil || found.major < OldestMajor {
		return found, fmt.Errorf("PostgreSQL %s is too old, %d is the oldest that will do", found.version, OldestMajor)
	}
	return found, nil
}

// mismatch is the error of a cluster whose own major version is not to be had.
func (s *search) mismatch() error {
	var have []string
	for _, other := range s.others {
		have = append(have, other.version+" in "+other.bin)
	}
	return fmt.Errorf("the data in %s was made by PostgreSQL %d, and only %s is here: install PostgreSQL %d, "+
		"or move the directory away to begin an empty one; nothing was changed", s.cfg.Dir, s.want, strings.Join(have, ", "), s.want)
}

// onPath is the directory of the initdb on PATH; where that is a link, of what
// it leads to, since postgres must stand beside it.
func onPath() []string {
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(initdb); err == nil {
		initdb = real
	}
	return []string{filepath.Dir(initdb)}
}

// matches expands patterns, one entry per directory however many links lead to
// it.
func matches(patterns []string) []string {
	var dirs []string
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found {
			if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(dirs, real) {
				dirs = append(dirs, real)
			}
		}
	}
	return dirs
}

// lastLine is the end of what a program said, for an error of one line.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// FindVersion is the version of the server that Start would run, without
// starting or making anything but a fetch.
func FindVersion(ctx context.Context, cfg Config) (string, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return "", err
	}
	who, err := chooseAccount()
	if err != nil {
		return "", err
	}
	found, err := (&search{cfg: cfg, account: who}).find(ctx)
	return found.version, err
}
