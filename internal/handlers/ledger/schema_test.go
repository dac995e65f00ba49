package ledger_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestTheSchemaKnowsEveryReasonNotToBook(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, reason := range ipn.UnbookedReasons() {
		d.execute("insert into unbooked (event_id, reason, test) values (1, $1, false)", string(reason))
	}
}

func TestImpossibleRowsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(jumble(rand.New(rand.NewPCG(8, 8)), 80)...)
	d.post(body("01 CHARGEBACK ref=R9 rev=D9 amount=-21"), body("01 CHARGE ref=R9 amount=21 tax=3"))
	d.project(d.log())
	for _, tt := range []struct{ name, statement string }{
		{"a charge that goes out", "update movements set amount = -1 where kind = 'charge'"},
		{"a refund that comes in", "update movements set amount = 1 where kind = 'refund'"},
		{"tax against its amount", "update movements set tax = 1 where kind = 'chargeback'"},
		{"dollars against their amount", "update movements set amount_usd = -1 where kind = 'charge'"},
		{"a kind nobody knows", "update movements set kind = 'gift'"},
		{"another day than that of its time", "update movements set day = day + 1"},
		{"a currency in small letters", "update movements set currency = 'eur'"},
		{"an empty reference number", "update movements set reference_number = ''"},
		{"a line before the first", "update movements set line = -1"},
		{"a reason nobody knows", "update unbooked set reason = 'mood'"},
		{"a state nobody knows", "update transactions set state = 'odd'"},
		{"a negative charge", "update transactions set charged = -1"},
		{"more refundable than charged", "update transactions set refundable = charged + 1"},
		{"more tax refundable than there is", "update transactions set tax_refundable = tax + 1 where tax is not null"},
		{"an end before the beginning", "update transactions set last_at = first_at - interval '1 s'"},
		{"a transaction of no event", "update transactions set events = 0"},
		{"an empty list to attend to", "update transactions set attention = '[]'"},
		{"a subscription's state nobody knows", "update subscriptions set state = 'odd'"},
		{"a subscription of no event", "update subscriptions set events = 0"},
		{"an open dispute that has ended", "update disputes set ended_at = now() where state = 'open'"},
		{"a lost dispute that has not ended", "update disputes set state = 'lost', ended_at = null where state = 'open'"},
		{"a path that is no list", "update disputes set path = '{}'"},
		{"a total of nothing", "update daily_totals set n = 0"},
		{"a second reach", "insert into ledger_reach values (false, 0)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.conn.Exec(t.Context(), tt.statement)
			var refused *pgconn.PgError
			if !errors.As(err, &refused) || refused.Code != "23514" {
				t.Errorf("got %v, want that a check refuses it", err)
			}
		})
	}
}
