package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerConfiguration adds what is known of the payment service's notification configuration. There is no operation
// that pushes one: that needs the payment service's credentials, which this API does not lend to its callers.
func (o *Office) registerConfiguration(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-configuration", Method: http.MethodGet, Path: "/api/v1/configuration", Tags: []string{"configuration"}, Metadata: access.Needs(access.See),
		Summary: "Tell whether the payment service is configured to send what is wanted here",
		Description: "What this process saw when it last looked, and the latest looks of all processes. The payment service is not asked now; " +
			"`ipn-receiver configure --plan` does that.",
	}, o.getConfiguration)
	huma.Register(api, huma.Operation{
		OperationID: "list-configuration-pushes", Method: http.MethodGet, Path: "/api/v1/configuration/pushes", Tags: []string{"configuration"}, Metadata: access.Needs(access.See),
		Summary:     "List the looks at the payment service's configuration, newest first",
		Description: "What was wanted, what was there, what was sent and what was read back, at the start, at intervals and by command. Entries are only ever added.",
	}, o.listConfigurationPushes)
}

// latestPushes is how many looks stand beside the state.
const latestPushes = 10

type configurationAnswer struct {
	Body struct {
		ipn.ConfigurationState
		Pushes []ipn.ConfigurationPush `json:"pushes" doc:"The latest looks of all processes, newest first; GET /api/v1/configuration/pushes lists the rest"`
	}
}

func (o *Office) getConfiguration(ctx context.Context, _ *struct{}) (*configurationAnswer, error) {
	pushes, _, err := o.ConfigurationPushes(ctx, 0, latestPushes)
	if err != nil {
		return nil, err
	}
	answer := &configurationAnswer{}
	answer.Body.ConfigurationState = o.Configuration.ConfigurationState()
	answer.Body.Changes = append([]ipn.ConfigurationChange{}, answer.Body.Changes...)
	answer.Body.Pushes = pushes
	return answer, nil
}

type configurationPage struct {
	Body struct {
		Items      []ipn.ConfigurationPush `json:"items"`
		NextCursor string                  `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listConfigurationPushes(ctx context.Context, in *struct {
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*configurationPage, error) {
	before, err := o.resumeBelow(ctx, "pushes", in.Cursor)
	if err != nil {
		return nil, err
	}
	pushes, next, err := o.ConfigurationPushes(ctx, before, in.Limit)
	if err != nil {
		return nil, err
	}
	page := &configurationPage{}
	page.Body.Items = pushes
	page.Body.NextCursor, err = o.turnBelow(ctx, "pushes", next)
	return page, err
}

// ConfigurationPushes returns a page of the looks of all processes, newest first, below the id before (0: from the newest),
// and the id that the next page is below, 0 on the last one. The error is a problem of the API.
func (o *Office) ConfigurationPushes(ctx context.Context, before int64, limit int) (pushes []ipn.ConfigurationPush, next int64, err error) {
	if pushes, err = o.Configuration.ConfigurationPushes(ctx, before, limit+1); err != nil {
		return nil, 0, problem(err)
	}
	if len(pushes) > limit {
		pushes = pushes[:limit]
		next = pushes[limit-1].ID
	}
	return listed(pushes), next, nil
}

// listed writes absent lists as empty ones.
func listed(pushes []ipn.ConfigurationPush) []ipn.ConfigurationPush {
	shown := append([]ipn.ConfigurationPush{}, pushes...)
	for i := range shown {
		shown[i].Changes = append([]ipn.ConfigurationChange{}, shown[i].Changes...)
	}
	return shown
}
