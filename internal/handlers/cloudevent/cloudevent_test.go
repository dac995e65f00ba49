package cloudevent_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/cloudevents/sdk-go/v2"
	sdkhttp "github.com/cloudevents/sdk-go/v2/protocol/http"
	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

var update = flag.Bool("update", false, "write the golden files anew")

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// stored is an event as the record would keep a body.
func stored(body string) *ipn.Stored {
	const contentType = "application/x-www-form-urlencoded"
	e := new(ipn.Decoder).Decode([]byte(body), contentType)
	return &ipn.Stored{
		ID: 42, Facts: e.Facts, Problems: e.Problems, Vouched: ipn.VouchedSignature, Identity: ipn.Scope{Endpoint: "/ipn"}.Identify(e),
		ReceivedAt: time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC),
		Raw:        []byte(body), Headers: map[string]string{"content-type": contentType},
	}
}

const charge = "transactionType=CHARGE&referenceNumber=1001&transactionDate=03%2F04%2F2026+05%3A06+AM&testMode=N&accountId=777" +
	"&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=23.10&taxChargeAmount=1.05&merchantTransactionId=shop-9" +
	"&email=jane%40example.com&firstName=J%C3%A4ne&custom=a&custom=b&paymentMethod=CC&country=de&authKey=0123456789abcdef"

// validated reads an envelope with the SDK and lets it judge.
func validated(tb testing.TB, envelope cloudevent.Envelope) sdk.Event {
	tb.Helper()
	text, err := envelope.JSON()
	must(tb, err)
	var e sdk.Event
	must(tb, json.Unmarshal(text, &e))
	must(tb, e.Validate())
	return e
}

