package ledger_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// names are the words of a story and the sender's fields they stand for.
var names = map[string]string{
	"ref": "referenceNumber", "rev": "reversalRefNum", "sub": "subscriptionId", "acc": "accountId", "mti": "merchantTransactionId",
	"amount": "invoiceChargeAmount", "cur": "invoiceChargeCurrency", "reversal": "reversalAmount", "tax": "taxChargeAmount", "usd": "invoiceAmountUSD",
	"status": "cbStatus", "result": "resultCode", "until": "untilDate", "plan": "contractId", "country": "country", "state": "state", "from": "oldContractId", "to": "newContractId", "test": "testMode",
	"payout": "payoutId", "amount0": "amount[0]", "cur0": "currency[0]", "amount1": "amount[1]", "cur1": "currency[1]", "node": "node",
}

// body turns a line of a story into what the sender posts: a day of May 2024 ("-": no date), a type, and what else is
// told. Without another word, reference number 70010001 and euros are meant.
func body(line string) string {
	words := strings.Fields(line)
	form := url.Values{"transactionType": {words[1]}, "referenceNumber": {"70010001"}, "invoiceChargeCurrency": {"EUR"}}
	if words[0] != "-" {
		form.Set("transactionDate", date(words[0]))
	}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		if names[name] == "" {
			panic("a story does not know the word " + name)
		}
		if name == "until" {
			value = date(value)
		}
		form.Set(names[name], value)
	}
	return form.Encode()
}

func date(day string) string { return fmt.Sprintf("05/%s/2024 10:00 AM", day) }

// day is the instant that a story's day means.
func day(n int) time.Time { return time.Date(2024, 5, n, 17, 0, 0, 0, time.UTC) }

// record is what the store makes of bodies in their order of arrival: ids and times of receipt tell when each came,
// and a resend is the event that is known.
func record(bodies ...string) []ipn.Stored {
	decoder, scope := new(ipn.Decoder), ipn.Scope{NodeFields: []string{"node"}}
	known := make(map[ipn.Identity]bool)
	var events []ipn.Stored
	for i, body := range bodies {
		e := decoder.Decode([]byte(body), "")
		identity := scope.Identify(e)
		if known[identity] {
			continue
		}
		known[identity] = true
		events = append(events, ipn.Stored{
			ID: int64(i + 1), Facts: e.Facts, Problems: e.Problems, Identity: identity,
			ReceivedAt: time.Date(2024, 6, 1, 0, 0, i, 0, time.UTC),
		})
	}
	return events
}

// story records the lines of a story.
func story(lines ...string) []ipn.Stored {
	bodies := make([]string, len(lines))
	for i, line := range lines {
		bodies[i] = body(line)
	}
	return record(bodies...)
}

// lines splits the text of a table into a story's lines.
func lines(text string) []string { return strings.Split(text, "; ") }

// text is a book as it is read by others, for comparison: decimals have many forms that are equal.
func text(t rapid.TB, book any) string {
	t.Helper()
	encoded, err := json.MarshalIndent(book, "", " ")
	if err != nil {
		t.Fatalf("encode a book: %v", err)
	}
	return string(encoded)
}
