package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerAudit adds the list of acts. There is no operation that changes or removes an entry.
func (o *Office) registerAudit(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: "/api/v1/audit", Tags: []string{"handlers"},
		Summary:     "List what was done by hand, newest first",
		Description: "Who paused, resumed, replayed or redrove what, when and why, whether by this API or on the command line. Entries are only ever added.",
	}, o.listAudit)
}

type auditPage struct {
	Body struct {
		Items      []ipn.AuditEntry `json:"items"`
		NextCursor int64            `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listAudit(ctx context.Context, in *struct {
	Cursor int64 `query:"cursor" minimum:"0" doc:"nextCursor of the page before"`
	Limit  int   `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*auditPage, error) {
	entries, err := o.Handlers.Audit(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, problem(err)
	}
	page := &auditPage{}
	if len(entries) > in.Limit {
		entries = entries[:in.Limit]
		page.Body.NextCursor = entries[in.Limit-1].ID
	}
	page.Body.Items = append([]ipn.AuditEntry{}, entries...)
	return page, nil
}
