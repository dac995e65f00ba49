package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// exportAll walks a part of the log by chunks of limit and returns the ids that were told.
func exportAll(tb testing.TB, s *store.Store, q ipn.Question, after, upTo int64, limit int) (ids []int64) {
	tb.Helper()
	for at := after; at < upTo; {
		reached, err := s.ExportEvents(tb.Context(), q, at, upTo, limit, func(e *ipn.EventRow) error {
			ids = append(ids, e.ID)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		if reached <= at {
			tb.Fatalf("the walk stands still at %d", at)
		}
		at = reached
	}
	return ids
}

func TestAnExportTellsEachEventThatMatchesOnceByID(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	var all, ofA []int64
	for i := range 23 {
		id := mustRecord(t, r, charge(fmt.Sprint("R", i), fmt.Sprintf("transactionDate=11/%02d/2026+08:00+AM", 25-i), fmt.Sprint("accountId=A", i%3))).EventID
		if all = append(all, id); i%3 == 0 {
			ofA = append(ofA, id)
		}
	}
	last, err := s.LastEventID(t.Context())
	if err != nil || last != all[22] {
		t.Fatalf("the last event: got %d, %v, want %d", last, err, all[22])
	}
	// Far behind the others, so that one statement does not see both.
	execute(t, dsn, "select setval(pg_get_serial_sequence('events', 'id'), 1700000)")
	all = append(all, mustRecord(t, r, charge("R99")).EventID)
	far := all[23]
	for _, tc := range []struct {
		name        string
		question    ipn.Question
		after, upTo int64
		want        []int64
	}{
		{"all", ipn.Question{}, 0, far, all},
		{"all of a filter", ipn.Question{AccountID: "A0"}, 0, far, ofA},
		{"whatever the position and the limit of a list", ipn.Question{Limit: 1, After: &ipn.Position{At: noon, ID: 1}}, 0, far, all},
		{"up to an event", ipn.Question{}, 0, all[9], all[:10]},
		{"behind an event", ipn.Question{}, all[9], far, all[10:]},
		{"between two", ipn.Question{AccountID: "A0"}, all[3], all[9], ofA[2:4]},
		{"none", ipn.Question{AccountID: "nobody"}, 0, far, nil},
		{"behind the end", ipn.Question{}, far, far, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			extent, err := s.EventExtent(t.Context(), tc.question, tc.after, tc.upTo)
			want := ipn.Extent{Rows: int64(len(tc.want))}
			if len(tc.want) > 0 {
				want.First, want.Last = tc.want[0], tc.want[len(tc.want)-1]
			}
			if err != nil || extent != want {
				t.Errorf("extent: got %+v, %v, want %+v", extent, err, want)
			}
			for _, limit := range []int{1, 5, 1000} {
				if got := exportAll(t, s, tc.question, tc.after, tc.upTo, limit); !slices.Equal(got, tc.want) {
					t.Errorf("by %d: got %v, want %v", limit, got, tc.want)
				}
			}
		})
	}
}

func TestAnExportTellsEveryFactOfAnEvent(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	sent := receipt("transactionType=REFUND&referenceNumber=R1&originalRefNum=O1&reversalRefNum=V1&subscriptionId=S1&accountId=A1&contractId=C1&merchantTransactionId=M1&vendorId=N1" +
		"&transactionDate=11/20/2026+08:30+AM&untilDate=12/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=22.84&taxChargeAmount=3.350&taxAmountUSD=3.65" +
		"&paymentMethod=CC&country=us&state=MA&resultCode=7&testMode=Y&odd=%zz")
	mustRecord(t, r, sent)
	mustRecord(t, r, sent)
	mustRecord(t, r, receipt("transactionType=PAYOUT&payoutId=1&amount[0]=500.00&currency[0]=EUR&amount[1]=7&currency[1]=USD"))
	var rows []string
	if _, err := s.ExportEvents(t.Context(), ipn.Question{}, 0, 1<<40, 10, func(e *ipn.EventRow) error {
		rows = append(rows, fmt.Sprint(e.ID, e.Receipts, e.Problems > 0, e.Test, " ", stamp(e.OccurredAt), stamp(e.UntilAt), stamp(e.ReceivedAt), stamp(e.LastReceivedAt))+
			fmt.Sprintf("%s %s %s %s %s %s %s [%s] %s %s ", e.TransactionType, e.ReferenceNumber, e.OriginalReference, e.ReversalReference, e.SubscriptionID, e.AccountID, e.ContractID, e.NewContractID, e.MerchantTransactionID, e.VendorID)+
			fmt.Sprintf("%s %s %s %s %s %s %s %s %s %s %s", e.Currency, e.PaymentMethod, e.Country, e.State, e.Status, e.Verification, e.Amount, e.AmountUSD, e.TaxAmount, e.TaxUSD, e.Deposits))
		if len(rows) == 1 && (string(e.Identity) != string(sent.Identity[:]) || string(e.Digest) != string(sent.Digest[:])) {
			t.Errorf("identity and digest: got %x, %x", e.Identity, e.Digest)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 2 true true 2026-11-20T16:30:00Z 2026-12-20T16:30:00Z 2026-11-21T12:00:00.123456Z 2026-11-21T12:00:00.123456Z " +
			"REFUND R1 O1 V1 S1 A1 C1 [] M1 N1 EUR CC us MA 7 signature 21.00 22.84 3.350 3.65 ",
		// A repeat has drawn a number from the log too.
		"3 1 false false - - 2026-11-21T12:00:00.123456Z 2026-11-21T12:00:00.123456Z PAYOUT       []   EUR     signature 500.00    " +
			`[{"index": 0, "amount": "500.00", "currency": "EUR"}, {"index": 1, "amount": "7", "currency": "USD"}]`,
	}
	for i := range min(len(rows), len(want)) {
		if rows[i] != want[i] {
			t.Errorf("row %d:\n got %s\nwant %s", i, rows[i], want[i])
		}
	}
	if len(rows) != len(want) {
		t.Errorf("got %d rows, want %d", len(rows), len(want))
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "- "
	}
	return t.Format(time.RFC3339Nano) + " "
}

func TestAnExportEndsWithTheErrorOfWhoReads(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	for i := range 3 {
		mustRecord(t, r, charge(fmt.Sprint("R", i)))
	}
	enough, calls := errors.New("enough"), 0
	_, err := s.ExportEvents(t.Context(), ipn.Question{}, 0, 3, 10, func(*ipn.EventRow) error { calls++; return enough })
	if err != enough || calls != 1 {
		t.Errorf("got %v after %d calls, want %v after 1", err, calls, enough)
	}
	if _, err := s.LastEventID(t.Context()); err != nil {
		t.Errorf("the connection is spoilt: %v", err)
	}
}

func TestAnExportFailsAsUnavailableWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := openWith(t, store.Config{DSN: nobody(t)})
	_, last := s.LastEventID(t.Context())
	_, extent := s.EventExtent(t.Context(), ipn.Question{}, 0, 1)
	_, rows := s.ExportEvents(t.Context(), ipn.Question{}, 0, 1, 1, func(*ipn.EventRow) error { return nil })
	for i, err := range []error{last, extent, rows} {
		if !errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("question %d: got %v, want ipn.ErrUnavailable", i+1, err)
		}
	}
}
