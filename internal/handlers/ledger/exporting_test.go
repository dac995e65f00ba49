package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// exportAll walks the movements by chunks of limit and returns what was told of each.
func (d *desk) exportAll(f ipn.MovementFilter, after ipn.ExportMark, upTo int64, limit int) (told []string) {
	d.Helper()
	for at := after; at.EventID < upTo || at.Line != ipn.WholeEvent; {
		reached, err := d.reader.ExportMovements(d.Context(), f, at, upTo, limit, func(m *ipn.MovementRow) error {
			told = append(told, fmt.Sprintf("%d:%d %s %s %s %s tax=%s usd=%s %s", m.EventID, m.Line, m.Kind, m.At.Format(time.RFC3339), m.Amount, m.Currency, m.Tax, m.AmountUSD, m.ReferenceNumber))
			return nil
		})
		if err != nil {
			d.Fatal(err)
		}
		if reached == at {
			d.Fatalf("the walk stands still at %v", at)
		}
		at = reached
	}
	return told
}

func TestAnExportTellsEachMovementThatMatchesOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post("transactionType=CHARGE&referenceNumber=R1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&taxChargeAmount=3.35&invoiceAmountUSD=22.84",
		"transactionType=PAYOUT&payoutId=1&amount[0]=500.00&currency[0]=EUR&amount[1]=7&currency[1]=JPY&amount[2]=9.999&currency[2]=BHD&transactionDate=11/21/2026+08:30+AM",
		"transactionType=CHARGE&referenceNumber=R2&transactionDate=11/21/2026+08:30+AM&invoiceChargeAmount=5.00&invoiceChargeCurrency=EUR&testMode=Y")
	d.execute("select setval(pg_get_serial_sequence('events', 'id'), 1700000)") // far behind: one statement does not see both
	d.post("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&transactionDate=11/22/2026+08:30+AM")
	d.project(d.log())
	reach, err := d.reader.Reach(t.Context())
	if err != nil || reach <= 1700000 {
		t.Fatalf("the books reach %d, %v", reach, err)
	}
	all := []string{
		"1:0 charge 2026-11-20T16:30:00Z 21.00 EUR tax=3.35 usd=22.84 R1",
		"2:0 payout 2026-11-21T16:30:00Z -500.00 EUR tax= usd= ",
		"2:1 payout 2026-11-21T16:30:00Z -7 JPY tax= usd= ",
		"2:2 payout 2026-11-21T16:30:00Z -9.999 BHD tax= usd= ",
		fmt.Sprintf("%d:0 refund 2026-11-22T16:30:00Z -0.90 EUR tax= usd= R1", reach),
	}
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		name   string
		filter ipn.MovementFilter
		after  ipn.ExportMark
		want   []string
	}{
		{"all of the live book", ipn.MovementFilter{}, ipn.ExportMark{}, all},
		{"behind an event", ipn.MovementFilter{}, ipn.ExportMark{EventID: 2, Line: ipn.WholeEvent}, all[4:]},
		{"behind a line", ipn.MovementFilter{}, ipn.ExportMark{EventID: 2, Line: 0}, all[2:]},
		{"of days", ipn.MovementFilter{Span: ipn.Span{From: day(21), To: day(22)}}, ipn.ExportMark{}, all[1:4]},
		{"of a currency", ipn.MovementFilter{Currency: "EUR"}, ipn.ExportMark{}, []string{all[0], all[1], all[4]}},
		{"of a kind", ipn.MovementFilter{Kind: ipn.MoveRefund}, ipn.ExportMark{}, all[4:]},
		{"of test orders", ipn.MovementFilter{Span: ipn.Span{Test: true}}, ipn.ExportMark{}, []string{"3:0 charge 2026-11-21T16:30:00Z 5.00 EUR tax= usd= R2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			extent, err := d.reader.MovementExtent(t.Context(), tc.filter, tc.after, reach)
			if err != nil || extent.Rows != int64(len(tc.want)) {
				t.Errorf("extent: got %+v, %v, want %d rows", extent, err, len(tc.want))
			}
			for _, limit := range []int{1, 2, 100} {
				if got := d.exportAll(tc.filter, tc.after, reach, limit); !slices.Equal(got, tc.want) {
					t.Errorf("by %d:\n got %q\nwant %q", limit, got, tc.want)
				}
			}
		})
	}
	enough := errors.New("enough")
	if _, err := d.reader.ExportMovements(t.Context(), ipn.MovementFilter{}, ipn.ExportMark{}, reach, 9, func(*ipn.MovementRow) error { return enough }); err != enough {
		t.Errorf("got %v, want %v", err, enough)
	}
}
