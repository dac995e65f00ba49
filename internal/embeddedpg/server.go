package embeddedpg

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// superuser is the one role of the cluster. The socket's directory is the lock
// on the door, so the role has no password.
const superuser = "postgres"

// socketName is the socket in its directory.
const socketName = "/.s.PGSQL.5432"

// A Server is a running private server. Its methods may be called from any
// goroutine.
type Server struct {
	process   *process
	done      chan struct{}
	socketDir string
	version   string
	durable   bool
}

// Start finds PostgreSQL (see Config), makes the cluster if cfg.Dir has none,
// starts the server and returns when it answers and cfg.Database exists. A
// server that ended in any way is started again by another Start on the same
// Dir, after crash recovery where needed. The server does not end with ctx,
// which bounds only the start; call Stop.
//
// It fails with a *NotFoundError when there is no PostgreSQL, with a text that
// names the process when another one uses Dir, and never makes a second cluster
// because the first was made by another major version.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	return start(ctx, cfg)
}

// DSN is the URL of a database of the server. The database need not exist.
func (s *Server) DSN(database string) string { return dsn(s.socketDir, database) }

func dsn(socketDir, database string) string {
	// pgx and libpq read a "+" as itself.
	host := strings.ReplaceAll(url.QueryEscape(socketDir), "+", "%20")
	return "postgres://" + superuser + "@/" + url.PathEscape(database) + "?host=" + host
}

// PsqlCommand is what a person types to look into a database of the server.
func (s *Server) PsqlCommand(database string) string {
	return fmt.Sprintf("psql -h %s -U %s %s", shellWord(s.socketDir), superuser, shellWord(database))
}

// SocketDir is the directory of the unix socket: the host of a connection.
func (s *Server) SocketDir() string { return s.socketDir }

// Version is the server's, such as "15.18".
func (s *Server) Version() string { return s.version }

// PID is the process of the server, for tests that stop or kill it.
func (s *Server) PID() int { return s.process.pid() }

// Done is closed when the server has ended, by itself or by Stop, and its
// directory may be used again.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server and returns when it has ended: connections are cut, and
// a durable server writes a checkpoint first. When ctx ends before the server
// does, the server is killed, which loses nothing that was committed durably. A
// server that has ended already is no error.
func (s *Server) Stop(ctx context.Context) error {
	err := s.process.stop(ctx, s.durable)
	<-s.done
	return err
}

// milliseconds is the time since start, as log lines tell it.
func milliseconds(start time.Time) int64 { return time.Since(start).Milliseconds() }

// shellWord quotes a word for a shell where it needs it.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "/.-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
