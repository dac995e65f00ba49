package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// happening is one IPN to be: what, when, and to which order. The rest follows from the order's number.
type happening struct {
	at    int64 // Unix seconds
	order int32
	what  uint8
	turn  uint8 // of a subscription
}

// What happens, as an index into kinds.
const (
	charge uint8 = iota
	recurring
	refund
	chargeback
	chargebackWon
	decline
	renewalFailed
	cancellation
	payout
	pending
	unheardOf
)

var kinds = []string{
	"CHARGE", "RECURRING", "REFUND", "CHARGEBACK", "CHARGEBACK_STATUS_CHANGED", "DECLINE", "SUBSCRIPTION_CHARGE_FAILURE", "CANCELLATION", "PAYOUT",
	"CHARGE_PENDING", "NEVER_HEARD_OF",
}

// story makes up what happened in so many months before the end, sorted by time. The same seed tells the same story.
func story(events int, months int, end time.Time, seed uint64) []happening {
	from := rand.New(rand.NewPCG(seed, 7))
	begin := end.AddDate(0, -months, 0)
	span := end.Unix() - begin.Unix()
	var told []happening
	for order := int32(1); len(told) < events; order++ {
		at := begin.Unix() + from.Int64N(span)
		add := func(after time.Duration, what, turn uint8) {
			if t := at + int64(after/time.Second); t < end.Unix() {
				told = append(told, happening{t, order, what, turn})
			}
		}
		const day = 24 * time.Hour
		later := func(most int) time.Duration { return time.Duration(1+from.IntN(most)) * day }
		switch dice := from.IntN(1000); {
		case dice < 60:
			add(0, decline, 0)
		case dice < 100:
			add(0, pending, 0)
			add(7*time.Minute, charge, 0)
		case dice < 250: // a subscription
			add(0, charge, 0)
			life := 1 + from.IntN(24)
			for turn := 1; turn <= life; turn++ {
				add(time.Duration(turn)*30*day, recurring, uint8(turn))
			}
			if from.IntN(3) == 0 {
				add(time.Duration(life+1)*30*day, renewalFailed, uint8(life+1))
			}
			add(time.Duration(life+1)*30*day+later(20), cancellation, 0)
		case dice < 290:
			add(0, charge, 0)
			add(later(40), refund, 0)
		case dice < 297:
			add(0, charge, 0)
			opened := later(60)
			add(opened, chargeback, 0)
			if from.IntN(3) == 0 {
				add(opened+later(30), chargebackWon, 0)
			}
		case dice < 301:
			add(0, payout, 0)
		case dice < 302:
			add(0, unheardOf, 0)
		default:
			add(0, charge, 0)
		}
	}
	told = told[:events]
	slices.SortStableFunc(told, func(a, b happening) int { return int(a.at - b.at) })
	return told
}

// Where shoppers live, and what they pay in; the first are the usual ones.
var (
	homes = []struct{ country, state, currency string }{
		{"US", "CA", "USD"}, {"US", "CO", "USD"}, {"US", "NY", "USD"}, {"DE", "", "EUR"}, {"FR", "", "EUR"}, {"GB", "", "GBP"}, {"CA", "ON", "CAD"},
		{"AU", "NSW", "AUD"}, {"JP", "", "JPY"}, {"KW", "", "KWD"}, {"PL", "", "PLN"}, {"HU", "", "HUF"},
	}
	firstNames = []string{"Ann", "José", "Mei", "Ola", "Priya", "Tom", "Zoë", "Łukasz"}
	lastNames  = []string{"Example", "Sample", "Müller", "O'Brien", "Nakamura", "Silva", "Testova", "Kowalski"}
)

