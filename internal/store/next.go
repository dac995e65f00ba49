package store

import (
	"context"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Next returns at most limit events behind the cursor, in commit order. Of the payload it reads what the handler asked
// for; Variants is not counted. It fails with ipn.ErrUnavailable.
func (l *Lead) Next(ctx context.Context, limit int) ([]ipn.Stored, error) {
	if err := l.begin(ctx); err != nil {
		return nil, err
	}
	defer l.end()
	events, err := readEvents(ctx, l.conn, "select "+factColumns+" from events e where e.id > $1 order by e.id limit $2", l.Position(), limit)
	if err == nil && l.bodies {
		err = addPayloads(ctx, l.conn, pointersTo(events))
	}
	return events, err
}

// Due returns at most limit parked events that are due by the database's clock, the longest due first. When there is
// none it returns how long until the next one is, which is 0 when none is parked. It fails with ipn.ErrUnavailable.
func (l *Lead) Due(ctx context.Context, limit int) (due []ipn.Due, wait time.Duration, err error) {
	if err := l.begin(ctx); err != nil {
		return nil, 0, err
	}
	defer l.end()
	var micros *int64
	if err := l.conn.QueryRow(ctx, `
		select ceil(extract(epoch from min(next_at) - now()) * 1000000)::bigint from parked where handler = $1 and state = 'parked'`,
		l.handler).Scan(&micros); err != nil {
		return nil, 0, unavailable(err)
	}
	if micros == nil {
		return nil, 0, nil
	}
	if *micros > 0 {
		return nil, time.Duration(*micros) * time.Microsecond, nil
	}
	due, err = l.readDue(ctx, limit)
	return due, 0, err
}

type dueRow struct {
	eventRow
	Attempts      int
	FirstFailedAt time.Time
}

func (l *Lead) readDue(ctx context.Context, limit int) ([]ipn.Due, error) {
	const isDue = " join parked k on k.event_id = e.id where k.handler = $1 and k.state = 'parked' and k.next_at <= now() order by k.next_at, k.event_id limit $2"
	var row dueRow
	places := row.places()
	places["attempts"], places["first_failed_at"] = &row.Attempts, &row.FirstFailedAt
	var due []ipn.Due
	err := readRows(ctx, l.conn, places, func() error {
		event, err := row.stored()
		due, row = append(due, ipn.Due{Stored: event, Attempts: row.Attempts, FirstFailedAt: row.FirstFailedAt.UTC()}), dueRow{}
		return err
	}, "select "+factColumns+", k.attempts, k.first_failed_at from events e"+isDue, l.handler, limit)
	if err != nil || !l.bodies {
		return due, err
	}
	events := make([]*ipn.Stored, len(due))
	for i := range due {
		events[i] = &due[i].Stored
	}
	return due, addPayloads(ctx, l.conn, events)
}
