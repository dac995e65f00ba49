package finance

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerHandlers adds what operators see of the handlers and may do to them. Each act needs a reason, and one that
// changes something leaves a row in the audit, written together with the change.
func (o *Office) registerHandlers(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-handlers", Method: http.MethodGet, Path: "/api/v1/handlers", Tags: []string{"handlers"}, Metadata: access.Needs(access.See),
		Summary: "List the handlers by name: cursor, lag, what they failed on, who leads",
		Description: "A handler is a consumer of the log. A projection writes the database, exactly once; a sink speaks to the outside, at least once. " +
			"One that was taken out of the settings is still listed, with configured false, until it is forgotten.",
	}, o.listHandlers)
	huma.Register(api, huma.Operation{
		OperationID: "pause-handler", Method: http.MethodPost, Path: "/api/v1/handlers/{name}/pause", Tags: []string{"handlers"}, Metadata: access.Needs(access.Operate),
		Summary:     "Stop handing events to a handler",
		Description: "It stays paused until it is resumed, across restarts too. Its events wait in the log; nothing is lost. Kept in the audit.",
		Errors:      []int{http.StatusNotFound},
	}, o.pauseHandler)
	huma.Register(api, huma.Operation{
		OperationID: "resume-handler", Method: http.MethodPost, Path: "/api/v1/handlers/{name}/resume", Tags: []string{"handlers"}, Metadata: access.Needs(access.Operate),
		Summary:     "Let a paused handler go on where it stood",
		Description: "Kept in the audit.",
		Errors:      []int{http.StatusNotFound},
	}, o.resumeHandler)
	huma.Register(api, huma.Operation{
		OperationID: "replay-handler", Method: http.MethodPost, Path: "/api/v1/handlers/{name}/replay", Tags: []string{"handlers"}, Metadata: access.Needs(access.Operate),
		Summary: "Let a handler see events again",
		Description: "Exactly one of all, since and matching says which events. all and since set the cursor back; matching leaves it and hands out the events that match, " +
			"as far as the cursor has passed them. A sink will tell the outside again, under the same event ids. " +
			"dryRun must be written out: send true first, which counts and changes nothing, then false. Kept in the audit, unless it was a dry run.",
		RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Examples: replayExamples()}}},
		Errors:      []int{http.StatusNotFound},
	}, o.replayHandler)
}

// replayExamples teach the way a replay should go: count, then do.
func replayExamples() map[string]*huma.Example {
	const why = "The target lost what it got in November"
	return map[string]*huma.Example{
		"count": {Summary: "How many events would be seen again", Value: map[string]any{"all": true, "dryRun": true, "reason": why}},
		"since": {Summary: "All events since a day", Value: map[string]any{"since": "2026-11-01", "dryRun": false, "reason": why, "actor": "maria"}},
		"matching": {Summary: "The refunds of a time", Value: map[string]any{
			"matching": map[string]any{"transactionType": "REFUND", "from": "2026-11-01", "to": "2026-12-01"}, "dryRun": false, "reason": why}},
	}
}

type handlerList struct {
	Body struct {
		Items []ipn.HandlerState `json:"items"`
	}
}

func (o *Office) listHandlers(ctx context.Context, _ *struct{}) (*handlerList, error) {
	states, err := o.HandlerStates(ctx)
	if err != nil {
		return nil, err
	}
	answer := &handlerList{}
	answer.Body.Items = states
	return answer, nil
}

// HandlerStates returns where each handler stands, by name; Configured also where only this process knows of it. The error is
// a problem of the API.
func (o *Office) HandlerStates(ctx context.Context) ([]ipn.HandlerState, error) {
	states, err := o.Handlers.Handlers(ctx)
	if err != nil {
		return nil, problem(err)
	}
	states = append([]ipn.HandlerState{}, states...)
	for i := range states {
		states[i].Configured = states[i].Configured || slices.Contains(o.Configured, states[i].Name)
	}
	return states, nil
}

// ActBody says who does something, and why. The body of every act contains it; exported, so that it is described there.
type ActBody struct {
	Reason string `json:"reason" minLength:"3" maxLength:"500" doc:"Why; kept in the audit" example:"The billing service was down, see ticket 4711"`
	Actor  string `json:"actor,omitempty" maxLength:"64" doc:"Whom a tool acts for: a note behind the name of its token, as api:TOKEN/NAME. Who acts is whoever asks" example:"maria"`
}

