package ledger_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

var receipts = regexp.MustCompile(`2024-06-01[ T][0-9:]+`)

// told is what books say without what arrival decides: movements name their event by its identity instead of its id,
// and a time of receipt, which stands in for a date that is missing, is not told.
func told(t rapid.TB, events []ipn.Stored) string {
	t.Helper()
	identity := make(map[int64]string)
	for i := range events {
		identity[events[i].ID] = events[i].Identity.String()[:12]
	}
	books := ledger.Fold(events)
	var lines []string
	for _, m := range books.Movements {
		event := identity[m.EventID]
		m.EventID = 0
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", event, shown(m), m.ReferenceNumber, m.SubscriptionID, m.At))
	}
	for _, u := range books.Unbooked {
		lines = append(lines, fmt.Sprintf("%s %s %s %t", identity[u.EventID], u.ReferenceNumber, u.Reason, u.Test))
	}
	books.Movements, books.Unbooked = nil, nil
	return receipts.ReplaceAllString(strings.Join(append(lines, text(t, books)), "\n"), "receipt")
}

// sameInAllOrders folds every arrival order of a story, also with each event resent, and checks that all say the same
// and come to what is wanted.
func sameInAllOrders(t *testing.T, text, want string, come func(ledger.Books) string) {
	t.Helper()
	first, orders := told(t, story(lines(text)...)), 0
	permutations(lines(text), func(order []string) {
		orders++
		for _, arrival := range [][]string{order, append(slices.Clone(order), order...)} {
			events := story(arrival...)
			if got := told(t, events); got != first {
				t.Fatalf("%s\nends in\n%s\nnot in\n%s", strings.Join(arrival, "\n"), got, first)
			}
			if got := come(ledger.Fold(events)); got != want {
				t.Fatalf("%s\n got %s\nwant %s", strings.Join(arrival, "\n"), got, want)
			}
		}
	})
	if orders != 120 {
		t.Errorf("%d orders", orders)
	}
}

// permutations calls do with every order of the lines.
func permutations(lines []string, do func([]string)) {
	var place func(int)
	place = func(n int) {
		if n == len(lines) {
			do(lines)
			return
		}
		for i := n; i < len(lines); i++ {
			lines[n], lines[i] = lines[i], lines[n]
			place(n + 1)
			lines[n], lines[i] = lines[i], lines[n]
		}
	}
	place(0)
}

// B-34: every arrival order ends in one state.
func TestAllOrdersOfFiveEventsEndInOneState(t *testing.T) {
	for _, tt := range []struct{ name, story, want string }{
		{"of a transaction with a dispute", charge + "; " + refund + "; 04 REFUND rev=R2 reversal=20.00; " + dispute + "; 06 " + news + "COMPLETED_LOST", "lost 100-50-100=0 tax 0 over_reversed"},
		{"of a transaction with a dispute that was won", charge + "; " + refund + "; 04 REFUND rev=R2 reversal=20.00; " + dispute + "; 06 " + news + "COMPLETED_WON", "partially_refunded 100-50-0=50"},
		{"of a transaction within one minute", "02 CHARGE amount=100.00; 02 REFUND rev=R1 reversal=30; 02 REFUND rev=R2 reversal=20; 02 CHARGEBACK rev=D1 amount=-50 status=NEW; 02 " + news + "WORKING", "disputed 100-50-50=0"},
		{"of a transaction without dates", "- CHARGE amount=100.00; - REFUND rev=R1 reversal=30; - REFUND rev=R2 reversal=20; - CHARGEBACK rev=D1 amount=-50; - " + news + "COMPLETED_LOST", "lost 100-50-50=0"},
		{"of a refund told by two types", charge + "; 03 REFUND rev=R1 reversal=30; 03 CANCELLATION_REFUND rev=R1 reversal=31; 05 CANCELLATION_CHARGEBACK rev=D1 amount=-50; 05 CHARGEBACK rev=D1 amount=-50", "disputed 100-30-50=20 reversal_differs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sameInAllOrders(t, tt.story, tt.want, func(b ledger.Books) string { return standing(b.Transactions[0]) })
		})
	}
}

