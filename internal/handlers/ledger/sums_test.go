package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// spans are days that lie with and without whole months in them.
func spans() []ipn.Span {
	days := []time.Time{{}}
	for _, day := range []string{"2023-12-31", "2024-01-01", "2024-05-01", "2024-05-02", "2024-05-03", "2024-05-29", "2024-06-01", "2024-06-30", "2024-07-01", "2024-07-02"} {
		at, _ := time.Parse(time.DateOnly, day)
		days = append(days, at)
	}
	var all []ipn.Span
	for _, from := range days {
		for _, to := range days {
			if from.IsZero() || to.IsZero() || to.After(from) {
				all = append(all, ipn.Span{From: from, To: to}, ipn.Span{From: from, To: to, Test: true})
			}
		}
	}
	return all
}

func within(span ipn.Span, m *ipn.Movement) bool {
	day := m.At.UTC().Truncate(24 * time.Hour)
	return m.Test == span.Test && !day.Before(span.From) && (span.To.IsZero() || day.Before(span.To))
}

// reverses tells the kinds that take charged money away, and the one that gives it back.
var reverses = map[ipn.MovementKind]bool{ipn.MoveRefund: true, ipn.MoveCancellationRefund: true, ipn.MoveChargeback: true, ipn.MoveChargebackReversal: true}

// plain adds up the movements of a span without any of the books.
func plain(movements []ipn.Movement, span ipn.Span) (balance, taxes, contracts []string) {
	type sums [6]decimal.Decimal
	places, plans, nets := make(map[string]sums), make(map[string]sums), make(map[string]sums)
	add := func(to map[string]sums, key string, values ...decimal.Decimal) {
		s := to[key]
		for i, v := range values {
			s[i] = s[i].Add(v)
		}
		to[key] = s
	}
	one, none := decimal.NewFromInt(1), decimal.Zero
	for i := range movements {
		m := &movements[i]
		if !within(span, m) {
			continue
		}
		place, plan := fmt.Sprintf("%s/%s/%s", m.Country, m.State, m.Currency), fmt.Sprintf("%s/%s", m.ContractID, m.Currency)
		switch out, untold := m.Amount.Neg(), none; {
		case m.Kind == ipn.MovePayout:
			add(nets, m.Currency, none, none, none, out)
		case reverses[m.Kind]:
			if m.Kind != ipn.MoveChargebackReversal && !m.Tax.Valid {
				untold = one
			}
			add(places, place, none, none, out, m.Tax.Decimal.Neg(), untold)
			add(plans, plan, none, none, out, m.AmountUSD.Decimal)
			if m.Kind == ipn.MoveRefund || m.Kind == ipn.MoveCancellationRefund {
				add(nets, m.Currency, none, out)
			} else {
				add(nets, m.Currency, none, none, out)
			}
		default:
			add(places, place, m.Amount, m.Tax.Decimal)
			add(plans, plan, one, m.Amount, none, m.AmountUSD.Decimal)
			add(nets, m.Currency, m.Amount)
		}
	}
	for key, s := range nets {
		net := s[0].Sub(s[1]).Sub(s[2])
		balance = append(balance, fmt.Sprint(key, " ", s[0], s[1], s[2], net, s[3], net.Sub(s[3])))
	}
	for key, s := range places {
		taxes = append(taxes, fmt.Sprint(key, " ", s[0], s[1], s[2], s[3], s[4]))
	}
	for key, s := range plans {
		contracts = append(contracts, fmt.Sprint(key, " ", s[0], s[1], s[2], s[3]))
	}
	return balance, taxes, contracts
}

