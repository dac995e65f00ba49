// Package finance is the back office: it answers what people ask about the events that were kept.
//
// It stands on the private listener only. Its one non-obvious decision is that the fields of an event are decoded from
// the raw body each time they are asked for: what finance sees is what was sent, in the order it was sent, read by
// today's decoder, and never a copy that an older one left behind.
package finance

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// History is what the back office asks of the record. All methods fail with ipn.ErrUnavailable while it is away.
type History interface {
	// Events returns at most q.Limit events, newest first.
	Events(ctx context.Context, q ipn.Question) ([]ipn.Stored, error)
	// Event returns one event, or ipn.ErrNotFound.
	Event(ctx context.Context, id int64) (*ipn.Stored, error)
	// Variants returns what else was told under the event's identity, oldest first.
	Variants(ctx context.Context, eventID int64) ([]ipn.Variant, error)
}

// Quarantine is where the posts wait that were not believed or could not become events.
type Quarantine interface {
	// InQuarantine returns at most limit entries that wait, newest first, below the id before (0: from the newest).
	InQuarantine(ctx context.Context, before int64, limit int) ([]*ipn.Quarantined, error)
	// Quarantined returns one entry that waits, or ipn.ErrNotFound.
	Quarantined(ctx context.Context, id int64) (*ipn.Quarantined, error)
	// Promote records the receipt and marks the entry, once; ipn.ErrNotFound when somebody was faster.
	Promote(ctx context.Context, id int64, receipt *ipn.Receipt) (ipn.Recorded, error)
}

// Judge judges a quarantined post again, and returns the receipt to record or the reason why not.
type Judge interface {
	Reverify(q *ipn.Quarantined) (*ipn.Receipt, ipn.Reason)
}

// Office answers on the paths below /api/v1 and describes itself at /openapi.json.
type Office struct {
	History    History
	Quarantine Quarantine
	Judge      Judge
	Decoder    *ipn.Decoder
	Token      ipn.Secret // the bearer token callers must show; zero: the API is open
	Version    string     // of the program, for the description
}

// Mount adds the API to a router.
func (o *Office) Mount(router chi.Router) {
	config := huma.DefaultConfig("IPN receiver", o.Version)
	config.Info.Description = "The history of payment notifications. Amounts are strings of decimal digits, times are RFC 3339 in UTC, errors are application/problem+json."
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil // no page that loads scripts from elsewhere, no $schema in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"token": {}}}

	api := humachi.New(router, config)
	api.UseMiddleware(o.authenticate(api))
	o.registerEvents(api)
	o.registerQuarantine(api)
}

// authenticate lets a request through that shows the token, and everyone when none is set (only on loopback; the
// program does not start otherwise).
func (o *Office) authenticate(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if o.Token.IsZero() || o.Token.Matches(bearer(ctx.Header("Authorization"))) {
			next(ctx)
			return
		}
		ctx.SetHeader("WWW-Authenticate", `Bearer realm="ipn-receiver"`)
		_ = huma.WriteErr(api, ctx, http.StatusUnauthorized, "show the API token: Authorization: Bearer <token>")
	}
}

// bearer returns the token of an Authorization header, whose scheme is written in any case (RFC 9110 11.1).
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}
