package finance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerBooks adds what the ledger knows. Nothing here writes: the books are made of events alone.
func (o *Office) registerBooks(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-transaction", Method: http.MethodGet, Path: "/api/v1/transactions/{referenceNumber}", Tags: []string{"books"},
		Summary: "Show what became of a reference number: state, amounts, the events that made it so",
		Description: "The amounts are folded from all events of the number, in whatever order they came in. " +
			"The timeline is read from the log, so an event may stand in it a moment before the amounts know of it.",
	}, o.getTransaction)
	huma.Register(api, huma.Operation{
		OperationID: "get-subscription", Method: http.MethodGet, Path: "/api/v1/subscriptions/{id}", Tags: []string{"books"},
		Summary:     "Show what became of a subscription: state, plan, next due date, the events that made it so",
		Description: "Folded from all events of the subscription, in whatever order they came in.",
	}, o.getSubscription)
	huma.Register(api, huma.Operation{
		OperationID: "list-disputes", Method: http.MethodGet, Path: "/api/v1/disputes", Tags: []string{"books"},
		Summary:     "List the disputes, those opened last first",
		Description: "The sender tells no deadline: estimatedDeadline is the day of the opening plus a number of days that is set here.",
	}, o.listDisputes)
	huma.Register(api, huma.Operation{
		OperationID: "list-unbooked", Method: http.MethodGet, Path: "/api/v1/unbooked", Tags: []string{"books"},
		Summary: "List the money that is not booked, and why, that of the newest events first",
		Description: "An event stands here once for each reason, and may have movements as well. What is listed is missing from the totals for a person to judge; " +
			"an entry leaves the list by itself when later events settle it.",
	}, o.listUnbooked)
	huma.Register(api, huma.Operation{
		OperationID: "get-totals", Method: http.MethodGet, Path: "/api/v1/totals", Tags: []string{"books"},
		Summary: "Add up the money that moved",
		Description: "Amounts are signed: what comes in is positive. Currencies are never added up. Payouts from the balance to the bank stand beside the net, never in it: " +
			"however it is grouped, they are items of their own, with the kind payout.",
	}, o.getTotals)
}

// BookQuery chooses between the two books. Exported, because what is embedded is only read if it is.
type BookQuery struct {
	Test string `query:"test" enum:"true,false" default:"false" doc:"true: the book of test orders, which never enter the live one"`
}

func (q *BookQuery) test() bool { return q.Test == "true" }

type transactionQuery struct {
	BookQuery
	ReferenceNumber string `path:"referenceNumber" maxLength:"255" example:"1234567890"`
}

type transactionAnswer struct{ Body transactionView }

// getTransaction answers 404 for a number that only the log knows yet; the ledger is milliseconds behind it.
func (o *Office) getTransaction(ctx context.Context, in *transactionQuery) (*transactionAnswer, error) {
	if !storable(in.ReferenceNumber) {
		return nil, problem(ipn.ErrNotFound)
	}
	test := in.test()
	transaction, err := o.Books.Transaction(ctx, in.ReferenceNumber, test)
	if err != nil {
		return nil, problem(err)
	}
	timeline, err := o.timeline(ctx, ipn.Question{ReferenceNumber: in.ReferenceNumber, Test: &test})
	if err != nil {
		return nil, problem(err)
	}
	return &transactionAnswer{Body: viewTransaction(transaction, timeline)}, nil
}

type subscriptionQuery struct {
	BookQuery
	ID string `path:"id" maxLength:"255"`
}

type subscriptionAnswer struct{ Body subscriptionView }

func (o *Office) getSubscription(ctx context.Context, in *subscriptionQuery) (*subscriptionAnswer, error) {
	if !storable(in.ID) {
		return nil, problem(ipn.ErrNotFound)
	}
	test := in.test()
	subscription, err := o.Books.Subscription(ctx, in.ID, test)
	if err != nil {
		return nil, problem(err)
	}
	timeline, err := o.timeline(ctx, ipn.Question{SubscriptionID: in.ID, Test: &test})
	if err != nil {
		return nil, problem(err)
	}
	return &subscriptionAnswer{Body: viewSubscription(subscription, timeline)}, nil
}

