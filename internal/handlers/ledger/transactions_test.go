package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const (
	charge  = "02 CHARGE amount=100.00 tax=10.00"
	refund  = "03 REFUND rev=R1 reversal=30.00 amount=100.00"
	dispute = "05 CHARGEBACK rev=D1 amount=-100.00 tax=-10.00"
	news    = "CHARGEBACK_STATUS_CHANGED rev=D1 status="
)

// standing is a transaction in one line: state, charged-refunded-disputed=refundable, tax of the rest, attention.
func standing(x ipn.Transaction) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s-%s-%s=%s%s %s", x.State, x.Charged, x.Refunded, x.Disputed, x.Refundable,
		optional(" tax ", x.TaxRefundable), strings.Join(x.Attention, " ")))
}

func TestATransactionStandsWhereItsEventsPutIt(t *testing.T) {
	for _, tt := range []struct{ name, story, want string }{
		{"authorised", "01 AUTH_ONLY amount=0", "authorised 0-0-0=0"},
		{"authorised once", "01 AUTH_ONLY_SINGLE_CHARGE amount=9", "authorised 0-0-0=0"},
		{"in review after the authorisation", "01 AUTH_ONLY; 01 UNDER_REVIEW", "in_review 0-0-0=0"},
		{"in the merchant's review", "01 UNDER_VENDOR_REVIEW", "in_review 0-0-0=0"},
		{"pending", "01 UNDER_REVIEW; 01 CHARGE_PENDING amount=100", "pending 0-0-0=0"},
		{"charged after pending", "01 CHARGE_PENDING; " + charge, "charged 100-0-0=100 tax 10"},
		{"charged without a known tax", "01 CHARGE amount=5", "charged 5-0-0=5"},
		{"a renewal is a charge", "01 RECURRING amount=5", "charged 5-0-0=5"},
		{"declined after pending", "01 CHARGE_PENDING; 02 DECLINE", "declined 0-0-0=0"},
		{"declined as fraud", "02 FRAUD_DECLINE amount=9", "declined 0-0-0=0"},
		{"declined by the older name", "02 CANCEL", "declined 0-0-0=0"},
		{"charged after a card failed", "01 CC_CHARGE_FAILED; " + charge, "charged 100-0-0=100 tax 10"},
		{"charged after a card failed in the same minute", "02 CC_CHARGE_FAILED; " + charge, "charged 100-0-0=100 tax 10"},
		{"declined after it was charged", charge + "; 04 DECLINE", "declined 100-0-0=100 tax 10 declined_after_charge"},
		{"an undated decline is not later", charge + "; - DECLINE", "charged 100-0-0=100 tax 10"},
		{"charged again after a decline", charge + "; 03 DECLINE; 04 RECURRING amount=100 tax=10", "charged 200-0-0=200 tax 20 charged_twice"},
		{"charged twice", charge + "; 02 RECURRING amount=100 tax=10", "charged 200-0-0=200 tax 20 charged_twice"},

		{"partially refunded, with the tax of the rest unknown", charge + "; " + refund, "partially_refunded 100-30-0=70"},
		{"partially refunded without any tax", "02 CHARGE amount=100 tax=0.00; " + refund, "partially_refunded 100-30-0=70 tax 0"},
		{"refunded by parts", charge + "; " + refund + "; 04 REFUND rev=R2 reversal=70.00", "refunded 100-100-0=0 tax 0"},
		{"refunded at once", charge + "; 03 REFUND rev=R1 reversal=100 amount=100 tax=10", "refunded 100-100-0=0 tax 0"},
		{"refunded by a cancellation", charge + "; 03 CANCELLATION_REFUND rev=R1 reversal=100", "refunded 100-100-0=0 tax 0"},
		{"refunded too much", charge + "; 03 REFUND rev=R1 reversal=100; 04 REFUND rev=R2 reversal=1", "refunded 100-101-0=0 tax 0 over_refunded"},
		{"one refund told with two amounts", charge + "; 03 REFUND rev=R1 reversal=30; 04 CANCELLATION_REFUND rev=R1 reversal=31", "partially_refunded 100-30-0=70 reversal_differs"},
		{"a refund whose amount cannot be read", charge + "; 03 REFUND rev=R1 reversal=1e2", "partially_refunded 100-0-0=100 tax 10 amount_unknown"},
		{"a charge whose amount cannot be read", "02 CHARGE amount=1e2; 03 REFUND rev=R1 reversal=5", "partially_refunded 0-5-0=0 amount_unknown over_refunded"},
		{"a refund in another currency", charge + "; 03 REFUND rev=R1 reversal=5 cur=USD", "partially_refunded 100-0-0=100 tax 10 currency_differs"},
		{"a refund that is only registered", charge + "; 03 PENDING_REFUND rev=R1 reversal=5", "charged 100-0-0=100 tax 10"},

		{"a refund before its charge", refund, "incomplete 0-30-0=0 no_charge"},
		{"a registered refund before its charge", "01 PENDING_REFUND rev=R1 reversal=5", "incomplete 0-0-0=0 no_charge"},
		{"a dispute's file before everything", "01 CHARGEBACK_FILE_UPLOADED", "incomplete 0-0-0=0 no_charge"},
		{"a dispute before its charge", dispute, "disputed 0-0-100=0 no_charge"},

		{"disputed", charge + "; " + dispute, "disputed 100-0-100=0 tax 0"},
		{"disputed while partially refunded", charge + "; " + refund + "; " + dispute, "disputed 100-30-100=0 tax 0 over_reversed"},
		{"disputed, by its news alone", charge + "; 06 " + news + "WORKING", "disputed 100-0-0=100 tax 10 dispute_not_opened"},
		{"disputed with a status of tomorrow", charge + "; " + dispute + "; 06 " + news + "MEDIATED", "disputed 100-0-100=0 tax 0 dispute_status_unknown"},
		{"won after a status of tomorrow", charge + "; " + dispute + "; 06 " + news + "MEDIATED; 07 " + news + "COMPLETED_WON", "won 100-0-0=100 tax 10"},
		{"resolved after a status of tomorrow", charge + "; " + dispute + "; 06 " + news + "MEDIATED; 07 RDR rev=D1 amount=-100", "lost 100-0-100=0 tax 0"},
		{"lost", charge + "; " + dispute + "; 06 " + news + "COMPLETED_LOST", "lost 100-0-100=0 tax 0"},
		{"lost by rapid resolution", charge + "; 05 RDR rev=D1 amount=-100", "lost 100-0-100=0 tax 0"},
		{"lost because nobody answered", charge + "; " + dispute + "; 06 " + news + "CLOSED", "lost 100-0-100=0 tax 0 dispute_closed"},
		{"won", charge + "; " + dispute + "; 06 " + news + "COMPLETED_WON", "won 100-0-0=100 tax 10"},
		{"won in part, without the tax of either", charge + "; 05 CHARGEBACK rev=D1 amount=-40; 06 " + news + "COMPLETED_WON", "won 100-0-0=100 tax 10"},
		{"won and then refunded", charge + "; " + dispute + "; 06 " + news + "COMPLETED_WON; 07 REFUND rev=R1 reversal=100", "refunded 100-100-0=0 tax 0"},
		{"won before the opening came", charge + "; 06 " + news + "COMPLETED_WON", "won 100-0-0=100 tax 10 dispute_not_opened"},
		{"lost, then won at the second dispute", charge + "; 05 CHARGEBACK rev=D0 amount=-40; 06 CHARGEBACK_STATUS_CHANGED rev=D0 status=COMPLETED_LOST; 07 CHARGEBACK rev=D1 amount=-40; 08 " + news + "COMPLETED_WON", "won 100-0-40=60"},
		{"won, and disputed again", charge + "; " + dispute + "; 06 " + news + "COMPLETED_WON; 08 CHARGEBACK rev=D2 amount=-40 tax=-4", "disputed 100-0-40=60 tax 6"},
		{"an opening dated behind the verdict", charge + "; 06 " + news + "COMPLETED_LOST; 07 CHARGEBACK rev=D1 amount=-100 status=NEW", "lost 100-0-100=0 tax 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			books := ledger.Fold(story(lines(tt.story)...))
			if len(books.Transactions) != 1 {
				t.Fatalf("got %d transactions", len(books.Transactions))
			}
			if got := standing(books.Transactions[0]); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestATransactionNamesWhatItBelongsTo(t *testing.T) {
	events := story("02 CHARGE amount=100 tax=10 usd=110 sub=S mti=M acc=A", "01 AUTH_ONLY", "08 REFUND rev=R1 reversal=5 acc=B")
	got := ledger.Fold(events).Transactions[0]
	if got.ReferenceNumber != "70010001" || got.SubscriptionID != "S" || got.MerchantTransactionID != "M" || got.AccountID != "A" || got.Currency != "EUR" {
		t.Errorf("references: got %s", text(t, got))
	}
	if !got.FirstAt.Equal(day(1)) || !got.LastAt.Equal(day(8)) || got.Events != 3 {
		t.Errorf("from %s to %s, %d events", got.FirstAt, got.LastAt, got.Events)
	}
	if optional("", got.Tax) != "10" || optional("", got.ChargedUSD) != "110" {
		t.Errorf("tax %v, dollars %v", got.Tax, got.ChargedUSD)
	}
}

func TestNewsThatOnlyMentionAChargeNeitherMakeNorChangeItsTransaction(t *testing.T) {
	mention := []string{"09 CANCELLATION sub=S amount=7", "09 CONTRACT_CHANGE sub=S", "09 SUBSCRIPTION_CHARGE_FAILURE sub=S", "09 TOMORROW amount=7"}
	if books := ledger.Fold(story(mention...)); len(books.Transactions) != 0 {
		t.Errorf("made %s", text(t, books.Transactions))
	}
	alone := ledger.Fold(story(charge)).Transactions
	if with := ledger.Fold(story(append(mention, charge)...)).Transactions; text(t, with) != text(t, alone) {
		t.Errorf("changed to %s", text(t, with))
	}
}

func TestTestOrdersHaveBooksOfTheirOwn(t *testing.T) {
	books := ledger.Fold(story(charge, "03 REFUND rev=R1 reversal=100 test=Y", "03 CHARGEBACK rev=D1 amount=-100 test=Y", "02 CHARGE sub=S amount=1 test=Y node=2", "02 CHARGE ref=2 sub=S amount=3",
		"04 REFUND rev=R9 reversal=10", "04 CANCELLATION sub=S test=Y", "05 CANCELLATION sub=S", "06 SUBSCRIPTION_CHARGE_FAILURE sub=S test=Y"))
	var got []string
	for _, x := range books.Transactions {
		got = append(got, fmt.Sprintf("%s %t %s", x.ReferenceNumber, x.Test, standing(x)))
	}
	want := "2 false charged 3-0-0=3, 70010001 false partially_refunded 100-10-0=90, 70010001 true disputed 1-100-100=0 over_refunded over_reversed"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if len(books.Subscriptions) != 2 || books.Subscriptions[0].Test || !books.Subscriptions[1].Test || !books.Disputes[0].Test {
		t.Errorf("subscriptions %s, disputes %s", text(t, books.Subscriptions), text(t, books.Disputes))
	}
}

func TestReceiptsDateATransactionOnlyIfNoEventDoes(t *testing.T) {
	events := story("- REFUND rev=R1 reversal=1", "- CHARGE amount=9", "- REFUND rev=R2 reversal=1", "03 REFUND rev=R3 reversal=1")
	for _, tt := range []struct {
		name        string
		events      []ipn.Stored
		first, last time.Time
	}{
		{"no dates", events[:3], events[0].ReceivedAt, events[2].ReceivedAt},
		{"one date", events, day(3), day(3)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ledger.Fold(tt.events).Transactions[0]
			if !got.FirstAt.Equal(tt.first) || !got.LastAt.Equal(tt.last) {
				t.Errorf("from %s to %s, want %s to %s", got.FirstAt, got.LastAt, tt.first, tt.last)
			}
		})
	}
}
