package finance

import (
	"context"
	"errors"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ListEvents returns a page of the events that are asked for, without their bodies, and the cursor of the next page, "" on the
// last. The error is a problem of the API: 422 for a cursor that was not given out for this question.
func (o *Office) ListEvents(ctx context.Context, q *ask.Query) ([]ipn.Stored, string, error) {
	if err := o.Cursors.Resume(ctx, q); errors.Is(err, ask.ErrCursor) {
		return nil, "", badCursor()
	} else if err != nil {
		return nil, "", problem(err)
	}
	question := q.Question
	question.Limit++ // one more than asked for tells whether there is a next page
	question.FactsOnly = true
	events, err := o.History.Events(ctx, question)
	if err != nil {
		return nil, "", problem(err)
	}
	if len(events) < question.Limit {
		return events, "", nil
	}
	events = events[:q.Limit]
	next, err := o.Cursors.After(ctx, q, events[q.Limit-1].Position(q.Order))
	if err != nil {
		return nil, "", problem(err)
	}
	return events, next, nil
}

// resumeBelow reads the cursor of a list that goes down by ids: the id to go on below, 0 without a cursor. Errors are fit to
// be shown.
func (o *Office) resumeBelow(ctx context.Context, list, cursor string) (before int64, err error) {
	err = o.resume(ctx, list, nil, cursor, &before)
	return before, err
}

// turnBelow makes the cursor of the page below an id, "" for 0. Errors are fit to be shown.
func (o *Office) turnBelow(ctx context.Context, list string, id int64) (string, error) {
	if id == 0 {
		return "", nil
	}
	next, err := o.Cursors.Seal(ctx, list, nil, id)
	if err != nil {
		return "", problem(err)
	}
	return next, nil
}
