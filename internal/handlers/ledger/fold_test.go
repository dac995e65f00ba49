package ledger_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
)

// B-37: the books of 100,000 random feeds tie out with sums that somebody else made from the raw bodies.
func TestTheSumsOfTheMovementsAreTheSumsOfTheBodies(t *testing.T) {
	const shards = 4
	feeds := 100_000 / shards
	if testing.Short() || underRace {
		feeds = 1_000
	}
	for shard := range uint64(shards) {
		t.Run(fmt.Sprintf("part %d", shard), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(37, shard))
			for range feeds {
				tieOut(t, feed(random))
			}
		})
	}
}

func tieOut(t *testing.T, bodies []string) {
	t.Helper()
	got, want := sumsOf(ledger.Fold(record(bodies...))), independent(bodies)
	for key := range joined(got, want) {
		if got.of(key).Cmp(want.of(key)) != 0 {
			t.Fatalf("%s: the books say %s, the bodies %s\n%s", key, got.of(key).RatString(), want.of(key).RatString(), strings.Join(bodies, "\n"))
		}
	}
}

// sums are signed sums by test, kind and currency, and the number of events that are unbooked.
type sums map[string]*big.Rat

func (s sums) of(key string) *big.Rat {
	if s[key] == nil {
		s[key] = new(big.Rat)
	}
	return s[key]
}

func (s sums) add(key string, amount *big.Rat) { s.of(key).Add(s.of(key), amount) }

func joined(a, b sums) map[string]bool {
	keys := make(map[string]bool)
	for _, s := range []sums{a, b} {
		for key := range s {
			keys[key] = true
		}
	}
	return keys
}

func sumsOf(books ledger.Books) sums {
	s := make(sums)
	for _, m := range books.Movements {
		s.add(fmt.Sprintf("%t %s %s", m.Test, m.Kind, m.Currency), m.Amount.Rat())
	}
	for _, x := range books.Transactions {
		s.add(fmt.Sprintf("%t net %s", x.Test, x.Currency), x.Charged.Sub(x.Refunded).Sub(x.Disputed).Rat())
	}
	for _, u := range books.Unbooked {
		s.add("unbooked "+string(u.Reason), big.NewRat(1, 1))
	}
	return s
}

// independent sums a feed's bodies without any code of the product: pairs are cut by hand, amounts are fractions.
func independent(bodies []string) sums {
	s, seen, taken, won := make(sums), make(map[string]bool), make(map[string]*big.Rat), make(map[string]bool)
	latest := make(map[string]string)
	for _, body := range bodies {
		f := pairs(body)
		kind, test, currency := f["transactionType"], f["testMode"] == "Y", f["invoiceChargeCurrency"]
		dispute := fmt.Sprintf("%t %s %s %s", test, currency, f["referenceNumber"], f["reversalRefNum"])
		told := kind + f["referenceNumber"] + " " + f["reversalRefNum"] + f["payoutId"]
		if kind == "CHARGEBACK_STATUS_CHANGED" {
			if f["transactionDate"] > latest[dispute] {
				latest[dispute], won[dispute] = f["transactionDate"], f["cbStatus"] == "COMPLETED_WON"
			}
			continue
		}
		if seen[told] {
			continue
		}
		seen[told] = true
		if kind == "REFUND" || kind == "CANCELLATION_REFUND" {
			if other := seen["of "+f["referenceNumber"]+" "+f["reversalRefNum"]]; other {
				s.add("unbooked same_reversal", big.NewRat(1, 1))
				continue
			}
			seen["of "+f["referenceNumber"]+" "+f["reversalRefNum"]] = true
		}
		column, signed := map[string][2]string{
			"CHARGE": {"charge", "+"}, "RECURRING": {"recurring", "+"}, "REFUND": {"refund", "-"}, "CANCELLATION_REFUND": {"refund", "-"},
			"CHARGEBACK": {"chargeback", "-"}, "PAYOUT": {"payout", "-"},
		}[kind], new(big.Rat)
		if column[0] == "" {
			continue
		}
		amount, ok := fraction(f)
		if !ok {
			s.add("unbooked amount_missing", big.NewRat(1, 1))
			continue
		}
		if signed.Set(amount); column[1] == "-" {
			signed.Neg(amount)
		}
		if kind == "CHARGEBACK" {
			taken[dispute] = amount
		}
		s.add(fmt.Sprintf("%t %s %s", test, column[0], currency), signed)
		if kind != "PAYOUT" {
			s.add(fmt.Sprintf("%t net %s", test, currency), signed)
		}
	}
	for dispute, is := range won {
		if amount := taken[dispute]; is && amount != nil {
			of := strings.Fields(dispute)
			s.add(fmt.Sprintf("%s chargeback_reversal %s", of[0], of[1]), amount)
			s.add(fmt.Sprintf("%s net %s", of[0], of[1]), amount)
		} else if is {
			s.add("unbooked opening_unknown", big.NewRat(1, 1))
		}
	}
	return s
}

