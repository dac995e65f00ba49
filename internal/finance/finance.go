// Package finance is the back office: it answers what people ask about the events that were kept.
//
// It stands on the private listener only. Its one non-obvious decision is that the fields of an event are decoded from
// the raw body each time they are asked for: what finance sees is what was sent, in the order it was sent, read by
// today's decoder, and never a copy that an older one left behind.
package finance

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// History is what the back office asks of the record. All methods fail with ipn.ErrUnavailable while it is away.
type History interface {
	export.History
	// Events returns at most q.Limit events, newest first.
	Events(ctx context.Context, q ipn.Question) ([]ipn.Stored, error)
	// Event returns one event, or ipn.ErrNotFound.
	Event(ctx context.Context, id int64) (*ipn.Stored, error)
	// Variants returns what else was told under the event's identity, oldest first and at most ipn.MostVariants.
	Variants(ctx context.Context, eventID int64) ([]ipn.Variant, error)
	// CountEvents counts the events that match, up to upTo of them.
	CountEvents(ctx context.Context, q ipn.Question, upTo int64) (int64, error)
}

// Quarantine is where the posts wait that were not believed or could not become events.
type Quarantine interface {
	// InQuarantine returns at most limit entries that wait, newest first, below the id before (0: from the newest).
	InQuarantine(ctx context.Context, before int64, limit int) ([]*ipn.Quarantined, error)
	// Quarantined returns one entry that waits, or ipn.ErrNotFound.
	Quarantined(ctx context.Context, id int64) (*ipn.Quarantined, error)
	// QuarantineCounts returns how many posts wait, by reason.
	QuarantineCounts(ctx context.Context) (map[ipn.Reason]int64, error)
	// Promote records the receipt and marks the entry, once and with the entry in the audit; ipn.ErrNotFound when somebody was
	// faster.
	Promote(ctx context.Context, id int64, receipt *ipn.Receipt, act ipn.Act) (ipn.Recorded, error)
}

// Judge judges a quarantined post again, and returns the receipt to record or the reason why not.
type Judge interface {
	Reverify(q *ipn.Quarantined) (*ipn.Receipt, ipn.Reason)
}

// Handlers is where the handlers' cursors, the events they failed on and the audit are kept. Acts become true together
// with their audit row, or not at all. All methods fail with ipn.ErrUnavailable while the record is away.
type Handlers interface {
	// Handlers returns where each handler known to the record stands, by name; Configured as far as it knows.
	Handlers(ctx context.Context) ([]ipn.HandlerState, error)
	// PauseHandler stops a handler until it is resumed, across restarts; ipn.ErrNotFound for a name nobody knows.
	PauseHandler(ctx context.Context, name string, act ipn.Act) error
	// ResumeHandler lets a handler go on where it stood; ipn.ErrNotFound for a name nobody knows.
	ResumeHandler(ctx context.Context, name string, act ipn.Act) error
	// ReplayHandler lets a handler see events again, or only counts them; ipn.ErrNotFound for a name nobody knows.
	ReplayHandler(ctx context.Context, replay ipn.Replay, act ipn.Act) (ipn.Replayed, error)
	// RedriveParked makes failed events due now, with all their attempts, or only counts them. It returns how many.
	RedriveParked(ctx context.Context, redrive ipn.Redrive, act ipn.Act) (int64, error)
	// ParkedEvents returns at most q.Limit events that failed, by event id and then by handler.
	ParkedEvents(ctx context.Context, q ipn.ParkedQuestion) ([]ipn.ParkedEvent, error)
	// Handlings returns what became of an event at each handler, by the handlers' names.
	Handlings(ctx context.Context, eventID int64) ([]ipn.Handling, error)
	// Audit returns at most limit entries, newest first, below the id before (0: from the newest).
	Audit(ctx context.Context, before int64, limit int) ([]ipn.AuditEntry, error)
}

