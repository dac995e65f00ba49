package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestMovementsAreListedInPagesTheLatestFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(6, 6)), 200)...)
	events := d.log()
	d.project(events)
	all := ledger.Fold(events).Movements
	slices.SortFunc(all, func(a, b ipn.Movement) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		if a.EventID != b.EventID {
			return int(b.EventID - a.EventID)
		}
		return b.Line - a.Line
	})
	from, to := time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC), time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, ask := range []ipn.MovementQuestion{
		{}, {Span: ipn.Span{Test: true}}, {Kind: ipn.MovePayout}, {Kind: ipn.MoveRefund}, {Span: ipn.Span{From: from, To: to}}, {Span: ipn.Span{To: to}, Kind: ipn.MoveCharge}, {Kind: "gift"},
	} {
		var want []string
		for i := range all {
			m := &all[i]
			if m.Test == ask.Test && (ask.Kind == "" || m.Kind == ask.Kind) && !m.At.Before(ask.From) && (ask.To.IsZero() || m.At.Before(ask.To)) {
				want = append(want, fmt.Sprintf("%d/%d %s %s %s", m.EventID, m.Line, m.Kind, m.Amount, m.Currency))
			}
		}
		for _, limit := range []int{1, 7, 1000} {
			var got []string
			for ask.Limit, ask.After = limit, nil; ; {
				page, err := d.reader.Movements(t.Context(), ask)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 || len(page) > limit {
					break
				}
				for i := range page {
					got = append(got, fmt.Sprintf("%d/%d %s %s %s", page[i].EventID, page[i].Line, page[i].Kind, page[i].Amount, page[i].Currency))
				}
				after := page[len(page)-1].Position()
				ask.After = &after
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: got\n%s\nwant\n%s", ask, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func TestSubscriptionsAreListedInPagesThoseDueFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, line := range []string{
		"01 CHARGE ref=R1 sub=S1 amount=1 until=20", "01 CHARGE ref=R2 sub=S2 amount=1 until=10", "01 CHARGE ref=R3 sub=S3 amount=1",
		"01 CHARGE ref=R4 sub=S4 amount=1 until=10", "02 SUBSCRIPTION_CHARGE_FAILURE sub=S4 ref=",
		"01 CHARGE ref=R5 sub=S5 amount=1 until=15", "02 CANCEL_ON_RENEWAL sub=S5 ref=",
		"01 CHARGE ref=R6 sub=S6 amount=1 until=05", "02 CANCELLATION sub=S6 ref=",
		"01 CHARGE ref=R7 sub=S7 amount=1 until=12", "01 CHARGE ref=R8 sub=S7 amount=1 until=12", // one renewal twice
		"01 CHARGE ref=RA sub=SA amount=1 until=12", "01 CHARGE ref=RB sub=SA amount=1 until=12", "02 CANCELLATION sub=SA ref=",
		"01 AUTH_ONLY ref=R9 sub=S9", "02 SUBSCRIPTION_CHARGE_FAILURE sub=S8 ref=",
		"01 CHARGE ref=R1 sub=T1 amount=1 test=Y",
	} {
		d.post(body(line))
	}
	d.project(d.log())
	for _, tt := range []struct {
		name string
		ask  ipn.SubscriptionQuestion
		want string
	}{
		{"all", ipn.SubscriptionQuestion{}, "S6 S2 S4 S7 SA S5 S1 S3 S8 S9 "},
		{"active ones", ipn.SubscriptionQuestion{State: ipn.SubscriptionActive}, "S2 S7 S1 S3 "},
		{"at risk", ipn.SubscriptionQuestion{AtRisk: true}, "S4 S7 S5 S8 "},
		{"at risk and past due", ipn.SubscriptionQuestion{AtRisk: true, State: ipn.SubscriptionPastDue}, "S4 S8 "},
		{"at risk and cancelled", ipn.SubscriptionQuestion{AtRisk: true, State: ipn.SubscriptionCancelled}, ""},
		{"of test orders", ipn.SubscriptionQuestion{Test: true}, "T1 "},
		{"of a state nobody knows", ipn.SubscriptionQuestion{State: "odd"}, ""},
	} {
		for _, limit := range []int{1, 2, 100} {
			got := ""
			for tt.ask.Limit, tt.ask.After = limit, nil; ; {
				page, err := d.reader.Subscriptions(t.Context(), tt.ask)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 || len(page) > limit {
					break
				}
				for i := range page {
					got += page[i].SubscriptionID + " "
					whole, err := d.reader.Subscription(t.Context(), page[i].SubscriptionID, tt.ask.Test)
					d.wantSame("subscription "+page[i].SubscriptionID, page[i], whole, err)
				}
				after := page[len(page)-1].Position()
				tt.ask.After = &after
			}
			if got != tt.want {
				t.Errorf("%s, %d on a page: got %q, want %q", tt.name, limit, got, tt.want)
			}
		}
	}
}

func TestOpenDisputesAreAddedUpByTheirAge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(
		body("20 CHARGEBACK ref=R1 rev=D1 amount=-1.50"), body("14 CHARGEBACK ref=R2 rev=D2 amount=-2"), body("13 CHARGEBACK ref=R3 rev=D3 amount=-4"),
		body("07 CHARGEBACK ref=R4 rev=D4 amount=-8"), body("06 CHARGEBACK ref=R5 rev=D5 amount=-100 cur=JPY"), body("06 CHARGEBACK ref=R6 rev=D6 amount="),
		body("01 RDR ref=R7 rev=D7 amount=-16"), body("01 CHARGEBACK ref=R8 rev=D8 amount=-32 test=Y"),
	)
	d.project(d.log())
	now := day(20).Add(time.Hour)
	told := func(q ipn.DisputeAgesQuestion) string {
		ages, err := d.reader.DisputeAges(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, a := range ages {
			text += fmt.Sprintf("%s %t %s %d %s; ", a.Age, a.PastDeadline, a.Currency, a.Count, a.Amount)
		}
		return text
	}
	want := "older true  1 0; under_one_week false EUR 2 3.5; under_two_weeks false EUR 2 12; older true JPY 1 100; "
	if got := told(ipn.DisputeAgesQuestion{Now: now, Days: 14}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := told(ipn.DisputeAgesQuestion{Now: now, Test: true}), "older false EUR 1 32; "; got != want {
		t.Errorf("test orders, without a deadline: got %s, want %s", got, want)
	}
}