// escapes are the only ones that a feed has.
var escapes = strings.NewReplacer("%2C", ",", "%2F", "/", "%3A", ":", "+", " ")

func pairs(body string) map[string]string {
	f := make(map[string]string)
	for _, pair := range strings.Split(body, "&") {
		name, value, _ := strings.Cut(pair, "=")
		f[name] = escapes.Replace(value)
	}
	return f
}

func fraction(f map[string]string) (*big.Rat, bool) {
	for _, name := range []string{"reversalAmount", "invoiceChargeAmount", "amount"} {
		if text := f[name]; text != "" {
			if strings.Contains(text, "e") {
				return nil, false
			}
			amount, ok := new(big.Rat).SetString(strings.Trim(strings.ReplaceAll(text, ",", ""), "-"))
			return amount, ok
		}
	}
	return nil, false
}

// feed makes up what a sender may post about one charge or two: everything in any order, some of it twice.
func feed(random *rand.Rand) []string {
	currency := []struct {
		code  string
		scale int
	}{{"EUR", 2}, {"USD", 2}, {"JPY", 0}, {"KRW", 0}, {"KWD", 3}, {"BHD", 3}}[random.IntN(6)]
	test := []string{"N", "N", "Y"}[random.IntN(3)]
	minute := 0 // of no two events the same, so that the latest of them is known
	tell := func(kind, reference, number, amount, status string) string {
		form := url.Values{"transactionType": {kind}, "referenceNumber": {reference}, "testMode": {test}, "invoiceChargeCurrency": {currency.code}}
		form.Set("transactionDate", fmt.Sprintf("%02d/%02d/2024 09:%02d AM", 1+random.IntN(12), 1+random.IntN(28), minute))
		minute++
		if kind == "REFUND" || kind == "CANCELLATION_REFUND" {
			form.Set("reversalAmount", amount)
		} else if kind == "PAYOUT" {
			form.Set("amount", amount)
			form.Set("currency", currency.code)
			form.Set("payoutId", number)
		} else {
			form.Set("invoiceChargeAmount", amount)
		}
		if number != "" && kind != "PAYOUT" {
			form.Set("reversalRefNum", number)
		}
		form.Set("cbStatus", status)
		return form.Encode()
	}
	var bodies []string
	for n := range 1 + random.IntN(2) {
		reference := fmt.Sprint(n)
		if random.IntN(5) > 0 {
			bodies = append(bodies, tell([]string{"CHARGE", "RECURRING"}[random.IntN(2)], reference, "", amount(random, currency.scale, ""), ""))
		}
		for refund := range random.IntN(3) {
			figure := amount(random, currency.scale, "-")
			number := fmt.Sprint("R", refund)
			bodies = append(bodies, tell("REFUND", reference, number, figure, ""))
			if random.IntN(4) == 0 && !strings.Contains(figure, "e") {
				bodies = append(bodies, tell("CANCELLATION_REFUND", reference, number, figure, ""))
			}
		}
		for dispute := range random.IntN(2) {
			number := fmt.Sprint("D", dispute)
			if random.IntN(4) > 0 {
				bodies = append(bodies, tell("CHARGEBACK", reference, number, "-"+strings.Trim(amount(random, currency.scale, "-"), "-"), "NEW"))
			}
			for range random.IntN(3) {
				status := []string{"WORKING", "COMPLETED_PENDING", "COMPLETED_WON", "COMPLETED_LOST", "CLOSED"}[random.IntN(5)]
				bodies = append(bodies, tell("CHARGEBACK_STATUS_CHANGED", reference, number, amount(random, currency.scale, "-"), status))
			}
		}
		if random.IntN(4) == 0 {
			bodies = append(bodies, tell("PAYOUT", "", reference, amount(random, currency.scale, ""), ""))
		}
		if random.IntN(4) == 0 {
			bodies = append(bodies, tell("DECLINE", reference, "", amount(random, currency.scale, ""), ""))
		}
	}
	for range random.IntN(3) {
		if len(bodies) > 0 {
			bodies = append(bodies, bodies[random.IntN(len(bodies))])
		}
	}
	random.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	return bodies
}

// amount spells a random amount as the sender might: with or without a minus, commas and trailing decimals; seldom so
// that nobody can read it.
func amount(random *rand.Rand, scale int, minus string) string {
	if random.IntN(40) == 0 {
		return "1e3"
	}
	if random.IntN(2) == 0 {
		minus = ""
	}
	whole := fmt.Sprint(random.IntN(1000))
	if random.IntN(4) == 0 {
		whole = fmt.Sprintf("%d,%03d", 1+random.IntN(99), random.IntN(1000))
	}
	if scale == 0 || random.IntN(5) == 0 {
		return minus + whole
	}
	return fmt.Sprintf("%s%s.%0*d", minus, whole, scale, random.IntN([]int{1, 10, 100, 1000}[scale]))
}
