package ipn

import (
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// A charset turns the decoded bytes of a name or value into UTF-8. The zero
// value is UTF-8 itself, with Windows-1252 as the guess for what is not UTF-8:
// that superset of ISO-8859-1 is what Western systems send by accident, and it
// gives every byte a character, so nothing is lost.
type charset struct{ declared encoding.Encoding }

// carriesNoForm are the encodings that browsers know but never send a form in.
var carriesNoForm = map[string]bool{"utf-16be": true, "utf-16le": true, "replacement": true}

// charsetOf reads the charset parameter of a content type by the labels of the
// WHATWG Encoding Standard ("latin1" and "iso-8859-1" mean Windows-1252). ok is
// false when there is one that cannot be used. A form field named _charset_
// plays no part: what shoppers type decides nothing here.
func charsetOf(contentType string) (c charset, ok bool) {
	label := charsetLabel(contentType)
	if label == "" || strings.EqualFold(label, "utf-8") {
		return charset{}, true
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return charset{}, false
	}
	name, err := htmlindex.Name(enc)
	if err != nil || carriesNoForm[name] {
		return charset{}, false
	}
	if name == "utf-8" {
		return charset{}, true
	}
	return charset{declared: enc}, true
}

// charsetLabel finds the parameter; in a header that does not parse it is
// looked for by hand. The usual header has none and costs no allocation.
func charsetLabel(contentType string) string {
	at := indexFold(contentType, "charset=")
	if at < 0 {
		return ""
	}
	rest := contentType[at+len("charset="):]
	if trimLabel(rest) == "utf-8" || trimLabel(rest) == "UTF-8" {
		return "utf-8"
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return strings.TrimSpace(params["charset"])
	}
	rest, _, _ = strings.Cut(rest, ";")
	return trimLabel(rest)
}

func trimLabel(s string) string { return strings.Trim(s, " \t\"'") }

// indexFold is strings.Index without the case of ASCII letters.
func indexFold(s, lower string) int {
	for i := 0; i+len(lower) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

// text returns s as valid UTF-8, with the problem code if that took a guess.
func (c charset) text(s string) (text, code string) {
	if c.declared == nil {
		if utf8.ValidString(s) {
			return s, ""
		}
		return windows1252(s), CharsetGuess
	}
	text, err := c.declared.NewDecoder().String(s)
	switch {
	case err != nil:
		return windows1252(s), CharsetGuess
	case strings.ContainsRune(text, utf8.RuneError):
		return text, CharsetInvalid
	}
	return text, ""
}

// windows1252 reads every byte as one character. The five bytes that
// Windows-1252 leaves open become the C1 controls of the same number.
func windows1252(s string) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i := 0; i < len(s); i++ {
		r := charmap.Windows1252.DecodeByte(s[i])
		if r == utf8.RuneError {
			r = rune(s[i])
		}
		b.WriteRune(r)
	}
	return b.String()
}
