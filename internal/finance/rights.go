package finance

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// guarded is an API that holds no operation which names no right, and that describes the right each one needs.
type guarded struct {
	huma.API
	config huma.Config
}

// Config implements what huma asks an API for at each request; without it the settings of the API inside would not be heard.
func (g guarded) Config() huma.Config { return g.config }

// DocumentOperation implements huma.OperationDocumenter, which is asked about every operation, hidden ones too. It panics
// at the start of the program, as every other mistake in an operation does.
func (g guarded) DocumentOperation(op *huma.Operation) {
	right, named := access.Needed(op.Metadata)
	if !named {
		panic("finance: " + op.OperationID + " names no right; give it Metadata: access.Needs(...)")
	}
	if op.Extensions == nil {
		op.Extensions = map[string]any{}
	}
	op.Extensions["x-right"], op.Extensions["x-roles"] = right, rolesWith(right)
	if !op.Hidden {
		g.OpenAPI().AddOperation(op)
	}
}

func rolesWith(right access.Right) []access.Role {
	return slices.DeleteFunc(access.Roles(), func(r access.Role) bool { return !r.May(right) })
}

// authorize lets through who may. What somebody may not read looks like what does not exist, whether it exists or not; what
// they may not do is refused before anything is looked up. Neither answer depends on the record.
func authorize(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		op := ctx.Operation()
		right, _ := access.Needed(op.Metadata) // without one it is the right that nobody has
		person, known := access.From(ctx.Context())
		switch {
		case known && person.May(right):
			next(ctx)
		case !known && access.Trouble(ctx.Context()) != nil:
			_ = huma.WriteErr(api, ctx, http.StatusServiceUnavailable, recordAway)
		case !known:
			ctx.SetHeader("WWW-Authenticate", `Bearer realm="ipn-receiver"`)
			_ = huma.WriteErr(api, ctx, http.StatusUnauthorized, "show a token: Authorization: Bearer <token>")
		case ctx.Method() != http.MethodGet:
			_ = huma.WriteErr(api, ctx, http.StatusForbidden, "the role "+string(person.Role)+" may not do this: it needs the right "+string(right))
		case strings.Contains(op.Path, "{"):
			_ = huma.WriteErr(api, ctx, http.StatusNotFound, nothingHere)
		default:
			_ = huma.WriteErr(api, ctx, http.StatusNotFound, noSuchPath)
		}
	}
}

// heard refuses a query of which a part would go unheard.
func heard(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		asked := ctx.URL()
		if err := ask.Check(asked.RawQuery); err != nil {
			_ = huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "validation failed", located("query", err)...)
			return
		}
		next(ctx)
	}
}

// What callers are told in more than one place.
const (
	recordAway  = "the record cannot be read right now, try again"
	nothingHere = "there is nothing under this id"
	noSuchPath  = "there is nothing under this path; see /openapi.json"
)

// NotFound answers for a path that the private door does not have, in the words of one that somebody may not see.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"title":"Not Found","status":404,"detail":"`+noSuchPath+`"}`+"\n")
}

// actBy is an act of who asks: they are the actor, whatever the request says. A name in the request stands behind theirs,
// as api:TOKEN/NAME, for a tool that acts for several people; it is a note and proves nothing.
func actBy(ctx context.Context, reason, note string) ipn.Act {
	person, _ := access.From(ctx) // authorize has let nobody through who is not known
	act := ipn.Act{Actor: person.Actor(), Reason: reason}
	if note = printable(note); note != "" {
		act.Actor += "/" + note
	}
	return act
}

func (o *Office) registerMe(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-me", Method: http.MethodGet, Path: "/api/v1/me", Tags: []string{"access"}, Metadata: access.Needs(access.See),
		Summary:     "Tell who asks, and what they may",
		Description: "What somebody may not read is answered 404, as what does not exist; what they may not do is answered 403. x-right and x-roles of an operation tell what it needs.",
	}, o.getMe)
}

type meAnswer struct {
	Body struct {
		Name   string         `json:"name" doc:"Of the token, or of the user that the proxy signed in" example:"maria"`
		Role   access.Role    `json:"role" enum:"viewer,finance,operator,admin"`
		Via    string         `json:"via" enum:"token,page,proxy,open" doc:"token: shown with the request. page: a session of the page. proxy: signed in by a proxy. open: nobody asked, as in development on this machine"`
		Actor  string         `json:"actor" doc:"What the audit writes" example:"api:maria"`
		Rights []access.Right `json:"rights"`
	}
}

func (o *Office) getMe(ctx context.Context, _ *struct{}) (*meAnswer, error) {
	person, _ := access.From(ctx)
	answer := &meAnswer{}
	answer.Body.Name, answer.Body.Role, answer.Body.Via = person.Name, person.Role, person.Via
	answer.Body.Actor, answer.Body.Rights = person.Actor(), person.Role.Rights()
	return answer, nil
}