func TestReportsOfAnySpanAreThePlainSumsOfTheMovements(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(11, 11)), 400)...)
	events := d.log()
	for batch := range slices.Chunk(events, 37) {
		d.project(batch)
	}
	movements := ledger.Fold(events).Movements
	for _, span := range spans() {
		name := fmt.Sprintf("from %s to %s, test %t", span.From.Format(time.DateOnly), span.To.Format(time.DateOnly), span.Test)
		wantBalance, wantTaxes, wantContracts := plain(movements, span)

		balance, err := d.reader.Balance(t.Context(), span)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range balance {
			got = append(got, fmt.Sprint(b.Currency, " ", b.Charges, b.Refunds, b.Disputed, b.Net, b.Payouts, b.Rest))
		}
		d.wantLines("balance "+name, got, wantBalance)

		taxes, err := d.reader.Taxes(t.Context(), span)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, s := range taxes {
			got = append(got, fmt.Sprint(s.Country, "/", s.State, "/", s.Currency, " ", s.Charged, s.Collected, s.Reversed, s.Refunded, " ", s.Untold))
		}
		d.wantLines("taxes "+name, got, wantTaxes)

		contracts, err := d.reader.Contracts(t.Context(), span, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(contracts, func(a, b ipn.ContractTotal) int { return b.USD.Cmp(a.USD) }) {
			t.Errorf("contracts %s: not the best first", name)
		}
		got = nil
		for _, c := range contracts {
			got = append(got, fmt.Sprint(c.ContractID, "/", c.Currency, " ", c.Charges, " ", c.Charged, c.Reversed, c.USD))
		}
		d.wantLines("contracts "+name, got, wantContracts)
	}
}

func TestTheBestPlansComeFirstAndNoMoreThanAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(
		body("01 CHARGE ref=R1 plan=P1 amount=10 cur=USD"), body("02 CHARGE ref=R2 plan=P2 amount=30 cur=USD"),
		body("03 CHARGE ref=R3 plan=P3 amount=40 cur=USD"), body("04 REFUND ref=R3 rev=D1 amount=40 reversal=25 cur=USD"),
	)
	d.project(d.log())
	contracts, err := d.reader.Contracts(t.Context(), ipn.Span{}, 2)
	if err != nil || len(contracts) != 2 || contracts[0].ContractID != "P2" || contracts[1].ContractID != "P3" {
		t.Fatalf("got %+v, %v", contracts, err)
	}
	if c := contracts[1]; c.Charges != 1 || c.Charged.String() != "40" || c.Reversed.String() != "25" || c.USD.String() != "15" {
		t.Errorf("a plan with a refund that names none: %+v", c)
	}
}

func TestAReversalIsToldWhereItsChargeWas(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(
		body("01 CHARGE ref=R1 amount=21 tax=3.35 country=us state=ca plan=P1"), body("02 REFUND ref=R1 rev=D1 amount=21 reversal=9"),
		body("03 CHARGEBACK ref=R1 rev=D2 amount=-12 tax=1 country=DE"), body("05 CHARGEBACK_STATUS_CHANGED ref=R1 rev=D2 amount=-12 status=COMPLETED_WON country=FR state=X"),
		body("04 REFUND ref=R9 rev=D3 reversal=1 amount=5"),
	)
	d.project(d.log())
	want := []string{"charge US/CA/P1", "refund US/CA/P1", "chargeback DE//P1", "chargeback_reversal DE//P1", "refund //"}
	got := d.column("select kind || ' ' || coalesce(country, '') || '/' || coalesce(state, '') || '/' || coalesce(contract_id, '') from movements order by event_id")
	d.wantLines("where movements are told", got, want)
}

