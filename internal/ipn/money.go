package ipn

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/shopspring/decimal"
)

// maxDigits is far above any amount (the payment service's own limit has
// twelve) and far below what would cost anything to keep.
const maxDigits = 40

// Money is an amount as a plain decimal text that was checked once: an optional
// '-', digits without superfluous leading zeros, and, if there is a '.', digits
// after it. The decimals are as many as were sent. It is never a float, and
// becomes a decimal.Decimal only where somebody calculates. The zero Money is
// absent, which is not the same as 0.
type Money struct{ text string }

var (
	errAmount     = errors.New("amount is not a plain decimal number")
	errAmountLong = errors.New("amount has more than 40 digits")
)

// ParseMoney reads an amount: "21.00", "-9.00", "9" and, as the older documents
// print it, "1,234.56" with whole groups of three. Surrounding space is no part
// of it. Empty text gives absent Money. Everything else is refused, although
// decimal would take some of it: a '+', exponents, "1.", ".5", "1.234,56",
// NaN, hexadecimal digits, more than 40 digits. "-0.00" is 0.00. Errors do not
// quote the text.
func ParseMoney(s string) (Money, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Money{}, nil
	}
	a, code := readAmount(s)
	switch code {
	case AmountMalformed:
		return Money{}, errAmount
	case AmountTooLong:
		return Money{}, errAmountLong
	}
	return Money{text: a.canonical()}, nil
}

// moneyProblem tells what is wrong with an amount's text in a currency of the
// given scale: AmountMalformed, AmountTooLong, AmountScale when a digit beyond
// the scale is not zero, or "". A negative scale is not checked.
func moneyProblem(text string, scale int) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	a, code := readAmount(text)
	if code == "" && scale >= 0 && len(strings.TrimRight(a.fraction, "0")) > scale {
		return AmountScale
	}
	return code
}

// amountParts are a text taken apart; all are slices of it.
type amountParts struct {
	text            string // all of it
	whole, fraction string // whole may hold commas
	negative        bool
	commas          bool
}

// readAmount takes a non-empty, trimmed text apart or returns a problem code.
func readAmount(s string) (amountParts, string) {
	a := amountParts{text: s}
	s, a.negative = strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(s, ".")
	digits, commas := countDigits(whole)
	decimals, odd := countDigits(fraction)
	switch {
	case digits == 0 || point && decimals == 0,
		digits+commas != len(whole), odd > 0 || decimals != len(fraction),
		commas > 0 && !wellGrouped(whole):
		return amountParts{}, AmountMalformed
	case digits+decimals > maxDigits:
		return amountParts{}, AmountTooLong
	}
	a.whole, a.fraction, a.commas = whole, fraction, commas > 0
	return a, ""
}

func countDigits(s string) (digits, commas int) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == ',':
			commas++
		}
	}
	return digits, commas
}

// wellGrouped tells whether commas stand before each group of three digits and
// nowhere else: "1,234,567", not "12,34" and not ",123".
func wellGrouped(whole string) bool {
	first, rest, more := strings.Cut(whole, ",")
	if len(first) < 1 || len(first) > 3 {
		return false
	}
	for more {
		var group string
		if group, rest, more = strings.Cut(rest, ","); len(group) != 3 {
			return false
		}
	}
	return true
}

// canonical returns the text itself, without allocation, unless it has commas
// or leading zeros.
func (a amountParts) canonical() string {
	zero := strings.Trim(a.whole, "0,") == "" && strings.Trim(a.fraction, "0") == ""
	whole := strings.TrimLeft(a.whole, "0,")
	if whole == "" {
		whole = "0"
	}
	switch {
	case a.commas || len(whole) != len(a.whole):
		return a.rebuilt(strings.ReplaceAll(whole, ",", ""), a.negative && !zero)
	case a.negative && zero:
		return a.text[len("-"):]
	}
	return a.text
}

func (a amountParts) rebuilt(whole string, negative bool) string {
	if negative {
		whole = "-" + whole
	}
	if a.fraction == "" {
		return whole
	}
	return whole + "." + a.fraction
}

// IsZero tells whether the amount is absent. An amount of 0 is present.
func (m Money) IsZero() bool { return m.text == "" }

// Negative tells whether the amount is below zero.
func (m Money) Negative() bool { return strings.HasPrefix(m.text, "-") }

// Abs returns the magnitude. Direction comes from the type of the event: some
// of the sender's reversals carry a minus and some do not.
func (m Money) Abs() Money { return Money{text: strings.TrimPrefix(m.text, "-")} }

// String returns the canonical text, "" when absent. Postgres numeric and
// decimal take it as it is.
func (m Money) String() string { return m.text }

// Decimal returns the number, zero when absent.
func (m Money) Decimal() decimal.Decimal {
	d, err := decimal.NewFromString(m.text)
	if err != nil { // only absent: the grammar is narrower than decimal's
		return decimal.Decimal{}
	}
	return d
}

// MarshalJSON writes the text as a JSON string, null when absent. A JSON number
// would become a float in most readers.
func (m Money) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + m.text + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(text []byte) error {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return errAmount
	}
	*m = Money{}
	if s == nil {
		return nil
	}
	parsed, err := ParseMoney(*s)
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}
