package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// running is a subscription in one line: state, plan, charges, failures, days of May when it is due and when it ended.
func running(s ipn.SubscriptionBook) string {
	line := fmt.Sprintf("%s plan=%s charges=%d failures=%d", s.State, s.ContractID, s.Charges, s.Failures)
	if s.NextDueAt != nil {
		line += fmt.Sprintf(" due=%d", s.NextDueAt.Day())
	}
	if s.EndedAt != nil {
		line += fmt.Sprintf(" ended=%d", s.EndedAt.Day())
	}
	return strings.TrimSpace(line + " " + strings.Join(s.Attention, " "))
}

func TestASubscriptionStandsWhereItsEventsPutIt(t *testing.T) {
	const first, renewed = "01 CHARGE plan=P1 amount=9 until=08", "08 RECURRING ref=2 plan=P1 amount=9 until=15"
	for _, tt := range []struct{ name, story, want string }{
		{"a trial", "01 AUTH_ONLY plan=P1 until=08", "trial plan=P1 charges=0 failures=0 due=8"},
		{"active after the first charge", first, "active plan=P1 charges=1 failures=0 due=8"},
		{"active after a trial", "01 AUTH_ONLY plan=P1 until=08; 08 CHARGE plan=P1 amount=9 until=15", "active plan=P1 charges=1 failures=0 due=15"},
		{"no trial behind a charge", first + "; 02 AUTH_ONLY", "active plan=P1 charges=1 failures=0 due=8"},
		{"renewed", first + "; " + renewed, "active plan=P1 charges=2 failures=0 due=15"},
		{"past due after two failures", first + "; 08 SUBSCRIPTION_CHARGE_FAILURE; 09 SUBSCRIPTION_CHARGE_FAILURE", "past_due plan=P1 charges=1 failures=2 due=8"},
		{"active when a later try succeeds", first + "; 07 SUBSCRIPTION_CHARGE_FAILURE; " + renewed, "active plan=P1 charges=2 failures=0 due=15"},
		{"active when a try succeeds in the same minute", first + "; 08 SUBSCRIPTION_CHARGE_FAILURE; " + renewed, "active plan=P1 charges=2 failures=0 due=15"},
		{"running to its end", first + "; 05 CANCEL_ON_RENEWAL", "cancel_at_period_end plan=P1 charges=1 failures=0 due=8"},
		{"running to its end in spite of a failure", first + "; 05 CANCEL_ON_RENEWAL; 06 SUBSCRIPTION_CHARGE_FAILURE", "cancel_at_period_end plan=P1 charges=1 failures=1 due=8"},
		{"renewed in spite of its end", first + "; 05 CANCEL_ON_RENEWAL; " + renewed, "active plan=P1 charges=2 failures=0 due=15"},
		{"cancelled", first + "; 05 CANCEL_ON_RENEWAL; 06 CANCELLATION", "cancelled plan=P1 charges=1 failures=0 due=8 ended=6"},
		{"cancelled and refunded", first + "; 06 CANCELLATION_REFUND rev=R1 reversal=9", "cancelled plan=P1 charges=1 failures=0 due=8 ended=6"},
		{"cancelled by a dispute", first + "; 06 CANCELLATION_CHARGEBACK rev=D1 amount=-9", "cancelled plan=P1 charges=1 failures=0 due=8 ended=6"},
		{"cancelled twice", first + "; 05 CANCELLATION; 06 CANCELLATION", "cancelled plan=P1 charges=1 failures=0 due=8 ended=5"},
		{"still cancelled after a failure and an end", first + "; 05 CANCELLATION; 06 SUBSCRIPTION_CHARGE_FAILURE; 07 CANCEL_ON_RENEWAL", "cancelled plan=P1 charges=1 failures=1 due=8 ended=5"},
		{"cancelled in the minute of its charge", first + "; 01 CANCELLATION", "cancelled plan=P1 charges=1 failures=0 due=8 ended=1"},
		{"reactivated", first + "; 05 CANCELLATION; " + renewed, "active plan=P1 charges=2 failures=0 due=15 reactivated"},
		{"reactivated and cancelled again", first + "; 05 CANCELLATION; " + renewed + "; 20 CANCELLATION", "cancelled plan=P1 charges=2 failures=0 due=15 ended=20 reactivated"},
		{"not reactivated by a charge without a date", "05 CANCELLATION; - CHARGE plan=P1 amount=9", "cancelled plan=P1 charges=1 failures=0 ended=5"},
		{"only a refund is known", "06 REFUND rev=R1 reversal=9", "unknown plan= charges=0 failures=0"},
		{"only a reminder is known", "06 SUBSCRIPTION_REMINDER until=08", "unknown plan= charges=0 failures=0 due=8"},
		{"the plan is known from its cancellation", "06 CANCELLATION plan=P1", "cancelled plan=P1 charges=0 failures=0 ended=6"},
		{"a move of plan that failed", first + "; 03 CONTRACT_CHANGE plan=P1 from=P1 to=P2 result=FAILED", "active plan=P1 charges=1 failures=0 due=8"},
		{"a move of plan brings the due date forward", first + "; 03 CONTRACT_CHANGE plan=P1 from=P1 to=P2 result=SUCCESS until=05", "active plan=P2 charges=1 failures=0 due=5"},
		{"a move in the minute of its charge", first + "; 01 CONTRACT_CHANGE plan=P1 from=P1 to=P2", "active plan=P2 charges=1 failures=0 due=8"},
		{"one renewal told as two", first + "; 08 CHARGE ref=2 amount=9 until=15 plan=P1; 08 RECURRING ref=3 amount=9.00 until=15 plan=P1", "active plan=P1 charges=3 failures=0 due=15 possible_double_charge"},
		{"two renewals of one amount", first + "; " + renewed + "; 15 RECURRING ref=3 plan=P1 amount=9 until=22", "active plan=P1 charges=3 failures=0 due=22"},
		{"two charges without a period", "01 CHARGE amount=9; 02 CHARGE ref=2 amount=9", "active plan= charges=2 failures=0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			told := lines(tt.story)
			for i := range told {
				told[i] += " sub=S"
			}
			books := ledger.Fold(story(told...))
			if len(books.Subscriptions) != 1 {
				t.Fatalf("got %d subscriptions", len(books.Subscriptions))
			}
			if got := running(books.Subscriptions[0]); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestASubscriptionTellsItsPlansAmountsAndDates(t *testing.T) {
	got := ledger.Fold(story(
		"09 RECURRING sub=S ref=3 plan=P3 amount=12 cur=USD", "01 CHARGE sub=S plan=P1 amount=9 acc=A",
		"05 CONTRACT_CHANGE sub=S from=P2 to=P3", "04 CONTRACT_CHANGE sub=S plan=P1 from=P1 to=P2",
		"11 PAYMENT_UPDATED ref= sub=S acc=A",
	)).Subscriptions[0]
	var moves []string
	for _, m := range got.PlanMoves {
		moves = append(moves, fmt.Sprintf("%d %s-%s", m.At.Day(), m.From, m.To))
	}
	if got, want := strings.Join(moves, ", "), "4 P1-P2, 5 P2-P3"; got != want {
		t.Errorf("moves: got %s, want %s", got, want)
	}
	if optional("", got.LastAmount) != "12" || got.Currency != "USD" || got.AccountID != "A" || got.Events != 5 {
		t.Errorf("got %s", text(t, got))
	}
	if !got.StartedAt.Equal(day(1)) || !got.LastAt.Equal(day(11)) {
		t.Errorf("from %s to %s", got.StartedAt, got.LastAt)
	}
}
