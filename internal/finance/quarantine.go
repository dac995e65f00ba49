package finance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func (o *Office) registerQuarantine(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-quarantine", Method: http.MethodGet, Path: "/api/v1/quarantine", Tags: []string{"quarantine"},
		Summary:     "List the posts that wait in quarantine, newest first",
		Description: "verifiable tells what a promotion would come to now: true, or false with the reason.",
	}, o.listQuarantine)
	huma.Register(api, huma.Operation{
		OperationID: "promote-quarantined", Method: http.MethodPost, Path: "/api/v1/quarantine/{id}/promote", Tags: []string{"quarantine"},
		Summary:     "Verify a quarantined post again and, if it is good now, record it as an event",
		Description: "For posts that were refused while the key was set wrong, or that an older decoder could not read. It happens once: a second promotion answers 404.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, o.promote)
}

// quarantinedView is an entry as the API shows it.
type quarantinedView struct {
	ID         int64           `json:"id"`
	Reason     ipn.Reason      `json:"reason" doc:"Why the post is here"`
	Detail     string          `json:"detail,omitempty"`
	Answered   int             `json:"answered" doc:"The status the sender got; 200 means that it will not send again"`
	Verifiable bool            `json:"verifiable" doc:"Whether a promotion would be accepted now"`
	Obstacle   ipn.Reason      `json:"obstacle,omitempty" doc:"Why it would not"`
	Digest     string          `json:"digest"`
	Size       int             `json:"size" doc:"Bytes of the body"`
	ReceivedAt time.Time       `json:"receivedAt"`
	Fields     json.RawMessage `json:"fields"`
}

type quarantinePage struct {
	Body struct {
		Items      []quarantinedView `json:"items"`
		NextCursor int64             `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listQuarantine(ctx context.Context, in *struct {
	Cursor int64 `query:"cursor" minimum:"0" doc:"nextCursor of the page before"`
	Limit  int   `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*quarantinePage, error) {
	entries, err := o.Quarantine.InQuarantine(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, problem(err)
	}
	page := &quarantinePage{}
	if len(entries) > in.Limit {
		entries = entries[:in.Limit]
		page.Body.NextCursor = entries[in.Limit-1].ID
	}
	page.Body.Items = make([]quarantinedView, len(entries))
	for i, q := range entries {
		receipt, obstacle := o.Judge.Reverify(q)
		page.Body.Items[i] = quarantinedView{
			ID: q.ID, Reason: q.Reason, Detail: q.Detail, Answered: q.Answered, Verifiable: receipt != nil, Obstacle: obstacle,
			Digest: q.Digest.String(), Size: len(q.Raw), ReceivedAt: q.ReceivedAt.UTC(), Fields: o.fields(q.Raw, q.Headers),
		}
	}
	return page, nil
}

type promotion struct {
	Body struct {
		EventID  int64       `json:"eventId"`
		Outcome  ipn.Outcome `json:"outcome"`
		Receipts int64       `json:"receipts"`
	}
}

func (o *Office) promote(ctx context.Context, in *eventID) (*promotion, error) {
	q, err := o.Quarantine.Quarantined(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	receipt, obstacle := o.Judge.Reverify(q)
	if receipt == nil {
		return nil, huma.Error409Conflict("the post cannot be promoted: " + string(obstacle))
	}
	recorded, err := o.Quarantine.Promote(ctx, in.ID, receipt)
	var refused *ipn.RefusedError
	if errors.As(err, &refused) {
		return nil, huma.Error409Conflict("the database refuses the post, SQLSTATE " + refused.SQLState)
	}
	if err != nil {
		return nil, problem(err)
	}
	answer := &promotion{}
	answer.Body.EventID, answer.Body.Outcome, answer.Body.Receipts = recorded.EventID, recorded.Outcome, recorded.Receipts
	return answer, nil
}