func TestAnEnvelopeIsTheSameBytesEveryTime(t *testing.T) {
	t.Parallel()
	got, err := cloudevent.New(stored(charge), cloudevent.Options{Fields: []string{"email", "custom", "authKey", "missing"}}).JSON()
	must(t, err)
	golden := filepath.Join("testdata", "charge.golden.json")
	if *update {
		must(t, os.WriteFile(golden, append(indented(t, got), '\n'), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if !bytes.Equal(bytes.TrimSpace(want), indented(t, got)) {
		t.Errorf("got %s\nwant %s", indented(t, got), want)
	}
	for range 20 {
		again, err := cloudevent.New(stored(charge), cloudevent.Options{Fields: []string{"email", "custom", "authKey", "missing"}}).JSON()
		must(t, err)
		if !bytes.Equal(got, again) {
			t.Fatalf("%s\nis not\n%s", again, got)
		}
	}
}

func indented(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	must(tb, json.Indent(&out, text, "", "  "))
	return out.Bytes()
}

func TestTheSDKTakesEveryEnvelope(t *testing.T) {
	t.Parallel()
	for _, body := range bodies(t) {
		e := stored(body)
		got := validated(t, cloudevent.New(e, cloudevent.Options{}))
		kind, _ := ipn.LookupType(e.Facts.TransactionType)
		if got.ID() != "42" || got.Type() != "ipn."+kind.Label() || got.Source() != "/ipn-receiver" || got.DataContentType() != "application/json" {
			t.Errorf("%s: got %v", e.Facts.TransactionType, got)
		}
	}
}

func TestTheSDKReadsTheSameFromHeaders(t *testing.T) {
	t.Parallel()
	envelope := cloudevent.New(stored(strings.ReplaceAll(charge, "1001", "ref+%C3%A4+%2510%22")), cloudevent.Options{Source: "/shop-a", TypePrefix: "eu."})
	request, err := http.NewRequest(http.MethodPost, "https://target.example", bytes.NewReader(envelope.Data))
	must(t, err)
	for _, h := range envelope.Headers(cloudevent.HTTPPrefix) {
		request.Header.Set(h.Name, h.Value)
		if strings.Trim(h.Value, " !#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
			t.Errorf("%s: %q is not printable ASCII", h.Name, h.Value)
		}
	}
	got, err := sdkhttp.NewEventFromHTTPRequest(request)
	must(t, err)
	must(t, got.Validate())
	if want := "ref%20%C3%A4%20%2510%22"; got.Subject() != want {
		t.Errorf("subject %q, want %q", got.Subject(), want)
	}
	if got.Source() != "/shop-a" || got.Type() != "eu.CHARGE" || string(got.Data()) != string(envelope.Data) {
		t.Errorf("got %v", got)
	}
	kafka := map[string]string{}
	for _, h := range envelope.Headers(cloudevent.KafkaPrefix) {
		kafka[h.Name] = h.Value
	}
	if want := `ref ä %10"`; kafka["ce_subject"] != want || kafka["content-type"] != "application/json" || kafka["ce_specversion"] != "1.0" {
		t.Errorf("got %q", kafka)
	}
}

// open are the fields of a body that may leave the house unasked: the money facts.
var open = []string{"transactionType", "transactionDate", "responseDate", "untilDate", "referenceNumber", "originalRefNum", "originalReferenceNumber",
	"reversalRefNum", "subscriptionId", "contractId", "oldContractId", "cancelledContractId", "newContractId", "merchantTransactionId",
	"vendorId", "paymentMethod", "paymentType", "country", "invoiceCountry", "cbStatus", "resultCode"}

func TestNothingPersonalLeavesUnasked(t *testing.T) {
	t.Parallel()
	names := fieldNames(t)
	types := append(typeNames(), "A_TYPE_OF_TOMORROW", "Jane Doe, 1 High Street")
	for _, kind := range types {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fields := ipn.Fields{{Name: "transactionType", Value: kind}}
			for i, name := range names {
				if name != "transactionType" {
					fields = append(fields, ipn.Field{Name: name, Value: canary(i)})
				}
			}
			fields = append(fields, ipn.Field{Name: "canary-in-a-name", Value: "x"}, ipn.Field{Name: " canary-in-a-near-miss ", Value: "\x00"})
			e := stored(string(ipn.Encode(fields)))
			said := spoken(t, cloudevent.New(e, cloudevent.Options{}))
			for i, name := range names {
				if strings.Contains(said, canary(i)) && !slices.Contains(open, name) {
					t.Errorf("%s is told", name)
				}
			}
			for _, never := range []string{"canary-in", "Jane Doe"} {
				if strings.Contains(said, never) {
					t.Errorf("%q is told", never)
				}
			}
			if at := slices.Index(names, "referenceNumber"); !strings.Contains(said, canary(at)) {
				t.Error("the test is blind: the reference number is not told")
			}
		})
	}
}

// spoken is all that leaves with an envelope, in either mode.
func spoken(tb testing.TB, envelope cloudevent.Envelope) string {
	tb.Helper()
	text, err := envelope.JSON()
	must(tb, err)
	return string(text) + fmt.Sprint(envelope.Headers(cloudevent.HTTPPrefix), envelope.Headers(cloudevent.KafkaPrefix))
}

func canary(i int) string { return fmt.Sprintf("canary%dy", i) }

func TestAskedFieldsAreToldAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		ask  []string
		edit func(*ipn.Stored)
		want string // of data.fields
	}{
		{"one field", []string{"email"}, nil, `{"email":"jane@example.com"}`},
		{"under the name asked by", []string{"EMAIL"}, nil, `{"EMAIL":"jane@example.com"}`},
		{"a repeated field is a list", []string{"custom"}, nil, `{"custom":["a","b"]}`},
		{"in the charset of the body", []string{"firstName"}, nil, `{"firstName":"Jäne"}`},
		{"the shopper's account is a field like any other", []string{"accountId"}, nil, `{"accountId":"777"}`},
		{"one that was not sent", []string{"phone"}, nil, `{}`},
		{"the sender's secret is given to nobody", []string{"AuthKey"}, nil, `{}`},
		{"a payload that is gone", []string{"email"}, func(e *ipn.Stored) { e.Raw = nil }, ``},
		{"none", nil, nil, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := stored(charge)
			if tt.edit != nil {
				tt.edit(e)
			}
			var data struct{ Fields json.RawMessage }
			must(t, json.Unmarshal(cloudevent.New(e, cloudevent.Options{Fields: tt.ask}).Data, &data))
			if string(data.Fields) != tt.want {
				t.Errorf("got %s, want %s", data.Fields, tt.want)
			}
		})
	}
}

