package page

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// eventsData is a page of the list of events, with the form that it was asked for by.
type eventsData struct {
	Events []step
	Next   string // the cursor of the next page; "" on the last
	First  bool   // this is the first page
	Fields []filterField
	More   []filterField // those that are asked for less often
	Narrow bool          // one of More has a value
	Asked  url.Values    // what was asked for, without the place in the list

	People     bool   // people can be searched for
	Email      string // that was searched for; both are told nowhere but on this answer
	Name       string
	PersonAsks bool // this is the answer to a search for a person
}

// filterField is a filter of the table in package ask as a field of the form.
type filterField struct {
	ask.Filter
	Label   string
	Input   string // the type of the input: search, date, text, number; select
	Value   string
	Choices []choice
	Wrong   string // what is wrong with the value
}

// filterLabels are the filters of the form as people call them, in the order of the form: first those that are always seen. A
// filter of the table that is not named here stands at the end under its own name, so that none is missing.
var (
	firstFilters = []struct{ name, label string }{
		{"q", "Any number"}, {"transactionType", "Type"}, {"from", "From day"}, {"to", "Before day"}, {"currency", "Currency"},
	}
	moreFilters = []struct{ name, label string }{
		{"amountFrom", "Least amount"}, {"amountTo", "Greatest amount"}, {"referenceNumber", "Reference"}, {"originalRefNum", "Original reference"}, {"subscriptionId", "Subscription"}, {"merchantTransactionId", "Your own id"}, {"accountId", "Account"},
		{"vendorId", "Vendor"}, {"status", "Status"}, {"receivedFrom", "Received from"}, {"receivedTo", "Received before"}, {"hasProblems", "Oddities"}, {"hasVariants", "Variants"},
		{"isParked", "Failed at a handler"}, {"order", "Listed by"},
	}
)

// notInForm are the filters that the page asks for in other ways: the book by its switch, the place by links.
var notInForm = map[string]bool{"test": true, "cursor": true, "limit": true}

// events lists what came in, newest first, narrowed by the filters of the address.
func (p *Page) events(v *visit) (sheet, error) {
	values := v.URL.Query()
	values.Del("done")
	data := newEventsData(values)
	data.People = !p.Office.People.IsZero()
	query, err := ask.Read(inBook(values, v.test))
	if err != nil {
		data.blame(p.tell(err))
		return data.sheet(http.StatusUnprocessableEntity), err
	}
	if err := p.list(v.Context(), &query, data); err != nil {
		return data.sheet(0), err
	}
	data.First = query.Cursor == ""
	s := data.sheet(0)
	if asksForPart(v.Request) {
		s.push = "/events" + queryOf(inBook(values, v.test), v.test)
	}
	return s, nil
}

// inBook asks for the events of one book: a list never mixes live money with that of test orders.
func inBook(values url.Values, test bool) url.Values {
	asked := url.Values{}
	for name, texts := range values {
		if name != "test" {
			asked[name] = texts
		}
	}
	asked.Set("test", map[bool]string{true: "true", false: "false"}[test])
	return asked
}

