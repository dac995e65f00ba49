package ask_test

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func key(tb testing.TB) ipn.PersonKey {
	tb.Helper()
	secret, err := ipn.NewSecret("search", []byte("0123456789abcdef"))
	if err != nil {
		tb.Fatal(err)
	}
	return ipn.NewPersonKey(secret)
}

// query writes a query string from pairs.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return values.Encode()
}

func amount(text string) decimal.NullDecimal {
	return decimal.NewNullDecimal(decimal.RequireFromString(text))
}

func TestEachFilterSetsWhatItIsFor(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	instant := time.Date(2026, 11, 1, 16, 30, 0, 0, time.UTC)
	tests := []struct {
		name, text string
		want       ipn.Question
	}{
		{"transactionType", " charge", ipn.Question{TransactionType: "CHARGE"}},
		{"transactionType", "NOVEL", ipn.Question{TransactionType: "NOVEL"}},
		{"referenceNumber", "R1", ipn.Question{ReferenceNumber: "R1"}},
		{"originalRefNum", "R1", ipn.Question{OriginalReference: "R1"}},
		{"subscriptionId", "S1", ipn.Question{SubscriptionID: "S1"}},
		{"merchantTransactionId", "M1", ipn.Question{MerchantTransactionID: "M1"}},
		{"accountId", "A1", ipn.Question{AccountID: "A1"}},
		{"vendorId", "V1", ipn.Question{VendorID: "V1"}},
		{"currency", "eur", ipn.Question{Currency: "EUR"}},
		{"status", "OPEN", ipn.Question{Status: "OPEN"}},
		{"amountFrom", "10.50", ipn.Question{AmountFrom: amount("10.50")}},
		{"amountTo", "0", ipn.Question{AmountTo: amount("0")}},
		{"from", "2026-11-01", ipn.Question{From: day}},
		{"to", "2026-11-01T08:30:00-08:00", ipn.Question{To: instant}},
		{"receivedFrom", "2026-11-01", ipn.Question{ReceivedFrom: day, Order: ipn.ByReceived}},
		{"receivedTo", "2026-11-01T16:30:00Z", ipn.Question{ReceivedTo: instant, Order: ipn.ByReceived}},
		{"test", "true", ipn.Question{Test: new(true)}},
		{"hasProblems", "false", ipn.Question{Problems: new(false)}},
		{"hasVariants", "true", ipn.Question{Variants: new(true)}},
		{"isParked", "false", ipn.Question{Parked: new(false)}},
		{"q", "anything", ipn.Question{Text: "anything"}},
		{"order", "occurred", ipn.Question{}},
		{"order", "received", ipn.Question{Order: ipn.ByReceived}},
		{"cursor", "abc", ipn.Question{}},
		{"limit", "1000", ipn.Question{Limit: 1000}},
	}
	tried := map[string]bool{}
	for _, tc := range tests {
		tried[tc.name] = true
		t.Run(tc.name+" "+tc.text, func(t *testing.T) {
			if tc.want.Limit == 0 {
				tc.want.Limit = 50
			}
			got, err := ask.Parse(query(tc.name, tc.text))
			if err != nil || !reflect.DeepEqual(got.Question, tc.want) {
				t.Errorf("got %+v, %v, want %+v", got.Question, err, tc.want)
			}
			if (tc.name == "cursor") != (got.Cursor == tc.text) {
				t.Errorf("the cursor is %q", got.Cursor)
			}
			if empty, err := ask.Parse(query(tc.name, "")); err != nil || !reflect.DeepEqual(empty.Question, ipn.Question{Limit: 50}) {
				t.Errorf("empty: got %+v, %v", empty.Question, err)
			}
		})
	}
	for _, f := range ask.Filters() {
		if !tried[f.Name] {
			t.Errorf("%s is not tried", f.Name)
		}
		if f.Doc == "" || f.Example == "" && f.Kind != ask.KindCursor {
			t.Errorf("%s is not described", f.Name)
		}
		if f.Kind == ask.KindCursor {
			continue
		}
		if _, err := ask.Parse(query(f.Name, f.Example)); err != nil {
			t.Errorf("the example of %s is wrong: %v", f.Name, err)
		}
	}
}

func TestTheOrderFollowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		query string
		want  ipn.ListOrder
	}{
		{"receivedFrom=2026-11-01", ipn.ByReceived},
		{"receivedFrom=2026-11-01&from=2026-11-01", ipn.ByOccurred},
		{"receivedFrom=2026-11-01&order=occurred", ipn.ByOccurred},
		{"from=2026-11-01", ipn.ByOccurred},
		{"from=2026-11-01&order=received", ipn.ByReceived},
		{"receivedTo=2026-11-01&accountId=A1", ipn.ByReceived},
	} {
		if got, err := ask.Parse(tc.query); err != nil || got.Order != tc.want {
			t.Errorf("%s: got %q, %v", tc.query, got.Order, err)
		}
	}
}

