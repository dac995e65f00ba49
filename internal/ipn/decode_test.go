package ipn_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestEverySampleDecodesToItsGolden reads one body per type, all people in them invented. Goldens are rewritten with
// -update and read in review.
func TestEverySampleDecodesToItsGolden(t *testing.T) {
	for _, name := range sampleNames(t) {
		t.Run(name, func(t *testing.T) {
			e := decode(sample(t, name))
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, append(text, '\n'), "", "  "); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s; see what -update changes", path)
			}
		})
	}
}

func TestEveryTypeHasASample(t *testing.T) {
	samples := sampleNames(t)
	for _, row := range ipn.Types() {
		name := strings.ToLower(row.Name)
		if !slices.Contains(samples, name) {
			t.Errorf("testdata/%s.body is missing", name)
			continue
		}
		if got := decode(sample(t, name)).Type.Name; got != row.Name {
			t.Errorf("the sample of %s is a %q", row.Name, got)
		}
	}
}

func TestOddBodiesAreEventsWithProblems(t *testing.T) {
	const charge = "transactionType=CHARGE&referenceNumber=1&"
	for _, tt := range []struct {
		name, body string
		want       []string // "field code"
	}{
		{"S-34: nothing but separators", "&&&", []string{" no_fields", "transactionType transaction_type_missing"}},
		{"S-34: no type", "a=1", []string{"transactionType transaction_type_missing"}},
		{"a blank type", "transactionType=+", []string{"transactionType transaction_type_missing"}},
		{"a type of tomorrow", "transactionType=WALLET_REKEYED", []string{"transactionType transaction_type_unknown"}},
		{"S-35: bad escapes", charge + "a=%zz&b=%", []string{"a bad_escape", "b bad_escape"}},
		{"S-40: neither UTF-8 nor declared", charge + "city=K%F6ln", []string{"city charset_guess"}},
		{"S-44: type told twice", "transactionType=CHARGE&transactionType=REFUND&referenceNumber=1", []string{"transactionType critical_repeated"}},
		{"S-44: type told twice in two cases", "transactionType=CHARGE&TRANSACTIONTYPE=REFUND", []string{"transactionType critical_repeated"}},
		{"S-44: reference told twice", charge + "referenceNumber=2", []string{"referenceNumber critical_repeated", " reference_missing"}},
		{"S-44: currency told thrice", charge + "currency=EUR&currency=USD&currency=EUR", []string{"currency critical_repeated"}},
		{"S-44: the same told twice", charge + "referenceNumber=1&referenceNumber=+1&invoiceAmount=&invoiceAmount=2", nil},
		{"S-44: a harmless name twice", charge + "shippingMethod=a&shippingMethod=b", nil},
		{"S-46: a space before a name", "transactionType=CHARGE&+referenceNumber=1", []string{"referenceNumber misspelled_name", " reference_missing"}},
		{"S-46: a space behind a name, unencoded", charge + "firstName =Ann", []string{"firstName misspelled_name"}},
		{"S-46: an escaped and a capital letter", "%74ransactionType=CHARGE&ReferenceNumber=1", nil},
		{"S-47: names of the merchant's", charge + "a[]=1&a.b=1&custom{N}=x&3D=4&Main+product=Yarn", nil},
		{"S-48: exponents", charge + "invoiceAmount=1e9", []string{"invoiceAmount amount_malformed"}},
		{"S-48: an amount with an index", charge + "additionalChargeAmount[3]=NaN", []string{"additionalChargeAmount[3] amount_malformed"}},
		{"S-48: decimals that yen do not have", charge + "invoiceChargeAmount=1.50&invoiceChargeCurrency=JPY", []string{"invoiceChargeAmount amount_scale"}},
		{"S-48: zero decimals of yen", charge + "invoiceChargeAmount=1.00&invoiceChargeCurrency=JPY", nil},
		{"S-48: three decimals of dinars", charge + "invoiceChargeAmount=1.005&invoiceChargeCurrency=BHD", nil},
		{"S-48: three decimals of euros", charge + "invoiceChargeAmount=1.005&invoiceChargeCurrency=EUR", []string{"invoiceChargeAmount amount_scale"}},
		{"S-48: four decimals of no currency", charge + "invoiceChargeAmount=1.0005", []string{"invoiceChargeAmount currency_invalid"}},
		{"a currency in words", charge + "currency=Euro", []string{"currency currency_invalid"}},
		{"S-49: no such day", charge + "transactionDate=02/30/2026 01:00 PM", []string{"transactionDate date_malformed"}},
		{"S-49: an hour that clocks skip", charge + "transactionDate=03/12/2023 02:30 AM", []string{"transactionDate date_nonexistent"}},
		{"S-49: an hour that comes twice", charge + "transactionDate=11/05/2023 01:30 AM", []string{"transactionDate date_ambiguous"}},
		{"S-49: year 9999", charge + "untilDate=01/01/9999 01:00 PM", []string{"untilDate date_out_of_range"}},
		{"undocumented dates", charge + "sepaMandateDate=2023-05-01&responseDate=yesterday", nil},
		{"a flag, a count, an expiry and a country", charge + "testMode=2&quantity=1.5&creditCardExpDate=13/2027&country=Spain",
			[]string{"testMode flag_invalid", "quantity number_invalid", "creditCardExpDate date_malformed", "country country_invalid"}},
		{"well-formed ones", charge + "testMode=y&quantity=2&creditCardExpDate=3/2027&cardIssuingCountry=es&fullRefund=Yes&coupon=no", nil},
		{"a NUL in a reference", "transactionType=CHARGE&referenceNumber=1%002", []string{"referenceNumber nul_byte", "referenceNumber text_sanitised"}},
		{"a refund without its number", "transactionType=REFUND&referenceNumber=1", []string{" reference_missing"}},
		{"a type without a rule needs no reference", "transactionType=VENDOR_STATUS_CHANGED", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range decode(tt.body).Problems {
				got = append(got, p.Field+" "+p.Code)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("problems\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestABodyOfAnotherMediaTypeIsReadAllTheSame(t *testing.T) {
	for contentType, flagged := range map[string]bool{
		"": false, "application/x-www-form-urlencoded": false,
		"Application/X-WWW-Form-URLEncoded; charset=utf-8": false,
		"text/plain": true, "application/json": true, ";": false,
	} {
		e := new(ipn.Decoder).Decode([]byte("transactionType=CHARGE&referenceNumber=1"), contentType)
		if got := len(e.Problems) == 1 && e.Problems[0].Code == ipn.NotAForm; got != flagged {
			t.Errorf("%q: problems %v", contentType, e.Problems)
		}
		if e.Type.Name != "CHARGE" {
			t.Errorf("%q: type %q", contentType, e.Type.Name)
		}
	}
}

func TestADeclaredCharsetIsUsed(t *testing.T) {
	e := new(ipn.Decoder).Decode([]byte("transactionType=CHARGE&referenceNumber=M%FCller"), "application/x-www-form-urlencoded; charset=iso-8859-1")
	if e.Facts.ReferenceNumber != "Müller" || len(e.Problems) != 0 {
		t.Errorf("got %q with %v", e.Facts.ReferenceNumber, e.Problems)
	}
}

func TestFieldsBeyondTheLimitAreFlagged(t *testing.T) {
	e := (&ipn.Decoder{MaxFields: 2}).Decode([]byte("transactionType=CHARGE&referenceNumber=1&city=Porto"), "")
	if len(e.Fields) != 2 || len(e.Problems) != 1 || e.Problems[0].Code != ipn.TooManyFields {
		t.Errorf("%d fields, problems %v", len(e.Fields), e.Problems)
	}
	if got := len(decode(strings.Repeat("a=1&", 16_000)).Fields); got != 1000 {
		t.Errorf("S-37: %d fields of 16,000, want 1,000", got)
	}
}

// TestDecodingCostsThreeAllocations is the hot path's budget: event, fields, and one buffer for all texts.
func TestDecodingCostsThreeAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates on its own account")
	}
	body := []byte(sample(t, "charge"))
	decoder := new(ipn.Decoder)
	decoder.Decode(body, "") // loads the zone
	if got := testing.AllocsPerRun(100, func() { decoder.Decode(body, "") }); got > 3 {
		t.Errorf("%.0f allocations, want at most 3", got)
	}
}

func TestAnEventSurvivesItsBody(t *testing.T) {
	body := []byte("transactionType=CHARGE&referenceNumber=7001&Color=red")
	e := new(ipn.Decoder).Decode(body, "")
	copy(body, bytes.Repeat([]byte("X"), len(body)))
	if e.Facts.ReferenceNumber != "7001" || e.Fields.Get("color") != "red" {
		t.Errorf("the event changed with the body: %+v", e.Facts)
	}
}

// drawFields draws standard names, merchant's names and all sorts of values.
func drawFields(t *rapid.T) ipn.Fields {
	rows := ipn.NameRows()
	name := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			row := rapid.SampledFrom(rows).Draw(t, "row")
			if row.Indexed {
				return row.Name + rapid.SampledFrom([]string{"0", "1", "[0]", "[12]"}).Draw(t, "index")
			}
			return row.Name
		}),
		rapid.StringN(1, 12, -1).Filter(func(s string) bool { return !strings.HasPrefix(s, "\ufeff") }), // a byte order mark goes
	)
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"", "Y", "12.34", "-9.00", "EUR", "CHARGE", "REFUND", "05/15/2023 01:02 PM", "70010001"}),
		rapid.String(),
	)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ipn.Field {
		return ipn.Field{Name: name.Draw(t, "name"), Value: value.Draw(t, "value")}
	}), 0, 40).Draw(t, "fields")
}

func TestWhatIsEncodedDecodesToTheSameFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t)
		e := decode(string(ipn.Encode(fields)))
		if !slices.Equal(e.Fields, fields) {
			t.Fatalf("fields\n got %q\nwant %q", e.Fields, fields)
		}
		if again := decode(string(e.Encode())); !slices.Equal(again.Fields, e.Fields) {
			t.Fatalf("decoded again\n got %q\nwant %q", again.Fields, e.Fields)
		}
	})
}
