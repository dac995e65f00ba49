package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// AddConfigurationPush records a look at the notification configuration; ID and At are given by the database. It fails
// with ipn.ErrUnavailable, or with an *ipn.RefusedError for a row that the schema does not take, such as one with an
// unknown result.
func (s *Store) AddConfigurationPush(ctx context.Context, p ipn.ConfigurationPush) error {
	changes, err := json.Marshal(append([]ipn.ConfigurationChange{}, p.Changes...))
	if err != nil {
		return fmt.Errorf("encode the changes: %w", err)
	}
	reason := storableText(p.Error, maxError)
	if p.Result == ipn.ConfigurationFailed {
		reason = cmp.Or(reason, "no reason was given")
	}
	_, err = s.queries.Exec(ctx, `
		insert into configuration_pushes (process, trigger, result, desired, before, after, changes, error)
		values ($1, $2, $3, $4::text::json, $5::text::json, $6::text::json, $7::text::json, $8)`,
		cmp.Or(storableText(p.Process, maxName), "unnamed"), p.Trigger, p.Result,
		documentOrNull(p.Desired), documentOrNull(p.Before), documentOrNull(p.After), string(changes), textOrNull(reason))
	if err != nil {
		return known(err)
	}
	return nil
}

// documentOrNull makes a document one that the database can hold: a text in UTF-8, or null.
func documentOrNull(document json.RawMessage) *string {
	return textOrNull(strings.ToValidUTF8(string(document), "\uFFFD"))
}

// ConfigurationPushes returns at most limit looks, newest first, below the id before (0: from the newest). It fails with
// ipn.ErrUnavailable.
func (s *Store) ConfigurationPushes(ctx context.Context, before int64, limit int) ([]ipn.ConfigurationPush, error) {
	rows, err := s.queries.Query(ctx, `
		select id, at, process, trigger, result, desired, before, after, changes, coalesce(error, '') as error
		from configuration_pushes where $1 = 0 or id < $1 order by id desc limit $2`, before, max(limit, 1))
	if err != nil {
		return nil, known(err)
	}
	pushes, err := pgx.CollectRows(rows, pgx.RowToStructByName[ipn.ConfigurationPush])
	if err != nil {
		return nil, known(err)
	}
	for i := range pushes {
		pushes[i].At = pushes[i].At.UTC()
	}
	return pushes, nil
}

// How a process waits for its turn and shows that it is still at it. A holder that does not show it for the three
// seconds of leadSession is cut off by the server.
const (
	configuringPoll = 500 * time.Millisecond
	configuringBeat = time.Second
)

// AloneConfiguring calls do while no other process of this database is in AloneConfiguring, and waits for its turn as
// long as ctx lives. The turn rests on an advisory lock in a session of its own, so a process that died or froze holds
// nobody up for more than a few seconds. The context of do ends when the turn is lost with the session; do then returns
// soon, having made sure of nothing. It fails with ipn.ErrUnavailable when the turn cannot be had, or when do fails after
// the turn was lost; else with what do fails with.
func (s *Store) AloneConfiguring(ctx context.Context, do func(ctx context.Context) error) error {
	conn, err := s.awaitTurn(ctx)
	if err != nil {
		return err
	}
	turn, lose := context.WithCancelCause(ctx)
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		if err := keepTurn(turn, conn); err != nil {
			lose(unavailable(err))
		}
	}()
	err = do(turn)
	lost := context.Cause(turn)
	lose(nil)
	closeAtOnce(conn) // also ends a heartbeat that waits for its answer
	<-beating
	if err != nil && lost != nil && ctx.Err() == nil {
		return fmt.Errorf("the turn to configure was lost: %w (%w)", lost, err)
	}
	return err
}

// awaitTurn returns a session that holds the lock. It asks by the pool first, so that those who wait keep no connection.
func (s *Store) awaitTurn(ctx context.Context) (*pgx.Conn, error) {
	wait := time.NewTicker(configuringPoll)
	defer wait.Stop()
	for {
		var taken bool
		if err := s.queries.QueryRow(ctx, "select $1::bigint in ("+heldKeys+")", configLock).Scan(&taken); err != nil {
			return nil, unavailable(err)
		}
		if !taken {
			if conn, err := s.tryTurn(ctx); conn != nil || err != nil {
				return conn, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, unavailable(ctx.Err())
		case <-wait.C:
		}
	}
}

// tryTurn returns nil and no error when another session was faster.
func (s *Store) tryTurn(ctx context.Context) (*pgx.Conn, error) {
	conn, err := s.connect(ctx, "configuring", leadSession)
	if err != nil {
		return nil, unavailable(err)
	}
	var mine bool
	if err = conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", configLock).Scan(&mine); err == nil && mine {
		return conn, nil
	}
	closeAtOnce(conn)
	if err != nil {
		return nil, unavailable(err)
	}
	return nil, nil
}

// keepTurn keeps the session from falling idle until ctx ends; it returns why the session was lost, or nil.
func keepTurn(ctx context.Context, conn *pgx.Conn) error {
	beat := time.NewTicker(configuringBeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
		}
		answer, cancel := context.WithTimeout(ctx, 2*configuringBeat)
		_, err := conn.Exec(answer, "select 1")
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
}
