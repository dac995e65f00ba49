package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

const most = 9_999_999_999_9900 // ten-thousandths

func amounts() *rapid.Generator[money.Amount] {
	return rapid.Map(rapid.Int64Range(-most, most), func(n int64) money.Amount { return money.Amount(n) })
}

func TestAnAmountIsReadAsItIsWritten(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"52.50", "52.50"}, {"52.5", "52.50"}, {"52", "52.00"}, {"-52.50", "-52.50"}, {"0", "0.00"}, {"-0", "0.00"},
		{"0.0001", "0.0001"}, {"-0.05", "-0.05"}, {"1.234", "1.234"}, {"0052.5000", "52.50"},
		{"9999999999.99", "9999999999.99"}, {"-9999999999.99", "-9999999999.99"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got, err := money.Parse(tt.text); err != nil || got.String() != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "+1", "--1", "1e3", "1E3", "1,000.00", " 1", "1 ", "1.00001", "1.2.3", "0x1", "١", "NaN", "10000000000", "9999999999.991",
		"99999999999999999999", "1-", "1.-5",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := money.Parse(text); !errors.Is(err, money.ErrFormat) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestARateIsWrittenAsIPNsDo(t *testing.T) {
	for rate, want := range map[int64]string{0: "", 1900: "19", 625: "6.25", 880: "8.80", 5: "0.05", 10_000: "100"} {
		if got := money.Percent(rate); got != want {
			t.Errorf("%d: got %q, want %q", rate, got, want)
		}
	}
}

func TestEveryAmountReadsBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts().Draw(t, "amount")
		if got, err := money.Parse(a.String()); err != nil || got != a {
			t.Fatalf("%s was read as %s, %v", a, got, err)
		}
		encoded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{string(encoded), `"` + string(encoded) + `"`} { // requests write amounts either way
			var got money.Amount
			if err := json.Unmarshal([]byte(form), &got); err != nil || got != a {
				t.Fatalf("%s was read as %s, %v", form, got, err)
			}
		}
	})
}

func TestOtherJSONIsNoAmount(t *testing.T) {
	for _, text := range []string{`null`, `true`, `""`, `"abc"`, `"1,000"`, `1e2`, `"1e2"`, `{}`, `[1]`, `1.00001`} {
		t.Run(text, func(t *testing.T) {
			if got := money.Amount(7); json.Unmarshal([]byte(text), &got) == nil || got != 7 {
				t.Errorf("was read as %s", got)
			}
		})
	}
}

func TestAShareIsRoundedWhereItsCurrencyEnds(t *testing.T) {
	for _, tt := range []struct {
		name, amount string
		rate         int64
		currency     string
		want         string
	}{
		{"a whole share", "100", 500, "USD", "5.00"},
		{"a half goes up", "0.50", 100, "USD", "0.01"},
		{"less than a half goes down", "0.49", 100, "USD", "0.00"},
		{"a reversal's half goes as far", "-0.50", 100, "USD", "-0.01"},
		{"a reversal's rest too", "-1.99", 50, "USD", "-0.01"},
		{"no decimals in yen", "3333", 1000, "JPY", "333.00"},
		{"three in dinars", "7.660", 333, "KWD", "0.255"},
		{"a currency nobody knows has two", "9.99", 2000, "ZZZ", "2.00"},
		{"nothing of something", "9.99", 0, "EUR", "0.00"},
		{"all of it", "9.99", 10_000, "EUR", "9.99"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := money.MustParse(tt.amount).Share(tt.rate, tt.currency); got.String() != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestAShareIsTheNearestAmountOfItsCurrency compares with fractions that are not rounded at all.
func TestAShareIsTheNearestAmountOfItsCurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts().Draw(t, "amount")
		rate := rapid.Int64Range(0, 10_000).Draw(t, "rate")
		currency := rapid.SampledFrom([]string{"USD", "JPY", "KWD"}).Draw(t, "currency")
		got, step := a.Share(rate, currency), money.Step(currency)
		exact := new(big.Rat).Mul(big.NewRat(int64(a), 1), big.NewRat(rate, 10_000))
		off := new(big.Rat).Sub(exact, big.NewRat(int64(got), 1))
		if got%step != 0 || off.Abs(off).Cmp(big.NewRat(int64(step), 2)) > 0 {
			t.Fatalf("%s at %d of %s is %s", a, rate, currency, got)
		}
		if opposite := (-a).Share(rate, currency); opposite != -got {
			t.Fatalf("%s of one way, %s of the other", got, opposite)
		}
	})
}

func TestUnitsAreWhole(t *testing.T) {
	if got := money.Units(21).String(); got != "21.00" {
		t.Errorf("got %s", got)
	}
	for currency, want := range map[string]string{"USD": "0.01", "JPY": "1.00", "BHD": "0.001", "": "0.01"} {
		if got := money.Step(currency).String(); got != want {
			t.Errorf("the step of %q is %s, want %s", currency, got, want)
		}
	}
}

func TestAWrongConstantPanics(t *testing.T) {
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, `"1e3"`) {
			t.Errorf("got %v", text)
		}
	}()
	money.MustParse("1e3")
}
