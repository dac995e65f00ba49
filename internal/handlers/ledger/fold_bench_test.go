package ledger_test

import (
	"fmt"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
)

// BenchmarkFold folds a batch as the projection does: many reference numbers with a few events each. The time is per
// event.
func BenchmarkFold(b *testing.B) {
	var told []string
	for n := range 64 {
		for _, line := range []string{"01 CHARGE amount=100.00 tax=10.00 usd=108.00 until=08", "03 REFUND rev=R1 reversal=30.00", "05 CHARGEBACK rev=D1 amount=-70.00", "06 CHARGEBACK_STATUS_CHANGED rev=D1 status=COMPLETED_WON"} {
			told = append(told, fmt.Sprintf("%s ref=%d sub=S%d", line, 70010000+n, n))
		}
	}
	events := story(told...)
	b.ReportAllocs()
	for b.Loop() {
		ledger.Fold(events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}
