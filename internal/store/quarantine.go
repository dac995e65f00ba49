package store

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Quarantine keeps a post with all that is needed to judge it again, and reports whether it did: a refused post is let
// go once the bounds are reached. A repeat of an owned post (q.Answered is 200) is counted on the one that is there.
// It fails with ipn.ErrUnavailable.
func (s *Store) Quarantine(ctx context.Context, q *ipn.Quarantined) (kept bool, err error) {
	headers, err := headersJSON(q.Headers)
	if err != nil {
		return false, err
	}
	tag, err := s.intake.Exec(ctx, `
		with held as (select count(*) as rows, coalesce(sum(octet_length(raw)), 0) as bytes from quarantine where promoted_at is null and answered <> 200)
		insert into quarantine (reason, detail, answered, digest, raw, headers, peer, received_at)
		select $1, $2, $3::smallint, $4, $5::bytea, $6, $7, $8 from held
		where $3::smallint = 200 or (held.rows < $9 and held.bytes + octet_length($5::bytea) <= $10)
		on conflict (digest, reason) where answered = 200 do update set receipts = quarantine.receipts + 1`,
		string(q.Reason), textOrNull(storableText(q.Detail, maxDetail)), q.Answered, q.Digest[:], q.Raw, headers, peerOrNull(q.Peer), q.ReceivedAt.UTC().Truncate(time.Microsecond),
		s.quarantineRows, s.quarantineBytes)
	if err != nil {
		return false, unavailable(err)
	}
	return tag.RowsAffected() == 1, nil
}

// What a column of text holds at most, in bytes.
const (
	maxDetail = 255
	maxName   = 255
	maxError  = 500
	maxReason = 1000
)

// storableText cuts a text to limit bytes and replaces what a column cannot hold: a media type comes from a stranger's
// header, an error from anywhere, and neither must cost the row it belongs to.
func storableText(s string, limit int) string {
	s = strings.ToValidUTF8(withoutNUL(s), "\ufffd")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") // a character cut in two goes
	}
	return s
}

const quarantineColumns = "id, reason, coalesce(detail, '') as detail, answered, digest, raw, headers, peer, received_at"

// Quarantined returns one entry that was not promoted yet, or ipn.ErrNotFound.
func (s *Store) Quarantined(ctx context.Context, id int64) (*ipn.Quarantined, error) {
	rows, err := s.queries.Query(ctx, "select "+quarantineColumns+" from quarantine where id = $1 and promoted_at is null", id)
	if err != nil {
		return nil, known(err)
	}
	q, err := pgx.CollectExactlyOneRow(rows, scanQuarantined)
	if err != nil {
		return nil, known(err)
	}
	return q, nil
}

// InQuarantine returns at most limit entries that wait, newest first, below the id before (0: from the newest).
func (s *Store) InQuarantine(ctx context.Context, before int64, limit int) ([]*ipn.Quarantined, error) {
	rows, err := s.queries.Query(ctx, "select "+quarantineColumns+` from quarantine
		where promoted_at is null and ($1 = 0 or id < $1) order by id desc limit $2`, before, max(limit, 1))
	if err != nil {
		return nil, known(err)
	}
	entries, err := pgx.CollectRows(rows, scanQuarantined)
	if err != nil {
		return nil, known(err)
	}
	return entries, nil
}

func scanQuarantined(r pgx.CollectableRow) (*ipn.Quarantined, error) {
	q := &ipn.Quarantined{}
	var reason string
	var digest []byte
	var peer *netip.Addr
	if err := r.Scan(&q.ID, &reason, &q.Detail, &q.Answered, &digest, &q.Raw, &q.Headers, &peer, &q.ReceivedAt); err != nil {
		return nil, err
	}
	q.Reason, q.ReceivedAt = ipn.Reason(reason), q.ReceivedAt.UTC()
	copy(q.Digest[:], digest)
	if peer != nil {
		q.Peer = *peer
	}
	return q, nil
}

// Promote records an entry's receipt as an event and marks the entry, in one transaction with the entry in the audit, and
// once: a second promotion, also at the same moment, gives ipn.ErrNotFound.
func (s *Store) Promote(ctx context.Context, id int64, receipt *ipn.Receipt, act ipn.Act) (ipn.Recorded, error) {
	row, err := rowOf(receipt)
	if err != nil {
		return ipn.Recorded{}, err
	}
	var recorded ipn.Recorded
	err = pgx.BeginFunc(ctx, s.intake, func(tx pgx.Tx) error {
		var locked int64
		if err := tx.QueryRow(ctx, "select id from quarantine where id = $1 and promoted_at is null for update", id).Scan(&locked); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", logLock); err != nil {
			return fmt.Errorf("take the log lock: %w", err)
		}
		var first []byte
		if err := tx.QueryRow(ctx, insertReceipt, row.args...).Scan(&recorded.EventID, &recorded.Receipts, &first); err != nil {
			return err
		}
		recorded.Outcome = outcomeOf(recorded.Receipts, bytes.Equal(first, row.content[:]))
		if _, err := tx.Exec(ctx, "update quarantine set promoted_at = greatest(now(), received_at), promoted_event_id = $2 where id = $1", id, recorded.EventID); err != nil {
			return err
		}
		details := map[string]any{"quarantineId": id, "eventId": recorded.EventID, "outcome": recorded.Outcome}
		if err := Witness(ctx, tx, "promote", "", act, details); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "select pg_notify($1, '')", logChannel)
		return err
	})
	if err != nil {
		return ipn.Recorded{}, plainOr(err)
	}
	return recorded, nil
}

// QuarantineCounts returns how many posts wait in quarantine, by reason; reasons without any are absent. It fails with
// ipn.ErrUnavailable.
func (s *Store) QuarantineCounts(ctx context.Context) (map[ipn.Reason]int64, error) {
	rows, err := s.queries.Query(ctx, "select reason, count(*) from quarantine where promoted_at is null group by reason")
	if err != nil {
		return nil, known(err)
	}
	counts := map[ipn.Reason]int64{}
	var reason string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&reason, &n}, func() error { counts[ipn.Reason(reason)] = n; return nil }); err != nil {
		return nil, known(err)
	}
	return counts, nil
}
