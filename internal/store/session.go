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

// leadSession are the settings under which a session loses the lead within the five seconds that a takeover may take,
// when its process is frozen or its network gone: the server ends it, and with it the advisory lock. The heartbeat of
// the leader comes each second. The last four do nothing on a local socket.
var leadSession = map[string]string{
	"idle_session_timeout":                "3000",
	"idle_in_transaction_session_timeout": "4000",
	"statement_timeout":                   "30000",
	"tcp_keepalives_idle":                 "2",
	"tcp_keepalives_interval":             "1",
	"tcp_keepalives_count":                "2",
	"tcp_user_timeout":                    "4000",
}

// listenSession are the settings of a session that waits for notifications: it is idle all the time.
var listenSession = map[string]string{"idle_in_transaction_session_timeout": "4000", "statement_timeout": "5000"}

// unknownSetting is what a server answers that does not know idle_session_timeout, which came with PostgreSQL 14.
const unknownSetting = "42704"

var errTooOld = errors.New("the server is older than PostgreSQL 14, which handlers need")

// connect opens a connection outside the pools, since its session carries a lock or a subscription. It has the role, the
// hosts and the guard of the pools. A context that ends cancels the statement and leaves the connection usable.
func (s *Store) connect(ctx context.Context, purpose string, session map[string]string) (*pgx.Conn, error) {
	config := s.queries.Config().ConnConfig
	config.RuntimeParams["application_name"] = "ipn-receiver " + purpose
	for name, value := range session {
		config.RuntimeParams[name] = value
	}
	config.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3}}).DialContext
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
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
