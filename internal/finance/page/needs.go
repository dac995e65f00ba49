package page

import (
	"context"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// need is something that waits for a person.
type need struct {
	What  string // in words
	Why   string // what to do about it
	Count int
	More  bool   // there are more than Count
	Path  string // where the list of them is, without the book
	Query []any  // pairs of it
	Mood  string
}

const (
	mostNeeds    = 100 // of one kind that are counted; beyond it "100+" says enough
	transferDays = 30  // that a lost bank transfer is looked for
	deadlineDays = 7   // before the estimated deadline of a dispute
)

// needs asks for each kind of thing that a person has to look at, at most mostNeeds of each. The kinds that cannot occur here
// are left out.
func (p *Page) needs(ctx context.Context, v *visit) ([]need, error) {
	var found []need
	for _, ask := range []func(context.Context, *visit) (need, error){
		p.nearDeadline, p.failed, p.quarantined, p.unbooked, p.variants, p.unknownTypes, p.lostReturns, p.atRisk,
	} {
		n, err := ask(ctx, v)
		if err != nil {
			return nil, err
		}
		if n.What == "" {
			continue
		}
		if n.Count > mostNeeds {
			n.Count, n.More = mostNeeds, true
		}
		found = append(found, n)
	}
	return found, nil
}

// nearDeadline counts open disputes whose deadline, as it is estimated, is near or past. The oldest are looked at; the
// deadline follows the opening.
func (p *Page) nearDeadline(ctx context.Context, v *visit) (need, error) {
	if p.Office.Books == nil || p.Office.DisputeDays <= 0 {
		return need{}, nil
	}
	n := need{What: "disputes near their deadline", Why: "Answer them, or decide to let them go.", Path: "/disputes", Query: []any{"state", "open"}, Mood: "bad"}
	disputes, err := p.Office.Books.Disputes(ctx, ipn.DisputeQuestion{State: ipn.DisputeOpen, Test: v.test, OldestFirst: true, Limit: mostNeeds + 1})
	for _, d := range disputes {
		if deadline := d.Deadline(p.Office.DisputeDays); deadline != nil && deadline.Before(v.now.AddDate(0, 0, deadlineDays)) {
			n.Count++
		}
	}
	return n, err
}

// failed counts what handlers failed on, in both books: a handler hears of both.
func (p *Page) failed(ctx context.Context, _ *visit) (need, error) {
	if p.Office.Handlers == nil {
		return need{}, nil
	}
	n := need{What: "events given up on by a handler", Why: "Mend the cause, then redrive them.", Path: "/handlers", Mood: "bad"}
	parked, err := p.Office.Handlers.ParkedEvents(ctx, ipn.ParkedQuestion{State: ipn.EventBuried, Limit: mostNeeds + 1})
	if n.Count = len(parked); err != nil || n.Count > 0 {
		return n, err
	}
	parked, err = p.Office.Handlers.ParkedEvents(ctx, ipn.ParkedQuestion{State: ipn.EventParked, Limit: mostNeeds + 1})
	n.What, n.Why, n.Mood = "events that a handler will try again", "They are tried again by themselves.", "wait"
	n.Count = len(parked)
	return n, err
}

// quarantined counts posts that were not believed.
func (p *Page) quarantined(ctx context.Context, _ *visit) (need, error) {
	counts, err := p.Office.Quarantine.QuarantineCounts(ctx)
	n := need{What: "posts in quarantine", Why: "Find out who sent them; promote those that are real.", Path: "/quarantine", Mood: "bad"}
	for _, count := range counts {
		n.Count += int(count)
	}
	return n, err
}

func (p *Page) unbooked(ctx context.Context, v *visit) (need, error) {
	if p.Office.Books == nil {
		return need{}, nil
	}
	notes, err := p.Office.Books.Unbooked(ctx, ipn.UnbookedQuestion{Test: v.test, Limit: mostNeeds + 1})
	return need{What: "events whose money is not booked", Why: "They are missing from the totals.", Count: len(notes), Path: "/money#unbooked", Mood: "wait"}, err
}

func (p *Page) variants(ctx context.Context, v *visit) (need, error) {
	n, err := p.countEvents(ctx, ipn.Question{Variants: new(true), Test: &v.test})
	return need{What: "events that were told in two ways", Why: "Look at what differs; the first telling counts.", Count: n, Path: "/events", Query: []any{"hasVariants", "true"}, Mood: "wait"}, err
}

// lastDays is how far back events with a problem are a need, and not history.
const lastDays = 7

// unknownTypes counts recent events with something odd in them; a type that nobody knows is the gravest.
func (p *Page) unknownTypes(ctx context.Context, v *visit) (need, error) {
	since := v.now.Truncate(24*time.Hour).AddDate(0, 0, -lastDays)
	n, err := p.countEvents(ctx, ipn.Question{Problems: new(true), Test: &v.test, ReceivedFrom: since, Order: ipn.ByReceived})
	return need{What: "events with something odd in the last 7 days", Why: "Unknown types and malformed fields: see what is odd.", Count: n,
		Path: "/events", Query: []any{"hasProblems", "true", "receivedFrom", since.Format(time.DateOnly)}, Mood: "wait"}, err
}

// lostReturns counts bank transfers that the shopper said were paid and no IPN says so.
func (p *Page) lostReturns(ctx context.Context, v *visit) (need, error) {
	if p.Office.Transfers == nil {
		return need{}, nil
	}
	transfers, _, err := p.Office.ListTransfers(ctx, finance.TransfersAsked{Trouble: ipn.ReturnWithoutIPN, Test: v.test, Days: transferDays, Limit: mostNeeds + 1})
	return need{What: "bank transfers said to be paid, without an IPN", Why: "Ask the payment service for them.", Count: len(transfers),
		Path: "/transfers", Query: []any{"trouble", string(ipn.ReturnWithoutIPN)}, Mood: "bad"}, err
}

func (p *Page) atRisk(ctx context.Context, v *visit) (need, error) {
	if p.Office.Books == nil {
		return need{}, nil
	}
	found, err := p.Office.Books.Subscriptions(ctx, ipn.SubscriptionQuestion{AtRisk: true, Test: v.test, Limit: mostNeeds + 1})
	return need{What: "subscriptions at risk", Why: "Failed renewals, and those that end.", Count: len(found), Path: "/subscriptions", Query: []any{"atRisk", "true"}, Mood: "wait"}, err
}

// countEvents counts at most one more than is worth counting.
func (p *Page) countEvents(ctx context.Context, q ipn.Question) (int, error) {
	q.Limit, q.FactsOnly = mostNeeds+1, true
	events, err := p.Office.History.Events(ctx, q)
	return len(events), err
}
