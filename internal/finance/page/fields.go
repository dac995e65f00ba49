package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// budget is how many bytes of a page a list may take, as they are written, with entities.
type budget struct{ left int }

// spend takes the texts out of the budget, and tells whether they were in it.
func (b *budget) spend(texts ...string) bool {
	const around = 60 // bytes of a row's tags
	b.left -= around
	for _, t := range texts {
		b.left -= len(template.HTMLEscapeString(text(t)))
	}
	return b.left >= 0
}

// fieldRow is a field as it was sent, masked or not.
type fieldRow struct{ Name, Value string }

// rowsOf lists fields in the order in which they came, as many as fit, and how many do not. Empty ones come last, for they say
// the least.
func rowsOf(fields ipn.Fields, bytes int) (rows []fieldRow, left int) {
	ordered := slices.Clone(fields)
	slices.SortStableFunc(ordered, func(a, b ipn.Field) int {
		return strings.Compare(strconv.FormatBool(a.Value == ""), strconv.FormatBool(b.Value == ""))
	})
	room := budget{bytes}
	for i, f := range ordered {
		if !room.spend(f.Name, f.Value) {
			return rows, len(ordered) - i
		}
		rows = append(rows, fieldRow{f.Name, f.Value})
	}
	return rows, 0
}

// difference is a field that a variant told in another way; "" is what was not told. Where it is masked both may look the same.
type difference struct {
	Name, First, Then string
}

// differences compares the values under each name; what is shown of them is taken from fields that stand at the same places.
func differences(first, then, firstShown, thenShown ipn.Fields, bytes int) (found []difference, left int) {
	a, b := byName(first, firstShown), byName(then, thenShown)
	room := budget{bytes}
	compare := func(name string) {
		if slices.Equal(a[name].values, b[name].values) {
			return
		}
		d := difference{b[name].name, strings.Join(a[name].shown, ", "), strings.Join(b[name].shown, ", ")}
		if d.Name == "" {
			d.Name = a[name].name
		}
		if !room.spend(d.Name, d.First, d.Then) && len(found) > 0 {
			left++
			return
		}
		found = append(found, d)
	}
	seen := map[string]bool{}
	for _, f := range slices.Concat(first, then) {
		if !seen[f.Name] {
			seen[f.Name] = true
			compare(f.Name)
		}
	}
	return found, left
}

// told is what stands under one name: the values as sent, and name and values as they may be seen.
type told struct {
	name   string
	values []string
	shown  []string
}

func byName(fields, shown ipn.Fields) map[string]told {
	found := make(map[string]told, len(fields))
	for i, f := range fields {
		t := found[f.Name]
		if f.Value != "" {
			t.values, t.shown = append(t.values, f.Value), append(t.shown, shown[i].Value)
		}
		t.name = shown[i].Name
		found[f.Name] = t
	}
	return found
}

// group is a part of an event's details, such as the card or the third item.
type group struct {
	Name string // "" for what belongs to the event as a whole
	Rows []detailRow
}

// detailRow is one value of a group. At is set where the value is a date.
type detailRow struct {
	Name, Value string
	At          time.Time
}

// groupsOf takes details apart as their JSON is written, with the names that the sender uses, as far as they fit. What is left
// over stands among the fields.
func groupsOf(details ipn.Details, bytesOf int) []group {
	written, err := json.Marshal(details)
	if err != nil {
		return nil
	}
	g := &grouping{decoder: json.NewDecoder(bytes.NewReader(written)), room: budget{bytesOf}, groups: []group{{}}}
	g.decoder.UseNumber()
	g.value(0, "", "")
	return slices.DeleteFunc(g.groups, func(g group) bool { return len(g.Rows) == 0 })
}

// grouping walks JSON token by token, for the order of its members is that of the struct, which a map would lose.
type grouping struct {
	decoder *json.Decoder
	room    budget
	groups  []group
}

// leftOver is the member that holds fields without a place in the struct; all of them stand in the list of fields.
const leftOver = "other"

// value reads one value under its name into the group at: objects and lists become groups of their own.
func (g *grouping) value(at int, path, name string) {
	token, err := g.decoder.Token()
	if err != nil {
		return
	}
	switch token {
	case json.Delim('{'):
		g.object(at, path, name)
	case json.Delim('['):
		for i := 1; g.decoder.More(); i++ {
			g.value(at, path, name+" "+strconv.Itoa(i))
		}
		_, _ = g.decoder.Token()
	case nil, "":
	default:
		g.add(at, detailRow{Name: label(name), Value: plainValue(token)})
	}
}

// object opens a group of its own, unless it is a date, which is one value of the group around it.
func (g *grouping) object(around int, path, name string) {
	at := 0
	if name != "" {
		g.groups = append(g.groups, group{Name: label(strings.TrimSpace(path + " " + name))})
		at = len(g.groups) - 1
	}
	for g.decoder.More() {
		token, err := g.decoder.Token()
		if err != nil {
			return
		}
		member, _ := token.(string)
		if member == leftOver {
			var skipped json.RawMessage
			_ = g.decoder.Decode(&skipped)
			continue
		}
		g.value(at, strings.TrimSpace(path+" "+name), member)
	}
	_, _ = g.decoder.Token()
	g.fold(around, at, name)
}

// fold makes one row of the group around it out of a group that is one value: a date, which is a text and the instant it names,
// or a custom field, which is a text and its index.
func (g *grouping) fold(around, at int, name string) {
	if at == around {
		return
	}
	rows := slices.DeleteFunc(g.groups[at].Rows, func(r detailRow) bool { return r.Name == label("index") })
	row := detailRow{Name: label(name)}
	switch {
	case len(rows) == 1:
		row.Value = rows[0].Value
	case len(rows) == 2 && rows[0].Name == label("text") && rows[1].Name == label("time"):
		row.Value = rows[0].Value
		row.At, _ = time.Parse(time.RFC3339, rows[1].Value)
	default:
		g.groups[at].Rows = rows
		return
	}
	g.groups[at].Rows = nil
	g.groups[around].Rows = append(g.groups[around].Rows, row)
}

func (g *grouping) add(at int, row detailRow) {
	if g.room.spend(row.Name, row.Value) {
		g.groups[at].Rows = append(g.groups[at].Rows, row)
	}
}

func plainValue(token json.Token) string {
	switch v := token.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return ""
}

// label makes words of a name of the sender's: "invoiceChargeAmount" is "Invoice charge amount". Capitals that stand together
// are left together, as in USD.
func label(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		upper := unicode.IsUpper(r)
		if i > 0 && upper && !unicode.IsUpper(runes[i-1]) && runes[i-1] != ' ' {
			b.WriteByte(' ')
		}
		single := i+1 == len(runes) || !unicode.IsUpper(runes[i+1])
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case upper && single && !unicode.IsUpper(runes[i-1]):
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
