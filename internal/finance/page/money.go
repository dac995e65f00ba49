package page

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Rows of the lists of the money page. The rest is told to be there, and is in the export and the API.
const (
	mostTotals    = 200
	mostTaxes     = 100
	mostContracts = 20
	mostUnbooked  = 50

	longestDaily = 100 // days of a span that are told one by one; a longer one is told by months
)

// moneyData is what a span of days came to.
type moneyData struct {
	Span    span
	Presets []preset
	Groups  []choice

	Balance   []ipn.Balance
	Totals    []ipn.Total
	MoreTotal int // rows of the totals that are left out
	Charts    []chart
	Taxes     []ipn.TaxTotal
	MoreTaxes int
	Contracts []ipn.ContractTotal
	Rates     ipn.Rates
	Unbooked  []ipn.UnbookedEvent
}

// span is the days that somebody asks about, as the form has them.
type span struct {
	From, To time.Time // To exclusive
	Last     time.Time // the last day of it
	GroupBy  ipn.TotalGroup
}

// preset is a span that is often asked for.
type preset struct {
	Name     string
	From, To string
	Chosen   bool
}

// choice is an entry of a select.
type choice struct {
	Value, Name string
	Chosen      bool
}

// totalGroups are the groupings as people call them.
var totalGroups = []struct {
	by   ipn.TotalGroup
	name string
}{{ipn.TotalsByDay, "day"}, {ipn.TotalsByMonth, "month"}, {ipn.TotalsByKind, "kind"}, {ipn.TotalsByCurrency, "currency"}}

// money shows what a span of days came to: this month, unless another is asked for.
func (p *Page) money(v *visit) (sheet, error) {
	if p.Office.Books == nil {
		return sheet{}, errNothing
	}
	s, mistake := readSpan(v)
	if mistake != nil {
		s, _ = thisMonth(v.now).grouped("")
	}
	data := &moneyData{Span: s, Presets: presets(v.now, s)}
	for _, g := range totalGroups {
		data.Groups = append(data.Groups, choice{string(g.by), g.name, g.by == s.GroupBy})
	}
	if err := p.sums(v, s, data); err != nil {
		return sheet{}, err
	}
	return sheet{name: "money", title: "Money", data: data, chart: len(data.Charts) > 0}, mistake
}

// ByTime tells whether each row of the totals is of a day or a month.
func (d *moneyData) ByTime() bool {
	return d.Span.GroupBy == ipn.TotalsByDay || d.Span.GroupBy == ipn.TotalsByMonth
}

// TimeWord is what stands above the days or months.
func (d *moneyData) TimeWord() string {
	if d.Span.GroupBy == ipn.TotalsByMonth {
		return "Month"
	}
	return "Day"
}

// Export is the address that the movements of the span are taken along from, in a book.
func (d *moneyData) Export(format string, test bool) string {
	return "/api/v1/export?" + url.Values{
		"of": {string(export.Movements)}, "format": {format}, "test": {strconv.FormatBool(test)},
		"from": {d.Span.From.Format(time.DateOnly)}, "to": {d.Span.To.Format(time.DateOnly)},
	}.Encode()
}

// sums asks the books for everything that the page tells of a span.
func (p *Page) sums(v *visit, s span, data *moneyData) error {
	books, asked := p.Office.Books, ipn.Span{From: s.From, To: s.To, Test: v.test}
	group, ctx := errgroup.WithContext(v.Context())
	group.SetLimit(atOnce)
	group.Go(func() (err error) { data.Balance, err = books.Balance(ctx, asked); return err })
	group.Go(func() (err error) { data.Rates, err = books.Rates(ctx, asked); return err })
	group.Go(func() (err error) { data.Contracts, err = books.Contracts(ctx, asked, mostContracts); return err })
	group.Go(func() (err error) {
		data.Taxes, err = books.Taxes(ctx, asked)
		data.MoreTaxes = max(0, len(data.Taxes)-mostTaxes)
		data.Taxes = data.Taxes[:len(data.Taxes)-data.MoreTaxes]
		return err
	})
	group.Go(func() (err error) {
		data.Unbooked, err = books.Unbooked(ctx, ipn.UnbookedQuestion{Test: v.test, Limit: mostUnbooked})
		return err
	})
	group.Go(func() error { return p.totals(ctx, s, v.test, data) })
	return group.Wait()
}

