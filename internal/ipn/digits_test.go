package ipn_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// amounts are of all lengths: those that an int64 holds, and longer ones.
func amounts() *rapid.Generator[decimal.Decimal] {
	return rapid.Custom(func(t *rapid.T) decimal.Decimal {
		d := decimal.RequireFromString(rapid.StringMatching(`-?[0-9]{1,40}`).Draw(t, "coefficient"))
		return decimal.NewFromBigInt(d.Coefficient(), rapid.Int32Range(-40, 10).Draw(t, "exponent"))
	})
}

func TestAmountsAreWrittenWithTheDecimalsTheyHave(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := amounts().Draw(t, "amount")
		got := ipn.Digits(d)
		if want := d.StringFixed(max(0, -d.Exponent())); got != want {
			t.Fatalf("%s with exponent %d is written %s", want, d.Exponent(), got)
		}
		read, err := ipn.ParseDigits([]byte(got))
		if err != nil || !read.Equal(d) || read.Exponent() != min(0, d.Exponent()) {
			t.Fatalf("%s is read as %s with exponent %d, error %v", got, read, read.Exponent(), err)
		}
	})
}

func TestWhatIsNoPlainAmountIsReadAsDecimalReadsIt(t *testing.T) {
	t.Parallel()
	read := func(t *rapid.T, text string) {
		got, gotErr := ipn.ParseDigits([]byte(text))
		want, wantErr := decimal.NewFromString(text)
		if (gotErr == nil) != (wantErr == nil) || gotErr == nil && (!got.Equal(want) || got.Exponent() != want.Exponent()) {
			t.Fatalf("%q: got %s (%v), want %s (%v)", text, got, gotErr, want, wantErr)
		}
	}
	rapid.Check(t, func(t *rapid.T) { read(t, rapid.StringMatching(`[-+.0-9eEN]{0,22}`).Draw(t, "text")) })
}
