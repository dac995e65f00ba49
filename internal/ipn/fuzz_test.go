package ipn_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// addSeeds adds a sample of every type and the hostile inputs of the catalogue.
func addSeeds(f *testing.F, add func(body string)) {
	f.Helper()
	for _, name := range sampleNames(f) {
		add(sample(f, name))
	}
	for _, body := range []string{
		"", "&", "=", "&&&===", "a", "a=b=c", "%zz=%", "a;b=c", "a=1&amp;b=2", "%00=%00", "%FF%FE=%FF", "\xef\xbb\xbfa=1",
		"transactionType=CHARGE&transactiontype=REFUND", " referenceNumber=1", "promoteContractId[999999999]=1&promoteContractId99999999999=2",
		"amount[0]=1e9&transactionType=PAYOUT", "transactionType=" + strings.Repeat("%E2%82%AC", 200),
	} {
		add(body)
	}
}

// FuzzDecode holds what every reader of an event relies on, whatever was sent.
func FuzzDecode(f *testing.F) {
	addSeeds(f, func(body string) { f.Add([]byte(body), "") })
	f.Add([]byte("city=K%F6ln"), "application/x-www-form-urlencoded; charset=iso-8859-1")
	const most = 64
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := bytes.Clone(body)
		e := (&ipn.Decoder{MaxFields: most}).Decode(body, contentType)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was altered")
		}
		checkFieldCount(t, body, e, most)
		checkFacts(t, e.Facts)
		for _, p := range e.Problems {
			if ipn.ProblemSentence(p.Code) == "" {
				t.Errorf("problem code %q is not in the table", p.Code)
			}
		}
		text, err := json.Marshal(e)
		if err != nil || !json.Valid(text) {
			t.Fatalf("the event's JSON is not valid: %v", err)
		}
		if !json.Valid(e.Fields.AppendJSON(nil)) {
			t.Fatal("the fields' JSON is not valid")
		}
		if again := decode(string(e.Encode())); !startsWithMark(e) && !slices.Equal(again.Fields, e.Fields) {
			t.Fatalf("encoded and decoded again\n got %q\nwant %q", again.Fields, e.Fields)
		}
	})
}

// startsWithMark tells whether encoding the fields makes a body that begins with a byte order mark.
func startsWithMark(e *ipn.Event) bool {
	return len(e.Fields) > 0 && strings.HasPrefix(e.Fields[0].Name+e.Fields[0].Value, "\ufeff")
}

// checkFieldCount counts the pieces between separators. An HTML entity's remains and a byte order mark may make a piece
// empty, so bodies with those are left out.
func checkFieldCount(t *testing.T, body []byte, e *ipn.Event, most int) {
	t.Helper()
	if bytes.Contains(body, []byte("amp;")) || bytes.Contains(body, []byte("\xef\xbb\xbf")) || bytes.Contains(bytes.ToUpper(body), []byte("%EF%BB%BF")) {
		return
	}
	pieces := 0
	for piece := range bytes.SplitSeq(body, []byte{'&'}) {
		if len(piece) > 0 {
			pieces++
		}
	}
	if want := min(pieces, most); len(e.Fields) != want {
		t.Fatalf("%d fields of %d pieces", len(e.Fields), pieces)
	}
}

func checkFacts(t *testing.T, f ipn.Facts) {
	t.Helper()
	for _, text := range []string{
		f.TransactionType, f.ReferenceNumber, f.OriginalReference, f.ReversalReference, f.SubscriptionID, f.AccountID,
		f.ContractID, f.NewContractID, f.MerchantTransactionID, f.VendorID, f.Currency, f.PaymentMethod, f.Country, f.State, f.Status,
		f.Amount.String(), f.AmountUSD.String(), f.TaxAmount.String(), f.TaxUSD.String(),
	} {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || len(text) > 255 {
			t.Errorf("the fact %.300q does not fit a column", text)
		}
	}
	amounts := []ipn.Money{f.Amount, f.AmountUSD, f.TaxAmount, f.TaxUSD}
	for _, d := range f.Deposits {
		amounts = append(amounts, d.Amount)
	}
	for _, money := range amounts {
		if money.Negative() {
			t.Errorf("the amount %s is no magnitude", money)
		}
	}
}

// FuzzIdentity turns a body's pieces about: the event stays the same.
func FuzzIdentity(f *testing.F) {
	addSeeds(f, func(body string) { f.Add(body, uint(3)) })
	f.Fuzz(func(t *testing.T, body string, turn uint) {
		a := decode(body)
		if len(a.Fields) == 0 || len(a.Fields) >= 1000 {
			return
		}
		fields := slices.Clone(a.Fields)
		at := int(turn % uint(len(fields)))
		turned := append(fields[at:len(fields):len(fields)], fields[:at]...)
		slices.Reverse(turned)
		b := decode(string(ipn.Encode(turned)))
		if !slices.Equal(b.Fields, turned) {
			return // a byte order mark came to the front
		}
		if a.ContentDigest() != b.ContentDigest() {
			t.Fatal("turning the fields about changed the content digest")
		}
		if scope.Identify(a) != scope.Identify(b) {
			t.Fatal("turning the fields about changed the identity")
		}
	})
}
