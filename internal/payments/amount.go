package payments

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/shopspring/decimal"
)

// Amount is an exact sum of money with the decimals it was written with. The zero Amount is absent, which is not the same as
// 0: a refund without taxAmount and one with a taxAmount of 0 are two requests. It is a number in JSON, and read from a
// number or a string.
type Amount struct {
	value   decimal.Decimal
	present bool
}

// mostDigits is above the interface's own limit of 9999999999.99.
const mostDigits = 24

var errAmount = errors.New("an amount is digits with a decimal point, such as 52.50")

// ParseAmount reads "52.50", "52" or "-52.50". There are no exponents, no plus, no commas, no spaces, and no empty text. The
// error does not quote the text.
func ParseAmount(text string) (Amount, error) {
	whole, fraction, dotted := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" || len(whole+fraction) > mostDigits {
		return Amount{}, errAmount
	}
	value, err := decimal.NewFromString(text)
	if err != nil {
		return Amount{}, errAmount
	}
	return AmountOf(value), nil
}

// AmountOf makes an amount of a number.
func AmountOf(value decimal.Decimal) Amount { return Amount{value: value, present: true} }

// Decimal returns the number, zero when absent.
func (a Amount) Decimal() decimal.Decimal { return a.value }

// IsZero tells whether the amount is absent. An amount of 0 is present.
func (a Amount) IsZero() bool { return !a.present }

// Equal tells whether two amounts are the same number, or both absent.
func (a Amount) Equal(b Amount) bool { return a.present == b.present && a.value.Equal(b.value) }

// Add returns the sum; what is absent counts as 0.
func (a Amount) Add(b Amount) Amount {
	return Amount{value: a.value.Add(b.value), present: a.present || b.present}
}

// String returns the number with the decimals it was written with, "" when absent.
func (a Amount) String() string {
	if !a.present {
		return ""
	}
	return a.value.StringFixed(max(0, -a.value.Exponent()))
}

// MarshalJSON writes a number, null when absent.
func (a Amount) MarshalJSON() ([]byte, error) {
	if !a.present {
		return []byte("null"), nil
	}
	return []byte(a.String()), nil
}

// UnmarshalJSON reads a number, with an exponent too, or a string with one that ParseAmount reads; null and "" are absent.
func (a *Amount) UnmarshalJSON(text []byte) error {
	*a = Amount{}
	if string(text) == "null" || string(text) == `""` {
		return nil
	}
	written := string(text)
	if text[0] == '"' && json.Unmarshal(text, &written) != nil {
		return mistyped[Amount]("")
	}
	parsed, err := ParseAmount(written)
	if err != nil && text[0] != '"' {
		parsed, err = parseExponent(written)
	}
	if err != nil {
		return mistyped[Amount]("")
	}
	*a = parsed
	return nil
}

// parseExponent reads 1.25E7, as some libraries write large numbers in JSON. It writes itself as 12500000.
func parseExponent(text string) (Amount, error) {
	value, err := decimal.NewFromString(text)
	if err != nil || value.NumDigits() > mostDigits || value.Exponent() < -mostDigits || value.Exponent() > mostDigits {
		return Amount{}, errAmount
	}
	return AmountOf(value), nil
}