func TestAllOrdersOfFiveEventsOfASubscriptionEndInOneState(t *testing.T) {
	for _, tt := range []struct{ name, story, want string }{
		{"renewed, moved and cancelled", "01 CHARGE sub=S plan=P1 amount=9 until=08; 08 RECURRING ref=2 sub=S plan=P1 amount=9 until=15; 09 CONTRACT_CHANGE sub=S plan=P1 from=P1 to=P2; 15 SUBSCRIPTION_CHARGE_FAILURE sub=S; 16 CANCELLATION sub=S plan=P2",
			"cancelled plan=P2 charges=2 failures=1 due=15 ended=16"},
		{"cancelled and reactivated", "01 AUTH_ONLY sub=S plan=P1; 08 CHARGE sub=S plan=P1 amount=9; 09 CANCELLATION sub=S; 15 RECURRING ref=2 sub=S plan=P1 amount=9; 20 CANCEL_ON_RENEWAL sub=S",
			"cancel_at_period_end plan=P1 charges=2 failures=0 reactivated"},
		{"all within one minute", "01 AUTH_ONLY sub=S plan=P1; 01 CHARGE sub=S plan=P1 amount=9; 01 CONTRACT_CHANGE sub=S plan=P1 from=P1 to=P2; 01 CANCEL_ON_RENEWAL sub=S; 01 CANCELLATION sub=S",
			"cancelled plan=P2 charges=1 failures=0 ended=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sameInAllOrders(t, tt.story, tt.want, func(b ledger.Books) string { return running(b.Subscriptions[0]) })
		})
	}
}

// Whatever comes, in whatever order, as often as it likes and in pieces: the books of the final set are the same.
func TestAFoldKnowsNoArrival(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.Custom(func(r *rapid.T) string {
			return fmt.Sprintf("%02d %s ref=%s sub=%s rev=%s status=%s amount=%s reversal=%s until=%02d test=%s",
				rapid.IntRange(1, 4).Draw(r, "day"), rapid.SampledFrom(ipn.Types()).Draw(r, "type").Name,
				rapid.SampledFrom([]string{"", "1", "2"}).Draw(r, "ref"), rapid.SampledFrom([]string{"", "S", "T"}).Draw(r, "sub"),
				rapid.SampledFrom([]string{"", "R", "Q"}).Draw(r, "rev"), rapid.SampledFrom([]string{"", "NEW", "WORKING", "COMPLETED_WON", "COMPLETED_LOST", "CLOSED", "ODD"}).Draw(r, "status"),
				rapid.SampledFrom([]string{"", "5", "-7.00", "1e3"}).Draw(r, "amount"), rapid.SampledFrom([]string{"", "2", "-3.50"}).Draw(r, "reversal"),
				rapid.IntRange(8, 9).Draw(r, "until"), rapid.SampledFrom([]string{"N", "Y"}).Draw(r, "test"))
		})
		events := story(rapid.SliceOfN(line, 1, 12).Draw(r, "story")...)
		want := told(r, events)
		shuffled := rapid.Permutation(events).Draw(r, "order")
		repeated := append(slices.Clone(shuffled), rapid.SliceOf(rapid.SampledFrom(events)).Draw(r, "repeats")...)
		for i := range repeated {
			ledger.Fold(repeated[:i]) // earlier folds leave nothing behind
		}
		if got := told(r, repeated); got != want {
			r.Fatalf("\n got %s\nwant %s", got, want)
		}
	})
}

func TestEveryTypeThatMovesMoneyIsBooked(t *testing.T) {
	for _, row := range ipn.Types() {
		books := ledger.Fold(story("01 " + row.Name + " rev=R1 amount=9 reversal=9 amount0=9 cur0=EUR"))
		want := 0
		if row.Sign != ipn.None || row.Name == "PAYOUT" {
			want = 1
		}
		if len(books.Movements) != want {
			t.Errorf("%s: %d movements, want %d", row.Name, len(books.Movements), want)
			continue
		}
		if want == 1 && row.Sign != ipn.None && books.Movements[0].Amount.Sign() != int(row.Sign) {
			t.Errorf("%s moves %s", row.Name, books.Movements[0].Amount)
		}
	}
}

func TestEveryRowIsOfATypeThatExists(t *testing.T) {
	for _, name := range ledger.RowNames() {
		if row, known := ipn.LookupType(name); !known || row.Name != name {
			t.Errorf("%s is no type", name)
		}
	}
}

func TestTheKeysOfAnEvent(t *testing.T) {
	for _, tt := range []struct {
		name, line                string
		transaction, subscription bool
	}{
		{"a charge is of a transaction", "01 CHARGE", true, false},
		{"a renewal is of both", "01 RECURRING sub=S", true, true},
		{"a charge without a reference number is of none", "01 CHARGE ref=", false, false},
		{"a cancellation only mentions a charge", "01 CANCELLATION sub=S", false, true},
		{"an unknown type is of its subscription", "01 TOMORROW sub=S", false, true},
		{"a payout is of none", "01 PAYOUT", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			event := story(tt.line + " test=Y")[0]
			transaction, ok := ledger.TransactionKey(&event)
			if ok != tt.transaction || ok && transaction != (ledger.Key{Test: true, ID: "70010001"}) {
				t.Errorf("transaction %+v %t", transaction, ok)
			}
			subscription, ok := ledger.SubscriptionKey(&event)
			if ok != tt.subscription || ok && subscription != (ledger.Key{Test: true, ID: "S"}) {
				t.Errorf("subscription %+v %t", subscription, ok)
			}
		})
	}
}
