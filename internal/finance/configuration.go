package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerConfiguration adds what is known of the payment service's notification configuration. There is no operation
// that pushes one: that needs the payment service's credentials, which this API does not lend to its callers.
func (o *Office) registerConfiguration(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-configuration", Method: http.MethodGet, Path: "/api/v1/configuration", Tags: []string{"configuration"},
		Summary: "Tell whether the payment service is configured to send what is wanted here",
		Description: "What this process saw when it last looked, and the latest looks of all processes. The payment service is not asked now; " +
			"`ipn-receiver configure --plan` does that.",
	}, o.getConfiguration)
	huma.Register(api, huma.Operation{
		OperationID: "list-configuration-pushes", Method: http.MethodGet, Path: "/api/v1/configuration/pushes", Tags: []string{"configuration"},
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
	pushes, err := o.Configuration.ConfigurationPushes(ctx, 0, latestPushes)
	if err != nil {
		return nil, problem(err)
	}
	answer := &configurationAnswer{}
	answer.Body.ConfigurationState = o.Configuration.ConfigurationState()
	answer.Body.Changes = append([]ipn.ConfigurationChange{}, answer.Body.Changes...)
	answer.Body.Pushes = listed(pushes)
	return answer, nil
}

type configurationPage struct {
	Body struct {
		Items      []ipn.ConfigurationPush `json:"items"`
		NextCursor int64                   `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listConfigurationPushes(ctx context.Context, in *struct {
	Cursor int64 `query:"cursor" minimum:"0" doc:"nextCursor of the page before"`
	Limit  int   `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}) (*configurationPage, error) {
	pushes, err := o.Configuration.ConfigurationPushes(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, problem(err)
	}
	page := &configurationPage{}
	if len(pushes) > in.Limit {
		pushes = pushes[:in.Limit]
		page.Body.NextCursor = pushes[in.Limit-1].ID
	}
	page.Body.Items = listed(pushes)
	return page, nil
}

// listed writes absent lists as empty ones.
func listed(pushes []ipn.ConfigurationPush) []ipn.ConfigurationPush {
	shown := append([]ipn.ConfigurationPush{}, pushes...)
	for i := range shown {
		shown[i].Changes = append([]ipn.ConfigurationChange{}, shown[i].Changes...)
	}
	return shown
}
