package ipn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func decode(body string) *ipn.Event {
	return new(ipn.Decoder).Decode([]byte(body), "application/x-www-form-urlencoded")
}

// leftover returns the fields that found no place in the details' struct.
func leftover(d ipn.Details) ipn.Fields {
	return reflect.ValueOf(d).Elem().FieldByName("Leftover").Interface().(ipn.Leftover).Other
}

func TestEveryStandardNameHasAPlaceInSomeDetails(t *testing.T) {
	for _, row := range ipn.NameRows() {
		if row.Name == "transactionType" {
			continue
		}
		name := row.Name
		if row.Indexed {
			name += "[2]"
		}
		placed := false
		for _, typ := range ipn.Types() {
			e := decode(string(ipn.Encode(ipn.Fields{{"transactionType", typ.Name}, {name, row.Sample}})))
			placed = placed || len(leftover(e.Details())) == 0
		}
		if !placed {
			t.Errorf("%s is left over in the details of every type", name)
		}
	}
}

// TestAStandardNameHasOneHome walks the structs: each wire name is the tag of one field of one struct, so that readers
// find it under one Go name whatever the family.
func TestAStandardNameHasOneHome(t *testing.T) {
	type home struct {
		in    reflect.Type
		field string
	}
	homes := make(map[string]home)
	var walk func(reflect.Type)
	walk = func(s reflect.Type) {
		for f := range s.Fields() {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				walk(f.Type)
				continue
			}
			if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				if f.Type.Elem() != reflect.TypeFor[ipn.Field]() {
					walk(f.Type.Elem())
				}
				continue
			}
			if _, item := s.FieldByName("Index"); item {
				tag += "[]"
			}
			here := home{s, f.Name}
			if old, taken := homes[tag]; taken && old != here && tag != "index[]" {
				t.Errorf("%s lives in %v and in %v", tag, old, here)
			}
			homes[tag] = here
		}
	}
	for _, typ := range ipn.Types() {
		walk(reflect.TypeOf(decode("transactionType=" + typ.Name).Details()).Elem())
	}
	delete(homes, "index[]")
	for _, row := range ipn.NameRows() {
		tag := row.Name
		if row.Indexed {
			tag += "[]"
		}
		if _, found := homes[tag]; !found {
			t.Errorf("%s has no home", tag)
		}
		delete(homes, tag)
	}
	for tag := range homes {
		t.Errorf("%s is the tag of a field and no standard name", tag)
	}
}

// TestDetailsDropNothing takes the samples of every type: each non-empty field's text is in the JSON of the details
// once more than in the JSON of the fields left over, or is left over.
func TestDetailsDropNothing(t *testing.T) {
	for _, name := range sampleNames(t) {
		t.Run(name, func(t *testing.T) {
			e := decode(sample(t, name))
			if got := ipn.FamilyOf(e.Details()); got != e.Family() {
				t.Errorf("the details are of family %s, the event of %s", got, e.Family())
			}
			checkNothingDropped(t, e)
		})
	}
}

func TestDetailsKeepMalformedAndRepeatedValuesAmongTheLeftOver(t *testing.T) {
	e := decode("transactionType=CHARGE&quantity=two&testMode=maybe&invoiceChargeAmount=1e9&firstName=Ann&firstName=Eve" +
		"&promoteContractPrice0=x&promoteContractId[0]=7&promoteContractId0=8&Color=red&city=+&taxChargeAmount=1&taxChargeAmount=2")
	want := ipn.Fields{
		{"quantity", "two"}, {"testMode", "maybe"}, {"invoiceChargeAmount", "1e9"}, {"firstName", "Eve"},
		{"promoteContractPrice0", "x"}, {"promoteContractId0", "8"}, {"Color", "red"}, {"city", " "},
		{"taxChargeAmount", "1"}, {"taxChargeAmount", "2"},
	}
	if got := leftover(e.Details()); !slices.Equal(got, want) {
		t.Errorf("left over\n got %q\nwant %q", got, want)
	}
	checkNothingDropped(t, e)
}

// checkNothingDropped counts: as many values stand in the struct as fields are not left over.
func checkNothingDropped(t *testing.T, e *ipn.Event) {
	t.Helper()
	text, err := json.Marshal(e.Details())
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "other")
	filled := 0
	for _, f := range e.Fields {
		if f.Value != "" {
			filled++
		}
	}
	if placed, rest := countValues(tree), len(leftover(e.Details())); placed+rest != filled {
		t.Errorf("%d non-empty fields, %d in the struct and %d left over", filled, placed, rest)
	}
}

// countValues counts the leaves of a JSON tree that come from a field.
func countValues(tree any) int {
	count := 0
	switch node := tree.(type) {
	case map[string]any:
		if _, date := node["text"]; date {
			return 1
		}
		for key, child := range node {
			if key != "index" {
				count += countValues(child)
			}
		}
	case []any:
		for _, child := range node {
			count += countValues(child)
		}
	default:
		return 1
	}
	return count
}

// sampleNames lists the bodies of testdata, one per type.
func sampleNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.body"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".body")
	}
	return paths
}

func sample(t testing.TB, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".body"))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
