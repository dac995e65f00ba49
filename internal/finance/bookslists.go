package finance

import (
	"context"
	"errors"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// resume puts the place of a cursor where the list goes on; nothing without a cursor. bound is what must stay the same from
// page to page. Errors are fit to be shown.
func (o *Office) resume(ctx context.Context, list string, bound any, cursor string, place any) error {
	if cursor == "" {
		return nil
	}
	err := o.Cursors.Open(ctx, list, bound, cursor, place)
	switch {
	case errors.Is(err, ask.ErrCursor):
		return badCursor()
	case err != nil:
		return problem(err)
	}
	return nil
}

// turn cuts what was found to the page that was asked for, and makes the cursor of the next one, "" where found has no more
// than the page. Errors are fit to be shown.
func turn[T, P any](ctx context.Context, o *Office, list string, bound any, found []T, limit int, place func(*T) P) (page []T, next string, err error) {
	if len(found) <= limit {
		return found, "", nil
	}
	found = found[:limit]
	next, err = o.Cursors.Seal(ctx, list, bound, place(&found[limit-1]))
	if err != nil {
		return nil, "", problem(err)
	}
	return found, next, nil
}

type subscriptionsQuery struct {
	BookQuery
	State  string `query:"state" enum:"trial,active,past_due,cancel_at_period_end,cancelled,unknown" doc:"Only those in this state"`
	AtRisk string `query:"atRisk" enum:"true,false" default:"false" doc:"true: only those that may be lost"`
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type subscriptionsPage struct {
	Body struct {
		Items      []subscriptionItem `json:"items"`
		NextCursor string             `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listSubscriptions(ctx context.Context, in *subscriptionsQuery) (*subscriptionsPage, error) {
	q := ipn.SubscriptionQuestion{State: ipn.SubscriptionState(in.State), AtRisk: in.AtRisk == "true", Test: in.test(), Limit: in.Limit}
	found, next, err := o.ListSubscriptions(ctx, q, in.Cursor)
	if err != nil {
		return nil, err
	}
	page := &subscriptionsPage{}
	page.Body.NextCursor, page.Body.Items = next, make([]subscriptionItem, len(found))
	for i, s := range found {
		page.Body.Items[i] = viewSubscription(s)
	}
	return page, nil
}

// ListSubscriptions returns a page of at most q.Limit subscriptions, behind the cursor of the page before ("": the first
// one), and the cursor of the next page, "" on the last. Errors are fit to be shown.
func (o *Office) ListSubscriptions(ctx context.Context, q ipn.SubscriptionQuestion, cursor string) ([]ipn.SubscriptionBook, string, error) {
	const list = "subscriptions"
	bound, limit := q, q.Limit
	bound.Limit, q.Limit = 0, limit+1
	if err := o.resume(ctx, list, bound, cursor, &q.After); err != nil {
		return nil, "", err
	}
	found, err := o.Books.Subscriptions(ctx, q)
	if err != nil {
		return nil, "", problem(err)
	}
	return turn(ctx, o, list, bound, found, limit, (*ipn.SubscriptionBook).Position)
}

type disputesQuery struct {
	BookQuery
	State  string `query:"state" enum:"open,won,lost,closed" doc:"Only those in this state"`
	Order  string `query:"order" enum:"newest,oldest" default:"newest" doc:"Which opening comes first"`
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type disputesPage struct {
	Body struct {
		Items      []disputeView `json:"items"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listDisputes(ctx context.Context, in *disputesQuery) (*disputesPage, error) {
	q := ipn.DisputeQuestion{State: ipn.DisputeState(in.State), Test: in.test(), OldestFirst: in.Order == "oldest", Limit: in.Limit}
	found, next, err := o.ListDisputes(ctx, q, in.Cursor)
	if err != nil {
		return nil, err
	}
	page := &disputesPage{}
	page.Body.NextCursor, page.Body.Items = next, o.viewDisputes(found)
	return page, nil
}

// ListDisputes returns a page of at most q.Limit disputes, behind the cursor of the page before ("": the first one), and the
// cursor of the next page, "" on the last. Age and deadline are left to the caller. Errors are fit to be shown.
func (o *Office) ListDisputes(ctx context.Context, q ipn.DisputeQuestion, cursor string) ([]ipn.DisputeBook, string, error) {
	const list = "disputes"
	bound, limit := q, q.Limit
	bound.Limit, q.Limit = 0, limit+1
	if err := o.resume(ctx, list, bound, cursor, &q.After); err != nil {
		return nil, "", err
	}
	found, err := o.Books.Disputes(ctx, q)
	if err != nil {
		return nil, "", problem(err)
	}
	return turn(ctx, o, list, bound, found, limit, (*ipn.DisputeBook).Position)
}

type disputesSumAnswer struct{ Body disputesSum }

func (o *Office) sumDisputes(ctx context.Context, in *BookQuery) (*disputesSumAnswer, error) {
	found, err := o.Books.DisputeAges(ctx, ipn.DisputeAgesQuestion{Now: o.now(), Days: o.DisputeDays, Test: in.test()})
	if err != nil {
		return nil, problem(err)
	}
	return &disputesSumAnswer{Body: viewDisputeAges(found, o.DisputeDays)}, nil
}

type payoutsQuery struct {
	BookQuery
	SpanQuery
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type payoutsPage struct {
	Body struct {
		Items      []payoutView `json:"items"`
		NextCursor string       `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listPayouts(ctx context.Context, in *payoutsQuery) (*payoutsPage, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	found, next, err := o.ListPayouts(ctx, span, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	page := &payoutsPage{}
	page.Body.NextCursor, page.Body.Items = next, make([]payoutView, len(found))
	for i := range found {
		page.Body.Items[i] = viewPayout(&found[i])
	}
	return page, nil
}

// ListPayouts returns a page of at most limit movements to the bank, behind the cursor of the page before ("": the first one),
// and the cursor of the next page, "" on the last. Errors are fit to be shown.
func (o *Office) ListPayouts(ctx context.Context, span ipn.Span, cursor string, limit int) ([]ipn.Movement, string, error) {
	const list = "payouts"
	q := ipn.MovementQuestion{Span: span, Kind: ipn.MovePayout}
	bound := q
	q.Limit = limit + 1
	if err := o.resume(ctx, list, bound, cursor, &q.After); err != nil {
		return nil, "", err
	}
	found, err := o.Books.Movements(ctx, q)
	if err != nil {
		return nil, "", problem(err)
	}
	return turn(ctx, o, list, bound, found, limit, (*ipn.Movement).Position)
}

type unbookedQuery struct {
	BookQuery
	Reason string `query:"reason" enum:"amount_missing,currency_missing,same_reversal,opening_unknown" doc:"Only what is missing for this reason"`
	Cursor string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type unbookedPage struct {
	Body struct {
		Items      []unbookedView `json:"items"`
		NextCursor string         `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

func (o *Office) listUnbooked(ctx context.Context, in *unbookedQuery) (*unbookedPage, error) {
	const list = "unbooked"
	q := ipn.UnbookedQuestion{Test: in.test(), Reason: ipn.UnbookedReason(in.Reason)}
	bound := q
	q.Limit = in.Limit + 1
	if err := o.resume(ctx, list, bound, in.Cursor, &q.After); err != nil {
		return nil, err
	}
	found, err := o.Books.Unbooked(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	page := &unbookedPage{}
	found, page.Body.NextCursor, err = turn(ctx, o, list, bound, found, in.Limit, func(u *ipn.UnbookedEvent) ipn.UnbookedPosition { return u.Position() })
	page.Body.Items = make([]unbookedView, len(found))
	for i := range found {
		page.Body.Items[i] = viewUnbooked(&found[i])
	}
	return page, err
}
