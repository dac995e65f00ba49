package embeddedpg

import (
	"errors"
	"path/filepath"
	"runtime"
)

// OldestMajor is the oldest PostgreSQL that is taken; older ones found are
// passed over.
const OldestMajor = 14

// Config says where the private server lives and where its programs may come
// from. Only Dir is needed.
type Config struct {
	// Dir holds the cluster and is made when missing. When the caller is root,
	// the account that runs the server must be able to pass its parents.
	Dir string

	// CacheDir holds fetched programs. Empty: none are looked for and none
	// are fetched.
	CacheDir string

	// BinDir is the directory of initdb and postgres (IPN_POSTGRES_BIN). When
	// set nothing else is tried.
	BinDir string

	// SearchDirs are the patterns of directories searched when BinDir is
	// empty. Nil means PATH and the usual places; an empty list, none.
	SearchDirs []string

	// Fetch allows programs to be fetched into CacheDir when none are found.
	Fetch bool

	// Durable makes a commit survive a loss of power. Without it the server
	// is fast and forgetful, for tests.
	Durable bool

	// Database is made when missing. Empty means "ipn".
	Database string

	// Logf gets one line per step with its duration. Nil means silence.
	Logf func(format string, args ...any)
}

// complete checks the settings and fills in what was left empty.
func (c Config) complete() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("private PostgreSQL: no data directory given; set IPN_DATA_DIR, or IPN_DATABASE_URL to use another server")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, err
	}
	c.Dir = dir
	if c.CacheDir != "" {
		if c.CacheDir, err = filepath.Abs(c.CacheDir); err != nil {
			return c, err
		}
	}
	if c.Database == "" {
		c.Database = "ipn"
	}
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	return c, nil
}

// DefaultDir is where the data lives when nobody says otherwise: for root
// /var/lib/ipn-receiver, on macOS ~/Library/Application Support, else
// $XDG_STATE_HOME or ~/.local/state. It fails only where there is no home.
func DefaultDir(uid int, getenv func(string) string) (string, error) {
	return userDir(uid, getenv, place{
		root: "/var/lib", variable: "XDG_STATE_HOME", home: ".local/state", mac: "Library/Application Support", setting: "IPN_DATA_DIR"})
}

// DefaultCacheDir is where fetched programs are kept when nobody says
// otherwise: for root /var/cache/ipn-receiver, on macOS ~/Library/Caches, else
// $XDG_CACHE_HOME or ~/.cache.
func DefaultCacheDir(uid int, getenv func(string) string) (string, error) {
	return userDir(uid, getenv, place{
		root: "/var/cache", variable: "XDG_CACHE_HOME", home: ".cache", mac: "Library/Caches", setting: "IPN_CACHE_DIR"})
}

// A place is one row of the conventions on where programs keep things.
type place struct{ root, variable, home, mac, setting string }

// userDir never puts root's data under root's home: the account that runs the
// server could not get there.
func userDir(uid int, getenv func(string) string, p place) (string, error) {
	const name = "ipn-receiver"
	base, home := getenv(p.variable), getenv("HOME")
	switch {
	case uid == 0:
		return filepath.Join(p.root, name), nil
	case runtime.GOOS != "darwin" && filepath.IsAbs(base):
		return filepath.Join(base, name), nil
	case !filepath.IsAbs(home):
		return "", errors.New("HOME is not set: set " + p.setting)
	case runtime.GOOS == "darwin":
		return filepath.Join(home, p.mac, name), nil
	}
	return filepath.Join(home, p.home, name), nil
}
