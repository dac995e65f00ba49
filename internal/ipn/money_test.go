package ipn_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestAmountsAreReadByAStrictGrammar(t *testing.T) {
	for _, tt := range []struct{ text, want, problem string }{
		{"", "", ""},
		{"  ", "", ""},
		{"21.00", "21.00", ""},
		{" 21.00\n", "21.00", ""},
		{"9", "9", ""},
		{"0", "0", ""},
		{"0.00", "0.00", ""},
		{"-9.00", "-9.00", ""},
		{"-0.00", "0.00", ""},
		{"-0", "0", ""},
		{"-00.00", "0.00", ""},
		{"-0,000", "0", ""},
		{"-0.01", "-0.01", ""},
		{"007.50", "7.50", ""},
		{"-007", "-7", ""},
		{"000", "0", ""},
		{"1,234.56", "1234.56", ""},
		{"-1,234,567.80", "-1234567.80", ""},
		{"0,001", "1", ""},
		{"1.2300000", "1.2300000", ""},
		{"9999999999.99", "9999999999.99", ""},
		{strings.Repeat("9", 40), strings.Repeat("9", 40), ""},
		{strings.Repeat("9", 39) + ".12", "", ipn.AmountTooLong},
		{strings.Repeat("1", 1<<20), "", ipn.AmountTooLong},
		{"+5", "", ipn.AmountMalformed},
		{"1.", "", ipn.AmountMalformed},
		{".5", "", ipn.AmountMalformed},
		{"-.5", "", ipn.AmountMalformed},
		{".", "", ipn.AmountMalformed},
		{"-", "", ipn.AmountMalformed},
		{"--1", "", ipn.AmountMalformed},
		{"- 1", "", ipn.AmountMalformed},
		{"1-", "", ipn.AmountMalformed},
		{"1 234.56", "", ipn.AmountMalformed},
		{"1e9", "", ipn.AmountMalformed},
		{"1E-2", "", ipn.AmountMalformed},
		{"NaN", "", ipn.AmountMalformed},
		{"Inf", "", ipn.AmountMalformed},
		{"0x10", "", ipn.AmountMalformed},
		{"1_000", "", ipn.AmountMalformed},
		{"1.234,56", "", ipn.AmountMalformed},
		{"1.2.3", "", ipn.AmountMalformed},
		{"1,23", "", ipn.AmountMalformed},
		{",123", "", ipn.AmountMalformed},
		{"1234,567", "", ipn.AmountMalformed},
		{"1,,234", "", ipn.AmountMalformed},
		{"1,234,", "", ipn.AmountMalformed},
		{"1.0,000", "", ipn.AmountMalformed},
		{"$5", "", ipn.AmountMalformed},
		{"5 EUR", "", ipn.AmountMalformed},
		{"\u0661\u0662", "", ipn.AmountMalformed},
		{"5\x00", "", ipn.AmountMalformed},
	} {
		name := tt.text
		if len(name) > 50 {
			name = "a very long one"
		}
		t.Run(name, func(t *testing.T) {
			got, err := ipn.ParseMoney(tt.text)
			if got.String() != tt.want || (err != nil) != (tt.problem != "") {
				t.Errorf("got %q, %v, want %q, problem %q", got, err, tt.want, tt.problem)
			}
			if got := ipn.MoneyProblem(tt.text, -1); got != tt.problem {
				t.Errorf("problem: got %q, want %q", got, tt.problem)
			}
			if err != nil && len(tt.text) > 2 && strings.Contains(err.Error(), tt.text) {
				t.Errorf("the error quotes the value: %v", err)
			}
		})
	}
}

func TestDigitsBeyondTheCurrencysScaleMustBeZeros(t *testing.T) {
	for _, tt := range []struct{ text, currency, want string }{
		{"1.00", "USD", ""},
		{"1.000", "USD", ""},
		{"1.005", "USD", ipn.AmountScale},
		{"-1.005", "usd", ipn.AmountScale},
		{"1,234.5600", "EUR", ""},
		{"100", "JPY", ""},
		{"100.00", "JPY", ""},
		{"100.50", "JPY", ipn.AmountScale},
		{"1.125", "BHD", ""},
		{"1.1255", "KWD", ipn.AmountScale},
		{"1.1255", "CLF", ""},
		{"", "USD", ""},
		{"1e9", "USD", ipn.AmountMalformed},
	} {
		scale, known := ipn.ScaleOf(tt.currency)
		if got := ipn.MoneyProblem(tt.text, scale); got != tt.want || !known {
			t.Errorf("%s %s: got %q, want %q (known: %v)", tt.text, tt.currency, got, tt.want, known)
		}
	}
}

