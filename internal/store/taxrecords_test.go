package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

var clerk = ipn.Act{Actor: "api:shop", Reason: "the checkout told it"}

// mugs is the record of three mugs under a merchant's own id.
func mugs() ipn.TaxRecord {
	return ipn.TaxRecord{
		MerchantTransactionID: "cart-1", TaxReference: "7b9d2c7e", Currency: "USD", Country: "US", State: "CO", DeliveryFee: decimal.RequireFromString("0.29"),
		Items: []ipn.TaxItem{{ItemCode: "MUG", Quantity: 3, Amount: decimal.RequireFromString("30.00"), Tax: decimal.RequireFromString("2.40")}},
	}
}

func TestATaxRecordIsFoundByEitherNumberOfItsTransaction(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	kept, err := s.AddTaxRecord(t.Context(), mugs(), clerk)
	if err != nil || kept.ID == 0 || kept.RecordedAt.IsZero() {
		t.Fatalf("got %+v, %v", kept, err)
	}
	mustRecord(t, r, charge("1012345678", "merchantTransactionId=cart-1"))
	for _, number := range []string{"cart-1", "1012345678"} {
		found, err := s.TaxRecord(t.Context(), number, false)
		if err != nil || found.ID != kept.ID || found.Items[0].Tax.String() != "2.4" || found.DeliveryFee.String() != "0.29" {
			t.Errorf("%s: got %+v, %v", number, found, err)
		}
	}
	for _, tc := range []struct {
		number string
		test   bool
	}{{"cart-2", false}, {"cart-1", true}, {"", false}} {
		if _, err := s.TaxRecord(t.Context(), tc.number, tc.test); !errors.Is(err, ipn.ErrNotFound) {
			t.Errorf("%+v: got %v, want not found", tc, err)
		}
	}
	if n := ask[int](t, dsn, "select count(*) from audit where action = 'tax-record' and actor = 'api:shop'"); n != 1 {
		t.Errorf("the audit has %d entries, want 1", n)
	}
}

func TestATaxRecordIsNeverThatOfAnotherTransaction(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	keep := func(reference, own string) int64 {
		record := mugs()
		record.ReferenceNumber, record.MerchantTransactionID = reference, own
		kept, err := s.AddTaxRecord(t.Context(), record, clerk)
		if err != nil {
			t.Fatal(err)
		}
		return kept.ID
	}
	both, shared, alone := keep("R1", "cart-1"), keep("", "cart-2"), keep("R5", "")
	second := keep("R2", "")
	for reference, own := range map[string]string{"R1": "cart-1", "R2": "cart-1", "R3": "cart-2", "R4": "cart-2", "R5": "cart-5"} {
		mustRecord(t, r, charge(reference, "merchantTransactionId="+own))
	}
	for number, want := range map[string]int64{"R1": both, "cart-1": both, "R2": second, "cart-2": shared, "R3": 0, "R4": 0, "R5": alone, "cart-5": alone} {
		found, err := s.TaxRecord(t.Context(), number, false)
		if found.ID != want || want == 0 && !errors.Is(err, ipn.ErrNotFound) || want != 0 && err != nil {
			t.Errorf("%s: got record %d, %v; want %d", number, found.ID, err, want)
		}
	}
}

func TestATaxRecordIsToldAgainButNotChanged(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	first, err := s.AddTaxRecord(t.Context(), mugs(), clerk)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.AddTaxRecord(t.Context(), mugs(), clerk)
	if err != nil || again.ID != first.ID {
		t.Errorf("the same again: got record %d, %v; want %d", again.ID, err, first.ID)
	}
	other := mugs()
	other.Items[0].Tax = decimal.RequireFromString("2.41")
	if _, err := s.AddTaxRecord(t.Context(), other, clerk); !errors.Is(err, ipn.ErrConflict) {
		t.Errorf("another tax: got %v, want a conflict", err)
	}
}

func TestARefundUnderOneNumberIsNotedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	record, err := s.AddTaxRecord(t.Context(), mugs(), clerk)
	if err != nil {
		t.Fatal(err)
	}
	one := ipn.TaxRefund{Items: []ipn.ItemCount{{ItemCode: "MUG", Quantity: 1}}, ReversalRefNum: "R1"}
	for range 2 {
		record, err = s.AddTaxRefund(t.Context(), record.ID, one, clerk)
		if err != nil || len(record.Refunds) != 1 || record.Refunds[0].Amount.String() != "10.8" || record.Refunds[0].TaxAmount.String() != "0.8" {
			t.Fatalf("got %+v, %v", record.Refunds, err)
		}
	}
	one.Items[0].Quantity = 2
	if _, err := s.AddTaxRefund(t.Context(), record.ID, one, clerk); !errors.Is(err, ipn.ErrConflict) {
		t.Errorf("other items under the number: got %v, want a conflict", err)
	}
	if _, err := s.AddTaxRefund(t.Context(), record.ID+1, one, clerk); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("a record that is not there: got %v", err)
	}
}

func TestParallelRefundsNeverGiveBackMoreThanThereIs(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	record, err := s.AddTaxRecord(t.Context(), mugs(), clerk)
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int32
	var clerks sync.WaitGroup
	for range 8 {
		clerks.Go(func() {
			_, err := s.AddTaxRefund(t.Context(), record.ID, ipn.TaxRefund{Items: []ipn.ItemCount{{ItemCode: "MUG", Quantity: 1}}}, clerk)
			var left *ipn.ItemError
			if errors.As(err, &left) {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	clerks.Wait()
	record, err = s.TaxRecord(t.Context(), "cart-1", false)
	if err != nil || len(record.Refunds) != 3 || refused.Load() != 5 {
		t.Errorf("of three mugs %d were refunded, %d refused, %v", len(record.Refunds), refused.Load(), err)
	}
	var total decimal.Decimal
	for _, r := range record.Refunds {
		total = total.Add(r.Amount)
	}
	if total.String() != "32.4" {
		t.Errorf("the refunds come to %s, want 32.4", total)
	}
}
