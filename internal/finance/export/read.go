package export

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The parameters of an export besides the filters.
const (
	paramOf     = "of"
	paramFormat = "format"
	paramBOM    = "bom"
	paramKind   = "kind"
	paramAfter  = "after"
	paramUpTo   = "upTo"
)

// own are the parameters that lists of events do not have.
var own = []ask.Filter{
	{Name: paramOf, Kind: ask.KindChoice, Example: string(Events), Choices: []string{string(Events), string(Movements)},
		Doc: "What the rows are: events, when it is left out, or the movements of the books. Movements are narrowed by from and to, which are days then, kind, currency and test alone"},
	{Name: paramFormat, Kind: ask.KindChoice, Example: string(CSV), Choices: []string{string(CSV), string(JSONL)}, Doc: "csv, when it is left out, or jsonl: an object on each line"},
	{Name: paramBOM, Kind: ask.KindYesNo, Example: "true", Doc: "Begin CSV with a byte order mark, by which Excel knows that it is UTF-8"},
	{Name: paramKind, Kind: ask.KindChoice, Example: string(ipn.MoveCharge), Choices: kinds, Doc: "Of movements: only of this kind"},
	{Name: paramAfter, Kind: ask.KindText, Example: "1042", Doc: "Continue behind the last whole row that is there already: its id or, of movements, eventId:line. The row of names is left out. Give upTo as well"},
	{Name: paramUpTo, Kind: ask.KindText, Example: "2000000", Doc: "Ipn-Export-Up-To of the export that is continued; nothing behind that event is told"},
}

var kinds = []string{
	string(ipn.MoveCharge), string(ipn.MoveRecurring), string(ipn.MoveRefund), string(ipn.MoveCancellationRefund),
	string(ipn.MoveChargeback), string(ipn.MoveChargebackReversal), string(ipn.MovePayout),
}

// ofLists are the filters that say how a list is turned over: an export is whole, and goes by id.
var ofLists = []string{"order", "cursor", "limit"}

// ofMovements are the filters of lists of events that movements have too.
var ofMovements = []string{"from", "to", "currency", "test"}

// Filters returns all that may be asked of an export, in the order it is described in.
func Filters() []ask.Filter {
	narrowing := slices.DeleteFunc(ask.Filters(), func(f ask.Filter) bool { return slices.Contains(ofLists, f.Name) })
	return slices.Concat(own, narrowing)
}

// Parse reads a query string, as Read does.
func Parse(query string) (Question, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		_, err := ask.Parse(query) // which says how to mend it
		return Question{}, err
	}
	return Read(values)
}

// Read reads what may stand in a URL. Empty values are as good as none. Without test, events are of all orders and movements
// of the live book: the two books are never added up. It fails with ask.Mistakes.
func Read(values url.Values) (Question, error) {
	r := reading{url.Values{}, nil}
	for name, texts := range values {
		if texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" }); len(texts) > 0 {
			r.values[name] = texts
		}
	}
	q := Question{
		Of:     Subject(r.choice(paramOf, string(Events), string(Movements))),
		Format: Format(r.choice(paramFormat, string(CSV), string(JSONL))),
		BOM:    r.choice(paramBOM, "false", "true") == "true",
	}
	if text := r.take(paramAfter); text != "" {
		mark, err := ParseMark(q.Of, text)
		r.check(paramAfter, err)
		q.After = mark
	}
	if text := r.take(paramUpTo); text != "" {
		var err error
		if q.UpTo, err = strconv.ParseInt(text, 10, 64); err != nil || q.UpTo < 1 {
			r.mistake(paramUpTo, "write the number of the header Ipn-Export-Up-To")
		}
	}
	for _, name := range ofLists {
		if r.take(name) != "" {
			r.mistake(name, "leave it out: an export is whole, and goes by id")
		}
	}
	r.filters(&q)
	if len(r.mistakes) > 0 {
		return Question{}, r.mistakes
	}
	return q, nil
}

// reading is what is left of the values, and what was wrong so far.
type reading struct {
	values   url.Values
	mistakes ask.Mistakes
}

func (r *reading) mistake(name, mend string) {
	r.mistakes = append(r.mistakes, ask.Mistake{Name: name, Mend: mend})
}

func (r *reading) check(name string, err error) {
	if err != nil {
		r.mistake(name, err.Error())
	}
}

// take returns the one value of a name and removes it.
func (r *reading) take(name string) string {
	texts := r.values[name]
	delete(r.values, name)
	if len(texts) == 0 {
		return ""
	}
	if len(texts) > 1 {
		r.mistake(name, "say it once")
	}
	return texts[0]
}

// choice takes one of some words, the first where there is none.
func (r *reading) choice(name string, words ...string) string {
	text := r.take(name)
	if text == "" {
		return words[0]
	}
	if !slices.Contains(words, text) {
		r.mistake(name, "write one of "+strings.Join(words, ", "))
	}
	return text
}

// filters reads what narrows the rows.
func (r *reading) filters(q *Question) {
	kind := ""
	q.Filters = slices.Sorted(maps.Keys(r.values))
	if q.Of == Movements {
		if _, given := r.values[paramKind]; given {
			kind = r.choice(paramKind, kinds...)
		}
		for _, name := range slices.Sorted(maps.Keys(r.values)) {
			if !slices.Contains(ofMovements, name) {
				delete(r.values, name)
				r.mistake(name, "leave it out: movements are narrowed by "+strings.Join(ofMovements, ", ")+" and kind")
			}
		}
	}
	query, err := ask.Read(r.values)
	var wrong ask.Mistakes
	if errors.As(err, &wrong) {
		r.mistakes = append(r.mistakes, wrong...)
	}
	q.Events = query.Question
	if q.Of == Movements {
		q.Events = ipn.Question{}
		q.Movements = ipn.MovementFilter{Span: ipn.Span{From: r.day("from", query.From), To: r.day("to", query.To)}, Kind: ipn.MovementKind(kind), Currency: query.Currency}
		q.Movements.Test = query.Test != nil && *query.Test
	}
}

// day refuses an instant that no day of UTC begins with: the books are kept by days.
func (r *reading) day(name string, at time.Time) time.Time {
	if !at.Equal(at.Truncate(24 * time.Hour)) {
		r.mistake(name, "write it as 2026-11-01: the books are kept by days of UTC")
	}
	return at
}

// ContentType returns the media type of the answer; CSV tells whether it begins with the row of names (RFC 7111 section 5.1).
func (q *Question) ContentType() string {
	switch {
	case q.Format == JSONL:
		return "application/x-ndjson"
	case q.resumed():
		return "text/csv; charset=utf-8; header=absent"
	}
	return "text/csv; charset=utf-8; header=present"
}

func (q *Question) resumed() bool { return q.After != ipn.ExportMark{} }

// FileName returns what a file with the answer may be called: it tells the days that were asked for and nothing else.
func (q *Question) FileName() string {
	from, to := q.Events.From, q.Events.To
	if q.Of == Movements {
		from, to = q.Movements.From, q.Movements.To
	}
	span := ""
	if !from.IsZero() {
		span = "_from_" + from.UTC().Format(time.DateOnly)
	}
	if !to.IsZero() {
		span += "_to_" + to.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("%s%s.%s", q.Of, span, q.Format)
}
