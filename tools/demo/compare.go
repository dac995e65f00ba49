package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// An account is a line of the books.
type account struct {
	currency string
	kind     ipn.MovementKind
}

// A sum is what stands in it. Amounts are signed: what comes in is positive.
type sum struct {
	count       int64
	amount, tax payments.Amount
}

type books map[account]sum

func (b books) add(to account, one sum) {
	before := b[to]
	b[to] = sum{before.count + one.count, before.amount.Add(one.amount), before.tax.Add(one.tax)}
}

// kinds are the kinds of movement that types of IPN stand for, by themselves.
var kinds = map[string]struct {
	kind ipn.MovementKind
	out  bool
}{
	"CHARGE":              {ipn.MoveCharge, false},
	"RECURRING":           {ipn.MoveRecurring, false},
	"REFUND":              {ipn.MoveRefund, true},
	"CANCELLATION_REFUND": {ipn.MoveCancellationRefund, true},
	"CHARGEBACK":          {ipn.MoveChargeback, true},
	"PAYOUT":              {ipn.MovePayout, true},
}

// A sent is a line of the simulator's totals; its sums are magnitudes.
type sent struct {
	Currency        string
	TransactionType string
	All             struct {
		Count       int64
		Amount, Tax payments.Amount
	}
}

// expected makes books of what the simulator says it sent. taken are the openings of disputes that were won: what they
// took comes back.
func expected(totals []sent, taken []sent) books {
	all := make(books)
	for _, t := range totals {
		kind, moves := kinds[t.TransactionType]
		if !moves {
			continue
		}
		one := sum{t.All.Count, t.All.Amount, t.All.Tax}
		if kind.out {
			one.amount, one.tax = negative(one.amount), negative(one.tax)
		}
		all.add(account{t.Currency, kind.kind}, one)
	}
	for _, t := range taken {
		all.add(account{t.Currency, ipn.MoveChargebackReversal}, sum{t.All.Count, t.All.Amount, t.All.Tax})
	}
	return all
}

func negative(a payments.Amount) payments.Amount { return payments.AmountOf(a.Decimal().Neg()) }

// kept are the books of the receiver.
func kept(ctx context.Context, s *stage) (books, error) {
	var page struct {
		Items []struct {
			Currency    string
			Kind        ipn.MovementKind
			Count       int64
			Amount, Tax payments.Amount
		}
	}
	if err := s.private.call(ctx, http.MethodGet, "/api/v1/totals?groupBy=transactionType", nil, &page); err != nil {
		return nil, err
	}
	all := make(books)
	for _, item := range page.Items {
		all.add(account{item.Currency, item.Kind}, sum{item.Count, item.Amount, item.Tax})
	}
	return all, nil
}

// differences tells each account in which the two differ.
func differences(want, got books) error {
	var found []error
	for _, a := range accounts(want, got) {
		w, g := want[a], got[a]
		if w.count != g.count || !w.amount.Decimal().Equal(g.amount.Decimal()) || !w.tax.Decimal().Equal(g.tax.Decimal()) {
			found = append(found, fmt.Errorf("%s %s: sent %d, %s with %s tax; in the books %d, %s with %s tax",
				a.currency, a.kind, w.count, w.amount, w.tax, g.count, g.amount, g.tax))
		}
	}
	return errors.Join(found...)
}

// accounts are those of all books, by currency and kind.
func accounts(all ...books) []account {
	known := make(books)
	for _, one := range all {
		maps.Copy(known, one)
	}
	return slices.SortedFunc(maps.Keys(known), func(a, b account) int {
		return cmp.Or(cmp.Compare(a.currency, b.currency), cmp.Compare(a.kind, b.kind))
	})
}

// compare waits until the receiver's books are what the simulator says it sent, and shows them.
func compare(ctx context.Context, s *stage) error {
	var totals []sent
	if err := s.control.call(ctx, http.MethodGet, "/totals", nil, &totals); err != nil {
		return err
	}
	taken, err := won(ctx, s)
	if err != nil {
		return err
	}
	want := expected(totals, taken)
	var different error
	err = await(ctx, "the books to be even", func(ctx context.Context) (bool, error) {
		got, err := kept(ctx, s)
		different = differences(want, got)
		return err == nil && different == nil, err
	})
	if err != nil {
		return errors.Join(err, different)
	}
	say("%-8s %-20s %6s %15s %12s", "currency", "kind", "count", "amount", "tax")
	for _, a := range accounts(want) {
		say("%-8s %-20s %6d %15s %12s", a.currency, a.kind, want[a].count, want[a].amount, want[a].tax)
	}
	say("the receiver's books are what the simulator says it sent, to the cent")
	return nil
}

// won returns the openings of the disputes that were won, as the simulator sent them.
func won(ctx context.Context, s *stage) (openings []sent, err error) {
	disputes := make(map[string]bool)
	err = s.history(ctx, "CHARGEBACK_STATUS_CHANGED", func(d delivery) error {
		if d.field("cbStatus") == "COMPLETED_WON" {
			disputes[d.field("reversalRefNum")] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.history(ctx, "CHARGEBACK", func(d delivery) error {
		if !disputes[d.field("reversalRefNum")] {
			return nil
		}
		one := sent{Currency: d.field("invoiceChargeCurrency"), TransactionType: "CHARGEBACK"}
		one.All.Count, one.All.Amount, one.All.Tax = 1, d.magnitude("invoiceChargeAmount"), d.magnitude("taxChargeAmount")
		openings = append(openings, one)
		return nil
	})
	return openings, err
}

// magnitude returns an amount of the IPN without its sign; nothing where it tells none.
func (d delivery) magnitude(name string) payments.Amount {
	told, err := payments.ParseAmount(d.field(name))
	if err != nil {
		return payments.Amount{}
	}
	return payments.AmountOf(told.Decimal().Abs())
}
