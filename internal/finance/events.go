package finance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func (o *Office) registerEvents(api huma.API) {
	o.registerEventLists(api)
	huma.Register(api, huma.Operation{
		OperationID: "get-event", Method: http.MethodGet, Path: "/api/v1/events/{id}", Tags: []string{"events"}, Metadata: access.Needs(access.See),
		Summary:     "Show one event with its typed details, every field, its variants and what became of it at each handler",
		Description: "Values of personal fields are masked. handlers is empty where no handler runs. The state before says that the handler began behind the event and was never asked about it.",
	}, o.getEvent)
}

// storable tells whether the database could hold the text; what it cannot hold, it cannot be asked for.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// parseTime reads an instant or a day, the zero time from "". The error names the location, such as query.from.
func parseTime(location, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, mend := ask.Time(text)
	if mend != "" {
		return time.Time{}, invalid(location, mend)
	}
	return at, nil
}

const mendCursor = "pass nextCursor of the page before, unchanged, and the same filters"

func badCursor() error { return invalid("query.cursor", mendCursor) }

// invalid names the part of a request that cannot be answered, and says how to mend it.
func invalid(location, mend string) error {
	return huma.Error422UnprocessableEntity("validation failed", &huma.ErrorDetail{Message: mend, Location: location})
}

// problem maps the record's errors to what a caller is told; the operator reads the chain in the log.
func problem(err error) error {
	if errors.Is(err, ipn.ErrNotFound) {
		return huma.Error404NotFound(nothingHere)
	}
	return huma.Error503ServiceUnavailable(recordAway)
}

type eventID struct {
	ID int64 `path:"id" minimum:"1" doc:"As lists have it"`
}

type eventAnswer struct{ Body eventDetail }

func (o *Office) getEvent(ctx context.Context, in *eventID) (*eventAnswer, error) {
	event, err := o.History.Event(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	variants, err := o.History.Variants(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	var handlings []ipn.Handling
	if o.Handlers != nil {
		if handlings, err = o.Handlers.Handlings(ctx, in.ID); err != nil {
			return nil, problem(err)
		}
	}
	return &eventAnswer{Body: o.detail(event, variants, handlings)}, nil
}
