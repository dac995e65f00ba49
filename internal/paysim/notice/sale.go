package notice

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// sale is what a seed tells of: one person buying one thing with one card. The samples of all types of one seed speak of the
// same sale.
type sale struct {
	seed    uint64
	at      time.Time
	random  *rand.Rand
	person  Person
	plan    plan
	card    card
	pieces  int64
	further []string // names of further items of the order

	unitUSD, unit                money.Amount // price of a piece, without tax
	taxUSD, tax, totalUSD, total money.Amount // tax is the part of the total
}

// plan is a contract of a product.
type plan struct {
	contract, name  string
	next, nextName  string // the contract one changes to
	product, called string
	price           money.Amount // in dollars
	months          int
}

var plans = [...]plan{
	{"3000001", "Monthly, 2 skeins", "3000002", "Yearly, 24 skeins", "500100", "Yarn & Needle Club", money.MustParse("24.95"), 1},
	{"3000011", "Single user", "3000012", "Five users", "500110", "Pattern Studio 4.1 (50% off)", money.MustParse("59.00"), 12},
	{"3000021", "Crème de la laine – 500 g", "3000022", "Crème de la laine – 1 kg", "500120", "Wolle \"Größe M\"", money.MustParse("7.40"), 1},
	{"3000031", "Team", "3000032", "Enterprise+", "500130", "Loom Server; support=gold", money.MustParse("1249.99"), 12},
}

// card is how a test card shows in an IPN.
type card struct{ brand, bin, last, group, category, class string }

var cards = [...]card{
	{"VISA", "411111", "1111", "CREDIT", "PLATINUM", "CONSUMER"},
	{"MASTERCARD", "555555", "4444", "CREDIT", "PERSONAL", "CONSUMER"},
	{"AMEX", "378282", "0005", "CHARGE CARD", "CORPORATE", "COMMERCIAL"},
	{"DISCOVER", "601111", "1117", "CREDIT", "PERSONAL", "CONSUMER"},
	{"VISA", "400005", "5556", "DEBIT", "CLASSIC", "CONSUMER"},
}

// perDollar is what a dollar costs, in ten-thousandths of the currency's unit.
var perDollar = map[string]int64{
	"AUD": 15_200, "BRL": 54_000, "CAD": 13_800, "CNY": 71_500, "EUR": 9_250, "GBP": 7_900, "JPY": 1_500_000, "KWD": 3_070, "PLN": 39_500, "USD": 10_000,
}

func newSale(seed uint64, at time.Time) sale {
	s := sale{seed: seed, at: at, random: rand.New(rand.NewPCG(seed, 0)), person: Someone(seed)}
	s.plan, s.card = pick(s, plans[:]), pick(s, cards[:])
	s.pieces = pick(s, []int64{1, 1, 1, 2, 3})
	s.further = pick(s, [][]string{{}, {}, {"Sample skein (gift)"}, {"Needle set", "Sample skein (gift)"}})
	s.unitUSD = s.plan.price
	s.unit = s.unitUSD.Share(perDollar[s.person.Currency], s.person.Currency)
	net, netUSD := s.unit*money.Amount(s.pieces), s.unitUSD*money.Amount(s.pieces)
	s.tax, s.taxUSD = net.Share(s.person.TaxRate, s.person.Currency), netUSD.Share(s.person.TaxRate, "USD")
	s.total, s.totalUSD = net+s.tax, netUSD+s.taxUSD
	return s
}

// pick chooses one of a list, by the seed and by what was chosen before.
func pick[T any](s sale, of []T) T { return of[s.random.IntN(len(of))] }

// yes is Y in one of n sales.
func (s sale) yes(n int) string {
	if s.random.IntN(n) == 0 {
		return "Y"
	}
	return "N"
}

// number returns an id: what it begins with, and digits that count up with the seed, so that two seeds are two sales.
func (s sale) number(begin string, digits int) string {
	counted := strconv.FormatUint(s.seed, 10)
	counted = strings.Repeat("0", digits) + counted
	return begin + counted[len(counted)-digits:]
}

// digits returns n digits.
func (s sale) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + s.random.IntN(10))
	}
	return string(text)
}

// page is an address with an access token, as IPNs hold them.
func (s sale) page(name string) string {
	return fmt.Sprintf("https://pay.example.com/%s?ref=%s&token=%016x%%3D&lang=en", name, s.reference(), s.random.Uint64())
}

func (s sale) reference() string    { return s.number("7", 9) }
func (s sale) account() string      { return s.number("31", 7) }
func (s sale) subscription() string { return s.number("61", 7) }
func (s sale) renewalDate() string  { return Date(s.at.AddDate(0, s.plan.months, 0)) }
