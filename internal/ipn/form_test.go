package ipn_test

import (
	"bytes"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// chargeBody has the shape of a genuine one: 119 fields, many of them empty,
// one name twice, the sender's own encoding.
var chargeBody = strings.TrimSuffix(strings.Repeat("invoiceFirstName=Jos%C3%A9&invoiceAddress1=10+Main+St.%2C+Apt+4&invoiceState=&"+
	"invoiceChargeAmount=1234.56&invoiceFaxNumber=&transactionDate=05%2F15%2F2023+01%3A02+PM&testMode=N&", 17), "&")

const form = "application/x-www-form-urlencoded"

func TestABodyIsReadPairByPair(t *testing.T) {
	for _, tt := range []struct {
		name, body, contentType string
		want                    ipn.Fields
		problems                []ipn.Problem
	}{
		{"an empty body", "", form, nil, nil},
		{"separators only", "&&&", form, nil, nil},
		{"plain pairs", "a=1&b=2", form, ipn.Fields{{"a", "1"}, {"b", "2"}}, nil},
		{"a repeated name keeps order", "m=1&x=&m=2&", form, ipn.Fields{{"m", "1"}, {"x", ""}, {"m", "2"}}, nil},
		{"the sender's escapes", "n=Jos%C3%A9+M%c3%bcller%0A&c=a%2Bb*-_.", form, ipn.Fields{{"n", "José Müller\n"}, {"c", "a+b*-_."}}, nil},
		{"an escaped name", "%72eferenceNumber=7&Main+product%3F=x", form, ipn.Fields{{"referenceNumber", "7"}, {"Main product?", "x"}}, nil},
		{"equals signs in a value", "k=a=b==", form, ipn.Fields{{"k", "a=b=="}}, nil},
		{"separators that are escaped", "k=a%26b%3Dc%3Bd", form, ipn.Fields{{"k", "a&b=c;d"}}, nil},
		{"brackets and braces", "a[]=1&a.b=1&custom{N}=2&3DStatus=", form, ipn.Fields{{"a[]", "1"}, {"a.b", "1"}, {"custom{N}", "2"}, {"3DStatus", ""}}, nil},
		{"a name between spaces is another name", "+referenceNumber=1", form, ipn.Fields{{" referenceNumber", "1"}}, nil},
		{"_charset_ decides nothing", "_charset_=iso-8859-1&n=%C3%BC", form, ipn.Fields{{"_charset_", "iso-8859-1"}, {"n", "ü"}}, nil},
		{"bidirectional controls and combining marks", "n=%E2%80%AEabc%CC%81", form, ipn.Fields{{"n", "\u202Eabc\u0301"}}, nil},
		{"no content type", "a=%C3%BC", "", ipn.Fields{{"a", "ü"}}, nil},

		{"no name", "=x&a=1", form, ipn.Fields{{"", "x"}, {"a", "1"}}, []ipn.Problem{{Field: "#1", Code: ipn.EmptyName}}},
		{"separators and equals signs", "&&&===", form, ipn.Fields{{"", "=="}}, []ipn.Problem{{Field: "#1", Code: ipn.EmptyName}}},
		{"a pair without equals sign", "a=1&flag&b=2", form, ipn.Fields{{"a", "1"}, {"flag", ""}, {"b", "2"}}, []ipn.Problem{{Field: "#2", Code: ipn.NoEqualsSign}}},
		{"a bare ampersand in a value", "name=Ann&Jane Doe&b=2", form, ipn.Fields{{"name", "Ann"}, {"Jane Doe", ""}, {"b", "2"}}, []ipn.Problem{{Field: "#2", Code: ipn.NoEqualsSign}}},
		{"a semicolon separates nothing", "a=1;b=2&c;d=3", form, ipn.Fields{{"a", "1;b=2"}, {"c;d", "3"}},
			[]ipn.Problem{{Field: "a", Code: ipn.SemicolonKept}, {Field: "#2", Code: ipn.SemicolonKept}}},
		{"ampersand entities", "a=1&amp;b=2&amp;", form, ipn.Fields{{"a", "1"}, {"b", "2"}}, []ipn.Problem{{Code: ipn.AmpersandEntity}}},
		{"an entity's rest at the start is a name", "amp;a=1", form, ipn.Fields{{"amp;a", "1"}}, []ipn.Problem{{Field: "#1", Code: ipn.SemicolonKept}}},
		{"bad escapes", "a=100%&b=%zz+%41&c=%4&d=%%41", form, ipn.Fields{{"a", "100%"}, {"b", "%zz A"}, {"c", "%4"}, {"d", "%A"}},
			[]ipn.Problem{{Field: "a", Code: ipn.BadEscape}, {Field: "b", Code: ipn.BadEscape}, {Field: "c", Code: ipn.BadEscape}, {Field: "d", Code: ipn.BadEscape}}},
		{"NUL, escaped and bare", "a=x%00y&b=\x00&%00=z", form, ipn.Fields{{"a", "x\x00y"}, {"b", "\x00"}, {"\x00", "z"}},
			[]ipn.Problem{{Field: "a", Code: ipn.NULByte}, {Field: "b", Code: ipn.NULByte}, {Field: "#3", Code: ipn.NULByte}}},
		{"unencoded quotes, spaces, letters", "a=\"x y\"&b=ü", form, ipn.Fields{{"a", `"x y"`}, {"b", "ü"}}, nil},
		{"a byte order mark", "\xEF\xBB\xBFa=1", form, ipn.Fields{{"a", "1"}}, []ipn.Problem{{Code: ipn.ByteOrderMark}}},
		{"an escaped byte order mark", "%ef%BB%bfa=1", form, ipn.Fields{{"a", "1"}}, []ipn.Problem{{Code: ipn.ByteOrderMark}}},
		{"a byte order mark further on is text", "a=%EF%BB%BF1", form, ipn.Fields{{"a", "\uFEFF1"}}, nil},
		{"several things about one pair", "=%zz;%00", form, ipn.Fields{{"", "%zz;\x00"}},
			[]ipn.Problem{{Field: "#1", Code: ipn.EmptyName}, {Field: "#1", Code: ipn.BadEscape}, {Field: "#1", Code: ipn.SemicolonKept}, {Field: "#1", Code: ipn.NULByte}}},

		{"a value encoded twice", "failureReason=Card+declined%252C+no%252E", form, ipn.Fields{{"failureReason", "Card declined%2C no%2E"}}, nil},
		{"a value encoded twice throughout", "failureReason=Card%2Bdeclined%252C%2BID%2B12", form, ipn.Fields{{"failureReason", "Card+declined%2C+ID+12"}},
			[]ipn.Problem{{Field: "failureReason", Code: ipn.DoubleEncoded}}},
		{"a URL with an escape of its own", "u=https%3A%2F%2Fa.example%2F%3Fq%3Da%2520b", form, ipn.Fields{{"u", "https://a.example/?q=a%20b"}}, nil},
		{"a percentage", "taxRate=20%25&x=5%25zz", form, ipn.Fields{{"taxRate", "20%"}, {"x", "5%zz"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { checkScan(t, tt.body, tt.contentType, tt.want, tt.problems) })
	}
}

func checkScan(t *testing.T, body, contentType string, want ipn.Fields, wantProblems []ipn.Problem) {
	t.Helper()
	raw := []byte(body)
	got, problems := ipn.ScanForm(raw, contentType, 0, nil)
	if !slices.Equal(got, want) {
		t.Errorf("fields:\n got %q\nwant %q", got, want)
	}
	if !slices.Equal(problems, wantProblems) {
		t.Errorf("problems:\n got %+v\nwant %+v", problems, wantProblems)
	}
	if string(raw) != body {
		t.Errorf("the body was altered")
	}
}

func TestABodyIsReadInItsCharset(t *testing.T) {
	guess := []ipn.Problem{{Field: "n", Code: ipn.CharsetGuess}}
	for _, tt := range []struct {
		name, contentType, body, want string
		problems                      []ipn.Problem
	}{
		{"declared UTF-8", form + "; charset=UTF-8", "n=%C3%BC", "ü", nil},
		{"declared ISO-8859-1", form + "; charset=iso-8859-1", "n=M%FCller", "Müller", nil},
		{"declared latin1, quoted", form + `;charset="Latin1"`, "n=M%FCller", "Müller", nil},
		{"declared Windows-1252", form + "; charset=windows-1252", "n=%80+%93x%94", "€ “x”", nil},
		{"declared ISO-8859-1 wins over valid UTF-8", form + "; charset=ISO-8859-1", "n=%C3%BC", "Ã¼", nil},
		{"declared Shift_JIS, trail byte in ASCII", form + "; charset=Shift_JIS", "n=%83%5C", "ソ", nil},
		{"declared ISO-2022-JP", form + "; charset=iso-2022-jp", "n=%1B%24B%25%22%1B%28B", "ア", nil},
		{"declared KOI8-R", form + "; charset=koi8-r", "n=%CD%C9%D2", "мир", nil},
		{"a header that does not parse", form + "; ; charset=iso-8859-1; =", "n=%FC", "ü", nil},
		{"an unknown charset", form + "; charset=klingon", "n=%C3%BC", "ü", []ipn.Problem{{Code: ipn.CharsetUnknown}}},
		{"a charset that carries no form", form + "; charset=utf-16", "n=%C3%BC", "ü", []ipn.Problem{{Code: ipn.CharsetUnknown}}},
		{"an unknown charset and no UTF-8", form + "; charset=klingon", "n=%FC", "ü", []ipn.Problem{{Code: ipn.CharsetUnknown}, guess[0]}},
		{"bytes the declared charset lacks", form + "; charset=Shift_JIS", "n=a%FF", "a\uFFFD", []ipn.Problem{{Field: "n", Code: ipn.CharsetInvalid}}},
		{"an empty charset", form + "; charset=", "n=%C3%BC", "ü", nil},
		{"undeclared Windows-1252", form, "n=M%FCller+%80", "Müller €", guess},
		{"bytes that Windows-1252 leaves open", form, "n=%81%FF%FE", "\u0081ÿþ", guess},
		{"an overlong slash", form, "n=%C0%AF", "À¯", guess},
		{"a surrogate", form, "n=%ED%A0%80", "í\u00A0€", guess},
		{"UTF-8 cut short", form, "n=Jos%C3", "JosÃ", guess},
		{"bare bytes", form, "n=M\xFCller", "Müller", guess},
		{"declared UTF-8 and not so", form + ";charset=utf-8", "n=%FC", "ü", guess},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkScan(t, tt.body, tt.contentType, ipn.Fields{{"n", tt.want}}, tt.problems)
		})
	}
}

func TestABodyStopsAtTheLimitOfFields(t *testing.T) {
	body := []byte(strings.Repeat("&a=1", 16_000))
	fields, problems := ipn.ScanForm(body, form, 3, nil)
	if want := []ipn.Problem{{Code: ipn.TooManyFields, Detail: "stopped after 3"}}; len(fields) != 3 || !slices.Equal(problems, want) {
		t.Errorf("got %d fields and %+v, want 3 and %+v", len(fields), problems, want)
	}
	if fields, _ := ipn.ScanForm(body, form, 0, nil); len(fields) != 1000 {
		t.Errorf("zero setting: got %d fields, want 1000", len(fields))
	}
	if fields, problems := ipn.ScanForm([]byte("a=1&b=2&c=3&"), form, 3, nil); len(fields) != 3 || problems != nil {
		t.Errorf("as many as the limit: got %d fields and %+v, want 3 and no problem", len(fields), problems)
	}
}

func TestTheListOfProblemsIsBounded(t *testing.T) {
	var body []byte
	for i := range 500 {
		body = fmt.Appendf(body, "f%d=%%00%%&", i)
	}
	fields, problems := ipn.ScanForm(body, form, 400, nil)
	want := []ipn.Problem{{Code: ipn.TooManyProblems}, {Code: ipn.TooManyFields, Detail: "stopped after 400"}}
	if len(fields) != 400 || len(problems) != 102 || !slices.Equal(problems[100:], want) {
		t.Errorf("got %d fields, %d problems, want 400, 100 and %+v", len(fields), len(problems), want)
	}
}

func TestFieldsAreAppendedToTheGivenOnes(t *testing.T) {
	dst := make(ipn.Fields, 1, 8)
	dst[0] = ipn.Field{Name: "kept", Value: "x"}
	got, _ := ipn.ScanForm([]byte("a=1&b=2"), form, 0, dst)
	if want := (ipn.Fields{{"kept", "x"}, {"a", "1"}, {"b", "2"}}); !slices.Equal(got, want) || &got[0] != &dst[0] {
		t.Errorf("got %q in another array, want %q in the given one", got, want)
	}
}

func TestTextsOutliveTheBody(t *testing.T) {
	body := []byte("name=value+1&b=%FC")
	fields, _ := ipn.ScanForm(body, form, 0, nil)
	clear(body)
	if want := (ipn.Fields{{"name", "value 1"}, {"b", "ü"}}); !slices.Equal(fields, want) {
		t.Errorf("got %q, want %q", fields, want)
	}
}

func TestACleanBodyCostsTwoAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates on its own account")
	}
	body, reused := []byte(chargeBody), make(ipn.Fields, 0, 200)
	for _, tt := range []struct {
		name, contentType string
		dst               ipn.Fields
		want              float64
	}{
		{"fresh", form, nil, 2},
		{"fresh, charset declared", form + "; charset=UTF-8", nil, 2},
		{"into a pooled list", form, reused, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, func() { ipn.ScanForm(body, tt.contentType, 0, tt.dst) }); got > tt.want {
				t.Errorf("got %v allocations, want %v", got, tt.want)
			}
		})
	}
}

