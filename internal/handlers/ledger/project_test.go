package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// jumble is what comes to mind, under few enough numbers that everything meets everything: of one transaction several
// charges, reversals told twice, verdicts without a dispute, money that cannot be read, test orders among live ones.
func jumble(random *rand.Rand, n int) []string {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	bodies := make([]string, n)
	for i := range bodies {
		form := url.Values{
			"transactionType": {pick("CHARGE", "CHARGE", "RECURRING", "REFUND", "CANCELLATION_REFUND", "PENDING_REFUND", "CHARGEBACK", "CHARGEBACK_STATUS_CHANGED",
				"CANCELLATION_CHARGEBACK", "RDR", "AUTH_ONLY", "DECLINE", "CANCELLATION", "CANCEL_ON_RENEWAL", "CONTRACT_CHANGE", "SUBSCRIPTION_CHARGE_FAILURE", "CC_CHARGE_FAILED",
				"FRAUD_DECLINE", "PAYOUT", "TOMORROW")},
			"invoiceChargeAmount": {pick("21.00", "100", "7.125", "-21.00", "0.00", "1,234.5", "x", "")}, "invoiceChargeCurrency": {pick("EUR", "JPY", "KWD", "USD", "Euro")},
			"referenceNumber": {pick("R1", "R2", "R3", "R4", "R5", "R6", "")}, "reversalRefNum": {pick("D1", "D2", "D3", "")}, "subscriptionId": {pick("S1", "S2", "", "")},
			"transactionDate": {pick("05/01/2024 10:00 AM", "05/02/2024 11:59 PM", "05/03/2024 12:00 AM", "12/31/2023 07:00 PM", "06/30/2024 05:30 PM", "")}, "testMode": {pick("N", "N", "Y")},
			"reversalAmount": {pick("9.00", "21.00", "-100", "")}, "cbStatus": {pick("NEW", "IN_PROCESS", "Completed_Won", "COMPLETED_LOST", "STRANGE", "")},
			"taxChargeAmount": {pick("3.35", "0", "")}, "invoiceAmountUSD": {pick("22.84", "")}, "untilDate": {pick("06/01/2024 12:00 AM", "")},
			"amount[0]": {pick("5.00", "x")}, "currency[0]": {pick("EUR", "JPY")}, "amount[1]": {pick("7", "")}, "currency[1]": {pick("USD", "")},
			"oldContractId": {pick("P1", "P2")}, "newContractId": {pick("P1", "P2")}, "accountId": {pick("A1", "A2", "")}, "merchantTransactionId": {pick("M1", "")},
			"country": {pick("US", "us", "de", "")}, "state": {pick("CA", "ca", "NY", "")}, "contractId": {pick("P1", "P2", "")},
		}
		bodies[i] = form.Encode()
		if i > 0 && random.IntN(5) == 0 {
			bodies[i] = bodies[random.IntN(i)] // a resend
		}
	}
	return bodies
}

func TestTheBooksFollowFromTheEventsHoweverTheyAreCutAndOrdered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 37))
			d := newDesk(t)
			d.post(jumble(random, 150)...)
			events := d.log()

			var batches [][]ipn.Stored
			for rest := events; len(rest) > 0; {
				n := 1 + random.IntN(min(len(rest), 40))
				batches, rest = append(batches, rest[:n]), rest[n:]
			}
			if seed%2 == 1 { // what no cursor does: the promise holds for any order
				random.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
			}
			for i, batch := range batches {
				d.project(batch)
				if i%3 == 2 { // a replay
					d.project(batches[random.IntN(i)])
				}
				d.wantTotals()
			}
			d.wantBooks(events)
		})
	}
}

func TestTheBooksOfEveryBatchKnowAllEventsUpToTheirReach(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(1, 2)), 60)...)
	events := d.log()
	for i := range events {
		d.project(events[i : i+1])
		if i%10 == 9 {
			d.wantBooks(events[:i+1])
		}
	}
}

func TestAReplayForgetsNothingThatLaterEventsTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE amount=21"), body("02 REFUND rev=D1 amount=21 reversal=9"), body("03 CHARGEBACK rev=D2 amount=-12"))
	events := d.log()
	d.project(events)
	d.project(events[:1])
	d.wantBooks(events)
	if got := d.column("select event_id::text from ledger_reach"); got[0] != fmt.Sprint(events[2].ID) {
		t.Errorf("the books reach to %s, want %d", got[0], events[2].ID)
	}
}

func TestAReplayWritesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(3, 4)), 100)...)
	d.project(d.log())
	places := func() []string {
		return d.column(`select ctid || ' ' || xmin::text from movements union all select ctid || ' ' || xmin::text from transactions union all
			select ctid || ' ' || xmin::text from subscriptions union all select ctid || ' ' || xmin::text from disputes union all
			select ctid || ' ' || xmin::text from unbooked union all select ctid || ' ' || xmin::text from daily_totals union all
			select ctid || ' ' || xmin::text from daily_declines union all select ctid || ' ' || xmin::text from declines union all select ctid || ' ' || xmin::text from daily_taxes union all
			select ctid || ' ' || xmin::text from daily_sums union all select ctid || ' ' || xmin::text from monthly_totals union all
			select ctid || ' ' || xmin::text from monthly_taxes union all select ctid || ' ' || xmin::text from daily_contracts union all
			select ctid || ' ' || xmin::text from monthly_contracts order by 1`)
	}
	before := places()
	d.project(d.log())
	if after := places(); !slices.Equal(before, after) {
		t.Errorf("%d rows were there before, %d after, and not the same", len(before), len(after))
	}
}