// What the attack list of the finance page asks for (S-76), and what people mistype.
func TestWhatCannotBeAskedIsNamed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, query, filter, mend string }{
		{"a limit of a billion", query("limit", "1000000000"), "limit", "from 1 to 1000"},
		{"a limit of 1e9", query("limit", "1e9"), "limit", "from 1 to 1000"},
		{"a negative limit", query("limit", "-1"), "limit", "from 1 to 1000"},
		{"a limit of nothing", query("limit", "0"), "limit", "from 1 to 1000"},
		{"a limit beyond", query("limit", "1001"), "limit", "from 1 to 1000"},
		{"a limit with a sign", query("limit", "+5"), "limit", "from 1 to 1000"},
		{"a limit that overflows", query("limit", "99999999999999999999"), "limit", "from 1 to 1000"},
		{"a deep offset", query("offset", "1000000000"), "offset", "no such filter"},
		{"a page number", query("page", "99999"), "page", "no such filter"},
		{"order by pg_sleep", query("order", "pg_sleep(10)"), "order", "one of occurred, received"},
		{"order by a column", query("order", "amount desc"), "order", "one of occurred, received"},
		{"an unknown column", query("identity", "x"), "identity", "no such filter"},
		{"SQL for a column", query("1=1;drop table events", "x"), "", "no such filter"},
		{"a filter of 10 MB", query("q", strings.Repeat("x", 10<<20)), "", "at most"},
		{"ten thousand names", strings.Repeat("q=x&", 10_000), "", "at most"},
		{"a text of 256 bytes", query("accountId", strings.Repeat("x", 256)), "accountId", "at most 255 bytes"},
		{"a text of 128 letters of two bytes", query("status", strings.Repeat("é", 128)), "status", "at most 255 bytes"},
		{"a NUL", query("referenceNumber", "a\x00"), "referenceNumber", "UTF-8"},
		{"no UTF-8", query("q", "\xff"), "q", "UTF-8"},
		{"the year 1", query("from", "0001-01-01"), "from", "1970 to 2199"},
		{"the year 9999", query("to", "9999-12-31T23:59:59Z"), "to", "1970 to 2199"},
		{"a year of five digits", query("receivedTo", "294276-01-01"), "receivedTo", "2026-11-01"},
		{"a date of another form", query("from", "20.11.2026"), "from", "2026-11-01"},
		{"no such day", query("to", "2026-02-30"), "to", "2026-11-01"},
		{"infinity", query("receivedFrom", "-infinity"), "receivedFrom", "2026-11-01"},
		{"to before from", query("from", "2026-11-02", "to", "2026-11-01"), "to", "not before from"},
		{"received to before received from", query("receivedFrom", "2026-11-02", "receivedTo", "2026-11-01"), "receivedTo", "not before receivedFrom"},
		{"amounts the wrong way round", query("amountFrom", "2", "amountTo", "1"), "amountTo", "not below amountFrom"},
		{"an amount of a billion digits", query("amountFrom", "1e999999999"), "amountFrom", "10.50"},
		{"an amount with a sign", query("amountTo", "-1"), "amountTo", "10.50"},
		{"an amount with a comma", query("amountTo", "1,50"), "amountTo", "10.50"},
		{"no number", query("amountFrom", "NaN"), "amountFrom", "10.50"},
		{"an amount without end", query("amountFrom", strings.Repeat("9", 200)), "amountFrom", "10.50"},
		{"a currency of four letters", query("currency", "EURO"), "currency", "three letters"},
		{"a currency of one character", query("currency", "€"), "currency", "three letters"},
		{"perhaps", query("test", "maybe"), "test", "true or false"},
		{"yes in capitals", query("hasProblems", "TRUE"), "hasProblems", "true or false"},
		{"two values", query("currency", "EUR", "currency", "USD"), "currency", "once"},
		{"a name in small letters", query("referencenumber", "R1"), "referencenumber", "no such filter"},
		{"an escape that is none", "q=%zz", "", "cannot be taken apart"},
		{"an e-mail address in a URL", query("email", "maria@santos.example"), "email", "no such filter"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ask.Parse(tc.query)
			var mistakes ask.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) != 1 {
				t.Fatalf("got %v", err)
			}
			if got := mistakes[0]; got.Name != tc.filter || !strings.Contains(got.Mend, tc.mend) {
				t.Errorf("got %+v, want %q of %q", got, tc.mend, tc.filter)
			}
			for _, secret := range []string{"pg_sleep", "drop table", "maria@"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error repeats what was sent: %v", err)
				}
			}
		})
	}
}

