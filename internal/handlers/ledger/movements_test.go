package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// shown is a movement in one line: event and line, kind, amount, currency, and if they are told tax and dollars.
func shown(m ipn.Movement) string {
	line := fmt.Sprintf("%d.%d %s %s %s", m.EventID, m.Line, m.Kind, m.Amount, m.Currency)
	if m.Test {
		line += " test"
	}
	return line + optional(" tax ", m.Tax) + optional(" usd ", m.AmountUSD)
}

func optional(name string, n decimal.NullDecimal) string {
	if !n.Valid {
		return ""
	}
	return name + n.Decimal.String()
}

func TestMoneyIsBookedOnceAndInItsDirection(t *testing.T) {
	for _, tt := range []struct{ name, story, movements, unbooked string }{
		{"a charge comes in, with its tax and dollars", "01 CHARGE amount=21.00 tax=3.35 usd=22.84", "1.0 charge 21 EUR tax 3.35 usd 22.84", ""},
		{"a renewal comes in", "01 RECURRING amount=21.00", "1.0 recurring 21 EUR", ""},
		{"dollars are dollars", "01 CHARGE amount=21.00 cur=USD", "1.0 charge 21 USD usd 21", ""},
		{"a full refund goes out with its tax", "01 REFUND rev=R1 reversal=-21.00 amount=21.00 tax=3.35 usd=22.84", "1.0 refund -21 EUR tax -3.35 usd -22.84", ""},
		{"a partial refund does not tell its tax", "01 REFUND rev=R1 reversal=9.00 amount=21.00 tax=3.35", "1.0 refund -9 EUR", ""},
		{"a cancellation refund goes out", "01 CANCELLATION_REFUND rev=R1 reversal=9.00", "1.0 cancellation_refund -9 EUR", ""},
		{"a chargeback goes out", "01 CHARGEBACK rev=D1 amount=-21.00 tax=-3.35", "1.0 chargeback -21 EUR tax -3.35", ""},
		{"a cancellation chargeback is one", "01 CANCELLATION_CHARGEBACK rev=D1 amount=-21.00", "1.0 chargeback -21 EUR", ""},
		{"a rapid resolution is one", "01 RDR rev=D1 amount=-21.00", "1.0 chargeback -21 EUR", ""},
		{"a payout goes out, a line per currency", "01 PAYOUT ref= payout=9 amount0=500.00 cur0=EUR amount1=70.00 cur1=USD", "1.0 payout -500 EUR, 1.1 payout -70 USD usd -70", ""},
		{"yen have no decimals, dinars have three", "01 CHARGE amount=1500 cur=JPY; 02 CHARGE ref=2 amount=1.234 cur=KWD", "1.0 charge 1500 JPY, 2.0 charge 1.234 KWD", ""},
		{"nothing is an amount", "01 CHARGE amount=0.00", "1.0 charge 0 EUR", ""},
		{"a charge of a test order is booked apart", "01 CHARGE amount=21.00 test=Y", "1.0 charge 21 EUR test", ""},
		{"what is not final moves nothing", "01 AUTH_ONLY amount=9; 01 CHARGE_PENDING amount=9; 02 PENDING_REFUND rev=R1 reversal=9; 02 DECLINE amount=9; 03 FAILED_PAYOUT_TRANSFER ref= amount=9", "", ""},
		{"what only mentions a charge moves nothing", "01 CANCELLATION sub=S amount=9; 01 CONTRACT_CHANGE sub=S amount=9; 02 CANCEL amount=9", "", ""},

		{"partial refunds are told apart by their numbers", "01 REFUND rev=R1 reversal=9; 01 REFUND rev=R2 reversal=9", "1.0 refund -9 EUR, 2.0 refund -9 EUR", ""},
		{"a refund told twice is booked as a refund", "01 CANCELLATION_REFUND rev=R1 reversal=9; 02 REFUND rev=R1 reversal=9", "2.0 refund -9 EUR", "1 same_reversal"},
		{"a chargeback told twice is booked once", "01 CANCELLATION_CHARGEBACK rev=D1 amount=-9; 02 CHARGEBACK rev=D1 amount=-9; 03 RDR rev=D1 amount=-9", "2.0 chargeback -9 EUR", "1 same_reversal, 3 same_reversal"},
		{"a chargeback is no refund of the same number", "01 REFUND rev=1 reversal=9; 02 CHARGEBACK rev=1 amount=-9", "1.0 refund -9 EUR, 2.0 chargeback -9 EUR", ""},
		{"the telling that can be read is booked", "01 REFUND rev=R1 reversal=1e3; 02 CANCELLATION_REFUND rev=R1 reversal=9", "2.0 cancellation_refund -9 EUR", "1 same_reversal"},
		{"refunds without a number cannot be compared", "01 REFUND reversal=9; 02 CANCELLATION_REFUND reversal=9", "1.0 refund -9 EUR, 2.0 cancellation_refund -9 EUR", ""},

		{"an amount that cannot be read is in sight", "01 CHARGE amount=1e3", "", "1 amount_missing"},
		{"an amount without a currency is in sight", "01 CHARGE amount=21.00 cur=", "", "1 currency_missing"},
		{"a payout books what it can", "01 PAYOUT ref= payout=9 amount0=5.00 cur0=EUR amount1=x cur1=USD", "1.0 payout -5 EUR", "1 amount_missing"},
		{"an empty payout is in sight", "01 PAYOUT ref= payout=9", "", "1 amount_missing"},

		{"a dispute that was won gives back what it took", "01 CHARGEBACK rev=D1 amount=-21.00 tax=-3.35 usd=-22.84; 09 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON amount=99",
			"1.0 chargeback -21 EUR tax -3.35 usd -22.84, 2.0 chargeback_reversal 21 EUR tax 3.35 usd 22.84", ""},
		{"the verdict may come with the opening", "01 CHARGEBACK rev=D1 amount=-21.00 status=Completed_Won", "1.0 chargeback -21 EUR, 1.1 chargeback_reversal 21 EUR", ""},
		{"a verdict told again gives back once, at its first date", "01 CHARGEBACK rev=D1 amount=-9; 08 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON; 09 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON",
			"1.0 chargeback -9 EUR, 2.0 chargeback_reversal 9 EUR", ""},
		{"the last verdict counts", "01 CHARGEBACK rev=D1 amount=-9; 08 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON; 09 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_LOST",
			"1.0 chargeback -9 EUR", ""},
		{"the verdict of another dispute gives nothing back", "01 CHARGEBACK rev=D1 amount=-9; 08 CHARGEBACK_STATUS_CHANGED rev=D2 status=COMPLETED_WON", "1.0 chargeback -9 EUR", "2 opening_unknown"},
		{"a dispute known by its news moves nothing", "01 CHARGEBACK_STATUS_CHANGED rev=D1 status=WORKING amount=-9", "", ""},
		{"a dispute that expired gives nothing back", "01 CHARGEBACK rev=D1 amount=-9; 08 CHARGEBACK_STATUS_CHANGED rev=D1 status=CLOSED", "1.0 chargeback -9 EUR", ""},
		{"what was not booked is not given back", "01 CHARGEBACK rev=D1 amount=1e3; 08 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON amount=9", "", "1 amount_missing, 2 opening_unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			books := ledger.Fold(story(lines(tt.story)...))
			var movements, unbooked []string
			for _, m := range books.Movements {
				movements = append(movements, shown(m))
			}
			for _, u := range books.Unbooked {
				unbooked = append(unbooked, fmt.Sprintf("%d %s", u.EventID, u.Reason))
			}
			slices.Sort(movements)
			if got := strings.Join(movements, ", "); got != tt.movements {
				t.Errorf("movements\n got %s\nwant %s", got, tt.movements)
			}
			if got := strings.Join(unbooked, ", "); got != tt.unbooked {
				t.Errorf("unbooked\n got %s\nwant %s", got, tt.unbooked)
			}
		})
	}
}

