package ipn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestFieldsAreFoundWithoutCaseAndInOrder(t *testing.T) {
	fields := ipn.Fields{{"productID", "1"}, {"shippingMethod", "a"}, {"ShippingMethod", ""}, {"shippingMethod", "b"}, {"", "nameless"}}
	for _, tt := range []struct {
		name, first string
		all         []string
	}{
		{"productId", "1", []string{"1"}},
		{"SHIPPINGMETHOD", "a", []string{"a", "", "b"}},
		{"", "nameless", []string{"nameless"}},
		{"product", "", nil},
		{" productID", "", nil},
		{"\u212Aey", "", nil},
	} {
		if got := fields.Get(tt.name); got != tt.first {
			t.Errorf("Get(%q) = %q, want %q", tt.name, got, tt.first)
		}
		if got := fields.All(tt.name); !slices.Equal(got, tt.all) {
			t.Errorf("All(%q) = %q, want %q", tt.name, got, tt.all)
		}
	}
}

func TestAKelvinSignIsNoK(t *testing.T) {
	if got := (ipn.Fields{{"authkey", "real"}}).Get("auth\u212Aey"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestFieldsAsJSON(t *testing.T) {
	for _, tt := range []struct {
		name       string
		fields     ipn.Fields
		want, full string
	}{
		{"no fields", nil, `{}`, `{}`},
		{"only empty ones", ipn.Fields{{"a", ""}}, `{}`, `{"a":""}`},
		{"order of first appearance", ipn.Fields{{"z", "1"}, {"a", "2"}}, `{"z":"1","a":"2"}`, `{"z":"1","a":"2"}`},
		{"a repeated name", ipn.Fields{{"m", "1"}, {"x", "2"}, {"m", "3"}}, `{"m":["1","3"],"x":"2"}`, `{"m":["1","3"],"x":"2"}`},
		{"an empty repeat", ipn.Fields{{"m", ""}, {"x", "2"}, {"m", "3"}, {"m", ""}}, `{"x":"2","m":"3"}`, `{"m":["","3",""],"x":"2"}`},
		{"spellings stay apart", ipn.Fields{{"authkey", "1"}, {"authKey", "2"}}, `{"authkey":"1","authKey":"2"}`, `{"authkey":"1","authKey":"2"}`},
		{"quotes and controls", ipn.Fields{{`a"\`, "\n\r\t\x01\x1f<&>"}}, `{"a\"\\":"\n\r\t\u0001\u001f<&>"}`, `{"a\"\\":"\n\r\t\u0001\u001f<&>"}`},
		{"NUL", ipn.Fields{{"a\x00", "b\x00c"}}, "{\"a\uFFFD\":\"b\uFFFDc\"}", "{\"a\uFFFD\":\"b\uFFFDc\"}"},
		{"bytes that are no UTF-8", ipn.Fields{{"a", "\xFFé\xC3"}}, "{\"a\":\"\uFFFDé\uFFFD\"}", "{\"a\":\"\uFFFDé\uFFFD\"}"},
		{"a surrogate and an overlong slash", ipn.Fields{{"a", "\xED\xA0\x80\xC0\xAF"}}, `{"a":"` + strings.Repeat("\uFFFD", 5) + `"}`, `{"a":"` + strings.Repeat("\uFFFD", 5) + `"}`},
		{"names that become one", ipn.Fields{{"a\x00", "1"}, {"a\uFFFD", "2"}}, "{\"a\uFFFD\":[\"1\",\"2\"]}", "{\"a\uFFFD\":[\"1\",\"2\"]}"},
		{"no name", ipn.Fields{{"", "x"}}, `{"":"x"}`, `{"":"x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.fields.AppendJSON(nil)); got != tt.want {
				t.Errorf("AppendJSON:\n got %s\nwant %s", got, tt.want)
			}
			if got := string(tt.fields.AppendFullJSON([]byte("x"))); got != "x"+tt.full {
				t.Errorf("AppendFullJSON:\n got %s\nwant x%s", got, tt.full)
			}
		})
	}
}

// checkObject compares the object with one that a map makes of the same fields.
func checkObject(t interface{ Fatalf(string, ...any) }, fields ipn.Fields) {
	object := fields.AppendFullJSON(nil)
	if !utf8.Valid(object) || bytes.Contains(object, []byte(`\u0000`)) {
		t.Fatalf("jsonb refuses %q", object)
	}
	var got map[string]any
	if err := json.Unmarshal(object, &got); err != nil {
		t.Fatalf("%q: %v", object, err)
	}
	values := map[string][]any{}
	for _, f := range fields {
		name := strings.ReplaceAll(f.Name, "\x00", "\uFFFD")
		values[name] = append(values[name], strings.ReplaceAll(f.Value, "\x00", "\uFFFD"))
	}
	want := map[string]any{}
	for name, all := range values {
		if want[name] = all; len(all) == 1 {
			want[name] = all[0]
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestEveryFieldIsInTheObjectOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkObject(t, fieldsOf(t)) })
}

func TestAnObjectOfThousandsOfFieldsKeepsThemAll(t *testing.T) {
	var fields ipn.Fields
	for i := range 70_000 {
		fields = append(fields, ipn.Field{Name: fmt.Sprint("custom", i%60_000), Value: fmt.Sprint(i)})
	}
	var got map[string]any
	if err := json.Unmarshal(fields[:65_000].AppendJSON(nil), &got); err != nil || len(got) != 60_000 {
		t.Errorf("got %d keys, %v, want 60000", len(got), err)
	}
}

func TestAnObjectCostsNoAllocation(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates on its own account")
	}
	fields, _ := ipn.ScanForm([]byte(chargeBody), "", 0, nil)
	dst := make([]byte, 0, 8192)
	if allocs := testing.AllocsPerRun(100, func() { dst = fields.AppendJSON(dst[:0]) }); allocs > 0 {
		t.Errorf("got %v allocations, want none", allocs)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	fields, _ := ipn.ScanForm([]byte(chargeBody), "", 0, nil)
	dst := make([]byte, 0, 8192)
	b.ReportAllocs()
	for b.Loop() {
		dst = fields.AppendJSON(dst[:0])
	}
}