func TestAllMistakesAreToldTogether(t *testing.T) {
	t.Parallel()
	_, err := ask.Parse(query("limit", "0", "from", "yesterday", "colour", "red"))
	if want := "from: write it as 2026-11-01 or 2026-11-01T08:30:00Z; limit: write a number from 1 to 1000; colour: there is no such filter; GET /openapi.json tells which there are"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestABodyAsksTheSame(t *testing.T) {
	t.Parallel()
	inURL, err := ask.Parse(query("transactionType", "CHARGE", "currency", "EUR", "amountFrom", "10.00", "test", "true", "limit", "5", "from", "2026-11-01", "cursor", "abc"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ask.ParseBody([]byte(`{"transactionType":"CHARGE","currency":"EUR","amountFrom":"10.00","test":true,"limit":5,"from":"2026-11-01","to":"","q":null,"cursor":"abc"}`), ipn.PersonKey{})
	if err != nil || !reflect.DeepEqual(got, inURL) {
		t.Errorf("got %+v, %v, want %+v", got, err, inURL)
	}
}

func TestABodyFindsPeople(t *testing.T) {
	t.Parallel()
	k := key(t)
	email, _ := k.Email("maria@santos.example")
	name, _ := k.Name("maria santos")
	got, err := ask.ParseBody([]byte(`{"email":" Maria@Santos.example","name":"Maria  SANTOS"}`), k)
	if err != nil || !reflect.DeepEqual(got.People, []ipn.PersonToken{email, name}) {
		t.Errorf("got %v, %v", got.People, err)
	}
}

func TestABadBodyIsNamed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, body, filter, mend string }{
		{"nothing", "", "", "one JSON object"},
		{"a list", "[]", "", "one JSON object"},
		{"half an object", `{"q":`, "", "one JSON object"},
		{"an object without end", `{"q":"x"`, "", "one JSON object"},
		{"two objects", `{}{}`, "", "one JSON object"},
		{"something behind it", `{}x`, "", "one JSON object"},
		{"a form", "q=x", "", "one JSON object"},
		{"10 MB", `{"q":"` + strings.Repeat("x", 10<<20) + `"}`, "", "at most"},
		{"a deep hole", strings.Repeat("[", 10_000), "", "one JSON object"},
		{"a number for a text", `{"accountId":5}`, "accountId", "in quotes"},
		{"an object for a text", `{"q":{"$ne":""}}`, "q", "in quotes"},
		{"a list for a text", `{"q":["a"]}`, "q", "in quotes"},
		{"a text for a choice", `{"test":"true"}`, "test", "without quotes"},
		{"a number for a choice", `{"test":1}`, "test", "without quotes"},
		{"a text for a number", `{"limit":"5"}`, "limit", "without quotes"},
		{"half an event", `{"limit":1.5}`, "limit", "from 1 to 1000"},
		{"a billion", `{"limit":1e9}`, "limit", "from 1 to 1000"},
		{"the same twice", `{"currency":"EUR","currency":"USD"}`, "currency", "once"},
		{"an unknown one", `{"colour":"red"}`, "colour", "no such filter"},
		{"an unknown one that is empty", `{"colour":null}`, "colour", "no such filter"},
		{"no address", `{"email":"maria"}`, "email", "an e-mail address"},
		{"no name", `{"name":"123"}`, "name", "a last name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ask.ParseBody([]byte(tc.body), key(t))
			var mistakes ask.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].Name != tc.filter || !strings.Contains(mistakes[0].Mend, tc.mend) {
				t.Errorf("got %v, want %q of %q", err, tc.mend, tc.filter)
			}
		})
	}
	for _, name := range []string{"email", "name"} {
		_, err := ask.ParseBody([]byte(`{"`+name+`":"Jane@Doe.example"}`), ipn.PersonKey{})
		if err == nil || !strings.Contains(err.Error(), "IPN_SEARCH_KEY") || !strings.HasPrefix(err.Error(), name+":") || strings.Contains(err.Error(), "Doe") {
			t.Errorf("%s without a key: got %v", name, err)
		}
	}
}

func TestAFlagIsTheNameInSmallLetters(t *testing.T) {
	t.Parallel()
	for _, f := range ask.Filters() {
		if f.Name == "merchantTransactionId" && f.Flag() != "merchant-transaction-id" {
			t.Errorf("got %s", f.Flag())
		}
	}
}