func TestARowThatFollowsNoMoreIsTakenAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE amount=21 sub=S1"), body("02 CHARGEBACK rev=D1 amount=-21"), body("03 CHARGE ref=R2 amount="))
	events := d.log()
	d.project(events)
	// What an older program might have left behind.
	d.execute("update movements set line = 1 where kind = 'charge'")
	d.execute("update movements set kind = 'refund', amount = -20 where kind = 'chargeback'")
	d.execute("insert into unbooked (event_id, reason, test) select event_id, 'currency_missing', test from movements")
	d.execute("delete from daily_totals")
	d.execute("insert into daily_totals select test, day, kind, currency, count(*), sum(amount), coalesce(sum(tax), 0), coalesce(sum(amount_usd), 0) from movements group by 1, 2, 3, 4")
	d.execute("insert into disputes select test, reference_number, 'D9', state, status, path, amount, currency, opened_at, ended_at, last_at, events from disputes")
	d.project(events)
	d.wantBooks(events)
}

func TestAnEventThatIsNotInTheBatchIsNotBookedForItsSubscription(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE ref=R1 sub=S1 amount=5"), body("01 REFUND ref=R1 rev=D1 reversal=1 amount=5"), body("02 RECURRING ref=R2 sub=S1 amount=5"))
	events := d.log()
	d.project(events[2:]) // R1 is known by the subscription only, and not whole
	if got := d.column("select reference_number from transactions union all select reference_number from movements"); !slices.Equal(got, []string{"R2", "R2"}) {
		t.Errorf("got books of %v, want only those of R2", got)
	}
	if book, err := d.reader.Subscription(t.Context(), "S1", false); err != nil || book.Charges != 2 {
		t.Errorf("the subscription knows %d charges (%v), want 2", book.Charges, err)
	}
}

func TestNoEventsAreNoWork(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.project(nil)
	d.wantBooks(nil)
}

// TestMovementsTieOutWithTheRawBodies sums what was posted without any code of ours (B-37): each amount by its own
// text, each body once, in currencies of 0, 2 and 3 decimals.
func TestMovementsTieOutWithTheRawBodies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	random := rand.New(rand.NewPCG(37, 37))
	scale := map[string]int{"JPY": 0, "EUR": 2, "KWD": 3}
	var bodies []string
	for i := range 60 {
		currency := []string{"JPY", "EUR", "KWD"}[random.IntN(3)]
		amount := decimal.New(random.Int64N(1_000_000), int32(-scale[currency])).StringFixed(int32(scale[currency]))
		common := fmt.Sprintf("referenceNumber=%d&invoiceChargeCurrency=%s&transactionDate=05/01/2024+10:00+AM&invoiceChargeAmount=", i, currency)
		reversal := fmt.Sprintf("&reversalRefNum=D%d&reversalAmount=%s", i, amount)
		switch random.IntN(4) {
		case 0:
			bodies = append(bodies, "transactionType=REFUND&"+common+"999999999"+reversal)
		case 1:
			bodies = append(bodies, "transactionType=CHARGEBACK&"+common+"-"+amount+reversal)
		case 2:
			bodies = append(bodies, fmt.Sprintf("transactionType=PAYOUT&payoutId=%d&amount[0]=%s&currency[0]=%s", i, amount, currency))
		}
		bodies = append(bodies, "transactionType=CHARGE&"+common+amount, "transactionType=CHARGE&"+common+amount)
	}
	random.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	d.post(bodies...)
	for batch := range slices.Chunk(d.log(), 17) {
		d.project(batch)
	}

	sums := make(map[string]decimal.Decimal)
	slices.Sort(bodies)
	for _, body := range slices.Compact(bodies) {
		form, err := url.ParseQuery(body)
		if err != nil {
			t.Fatal(err)
		}
		kind := form.Get("transactionType")
		field := map[string]string{"CHARGE": "invoiceChargeAmount", "CHARGEBACK": "invoiceChargeAmount", "REFUND": "reversalAmount", "PAYOUT": "amount[0]"}[kind]
		amount := decimal.RequireFromString(form.Get(field)).Abs()
		if kind != "CHARGE" {
			amount = amount.Neg()
		}
		key := fmt.Sprintf("%s %s", kind, form.Get("invoiceChargeCurrency")+form.Get("currency[0]"))
		sums[key] = sums[key].Add(amount)
	}
	var want []string
	for key, sum := range sums {
		want = append(want, fmt.Sprintf("%s %s", key, sum))
	}
	const summed = "select upper(kind) || ' ' || currency || ' ' || trim_scale(sum(amount)) from "
	d.wantLines("sums of movements", d.column(summed+"movements group by kind, currency"), want)
	d.wantLines("sums of daily totals", d.column(summed+"daily_totals group by kind, currency"), want)
}
