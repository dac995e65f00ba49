package ask

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Query is a question that was understood. Its Limit is set; After is not: that is what Cursors.Resume does with Cursor.
type Query struct {
	ipn.Question
	Cursor string

	ordered bool // somebody said by which time
	key     ipn.PersonKey
}

// Mistake says what cannot be answered and how to mend it. It holds nothing of what was sent but a name.
type Mistake struct {
	Name string // of the filter; "" where the mistake is in the whole
	Mend string
}

func (m Mistake) Error() string {
	if m.Name == "" {
		return m.Mend
	}
	return m.Name + ": " + m.Mend
}

// Mistakes are all that is wrong with a question, in the order of the table, at least one.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	texts := make([]string, len(m))
	for i, mistake := range m {
		texts[i] = mistake.Error()
	}
	return strings.Join(texts, "; ")
}

// Parse reads a query string. It fails with Mistakes.
func Parse(query string) (Query, error) {
	if len(query) > longestQuery {
		return Query{}, Mistakes{tooLong}
	}
	values, err := takeApart(query)
	if err != nil {
		return Query{}, err
	}
	return Read(values)
}

// Check tells of a query string whether it can be taken apart and says each name once, whatever it asks for: a value that
// were left out in silence would widen the question. It fails with Mistakes.
func Check(query string) error {
	if query == "" {
		return nil
	}
	values, err := takeApart(query)
	if err != nil {
		return err
	}
	var mistakes Mistakes
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			mistakes = append(mistakes, Mistake{name, sayOnce})
		}
	}
	if mistakes == nil {
		return nil
	}
	return mistakes
}

func takeApart(query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, Mistakes{{Mend: "write each % as %25 and each ; as %3B: the query cannot be taken apart"}}
	}
	return values, nil
}

const sayOnce = "say it once"

var tooLong = Mistake{Mend: fmt.Sprintf("ask for less: at most %d bytes are read", longestQuery)}

// Read reads what may stand in a URL. Empty values are as good as none, as a form sends them. It fails with Mistakes.
func Read(values url.Values) (Query, error) {
	return read(values, filters, ipn.PersonKey{})
}

func read(values url.Values, table []Filter, key ipn.PersonKey) (Query, error) {
	q := Query{Question: ipn.Question{Limit: usualEvents}, key: key}
	if sizeOf(values) > longestQuery {
		return q, Mistakes{tooLong}
	}
	var mistakes Mistakes
	known := make(map[string]bool, len(table))
	for _, f := range table {
		known[f.Name] = true
		if mend := f.read(&q, values[f.Name]); mend != "" {
			mistakes = append(mistakes, Mistake{f.Name, mend})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			mistakes = append(mistakes, unknown(name))
		}
	}
	if len(mistakes) == 0 {
		mistakes = q.contradictions()
	}
	if len(mistakes) > 0 {
		return q, mistakes
	}
	q.complete()
	return q, nil
}

// sizeOf counts the bytes of all names and values.
func sizeOf(values url.Values) (n int) {
	for name, texts := range values {
		n += len(name)
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

// unknown says that there is no such filter. A name that nobody would have written by mistake is not repeated.
func unknown(name string) Mistake {
	if !plainName.MatchString(name) {
		name = ""
	}
	return Mistake{name, "there is no such filter; GET /openapi.json tells which there are"}
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// complete fills in what was left out.
func (q *Query) complete() {
	occurred := !q.From.IsZero() || !q.To.IsZero()
	received := !q.ReceivedFrom.IsZero() || !q.ReceivedTo.IsZero()
	if !q.ordered && received && !occurred {
		q.Order = ipn.ByReceived
	}
	q.key = ipn.PersonKey{}
}

// contradictions finds ranges that end before they begin.
func (q *Query) contradictions() (found Mistakes) {
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		found = append(found, Mistake{"to", "write a time that is not before from"})
	}
	if !q.ReceivedFrom.IsZero() && !q.ReceivedTo.IsZero() && q.ReceivedTo.Before(q.ReceivedFrom) {
		found = append(found, Mistake{"receivedTo", "write a time that is not before receivedFrom"})
	}
	if q.AmountFrom.Valid && q.AmountTo.Valid && q.AmountTo.Decimal.LessThan(q.AmountFrom.Decimal) {
		found = append(found, Mistake{"amountTo", "write an amount that is not below amountFrom"})
	}
	return found
}

// read checks the form of the filter's values and puts them into the question.
func (f Filter) read(q *Query, texts []string) (mend string) {
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
	if len(texts) == 0 {
		return ""
	}
	if len(texts) > 1 {
		return sayOnce
	}
	if mend := f.form(texts[0]); mend != "" {
		return mend
	}
	return f.set(q, texts[0])
}

// form checks what the kind asks of a text; numbers, amounts and times are checked as they are read.
func (f Filter) form(text string) (mend string) {
	switch f.Kind {
	case KindText:
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return "write it as UTF-8 without NUL"
		}
		if len(text) > LongestText {
			return fmt.Sprintf("write at most %d bytes", LongestText)
		}
	case KindCode:
		if !threeLetters.MatchString(text) {
			return "write a code of three letters such as EUR"
		}
	case KindYesNo:
		if yes(text) == nil {
			return "write true or false"
		}
	case KindChoice:
		if !slices.Contains(f.Choices, text) {
			return "write one of " + strings.Join(f.Choices, ", ")
		}
	case KindCursor:
		if len(text) > longestCursor {
			return mendCursor
		}
	}
	return ""
}

var threeLetters = regexp.MustCompile(`^[A-Za-z]{3}$`)

// yes reads true or false, nil from anything else.
func yes(text string) *bool {
	switch text {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

// The years that a question may be about: a date outside them is a slip of the finger.
const (
	firstYear = 1970
	lastYear  = 2199
)

// Time reads an instant of RFC 3339 or a day, which begins at midnight UTC. mend says how to write it; it is "" when the
// time was understood.
func Time(text string) (at time.Time, mend string) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if t = t.UTC(); t.Year() < firstYear || t.Year() > lastYear {
			return time.Time{}, fmt.Sprintf("write a year from %d to %d", firstYear, lastYear)
		}
		return t, ""
	}
	return time.Time{}, "write it as 2026-11-01 or 2026-11-01T08:30:00Z"
}

// anAmount leaves no room for exponents, which let a few characters stand for a number of millions of digits.
var anAmount = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,10})?$`)

func readAmount(text string) (decimal.NullDecimal, string) {
	amount, err := decimal.NewFromString(text)
	if err != nil || !anAmount.MatchString(text) {
		return decimal.NullDecimal{}, "write a number without sign such as 10 or 10.50"
	}
	return decimal.NewNullDecimal(amount), ""
}

func readNumber(text string) (int, string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MostEvents || strconv.Itoa(n) != text {
		return usualEvents, fmt.Sprintf("write a number from 1 to %d", MostEvents)
	}
	return n, ""
}
