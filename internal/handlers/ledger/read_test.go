package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestABookThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(body("01 CHARGE ref=R1 sub=S1 amount=21 test=Y"))
	d.project(d.log())
	if _, err := d.reader.Transaction(t.Context(), "R1", false); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("a test order in the live books: %v, want ipn.ErrNotFound", err)
	}
	if _, err := d.reader.Subscription(t.Context(), "S1", false); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("a test subscription in the live books: %v, want ipn.ErrNotFound", err)
	}
	if book, err := d.reader.Transaction(t.Context(), "R1", true); err != nil || book.State != ipn.TransactionCharged {
		t.Errorf("a test order in its own books: %+v, %v", book, err)
	}
}

func TestDisputesAreListedInPagesByTheirOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, line := range []string{
		"01 CHARGEBACK ref=R1 rev=D1 amount=-1", "03 CHARGEBACK ref=R1 rev=D2 amount=-1", "02 CHARGEBACK ref=R2 rev=D3 amount=-1", "02 CHARGEBACK ref=R2 rev=D4 amount=-1",
		"04 CHARGEBACK ref=R3 rev=D5 amount=-1", "05 CHARGEBACK_STATUS_CHANGED ref=R3 rev=D5 amount=-1 status=COMPLETED_LOST", "04 CHARGEBACK ref=R4 rev=D6 amount=-1 test=Y",
	} {
		d.post(body(line))
	}
	d.project(d.log())
	for _, tt := range []struct {
		name string
		ask  ipn.DisputeQuestion
		want string
	}{
		{"all", ipn.DisputeQuestion{}, "D5 D2 D4 D3 D1 "},
		{"all, the oldest first", ipn.DisputeQuestion{OldestFirst: true}, "D1 D3 D4 D2 D5 "},
		{"open ones", ipn.DisputeQuestion{State: ipn.DisputeOpen}, "D2 D4 D3 D1 "},
		{"open ones, the oldest first", ipn.DisputeQuestion{State: ipn.DisputeOpen, OldestFirst: true}, "D1 D3 D4 D2 "},
		{"of a charge", ipn.DisputeQuestion{ReferenceNumber: "R2"}, "D4 D3 "},
		{"of a charge, the oldest first", ipn.DisputeQuestion{ReferenceNumber: "R1", OldestFirst: true}, "D1 D2 "},
		{"of a charge, lost ones", ipn.DisputeQuestion{ReferenceNumber: "R1", State: ipn.DisputeLost}, ""},
		{"lost ones", ipn.DisputeQuestion{State: ipn.DisputeLost}, "D5 "},
		{"of test orders", ipn.DisputeQuestion{Test: true}, "D6 "},
	} {
		for _, limit := range []int{1, 2, 10} {
			t.Run(fmt.Sprintf("%s, %d on a page", tt.name, limit), func(t *testing.T) {
				var got string
				for tt.ask.Limit = limit; ; {
					page, err := d.reader.Disputes(t.Context(), tt.ask)
					if err != nil {
						t.Fatal(err)
					}
					if len(page) == 0 {
						break
					}
					for i := range page {
						got += page[i].ReversalReference + " "
					}
					after := page[len(page)-1].Position()
					tt.ask.After = &after
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				tt.ask.After = nil
			})
		}
	}
}

func TestWhatIsNotBookedIsListedInPagesNewestFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(
		body("01 CHARGE ref=R1 amount=1e3"), body("01 CHARGE ref=R2 amount=1"), body("02 CHARGE ref=R3 amount=1 cur="),
		body("02 CHARGEBACK ref=R4 rev=D4 amount=1e3 status=COMPLETED_WON"), body("03 PAYOUT ref=R5 payout=9"), body("03 CHARGE ref=R6 amount=1e3 test=Y"),
		body("04 REFUND ref=R1 rev=D7 reversal=9"), body("05 CANCELLATION_REFUND ref=R1 rev=D7 reversal=9"),
	)
	log := d.log()
	d.project(log)
	ids := make(map[int64]int) // which of the posts made the event
	for i := range log {
		ids[log[i].ID] = i + 1
	}
	for _, tt := range []struct {
		name string
		ask  ipn.UnbookedQuestion
		want string
	}{
		{"all", ipn.UnbookedQuestion{}, "8 CANCELLATION_REFUND R1 same_reversal; 5 PAYOUT R5 amount_missing; 4 CHARGEBACK R4 opening_unknown; " +
			"4 CHARGEBACK R4 amount_missing; 3 CHARGE R3 currency_missing; 1 CHARGE R1 amount_missing; "},
		{"for a reason", ipn.UnbookedQuestion{Reason: ipn.UnbookedNoAmount}, "5 PAYOUT R5 amount_missing; 4 CHARGEBACK R4 amount_missing; 1 CHARGE R1 amount_missing; "},
		{"for an unknown reason", ipn.UnbookedQuestion{Reason: "mood"}, ""},
		{"of test orders", ipn.UnbookedQuestion{Test: true}, "6 CHARGE R6 amount_missing; "},
	} {
		for _, limit := range []int{1, 2, 10} {
			t.Run(fmt.Sprintf("%s, %d on a page", tt.name, limit), func(t *testing.T) {
				ask, got := tt.ask, ""
				for ask.Limit = limit; ; {
					page, err := d.reader.Unbooked(t.Context(), ask)
					if err != nil {
						t.Fatal(err)
					}
					if len(page) == 0 {
						break
					}
					for _, u := range page {
						got += fmt.Sprintf("%d %s %s %s; ", ids[u.EventID], u.TransactionType, u.ReferenceNumber, u.Reason)
						if u.Test != ask.Test {
							t.Errorf("a note of the other book: %+v", u)
						}
					}
					after := page[len(page)-1].Position()
					ask.After = &after
				}
				if got != tt.want {
					t.Errorf("\n got %s\nwant %s", got, tt.want)
				}
			})
		}
	}
}

