package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerParked adds the list of what failed, and the way to have it tried again.
func (o *Office) registerParked(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-parked", Method: http.MethodGet, Path: "/api/v1/parked", Tags: []string{"handlers"}, Metadata: access.Needs(access.See),
		Summary: "List the events that handlers failed on, by event id",
		Description: "A parked event is tried again at nextAt. A buried one was given up on and waits for somebody to redrive it. " +
			"GET /api/v1/events/{id} tells each attempt.",
	}, o.listParked)
	huma.Register(api, huma.Operation{
		OperationID: "redrive-parked", Method: http.MethodPost, Path: "/api/v1/parked/redrive", Tags: []string{"handlers"}, Metadata: access.Needs(access.Operate),
		Summary: "Let failed events be tried again now, with all their attempts",
		Description: "Fields that are left out do not restrict: only a reason means every parked and buried event of every handler. " +
			"With dryRun they are counted and nothing changes. Kept in the audit, unless it was a dry run.",
		Errors: []int{http.StatusNotFound},
	}, o.redrive)
}

type parkedQuery struct {
	Handler string `query:"handler" maxLength:"255" doc:"Only what this handler failed on" example:"forward.billing"`
	State   string `query:"state" enum:"parked,buried" doc:"parked: tried again at nextAt. buried: given up on"`
	Cursor  string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit   int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type parkedPage struct {
	Body struct {
		Items      []ipn.ParkedEvent `json:"items"`
		NextCursor string            `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listParked(ctx context.Context, in *parkedQuery) (*parkedPage, error) {
	q := ipn.ParkedQuestion{Handler: in.Handler, State: ipn.EventState(in.State), Limit: in.Limit}
	parked, next, err := o.ParkedEvents(ctx, q, in.Cursor)
	if err != nil {
		return nil, err
	}
	page := &parkedPage{}
	page.Body.Items, page.Body.NextCursor = parked, next
	return page, nil
}

// ParkedEvents returns a page of what failed, with at most q.Limit entries behind the cursor of the page before ("": the first
// page), and the cursor of the next page, "" on the last one. The error is a problem of the API: 422 names the parameter.
func (o *Office) ParkedEvents(ctx context.Context, q ipn.ParkedQuestion, cursor string) (parked []ipn.ParkedEvent, next string, err error) {
	if !storable(q.Handler) {
		return nil, "", invalid("query.handler", "write it as UTF-8 without NUL")
	}
	const list = "parked"
	bound, limit, place := q, q.Limit, parkedPlace{}
	bound.Limit, q.Limit = 0, limit+1 // one entry more than wanted tells whether there is a next page
	if err := o.resume(ctx, list, bound, cursor, &place); err != nil {
		return nil, "", err
	}
	q.After, q.AfterHandler = place.EventID, place.Handler
	if parked, err = o.Handlers.ParkedEvents(ctx, q); err != nil {
		return nil, "", problem(err)
	}
	parked, next, err = turn(ctx, o, list, bound, parked, limit, func(p *ipn.ParkedEvent) parkedPlace { return parkedPlace{p.EventID, p.Handler} })
	return append([]ipn.ParkedEvent{}, parked...), next, err
}

// parkedPlace is an entry of the list, which may hold an event several times.
type parkedPlace struct {
	EventID int64
	Handler string
}

type redriveRequest struct{ Body RedriveBody }

// RedriveBody says which failed events are tried again. Exported, because what is embedded is only described if it is.
type RedriveBody struct {
	ActBody
	Handler string `json:"handler,omitempty" maxLength:"255" doc:"Only the events of this handler" example:"forward.billing"`
	State   string `json:"state,omitempty" enum:"parked,buried" doc:"Only the events in this state"`
	EventID int64  `json:"eventId,omitempty" minimum:"1" doc:"Only this event"`
	DryRun  bool   `json:"dryRun,omitempty" doc:"Count and change nothing"`
}

type redriveAnswer struct {
	Body struct {
		Events int64 `json:"events" doc:"Failed events that are due now, counted for each handler"`
		DryRun bool  `json:"dryRun"`
	}
}

func (o *Office) redrive(ctx context.Context, in *redriveRequest) (*redriveAnswer, error) {
	events, err := o.RedriveParked(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	answer := &redriveAnswer{}
	answer.Body.Events, answer.Body.DryRun = events, in.Body.DryRun
	return answer, nil
}

// RedriveParked lets failed events be tried again now, or only counts them, and returns how many. It needs no dry run first:
// trying again is what would have happened anyway, only later. The error is a problem of the API: 404 for a handler that
// nobody knows, 422 without a reason.
func (o *Office) RedriveParked(ctx context.Context, wish *RedriveBody) (int64, error) {
	act, err := wish.act(ctx)
	if err != nil {
		return 0, err
	}
	if !storable(wish.Handler) {
		return 0, actProblem(ipn.ErrNotFound)
	}
	redrive := ipn.Redrive{Handler: wish.Handler, State: ipn.EventState(wish.State), EventID: wish.EventID, DryRun: wish.DryRun}
	events, err := o.Handlers.RedriveParked(ctx, redrive, act)
	if err != nil {
		return 0, actProblem(err)
	}
	return events, nil
}
