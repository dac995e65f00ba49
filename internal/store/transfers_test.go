package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// transfersAt asks for all bank transfers, or one of the work lists, as they stand at a time.
func transfersAt(tb testing.TB, s *store.Store, now time.Time, trouble ipn.TransferTrouble) []ipn.Transfer {
	tb.Helper()
	found, err := s.Transfers(tb.Context(), ipn.TransferQuestion{
		Trouble: trouble, Methods: []string{"SOFORT"}, Since: now.AddDate(0, 0, -30), Now: now, Limit: 100})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// comeBack keeps a return that arrives at noon.
func comeBack(tb testing.TB, s *store.Store, r ipn.TransferReturn) {
	tb.Helper()
	r.ReceivedAt = noon
	if err := s.AddTransferReturn(tb.Context(), r); err != nil {
		tb.Fatal(err)
	}
}

// byTransfer is an IPN of a bank transfer.
func byTransfer(transactionType, reference, merchantID string) *ipn.Receipt {
	body := fmt.Sprintf("transactionType=%s&referenceNumber=%s&paymentMethod=SOFORT&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR", transactionType, reference)
	if merchantID != "" {
		body += "&merchantTransactionId=" + merchantID
	}
	return receipt(body)
}

func TestReturnsAndIPNsOfABankTransferFindEachOther(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	comeBack(t, s, ipn.TransferReturn{Status: "SUCCESS", OrderID: 1, TransactionID: "100", MerchantTransactionID: "cart-1"})
	comeBack(t, s, ipn.TransferReturn{Status: "PENDING", OrderID: 2, MerchantTransactionID: "cart-2"})
	for _, e := range []*ipn.Receipt{byTransfer("CHARGE", "100", ""), byTransfer("CHARGE_PENDING", "200", "cart-2"), byTransfer("CHARGE", "200", "cart-2")} {
		mustRecord(t, r, e)
	}
	found := transfersAt(t, s, noon.Add(time.Hour), "")
	if len(found) != 2 {
		t.Fatalf("got %d transfers, want 2: %+v", len(found), found)
	}
	for _, f := range found {
		if f.Return == nil || f.EventID == 0 || f.Trouble != "" || f.TransactionType != "CHARGE" || f.Amount.Decimal.String() != "21" {
			t.Errorf("%+v is not whole", f)
		}
		if order := map[string]int64{"100": 1, "200": 2}[f.ReferenceNumber]; f.Return != nil && f.Return.OrderID != order {
			t.Errorf("%s has the return of order %d", f.ReferenceNumber, f.Return.OrderID)
		}
	}
}

func TestTheWorkListsOfBankTransfers(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	comeBack(t, s, ipn.TransferReturn{Status: "SUCCESS", OrderID: 11, TransactionID: "said-paid"})
	comeBack(t, s, ipn.TransferReturn{Status: "PENDING", OrderID: 12})
	comeBack(t, s, ipn.TransferReturn{Status: "FAIL", OrderID: 13})
	mustRecord(t, r, byTransfer("CHARGE", "never-returned", ""))
	mustRecord(t, r, byTransfer("CHARGE_PENDING", "waits", ""))
	mustRecord(t, r, byTransfer("DECLINE", "declined", ""))
	mustRecord(t, r, receipt("transactionType=CHARGE&referenceNumber=by-card&paymentMethod=CC&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR"))

	name := func(f ipn.Transfer) string {
		if f.ReferenceNumber != "" {
			return f.ReferenceNumber
		}
		return fmt.Sprintf("order %d", f.Return.OrderID)
	}
	for _, tc := range []struct {
		after   time.Duration
		trouble ipn.TransferTrouble
		want    []string
	}{
		{14 * time.Minute, ipn.ReturnWithoutIPN, nil},
		{14 * time.Minute, ipn.IPNWithoutReturn, nil},
		{14 * time.Minute, ipn.PendingTooLong, nil},
		{16 * time.Minute, ipn.ReturnWithoutIPN, []string{"order 11"}},
		{16 * time.Minute, ipn.IPNWithoutReturn, []string{"never-returned"}},
		{16 * time.Minute, ipn.PendingTooLong, []string{"order 12", "waits"}},
		{16 * time.Minute, "", []string{"declined", "never-returned", "order 11", "order 12", "order 13", "waits"}},
	} {
		var got []string
		for _, f := range transfersAt(t, s, noon.Add(tc.after), tc.trouble) {
			got = append(got, name(f))
			if tc.trouble != "" && f.Trouble != tc.trouble {
				t.Errorf("%s stands in the list of %s as %q", name(f), tc.trouble, f.Trouble)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			t.Errorf("after %s, list %q: got %q, want %q", tc.after, tc.trouble, got, tc.want)
		}
	}
}

// What is paid by another method, or told of by other IPNs alone, must not vanish between the two halves of the list.
func TestAReturnIsInTheListUntilAnIPNOfItsTransferIs(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	for i, number := range []string{"refunded", "otherwise", "paid"} {
		comeBack(t, s, ipn.TransferReturn{Status: "SUCCESS", OrderID: int64(i + 1), TransactionID: number})
	}
	mustRecord(t, r, receipt("transactionType=REFUND&referenceNumber=refunded&reversalRefNum=9&paymentMethod=SOFORT&reversalAmount=1.00&currency=EUR"))
	mustRecord(t, r, receipt("transactionType=CHARGE&referenceNumber=otherwise&paymentMethod=IDEAL&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR"))
	mustRecord(t, r, byTransfer("CHARGE", "paid", ""))
	later := noon.Add(16 * time.Minute)
	told := map[string]string{}
	for _, f := range transfersAt(t, s, later, "") {
		told[f.Return.TransactionID] += fmt.Sprint(f.ReferenceNumber, "/", f.Trouble)
	}
	if want := map[string]string{"refunded": "/return_without_ipn", "otherwise": "/", "paid": "paid/"}; !maps.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}
	if open := transfersAt(t, s, later, ipn.ReturnWithoutIPN); len(open) != 1 || open[0].Return.TransactionID != "refunded" {
		t.Errorf("open are %+v", open)
	}
}

func TestAMerchantIDThatTwoTransactionsBearProvesNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	comeBack(t, s, ipn.TransferReturn{Status: "PENDING", OrderID: 1, MerchantTransactionID: "cart"})
	mustRecord(t, r, byTransfer("CHARGE", "100", "cart"))
	mustRecord(t, r, byTransfer("CHARGE", "200", "cart"))
	for _, f := range transfersAt(t, s, noon, "") {
		if f.EventID != 0 && f.Return != nil {
			t.Errorf("%s took the return of one of two", f.ReferenceNumber)
		}
	}
}

func TestPagesOfBankTransfersShowEachOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	for i := range 5 {
		mustRecord(t, r, byTransfer("CHARGE", fmt.Sprint(100+i), ""))
		comeBack(t, s, ipn.TransferReturn{Status: "SUCCESS", OrderID: int64(i + 1), TransactionID: fmt.Sprint(900 + i)})
	}
	q := ipn.TransferQuestion{Methods: []string{"SOFORT"}, Since: noon.AddDate(0, 0, -1), Now: noon, Limit: 3}
	seen := map[ipn.TransferPosition]bool{}
	for {
		page, err := s.Transfers(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			seen[page[i].Position()] = true
		}
		if len(page) < q.Limit {
			break
		}
		last := page[len(page)-1].Position()
		q.After = &last
	}
	if len(seen) != 10 {
		t.Errorf("saw %d transfers, want 10", len(seen))
	}
}

func TestStrangersCannotFillTheRecordWithReturns(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	ask[int](t, dsn, `with made as (
		insert into bank_transfer_returns (status, order_id, received_at, last_received_at)
		select 'PENDING', n, '2026-11-21', '2026-11-21' from generate_series(1, 200500) n returning 1) select count(*) from made`)
	comeBack(t, s, ipn.TransferReturn{Status: "FAIL", OrderID: 1})
	if n := ask[int](t, dsn, "select count(*) from bank_transfer_returns"); n != 200_000 {
		t.Errorf("%d returns are kept, want 200,000", n)
	}
	if n := ask[int](t, dsn, "select count(*) from bank_transfer_returns where status = 'FAIL'"); n != 1 {
		t.Error("the youngest went in place of the oldest")
	}
}
