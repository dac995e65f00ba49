package shop_test

import (
	"strconv"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// newest is the number of the IPN that was sent last.
func (w *world) newest(t *testing.T) int64 {
	t.Helper()
	all := w.Sender.Deliveries(delivery.Query{Limit: 1})
	if len(all) == 0 {
		t.Fatal("no IPN was sent")
	}
	return all[0].ID
}
