package shop

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// words are how pages write money, time and states. A template has no other functions of ours; what
// needs more than a word is a method of the page's data.
var words = template.FuncMap{
	"money": writeMoney, "plain": plainMoney, "rate": writeRate,
	"moment": writeMoment, "stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, "day": writeDay,
	"mood": func(s paysim.State) string { return stateMoods[s] }, "masked": masked,
	"lower": strings.ToLower, "parts": func(name string) []string { return strings.Split(name, "_") }, "has": slices.Contains[[]string],
	"period": writePeriod, "days": writeDays, "took": writeTook, "reason": returnReason, "kind": func(t string) string { return kinds[t] },
	"sum": func(a, b money.Amount) money.Amount { return a + b },
}

// signs are the currencies that are written with a sign of their own; others with their code.
var signs = map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "AUD": "A$", "CAD": "C$", "JPY": "¥"}

// noBreak keeps a number and its unit on one line.
const noBreak = "\u00a0"

// writeMoney writes an amount for people: "$1,234.50", "¥1,500", "−€9.00", "CHF 12.00".
func writeMoney(a money.Amount, currency string) string {
	sign := ""
	if a < 0 {
		sign, a = "−", -a
	}
	whole, fraction, dotted := strings.Cut(plainMoney(a, currency), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	if own, ok := signs[currency]; ok {
		return sign + own + whole
	}
	return sign + currency + noBreak + whole
}

// plainMoney writes an amount for a field: digits and a dot, with the decimals of the currency.
// money.Parse reads it again.
func plainMoney(a money.Amount, currency string) string {
	text := a.String()
	if money.Step(currency) == money.Units(1) {
		text = strings.TrimSuffix(text, ".00")
	}
	return text
}

// writeRate writes hundredths of a percent: "8.25 %", "19 %".
func writeRate(hundredths int64) string {
	text := money.Amount(hundredths * 100).String()
	return strings.TrimSuffix(strings.TrimSuffix(text, "0"), ".0") + noBreak + "%"
}

// writeMoment writes a time to the minute. Pages are in UTC, and say so; IPNs carry their own zone.
func writeMoment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") + noBreak + "UTC" }

// writeDay writes a date.
func writeDay(t time.Time) string { return t.UTC().Format("2 January 2006") }

// taxLabel is the name of the invoice's tax line. Where a retail delivery fee applies, the line
// shows the sum of tax and fee, and says so (specification section 1); a delivery to Colorado
// without the fee has a tax like any other.
func taxLabel(q paysim.Quote) string {
	switch {
	case q.Fee > 0:
		return "Tax & Delivery Fee"
	case isAustralian(q):
		return "GST"
	case q.VAT:
		return "VAT"
	}
	return "Tax"
}

// taxID is what the number is called under which a firm pays tax where the goods go: ABN in place
// of VAT ID in Australia (specification section 1), VAT ID where a VAT is due, "" where there is
// none to ask for.
func taxID(q paysim.Quote) string {
	switch {
	case isAustralian(q):
		return "ABN"
	case q.VAT:
		return "VAT ID"
	}
	return ""
}

// isAustralian reports whether the goods go to Australia.
func isAustralian(q paysim.Quote) bool { return strings.EqualFold(q.ShipTo.Country, "AU") }

// stateMoods are the colours beside the states of a transaction, good, wait or bad; what is missing
// has none. The word stands beside the colour always: not everybody sees it.
var stateMoods = map[paysim.State]string{
	paysim.Captured: "good", paysim.Authorized: "wait", paysim.InReview: "wait", paysim.Pending: "wait", paysim.Disputed: "wait",
	paysim.Declined: "bad", paysim.Failed: "bad", paysim.ChargedOff: "bad",
}

// kinds say what a transaction is, by its type. One that was captured looks like one that was
// charged at once: so does it on the statement.
var kinds = map[string]string{
	"AUTH_CAPTURE": "Card", "AUTH_ONLY": "Card, reserved", "CAPTURE": "Card", "RECURRING": "Renewal", "SOFORT": "Bank transfer",
}

// masked is a card number as one may show it, by its last four digits; "" for none.
func masked(number string) string {
	if len(number) < 4 {
		return ""
	}
	return "···· " + number[len(number)-4:]
}

const day = 24 * time.Hour

// writePeriod is how often a plan is charged, in a word after "every". Periods count days, so a
// month is 30 and a year 365.
func writePeriod(d time.Duration) string {
	switch {
	case d >= 360*day:
		return "year"
	case d >= 85*day:
		return "quarter"
	case d >= 28*day:
		return "month"
	case d >= 7*day:
		return "week"
	}
	return "day"
}

// writeDays writes how long a trial is.
func writeDays(d time.Duration) string {
	if n := int(d / day); n != 1 {
		return strconv.Itoa(n) + " days"
	}
	return "one day"
}

// writeTook writes how long an answer took, to a tenth of a millisecond.
func writeTook(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