// act returns what the audit keeps: the texts without what does not print.
func (b ActBody) act(ctx context.Context) (ipn.Act, error) {
	act := actBy(ctx, printable(b.Reason), b.Actor)
	switch length := len([]rune(act.Reason)); {
	case length < 3:
		return act, invalid("body.reason", "say why, in words")
	case length > 500:
		return act, invalid("body.reason", "say it in at most 500 characters")
	}
	return act, nil
}

// printable puts the words of a text together with single spaces. Other white space and control characters are gone.
func printable(text string) string {
	shown := strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	return strings.Join(strings.Fields(shown), " ")
}

type handlerAct struct {
	Name string `path:"name" maxLength:"255" doc:"Of the handler" example:"forward.billing"`
	Body ActBody
}

type pauseAnswer struct {
	Body struct {
		Handler string `json:"handler"`
		Paused  bool   `json:"paused"`
	}
}

func (o *Office) pauseHandler(ctx context.Context, in *handlerAct) (*pauseAnswer, error) {
	return in.answer(true), o.PauseHandler(ctx, in.Name, in.Body)
}

func (o *Office) resumeHandler(ctx context.Context, in *handlerAct) (*pauseAnswer, error) {
	return in.answer(false), o.ResumeHandler(ctx, in.Name, in.Body)
}

func (in *handlerAct) answer(paused bool) *pauseAnswer {
	answer := &pauseAnswer{}
	answer.Body.Handler, answer.Body.Paused = in.Name, paused
	return answer
}

// PauseHandler stops a handler until it is resumed. It is no error when it was paused before. The error is a problem of the
// API: 404 for a name that nobody knows, 422 without a reason.
func (o *Office) PauseHandler(ctx context.Context, name string, why ActBody) error {
	return actOn(ctx, name, why, o.Handlers.PauseHandler)
}

// ResumeHandler lets a handler go on where it stood. It is no error when it was not paused. The error is a problem of the API:
// 404 for a name that nobody knows, 422 without a reason.
func (o *Office) ResumeHandler(ctx context.Context, name string, why ActBody) error {
	return actOn(ctx, name, why, o.Handlers.ResumeHandler)
}

func actOn(ctx context.Context, name string, why ActBody, what func(context.Context, string, ipn.Act) error) error {
	act, err := why.act(ctx)
	if err != nil {
		return err
	}
	if !storable(name) {
		return actProblem(ipn.ErrNotFound)
	}
	if err := what(ctx, name, act); err != nil {
		return actProblem(err)
	}
	return nil
}

// actProblem maps what may come of an act to what a caller is told. Where the record was lost in the middle nobody knows
// whether the act was done, so it is not said that it was not.
func actProblem(err error) error {
	if errors.Is(err, ipn.ErrNotFound) {
		return huma.Error404NotFound("no handler of this name has ever run here; GET /api/v1/handlers lists them")
	}
	return huma.Error503ServiceUnavailable("the record cannot be reached right now; see what became of the request before you send it again")
}

type replayRequest struct {
	Name string `path:"name" maxLength:"255" doc:"Of the handler" example:"forward.billing"`
	Body ReplayBody
}

// ReplayBody says which events: exactly one of All, Since and Matching.
type ReplayBody struct {
	ActBody
	All      bool         `json:"all,omitempty" doc:"true: from the very first event"`
	Since    string       `json:"since,omitempty" doc:"From the first event received then or later: RFC 3339, or YYYY-MM-DD for the start of that day in UTC" example:"2026-11-01"`
	Matching *MatchesBody `json:"matching,omitempty" doc:"Only these events. At least one field must be given; they narrow together"`
	DryRun   *bool        `json:"dryRun" nullable:"false" doc:"true: count and change nothing. Required, so that nobody replays by leaving it out"`
}

// Resolve tells what to send first when dryRun is missing; huma calls it beside its own checks.
func (in *replayRequest) Resolve(huma.Context) []error {
	if in.Body.DryRun != nil {
		return nil
	}
	return []error{&huma.ErrorDetail{Message: countFirst, Location: "body.dryRun"}}
}

// countFirst is what a replay without dryRun is told.
const countFirst = "say true first, to learn how many events it would be; then false"

