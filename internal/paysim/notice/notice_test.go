package notice_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func TestFieldsAreLaidOver(t *testing.T) {
	base := notice.Notice{Type: "CHARGE", Fields: []notice.Field{
		{Name: "transactionType", Value: "CHARGE"}, {Name: "shippingMethod", Value: "a"}, {Name: "shippingMethod", Value: "b"}, {Name: "ipnId", Value: "1"},
	}}
	before := slices.Clone(base.Fields)
	got := base.With(
		notice.Field{Name: "shippingMethod", Value: "c"}, notice.Field{Name: "Color", Value: "blue"}, notice.Field{Name: "color", Value: "red"},
		notice.Field{Name: "transactionType", Value: "REFUND"}, notice.Field{Name: "ipnId", Value: "2"},
	)
	if want := "transactionType=REFUND&shippingMethod=c&shippingMethod=b&Color=blue&color=red&ipnId=2"; string(got.Encode()) != want || got.Type != "REFUND" {
		t.Errorf("got %s, a %s, want %s", got.Encode(), got.Type, want)
	}
	if got, want := string(base.Without("shippingMethod", "ipnId", "none").With(notice.Field{Name: "a"}).Encode()), "transactionType=CHARGE&a="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !slices.Equal(base.Fields, before) || base.Type != "CHARGE" || base.Get("none") != "" {
		t.Errorf("the notice itself has changed: %v", base)
	}
}

func TestABodyIsEncodedAsJavaDoes(t *testing.T) {
	for _, tt := range []struct{ name, value, utf8, windows1252 string }{
		{"what stands for itself", "azAZ09*-_.", "azAZ09*-_.", "azAZ09*-_."},
		{"a space, a plus, a tilde", "c d+~", "c+d%2B%7E", "c+d%2B%7E"},
		{"separators", "a&b=c;%", "a%26b%3Dc%3B%25", "a%26b%3Dc%3B%25"},
		{"a line feed", "\n", "%0A", "%0A"},
		{"letters of two bytes", "José Müller", "Jos%C3%A9+M%C3%BCller", "Jos%E9+M%FCller"},
		{"signs of the code page alone", "5 € – ’Ÿ", "5+%E2%82%AC+%E2%80%93+%E2%80%99%C5%B8", "5+%80+%96+%92%9F"},
		{"what the code page cannot write", "李 Łu", "%E6%9D%8E+%C5%81u", "%3F+%3Fu"},
		{"a control the code page does not have", "\u0080", "%C2%80", "%3F"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := notice.Notice{Fields: []notice.Field{{Name: "é", Value: tt.value}}}
			if got, want := string(n.Encode()), "%C3%A9="+tt.utf8; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got, want := string(n.EncodeWindows1252()), "%E9="+tt.windows1252; got != want {
				t.Errorf("in the code page got %s, want %s", got, want)
			}
		})
	}
}

// TestTheReceiverEncodesTheSame compares two encoders that were written apart.
func TestTheReceiverEncodesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n notice.Notice
		var fields ipn.Fields
		for _, text := range rapid.SliceOf(rapid.String()).Draw(t, "texts") {
			n.Fields = append(n.Fields, notice.Field{Name: text, Value: text})
			fields = append(fields, ipn.Field{Name: text, Value: text})
		}
		if got, want := string(n.Encode()), string(ipn.Encode(fields)); got != want {
			t.Fatalf("got %s, the receiver %s", got, want)
		}
	})
}

// The vectors are the documented ones; none was computed by the code under test.
func TestASignatureIsTheDocumentedOne(t *testing.T) {
	const key, timestamp = "example-ipn-security-key-0001", "2023-05-15 13:02:57.878"
	for _, tt := range []struct{ body, want string }{
		{"transactionType=CHARGE&referenceNumber=70010001&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR", "86120bf6869bd90fe55651a904a9ab8def25838fa6e6842232878fe0ddaf3f64"},
		{"firstName=Jos%C3%A9&lastName=M%C3%BCller&note=a%2Bb+c", "ef08d23806354386164c2bd46fec68159015445bb617ed98e91d46ba9369ff81"},
	} {
		if got := notice.Sign([]byte(key), timestamp, []byte(tt.body)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestATimestampIsUTCToTheMillisecond(t *testing.T) {
	moment := time.Date(2023, 5, 15, 6, 2, 57, 878_999_999, time.FixedZone("", -7*60*60))
	if got, want := notice.Timestamp(moment), "2023-05-15 13:02:57.878"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDatesAreThoseOfThePacificCoast(t *testing.T) {
	for _, tt := range []struct{ name, utc, want string }{
		{"summer, seven hours behind", "2023-07-01T20:02:59Z", "07/01/2023 01:02 PM"},
		{"winter, eight hours behind", "2023-12-01T21:02:00Z", "12/01/2023 01:02 PM"},
		{"midnight is twelve", "2023-07-01T07:00:00Z", "07/01/2023 12:00 AM"},
		{"noon too", "2023-07-01T19:00:00Z", "07/01/2023 12:00 PM"},
		{"the day before", "2024-01-01T00:00:00Z", "12/31/2023 04:00 PM"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			moment, err := time.Parse(time.RFC3339, tt.utc)
			if err != nil {
				t.Fatal(err)
			}
			if got := notice.Date(moment); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAPersonIsShopperAndAddressee(t *testing.T) {
	n := notice.Notice{Fields: notice.Someone(2).Fields()}
	for _, name := range []string{"LastName", "Address1", "City", "ZipCode", "Country"} {
		own := n.Get(strings.ToLower(name[:1]) + name[1:])
		if own == "" || n.Get("invoice"+name) != own || n.Get("shipping"+name) != own {
			t.Errorf("%s is %q, %q and %q", name, own, n.Get("invoice"+name), n.Get("shipping"+name))
		}
	}
}
