package ipn_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestFieldsAreEncodedAsTheSenderDoes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields ipn.Fields
		want   string
	}{
		{"no fields", nil, ""},
		{"an empty value", ipn.Fields{{"a", ""}}, "a="},
		{"what stands for itself", ipn.Fields{{"a", "azAZ09*-_."}}, "a=azAZ09*-_."},
		{"a space, a plus, a tilde", ipn.Fields{{"a b", "c d+~"}}, "a+b=c+d%2B%7E"},
		{"letters of two bytes, upper-case hex", ipn.Fields{{"n", "José\n"}, {"m", "Müller"}}, "n=Jos%C3%A9%0A&m=M%C3%BCller"},
		{"separators", ipn.Fields{{"a&b=c;", "%"}}, "a%26b%3Dc%3B=%25"},
		{"no name", ipn.Fields{{"", ""}, {"", "x"}}, "=&=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(ipn.Encode(tt.fields)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// fieldsOf draws fields with repeats, empties, NUL, odd names and any letters.
func fieldsOf(t *rapid.T) ipn.Fields {
	name := rapid.OneOf(rapid.SampledFrom([]string{"referenceNumber", "shippingMethod", "", "a b", "x\x00"}), rapid.String())
	field := rapid.Custom(func(t *rapid.T) ipn.Field {
		return ipn.Field{Name: name.Draw(t, "name"), Value: rapid.String().Draw(t, "value")}
	})
	return rapid.SliceOfN(field, 0, 300).Draw(t, "fields")
}

func TestEncodedFieldsReadBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, fieldsOf(t)) })
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, fields ipn.Fields) {
	if len(fields) > 0 && strings.HasPrefix(fields[0].Name, "\uFEFF") {
		return // a byte order mark is no part of a body
	}
	encoded := ipn.Encode(fields)
	if got, _ := ipn.ScanForm(encoded, form, 0, nil); !slices.Equal(got, fields) {
		t.Fatalf("%s:\n got %q\nwant %q", encoded, got, fields)
	}
	if len(encoded) != cap(encoded) {
		t.Fatalf("room for %d bytes was made, %d were needed", cap(encoded), len(encoded))
	}
}
