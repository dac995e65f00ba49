package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// openPrivate starts a server of this process from the archive in the cache.
func openPrivate(ctx context.Context) (*server, error) {
	w, err := openWorkshop()
	if err != nil {
		return nil, err
	}
	dir, err := w.unpack(ctx)
	if err != nil {
		return nil, err
	}
	running, err := embeddedpg.Start(ctx, w.config(dir.path))
	if err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	s := serverOf(running)
	s.close = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return errors.Join(running.Stop(ctx), dir.remove())
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func serverOf(running *embeddedpg.Server) *server {
	return &server{admin: running.DSN("postgres"), dsn: running.DSN}
}

// A workshop is the directory in the cache where clusters for tests are made:
// the archives, and one directory for each process that runs now.
type workshop struct{ cache, dir string }

// openWorkshop uses the cache of the receiver, so that a PostgreSQL fetched by
// one serves the other, or the temporary directory where there is no cache.
func openWorkshop() (workshop, error) {
	cache, err := embeddedpg.DefaultCacheDir(os.Getuid(), os.Getenv)
	if err == nil {
		err = os.MkdirAll(cache, 0o755)
	}
	if err != nil {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("ipn-receiver-%d", os.Getuid()))
	}
	w := workshop{cache: cache, dir: filepath.Join(cache, "test")}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return w, fmt.Errorf("make a place for test clusters: %w", err)
	}
	return w, nil
}

// config is for a cluster of tests in dir. It reads the two variables of the
// receiver that say where PostgreSQL comes from.
func (w workshop) config(dir string) embeddedpg.Config {
	return embeddedpg.Config{
		Dir:      dir,
		CacheDir: w.cache,
		BinDir:   os.Getenv("IPN_POSTGRES_BIN"),
		Fetch:    os.Getenv("IPN_POSTGRES_FETCH") != "off",
		Database: "postgres",
	}
}

// lock is held by whoever changes what lies in the workshop.
func (w workshop) lock(ctx context.Context) (*embeddedpg.Lock, error) {
	return embeddedpg.WaitLock(ctx, filepath.Join(w.dir, "lock"))
}

// A runDir is the directory of one running cluster. Its lock says that its
// process lives.
type runDir struct {
	path string
	lock *embeddedpg.Lock
}

func (r runDir) remove() error {
	defer r.lock.Unlock()
	return errors.Join(os.RemoveAll(r.path), os.Remove(r.path+".lock"))
}

// unpack makes a cluster for this process out of the archive, which it makes
// first when there is none of these migrations and this server. What crashed
// processes left is removed.
func (w workshop) unpack(ctx context.Context) (runDir, error) {
	lock, err := w.lock(ctx)
	if err != nil {
		return runDir{}, err
	}
	defer lock.Unlock()
	w.prune()
	archive, err := w.archive(ctx)
	if err != nil {
		return runDir{}, err
	}
	run, err := w.newRun()
	if err != nil {
		return runDir{}, err
	}
	if err := unpackTar(archive, run.path); err != nil {
		return runDir{}, errors.Join(fmt.Errorf("unpack the cluster: %w", err), run.remove())
	}
	return run, nil
}

// newRun makes an empty directory and locks it for this process.
func (w workshop) newRun() (runDir, error) {
	path, err := os.MkdirTemp(w.dir, "run-")
	if err != nil {
		return runDir{}, err
	}
	if err := os.Chmod(path, 0o755); err != nil {
		return runDir{}, err
	}
	lock, err := embeddedpg.TryLock(path + ".lock")
	return runDir{path, lock}, err
}

// archiveAge is how long an archive is kept that nobody used.
const archiveAge = 3 * 24 * time.Hour

// prune removes the directories of processes that ended without, and archives
// of migrations long changed. What cannot be removed now is left for the next.
func (w workshop) prune() {
	locks, _ := filepath.Glob(filepath.Join(w.dir, "run-*.lock"))
	for _, path := range locks {
		if lock, err := embeddedpg.TryLock(path); err == nil {
			runDir{strings.TrimSuffix(path, ".lock"), lock}.remove()
		}
	}
	archives, _ := filepath.Glob(filepath.Join(w.dir, "*.tar*"))
	for _, path := range archives {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > archiveAge {
			os.Remove(path)
		}
	}
}

// archive is the path of the archive for these migrations, this server and this
// kind of user (root's clusters belong to another account).
func (w workshop) archive(ctx context.Context) (string, error) {
	version, err := embeddedpg.FindVersion(ctx, w.config(w.dir))
	if err != nil {
		return "", err
	}
	template, err := templateName()
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, fmt.Sprintf("%s-%s-uid%d.tar", template, version, os.Getuid()))
	if _, err := os.Stat(path); err == nil {
		now := time.Now()
		return path, os.Chtimes(path, now, now)
	}
	return path, w.makeArchive(ctx, path)
}

// makeArchive initialises and migrates a cluster, ends it in order (a cluster
// that was cut off would recover at each start) and packs it.
func (w workshop) makeArchive(ctx context.Context, path string) error {
	run, err := w.newRun()
	if err != nil {
		return err
	}
	defer run.remove()
	running, err := embeddedpg.Start(ctx, w.config(run.path))
	if err != nil {
		return err
	}
	if err := serverOf(running).prepare(ctx); err != nil {
		return errors.Join(err, running.Stop(ctx))
	}
	if err := endInOrder(ctx, running); err != nil {
		return err
	}
	if err := packTar(run.path, path+".new"); err != nil {
		return fmt.Errorf("pack the cluster: %w", err)
	}
	return os.Rename(path+".new", path)
}

// endInOrder ends a forgetful server with a checkpoint, which its Stop leaves
// out: SIGINT is how PostgreSQL is asked for that.
func endInOrder(ctx context.Context, running *embeddedpg.Server) error {
	process, err := os.FindProcess(running.PID())
	if err == nil {
		err = process.Signal(os.Interrupt)
	}
	if err != nil {
		return errors.Join(err, running.Stop(ctx))
	}
	select {
	case <-running.Done():
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), running.Stop(ctx))
	}
}
