package ipn_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// benchmarkBody is a charge of the size that the sender's have: 107 fields.
func benchmarkBody(b *testing.B) []byte {
	b.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "charge.body"))
	if err != nil {
		b.Fatal(err)
	}
	if fields := bytes.Count(body, []byte{'&'}) + 1; fields != 107 {
		b.Fatalf("the body has %d fields, not 107", fields)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	return body
}

func BenchmarkDecode(b *testing.B) {
	body := benchmarkBody(b)
	decoder := new(ipn.Decoder)
	for b.Loop() {
		if e := decoder.Decode(body, "application/x-www-form-urlencoded"); e.Type.Name != "CHARGE" {
			b.Fatal("not a charge")
		}
	}
}

// BenchmarkParseQuery is the yardstick: what the standard library takes to make a map of the same body, without order,
// dates, amounts and the table of types.
func BenchmarkParseQuery(b *testing.B) {
	body := benchmarkBody(b)
	for b.Loop() {
		if _, err := url.ParseQuery(string(body)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIdentify(b *testing.B) {
	e := new(ipn.Decoder).Decode(benchmarkBody(b), "")
	scope := ipn.Scope{Endpoint: "/ipn", NodeFields: []string{"dataCentreNode"}}
	for b.Loop() {
		scope.Identify(e)
	}
}

func BenchmarkContentDigest(b *testing.B) {
	e := new(ipn.Decoder).Decode(benchmarkBody(b), "")
	for b.Loop() {
		e.ContentDigest()
	}
}

func BenchmarkDetails(b *testing.B) {
	e := new(ipn.Decoder).Decode(benchmarkBody(b), "")
	for b.Loop() {
		e.Details()
	}
}