// queryOf writes a query without what is empty, and without the live book, which goes without saying.
func queryOf(values url.Values, test bool) string {
	said := url.Values{}
	for name, texts := range values {
		if len(texts) > 0 && texts[0] != "" && (name != "test" || test) {
			said[name] = texts
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "?" + said.Encode()
}

// list finds a page of events, without their bodies, and the cursor of the next one.
func (p *Page) list(ctx context.Context, query *ask.Query, data *eventsData) error {
	events, next, err := p.Office.ListEvents(ctx, query)
	if err != nil {
		return err
	}
	data.Next, data.Events = next, make([]step, len(events))
	for i := range events {
		data.Events[i] = step{&events[i], events[i].Sentence()}
	}
	return nil
}

func newEventsData(values url.Values) *eventsData {
	data := &eventsData{Asked: url.Values{}, First: true}
	for name, texts := range values {
		if name != "cursor" && len(texts) > 0 && texts[0] != "" {
			data.Asked[name] = texts
		}
	}
	rest := map[string]ask.Filter{}
	for _, f := range ask.Filters() {
		rest[f.Name] = f
	}
	take := func(name, label string) filterField {
		f := newFilterField(rest[name], label, values.Get(name))
		delete(rest, name)
		return f
	}
	for _, f := range firstFilters {
		data.Fields = append(data.Fields, take(f.name, f.label))
	}
	for _, f := range moreFilters {
		data.More = append(data.More, take(f.name, f.label))
	}
	for _, f := range ask.Filters() {
		if _, left := rest[f.Name]; left && !notInForm[f.Name] {
			data.More = append(data.More, take(f.Name, label(f.Name)))
		}
	}
	for _, f := range data.More {
		data.Narrow = data.Narrow || f.Value != ""
	}
	return data
}

// newFilterField chooses the input that a filter is typed into. A time that is no day is typed as text, which can hold it.
func newFilterField(f ask.Filter, label, value string) filterField {
	field := filterField{Filter: f, Label: label, Value: value, Input: "text"}
	switch f.Kind {
	case ask.KindTime:
		if _, err := time.Parse(time.DateOnly, value); err == nil || value == "" {
			field.Input = "date"
		}
	case ask.KindYesNo:
		field.Input = "select"
		field.Choices = []choice{{"", "any", value == ""}, {"true", "only with", value == "true"}, {"false", "only without", value == "false"}}
	case ask.KindChoice:
		field.Input, field.Choices = "select", []choice{{"", "–", value == ""}}
		for _, c := range f.Choices {
			field.Choices = append(field.Choices, choice{c, c, value == c})
		}
	}
	if f.Name == "q" {
		field.Input = "search"
	}
	if f.Name == "transactionType" {
		field.Choices = typeChoices()
	}
	return field
}

// typeChoices are the names of the types that are known; others can be typed all the same.
func typeChoices() []choice {
	types := ipn.Types()
	choices := make([]choice, len(types))
	for i, t := range types {
		choices[i].Value = t.Name
	}
	return choices
}

// blame puts what is wrong beside the fields that it is about.
func (d *eventsData) blame(wrongs *trouble) {
	for _, fields := range [][]filterField{d.Fields, d.More} {
		for i := range fields {
			fields[i].Wrong = wrongs.About(fields[i].Name)
		}
	}
}

func (d *eventsData) sheet(status int) sheet {
	return sheet{name: "events", title: "Events", path: "/events", data: d, part: "list", status: status, wide: true}
}

// Export is the address that the whole answer is taken along from.
func (d *eventsData) Export(format string, test bool) string {
	query := url.Values{"format": {format}}
	asked := inBook(d.Asked, test)
	for _, f := range export.Filters() { // an export has an order of its own
		if asked.Has(f.Name) {
			query[f.Name] = asked[f.Name]
		}
	}
	return "/api/v1/export?" + query.Encode()
}

// findPeople lists the events of a person by e-mail address or name. Both come in a form that is posted, for an address is
// written into logs and histories, and are shown on this one answer only.
func (p *Page) findPeople(v *visit) (sheet, error) {
	data := newEventsData(url.Values{})
	data.People, data.PersonAsks = !p.Office.People.IsZero(), true
	data.Email, data.Name = strings.TrimSpace(v.PostFormValue("email")), strings.TrimSpace(v.PostFormValue("name"))
	if data.Email == "" && data.Name == "" {
		return sheet{}, wrong("email", "Write an e-mail address, or a name.")
	}
	body := map[string]any{"test": v.test}
	for _, part := range []struct{ name, text string }{{"email", data.Email}, {"name", data.Name}, {"cursor", v.PostFormValue("cursor")}} {
		if part.text != "" {
			body[part.name] = part.text
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return sheet{}, err
	}
	query, err := ask.ParseBody(text, p.Office.People)
	if err != nil {
		return sheet{}, err
	}
	if err := p.list(v.Context(), &query, data); err != nil {
		return sheet{}, err
	}
	data.First = query.Cursor == ""
	return data.sheet(0), nil
}
