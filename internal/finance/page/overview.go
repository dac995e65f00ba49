package page

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const (
	chartDays  = 30 // days on the chart of the overview, today among them
	chartLines = 3  // currencies that have a chart: those with the most movements

	atOnce = 4 // questions of one page that the record answers at the same time
)

// overviewData is what the first page shows.
type overviewData struct {
	ThisMonth, LastMonth string
	Months               []monthsOf
	Charts               []chart
	Rates                ipn.Rates

	Last     *ipn.Stored // the IPN seen last; nil: there is none
	Today    int64       // events received since midnight
	Handlers []handlerHealth
	Drift    *ipn.ConfigurationState // nil: nobody looks
	Drifted  bool                    // the payment service is known to hold something else than is wanted
	Needs    []need
	Clear    bool // no need is open
}

// monthsOf is what two months came to in one currency.
type monthsOf struct {
	Currency   string
	This, Last ipn.Balance
}

// overview shows what came in, what it came to, and what a person has to look at.
func (p *Page) overview(v *visit) (sheet, error) {
	day := v.now.Truncate(24 * time.Hour)
	month := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	last := month.AddDate(0, -1, 0)
	data := &overviewData{ThisMonth: month.Format("January 2006"), LastMonth: last.Format("January 2006")}
	group, ctx := errgroup.WithContext(v.Context())
	group.SetLimit(atOnce)
	if p.Office.Books != nil {
		group.Go(func() (err error) {
			data.Months, err = p.months(ctx, ipn.Span{From: month, Test: v.test}, ipn.Span{From: last, To: month, Test: v.test})
			return err
		})
		group.Go(func() (err error) {
			data.Charts, err = p.charts(ctx, ipn.TotalsQuestion{From: day.AddDate(0, 0, 1-chartDays), To: day.AddDate(0, 0, 1), GroupBy: ipn.TotalsByDay, Test: v.test})
			return err
		})
		group.Go(func() (err error) {
			data.Rates, err = p.Office.Books.Rates(ctx, ipn.Span{From: month, Test: v.test})
			return err
		})
	}
	group.Go(func() (err error) {
		data.Last, data.Today, err = p.pulse(ctx, day, v.test)
		return err
	})
	group.Go(func() (err error) {
		data.Handlers, err = p.health(ctx)
		return err
	})
	group.Go(func() (err error) {
		data.Needs, err = p.needs(ctx, v)
		return err
	})
	if err := group.Wait(); err != nil {
		return sheet{}, err
	}
	if p.Office.Configuration != nil {
		state := p.Office.Configuration.ConfigurationState()
		data.Drift, data.Drifted = &state, state.InSync != nil && !*state.InSync
	}
	data.Clear = !slices.ContainsFunc(data.Needs, func(n need) bool { return n.Count > 0 })
	return sheet{name: "overview", title: "Overview", data: data, chart: len(data.Charts) > 0}, nil
}

// months puts two months side by side, by currency.
func (p *Page) months(ctx context.Context, this, last ipn.Span) ([]monthsOf, error) {
	sums := map[string]*monthsOf{}
	read := func(span ipn.Span, into func(*monthsOf) *ipn.Balance) error {
		balances, err := p.Office.Books.Balance(ctx, span)
		for _, b := range balances {
			if sums[b.Currency] == nil {
				sums[b.Currency] = &monthsOf{Currency: b.Currency}
			}
			*into(sums[b.Currency]) = b
		}
		return err
	}
	if err := read(this, func(m *monthsOf) *ipn.Balance { return &m.This }); err != nil {
		return nil, err
	}
	if err := read(last, func(m *monthsOf) *ipn.Balance { return &m.Last }); err != nil {
		return nil, err
	}
	months := make([]monthsOf, 0, len(sums))
	for _, m := range sums {
		months = append(months, *m)
	}
	slices.SortFunc(months, func(a, b monthsOf) int { return cmp.Compare(a.Currency, b.Currency) })
	return months, nil
}

// pulse tells what came in last, and how much today. Test orders come in at the same door; each book tells of its own.
func (p *Page) pulse(ctx context.Context, midnight time.Time, test bool) (*ipn.Stored, int64, error) {
	latest, err := p.Office.History.Events(ctx, ipn.Question{Test: &test, Order: ipn.ByReceived, Limit: 1, FactsOnly: true})
	if err != nil || len(latest) == 0 {
		return nil, 0, err
	}
	if latest[0].ReceivedAt.Before(midnight) {
		return &latest[0], 0, nil
	}
	today, err := p.Office.History.CountEvents(ctx, ipn.Question{Test: &test, ReceivedFrom: midnight}, mostCounted)
	return &latest[0], today, err
}

// mostCounted is where the count of a day ends: a page is not worth more of the record's time.
const mostCounted = 100_000

// handlerHealth is a handler in one word.
type handlerHealth struct {
	ipn.HandlerState
	Word string // running, paused, held, behind or gone
}

// behindAfter is the age of the oldest waiting event from which a handler is behind.
const behindAfter = 60 // seconds

func (p *Page) health(ctx context.Context) ([]handlerHealth, error) {
	if p.Office.Handlers == nil {
		return nil, nil
	}
	states, err := p.Office.HandlerStates(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]handlerHealth, len(states))
	for i, s := range states {
		found[i] = handlerHealth{s, healthWord(&s)}
	}
	return found, nil
}

func healthWord(s *ipn.HandlerState) string {
	switch {
	case !s.Configured:
		return "not configured"
	case s.PausedAt != nil:
		return "paused"
	case s.HeldSince != nil:
		return "held"
	case s.Leader == "":
		return "no leader"
	case s.LagSeconds > behindAfter:
		return "behind"
	}
	return "running"
}