func TestRatesAreSharesWithFourDecimals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var bodies []string
	for i := range 3 {
		bodies = append(bodies, body(fmt.Sprintf("02 CHARGE ref=C%d amount=21", i)), body(fmt.Sprintf("03 RECURRING ref=N%d amount=21", i)))
	}
	bodies = append(bodies, body("03 REFUND ref=C1 rev=D1 amount=21 reversal=9"), body("03 CHARGEBACK ref=C2 rev=D2 amount=-21"),
		body("04 CHARGEBACK_STATUS_CHANGED ref=C2 rev=D2 amount=-21 status=COMPLETED_WON"), body("03 DECLINE ref=F1 amount=21"), body("09 DECLINE ref=F2 amount=21"),
		body("03 DECLINE ref=F3 amount=21 test=Y"))
	d.post(bodies...)
	d.project(d.log())
	told := func(r ipn.Rates, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		rate := func(n decimal.NullDecimal) string {
			if !n.Valid {
				return "null"
			}
			return n.Decimal.StringFixed(4)
		}
		return fmt.Sprint(r.Charges, r.Declines, r.Chargebacks, r.Refunds, " ", rate(r.DeclineRate), " ", rate(r.ChargebackRate), " ", rate(r.RefundRate))
	}
	from := func(n int) time.Time { return time.Date(2024, 5, n, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		span ipn.Span
		want string
	}{
		{"of all days", ipn.Span{}, "6 2 1 1 0.2500 0.1667 0.1667"},
		{"of some days", ipn.Span{From: from(3), To: from(9)}, "3 1 1 1 0.2500 0.3333 0.3333"},
		{"of days without charges", ipn.Span{From: from(9)}, "0 1 0 0 1.0000 null null"},
		{"of days without anything", ipn.Span{From: from(10)}, "0 0 0 0 null null null"},
		{"of test orders", ipn.Span{Test: true}, "0 1 0 0 1.0000 null null"},
	} {
		if got := told(d.reader.Rates(t.Context(), tt.span)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestAFailureThatTwoTypesTellOfIsOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, events string
		want         string // of each day that has any
	}{
		{"a payment refused", "01 DECLINE ref=R1", "2024-05-01 1"},
		{"a renewal that two types tell of", "01 SUBSCRIPTION_CHARGE_FAILURE sub=S1; 01 DECLINE ref=R1 sub=S1", "2024-05-01 1"},
		{"a renewal that failed on two days", "01 SUBSCRIPTION_CHARGE_FAILURE sub=S1; 02 DECLINE ref=R1 sub=S1", "2024-05-01 1, 2024-05-02 1"},
		{"two tries of a day that one type tells of", "01 DECLINE ref=R1 sub=S1; 01 DECLINE ref=R2 sub=S1; 01 SUBSCRIPTION_CHARGE_FAILURE sub=S1", "2024-05-01 2"},
		{"two subscriptions", "01 SUBSCRIPTION_CHARGE_FAILURE sub=S1; 01 SUBSCRIPTION_CHARGE_FAILURE sub=S2", "2024-05-01 2"},
		{"a payment that two types tell of", "01 FRAUD_DECLINE ref=R1; 01 CC_CHARGE_FAILED ref=R1", "2024-05-01 1"},
		{"the type of old", "01 CANCEL ref=R1", "2024-05-01 1"},
		{"a renewal that tells no subscription", "01 SUBSCRIPTION_CHARGE_FAILURE ref=R1; 01 DECLINE ref=R1", "2024-05-01 1"},
		{"a test order beside a live one", "01 DECLINE ref=R1; 01 CC_CHARGE_FAILED ref=R1 test=Y", "2024-05-01 1, 2024-05-01 1"},
		{"what ended well", "01 CHARGE amount=21; 02 CANCELLATION sub=S1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			for _, line := range lines(tt.events) {
				d.post(body(line))
			}
			events := d.log()
			slices.Reverse(events)
			for i := range events { // the last first, each by itself, and then all again
				d.project(events[i : i+1])
			}
			d.project(events)
			if got := strings.Join(d.column("select day || ' ' || n from daily_declines order by day, test"), ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			d.wantDeclines()
		})
	}
}

// A program from before the reports may still lead the ledger when the schema has them: what it books is in the sums at
// once, and what it did not count is counted by the next program that can.
func TestWhatAnOlderProgramBooksIsAddedUpToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE ref=R1 amount=21 tax=1 plan=P1"), body("01 DECLINE ref=R2"), body("02 DECLINE ref=R3"), body("03 CHARGE ref=R4 amount=5"))
	events := d.log()
	d.project(events[:2])
	d.execute("delete from movements")
	d.execute(`insert into movements (event_id, line, kind, test, reference_number, at, day, currency, amount, tax)
		values ($1, 0, 'charge', false, 'R1', '2024-05-01 17:00Z', '2024-05-01', 'EUR', 21, 1)`, events[0].ID)
	d.execute("update movements set amount = 20")
	d.execute("update ledger_reach set event_id = $1", events[2].ID)
	d.wantSums("daily_taxes", "monthly_taxes", "daily_contracts", "monthly_contracts")
	d.project(events[3:])
	d.wantDeclines()
	if got := d.column("select declines::text from ledger_reach")[0]; got != fmt.Sprint(events[3].ID) {
		t.Errorf("counted up to %s, want %d", got, events[3].ID)
	}
	d.rebuild(0)
	d.wantBooks(events)
}

