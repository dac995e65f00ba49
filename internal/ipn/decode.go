package ipn

import (
	"strings"
	"time"
)

// Decoder turns bodies into events. The zero value is ready; a Decoder is safe for use by several goroutines.
type Decoder struct {
	Zone      *time.Location // of the sender's dates; nil: America/Los_Angeles
	MaxFields int            // pairs read of one body; 0: 1000
}

// Decode tells what a body means. It never fails: what cannot be understood is an event of unknown type, with
// problems. It neither keeps nor alters the body. contentType is the header's value and decides the charset.
func (d *Decoder) Decode(body []byte, contentType string) *Event {
	e := &Event{zone: d.Zone}
	fields, problems := scanForm(body, contentType, min(d.MaxFields, maxIndexed), nil)
	e.Fields = fields
	r := reader{Event: e, problems: problems}
	if !isForm(contentType) {
		r.problems.add("", NotAForm, "")
	}
	r.readFields()
	r.readType()
	r.readFacts()
	e.Problems = r.problems
	return e
}

// isForm tells whether a content type is the one of specification section 6. A missing one passes: the sender is not
// documented to send any.
func isForm(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.TrimSpace(mediaType)
	return mediaType == "" || strings.EqualFold(mediaType, "application/x-www-form-urlencoded")
}

// reader is an event in the making.
type reader struct {
	*Event
	problems problemList
}

// readFields finds the standard fields, checks the grammar of their values and fills the index. A blank value is as
// good as none. Of indexed names the index tells no more than that one was sent.
func (r *reader) readFields() {
	named := false
	for i := range r.Fields {
		f := &r.Fields[i]
		named = named || f.Name != ""
		id := lookupName(f.Name)
		if id == 0 {
			r.checkNearMiss(f.Name)
			continue
		}
		if f.Value == "" {
			continue
		}
		value := strings.TrimSpace(f.Value)
		if value == "" {
			continue
		}
		row := &nameTable[id]
		if row.kind != kindText {
			if code, detail := row.kind.check(value); code != "" {
				r.problems.add(f.Name, code, detail)
			}
		}
		r.enter(id, i, value)
	}
	if !named {
		r.problems.add("", NoFields, "")
	}
}

// enter notes where a standard field stands. The first value counts; a critical field told again with another value
// has none.
func (r *reader) enter(id nameID, at int, value string) {
	if r.index.first[id] == 0 {
		r.index.first[id] = uint16(at + 1)
		return
	}
	first := r.Fields[r.index.first[id]-1].Value
	if nameTable[id].critical && strings.TrimSpace(first) != value {
		r.index.contradict(id)
		r.problems.add(nameTable[id].name, CriticalRepeated, "")
	}
}

// checkNearMiss flags a name that is a standard one but for space around it: it is not taken for the standard one,
// because two readers that trim differently would read two events (S-46).
func (r *reader) checkNearMiss(name string) {
	if trimmed := strings.TrimSpace(name); len(trimmed) != len(name) {
		if id := lookupName(trimmed); id != 0 {
			r.problems.add(nameTable[id].name, MisspelledName, "")
		}
	}
}

func (r *reader) readType() {
	name := r.value(idTransactionType)
	r.Facts.TransactionType = r.text(idTransactionType)
	row := findType(name)
	switch {
	case row != nil:
		r.Type = *row
		r.Facts.TransactionType = row.Name
	case name != "":
		r.problems.add("transactionType", UnknownType, "")
	case r.index.first[idTransactionType] == 0:
		r.problems.add("transactionType", TransactionTypeGap, "")
	}
	if r.Type.key == nil {
		return
	}
	if key, _ := r.Type.key.choose(r.Event); key == nil {
		r.problems.add("", ReferenceMissing, "")
	}
}

// check returns the problem code, and a detail where the code's sentence is not precise, for a trimmed and non-empty
// value that breaks its kind's grammar.
func (k kind) check(value string) (code, detail string) {
	switch k {
	case kindAmount:
		_, code = readAmount(value)
		return code, ""
	case kindDate:
		return checkDate(value), ""
	case kindFlag:
		if _, ok := readFlag(value); !ok {
			return FlagInvalid, ""
		}
	case kindExpiry:
		if !isExpiry(value) {
			return DateMalformed, "the form of a card's expiry is MM/YYYY"
		}
	case kindCount:
		if _, ok := readCount(value); !ok {
			return NumberInvalid, ""
		}
	case kindCurrency:
		if _, known := scaleOf(value); !known {
			return CurrencyInvalid, ""
		}
	case kindCountry:
		if len(value) != 2 || !isLetter(value[0]) || !isLetter(value[1]) {
			return CountryInvalid, ""
		}
	}
	return "", ""
}

// checkDate checks the grammar alone: which instant a date is depends on the zone and matters for one date only.
func checkDate(value string) string {
	w, ok := readWallClock(value)
	switch {
	case !ok:
		return DateMalformed
	case w.year < firstYear || w.year > lastYear:
		return DateOutOfRange
	}
	return ""
}

// readFlag reads Y and N, and the Yes and No of some types, in any letter case.
func readFlag(value string) (set, ok bool) {
	switch {
	case strings.EqualFold(value, "Y"), strings.EqualFold(value, "Yes"):
		return true, true
	case strings.EqualFold(value, "N"), strings.EqualFold(value, "No"):
		return false, true
	}
	return false, false
}

// readCount reads a whole number of at most nine digits, which may have a minus.
func readCount(value string) (count int, ok bool) {
	digits, negative := strings.CutPrefix(value, "-")
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	if count = number(digits); count < 0 {
		return 0, false
	}
	if negative {
		count = -count
	}
	return count, true
}

// isExpiry tells whether a text is a card's expiry, M/YYYY or MM/YYYY.
func isExpiry(value string) bool {
	month, year, found := strings.Cut(value, "/")
	if !found || len(month) < 1 || len(month) > 2 || len(year) != 4 {
		return false
	}
	m := number(month)
	return m >= 1 && m <= 12 && number(year) >= 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
