package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerAudit adds the list of acts. There is no operation that changes or removes an entry.
func (o *Office) registerAudit(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: "/api/v1/audit", Tags: []string{"handlers"}, Metadata: access.Needs(access.Audit),
		Summary:     "List what was done by hand, newest first",
		Description: "Who paused, resumed, replayed or redrove what, when and why, whether by this API or on the command line. Entries are only ever added.",
	}, o.listAudit)
}

type auditPage struct {
	Body struct {
		Items      []ipn.AuditEntry `json:"items"`
		NextCursor string           `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listAudit(ctx context.Context, in *struct {
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*auditPage, error) {
	before, err := o.resumeBelow(ctx, "audit", in.Cursor)
	if err != nil {
		return nil, err
	}
	entries, next, err := o.Audit(ctx, before, in.Limit)
	if err != nil {
		return nil, err
	}
	page := &auditPage{}
	page.Body.Items = entries
	page.Body.NextCursor, err = o.turnBelow(ctx, "audit", next)
	return page, err
}

// Audit returns a page of what was done by hand, newest first, below the id before (0: from the newest), and the id that the
// next page is below, 0 on the last one. The error is a problem of the API.
func (o *Office) Audit(ctx context.Context, before int64, limit int) (entries []ipn.AuditEntry, next int64, err error) {
	if entries, err = o.Handlers.Audit(ctx, before, limit+1); err != nil {
		return nil, 0, problem(err)
	}
	if len(entries) > limit {
		entries = entries[:limit]
		next = entries[limit-1].ID
	}
	return append([]ipn.AuditEntry{}, entries...), next, nil
}