func TestSumsFollowTheMovementsWhoeverWritesThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	random := rand.New(rand.NewPCG(21, 21))
	kinds := []string{"charge", "recurring", "chargeback_reversal", "refund", "cancellation_refund", "chargeback", "payout"}
	for step := range 60 {
		switch n := random.IntN(4); n {
		case 0:
			d.execute("delete from movements where event_id % 7 = $1", random.IntN(7))
		case 1:
			d.execute(`update movements set amount = amount * 2, tax = case when event_id % 2 = 0 then null else amount / 10 end, country = (array['DE', null])[1 + event_id % 2], day = '2024-06-01', at = '2024-06-01'
				where event_id % 5 = $1`, random.IntN(5))
		default:
			for line := range 6 {
				d.execute(`insert into movements (event_id, line, kind, test, at, day, currency, amount, tax, amount_usd, country, state, contract_id)
					select $1, $2, k.kind, $3, m.at, m.at, 'EUR', k.sign * 2.50, case when $4 then k.sign * 0.25 end, case when $3 then k.sign * 3 end, nullif($5, ''), nullif($6, ''), nullif($7, '')
					from (values ($8::text, case when $8 in ('charge', 'recurring', 'chargeback_reversal') then 1 else -1 end)) as k (kind, sign), (values ($9::date)) as m (at)`,
					step, line, random.IntN(4) == 0, random.IntN(2) == 0, []string{"US", "DE", ""}[random.IntN(3)], []string{"CA", ""}[random.IntN(2)], []string{"P1", "P2", ""}[random.IntN(3)],
					kinds[random.IntN(len(kinds))], []string{"2024-05-31", "2024-06-01", "2024-06-02"}[random.IntN(3)])
			}
		}
		d.wantSums("daily_taxes", "monthly_taxes", "daily_contracts", "monthly_contracts")
		if t.Failed() {
			return
		}
	}
}

func TestTheTaxOfARefundStandsWhereThatOfItsChargeDoes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE ref=R1 amount=21 tax=3.35 country=US state=CA"), body("02 REFUND ref=R1 rev=D1 amount=21 reversal=21 country=us"),
		body("03 CHARGE ref=R2 amount=10 tax=1 country=US state=CA"), body("04 REFUND ref=R2 rev=D2 amount=10 reversal=10 country=CA"))
	d.project(d.log())
	got := d.column("select distinct country || '/' || state from daily_taxes order by 1")
	if want := []string{"CA/", "US/CA"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSumsOfTotalsFollowTheTotalsWhoeverWritesThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	random := rand.New(rand.NewPCG(22, 22))
	for range 60 {
		switch random.IntN(4) {
		case 0:
			d.execute("delete from daily_totals where extract(day from day)::int % 5 = $1", random.IntN(5))
		case 1:
			d.execute("update daily_totals set n = n + 1 - n % 2, amount = -amount, tax = 1.5, amount_usd = amount_usd + n where kind <> $1", []string{"charge", "payout", ""}[random.IntN(3)])
		default:
			d.execute(`insert into daily_totals (test, day, kind, currency, n, amount, tax, amount_usd)
				select $1, date '2024-05-28' + days, kind, currency, 2, 10.25, 1, 11 from generate_series($2::int, $2 + 3) days, unnest('{charge,refund,payout}'::text[]) kind, unnest('{EUR,USD}'::text[]) currency
				on conflict do nothing`, random.IntN(2) == 0, random.IntN(9))
		}
		d.wantRows("daily_sums", "select * from daily_sums", "select test, day, kind = 'payout', currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from daily_totals group by 1, 2, 3, 4")
		d.wantRows("monthly_totals", "select * from monthly_totals", `
			select test, (to_char(day, 'YYYY-MM') || '-01')::date, kind, currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from daily_totals group by 1, 2, 3, 4`)
		if t.Failed() {
			return
		}
	}
	d.execute("insert into daily_totals values (false, '2024-05-01', 'charge', 'EUR', 1, 1, 1, 1)")
	_, err := d.conn.Exec(t.Context(), "update daily_totals set day = day + 1")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23001" {
		t.Errorf("a total was moved: %v", err)
	}
}
