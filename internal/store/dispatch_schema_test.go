package store_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestImpossibleStatesOfAHandlerAreRefused(t *testing.T) {
	t.Parallel()
	dsn, _ := aHandlerThatStands(t)
	const attempt = "insert into attempts (handler, event_id, number, at, took_ms, result, error) values "
	tests := []struct{ name, statement, sqlState string }{
		{"a handler without a name", "insert into handler_cursors (handler, kind, position, started) values ('', 'sink', 0, 0)", "23514"},
		{"a kind nobody knows", "update handler_cursors set kind = 'drain'", "23514"},
		{"a cursor before its beginning", "update handler_cursors set position = 0", "23514"},
		{"a beginning before the log", "update handler_cursors set started = -1", "23514"},
		{"a leader since never", "update handler_cursors set leader = 'here:1'", "23514"},
		{"a pause without a reason", "update handler_cursors set paused_at = now()", "23514"},
		{"a hold since never", "update handler_cursors set held_because = '503'", "23514"},
		{"an epoch before the first", "update handler_cursors set epoch = 0", "23514"},
		{"a failure of no handler", "insert into parked values ('nobody', 4, 'parked', 1, now(), now(), '')", "23503"},
		{"a failure of no event", "insert into parked values ('forward.billing', 4711, 'parked', 1, now(), now(), '')", "23503"},
		{"a state nobody knows", "update parked set state = 'lost'", "23514"},
		{"a parked event that is never due", "update parked set next_at = null where state = 'parked'", "23514"},
		{"a buried event that is due", "update parked set next_at = now() where state = 'buried'", "23514"},
		{"an event that was buried untried", "update parked set attempts = 0 where state = 'buried'", "23514"},
		{"an endless error", "update parked set last_error = repeat('x', 501)", "23514"},
		{"an attempt before the first", attempt + "('forward.billing', 4, 0, now(), 0, 'failed', '')", "23514"},
		{"an attempt of negative length", attempt + "('forward.billing', 4, 1, now(), -1, 'failed', '')", "23514"},
		{"a result nobody knows", attempt + "('forward.billing', 4, 1, now(), 0, 'lost', '')", "23514"},
		{"a success with an error", attempt + "('forward.billing', 4, 1, now(), 0, 'done', '')", "23514"},
		{"a failure without one", attempt + "('forward.billing', 4, 1, now(), 0, 'failed', null)", "23514"},
		{"an act of nobody", "insert into audit (actor, action, reason) values ('', 'pause', 'why')", "23514"},
		{"an act without a reason", "insert into audit (actor, action, reason) values ('api', 'pause', '')", "23514"},
		{"an act that is no word", "insert into audit (actor, action, reason) values ('api', 'Pause!', 'why')", "23514"},
		{"details that are no object", "insert into audit (actor, action, reason, details) values ('api', 'pause', 'why', '[]')", "23514"},
	}
	conn := connect(t, dsn)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := conn.Exec(t.Context(), tc.statement)
			var refused *pgconn.PgError
			if !errors.As(err, &refused) || refused.Code != tc.sqlState {
				t.Errorf("got %v, want SQLSTATE %s", err, tc.sqlState)
			}
		})
	}
}
