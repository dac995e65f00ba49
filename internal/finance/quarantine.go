package finance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func (o *Office) registerQuarantine(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-quarantine", Method: http.MethodGet, Path: "/api/v1/quarantine", Tags: []string{"quarantine"}, Metadata: access.Needs(access.See),
		Summary:     "List the posts that wait in quarantine, newest first",
		Description: "verifiable tells what a promotion would come to now: true, or false with the reason.",
	}, o.listQuarantine)
	huma.Register(api, huma.Operation{
		OperationID: "promote-quarantined", Method: http.MethodPost, Path: "/api/v1/quarantine/{id}/promote", Tags: []string{"quarantine"}, Metadata: access.Needs(access.Operate),
		Summary:     "Verify a quarantined post again and, if it is good now, record it as an event",
		Description: "For posts that were refused while the key was set wrong, or that an older decoder could not read. It happens once: a second promotion answers 404. Kept in the audit; the body, which says why, may be left out.",
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
	Masked     bool            `json:"masked" doc:"Always true: values of personal fields are masked; reveal them by POST /api/v1/quarantine/{id}/reveal"`
	Fields     json.RawMessage `json:"fields" doc:"Every field of the body by its name as sent; nobody has vouched for what stands there"`
}

type quarantinePage struct {
	Body struct {
		Items      []quarantinedView `json:"items"`
		NextCursor string            `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listQuarantine(ctx context.Context, in *struct {
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*quarantinePage, error) {
	before, err := o.resumeBelow(ctx, "quarantine", in.Cursor)
	if err != nil {
		return nil, err
	}
	entries, next, err := o.InQuarantine(ctx, before, in.Limit)
	if err != nil {
		return nil, err
	}
	page := &quarantinePage{}
	if page.Body.NextCursor, err = o.turnBelow(ctx, "quarantine", next); err != nil {
		return nil, err
	}
	page.Body.Items = make([]quarantinedView, len(entries))
	for i, q := range entries {
		page.Body.Items[i] = quarantinedView{
			ID: q.ID, Reason: q.Reason, Detail: q.Detail, Answered: q.Answered, Verifiable: q.Verifiable, Obstacle: q.Obstacle,
			Digest: q.Digest.String(), Size: len(q.Raw), ReceivedAt: q.ReceivedAt.UTC(), Masked: true, Fields: viewFields(o.Masked(q.Raw, q.Headers)),
		}
	}
	return page, nil
}

// Rejudged is a post in quarantine with what a promotion would come to now.
type Rejudged struct {
	*ipn.Quarantined
	Verifiable bool
	Obstacle   ipn.Reason // "" where it is verifiable
}

// InQuarantine returns a page of the posts that wait, newest first, below the id before (0: from the newest), and the id that
// the next page is below, 0 on the last one. The error is a problem of the API.
func (o *Office) InQuarantine(ctx context.Context, before int64, limit int) (posts []Rejudged, next int64, err error) {
	entries, err := o.Quarantine.InQuarantine(ctx, before, limit+1)
	if err != nil {
		return nil, 0, problem(err)
	}
	if len(entries) > limit {
		entries = entries[:limit]
		next = entries[limit-1].ID
	}
	posts = make([]Rejudged, len(entries))
	for i, q := range entries {
		posts[i] = o.rejudge(q)
	}
	return posts, next, nil
}

// Quarantined returns one post that waits. The error is a problem of the API: 404 for one that does not.
func (o *Office) Quarantined(ctx context.Context, id int64) (Rejudged, error) {
	q, err := o.Quarantine.Quarantined(ctx, id)
	if err != nil {
		return Rejudged{}, problem(err)
	}
	return o.rejudge(q), nil
}

func (o *Office) rejudge(q *ipn.Quarantined) Rejudged {
	receipt, obstacle := o.Judge.Reverify(q)
	return Rejudged{q, receipt != nil, obstacle}
}

type promotion struct {
	Body struct {
		EventID  int64       `json:"eventId"`
		Outcome  ipn.Outcome `json:"outcome"`
		Receipts int64       `json:"receipts"`
	}
}

// promoteRequest may come without a body: a promotion judges by itself whether the post is good.
type promoteRequest struct {
	ID   int64 `path:"id" minimum:"1"`
	Body *ActBody
}

func (o *Office) promote(ctx context.Context, in *promoteRequest) (*promotion, error) {
	why := ActBody{Reason: "verified again, and good"}
	if in.Body != nil {
		why = *in.Body
	}
	recorded, err := o.Promote(ctx, in.ID, why)
	if err != nil {
		return nil, err
	}
	answer := &promotion{}
	answer.Body.EventID, answer.Body.Outcome, answer.Body.Receipts = recorded.EventID, recorded.Outcome, recorded.Receipts
	return answer, nil
}

// Promote verifies a post in quarantine again and, if it is good now, records it as an event. The error is a problem of the
// API: 404 for a post that does not wait, 409 with the obstacle, 422 without a reason.
func (o *Office) Promote(ctx context.Context, id int64, why ActBody) (ipn.Recorded, error) {
	act, err := why.act(ctx)
	if err != nil {
		return ipn.Recorded{}, err
	}
	q, err := o.Quarantine.Quarantined(ctx, id)
	if err != nil {
		return ipn.Recorded{}, problem(err)
	}
	receipt, obstacle := o.Judge.Reverify(q)
	if receipt == nil {
		return ipn.Recorded{}, huma.Error409Conflict("the post cannot be promoted: " + string(obstacle))
	}
	recorded, err := o.Quarantine.Promote(ctx, id, receipt, act)
	var refused *ipn.RefusedError
	if errors.As(err, &refused) {
		return ipn.Recorded{}, huma.Error409Conflict("the database refuses the post, SQLSTATE " + refused.SQLState)
	}
	if err != nil {
		return ipn.Recorded{}, problem(err)
	}
	return recorded, nil
}