// body writes the IPN of a happening as the sender does.
func (h happening) body(zone *time.Location) []byte {
	n := int(h.order)
	of := rand.New(rand.NewPCG(uint64(n), 11)) // what stays the same about an order
	home := homes[min(of.IntN(len(homes)), of.IntN(len(homes)))]
	price, tax := 500+of.IntN(20)*250, 0
	tax = price / 13
	amount := func(minor int) string {
		switch home.currency {
		case "JPY", "HUF":
			return fmt.Sprintf("%d", minor)
		case "KWD":
			return fmt.Sprintf("%d.%03d", minor/1000, minor%1000)
		}
		return fmt.Sprintf("%d.%02d", minor/100, minor%100)
	}
	if home.currency == "HUF" { // the sender tells two decimals there
		amount = func(minor int) string { return fmt.Sprintf("%d.00", minor) }
	}
	first, last := firstNames[of.IntN(len(firstNames))], lastNames[of.IntN(len(lastNames))]
	method := "CC"
	if of.IntN(20) == 0 {
		method = "SOFORT"
	}
	person := fmt.Sprintf("shopper%d", of.IntN(max(n, 400_000)))
	reference := fmt.Sprintf("1%09d", n)
	fields := ipn.Fields{
		{Name: "transactionType", Value: kinds[h.what]}, {Name: "transactionDate", Value: time.Unix(h.at, 0).In(zone).Format("01/02/2006 03:04 PM")},
		{Name: "testMode", Value: flag(of.IntN(200) == 0)}, {Name: "paymentMethod", Value: method}, {Name: "accountId", Value: fmt.Sprint(20_000_000 + of.IntN(400_000))},
		{Name: "firstName", Value: first}, {Name: "lastName", Value: last}, {Name: "email", Value: person + "@example.com"},
		{Name: "country", Value: home.country}, {Name: "state", Value: home.state}, {Name: "invoiceEmail", Value: person + "@example.com"},
		{Name: "contractId", Value: fmt.Sprint(2_000_000 + of.IntN(40))}, {Name: "productName", Value: "Wool of the month"}, {Name: "quantity", Value: "1"},
		{Name: "address1", Value: "12 Made-up Street"}, {Name: "city", Value: "Sampleton"}, {Name: "zipCode", Value: "80203"}, {Name: "language", Value: "ENGLISH"},
		{Name: "creditCardType", Value: "VISA"}, {Name: "creditCardLastFourDigits", Value: "1111"}, {Name: "Color", Value: "blue"},
	}
	add := func(name, value string) { fields = append(fields, ipn.Field{Name: name, Value: value}) }
	money := func(minor, tax int) {
		add("invoiceChargeAmount", amount(minor))
		add("invoiceChargeCurrency", home.currency)
		add("taxChargeAmount", amount(tax))
		add("invoiceAmountUSD", fmt.Sprintf("%d.%02d", minor/100, minor%100))
	}
	if of.IntN(3) == 0 {
		add("merchantTransactionId", fmt.Sprintf("cart-%d", n))
	}
	if of.IntN(100) == 0 {
		add("vendorId", fmt.Sprint(300+of.IntN(30)))
	}
	if of.IntN(500) == 0 {
		add("untilDate", "soon") // a problem
	}
	switch h.what {
	case recurring:
		add("originalRefNum", reference)
		reference = fmt.Sprintf("2%09d%02d", n, h.turn)
		add("subscriptionId", fmt.Sprint(40_000_000+n))
		money(price, tax)
	case renewalFailed, cancellation:
		add("subscriptionId", fmt.Sprint(40_000_000+n))
	case refund:
		add("reversalRefNum", "5"+reference)
		add("reversalAmount", amount(price))
		money(price, tax)
	case chargeback, chargebackWon:
		add("reversalRefNum", "6"+reference)
		add("cbStatus", map[uint8]string{chargeback: "NEW", chargebackWon: "COMPLETED_WON"}[h.what])
		add("reversalAmount", amount(price))
		money(price, tax)
	case payout:
		add("payoutId", reference)
		add("amount", amount(price*40))
		add("currency", home.currency)
	default:
		money(price, tax)
	}
	add("referenceNumber", reference)
	return ipn.Encode(fields)
}

func flag(on bool) string {
	if on {
		return "Y"
	}
	return "N"
}
