package finance

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// registerReports adds what spans of days came to. All of it is read from sums that are kept, so that a year costs what a
// month does; that they are the plain sums of the movements is tested.
func (o *Office) registerReports(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-totals", Method: http.MethodGet, Path: "/api/v1/totals", Tags: []string{"reports"}, Metadata: access.Needs(access.See),
		Summary: "Add up the money that moved",
		Description: "Amounts are signed: what comes in is positive. Currencies are never added up. Payouts from the balance to the bank stand beside the net, never in it: " +
			"however it is grouped, they are items of their own, with the kind payout.",
	}, o.getTotals)
	huma.Register(api, huma.Operation{
		OperationID: "get-balance", Method: http.MethodGet, Path: "/api/v1/balance", Tags: []string{"reports"}, Metadata: access.Needs(access.See),
		Summary: "Charges less refunds less disputes, what was paid out, and the rest, by currency",
		Description: "rest is what no IPN explains: fees, reserves, and what is still to be paid out. The payment service may pay out in another currency than it charges in; " +
			"nothing is converted here.",
	}, o.getBalance)
	huma.Register(api, huma.Operation{
		OperationID: "get-taxes", Method: http.MethodGet, Path: "/api/v1/taxes", Tags: []string{"reports"}, Metadata: access.Needs(access.See),
		Summary: "Tax collected and refunded, by the shopper's country and state",
		Description: "As far as the IPNs tell it: a partial refund tells no tax of its own, and untold counts such. A dispute that was won gives back what it took, " +
			"so reversed is negative where only the verdict lies in the span.",
	}, o.getTaxes)
	huma.Register(api, huma.Operation{
		OperationID: "get-contracts", Method: http.MethodGet, Path: "/api/v1/contracts", Tags: []string{"reports"}, Metadata: access.Needs(access.See),
		Summary:     "The plans that brought most, by their sum in US dollars",
		Description: "A plan has an item for each currency it was sold in. An empty contractId stands for movements whose events named none.",
	}, o.getContracts)
	huma.Register(api, huma.Operation{
		OperationID: "get-rates", Method: http.MethodGet, Path: "/api/v1/rates", Tags: []string{"reports"}, Metadata: access.Needs(access.See),
		Summary: "How often payments fail, are disputed and are refunded",
		Description: "Counts, and shares of 0 to 1 with four decimals; a share is null where there is nothing to divide by. " +
			"A failure that two types of IPN tell of counts once.",
	}, o.getRates)
}

// SpanQuery asks for a span of days. Exported, because what is embedded is only read if it is.
type SpanQuery struct {
	From string `query:"from" doc:"First day, in UTC: YYYY-MM-DD" example:"2026-11-01"`
	To   string `query:"to" doc:"The day after the last one, written as from" example:"2026-12-01"`
}

// span reads the days. Errors name the parameter.
func (q *SpanQuery) span(test bool) (ipn.Span, error) {
	span := ipn.Span{Test: test}
	var err error
	if span.From, err = parseDay("query.from", q.From); err != nil {
		return span, err
	}
	if span.To, err = parseDay("query.to", q.To); err != nil {
		return span, err
	}
	if !span.From.IsZero() && !span.To.IsZero() && !span.To.After(span.From) {
		return span, invalid("query.to", "write a day behind from: it is the first one that does not count")
	}
	return span, nil
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

type totalsQuery struct {
	BookQuery
	SpanQuery
	GroupBy string `query:"groupBy" enum:"day,month,transactionType,currency" default:"day" doc:"transactionType groups by the kind of the movement. The currency is always kept apart"`
}

type totalsAnswer struct {
	Body struct {
		Items []totalView `json:"items" doc:"By day, kind and currency"`
	}
}

func (o *Office) getTotals(ctx context.Context, in *totalsQuery) (*totalsAnswer, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	totals, err := o.Books.Totals(ctx, ipn.TotalsQuestion{From: span.From, To: span.To, GroupBy: ipn.TotalGroup(in.GroupBy), Test: span.Test})
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

type spanQuery struct {
	BookQuery
	SpanQuery
}

type balanceAnswer struct {
	Body struct {
		Items []balanceView `json:"items" doc:"By currency"`
	}
}

func (o *Office) getBalance(ctx context.Context, in *spanQuery) (*balanceAnswer, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	balances, err := o.Books.Balance(ctx, span)
	if err != nil {
		return nil, problem(err)
	}
	answer := &balanceAnswer{}
	answer.Body.Items = make([]balanceView, len(balances))
	for i, b := range balances {
		answer.Body.Items[i] = viewBalance(b)
	}
	return answer, nil
}

type taxesAnswer struct {
	Body struct {
		Items []taxView `json:"items" doc:"By country, state and currency"`
	}
}

func (o *Office) getTaxes(ctx context.Context, in *spanQuery) (*taxesAnswer, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	taxes, err := o.Books.Taxes(ctx, span)
	if err != nil {
		return nil, problem(err)
	}
	answer := &taxesAnswer{}
	answer.Body.Items = make([]taxView, len(taxes))
	for i, t := range taxes {
		answer.Body.Items[i] = viewTax(t)
	}
	return answer, nil
}

type contractsQuery struct {
	BookQuery
	SpanQuery
	Limit int `query:"limit" default:"20" minimum:"1" maximum:"1000" doc:"How many items"`
}

type contractsAnswer struct {
	Body struct {
		Items []contractView `json:"items" doc:"The best first"`
	}
}

func (o *Office) getContracts(ctx context.Context, in *contractsQuery) (*contractsAnswer, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	contracts, err := o.Books.Contracts(ctx, span, in.Limit)
	if err != nil {
		return nil, problem(err)
	}
	answer := &contractsAnswer{}
	answer.Body.Items = make([]contractView, len(contracts))
	for i, c := range contracts {
		answer.Body.Items[i] = viewContract(c)
	}
	return answer, nil
}

type ratesAnswer struct{ Body ratesView }

func (o *Office) getRates(ctx context.Context, in *spanQuery) (*ratesAnswer, error) {
	span, err := in.span(in.test())
	if err != nil {
		return nil, err
	}
	rates, err := o.Books.Rates(ctx, span)
	if err != nil {
		return nil, problem(err)
	}
	return &ratesAnswer{Body: viewRates(rates)}, nil
}
