package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// perPage is how many entries a list shows at once: a few screens.
const perPage = 50

// menu is a filter that takes one of a closed set of words.
type menu struct {
	Field, Label string
	Any          string // what is shown for no restriction
	Chosen       string
	Options      []string
	names        map[string]string // of options that are no words for people
}

// named gives an option a name for people.
func (m menu) named(option, name string) menu {
	m.names = map[string]string{option: name}
	return m
}

// Name is what people read of an option.
func (m menu) Name(option string) string { return cmp.Or(m.names[option], spoken(option)) }

// pick reads the filter of a query parameter. The error tells the words it may be.
func pick[T ~string](v *visit, name, label, none string, options ...T) (menu, T, error) {
	c := menu{Field: name, Label: label, Any: none, Chosen: v.said(name)}
	for _, o := range options {
		c.Options = append(c.Options, string(o))
	}
	if c.Chosen != "" && !slices.Contains(c.Options, c.Chosen) {
		return c, "", wrong(name, "Choose one of: "+strings.Join(c.Options, ", ")+".")
	}
	return c, T(c.Chosen), nil
}

// cursor returns where the page of a list begins, as the page before told it; "" for the first one.
func (v *visit) cursor() string { return v.URL.Query().Get("cursor") }

// cursorID is cursor for the lists that go on by an id; 0 for the first page.
func (v *visit) cursorID() (int64, error) {
	text := v.cursor()
	if text == "" {
		return 0, nil
	}
	id := number(text)
	if id == 0 {
		return 0, wrong("cursor", "Follow the link to the next page, or begin with the first one.")
	}
	return id, nil
}

// below puts a path together out of words and of what may hold anything.
func below(root string, parts ...any) string {
	var path strings.Builder
	path.WriteString(root)
	for _, part := range parts {
		path.WriteByte('/')
		path.WriteString(url.PathEscape(fmt.Sprint(part)))
	}
	return path.String()
}

// Past tells whether a time has gone by.
func (f *frame) Past(t *time.Time) bool { return t.Before(f.Now) }

// Later tells whether the page shows a list from somewhere else than its beginning.
func (f *frame) Later() bool { return f.query.Get("cursor") != "" }

// pair is a name with its value, as a page lists them.
type pair struct{ Name, Value string }

// pairs takes a JSON object apart for people: numbers and texts as they are, what is deeper as JSON. Sorted by name.
func pairs(object json.RawMessage) []pair {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	all := make([]pair, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := string(members[name])
		var plain string
		if json.Unmarshal(members[name], &plain) == nil {
			value = plain
		}
		all = append(all, pair{name, value})
	}
	return all
}

// missing tells more than that there is nothing, where a person typed the number that nothing stands under.
func missing(err error, text string) error {
	var answered huma.StatusError
	if errors.As(err, &answered) && answered.GetStatus() == http.StatusNotFound {
		return mistake{http.StatusNotFound, "", text}
	}
	return err
}