func TestMoneyStaysInSightWithoutItsEvent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.execute("insert into unbooked (event_id, reason, test, reference_number) values (42, 'amount_missing', false, 'R1')")
	want := ipn.UnbookedEvent{Unbooked: ipn.Unbooked{EventID: 42, ReferenceNumber: "R1", Reason: ipn.UnbookedNoAmount}}
	if got, err := d.reader.Unbooked(t.Context(), ipn.UnbookedQuestion{Limit: 9}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestTotalsAreSumsByCurrencyWithPayoutsBeside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(
		body("01 CHARGE ref=R1 amount=21.00 tax=3.35 usd=22.84"), body("02 CHARGE ref=R2 amount=9.00"), body("02 REFUND ref=R2 rev=D1 amount=9.00 reversal=9.00"),
		body("02 CHARGE ref=R3 amount=100 cur=JPY"), body("02 PAYOUT payout=1 amount0=20.50 cur0=EUR"), body("02 CHARGE ref=R4 amount=5 test=Y"),
	)
	d.project(d.log())
	from := func(n int) time.Time { return time.Date(2024, 5, n, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		ask  ipn.TotalsQuestion
		want string
	}{
		{"by day", ipn.TotalsQuestion{GroupBy: ipn.TotalsByDay},
			"2024-05-01  EUR 1 21 3.35 22.84; 2024-05-02  EUR 2 0 0 0; 2024-05-02  JPY 1 100 0 0; 2024-05-02 payout EUR 1 -20.5 0 0; "},
		{"by month", ipn.TotalsQuestion{GroupBy: ipn.TotalsByMonth}, "2024-05  EUR 3 21 3.35 22.84; 2024-05  JPY 1 100 0 0; 2024-05 payout EUR 1 -20.5 0 0; "},
		{"by kind", ipn.TotalsQuestion{GroupBy: ipn.TotalsByKind}, " charge EUR 2 30 3.35 22.84;  charge JPY 1 100 0 0;  payout EUR 1 -20.5 0 0;  refund EUR 1 -9 0 0; "},
		{"by currency", ipn.TotalsQuestion{GroupBy: ipn.TotalsByCurrency}, "  EUR 3 21 3.35 22.84;   JPY 1 100 0 0;  payout EUR 1 -20.5 0 0; "},
		{"from a day", ipn.TotalsQuestion{GroupBy: ipn.TotalsByCurrency, From: from(2)}, "  EUR 2 0 0 0;   JPY 1 100 0 0;  payout EUR 1 -20.5 0 0; "},
		{"up to a day", ipn.TotalsQuestion{GroupBy: ipn.TotalsByCurrency, To: from(2)}, "  EUR 1 21 3.35 22.84; "},
		{"of no day", ipn.TotalsQuestion{GroupBy: ipn.TotalsByDay, From: from(9)}, ""},
		{"of test orders", ipn.TotalsQuestion{GroupBy: ipn.TotalsByDay, Test: true}, "2024-05-02  EUR 1 5 0 0; "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			totals, err := d.reader.Totals(t.Context(), tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, s := range totals {
				got += fmt.Sprintf("%s %s %s %d %s %s %s; ", s.Day, s.Kind, s.Currency, s.Count, s.Amount, s.Tax, s.USD)
				if s.Test != tt.ask.Test {
					t.Errorf("a total of the other book: %+v", s)
				}
			}
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAReaderSaysWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	reader, err := ledger.OpenReader(t.Context(), "postgres://127.0.0.1:1/x", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for name, ask := range map[string]func() error{
		"transaction":  func() error { _, err := reader.Transaction(t.Context(), "R1", false); return err },
		"subscription": func() error { _, err := reader.Subscription(t.Context(), "S1", false); return err },
		"disputes":     func() error { _, err := reader.Disputes(t.Context(), ipn.DisputeQuestion{}); return err },
		"unbooked":     func() error { _, err := reader.Unbooked(t.Context(), ipn.UnbookedQuestion{}); return err },
		"totals":       func() error { _, err := reader.Totals(t.Context(), ipn.TotalsQuestion{}); return err },
		"balance":      func() error { _, err := reader.Balance(t.Context(), ipn.Span{}); return err },
		"taxes":        func() error { _, err := reader.Taxes(t.Context(), ipn.Span{}); return err },
		"contracts":    func() error { _, err := reader.Contracts(t.Context(), ipn.Span{}, 1); return err },
		"rates":        func() error { _, err := reader.Rates(t.Context(), ipn.Span{}); return err },
		"ages":         func() error { _, err := reader.DisputeAges(t.Context(), ipn.DisputeAgesQuestion{}); return err },
		"movements":    func() error { _, err := reader.Movements(t.Context(), ipn.MovementQuestion{}); return err },
		"a list":       func() error { _, err := reader.Subscriptions(t.Context(), ipn.SubscriptionQuestion{}); return err },
	} {
		if err := ask(); !errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("%s: %v, want ipn.ErrUnavailable", name, err)
		}
	}
	if _, err := ledger.OpenReader(t.Context(), "postgres://%", 1); err == nil {
		t.Error("a DSN that cannot be read is taken")
	}
}

func TestAReaderNeverTellsWhatTheServerQuotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.execute("alter table transactions rename to elsewhere")
	_, err := d.reader.Transaction(t.Context(), "R1", false)
	if want := ipn.ErrUnavailable.Error() + ": SQLSTATE 42P01"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
