//go:build linux || darwin

package embeddedpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// start owns the home first, so that a second process is refused before it
// looks for, fetches or changes anything.
func start(ctx context.Context, cfg Config) (*Server, error) {
	who, err := chooseAccount()
	if err != nil {
		return nil, err
	}
	h, err := openHome(cfg.Dir, who)
	if err != nil {
		return nil, err
	}
	server, err := startIn(ctx, cfg, h)
	if err != nil {
		h.lock.Unlock()
		return nil, err
	}
	return server, nil
}

func startIn(ctx context.Context, cfg Config, h *home) (*Server, error) {
	want, err := h.major()
	if err != nil {
		return nil, err
	}
	programs, err := (&search{cfg: cfg, account: h.account, want: want}).find(ctx)
	if err != nil {
		return nil, err
	}
	c := &cluster{home: h, programs: programs, cfg: cfg}
	if want == 0 {
		if err := c.initialise(ctx); err != nil {
			return nil, err
		}
	}
	server, err := c.launch(ctx)
	if err != nil {
		return nil, err
	}
	if err := server.ensureDatabase(ctx, cfg.Database); err != nil {
		return nil, errors.Join(err, server.Stop(ctx))
	}
	return server, nil
}

// launch starts the server and waits until it is ready. The last server of the
// same data may still be on its way out, or its orphaned backends may, when this
// process or the server was killed a moment ago: that is tried again for ten
// seconds.
func (c *cluster) launch(ctx context.Context) (*Server, error) {
	began := time.Now()
	socketDir, err := c.socketDir()
	if err != nil {
		return nil, err
	}
	compression := ""
	if c.cfg.Durable {
		compression = c.compression(ctx)
	}
	for {
		p, err := c.tryLaunch(ctx, socketDir, compression)
		if err == nil {
			c.cfg.Logf("started PostgreSQL %s, socket in %s (%d ms)", c.programs.version, socketDir, milliseconds(began))
			return c.serve(p, socketDir), nil
		}
		if !errors.Is(err, errStillInUse) || time.Since(began) > 10*time.Second {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// serve hands a ready process out as a Server, whose home is released when the
// process ends.
func (c *cluster) serve(p *process, socketDir string) *Server {
	s := &Server{process: p, done: make(chan struct{}), socketDir: socketDir, version: c.programs.version, durable: c.cfg.Durable}
	go func() {
		<-p.done
		c.release(socketDir)
		close(s.done)
	}()
	return s
}

// errStillInUse says that a server that is ending still holds the data.
var errStillInUse = errors.New("the last server of this data is still there")

// inUse is how the server says so: its pid file names a living process, or its
// shared memory has users.
var inUse = regexp.MustCompile(`lock file ".*" already exists|is still in use`)

// tryLaunch starts the server once. When it ends before it is ready, the error
// carries what it wrote to its log meanwhile.
func (c *cluster) tryLaunch(ctx context.Context, socketDir, compression string) (*process, error) {
	log, err := openLog(c.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	cmd := c.command(socketDir, compression)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := run(cmd, endSignal(c.cfg.Durable))
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err := c.awaitReady(ctx, p); err != nil {
		p.kill()
		said := make([]byte, 4096)
		n, _ := log.ReadAt(said, from)
		if inUse.Match(said[:n]) {
			err = errStillInUse
		}
		return nil, fmt.Errorf("start PostgreSQL: %w; it wrote to %s: %s", err, c.log(), bytes.TrimSpace(said[:n]))
	}
	return p, nil
}

// largestLog is where a log is set aside at the next start, in bytes.
const largestLog = 8 << 20

// openLog opens the server's log to append to, after setting a large one aside.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("set the server's log aside: %w", err)
		}
	}
	log, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	return log, nil
}

// awaitReady waits for the pid file to say so. Crash recovery may take minutes,
// so only ctx bounds it.
func (c *cluster) awaitReady(ctx context.Context, p *process) error {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return fmt.Errorf("it ended at once: %w", p.err)
		case <-ctx.Done():
			return fmt.Errorf("wait until it is ready: %w", ctx.Err())
		case <-tick.C:
			text, err := os.ReadFile(c.pidFile())
			if err == nil && ready(text, p.pid()) {
				return nil
			}
		}
	}
}

// ready reads postmaster.pid: line 1 is the server's own number, line 8 its
// state. A file of an earlier server has another number.
func ready(text []byte, pid int) bool {
	lines := bytes.Split(text, []byte("\n"))
	return len(lines) >= 8 && string(bytes.TrimSpace(lines[0])) == strconv.Itoa(pid) && string(bytes.TrimSpace(lines[7])) == "ready"
}

// ensureDatabase makes the database when missing. It also proves that the
// server answers.
func (s *Server) ensureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	defer conn.Close(ctx)
	var exists bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create the database %s: %w", name, err)
	}
	return nil
}
