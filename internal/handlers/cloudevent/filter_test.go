package cloudevent_test

import (
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func money(tb testing.TB, text string) ipn.Money {
	tb.Helper()
	m, err := ipn.ParseMoney(text)
	must(tb, err)
	return m
}

func TestAFilterLetsPassWhatAllItsConditionsHoldFor(t *testing.T) {
	t.Parallel()
	facts := func(kind, amount, currency string, test bool) ipn.Facts {
		return ipn.Facts{TransactionType: kind, Amount: money(t, amount), Currency: currency, Test: test}
	}
	live, refund := facts("CHARGE", "21.00", "EUR", false), facts("REFUND", "5.00", "EUR", false)
	test := facts("CHARGE", "21.00", "EUR", true)
	unknown := facts("A_TYPE_OF_TOMORROW", "1.00", "EUR", false)
	bare := facts("CANCELLATION", "", "", false)
	for _, tt := range []struct {
		name   string
		filter cloudevent.Filter
		facts  ipn.Facts
		want   bool
	}{
		{"no condition, live", cloudevent.Filter{}, live, true},
		{"no condition, unknown type", cloudevent.Filter{}, unknown, true},
		{"no condition, no amount", cloudevent.Filter{}, bare, true},
		{"test orders stay away unless asked for", cloudevent.Filter{}, test, false},
		{"test orders only", cloudevent.Filter{Orders: cloudevent.TestOrders}, test, true},
		{"test orders only, live", cloudevent.Filter{Orders: cloudevent.TestOrders}, live, false},
		{"both, test", cloudevent.Filter{Orders: cloudevent.AllOrders}, test, true},
		{"both, live", cloudevent.Filter{Orders: cloudevent.AllOrders}, live, true},
		{"type listed", cloudevent.Filter{Types: []string{"REFUND", "CHARGE"}}, live, true},
		{"type not listed", cloudevent.Filter{Types: []string{"REFUND"}}, live, false},
		{"family listed", cloudevent.Filter{Families: []ipn.Family{ipn.FamilyRefund}}, refund, true},
		{"family not listed", cloudevent.Filter{Families: []ipn.Family{ipn.FamilyRefund}}, live, false},
		{"type or family: the type", cloudevent.Filter{Types: []string{"CHARGE"}, Families: []ipn.Family{ipn.FamilyRefund}}, live, true},
		{"type or family: the family", cloudevent.Filter{Types: []string{"CHARGE"}, Families: []ipn.Family{ipn.FamilyRefund}}, refund, true},
		{"unknown types by their family", cloudevent.Filter{Families: []ipn.Family{ipn.FamilyUnknown}}, unknown, true},
		{"unknown types by an empty name", cloudevent.Filter{Types: []string{""}}, unknown, false},
		{"currency listed", cloudevent.Filter{Currencies: []string{"USD", "EUR"}}, live, true},
		{"currency not listed", cloudevent.Filter{Currencies: []string{"USD"}}, live, false},
		{"currency asked for, none told", cloudevent.Filter{Currencies: []string{"USD"}}, bare, false},
		{"at the least amount", cloudevent.Filter{MinAmount: money(t, "21")}, live, true},
		{"below the least amount", cloudevent.Filter{MinAmount: money(t, "21.01")}, live, false},
		{"at the most", cloudevent.Filter{MaxAmount: money(t, "21.000")}, live, true},
		{"above the most", cloudevent.Filter{MaxAmount: money(t, "20.99")}, live, false},
		{"amount asked for, none told", cloudevent.Filter{MaxAmount: money(t, "1000")}, bare, false},
		{"all hold but one", cloudevent.Filter{Types: []string{"CHARGE"}, Currencies: []string{"EUR"}, MinAmount: money(t, "22")}, live, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.filter.Wants(&ipn.Stored{Facts: tt.facts}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
