package finance

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerBooks adds what the ledger knows. Nothing here writes: the books are made of events alone.
func (o *Office) registerBooks(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-transaction", Method: http.MethodGet, Path: "/api/v1/transactions/{referenceNumber}", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary: "Show what became of a reference number: state, amounts, the events that made it so",
		Description: "The amounts are folded from all events of the number, in whatever order they came in, and summary tells them in words. " +
			"The timeline is read from the log, so an event may stand in it a moment before the amounts know of it.",
	}, o.getTransaction)
	huma.Register(api, huma.Operation{
		OperationID: "get-subscription", Method: http.MethodGet, Path: "/api/v1/subscriptions/{id}", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary:     "Show what became of a subscription: state, plan, next due date, the events that made it so",
		Description: "Folded from all events of the subscription, in whatever order they came in.",
	}, o.getSubscription)
	huma.Register(api, huma.Operation{
		OperationID: "list-subscriptions", Method: http.MethodGet, Path: "/api/v1/subscriptions", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary: "List the subscriptions, those that are due next first",
		Description: "Those that tell no due date come last. atRisk leaves those that may be lost: past due, not to be renewed, " +
			"or with something a person should look at; a cancelled one is lost already.",
	}, o.listSubscriptions)
	huma.Register(api, huma.Operation{
		OperationID: "list-disputes", Method: http.MethodGet, Path: "/api/v1/disputes", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary:     "List the disputes by their opening",
		Description: "The sender tells no deadline: estimatedDeadline is the day of the opening plus a number of days that is set here.",
	}, o.listDisputes)
	huma.Register(api, huma.Operation{
		OperationID: "sum-disputes", Method: http.MethodGet, Path: "/api/v1/disputes/summary", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary:     "Add up the open disputes by their age",
		Description: "pastDeadline counts again those whose estimated deadline has passed; it is absent where no deadline is estimated.",
	}, o.sumDisputes)
	huma.Register(api, huma.Operation{
		OperationID: "list-payouts", Method: http.MethodGet, Path: "/api/v1/payouts", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary:     "List what was paid out to the bank, the latest first",
		Description: "A payout in several currencies has an item for each. Payouts that could not be read are under /api/v1/unbooked.",
	}, o.listPayouts)
	huma.Register(api, huma.Operation{
		OperationID: "list-unbooked", Method: http.MethodGet, Path: "/api/v1/unbooked", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary: "List the money that is not booked, and why, that of the newest events first",
		Description: "An event stands here once for each reason, and may have movements as well. What is listed is missing from the totals for a person to judge; " +
			"an entry leaves the list by itself when later events settle it.",
	}, o.listUnbooked)
	o.registerReports(api)
	o.registerStories(api)
}

// BookQuery chooses between the two books. Exported, because what is embedded is only read if it is.
type BookQuery struct {
	Test string `query:"test" enum:"true,false" default:"false" doc:"true: the book of test orders, which never enter the live one"`
}

func (q *BookQuery) test() bool { return q.Test == "true" }

type transactionQuery struct {
	BookQuery
	ReferenceNumber string `path:"referenceNumber" maxLength:"255" doc:"The sender's number of the transaction" example:"1234567890"`
}

type transactionAnswer struct{ Body transactionView }

// mostDisputes are shown with their transaction; a charge has one, seldom two.
const mostDisputes = 100

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
	disputes, err := o.Books.Disputes(ctx, ipn.DisputeQuestion{ReferenceNumber: in.ReferenceNumber, Test: test, OldestFirst: true, Limit: mostDisputes})
	if err != nil {
		return nil, problem(err)
	}
	return &transactionAnswer{Body: o.viewTransaction(transaction, disputes, timeline)}, nil
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
	view := viewSubscription(subscription)
	return &subscriptionAnswer{Body: subscriptionView{SubscriptionBook: view.SubscriptionBook, LastAmount: view.LastAmount, Timeline: timeline}}, nil
}

// now returns the time that open disputes have aged to.
func (o *Office) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}
