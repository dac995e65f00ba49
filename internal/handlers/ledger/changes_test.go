package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// moved is a charge of euros on the day n, under an event's line.
func moved(event int64, line, n int, amount string) ipn.Movement {
	value := decimal.RequireFromString(amount)
	return ipn.Movement{EventID: event, Line: line, Kind: ipn.MoveCharge, ReferenceNumber: "R1", At: day(n), Currency: "EUR", Amount: value}
}

func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	all := func(m ...ipn.Movement) []ipn.Movement { return m }
	taxed := moved(1, 0, 1, "5")
	taxed.Tax = decimal.NewNullDecimal(decimal.Zero)
	for _, tt := range []struct {
		name               string
		have, want         []ipn.Movement
		gone, come, totals string
	}{
		{"nothing for nothing", nil, nil, "", "", ""},
		{"what is new comes", nil, all(moved(1, 0, 1, "5")), "", "1.0 charge 5 EUR ", "2024-05-01 1 5 "},
		{"what follows no more goes", all(moved(1, 0, 1, "5")), nil, "1.0 charge 5 EUR ", "", "2024-05-01 -1 -5 "},
		{"the same amount in other digits stays", all(moved(1, 0, 1, "5")), all(moved(1, 0, 1, "5.00")), "", "", ""},
		{"another amount is one of the same count", all(moved(1, 0, 1, "5")), all(moved(1, 0, 1, "7")), "1.0 charge 5 EUR ", "1.0 charge 7 EUR ", "2024-05-01 0 2 "},
		{"no tax is not a tax of 0, and sums up to the same", all(moved(1, 0, 1, "5")), all(taxed), "1.0 charge 5 EUR ", "1.0 charge 5 EUR tax 0 ", ""},
		{"another day is another total", all(moved(1, 0, 1, "5")), all(moved(1, 0, 2, "5")), "1.0 charge 5 EUR ", "1.0 charge 5 EUR ", "2024-05-01 -1 -5 2024-05-02 1 5 "},
		{"lines of one event are told apart", all(moved(1, 0, 1, "5"), moved(1, 1, 1, "6")), all(moved(1, 1, 1, "6")), "1.0 charge 5 EUR ", "", "2024-05-01 -1 -5 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gone, come, totals := ledger.Changes(ledger.Books{Movements: tt.have}, ledger.Books{Movements: tt.want})
			if got := listed(gone); got != tt.gone {
				t.Errorf("gone: got %q, want %q", got, tt.gone)
			}
			if got := listed(come); got != tt.come {
				t.Errorf("come: got %q, want %q", got, tt.come)
			}
			var grown []string
			for _, s := range totals {
				grown = append(grown, fmt.Sprintf("%s %d %s ", s.Day, s.Count, s.Amount))
			}
			slices.Sort(grown)
			if got := strings.Join(grown, ""); got != tt.totals {
				t.Errorf("totals: got %q, want %q", got, tt.totals)
			}
		})
	}
}

func listed(movements []ipn.Movement) string {
	var all []string
	for _, m := range movements {
		all = append(all, shown(m)+" ")
	}
	return strings.Join(all, "")
}
