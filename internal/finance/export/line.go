package export

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Format is how rows are written.
type Format string

// The formats.
const (
	CSV   Format = "csv"   // RFC 4180, with a row of names
	JSONL Format = "jsonl" // an object on each line
)

// lines writes rows into one buffer, cell by cell. A cell is told with its name: the same calls write the row of names, a row
// of CSV and an object. What is absent is an empty cell, and no member of the object.
type lines struct {
	buffer []byte
	format Format
	names  bool // write the names in place of the values
	begun  bool // the row has a cell already
	rows   int64
}

// end ends the row.
func (l *lines) end() {
	l.begun = false
	l.rows++
	if l.format == CSV {
		l.buffer = append(l.buffer, '\r', '\n')
		return
	}
	l.buffer = append(l.buffer, '}', '\n')
}

// cell begins a cell and tells whether its value is wanted.
func (l *lines) cell(name string, absent bool) bool {
	if l.format == CSV {
		if l.begun {
			l.buffer = append(l.buffer, ',')
		}
		l.begun = true
		if l.names {
			l.buffer = append(l.buffer, name...)
			return false
		}
		return !absent
	}
	if absent {
		return false
	}
	opening := byte(',')
	if !l.begun {
		opening, l.begun = '{', true
	}
	l.buffer = append(append(append(l.buffer, opening, '"'), name...), '"', ':')
	return true
}

// text writes what a stranger may have typed.
func (l *lines) text(name string, value []byte) {
	if !l.cell(name, len(value) == 0) {
		return
	}
	if l.format == CSV {
		l.buffer = appendCell(l.buffer, value)
		return
	}
	l.buffer = appendString(l.buffer, value)
}

// word writes a text that is told even where it is empty.
func (l *lines) word(name string, value []byte) {
	if len(value) > 0 || l.format == CSV {
		l.text(name, value)
	} else if l.cell(name, false) {
		l.buffer = append(l.buffer, '"', '"')
	}
}

// amount writes the plain decimal of a column that holds nothing else: a number in CSV, a string in JSON. negative puts a
// minus before a magnitude.
func (l *lines) amount(name string, decimal []byte, negative bool) {
	if !l.cell(name, len(decimal) == 0) {
		return
	}
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
	if negative && !isZero(decimal) {
		l.buffer = append(l.buffer, '-')
	}
	l.buffer = append(l.buffer, decimal...)
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
}

// isZero tells whether a plain decimal has no digit but 0.
func isZero(decimal []byte) bool {
	for _, c := range decimal {
		if '1' <= c && c <= '9' {
			return false
		}
	}
	return true
}

func (l *lines) integer(name string, value int64) {
	if l.cell(name, false) {
		l.buffer = strconv.AppendInt(l.buffer, value, 10)
	}
}

func (l *lines) flag(name string, value bool) {
	if l.cell(name, false) {
		l.buffer = strconv.AppendBool(l.buffer, value)
	}
}

func (l *lines) instant(name string, at time.Time) {
	if !l.cell(name, at.IsZero()) {
		return
	}
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
	l.buffer = at.AppendFormat(l.buffer, time.RFC3339Nano)
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
}

func (l *lines) hash(name string, sum []byte) {
	if !l.cell(name, false) {
		return
	}
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
	l.buffer = hex.AppendEncode(l.buffer, sum)
	if l.format == JSONL {
		l.buffer = append(l.buffer, '"')
	}
}

// deposits writes the amounts of a payout: in CSV, where a number has one currency and one cell, as the text
// "500.00 EUR; 20.00 USD". They are rare, so this may take its time.
func (l *lines) deposits(name string, list []byte) {
	if !l.cell(name, len(list) == 0) {
		return
	}
	if l.format == JSONL {
		l.buffer = append(l.buffer, list...)
		return
	}
	var deposits []ipn.Deposit
	if json.Unmarshal(list, &deposits) != nil { // the record writes them by the same type
		l.buffer = appendCell(l.buffer, list)
		return
	}
	var text []byte
	for i, d := range deposits {
		if i > 0 {
			text = append(text, "; "...)
		}
		text = append(text, d.Amount.String()...)
		if d.Currency != "" {
			text = append(append(text, ' '), d.Currency...)
		}
	}
	l.buffer = appendCell(l.buffer, text)
}

// appendString writes valid UTF-8 as a JSON string.
func appendString(to, text []byte) []byte {
	to = append(to, '"')
	begin := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[begin:i]...)
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		default:
			to = append(to, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		begin = i + 1
	}
	return append(append(to, text[begin:]...), '"')
}

const hexDigits = "0123456789abcdef"

// appendCell writes a text as a cell of CSV: without the characters that turn the direction of writing, with an apostrophe
// before what a spreadsheet would take for a formula, and quoted where RFC 4180 section 2.6 asks for it. Where a list is
// written with semicolons, spreadsheets cut a line at them, quoted or not, so what stands behind one is guarded too.
func appendCell(to, text []byte) []byte {
	if isPlain(text) {
		return append(to, text...)
	}
	start := len(to)
	to = append(to, '"')
	if isFormula(text) {
		to = append(to, '\'')
	}
	quote := text[0] == ' ' || text[len(text)-1] == ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case isBidi(r):
		case r == '"':
			to, quote = append(to, '"', '"'), true
		default:
			quote = quote || r == ',' || r == '\r' || r == '\n'
			to = append(to, text[i:i+size]...)
			if rest := text[i+size:]; isCut(r) && len(rest) > 0 && !isCut(rune(rest[0])) && isFormula(rest) {
				to = append(to, '\'')
			}
		}
		i += size
	}
	if quote {
		return append(to, '"')
	}
	return append(to[:start], to[start+1:]...)
}
