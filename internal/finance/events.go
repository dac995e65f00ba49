package finance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func (o *Office) registerEvents(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-events", Method: http.MethodGet, Path: "/api/v1/events", Tags: []string{"events"},
		Summary:     "List events, newest first",
		Description: "Filters narrow together. Follow nextCursor for the next page; it is absent on the last one. Pages stay stable while events arrive.",
	}, o.listEvents)
	huma.Register(api, huma.Operation{
		OperationID: "get-event", Method: http.MethodGet, Path: "/api/v1/events/{id}", Tags: []string{"events"},
		Summary:     "Show one event with its typed details, every field, its variants and what became of it at each handler",
		Description: "handlers is empty where no handler runs. The state before says that the handler began behind the event and was never asked about it.",
	}, o.getEvent)
	huma.Register(api, huma.Operation{
		OperationID: "get-event-raw", Method: http.MethodGet, Path: "/api/v1/events/{id}/raw", Tags: []string{"events"},
		Summary: "Get the body of the first receipt, byte for byte",
		Responses: map[string]*huma.Response{"200": {
			Description: "The exact bytes as received.",
			Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		}},
	}, o.getRaw)
}

// eventsQuery is the query of the event list; the names are the payment service's own where it has them.
type eventsQuery struct {
	TransactionType       string `query:"transactionType" maxLength:"255" doc:"Canonical name, such as CHARGE; an unknown type by the name it was sent with" example:"CHARGE"`
	ReferenceNumber       string `query:"referenceNumber" maxLength:"255"`
	SubscriptionID        string `query:"subscriptionId" maxLength:"255"`
	MerchantTransactionID string `query:"merchantTransactionId" maxLength:"255"`
	AccountID             string `query:"accountId" maxLength:"255"`
	Currency              string `query:"currency" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217 code" example:"EUR"`
	From                  string `query:"from" doc:"Earliest time, inclusive: RFC 3339, or YYYY-MM-DD for the start of that day in UTC" example:"2026-11-01"`
	To                    string `query:"to" doc:"Latest time, exclusive, written as from"`
	Test                  string `query:"test" enum:"true,false" doc:"Only test orders, or none"`
	Q                     string `query:"q" maxLength:"255" doc:"An exact reference, subscription, merchant transaction or account number"`
	Cursor                string `query:"cursor" maxLength:"64" doc:"nextCursor of the page before"`
	Limit                 int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type eventsPage struct {
	Body struct {
		Items      []EventView `json:"items"`
		NextCursor string      `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listEvents(ctx context.Context, in *eventsQuery) (*eventsPage, error) {
	question, err := in.question()
	if err != nil {
		return nil, err
	}
	question.Limit++ // one more than asked for tells whether there is a next page
	events, err := o.History.Events(ctx, question)
	if err != nil {
		return nil, problem(err)
	}
	page := &eventsPage{}
	if len(events) == question.Limit {
		events = events[:len(events)-1]
		page.Body.NextCursor = encodeCursor(events[len(events)-1].Position(question.Order))
	}
	page.Body.Items = make([]EventView, len(events))
	for i := range events {
		page.Body.Items[i] = o.view(&events[i])
	}
	return page, nil
}

// question checks what the schema cannot: bytes that no stored text has, times and the cursor. Errors name the parameter.
func (in *eventsQuery) question() (ipn.Question, error) {
	if err := in.checkTexts(); err != nil {
		return ipn.Question{}, err
	}
	q := ipn.Question{
		TransactionType: canonicalType(in.TransactionType), ReferenceNumber: in.ReferenceNumber, SubscriptionID: in.SubscriptionID,
		MerchantTransactionID: in.MerchantTransactionID, AccountID: in.AccountID, Currency: strings.ToUpper(in.Currency), Text: in.Q, Limit: in.Limit,
	}
	var err error
	if q.From, err = parseTime("query.from", in.From); err != nil {
		return q, err
	}
	if q.To, err = parseTime("query.to", in.To); err != nil {
		return q, err
	}
	if in.Test != "" {
		test := in.Test == "true"
		q.Test = &test
	}
	if in.Cursor != "" {
		position, ok := decodeCursor(in.Cursor)
		if !ok {
			return q, badCursor()
		}
		q.After = &position
	}
	return q, nil
}

// checkTexts refuses what the database could only refuse too, so that a bad question is not told as an outage.
func (in *eventsQuery) checkTexts() error {
	for _, p := range []struct{ name, text string }{
		{"transactionType", in.TransactionType}, {"referenceNumber", in.ReferenceNumber}, {"subscriptionId", in.SubscriptionID},
		{"merchantTransactionId", in.MerchantTransactionID}, {"accountId", in.AccountID}, {"q", in.Q},
	} {
		if !storable(p.text) {
			return invalid("query."+p.name, "write it as UTF-8 without NUL")
		}
	}
	return nil
}

// storable tells whether the database could hold the text; what it cannot hold, it cannot be asked for.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// parseTime reads an instant or a day, the zero time from "". The error names the location, such as query.from.
func parseTime(location, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, invalid(location, "write it as 2026-11-01 or 2026-11-01T08:30:00Z")
}

func badCursor() error {
	return invalid("query.cursor", "pass nextCursor of the page before, unchanged")
}

// invalid names the part of a request that cannot be answered, and says how to mend it.
func invalid(location, mend string) error {
	return huma.Error422UnprocessableEntity("validation failed", &huma.ErrorDetail{Message: mend, Location: location})
}

// problem maps the record's errors to what a caller is told; the operator reads the chain in the log.
func problem(err error) error {
	if errors.Is(err, ipn.ErrNotFound) {
		return huma.Error404NotFound("there is nothing under this id")
	}
	return huma.Error503ServiceUnavailable("the record cannot be read right now, try again")
}

type eventID struct {
	ID int64 `path:"id" minimum:"1"`
}

type eventAnswer struct{ Body eventDetail }

func (o *Office) getEvent(ctx context.Context, in *eventID) (*eventAnswer, error) {
	event, err := o.History.Event(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	variants, err := o.History.Variants(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	var handlings []ipn.Handling
	if o.Handlers != nil {
		if handlings, err = o.Handlers.Handlings(ctx, in.ID); err != nil {
			return nil, problem(err)
		}
	}
	return &eventAnswer{Body: o.detail(event, variants, handlings)}, nil
}

type rawAnswer struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (o *Office) getRaw(ctx context.Context, in *eventID) (*rawAnswer, error) {
	event, err := o.History.Event(ctx, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	if event.Raw == nil {
		return nil, huma.Error404NotFound("the body of this event was dropped by retention")
	}
	return &rawAnswer{ContentType: "application/octet-stream", Disposition: `attachment; filename="ipn.txt"`, Body: event.Raw}, nil
}