func TestScalesOfCurrencies(t *testing.T) {
	for _, tt := range []struct {
		currency string
		scale    int
		known    bool
	}{
		{"USD", 2, true}, {"EUR", 2, true}, {"gbp", 2, true}, {"HUF", 2, true},
		{"JPY", 0, true}, {"krw", 0, true}, {"CLP", 0, true}, {"XAF", 0, true},
		{"BHD", 3, true}, {"Tnd", 3, true}, {"UYW", 4, true},
		{"ZZZ", 2, true}, // well formed: the sender's list is open
		{"XXX", 0, false}, {"XAU", 0, false}, {"XTS", 0, false},
		{"", 0, false}, {"US", 0, false}, {"EURO", 0, false}, {"U$D", 0, false}, {"US1", 0, false},
		{"US ", 0, false}, {"\u20AC", 0, false}, {"[AB", 0, false},
	} {
		if scale, known := ipn.ScaleOf(tt.currency); scale != tt.scale || known != tt.known {
			t.Errorf("%q: got %d, %v, want %d, %v", tt.currency, scale, known, tt.scale, tt.known)
		}
	}
}

func TestAbsentMoneyIsNotZeroMoney(t *testing.T) {
	zero, err := ipn.ParseMoney("0.00")
	if err != nil || zero.IsZero() || !(ipn.Money{}).IsZero() {
		t.Errorf("0.00 is present and the zero value absent; got IsZero %v and %v, %v", zero.IsZero(), ipn.Money{}.IsZero(), err)
	}
	got, err := json.Marshal([]ipn.Money{zero, {}})
	if want := `["0.00",null]`; err != nil || string(got) != want {
		t.Errorf("JSON: got %s, %v, want %s", got, err, want)
	}
	if !(ipn.Money{}).Decimal().IsZero() {
		t.Errorf("the decimal of absent money is not 0")
	}
}

func TestSignAndMagnitude(t *testing.T) {
	for _, tt := range []struct {
		text, abs string
		negative  bool
	}{{"-9.00", "9.00", true}, {"9.00", "9.00", false}, {"-1,000", "1000", true}, {"-0.00", "0.00", false}, {"", "", false}} {
		m, err := ipn.ParseMoney(tt.text)
		if err != nil || m.Negative() != tt.negative || m.Abs().String() != tt.abs {
			t.Errorf("%q: got negative %v, magnitude %q, %v, want %v, %q", tt.text, m.Negative(), m.Abs(), err, tt.negative, tt.abs)
		}
	}
}

func TestAPlainAmountCostsNoAllocation(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates on its own account")
	}
	for _, text := range []string{"21.00", "-1234.56", "-0.00", ""} {
		allocs := testing.AllocsPerRun(100, func() {
			m, _ := ipn.ParseMoney(text)
			if ipn.MoneyProblem(text, 2) != "" || m.Abs().Negative() {
				t.Fail()
			}
		})
		if allocs > 0 {
			t.Errorf("%q: got %v allocations, want none", text, allocs)
		}
	}
}

var canonicalAmount = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// checkMoney holds whatever was accepted to the canonical form, and its number
// to exact arithmetic on the text.
func checkMoney(t interface{ Fatalf(string, ...any) }, text string) {
	m, err := ipn.ParseMoney(text)
	if problem := ipn.MoneyProblem(text, -1); (err != nil) != (problem != "") {
		t.Fatalf("%q: error %v but problem %q", text, err, problem)
	}
	if err != nil || m.IsZero() {
		return
	}
	if !canonicalAmount.MatchString(m.String()) {
		t.Fatalf("%q: %q is not canonical", text, m)
	}
	if again, err := ipn.ParseMoney(m.String()); err != nil || again != m {
		t.Fatalf("%q: reads back as %q, %v, want %q", text, again, err, m)
	}
	want, ok := new(big.Rat).SetString(strings.ReplaceAll(strings.TrimSpace(text), ",", ""))
	if !ok || m.Decimal().Rat().Cmp(want) != 0 || m.Negative() != (want.Sign() < 0) {
		t.Fatalf("%q: got %v, negative %v, want %v", text, m.Decimal(), m.Negative(), want)
	}
	if abs := m.Abs(); abs.Negative() || abs.Decimal().Cmp(m.Decimal().Abs()) != 0 {
		t.Fatalf("%q: magnitude %q", text, abs)
	}
	if zeros := strings.TrimRight(m.String(), "0"); ipn.MoneyProblem(text, 0) == "" && strings.Contains(zeros, ".") && !strings.HasSuffix(zeros, ".") {
		t.Fatalf("%q passes as a number of whole units", text)
	}
}

func TestAnAcceptedAmountIsCanonicalAndExact(t *testing.T) {
	plain := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,4})?`)
	grouped := rapid.StringMatching(`-?[0-9]{1,3}(,[0-9]{3}){1,4}(\.[0-9]{2})?`)
	noise := rapid.StringMatching(`[-+0-9.,eE ]{0,12}`)
	rapid.Check(t, func(t *rapid.T) { checkMoney(t, rapid.OneOf(plain, grouped, noise).Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(plain, grouped).Draw(t, "text")
		if _, err := ipn.ParseMoney(text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func FuzzMoney(f *testing.F) {
	for _, text := range []string{"", "21.00", "-0.00", "1,234.56", "1.234,56", "1e9", "NaN", "0x10", "+5", "1.", ".5", "007", "00,001.0", strings.Repeat("9", 41)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkMoney(t, text) })
}
