package finance

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Witness keeps what was done by hand and changed nothing.
type Witness interface {
	// WitnessAct adds an entry to the audit, or fails with ipn.ErrUnavailable: then the act does not happen.
	WitnessAct(ctx context.Context, action string, act ipn.Act, details any) error
}

func (o *Office) registerReveal(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "reveal-event", Method: http.MethodPost, Path: "/api/v1/events/{id}/reveal", Tags: []string{"events"}, Metadata: access.Needs(access.Reveal),
		Summary:     "Show every field of an event and of its variants, personal ones too",
		Description: "Kept in the audit, with the reason, before anything is shown.",
		Errors:      []int{http.StatusNotFound},
	}, o.revealEvent)
	huma.Register(api, huma.Operation{
		OperationID: "get-event-raw", Method: http.MethodGet, Path: "/api/v1/events/{id}/raw", Tags: []string{"events"}, Metadata: access.Needs(access.Reveal),
		Summary:     "Get the body of the first receipt, byte for byte",
		Description: "Kept in the audit before anything is shown. It holds personal fields, and what the program that takes it makes of its bytes is not looked at: it comes as a file.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The exact bytes as received.",
			Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		}},
	}, o.getRaw)
	huma.Register(api, huma.Operation{
		OperationID: "reveal-quarantined", Method: http.MethodPost, Path: "/api/v1/quarantine/{id}/reveal", Tags: []string{"quarantine"}, Metadata: access.Needs(access.Reveal),
		Summary:     "Show every field of a post in quarantine, personal ones too",
		Description: "Kept in the audit, with the reason, before anything is shown. Nobody has vouched for what stands there.",
		Errors:      []int{http.StatusNotFound},
	}, o.revealQuarantined)
}

// Revealed is an event with nothing masked.
type Revealed struct {
	*ipn.Stored
	Event    *ipn.Event // nil once the body was dropped
	Variants []RevealedVariant
}

// RevealedVariant is a variant with nothing masked.
type RevealedVariant struct {
	ipn.Variant
	Event *ipn.Event
}

// Reveal returns an event and its variants with nothing masked, after that was kept in the audit. The error is a problem of
// the API: 404 for an event that does not exist, 422 without a reason, 503 while the audit cannot be written.
func (o *Office) Reveal(ctx context.Context, id int64, why ActBody) (*Revealed, error) {
	act, err := why.act(ctx)
	if err != nil {
		return nil, err
	}
	event, err := o.History.Event(ctx, id)
	if err != nil {
		return nil, problem(err)
	}
	variants, err := o.History.Variants(ctx, id)
	if err != nil {
		return nil, problem(err)
	}
	if err := o.witnessReveal(ctx, act, revealing{EventID: id, What: "fields"}); err != nil {
		return nil, err
	}
	revealed := &Revealed{Stored: event, Event: o.decode(event.Raw, event.Headers), Variants: make([]RevealedVariant, len(variants))}
	for i, v := range variants {
		revealed.Variants[i] = RevealedVariant{v, o.decode(v.Raw, v.Headers)}
	}
	return revealed, nil
}

// RevealQuarantined returns a post in quarantine decoded, with nothing masked, after that was kept in the audit. The error is
// a problem of the API, as that of Reveal.
func (o *Office) RevealQuarantined(ctx context.Context, id int64, why ActBody) (*ipn.Event, error) {
	act, err := why.act(ctx)
	if err != nil {
		return nil, err
	}
	q, err := o.Quarantine.Quarantined(ctx, id)
	if err != nil {
		return nil, problem(err)
	}
	if err := o.witnessReveal(ctx, act, revealing{QuarantineID: id, What: "fields"}); err != nil {
		return nil, err
	}
	return o.decode(q.Raw, q.Headers), nil
}

// revealing is what the audit keeps of a look at what is masked.
type revealing struct {
	EventID      int64  `json:"eventId,omitempty"`
	QuarantineID int64  `json:"quarantineId,omitempty"`
	What         string `json:"what"` // fields or raw
}

// witnessReveal comes before anything is shown: what nobody can see afterwards does not happen.
func (o *Office) witnessReveal(ctx context.Context, act ipn.Act, what revealing) error {
	if err := o.Witness.WitnessAct(ctx, "reveal", act, what); err != nil {
		return problem(err)
	}
	return nil
}

type revealRequest struct {
	ID   int64 `path:"id" minimum:"1"`
	Body ActBody
}

// secretly keeps an answer out of every cache, whatever else the door says.
const secretly = "no-store"

type revealAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		ID     int64 `json:"id"`
		Masked bool  `json:"masked" doc:"Always false"`
		BodyView
		Variants []revealedVariantView `json:"variants"`
	}
}

type revealedVariantView struct {
	ID int64 `json:"id"`
	BodyView
}

func (o *Office) revealEvent(ctx context.Context, in *revealRequest) (*revealAnswer, error) {
	revealed, err := o.Reveal(ctx, in.ID, in.Body)
	if err != nil {
		return nil, err
	}
	answer := &revealAnswer{CacheControl: secretly}
	answer.Body.ID, answer.Body.BodyView = in.ID, viewBody(revealed.Event)
	answer.Body.Variants = make([]revealedVariantView, len(revealed.Variants))
	for i, v := range revealed.Variants {
		answer.Body.Variants[i] = revealedVariantView{v.ID, viewBody(v.Event)}
	}
	return answer, nil
}

type revealQuarantinedAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		ID     int64 `json:"id"`
		Masked bool  `json:"masked" doc:"Always false"`
		BodyView
	}
}

func (o *Office) revealQuarantined(ctx context.Context, in *revealRequest) (*revealQuarantinedAnswer, error) {
	event, err := o.RevealQuarantined(ctx, in.ID, in.Body)
	if err != nil {
		return nil, err
	}
	answer := &revealQuarantinedAnswer{CacheControl: secretly}
	answer.Body.ID, answer.Body.BodyView = in.ID, viewBody(event)
	return answer, nil
}

type rawAnswer struct {
	CacheControl string `header:"Cache-Control"`
	ContentType  string `header:"Content-Type"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

func (o *Office) getRaw(ctx context.Context, in *eventID) (*rawAnswer, error) {
	event, err := o.History.Event(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	if event.Raw == nil {
		return nil, huma.Error404NotFound("the body of this event was dropped by retention")
	}
	act := actBy(ctx, "took the raw body", "") // a request without a body has no place for a reason: a URL is written into logs
	if err := o.witnessReveal(ctx, act, revealing{EventID: in.ID, What: "raw"}); err != nil {
		return nil, err
	}
	return &rawAnswer{CacheControl: secretly, ContentType: "application/octet-stream", Disposition: `attachment; filename="ipn.txt"`, Body: event.Raw}, nil
}
