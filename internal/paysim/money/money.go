// Package money is how the simulator counts: exact decimals without a library, because the simulator stands on the
// standard library alone.
//
// Its one non-obvious decision is that every currency is counted in ten-thousandths, whatever its own minor unit. Sums of
// any currency are then plain sums of integers, and rounding happens in one place, where a rate is applied.
package money

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Amount is a sum of money in ten-thousandths of its currency's unit.
type Amount int64

const unit Amount = 10_000

// most is the largest amount a transaction may have: 9999999999.99.
const most = 9_999_999_999_9900

// ErrFormat is what Parse answers for anything but digits with at most four decimals.
var ErrFormat = errors.New("an amount is written as digits with at most four decimals, such as 52.50")

// Parse reads "52.50", "52.5", "52" and "-52.50". There are no exponents, no plus and no thousands separators.
func Parse(text string) (Amount, error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 10 || len(fraction) > 4 || dotted && fraction == "" || !allDigits(whole+fraction) {
		return 0, ErrFormat
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 4-len(fraction)), 10, 64)
	if err != nil || n > most {
		return 0, ErrFormat
	}
	if negative {
		n = -n
	}
	return Amount(n), nil
}

func allDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// MustParse is Parse for constants.
func MustParse(text string) Amount {
	a, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return a
}

// Units returns n whole units of a currency.
func Units(n int64) Amount { return Amount(n) * unit }

// String writes two decimals, or more where there are more: "52.50", "1.234".
func (a Amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	fraction := strings.TrimRight(fmt.Sprintf("%04d", a%unit), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, a/unit, fraction)
}

// MarshalJSON writes a JSON number, as the interface's amounts are.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a JSON number or a string with one; an exponent is refused.
func (a *Amount) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		return ErrFormat
	}
	parsed, err := Parse(number.String())
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// Share returns the part of a that rate, in hundredths of a percent, makes: a rate of 500 is 5 %. It is rounded to the decimals
// of the currency, a half away from zero, so that a reversal is as large as what it reverses.
func (a Amount) Share(rate int64, currency string) Amount {
	if a < 0 {
		return -(-a).Share(rate, currency)
	}
	step := Step(currency)
	whole, divisor := int64(a)*rate, 10_000*int64(step)
	return Amount((whole+divisor/2)/divisor) * step
}

// Percent writes a rate in hundredths of a percent as IPNs do: "19", "6.25", "8.80"; "" for 0.
func Percent(rate int64) string {
	if rate == 0 {
		return ""
	}
	return strings.TrimSuffix(Amount(rate*100).String(), ".00")
}

// decimals lists the currencies that do not have two (ISO 4217).
var decimals = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

// Step is the smallest amount of a currency: 0.01 of most, 1 of the yen, 0.001 of the dinar.
func Step(currency string) Amount {
	n, odd := decimals[currency]
	if !odd {
		n = 2
	}
	step := unit
	for range n {
		step /= 10
	}
	return step
}
