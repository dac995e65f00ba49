package finance

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerStories adds the answer to "what happened to this number", for those who have a number and do not know of what.
func (o *Office) registerStories(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-story", Method: http.MethodGet, Path: "/api/v1/stories/{number}", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary: "Tell what happened to a number, whatever it is the number of",
		Description: "A reference number, that of an earlier charge, a refund's or dispute's own, a subscription, the merchant's own id of a transaction, or an account: " +
			"is says which, and the timeline holds the events that bear the number in any of these. Both books are searched unless test is said.",
	}, o.getStory)
}

type storyQuery struct {
	Number string `path:"number" maxLength:"255" doc:"Any number somebody has at hand" example:"1012345678"`
	Test   string `query:"test" enum:"true,false" doc:"Only test orders, or none"`
}

type storyAnswer struct{ Body story }

// story is what happened to a number.
type story struct {
	Number   string          `json:"number"`
	Is       []numbered      `json:"is" doc:"What it is the number of; seldom of several things"`
	Timeline []timelineEntry `json:"timeline" doc:"The last 1,000 events that bear it, by the time they happened"`
	More     bool            `json:"more" doc:"There are events before these"`
}

// numbered is a thing that has the number.
type numbered struct {
	Kind             string   `json:"kind" enum:"transaction,subscription,reversal,merchantTransaction,account"`
	ID               string   `json:"id"`
	ReferenceNumbers []string `json:"referenceNumbers,omitempty" doc:"The transactions that a reversal or a merchant's id belongs to"`
}

// mostSteps are the events of one story.
const mostSteps = 1000

func (o *Office) getStory(ctx context.Context, in *storyQuery) (*storyAnswer, error) {
	if !storable(in.Number) {
		return nil, problem(ipn.ErrNotFound)
	}
	q := ipn.Question{Text: in.Number, Limit: mostSteps + 1, FactsOnly: true}
	if in.Test != "" {
		test := in.Test == "true"
		q.Test = &test
	}
	events, err := o.History.Events(ctx, q)
	if err == nil && len(events) == 0 {
		err = ipn.ErrNotFound
	}
	if err != nil {
		return nil, problem(err)
	}
	more := len(events) > mostSteps
	events = events[:min(len(events), mostSteps)]
	slices.Reverse(events)
	return &storyAnswer{Body: story{Number: in.Number, Is: thingsOf(in.Number, events), Timeline: timelineOf(events), More: more}}, nil
}

// numberKinds are the things that have numbers, in the order in which they are told.
var numberKinds = []struct {
	kind  string
	bears func(f *ipn.Facts, number string) bool
	names bool // the transactions it belongs to are worth telling
}{
	{"transaction", func(f *ipn.Facts, n string) bool { return f.ReferenceNumber == n || f.OriginalReference == n }, false},
	{"subscription", func(f *ipn.Facts, n string) bool { return f.SubscriptionID == n }, false},
	{"reversal", func(f *ipn.Facts, n string) bool { return f.ReversalReference == n }, true},
	{"merchantTransaction", func(f *ipn.Facts, n string) bool { return f.MerchantTransactionID == n }, true},
	{"account", func(f *ipn.Facts, n string) bool { return f.AccountID == n }, false},
}

// thingsOf returns what the events say the number is of.
func thingsOf(number string, events []ipn.Stored) []numbered {
	things := []numbered{}
	for _, k := range numberKinds {
		thing, found := numbered{Kind: k.kind, ID: number}, false
		for i := range events {
			f := &events[i].Facts
			if !k.bears(f, number) {
				continue
			}
			found = true
			if k.names && f.ReferenceNumber != "" && !slices.Contains(thing.ReferenceNumbers, f.ReferenceNumber) {
				thing.ReferenceNumbers = append(thing.ReferenceNumbers, f.ReferenceNumber)
			}
		}
		if found {
			things = append(things, thing)
		}
	}
	return things
}
