package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// act does what an operator asks for, in one transaction with its entry in the audit; what do returns are the details
// of the entry. The leaders are woken, so that they notice at once. Errors are those of known, and ipn.ErrLed.
func (s *Store) act(ctx context.Context, action, handler string, act ipn.Act, do func(pgx.Tx) (any, error)) error {
	return s.patiently(ctx, func(tx pgx.Tx) error {
		details, err := do(tx)
		if err != nil {
			return err
		}
		if err := Witness(ctx, tx, action, handler, act, details); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "select pg_notify($1, '')", logChannel)
		return err
	})
}

// patiently runs do in a transaction that may take a minute for each statement: a replay looks at the whole log.
func (s *Store) patiently(ctx context.Context, do func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.queries, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = '60s'"); err != nil {
			return err
		}
		return do(tx)
	})
	return plainOr(err)
}

// plainOr returns the errors that an act may end with as they are, and any other as one of those of known.
func plainOr(err error) error {
	for _, plain := range []error{nil, ipn.ErrNotFound, ipn.ErrLed, errNoReason} {
		if errors.Is(err, plain) {
			return plain
		}
	}
	return known(err)
}

// WitnessAct adds an entry to the audit for what is no change of the record: a look at what is hidden, a list taken along.
// It is to be asked for before the thing is done, so that what has no entry does not happen. details is anything that JSON
// makes an object of, or nil; it holds no personal data. It fails with ipn.ErrUnavailable, and when actor or reason are
// missing.
func (s *Store) WitnessAct(ctx context.Context, action string, act ipn.Act, details any) error {
	if details == nil {
		details = struct{}{}
	}
	return s.witnessed(ctx, func(tx pgx.Tx) error { return Witness(ctx, tx, action, "", act, details) })
}

// witnessed runs do in a transaction, for acts that wake nobody.
func (s *Store) witnessed(ctx context.Context, do func(pgx.Tx) error) error {
	return plainOr(pgx.BeginFunc(ctx, s.queries, do))
}

var errNoReason = errors.New("an act needs an actor and a reason")

// Witness adds an entry to the audit within the transaction of the act. handler is empty for an act on all. details is
// anything that JSON makes an object of; it holds no personal data.
func Witness(ctx context.Context, tx pgx.Tx, action, handler string, act ipn.Act, details any) error {
	actor, reason := strings.TrimSpace(storableText(act.Actor, maxName)), strings.TrimSpace(storableText(act.Reason, maxReason))
	if actor == "" || reason == "" {
		return errNoReason
	}
	text, err := json.Marshal(details)
	if err != nil {
		return fmt.Errorf("encode the details: %w", err)
	}
	_, err = tx.Exec(ctx, "insert into audit (actor, action, handler, reason, details) values ($1, $2, $3, $4, $5)",
		actor, action, textOrNull(handler), reason, text)
	return err
}

// Audit returns at most limit entries, newest first, below the id before (0: from the newest). It fails with
// ipn.ErrUnavailable.
func (s *Store) Audit(ctx context.Context, before int64, limit int) ([]ipn.AuditEntry, error) {
	rows, err := s.queries.Query(ctx, `
		select id, at, actor, action, coalesce(handler, '') as handler, reason, nullif(details, '{}') as details
		from audit where $1 = 0 or id < $1 order by id desc limit $2`, before, max(limit, 1))
	if err != nil {
		return nil, known(err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[ipn.AuditEntry])
	if err != nil {
		return nil, known(err)
	}
	for i := range entries {
		entries[i].At = entries[i].At.UTC()
	}
	return entries, nil
}