// MatchesBody names events as the query of the event list does.
type MatchesBody struct {
	TransactionType       string `json:"transactionType,omitempty" maxLength:"255" doc:"Canonical name; an unknown type by the name it was sent with" example:"CHARGE"`
	ReferenceNumber       string `json:"referenceNumber,omitempty" maxLength:"255"`
	SubscriptionID        string `json:"subscriptionId,omitempty" maxLength:"255"`
	MerchantTransactionID string `json:"merchantTransactionId,omitempty" maxLength:"255"`
	AccountID             string `json:"accountId,omitempty" maxLength:"255"`
	Currency              string `json:"currency,omitempty" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217 code" example:"EUR"`
	From                  string `json:"from,omitempty" doc:"Earliest time, inclusive: RFC 3339, or YYYY-MM-DD for the start of that day in UTC" example:"2026-11-01"`
	To                    string `json:"to,omitempty" doc:"Latest time, exclusive, written as from"`
	Test                  *bool  `json:"test,omitempty" doc:"Only test orders, or none"`
}

type replayAnswer struct {
	Body struct {
		Handler string `json:"handler"`
		ipn.Replayed
	}
}

func (o *Office) replayHandler(ctx context.Context, in *replayRequest) (*replayAnswer, error) {
	replayed, err := o.ReplayHandler(ctx, in.Name, &in.Body)
	if err != nil {
		return nil, err
	}
	answer := &replayAnswer{}
	answer.Body.Handler, answer.Body.Replayed = in.Name, replayed
	return answer, nil
}

// ReplayHandler lets a handler see events again, or only counts them. The error is a problem of the API: 404 for a name that
// nobody knows, 422 with the name of what is missing or cannot be.
func (o *Office) ReplayHandler(ctx context.Context, name string, wish *ReplayBody) (ipn.Replayed, error) {
	act, err := wish.act(ctx)
	if err != nil {
		return ipn.Replayed{}, err
	}
	replay, err := wish.replay(name)
	if err != nil {
		return ipn.Replayed{}, err
	}
	replayed, err := o.Handlers.ReplayHandler(ctx, replay, act)
	if err != nil {
		return ipn.Replayed{}, actProblem(err)
	}
	return replayed, nil
}

// replay checks that one set of events is named, and only one. Errors name the field.
func (b *ReplayBody) replay(name string) (ipn.Replay, error) {
	if !storable(name) {
		return ipn.Replay{}, actProblem(ipn.ErrNotFound)
	}
	if b.DryRun == nil {
		return ipn.Replay{}, invalid("body.dryRun", countFirst)
	}
	replay := ipn.Replay{Handler: name, All: b.All, DryRun: *b.DryRun}
	var named []string
	for _, choice := range []struct {
		name  string
		given bool
	}{{"all", b.All}, {"since", b.Since != ""}, {"matching", b.Matching != nil}} {
		if choice.given {
			named = append(named, choice.name)
		}
	}
	if len(named) == 0 {
		return replay, invalid("body.all", `say which events: "all": true, "since": a time, or "matching": fields`)
	}
	if len(named) > 1 {
		return replay, invalid("body."+named[1], "send only one of "+strings.Join(named, " and "))
	}
	var err error
	if replay.Since, err = parseTime("body.since", b.Since); err != nil {
		return replay, err
	}
	if b.Matching != nil {
		replay.Matching, err = b.Matching.question()
	}
	return replay, err
}

// question checks what the schema cannot. Errors name the field.
func (m *MatchesBody) question() (*ipn.Question, error) {
	if *m == (MatchesBody{}) {
		return nil, invalid("body.matching", `name at least one field; "all": true stands for every event`)
	}
	for _, f := range []struct{ name, text string }{
		{"transactionType", m.TransactionType}, {"referenceNumber", m.ReferenceNumber}, {"subscriptionId", m.SubscriptionID},
		{"merchantTransactionId", m.MerchantTransactionID}, {"accountId", m.AccountID},
	} {
		if !storable(f.text) {
			return nil, invalid("body.matching."+f.name, "write it as UTF-8 without NUL")
		}
	}
	q := &ipn.Question{
		TransactionType: ask.CanonicalType(m.TransactionType), ReferenceNumber: m.ReferenceNumber, SubscriptionID: m.SubscriptionID,
		MerchantTransactionID: m.MerchantTransactionID, AccountID: m.AccountID, Currency: strings.ToUpper(m.Currency), Test: m.Test,
	}
	var err error
	if q.From, err = parseTime("body.matching.from", m.From); err != nil {
		return nil, err
	}
	q.To, err = parseTime("body.matching.to", m.To)
	return q, err
}
