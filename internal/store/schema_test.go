package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// saidByTheirName are columns that a comment could only repeat, or that the comment of another table explains.
const saidByTheirName = `(^|\.)(id|event_id|identity|digest|content_digest|raw|fields|headers|peer|key_id|verification|receipts|received_at|last_received_at|promoted_at)$`

func TestTheSchemaExplainsItself(t *testing.T) {
	t.Parallel()
	silent := ask[string](t, pgtest.New(t), `
		select coalesce(string_agg(c.relname || coalesce('.' || a.attname, ''), ' ' order by 1), '')
		from pg_class c left join lateral (
			select attnum, attname from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attname !~ $1 union all select 0, null
		) a on true
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like 'goose%'
			and col_description(c.oid, a.attnum) is null and (a.attnum > 0 or obj_description(c.oid, 'pg_class') is null)`, saidByTheirName)
	if silent != "" {
		t.Errorf("without a comment: %s", silent)
	}
}

func TestImpossibleRowsAreRefused(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	event := mustRecord(t, running(t, dsn), charge("R1")).EventID
	keep(t, open(t, dsn), dsn, quarantined(ipn.ReasonNoFields, 200, "x"))
	const variant = `insert into variants (event_id, digest, content_digest, raw, fields, headers, verification, received_at, last_received_at)
		values (%s, sha256(''), sha256(''), '', %s, '{}', %s, now(), now())`
	tests := []struct{ name, statement, sqlState string }{
		{"an id by hand", "update events set id = 7", "428C9"},
		{"a short identity", "update events set identity = 'short'", "23514"},
		{"an empty reference number", "update events set reference_number = ''", "23514"},
		{"a reference number that is too long", "update events set reference_number = repeat('é', 128)", "23514"},
		{"a currency in small letters", "update events set currency = 'eur'", "23514"},
		{"a currency with a line end", `update events set currency = E'EUR\n'`, "23514"},
		{"an empty state", "update events set state = ''", "23514"},
		{"a state that is too long", "update events set state = repeat('é', 128)", "23514"},
		{"a second key of cursors", "insert into cursor_key (key) values (sha256(''))", "23505"},
		{"a short key of cursors", "update cursor_key set key = 'short'", "23514"},
		{"problems that are no list", "update events set problems = '{}'", "23514"},
		{"a voucher nobody knows", "update events set verification = 'hearsay'", "23514"},
		{"an event that was never received", "update events set receipts = 0", "23514"},
		{"a last receipt before the first", "update events set last_received_at = received_at - interval '1 s'", "23514"},
		{"an event without a digest", "update events set digest = null", "23502"},
		{"a time of listing by hand", "update events set sorted_at = now()", "428C9"},
		{"fields that are no object", "update payloads set fields = '[]'", "23514"},
		{"headers that are no object", "update payloads set headers = '[]'", "23514"},
		{"a payload without a body", "update payloads set raw = null", "23502"},
		{"a second payload of an event", "insert into payloads select * from payloads", "23505"},
		{"a variant of no event", fmt.Sprintf(variant, "0", "'{}'", "'off'"), "23503"},
		{"a variant whose fields are no object", fmt.Sprintf(variant, fmt.Sprint(event), "'[]'", "'off'"), "23514"},
		{"a variant nobody knows who vouched for", fmt.Sprintf(variant, fmt.Sprint(event), "'{}'", "'hearsay'"), "23514"},
		{"a quarantine reason nobody knows", "update quarantine set reason = 'mood'", "23514"},
		{"an answer that leads to no quarantine", "update quarantine set answered = 503", "23514"},
		{"an empty detail", "update quarantine set detail = ''", "23514"},
		{"a promotion to no event", "update quarantine set promoted_at = now()", "23514"},
		{"a promotion at no time", fmt.Sprintf("update quarantine set promoted_event_id = %d", event), "23514"},
		{"a promotion before the receipt", fmt.Sprintf("update quarantine set promoted_at = received_at - interval '1 s', promoted_event_id = %d", event), "23514"},
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

func TestTheSchemaKnowsTheWordsOfTheProgram(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	mustRecord(t, running(t, dsn), charge("R1"))
	conn := connect(t, dsn)
	for _, vouched := range []ipn.Vouched{ipn.VouchedSignature, ipn.VouchedAuthKey, ipn.VouchedPromoted, ipn.VouchedUnsigned, ipn.VouchedFailed, ipn.VouchedOff} {
		if _, err := conn.Exec(t.Context(), "update events set verification = $1", string(vouched)); err != nil {
			t.Errorf("%s: %v", vouched, err)
		}
	}
}