// totals are the list as it is grouped, and the charts where it is by time.
func (p *Page) totals(ctx context.Context, s span, test bool, data *moneyData) error {
	q := ipn.TotalsQuestion{From: s.From, To: s.To, GroupBy: s.GroupBy, Test: test}
	totals, err := p.Office.Books.Totals(ctx, q)
	if err != nil {
		return err
	}
	if s.GroupBy == ipn.TotalsByDay || s.GroupBy == ipn.TotalsByMonth {
		data.Charts = chartsOf(totals, q)
		slices.Reverse(totals) // the latest day first
	}
	data.MoreTotal = max(0, len(totals)-mostTotals)
	data.Totals = totals[:len(totals)-data.MoreTotal]
	return nil
}

// readSpan reads from and to, both days of UTC, to being the last day of the span and not the one after it, as people say it.
// A mistake names the field.
func readSpan(v *visit) (span, error) {
	query := v.URL.Query()
	s := thisMonth(v.now)
	for _, end := range []struct {
		name string
		at   *time.Time
	}{{"from", &s.From}, {"to", &s.Last}} {
		text := query.Get(end.name)
		if text == "" {
			continue
		}
		at, mend := ask.Time(text)
		if mend != "" || !at.Equal(at.Truncate(24*time.Hour)) {
			return s, wrong(end.name, "Write a day of UTC such as 2026-11-01.")
		}
		*end.at = at
	}
	if s.Last.Before(s.From) {
		return s, wrong("to", "Write a day that is not before the first one.")
	}
	const longest = 10 * 366
	if s.Last.Sub(s.From) > longest*24*time.Hour {
		return s, wrong("from", "Ask for ten years at most.")
	}
	s.To = s.Last.AddDate(0, 0, 1)
	return s.grouped(query.Get("groupBy"))
}

// thisMonth is the span from the first of the month to today.
func thisMonth(now time.Time) span {
	today := now.Truncate(24 * time.Hour)
	return span{From: time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC), Last: today, To: today.AddDate(0, 0, 1)}
}

// grouped chooses how the totals are listed: by days, or by months where the days would be too many.
func (s span) grouped(by string) (span, error) {
	daily := s.To.Sub(s.From) <= longestDaily*24*time.Hour
	for _, g := range totalGroups {
		if by == string(g.by) {
			s.GroupBy = g.by
		}
	}
	switch {
	case s.GroupBy == "" && by != "":
		return s, wrong("groupBy", "Choose one of the list.")
	case s.GroupBy == "" && daily:
		s.GroupBy = ipn.TotalsByDay
	case s.GroupBy == "" || s.GroupBy == ipn.TotalsByDay && !daily:
		s.GroupBy = ipn.TotalsByMonth
	}
	return s, nil
}

// presets are the months and years that books are kept by.
func presets(now time.Time, chosen span) []preset {
	today := now.Truncate(24 * time.Hour)
	month := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC)
	quarter := month.AddDate(0, -(int(month.Month())-1)%3, 0)
	year := time.Date(today.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	var found []preset
	for _, s := range []struct {
		name     string
		from, to time.Time // to inclusive
	}{
		{"This month", month, today},
		{month.AddDate(0, -1, 0).Format("January"), month.AddDate(0, -1, 0), month.AddDate(0, 0, -1)},
		{"This quarter", quarter, today},
		{"Last quarter", quarter.AddDate(0, -3, 0), quarter.AddDate(0, 0, -1)},
		{year.Format("2006"), year, today},
		{year.AddDate(-1, 0, 0).Format("2006"), year.AddDate(-1, 0, 0), year.AddDate(0, 0, -1)},
	} {
		found = append(found, preset{Name: s.name, From: s.from.Format(time.DateOnly), To: s.to.Format(time.DateOnly),
			Chosen: s.from.Equal(chosen.From) && s.to.Equal(chosen.Last)})
	}
	return found
}
