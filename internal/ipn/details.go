package ipn

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Details are an event's fields as the Go struct of its family: *Payment, *Subscription, *Refund, *Dispute, *Account,
// *OfflineOrder, *Payout, *Vendor, *Partner or *Unknown. The structs are tagged with the sender's field names. Texts
// stand as they were sent, with surrounding space; a value that breaks its field's grammar is among the left-over
// fields.
type Details interface{ family() Family }

// Leftover are the non-empty fields that have no place in the struct, in order of arrival: the merchant's own ones,
// those unusual for the type, repeats, and malformed values.
type Leftover struct {
	Other Fields `json:"other,omitempty"`
}

// Unknown holds the fields of an event whose type is not known.
type Unknown struct {
	Leftover
}

func (*Unknown) family() Family { return FamilyUnknown }

func newUnknown(v *view) Details { return &Unknown{Leftover: v.leftover()} }

// Date is a date as sent and the instant it names. The text stays because an hour of autumn comes twice and because
// the zone is a setting that may turn out wrong.
type Date struct {
	Text string    `json:"text"`
	Time time.Time `json:"time,omitzero"` // UTC; zero when the text is no date
}

// IsZero tells whether there was no date at all.
func (d Date) IsZero() bool { return d.Text == "" }

// view reads an event's fields by name and remembers which it has read. Fields are assigned by constructors that name
// each one, never by reflection over what a stranger sent (S-47).
type view struct {
	event *Event
	read  []bool // by position in the fields
	items map[itemKey]int
}

// itemKey is an indexed name: promoteContractId2 is row promoteContractId, index 2.
type itemKey struct {
	id    nameID
	index int
}

func newView(e *Event) *view { return &view{event: e, read: make([]bool, len(e.Fields))} }

// text returns a standard field's first value as sent, "" when there is none.
func (v *view) text(name string) string { return v.take(v.event.index.at(plainNames.find(name))) }

func (v *view) money(name string) Money { return v.amountAt(v.event.index.at(plainNames.find(name))) }

// flag returns nil when the field is absent or neither Y nor N.
func (v *view) flag(name string) *bool {
	at := v.event.index.at(plainNames.find(name))
	set, ok := readFlag(strings.TrimSpace(v.peek(at)))
	if !ok {
		return nil
	}
	v.take(at)
	return &set
}

// count returns nil when the field is absent or no whole number.
func (v *view) count(name string) *int { return v.countAt(v.event.index.at(plainNames.find(name))) }

func (v *view) date(name string) Date {
	text := v.text(name)
	at, _ := parseDate(text, v.event.zone) // a problem of the date is told once, by the decoder
	return Date{Text: text, Time: at}
}

func (v *view) itemText(name string, index int) string { return v.take(v.item(name, index)) }

func (v *view) itemMoney(name string, index int) Money { return v.amountAt(v.item(name, index)) }

func (v *view) itemCount(name string, index int) *int { return v.countAt(v.item(name, index)) }

func (v *view) peek(at int) string {
	if at < 0 {
		return ""
	}
	return v.event.Fields[at].Value
}

func (v *view) take(at int) string {
	if at >= 0 {
		v.read[at] = true
	}
	return v.peek(at)
}

func (v *view) amountAt(at int) Money {
	money, err := ParseMoney(v.peek(at))
	if err != nil {
		return Money{}
	}
	v.take(at)
	return money
}

func (v *view) countAt(at int) *int {
	count, ok := readCount(strings.TrimSpace(v.peek(at)))
	if !ok {
		return nil
	}
	v.take(at)
	return &count
}

// item returns the position of an indexed name's first value, or -1.
func (v *view) item(name string, index int) int {
	at, found := v.findItems()[itemKey{indexedNames.find(name), index}]
	if !found {
		return -1
	}
	return at
}

// indices returns the indices under which any of the names was sent, ascending.
func (v *view) indices(names ...string) []int {
	found := make(map[int]bool)
	for key := range v.findItems() {
		if slices.ContainsFunc(names, func(name string) bool { return indexedNames.find(name) == key.id }) {
			found[key.index] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (v *view) findItems() map[itemKey]int {
	if v.items != nil {
		return v.items
	}
	v.items = make(map[itemKey]int)
	for at, f := range v.event.Fields {
		base, digits := cutIndex(f.Name)
		index, ok := readCount(digits)
		id := indexedNames.find(base)
		if !ok || id == 0 || strings.TrimSpace(f.Value) == "" {
			continue
		}
		if _, repeated := v.items[itemKey{id, index}]; !repeated {
			v.items[itemKey{id, index}] = at
		}
	}
	return v.items
}

// leftover returns what no call has read so far, so a constructor calls it last.
func (v *view) leftover() Leftover {
	var rest Fields
	for at, f := range v.event.Fields {
		if f.Value != "" && !v.read[at] {
			rest = append(rest, f)
		}
	}
	return Leftover{Other: rest}
}
