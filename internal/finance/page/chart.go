package page

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// chart is the money of one currency by day or month, drawn by a script and written as a table beside it.
type chart struct {
	Currency string
	Points   []point // a point for each day or month, also for those on which nothing moved
}

// point is what moved on a day or in a month, payouts apart.
type point struct {
	Day    string // YYYY-MM-DD, or YYYY-MM
	Count  int64
	Amount decimal.Decimal
}

// charts draws the totals of q, one chart for each of the currencies with the most movements. Payouts are left out: they move
// what was counted already.
func (p *Page) charts(ctx context.Context, q ipn.TotalsQuestion) ([]chart, error) {
	totals, err := p.Office.Books.Totals(ctx, q)
	if err != nil {
		return nil, err
	}
	return chartsOf(totals, q), nil
}

func chartsOf(totals []ipn.Total, q ipn.TotalsQuestion) []chart {
	byCurrency := map[string]map[string]point{}
	counts := map[string]int64{}
	for _, t := range totals {
		if t.Kind == ipn.MovePayout {
			continue
		}
		if byCurrency[t.Currency] == nil {
			byCurrency[t.Currency] = map[string]point{}
		}
		before := byCurrency[t.Currency][t.Day]
		byCurrency[t.Currency][t.Day] = point{t.Day, before.Count + t.Count, before.Amount.Add(t.Amount)}
		counts[t.Currency] += t.Count
	}
	currencies := make([]string, 0, len(counts))
	for currency := range counts {
		currencies = append(currencies, currency)
	}
	slices.SortFunc(currencies, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	found := make([]chart, 0, chartLines)
	for _, currency := range currencies[:min(chartLines, len(currencies))] {
		c := chart{Currency: currency}
		for _, day := range daysOf(q) {
			at := byCurrency[currency][day]
			at.Day = day
			c.Points = append(c.Points, at)
		}
		found = append(found, c)
	}
	return found
}

// daysOf names every day or month of a span that has both ends.
func daysOf(q ipn.TotalsQuestion) []string {
	var days []string
	if q.GroupBy == ipn.TotalsByMonth {
		for at := time.Date(q.From.Year(), q.From.Month(), 1, 0, 0, 0, 0, time.UTC); at.Before(q.To); at = at.AddDate(0, 1, 0) {
			days = append(days, at.Format("2006-01"))
		}
		return days
	}
	for at := q.From; at.Before(q.To); at = at.AddDate(0, 0, 1) {
		days = append(days, at.Format(time.DateOnly))
	}
	return days
}

// JSON is what the script draws. Amounts are text, with all their decimals.
func (c chart) JSON() (string, error) {
	drawn := struct {
		Days   []string `json:"days"`
		Name   string   `json:"name"`
		Values []string `json:"values"`
	}{Name: c.Currency}
	for _, at := range c.Points {
		day := at.Day
		if len(day) == len("2006-01") {
			day += "-01"
		}
		drawn.Days, drawn.Values = append(drawn.Days, day), append(drawn.Values, at.Amount.String())
	}
	text, err := json.Marshal(drawn)
	return string(text), err
}

// Moved are the points on which something moved, the latest first: what the table beside the chart tells.
func (c chart) Moved() []point {
	var moved []point
	for _, at := range slices.Backward(c.Points) {
		if at.Count != 0 {
			moved = append(moved, at)
		}
	}
	return moved
}

// Words says what the points come to.
func (c chart) Words() string {
	sum := decimal.Zero
	for _, at := range c.Points {
		sum = sum.Add(at.Amount)
	}
	return money(sum, c.Currency) + " net"
}
