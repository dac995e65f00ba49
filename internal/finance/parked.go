package finance

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerParked adds the list of what failed, and the way to have it tried again.
func (o *Office) registerParked(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-parked", Method: http.MethodGet, Path: "/api/v1/parked", Tags: []string{"handlers"},
		Summary: "List the events that handlers failed on, by event id",
		Description: "A parked event is tried again at nextAt. A buried one was given up on and waits for somebody to redrive it. " +
			"GET /api/v1/events/{id} tells each attempt.",
	}, o.listParked)
	huma.Register(api, huma.Operation{
		OperationID: "redrive-parked", Method: http.MethodPost, Path: "/api/v1/parked/redrive", Tags: []string{"handlers"},
		Summary: "Let failed events be tried again now, with all their attempts",
		Description: "Fields that are left out do not restrict: only a reason means every parked and buried event of every handler. " +
			"With dryRun they are counted and nothing changes. Kept in the audit, unless it was a dry run.",
		Errors: []int{http.StatusNotFound},
	}, o.redrive)
}

type parkedQuery struct {
	Handler string `query:"handler" maxLength:"255" example:"forward.billing"`
	State   string `query:"state" enum:"parked,buried"`
	Cursor  string `query:"cursor" maxLength:"400" doc:"nextCursor of the page before"`
	Limit   int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type parkedPage struct {
	Body struct {
		Items      []ipn.ParkedEvent `json:"items"`
		NextCursor string            `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

// listParked asks for one entry more than wanted, which tells whether there is a next page.
func (o *Office) listParked(ctx context.Context, in *parkedQuery) (*parkedPage, error) {
	if !storable(in.Handler) {
		return nil, invalid("query.handler", "write it as UTF-8 without NUL")
	}
	q := ipn.ParkedQuestion{Handler: in.Handler, State: ipn.EventState(in.State), Limit: in.Limit + 1}
	if in.Cursor != "" {
		var ok bool
		if q.After, q.AfterHandler, ok = decodeEntryCursor(in.Cursor); !ok {
			return nil, badCursor()
		}
	}
	parked, err := o.Handlers.ParkedEvents(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	page := &parkedPage{}
	if len(parked) > in.Limit {
		parked = parked[:in.Limit]
		page.Body.NextCursor = encodeEntryCursor(parked[in.Limit-1].EventID, parked[in.Limit-1].Handler)
	}
	page.Body.Items = append([]ipn.ParkedEvent{}, parked...)
	return page, nil
}

// The cursor of a list that may hold an event several times is the last entry of a page: the event's id, then the word
// that tells its entries apart, such as the handler.
func encodeEntryCursor(eventID int64, word string) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(eventID))
	return base64.RawURLEncoding.EncodeToString(append(raw, word...))
}

func decodeEntryCursor(text string) (eventID int64, word string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < 9 {
		return 0, "", false
	}
	eventID, word = int64(binary.BigEndian.Uint64(raw)), string(raw[8:])
	return eventID, word, eventID > 0 && storable(word)
}

type redriveRequest struct {
	Body struct {
		ActBody
		Handler string `json:"handler,omitempty" maxLength:"255" doc:"Only the events of this handler" example:"forward.billing"`
		State   string `json:"state,omitempty" enum:"parked,buried" doc:"Only the events in this state"`
		EventID int64  `json:"eventId,omitempty" minimum:"1" doc:"Only this event"`
		DryRun  bool   `json:"dryRun,omitempty" doc:"Count and change nothing"`
	}
}

type redriveAnswer struct {
	Body struct {
		Events int64 `json:"events" doc:"Failed events that are due now, counted for each handler"`
		DryRun bool  `json:"dryRun"`
	}
}

// redrive needs no dry run first: trying again is what would have happened anyway, only later.
func (o *Office) redrive(ctx context.Context, in *redriveRequest) (*redriveAnswer, error) {
	b := &in.Body
	act, err := b.act()
	if err != nil {
		return nil, err
	}
	if !storable(b.Handler) {
		return nil, actProblem(ipn.ErrNotFound)
	}
	redrive := ipn.Redrive{Handler: b.Handler, State: ipn.EventState(b.State), EventID: b.EventID, DryRun: b.DryRun}
	events, err := o.Handlers.RedriveParked(ctx, redrive, act)
	if err != nil {
		return nil, actProblem(err)
	}
	answer := &redriveAnswer{}
	answer.Body.Events, answer.Body.DryRun = events, b.DryRun
	return answer, nil
}
