package finance_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// newLedgerOffice opens an office whose books are those of the real ledger.
func newLedgerOffice(t *testing.T, dsn string, furnish ...func(*finance.Office)) *office {
	t.Helper()
	books, err := ledger.OpenReader(t.Context(), dsn, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(books.Close)
	return newOffice(t, dsn, append(furnish, func(o *finance.Office) { o.Books = books })...)
}

// keepBooks lets the ledger see all events, as its handler would.
func (o *office) keepBooks(dsn string) {
	o.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	events, err := o.store.Events(ctx, ipn.Question{Limit: 1000})
	if err != nil {
		o.tb.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		o.tb.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return ledger.Project(ctx, tx, events) }); err != nil {
		o.tb.Fatal(err)
	}
}

func TestTheBooksOfTheLedgerAreTold(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	o.record("transactionType=CHARGE&referenceNumber=R1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&subscriptionId=S1")
	o.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&transactionDate=11/21/2026+08:30+AM")
	for i := range 3 {
		o.record(fmt.Sprintf("transactionType=CHARGEBACK&referenceNumber=R9&reversalRefNum=C%d&reversalAmount=5.00&currency=EUR&transactionDate=11/1%d/2026+08:30+AM", i, i))
	}
	o.keepBooks(dsn)

	for _, tc := range []struct {
		path string
		want map[string]any
	}{
		{"transactions/R1", map[string]any{"state": "partially_refunded", "charged": "21.00", "refunded": "0.90", "refundable": "20.10", "currency": "EUR", "events": 2.0}},
		{"subscriptions/S1", map[string]any{"state": "active", "charges": 1.0, "lastAmount": "21.00"}},
	} {
		got := o.get("/api/v1/" + tc.path)
		for name, value := range tc.want {
			if !reflect.DeepEqual(got[name], value) {
				t.Errorf("%s: %s: got %v, want %v", tc.path, name, got[name], value)
			}
		}
	}
	wantProblem(t, o.do(http.MethodGet, "/api/v1/transactions/R1?test=true"), http.StatusNotFound)

	disputes, pages := o.follow("/api/v1/disputes", []string{"limit", "2", "state", "open"}, func(d map[string]any) string {
		return fmt.Sprint(d["reversalRefNum"], " ", d["amount"])
	})
	if want := []string{"C2 5.00", "C1 5.00", "C0 5.00"}; !reflect.DeepEqual(disputes, want) || pages != 2 {
		t.Errorf("got %v on %d pages, want %v on 2", disputes, pages, want)
	}
	totals, _ := o.follow("/api/v1/totals", []string{"groupBy", "transactionType", "from", "2026-11-12", "to", "2026-11-22"}, func(sum map[string]any) string {
		return fmt.Sprint(sum["kind"], " ", sum["amount"], " ", sum["currency"], " ", sum["count"])
	})
	if want := []string{"charge 21.00 EUR 1", "chargeback -5.00 EUR 1", "refund -0.90 EUR 1"}; !reflect.DeepEqual(totals, want) {
		t.Errorf("got %v, want %v", totals, want)
	}
}