type disputesQuery struct {
	BookQuery
	State  string `query:"state" enum:"open,won,lost,closed"`
	Cursor string `query:"cursor" maxLength:"5000" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type disputesPage struct {
	Body struct {
		Items      []disputeView `json:"items"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listDisputes(ctx context.Context, in *disputesQuery) (*disputesPage, error) {
	q := ipn.DisputeQuestion{State: ipn.DisputeState(in.State), Test: in.test(), Limit: in.Limit + 1}
	if in.Cursor != "" {
		position, ok := decodeDisputeCursor(in.Cursor)
		if !ok {
			return nil, badCursor()
		}
		q.After = &position
	}
	disputes, err := o.Books.Disputes(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	page := &disputesPage{}
	if len(disputes) > in.Limit {
		disputes = disputes[:in.Limit]
		page.Body.NextCursor = encodeDisputeCursor(disputes[in.Limit-1].Position())
	}
	page.Body.Items = make([]disputeView, len(disputes))
	for i, d := range disputes {
		page.Body.Items[i] = viewDispute(d, o.now(), o.DisputeDays)
	}
	return page, nil
}

// now returns the time that open disputes have aged to.
func (o *Office) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// The cursor of the disputes is the position of the last one of a page.
func encodeDisputeCursor(p ipn.DisputePosition) string {
	raw, err := json.Marshal([]string{p.OpenedAt.UTC().Format(time.RFC3339Nano), p.ReferenceNumber, p.ReversalReference})
	if err != nil { // strings can always be written
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func decodeDisputeCursor(text string) (ipn.DisputePosition, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var parts []string
	if err != nil || json.Unmarshal(raw, &parts) != nil || len(parts) != 3 {
		return ipn.DisputePosition{}, false
	}
	openedAt, err := time.Parse(time.RFC3339Nano, parts[0])
	p := ipn.DisputePosition{OpenedAt: openedAt, ReferenceNumber: parts[1], ReversalReference: parts[2]}
	return p, err == nil && storable(p.ReferenceNumber) && storable(p.ReversalReference)
}

type unbookedQuery struct {
	BookQuery
	Reason string `query:"reason" enum:"amount_missing,currency_missing,same_reversal,opening_unknown"`
	Cursor string `query:"cursor" maxLength:"400" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type unbookedPage struct {
	Body struct {
		Items      []unbookedView `json:"items"`
		NextCursor string         `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listUnbooked(ctx context.Context, in *unbookedQuery) (*unbookedPage, error) {
	q := ipn.UnbookedQuestion{Test: in.test(), Reason: ipn.UnbookedReason(in.Reason), Limit: in.Limit + 1}
	if in.Cursor != "" {
		id, reason, ok := decodeEntryCursor(in.Cursor)
		if !ok {
			return nil, badCursor()
		}
		q.After = &ipn.UnbookedPosition{EventID: id, Reason: ipn.UnbookedReason(reason)}
	}
	notes, err := o.Books.Unbooked(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	page := &unbookedPage{}
	if len(notes) > in.Limit {
		notes = notes[:in.Limit]
		last := notes[in.Limit-1].Position()
		page.Body.NextCursor = encodeEntryCursor(last.EventID, string(last.Reason))
	}
	page.Body.Items = make([]unbookedView, len(notes))
	for i := range notes {
		page.Body.Items[i] = viewUnbooked(&notes[i])
	}
	return page, nil
}

type totalsQuery struct {
	BookQuery
	From    string `query:"from" doc:"First day, in UTC: YYYY-MM-DD" example:"2026-11-01"`
	To      string `query:"to" doc:"The day after the last one, written as from" example:"2026-12-01"`
	GroupBy string `query:"groupBy" enum:"day,month,transactionType,currency" default:"day" doc:"transactionType groups by the kind of the movement. The currency is always kept apart"`
}

type totalsAnswer struct {
	Body struct {
		Items []totalView `json:"items" doc:"By day, kind and currency"`
	}
}

func (o *Office) getTotals(ctx context.Context, in *totalsQuery) (*totalsAnswer, error) {
	q := ipn.TotalsQuestion{GroupBy: ipn.TotalGroup(in.GroupBy), Test: in.test()}
	var err error
	if q.From, err = parseDay("query.from", in.From); err != nil {
		return nil, err
	}
	if q.To, err = parseDay("query.to", in.To); err != nil {
		return nil, err
	}
	totals, err := o.Books.Totals(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	answer := &totalsAnswer{}
	answer.Body.Items = make([]totalView, len(totals))
	for i, t := range totals {
		answer.Body.Items[i] = viewTotal(t)
	}
	return answer, nil
}

// parseDay reads a day as parseTime does. An instant is refused unless a day of UTC begins with it: the totals are kept
// by days, and half a day cannot be told from them.
func parseDay(location, text string) (time.Time, error) {
	day, err := parseTime(location, text)
	if err != nil || !day.Equal(day.Truncate(24*time.Hour)) {
		return time.Time{}, invalid(location, "write it as 2026-11-01: totals are kept by days of UTC")
	}
	return day.UTC(), nil
}
