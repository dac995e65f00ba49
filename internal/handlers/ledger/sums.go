package ledger

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Totals returns the sums of movements that q asks for, ordered by day, kind and currency. An unknown grouping is that
// by currency, which all have in common.
func (r *Reader) Totals(ctx context.Context, q ipn.TotalsQuestion) ([]ipn.Total, error) {
	if q.GroupBy == ipn.TotalsByDay {
		return r.totalsByDay(ctx, q)
	}
	read := func(row pgx.CollectableRow) (ipn.Total, error) {
		t := ipn.Total{Test: q.Test}
		err := row.Scan(&t.Day, &t.Kind, &t.Currency, &t.Count, &t.Amount, &t.Tax, &t.USD)
		return t, err
	}
	p := cut(ipn.Span{From: q.From, To: q.To, Test: q.Test})
	return collect(ctx, r, read, `
		with parts as (
			select month, kind, currency, n, amount, tax, amount_usd from monthly_totals where test = $1 and month >= $2 and month < $3
			union all select date_trunc('month', day::timestamp)::date, kind, currency, n, amount, tax, amount_usd from daily_totals where test = $1 and day >= $4 and day < $5
			union all select date_trunc('month', day::timestamp)::date, kind, currency, n, amount, tax, amount_usd from daily_totals where test = $1 and day >= $6 and day < $7
			union all select date_trunc('month', day::timestamp)::date, kind, currency, -n, -amount, -tax, -amount_usd from daily_totals where test = $1 and day >= $8 and day < $9
			union all select date_trunc('month', day::timestamp)::date, kind, currency, -n, -amount, -tax, -amount_usd from daily_totals where test = $1 and day >= $10 and day < $11)
		select case $12 when 'month' then to_char(first, 'YYYY-MM') else '' end, shown, currency, n, amount::text, tax::text, usd::text
		from (
			select case $12 when 'month' then month end as first, case when $12 = 'transactionType' or kind = 'payout' then kind else '' end as shown,
				currency, sum(n)::bigint as n, sum(amount) as amount, sum(tax) as tax, sum(amount_usd) as usd
			from parts group by 1, 2, 3 having sum(n) > 0) as sums
		order by first, shown, currency`,
		append(p.arguments(), string(q.GroupBy))...)
}

// totalsByDay reads a year of days, which is thousands of rows, as the texts they come in, and puts them in order here: the
// server takes longer to sort them than to read them.
func (r *Reader) totalsByDay(ctx context.Context, q ipn.TotalsQuestion) ([]ipn.Total, error) {
	rows, err := r.pool.Query(ctx, `
		select day, payout, currency, n, amount, tax, amount_usd from daily_sums where test = $1 and day >= $2 and day < $3`,
		pgx.QueryResultFormats{pgx.TextFormatCode}, q.Test, dayOrEnd(q.From, pgtype.NegativeInfinity), dayOrEnd(q.To, pgtype.Infinity))
	if err != nil {
		return nil, known(err)
	}
	defer rows.Close()
	totals := []ipn.Total{}
	for rows.Next() {
		t, err := readTotal(rows.RawValues())
		if err != nil {
			return nil, unavailable(err)
		}
		t.Test = q.Test
		totals = append(totals, t)
	}
	slices.SortFunc(totals, func(a, b ipn.Total) int {
		return cmp.Or(strings.Compare(a.Day, b.Day), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Currency, b.Currency))
	})
	return totals, known(rows.Err())
}

