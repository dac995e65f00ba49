package store

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// permanentClasses are the SQLSTATE classes that judge the row, not the server: the same row fails for ever.
// Everything else (08, 40, 53, 55, 57, 25006, and also 42 and XX, which somebody must mend) may pass another time.
var permanentClasses = map[string]bool{
	"22": true, // data exception
	"23": true, // integrity constraint violation; the identity's own conflict never surfaces, it is handled
	"54": true, // program limit exceeded
}

// serverClasses are the SQLSTATE classes that no row is to blame for: connection, rollback, resources, locks, operator
// intervention, system, and the read-only state of a standby.
var serverClasses = map[string]bool{"08": true, "25": true, "40": true, "53": true, "55": true, "57": true, "58": true}

// mayBlameRow tells whether another row might have gone through: the server answered, and not that it is in trouble.
func mayBlameRow(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && len(pg.Code) == 5 && !serverClasses[pg.Code[:2]]
}

// refused returns the *ipn.RefusedError for an error that no repeat can mend, or nil.
func refused(err error) *ipn.RefusedError {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || len(pg.Code) != 5 || !permanentClasses[pg.Code[:2]] {
		return nil
	}
	return &ipn.RefusedError{SQLState: pg.Code}
}

// unavailable turns any other error into ipn.ErrUnavailable with a reason that holds no data: the server's messages
// quote values, so only the SQLSTATE is told.
func unavailable(err error) error {
	return fmt.Errorf("%w: %w", ipn.ErrUnavailable, plainly(err))
}

// plainly reduces an error to what may be shown: an *UnsafeError, an old server, a SQLSTATE, or the kind of network trouble.
func plainly(err error) error {
	var unsafe *UnsafeError
	var pg *pgconn.PgError
	var op *net.OpError
	switch {
	case errors.As(err, &unsafe):
		return unsafe
	case errors.Is(err, errTooOld):
		return errTooOld
	case errors.As(err, &pg):
		return fmt.Errorf("SQLSTATE %s", pg.Code)
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errors.New("no answer in time")
	default:
		return errors.New("the connection was lost")
	}
}

// known turns any error of a query into one of the errors this room promises.
func known(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ipn.ErrNotFound
	}
	if refusal := refused(err); refusal != nil {
		return refusal
	}
	return unavailable(err)
}
