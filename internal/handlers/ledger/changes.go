package ledger

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// change is what must happen to the money that stands booked. A row that differs is taken away and written anew.
type change struct {
	gone    []ipn.Movement // to be taken away
	booked  []ipn.Movement // to be written
	settled []ipn.Unbooked // to be taken away
	left    []ipn.Unbooked // to be written
	totals  []ipn.Total    // by how much the daily totals grow; counts and sums may be negative

	recovered []decline // to be taken away
	failed    []decline // to be written
}

// changes compares what stands booked of some events with what follows from them now.
func changes(have, want Books) change {
	var c change
	c.gone, c.booked = differences(have.Movements, want.Movements, lineOf, sameMovement)
	c.settled, c.left = differences(have.Unbooked, want.Unbooked, noteOf, func(a, b *ipn.Unbooked) bool { return *a == *b })
	c.totals = growth(c.gone, c.booked)
	c.recovered, c.failed = differences(have.declines, want.declines, func(d *decline) int64 { return d.event }, func(a, b *decline) bool { return *a == *b })
	return c
}

// differences returns what is to be taken from have and what is to be added to it to make it want.
func differences[T any, K comparable](have, want []T, keyOf func(*T) K, same func(a, b *T) bool) (gone, come []T) {
	if len(have) == 0 {
		return nil, want
	}
	standing := make(map[K]*T, len(have))
	for i := range have {
		standing[keyOf(&have[i])] = &have[i]
	}
	for i := range want {
		key := keyOf(&want[i])
		old := standing[key]
		if old != nil && same(old, &want[i]) {
			delete(standing, key)
			continue
		}
		come = append(come, want[i])
	}
	for _, old := range standing {
		gone = append(gone, *old)
	}
	return gone, come
}

// line is a movement's place in the books.
type line struct {
	event int64
	line  int
}

func lineOf(m *ipn.Movement) line { return line{m.EventID, m.Line} }

// note is a place among what is not booked.
type note struct {
	event  int64
	reason ipn.UnbookedReason
}

func noteOf(u *ipn.Unbooked) note { return note{u.EventID, u.Reason} }

// sameMovement tells whether two movements would be one row: 5.0 is 5.00, and an instant is one in every zone.
func sameMovement(a, b *ipn.Movement) bool {
	return lineOf(a) == lineOf(b) && a.Kind == b.Kind && a.Test == b.Test &&
		a.ReferenceNumber == b.ReferenceNumber && a.SubscriptionID == b.SubscriptionID &&
		a.Country == b.Country && a.State == b.State && a.ContractID == b.ContractID &&
		a.At.Equal(b.At) && a.Currency == b.Currency &&
		a.Amount.Equal(b.Amount) && sameAmount(a.Tax, b.Tax) && sameAmount(a.AmountUSD, b.AmountUSD)
}

func sameAmount(a, b decimal.NullDecimal) bool {
	return a.Valid == b.Valid && (!a.Valid || a.Decimal.Equal(b.Decimal))
}

// totalKey is a row of the daily totals.
type totalKey struct {
	test     bool
	day      time.Time
	kind     ipn.MovementKind
	currency string
}

// growth sums what comes less what goes, by row of the daily totals. Rows that do not change are left out.
func growth(gone, come []ipn.Movement) []ipn.Total {
	sums := make(map[totalKey]*ipn.Total)
	add := func(m *ipn.Movement, n int64) {
		key := totalKey{m.Test, m.At.UTC().Truncate(24 * time.Hour), m.Kind, m.Currency}
		sum := sums[key]
		if sum == nil {
			sum = &ipn.Total{Day: key.day.Format(time.DateOnly), Kind: key.kind, Currency: key.currency, Test: key.test}
			sums[key] = sum
		}
		sum.Count += n
		sum.Amount = plus(sum.Amount, m.Amount, n)
		sum.Tax = plus(sum.Tax, m.Tax.Decimal, n)
		sum.USD = plus(sum.USD, m.AmountUSD.Decimal, n)
	}
	for i := range gone {
		add(&gone[i], -1)
	}
	for i := range come {
		add(&come[i], +1)
	}
	var totals []ipn.Total
	for _, sum := range sums {
		if sum.Count != 0 || !sum.Amount.IsZero() || !sum.Tax.IsZero() || !sum.USD.IsZero() {
			totals = append(totals, *sum)
		}
	}
	return totals
}

// plus adds the amount once, or takes it away where n is negative.
func plus(sum, amount decimal.Decimal, n int64) decimal.Decimal {
	if n < 0 {
		return sum.Sub(amount)
	}
	return sum.Add(amount)
}