// values groups fields as net/url does.
func values(fields ipn.Fields) url.Values {
	grouped := url.Values{}
	for _, f := range fields {
		grouped.Add(f.Name, f.Value)
	}
	return grouped
}

func TestAWellFormedBodyReadsAsNetURLReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := values(fieldsOf(t)).Encode()
		want, err := url.ParseQuery(body)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ipn.ScanForm([]byte(body), form, 0, nil)
		if strings.HasPrefix(body, "%EF%BB%BF") {
			t.Skip("a byte order mark is no part of a body")
		}
		if !reflect.DeepEqual(values(got), want) {
			t.Fatalf("%s:\n got %q\nwant %q", body, got, want)
		}
	})
}

// FuzzForm holds scanForm to what it promises for any bytes at all.
func FuzzForm(f *testing.F) {
	for _, body := range []string{chargeBody[:300], "", "&&&===", "a=%zz;&amp;b=%00&%FF=%C0%AF", "%EF%BB%BFa=1", "a=100%&b", "a=%252C&a=%1B%24B%25%22"} {
		for _, contentType := range []string{form, "text/plain; charset=shift_jis", ";;charset=\"x"} {
			f.Add([]byte(body), contentType)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		const most = 50
		before := bytes.Clone(body)
		fields, problems := ipn.ScanForm(body, contentType, most, nil)
		if !bytes.Equal(body, before) || len(fields) > most {
			t.Fatalf("body altered, or %d fields over the limit", len(fields))
		}
		for _, field := range fields {
			if !utf8.ValidString(field.Name) || !utf8.ValidString(field.Value) {
				t.Fatalf("%q is not UTF-8", field)
			}
		}
		for _, p := range problems {
			if ipn.ProblemSentence(p.Code) == "" || p.Field != "" && p.Field[0] != '#' && !ipn.PlainName(p.Field) {
				t.Fatalf("problem %+v has an unknown code or a field that is no name", p)
			}
		}
		checkObject(t, fields)
		checkRoundTrip(t, fields)
		checkAgainstNetURL(t, string(body), contentType, fields, problems)
	})
}

// checkAgainstNetURL compares with url.ParseQuery wherever that has an answer
// and the two do not differ by design.
func checkAgainstNetURL(t *testing.T, body, contentType string, fields ipn.Fields, problems []ipn.Problem) {
	t.Helper()
	same := []string{ipn.EmptyName, ipn.NoEqualsSign, ipn.NULByte, ipn.DoubleEncoded}
	differs := func(p ipn.Problem) bool { return !slices.Contains(same, p.Code) }
	want, err := url.ParseQuery(body)
	if err != nil || contentType != form || slices.ContainsFunc(problems, differs) {
		return
	}
	if got := values(fields); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func BenchmarkScanForm(b *testing.B) {
	body, dst := []byte(chargeBody), make(ipn.Fields, 0, 200)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		ipn.ScanForm(body, form, 0, dst)
	}
}
