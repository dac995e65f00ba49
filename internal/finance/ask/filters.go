// Package ask reads what people ask of the event history: from a query string, a form, a JSON body or flags.
//
// Its one non-obvious decision is that every mouth speaks the same text. One table says what may be asked, how it is written
// and what it means, and all else is made of that table: what the API, the page, the export and the command line take, how
// they describe it, and how they answer what they cannot read. It also seals the cursors of lists, so that nobody can make
// one up, or go on in a list that he did not ask for.
package ask

import (
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Kind is the form that a filter is written in.
type Kind string

// The closed set of forms. All are text; an empty one is as good as none.
const (
	KindText   Kind = "text"   // UTF-8 without NUL, at most LongestText bytes
	KindCode   Kind = "code"   // three letters
	KindAmount Kind = "amount" // decimal digits, with or without a point
	KindTime   Kind = "time"   // an instant of RFC 3339, or a day of UTC
	KindYesNo  Kind = "yesno"  // true or false
	KindChoice Kind = "choice" // one of Choices
	KindNumber Kind = "number" // from 1 to MostEvents
	KindCursor Kind = "cursor" // nextCursor of the page before
)

// What is too much to ask.
const (
	LongestText  = 255      // bytes of one text
	longestQuery = 16 << 10 // bytes of all names and values together; a cursor may take half of it
	MostEvents   = 1000     // on a page
	usualEvents  = 50       // on a page, when nobody says how many
)

// Filter is one thing that may be asked.
type Filter struct {
	Name    string // as the API has it: the payment service's own where there is one
	Kind    Kind
	Doc     string
	Example string
	Choices []string // of KindChoice

	set func(q *Query, text string) (mend string) // mend says how to write it; "" when it was understood
}

// Flag returns the name as a flag of the command line has it: --transaction-type without the dashes before it.
func (f Filter) Flag() string {
	var flag strings.Builder
	for _, r := range f.Name {
		if 'A' <= r && r <= 'Z' {
			flag.WriteByte('-')
			r += 'a' - 'A'
		}
		flag.WriteRune(r)
	}
	return flag.String()
}

// Filters returns all that may be asked in a URL, in the order it is described in.
func Filters() []Filter { return append([]Filter(nil), filters...) }

// People returns what may be asked besides in a body alone: it is personal, and a URL is written into logs and histories.
func People() []Filter { return append([]Filter(nil), people...) }

// The orders, as they are written.
const (
	orderOccurred = "occurred"
	orderReceived = "received"
)

// filters is the table.
var filters = []Filter{
	{Name: "transactionType", Kind: KindText, Example: "CHARGE", Doc: "Canonical name, in any spelling the sender has used; an unknown type by the name it was sent with",
		set: func(q *Query, text string) string { q.TransactionType = CanonicalType(text); return "" }},
	{Name: "referenceNumber", Kind: KindText, Example: "1012345678", Doc: "The sender's number of the transaction; of refunds and disputes that of the transaction they act on",
		set: func(q *Query, text string) string { q.ReferenceNumber = text; return "" }},
	{Name: "originalRefNum", Kind: KindText, Example: "1012345678", Doc: "The first charge of the subscription, or the charge acted on",
		set: func(q *Query, text string) string { q.OriginalReference = text; return "" }},
	{Name: "subscriptionId", Kind: KindText, Example: "S1234567", Doc: "The sender's number of the subscription",
		set: func(q *Query, text string) string { q.SubscriptionID = text; return "" }},
	{Name: "merchantTransactionId", Kind: KindText, Example: "order-4711", Doc: "The merchant's own id of the transaction",
		set: func(q *Query, text string) string { q.MerchantTransactionID = text; return "" }},
	{Name: "accountId", Kind: KindText, Example: "20123456", Doc: "The shopper, by the sender's number",
		set: func(q *Query, text string) string { q.AccountID = text; return "" }},
	{Name: "vendorId", Kind: KindText, Example: "345678", Doc: "The vendor of a marketplace that the event is about",
		set: func(q *Query, text string) string { q.VendorID = text; return "" }},
	{Name: "currency", Kind: KindCode, Example: "EUR", Doc: "ISO 4217 code of the amount, in any letter case",
		set: func(q *Query, text string) string { q.Currency = strings.ToUpper(text); return "" }},
	{Name: "status", Kind: KindText, Example: "COMPLETED_LOST", Doc: "What the event says of its state: of a dispute its cbStatus in capitals, of a change of plan its resultCode",
		set: func(q *Query, text string) string { q.Status = text; return "" }},
	{Name: "amountFrom", Kind: KindAmount, Example: "10.00", Doc: "Least amount, inclusive: a magnitude in whatever currency the event has",
		set: func(q *Query, text string) (mend string) { q.AmountFrom, mend = readAmount(text); return mend }},
	{Name: "amountTo", Kind: KindAmount, Example: "99.99", Doc: "Greatest amount, inclusive",
		set: func(q *Query, text string) (mend string) { q.AmountTo, mend = readAmount(text); return mend }},
	{Name: "from", Kind: KindTime, Example: "2026-11-01", Doc: "Earliest time, inclusive: RFC 3339, or YYYY-MM-DD for the start of that day in UTC. By the sender's date; events without one count by their receipt",
		set: func(q *Query, text string) (mend string) { q.From, mend = Time(text); return mend }},
	{Name: "to", Kind: KindTime, Example: "2026-12-01", Doc: "Latest time, exclusive, written as from",
		set: func(q *Query, text string) (mend string) { q.To, mend = Time(text); return mend }},
	{Name: "receivedFrom", Kind: KindTime, Example: "2026-11-01", Doc: "Earliest time of the first receipt, inclusive, written as from",
		set: func(q *Query, text string) (mend string) { q.ReceivedFrom, mend = Time(text); return mend }},
	{Name: "receivedTo", Kind: KindTime, Example: "2026-12-01", Doc: "Latest time of the first receipt, exclusive, written as from",
		set: func(q *Query, text string) (mend string) { q.ReceivedTo, mend = Time(text); return mend }},
	{Name: "test", Kind: KindYesNo, Example: "false", Doc: "Only test orders, or none",
		set: func(q *Query, text string) string { q.Test = yes(text); return "" }},
	{Name: "hasProblems", Kind: KindYesNo, Example: "true", Doc: "Only events with something odd in them, or none of those",
		set: func(q *Query, text string) string { q.Problems = yes(text); return "" }},
	{Name: "hasVariants", Kind: KindYesNo, Example: "true", Doc: "Only events that were told differently as well, or none of those",
		set: func(q *Query, text string) string { q.Variants = yes(text); return "" }},
	{Name: "isParked", Kind: KindYesNo, Example: "true", Doc: "Only events that some handler failed on, parked or buried, or none of those",
		set: func(q *Query, text string) string { q.Parked = yes(text); return "" }},
	{Name: "q", Kind: KindText, Example: "1012345678", Doc: "An exact reference, original reference, reversal, subscription, merchant transaction or account number",
		set: func(q *Query, text string) string { q.Text = text; return "" }},
	{Name: "order", Kind: KindChoice, Example: orderOccurred, Choices: []string{orderOccurred, orderReceived},
		Doc: "The time that the list goes by, newest first. When it is left out: occurred, or received where only a range of receipts is asked for",
		set: func(q *Query, text string) string { q.ordered, q.Order = true, orders[text]; return "" }},
	{Name: "cursor", Kind: KindCursor, Doc: "nextCursor of the page before, unchanged; the filters must be the same",
		set: func(q *Query, text string) string { q.Cursor = text; return "" }},
	{Name: "limit", Kind: KindNumber, Example: "50", Doc: "Events on the page; 50 when it is left out",
		set: func(q *Query, text string) (mend string) { q.Limit, mend = readNumber(text); return mend }},
}

// people are the filters that no URL may hold. They are written as text, and leave as tokens at once.
var people = []Filter{
	{Name: "email", Kind: KindText, Example: "jane.doe@example.com", Doc: "Events with this e-mail address of the shopper, in any letter case",
		set: func(q *Query, text string) string {
			return q.person(q.key.Email(text))("an e-mail address such as jane.doe@example.com")
		}},
	{Name: "name", Kind: KindText, Example: "Jane Doe", Doc: "Events with this last name, or first and last name, of the shopper, the payer or the recipient; with email: of either",
		set: func(q *Query, text string) string {
			return q.person(q.key.Name(text))("a last name, or a first and a last name")
		}},
}

var orders = map[string]ipn.ListOrder{orderOccurred: ipn.ByOccurred, orderReceived: ipn.ByReceived}

// CanonicalType lets people write a type in any case or spelling the sender has used. It returns the name of an unknown type
// as it is.
func CanonicalType(name string) string {
	if t, known := ipn.LookupType(name); known {
		return t.Name
	}
	return name
}