// readTotal reads a row of texts. Of the kinds it tells payouts alone from the others.
func readTotal(row [][]byte) (t ipn.Total, err error) {
	t.Day, t.Currency = string(row[0]), string(row[2])
	if string(row[1]) == "t" {
		t.Kind = ipn.MovePayout
	}
	if t.Count, err = strconv.ParseInt(string(row[3]), 10, 64); err != nil {
		return t, err
	}
	for i, into := range []*decimal.Decimal{&t.Amount, &t.Tax, &t.USD} {
		if *into, err = ipn.ParseDigits(row[4+i]); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Balance returns what the span came to, by currency.
func (r *Reader) Balance(ctx context.Context, span ipn.Span) ([]ipn.Balance, error) {
	totals, err := r.Totals(ctx, ipn.TotalsQuestion{From: span.From, To: span.To, Test: span.Test, GroupBy: ipn.TotalsByKind})
	if err != nil {
		return nil, err
	}
	return balances(totals), nil
}

// balances folds totals by kind into one balance per currency, ordered by it.
func balances(totals []ipn.Total) []ipn.Balance {
	sums := make(map[string]*ipn.Balance)
	var currencies []string
	for i := range totals {
		t := &totals[i]
		b := sums[t.Currency]
		if b == nil {
			b = &ipn.Balance{Currency: t.Currency}
			sums[t.Currency] = b
			currencies = append(currencies, t.Currency)
		}
		switch kinds[t.Kind].side {
		case charges:
			b.Charges = b.Charges.Add(t.Amount)
		case refunds:
			b.Refunds = b.Refunds.Sub(t.Amount)
		case disputed:
			b.Disputed = b.Disputed.Sub(t.Amount)
		case beside:
			b.Payouts = b.Payouts.Sub(t.Amount)
		}
	}
	slices.Sort(currencies)
	found := make([]ipn.Balance, len(currencies))
	for i, currency := range currencies {
		b := sums[currency]
		b.Net = b.Charges.Sub(b.Refunds).Sub(b.Disputed)
		b.Rest = b.Net.Sub(b.Payouts)
		found[i] = *b
	}
	return found
}

// Taxes returns the taxes of the span, ordered by country, state and currency. A dispute that was won gives back what it
// took: Reversed and Refunded can be negative where the opening lies before the span.
func (r *Reader) Taxes(ctx context.Context, span ipn.Span) ([]ipn.TaxTotal, error) {
	read := func(row pgx.CollectableRow) (t ipn.TaxTotal, err error) {
		err = row.Scan(&t.Country, &t.State, &t.Currency, &t.Charged, &t.Collected, &t.Reversed, &t.Refunded, &t.Untold)
		return t, err
	}
	p := cut(span)
	return collect(ctx, r, read, `
		with parts as (
			select country, state, currency, n, charged, collected, reversed, refunded, untold from monthly_taxes where test = $1 and month >= $2 and month < $3
			union all select country, state, currency, n, charged, collected, reversed, refunded, untold from daily_taxes where test = $1 and day >= $4 and day < $5
			union all select country, state, currency, n, charged, collected, reversed, refunded, untold from daily_taxes where test = $1 and day >= $6 and day < $7
			union all select country, state, currency, -n, -charged, -collected, -reversed, -refunded, -untold from daily_taxes where test = $1 and day >= $8 and day < $9
			union all select country, state, currency, -n, -charged, -collected, -reversed, -refunded, -untold from daily_taxes where test = $1 and day >= $10 and day < $11)
		select country, state, currency, sum(charged)::text, sum(collected)::text, sum(reversed)::text, sum(refunded)::text, sum(untold)::bigint
		from parts group by country, state, currency having sum(n) > 0 order by country, state, currency`, p.arguments()...)
}

// Contracts returns the limit best of the plans, by dollars, then by plan and currency.
func (r *Reader) Contracts(ctx context.Context, span ipn.Span, limit int) ([]ipn.ContractTotal, error) {
	read := func(row pgx.CollectableRow) (t ipn.ContractTotal, err error) {
		err = row.Scan(&t.ContractID, &t.Currency, &t.Charges, &t.Charged, &t.Reversed, &t.USD)
		return t, err
	}
	p := cut(span)
	return collect(ctx, r, read, `
		with parts as (
			select contract_id, currency, n, charges, charged, reversed, amount_usd from monthly_contracts where test = $1 and month >= $2 and month < $3
			union all select contract_id, currency, n, charges, charged, reversed, amount_usd from daily_contracts where test = $1 and day >= $4 and day < $5
			union all select contract_id, currency, n, charges, charged, reversed, amount_usd from daily_contracts where test = $1 and day >= $6 and day < $7
			union all select contract_id, currency, -n, -charges, -charged, -reversed, -amount_usd from daily_contracts where test = $1 and day >= $8 and day < $9
			union all select contract_id, currency, -n, -charges, -charged, -reversed, -amount_usd from daily_contracts where test = $1 and day >= $10 and day < $11)
		select contract_id, currency, sum(charges)::bigint, sum(charged)::text, sum(reversed)::text, sum(amount_usd)::text
		from parts group by contract_id, currency having sum(n) > 0 order by sum(amount_usd) desc, contract_id, currency limit $12`, append(p.arguments(), max(limit, 1))...)
}

// Rates returns how often things went wrong in the span.
func (r *Reader) Rates(ctx context.Context, span ipn.Span) (ipn.Rates, error) {
	totals, err := r.Totals(ctx, ipn.TotalsQuestion{From: span.From, To: span.To, Test: span.Test, GroupBy: ipn.TotalsByKind})
	if err != nil {
		return ipn.Rates{}, err
	}
	var rates ipn.Rates
	for i := range totals {
		switch t := &totals[i]; kinds[t.Kind].side {
		case charges:
			rates.Charges += t.Count
		case refunds:
			rates.Refunds += t.Count
		case disputed:
			if kinds[t.Kind].sign == ipn.Out {
				rates.Chargebacks += t.Count
			}
		}
	}
	err = r.pool.QueryRow(ctx, `
		select coalesce(sum(n), 0)::bigint from daily_declines
		where test = $1 and ($2::date is null or day >= $2) and ($3::date is null or day < $3)`, span.Test, dayOf(span.From), dayOf(span.To)).Scan(&rates.Declines)
	if err != nil {
		return ipn.Rates{}, known(err)
	}
	rates.DeclineRate = share(rates.Declines, rates.Charges+rates.Declines)
	rates.ChargebackRate = share(rates.Chargebacks, rates.Charges)
	rates.RefundRate = share(rates.Refunds, rates.Charges)
	return rates, nil
}

// DisputeAges returns what is disputed, ordered by currency, age and deadline.
func (r *Reader) DisputeAges(ctx context.Context, q ipn.DisputeAgesQuestion) ([]ipn.DisputeAgeTotal, error) {
	const day = 24 * time.Hour
	read := func(row pgx.CollectableRow) (t ipn.DisputeAgeTotal, err error) {
		err = row.Scan(&t.Age, &t.PastDeadline, &t.Currency, &t.Count, &t.Amount)
		return t, err
	}
	return collect(ctx, r, read, `
		select case when opened_at > $2 then $5 when opened_at > $3 then $6 else $7 end, $8 and opened_at <= $4, coalesce(currency, ''), count(*), coalesce(sum(amount), 0)::text
		from disputes where test = $1 and state = 'open'
		group by 1, 2, 3 order by 3, 1, 2`,
		q.Test, q.Now.Add(-7*day), q.Now.Add(-14*day), q.Now.AddDate(0, 0, -q.Days),
		string(ipn.DisputeUnderOneWeek), string(ipn.DisputeUnderTwoWeeks), string(ipn.DisputeOlder), q.Days > 0)
}

// share divides, to four decimals; null where there is nothing to divide by.
func share(part, whole int64) decimal.NullDecimal {
	if whole == 0 {
		return decimal.NullDecimal{}
	}
	return decimal.NewNullDecimal(decimal.NewFromInt(part).DivRound(decimal.NewFromInt(whole), 4))
}

// kindsOf returns the kinds of some sides, in alphabetical order.
func kindsOf(of ...side) []string {
	var names []string
	for kind, k := range kinds {
		if slices.Contains(of, k.side) {
			names = append(names, string(kind))
		}
	}
	slices.Sort(names)
	return names
}

// stretch is some days, last not one of them; the zero stretch is none.
type stretch struct{ first, last pgtype.Date }

// days is how many they are; of none and of those without an end it is 0.
func (s stretch) days() int {
	if !s.first.Valid || s.first.InfinityModifier != pgtype.Finite || s.last.InfinityModifier != pgtype.Finite {
		return 0
	}
	return int(s.last.Time.Sub(s.first.Time) / (24 * time.Hour))
}

// parts are a span put together of whole months and of days that are added to them, or taken from them again: whichever are
// fewer, so that years are read from few rows, and the month that is under way too.
type parts struct {
	test   bool
	months stretch
	days   [4]stretch // the first two are added, the others taken away
}

// arguments are those of a statement over parts: the book, the months, the days.
func (p parts) arguments() []any {
	all := []any{p.test, p.months.first, p.months.last}
	for _, s := range p.days {
		all = append(all, s.first, s.last)
	}
	return all
}

// cut returns the parts of a span, of which some may be none.
func cut(span ipn.Span) parts {
	from, to := dayOrEnd(span.From, pgtype.NegativeInfinity), dayOrEnd(span.To, pgtype.Infinity)
	whole := stretch{from, to}
	if whole.days() < 0 {
		return parts{test: span.Test}
	}
	added, taken := parts{test: span.Test, months: whole}, parts{test: span.Test, months: whole}
	if from.InfinityModifier == pgtype.Finite {
		added.months.first.Time = firstOfMonth(from.Time.AddDate(0, 0, -1), 1) // itself, if a month begins with it
		taken.months.first.Time = firstOfMonth(from.Time, 0)
		added.days[0] = stretch{from, added.months.first}
		taken.days[2] = stretch{taken.months.first, from}
	}
	if to.InfinityModifier == pgtype.Finite {
		added.months.last.Time = firstOfMonth(to.Time, 0)
		taken.months.last.Time = firstOfMonth(to.Time.AddDate(0, 0, -1), 1)
		added.days[1] = stretch{added.months.last, to}
		taken.days[3] = stretch{to, taken.months.last}
	}
	if added.months.days() < 0 { // within one month
		if taken.days[2].days()+taken.days[3].days() < whole.days() {
			return taken
		}
		return parts{test: span.Test, days: [4]stretch{whole}}
	}
	if taken.days[2].days() < added.days[0].days() {
		added.months.first, added.days[0], added.days[2] = taken.months.first, stretch{}, taken.days[2]
	}
	if taken.days[3].days() < added.days[1].days() {
		added.months.last, added.days[1], added.days[3] = taken.months.last, stretch{}, taken.days[3]
	}
	return added
}

func firstOfMonth(day time.Time, further time.Month) time.Time {
	return time.Date(day.Year(), day.Month()+further, 1, 0, 0, 0, 0, time.UTC)
}

// dayOrEnd returns the day of an instant in UTC, the given end of time for the zero one.
func dayOrEnd(t time.Time, open pgtype.InfinityModifier) pgtype.Date {
	if t.IsZero() {
		return pgtype.Date{InfinityModifier: open, Valid: true}
	}
	return pgtype.Date{Time: t.UTC().Truncate(24 * time.Hour), Valid: true}
}

// dayOf returns the day of an instant in UTC; null for the zero time, which does not restrict.
func dayOf(t time.Time) pgtype.Date {
	return pgtype.Date{Time: t.UTC(), Valid: !t.IsZero()}
}