func TestMoneyWithoutAReferenceNumberIsBookedByItself(t *testing.T) {
	books := ledger.Fold(story("01 CHARGE ref= amount=9", "02 REFUND ref= rev=R1 reversal=9", "03 CHARGEBACK ref= rev=D1 amount=-9"))
	if len(books.Movements) != 3 || len(books.Transactions) != 0 || len(books.Disputes) != 0 {
		t.Fatalf("got %s", text(t, books))
	}
	for _, m := range books.Movements {
		if m.ReferenceNumber != "" {
			t.Errorf("booked under %q", m.ReferenceNumber)
		}
	}
}

func TestAMovementStandsUnderTheSendersTimeOrElseItsReceipt(t *testing.T) {
	events := story("03 CHARGE sub=S amount=9", "- CHARGE ref=2 amount=9")
	movements := ledger.Fold(events).Movements
	if len(movements) != 2 {
		t.Fatalf("got %d movements", len(movements))
	}
	undated, dated := movements[0], movements[1]
	if undated.ReferenceNumber != "2" {
		undated, dated = dated, undated
	}
	if !dated.At.Equal(day(3)) || dated.SubscriptionID != "S" || dated.ReferenceNumber != "70010001" {
		t.Errorf("dated: got %+v", dated)
	}
	if !undated.At.Equal(events[1].ReceivedAt) {
		t.Errorf("undated: got %s, want %s", undated.At, events[1].ReceivedAt)
	}
}