// TestEveryFactIsDecidedUpon fails for a fact that is added to the vocabulary until somebody decides whether it leaves.
func TestEveryFactIsDecidedUpon(t *testing.T) {
	t.Parallel()
	kept := []string{"AccountID", "State"} // who the shopper is, and where more closely than in which country
	e := stored(charge)
	fill(reflect.ValueOf(&e.Facts).Elem())
	var data map[string]json.RawMessage
	must(t, json.Unmarshal(cloudevent.New(e, cloudevent.Options{}).Data, &data))
	for field := range reflect.TypeFor[ipn.Facts]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, told := data[name]; told == slices.Contains(kept, field.Name) {
			t.Errorf("%s: told is %v", field.Name, told)
		}
	}
}

// fill gives every field of the facts a value.
func fill(facts reflect.Value) {
	amount, _ := ipn.ParseMoney("1.00")
	for i := range facts.NumField() {
		switch field := facts.Field(i); field.Interface().(type) {
		case string:
			field.SetString("X")
		case bool:
			field.SetBool(true)
		case ipn.Money:
			field.Set(reflect.ValueOf(amount))
		case time.Time:
			field.Set(reflect.ValueOf(time.Unix(1, 0)))
		case []ipn.Deposit:
			field.Set(reflect.ValueOf([]ipn.Deposit{{Amount: amount}}))
		default:
			panic("no value for " + facts.Type().Field(i).Name)
		}
	}
}

func TestAReferenceThatIsNoAttributeIsNoSubject(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{"", " \u00a0", "a\nb", "a\x7fb", "\u0085", "\ufdd0", "\ufffe", "\U0001ffff"} {
		e := stored(charge)
		e.Facts.ReferenceNumber = reference
		envelope := cloudevent.New(e, cloudevent.Options{})
		if envelope.Subject != "" || envelope.Extensions["partitionkey"] != "42" {
			t.Errorf("%q: got %+v", reference, envelope)
		}
		if got := validated(t, envelope); got.Subject() != "" {
			t.Errorf("%q: got %v", reference, got)
		}
	}
}

func TestAnExtensionWithAnImpossibleNameIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Upper", "with_underscore", "with-dash", "ä", "id", "data", "specversion"} {
		envelope := cloudevent.New(stored(charge), cloudevent.Options{})
		envelope.Extensions[name] = "stray"
		if text, err := envelope.JSON(); err == nil {
			t.Errorf("%q passed: %s", name, text)
		}
		for _, h := range envelope.Headers(cloudevent.HTTPPrefix) {
			if h.Value == "stray" {
				t.Errorf("%q became the header %s", name, h.Name)
			}
		}
	}
}

func TestAnyEventHasAValidEnvelope(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := &ipn.Stored{
			ID: rapid.Int64Min(1).Draw(t, "id"), ReceivedAt: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "received"), 0),
			Facts: ipn.Facts{TransactionType: rapid.String().Draw(t, "type"), ReferenceNumber: rapid.String().Draw(t, "reference"),
				Status: rapid.String().Draw(t, "status")},
		}
		envelope := cloudevent.New(e, cloudevent.Options{})
		text, err := envelope.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var got sdk.Event
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if err := got.Validate(); err != nil || got.Subject() != envelope.Subject {
			t.Fatalf("%v: %s", err, text)
		}
	})
}

func typeNames() []string {
	var names []string
	for _, kind := range ipn.Types() {
		names = append(names, kind.Name)
	}
	return names
}

// bodies are the samples of the vocabulary, one for each type.
func bodies(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("../../ipn/testdata/*.body")
	must(tb, err)
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(tb, err)
		all = append(all, string(text))
	}
	if len(all) < len(ipn.Types()) {
		tb.Fatalf("%d samples", len(all))
	}
	return all
}

// fieldNames are the names of all fields that the samples hold.
func fieldNames(tb testing.TB) []string {
	tb.Helper()
	var names []string
	for _, body := range bodies(tb) {
		for _, field := range new(ipn.Decoder).Decode([]byte(body), "").Fields {
			if field.Name != "" && !slices.Contains(names, field.Name) {
				names = append(names, field.Name)
			}
		}
	}
	return names
}
