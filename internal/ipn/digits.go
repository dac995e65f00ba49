package ipn

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// quick is how many digits an int64 holds whatever they are.
const quick = 18

// Digits writes an amount with the decimals it has: 5.00 stays 5.00. A report of a year has thousands of amounts, so the
// usual ones are written without the big integers that decimal would calculate with.
func Digits(d decimal.Decimal) string {
	scale := -int(d.Exponent())
	if scale < 0 || scale > quick || d.NumDigits() > quick {
		return d.StringFixed(int32(max(0, scale)))
	}
	coefficient := d.CoefficientInt64()
	if scale == 0 {
		return strconv.FormatInt(coefficient, 10)
	}
	var sign string
	if coefficient < 0 {
		sign, coefficient = "-", -coefficient
	}
	digits := strconv.FormatInt(coefficient, 10)
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - scale
	return sign + digits[:point] + "." + digits[point:]
}

// ParseDigits reads what [Digits] or PostgreSQL's numeric wrote, usual amounts quicker than [decimal.NewFromString], which
// reads the others and whose errors it returns.
func ParseDigits(text []byte) (decimal.Decimal, error) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > quick {
		return decimal.NewFromString(string(text))
	}
	var coefficient int64
	point := len(digits) - 1 // the digit or point before the first decimal
	for i, c := range digits {
		switch {
		case isDigit(c):
			coefficient = 10*coefficient + int64(c-'0')
		case c == '.' && 0 < i && i < len(digits)-1 && point == len(digits)-1:
			point = i
		default:
			return decimal.NewFromString(string(text))
		}
	}
	if negative {
		coefficient = -coefficient
	}
	return decimal.New(coefficient, int32(point-len(digits)+1)), nil
}
