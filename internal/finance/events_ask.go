package finance

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
)

// registerEventLists adds the two ways to ask for events. What may be asked stands in the table of package ask; it is described
// from there, and read there too.
func (o *Office) registerEventLists(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-events", Method: http.MethodGet, Path: "/api/v1/events", Tags: []string{"events"}, Metadata: access.Needs(access.See),
		Summary:            "List events, newest first",
		Description:        "Filters narrow together; an empty one is as good as none. Follow nextCursor for the next page; it is absent on the last one. Pages stay stable while events arrive.",
		Parameters:         parametersOf(ask.Filters()),
		SkipValidateParams: true, // ask.Parse names what is wrong with them
		Errors:             []int{http.StatusUnprocessableEntity},
	}, o.listEvents)
	const path = "/api/v1/events/search"
	huma.Register(api, huma.Operation{
		OperationID: "search-events", Method: http.MethodPost, Path: path, Tags: []string{"events"}, Metadata: access.Needs(access.See),
		Summary: "List events by what no URL may hold: the e-mail address or the name of a person",
		Description: "The filters of GET /api/v1/events by the same names, and email and name besides. An address or a name is found however its letters' case was typed, and whole: " +
			"it is kept as a keyed hash only, which needs the setting IPN_SEARCH_KEY. It is not logged.",
		MaxBodyBytes: longestSearch,
		Errors:       []int{http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge},
	}, o.searchEvents)
	// Known to huma is a body of bytes, which it leaves to be read here; told is what it must hold.
	api.OpenAPI().Paths[path].Post.RequestBody.Content = map[string]*huma.MediaType{"application/json": {Schema: schemaOfSearch()}}
}

// longestSearch is the most bytes of a body that asks for events.
const longestSearch = 16 << 10

// parametersOf describes filters as the parameters of an operation.
func parametersOf(filters []ask.Filter) []*huma.Param {
	params := make([]*huma.Param, len(filters))
	for i, f := range filters {
		params[i] = &huma.Param{Name: f.Name, In: "query", Description: f.Doc, Schema: schemaOf(f)}
		if f.Example != "" {
			params[i].Example = exampleOf(f)
		}
	}
	return params
}

// schemaOfSearch describes the body of a search.
func schemaOfSearch() *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{}}
	for _, f := range append(ask.Filters(), ask.People()...) {
		property := schemaOf(f)
		property.Description = f.Doc
		if f.Example != "" {
			property.Examples = []any{exampleOf(f)}
		}
		schema.Properties[f.Name] = property
	}
	return schema
}

func schemaOf(f ask.Filter) *huma.Schema {
	switch f.Kind {
	case ask.KindYesNo:
		return &huma.Schema{Type: huma.TypeBoolean}
	case ask.KindNumber:
		return &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Maximum: new(float64(ask.MostEvents))}
	case ask.KindText:
		return &huma.Schema{Type: huma.TypeString, MaxLength: new(ask.LongestText)}
	case ask.KindCode:
		return &huma.Schema{Type: huma.TypeString, Pattern: "^[A-Za-z]{3}$"}
	case ask.KindAmount:
		return &huma.Schema{Type: huma.TypeString, Pattern: `^[0-9]{1,20}(\.[0-9]{1,10})?$`}
	}
	schema := &huma.Schema{Type: huma.TypeString}
	for _, choice := range f.Choices {
		schema.Enum = append(schema.Enum, choice)
	}
	return schema
}

// exampleOf writes the example as the schema has it.
func exampleOf(f ask.Filter) any {
	switch f.Kind {
	case ask.KindYesNo:
		return f.Example == "true"
	case ask.KindNumber:
		return 50
	}
	return f.Example
}

// eventsInput is a query that the table of filters reads.
type eventsInput struct {
	query ask.Query
	err   error
}

// Resolve implements huma.Resolver.
func (in *eventsInput) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	in.query, in.err = ask.Parse(u.RawQuery)
	return located("query", in.err)
}

// located turns mistakes into what a problem tells of them; other errors into nothing.
func located(in string, err error) (details []error) {
	var mistakes ask.Mistakes
	errors.As(err, &mistakes)
	for _, m := range mistakes {
		location := in
		if m.Name != "" {
			location += "." + m.Name
		}
		details = append(details, &huma.ErrorDetail{Message: m.Mend, Location: location})
	}
	return details
}

type eventsPage struct {
	Body struct {
		Items      []EventView `json:"items"`
		NextCursor string      `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listEvents(ctx context.Context, in *eventsInput) (*eventsPage, error) {
	return o.showEvents(ctx, &in.query)
}

func (o *Office) searchEvents(ctx context.Context, in *struct{ RawBody []byte }) (*eventsPage, error) {
	query, err := ask.ParseBody(in.RawBody, o.People)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("validation failed", located("body", err)...)
	}
	if err := o.Cursors.Resume(ctx, &query); errors.Is(err, ask.ErrCursor) {
		return nil, invalid("body.cursor", mendCursor)
	}
	return o.showEvents(ctx, &query)
}

func (o *Office) showEvents(ctx context.Context, query *ask.Query) (*eventsPage, error) {
	events, next, err := o.ListEvents(ctx, query)
	if err != nil {
		return nil, err
	}
	page := &eventsPage{}
	page.Body.Items, page.Body.NextCursor = make([]EventView, len(events)), next
	for i := range events {
		page.Body.Items[i] = o.view(&events[i])
	}
	return page, nil
}
