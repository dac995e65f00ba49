package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// People writes the index that events are found in by their people's e-mail addresses and names. It holds tokens and no
// names; the key that they are made with is not in the database.
type People struct {
	Key     ipn.PersonKey
	Decoder *ipn.Decoder
}

// Project puts the people of a batch of events into the index, to be run in the transaction that moves the cursor; it needs
// bodies. Doing it again changes nothing, and under another key replaces what the events had: a replay of all events
// writes the index anew. Events whose bodies were dropped keep what was written of them. Errors are the database's.
func (p People) Project(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
	var read, ids []int64
	var tokens [][]byte
	for i := range events {
		e := &events[i]
		if e.Raw == nil {
			continue
		}
		read = append(read, e.ID)
		for _, token := range p.Key.Of(p.Decoder.Decode(e.Raw, e.Headers["content-type"])) {
			tokens, ids = append(tokens, token[:]), append(ids, e.ID)
		}
	}
	if len(read) == 0 {
		return nil
	}
	// Planned anew each time: a plan made while the table was empty would read all of it.
	if _, err := tx.Exec(ctx, `
		delete from people where event_id = any($1) and (token, event_id) not in (select * from unnest($2::bytea[], $3::bigint[]))`,
		pgx.QueryExecModeCacheDescribe, read, tokens, ids); err != nil {
		return fmt.Errorf("remove old tokens: %w", err)
	}
	if _, err := tx.Exec(ctx, "insert into people (token, event_id) select * from unnest($1::bytea[], $2::bigint[]) on conflict do nothing",
		tokens, ids); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}