// Books is what the ledger made of the events. There are two books, one of test orders. All methods fail with
// ipn.ErrUnavailable while the record is away.
type Books interface {
	export.Books
	// Transaction returns what is known of a reference number, or ipn.ErrNotFound.
	Transaction(ctx context.Context, reference string, test bool) (ipn.Transaction, error)
	// Subscription returns what is known of a subscription, or ipn.ErrNotFound.
	Subscription(ctx context.Context, id string, test bool) (ipn.SubscriptionBook, error)
	// Disputes returns at most q.Limit disputes; AgeDays and EstimatedDeadline are left to the caller.
	Disputes(ctx context.Context, q ipn.DisputeQuestion) ([]ipn.DisputeBook, error)
	// Unbooked returns at most q.Limit notes of money that is not booked, those of the newest events first.
	Unbooked(ctx context.Context, q ipn.UnbookedQuestion) ([]ipn.UnbookedEvent, error)
	// Totals returns the sums of movements that q asks for.
	Totals(ctx context.Context, q ipn.TotalsQuestion) ([]ipn.Total, error)
	// Balance returns what a span of days came to, by currency.
	Balance(ctx context.Context, span ipn.Span) ([]ipn.Balance, error)
	// Taxes returns the taxes of a span, by country, state and currency.
	Taxes(ctx context.Context, span ipn.Span) ([]ipn.TaxTotal, error)
	// Contracts returns the limit best of the plans.
	Contracts(ctx context.Context, span ipn.Span, limit int) ([]ipn.ContractTotal, error)
	// Rates returns how often things went wrong.
	Rates(ctx context.Context, span ipn.Span) (ipn.Rates, error)
	// DisputeAges returns what is disputed, ordered by currency.
	DisputeAges(ctx context.Context, q ipn.DisputeAgesQuestion) ([]ipn.DisputeAgeTotal, error)
	// Movements returns at most q.Limit movements.
	Movements(ctx context.Context, q ipn.MovementQuestion) ([]ipn.Movement, error)
	// Subscriptions returns at most q.Limit subscriptions.
	Subscriptions(ctx context.Context, q ipn.SubscriptionQuestion) ([]ipn.SubscriptionBook, error)
}

// Configuration is what is known of the notification configuration that the payment service holds.
type Configuration interface {
	// ConfigurationState returns what this process knows; it asks nobody.
	ConfigurationState() ipn.ConfigurationState
	// ConfigurationPushes returns at most limit looks of any process, newest first, below the id before (0: from the
	// newest), or ipn.ErrUnavailable.
	ConfigurationPushes(ctx context.Context, before int64, limit int) ([]ipn.ConfigurationPush, error)
}

// Office answers on the paths below /api/v1 and describes itself at /openapi.json.
type Office struct {
	History    History
	Quarantine Quarantine
	Judge      Judge
	Handlers   Handlers // nil: nothing of handlers is answered
	Books      Books    // nil: nothing of the books is answered
	Witness    Witness  // nil: nothing that is masked is revealed, and nothing exported
	Decoder    *ipn.Decoder
	Cursors    *ask.Cursors  // seals the places where lists go on
	People     ipn.PersonKey // finds events by e-mail address or name; zero: that cannot be searched for
	Version    string        // of the program, for the description

	TaxRecords      TaxRecords // nil: nothing of tax records is answered
	Transfers       Transfers  // nil: nothing of bank transfers is answered
	TransferMethods []string   // values of paymentMethod that are bank transfers

	Configuration Configuration // nil: nothing of the payment service's configuration is answered

	Configured  []string         // names of the handlers that this process serves
	DisputeDays int              // from the opening of a dispute to the estimate of its deadline; 0: none is estimated
	Now         func() time.Time // the clock that disputes age by; nil: time.Now
}

// Mount adds the API to a router, behind which access.Gate must have found out who asks: whoever is not known gets nothing.
func (o *Office) Mount(router chi.Router) {
	config := huma.DefaultConfig("IPN receiver", o.Version)
	config.Info.Description = "The history of payment notifications, the handlers that hear them and the books made of them. " +
		"Amounts are strings of decimal digits, times are RFC 3339 in UTC, errors are application/problem+json. Lists answer items and, unless the page is the last, nextCursor. JSON that is read has an ETag: send it in If-None-Match, and what has not changed is answered 304."
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil // no page that loads scripts from elsewhere, no $schema in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer"},
		"session": {Type: "apiKey", In: "cookie", Name: access.CookieName},
	}
	config.Security = []map[string][]string{{"token": {}}, {"session": {}}}

	api := guarded{humachi.New(router.With(revalidate), config), config}
	api.UseMiddleware(authorize(api), heard(api))
	o.registerMe(api)
	o.registerEvents(api)
	o.registerQuarantine(api)
	if o.Witness != nil {
		o.registerReveal(api)
		o.registerExports(api)
	}
	if o.Handlers != nil {
		o.registerHandlers(api)
		o.registerParked(api)
		o.registerAudit(api)
	}
	if o.Books != nil {
		o.registerBooks(api)
	}
	if o.TaxRecords != nil {
		o.registerTaxRecords(api)
	}
	if o.Transfers != nil {
		o.registerTransfers(api)
	}
	if o.Configuration != nil {
		o.registerConfiguration(api)
	}
	completeDescription(api.OpenAPI())
}
