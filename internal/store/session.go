package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// session is how a connection of its own is set up.
type session struct {
	settings map[string]string
	// cancels says that a context that ends cancels the statement and leaves the connection usable. Else the connection
	// ends with it, at once: one that only listens has no statement to cancel.
	cancels bool
}

// leadSession is one that loses the lead within the five seconds that a takeover may take,
// when its process is frozen or its network gone: the server ends it, and with it the advisory lock. The heartbeat of
// the leader comes each second. The last four do nothing on a local socket.
var leadSession = session{cancels: true, settings: map[string]string{
	"idle_session_timeout":                "3000",
	"idle_in_transaction_session_timeout": "4000",
	"statement_timeout":                   "30000",
	"tcp_keepalives_idle":                 "2",
	"tcp_keepalives_interval":             "1",
	"tcp_keepalives_count":                "2",
	"tcp_user_timeout":                    "4000",
}}

// listenSession waits for notifications: it is idle all the time.
var listenSession = session{settings: map[string]string{"idle_in_transaction_session_timeout": "4000", "statement_timeout": "5000"}}

// unknownSetting is what a server answers that does not know idle_session_timeout, which came with PostgreSQL 14.
const unknownSetting = "42704"

var errTooOld = errors.New("the server is older than PostgreSQL 14, which handlers need")

// connect opens a connection outside the pools, since its session carries a lock or a subscription. It has the role, the
// hosts and the guard of the pools.
func (s *Store) connect(ctx context.Context, purpose string, as session) (*pgx.Conn, error) {
	config := s.queries.Config().ConnConfig
	config.RuntimeParams["application_name"] = "ipn-receiver " + purpose
	for name, value := range as.settings {
		config.RuntimeParams[name] = value
	}
	config.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3}}).DialContext
	if as.cancels {
		config.BuildContextWatcherHandler = cancelStatement
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, connectError(err)
	}
	if s.guarded() {
		if err := guard(ctx, conn); err != nil {
			closeAtOnce(conn)
			return nil, err
		}
	}
	return conn, nil
}

func cancelStatement(conn *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
}

func connectError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == unknownSetting {
		return errTooOld
	}
	return fmt.Errorf("connect: %w", err)
}

// closeAtOnce closes the socket under a connection, also while another goroutine uses it. The server notices by itself;
// with TLS nothing is said first, since that could block.
func closeAtOnce(conn *pgx.Conn) {
	socket := conn.PgConn().Conn()
	if sealed, ok := socket.(interface{ NetConn() net.Conn }); ok {
		socket = sealed.NetConn()
	}
	_ = socket.Close()
}
