//go:build linux || darwin

package embeddedpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"time"
)

// A cluster is the data of a home together with the programs that can run it.
type cluster struct {
	*home
	programs installation
	cfg      Config
}

// initialise makes the cluster aside and gives it its name when it is whole, so
// that a process that dies on the way leaves no half of one.
func (c *cluster) initialise(ctx context.Context) error {
	began := time.Now()
	aside := c.data() + ".new"
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("remove a half-made cluster: %w", err)
	}
	out, err := c.initdb(ctx, aside, "--locale=C.UTF-8")
	if err != nil && bytes.Contains(out, []byte("invalid locale name")) {
		out, err = c.initdb(ctx, aside, "--no-locale")
	}
	if err != nil {
		return c.explainInitdb(out, err)
	}
	if err := c.settle(aside); err != nil {
		return fmt.Errorf("initialise the cluster: %w", err)
	}
	c.cfg.Logf("initialised the cluster in %s (%d ms)", c.data(), milliseconds(began))
	return nil
}

// initdb fixes encoding and locale, since their defaults follow the person who
// happens to call. Checksums find storage that lies.
func (c *cluster) initdb(ctx context.Context, aside, locale string) ([]byte, error) {
	args := []string{"-D", aside, "-U", superuser, "-E", "UTF8", locale, "--auth=trust", "--data-checksums"}
	if !c.cfg.Durable {
		args = append(args, "--no-sync", "--wal-segsize=1")
	}
	cmd := c.account.command(ctx, c.programs, c.base, "initdb", args...)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// settle renames the finished cluster into place and makes the name durable.
func (c *cluster) settle(aside string) error {
	if err := os.Remove(c.data()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(aside, c.data()); err != nil {
		return err
	}
	dir, err := os.Open(c.base)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// explainInitdb adds what initdb does not say of a bare numeric uid, the habit
// of containers: it insists on a name, the server does not.
func (c *cluster) explainInitdb(out []byte, err error) error {
	if _, lookup := user.LookupId(strconv.Itoa(c.account.uid)); lookup != nil {
		return fmt.Errorf("initialise the cluster: uid %d has no entry in /etc/passwd, which initdb needs (the server does not): "+
			"add one, or make the cluster elsewhere, or set IPN_DATABASE_URL: %w: %s", c.account.uid, err, lastLine(out))
	}
	return fmt.Errorf("initialise the cluster: %w: %s", err, bytes.TrimSpace(out))
}

// command is `postgres` itself with all its settings, so that a newer receiver
// brings newer settings to an old cluster.
func (c *cluster) command(socketDir, compression string) *exec.Cmd {
	args := []string{"-D", c.data()}
	for _, setting := range c.settings(socketDir, compression) {
		args = append(args, "-c", setting)
	}
	// The server outlives the context of its start.
	return c.account.command(context.Background(), c.programs, c.base, "postgres", args...)
}

func (c *cluster) settings(socketDir, compression string) []string {
	all := append([]string{"unix_socket_directories=" + socketDir}, commonSettings...)
	if !c.cfg.Durable {
		return append(all, forgetfulSettings...)
	}
	return append(append(all, durableSettings...), "wal_compression="+compression)
}

// compression is the best wal_compression these programs were built with; the
// page images after a checkpoint are most of the log of a busy hour.
func (c *cluster) compression(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	probe := c.account.command(ctx, c.programs, c.base, "postgres", "-D", c.data(), "-c", "wal_compression=lz4", "-C", "wal_compression")
	if probe.Run() != nil {
		return "on"
	}
	return "lz4"
}

// commonSettings hold for every server. Errors are not logged at all
// (log_min_messages=log leaves LOG, FATAL and PANIC): the client has them
// anyway, and a text such as `invalid input syntax for type numeric: "..."`
// would put a value into a file. The other log settings stand in depth behind it.
var commonSettings = []string{
	"listen_addresses=", // no port, so no clash and no stranger
	"port=5432",
	"unix_socket_permissions=0700",
	"max_connections=100",
	"cluster_name=ipn-receiver",
	"jit=off", // needs a library that fetched programs lack; our queries are short
	// GMT is the one zone that a server without the system's zone files knows.
	"timezone=GMT",
	"log_timezone=GMT",
	"logging_collector=off",
	"log_destination=stderr",
	"log_line_prefix=%m [%p] ",
	"log_min_messages=log",
	"log_min_error_statement=panic",
	"log_error_verbosity=terse",
	"log_parameter_max_length=0",
	"log_parameter_max_length_on_error=0",
	"log_statement=none",
	"log_min_duration_statement=-1",
}

// durableSettings are the defaults that a commit depends on, said aloud, so that
// no edited postgresql.conf takes them away.
var durableSettings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on"}

// forgetfulSettings trade every promise for speed.
var forgetfulSettings = []string{
	"fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "log_checkpoints=off",
}

// pidFile is what the server writes about itself.
func (c *cluster) pidFile() string { return filepath.Join(c.data(), "postmaster.pid") }
