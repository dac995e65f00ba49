package export

import (
	"unicode"
	"unicode/utf8"
)

// isPlain tells whether a text can stand in a cell as it is: most are numbers and words of ASCII, and are told here.
func isPlain(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if c := text[0]; c < '0' || '9' < c && c < 'A' || 'Z' < c && c < 'a' || c > 'z' {
		return false
	}
	for _, c := range text {
		if c <= ' ' || c > '~' || c == '"' || c == ',' || c == ';' {
			return false
		}
	}
	return true
}

// isFormula tells whether a spreadsheet could take the text for a formula or a command: by its first character, or the first
// behind quotes, space and what cannot be seen, which some programs skip.
func isFormula(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '=', r == '+', r == '-', r == '@', r == '\t', r == '\r', r == '\n', r == 0,
			r == '＝', r == '＋', r == '－', r == '＠': // what a full-width keyboard writes, which they read the same
			return true
		case r != '"' && r != '\'' && !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r):
			return false
		}
		i += size
	}
	return false
}

// isCut tells whether some spreadsheet begins a cell behind the character, also in the middle of one that is quoted.
func isCut(r rune) bool { return r == ';' || r == '\t' || r == '\n' || r == '\r' }

// isBidi tells whether a character turns the direction of writing, so that a text reads as another one (Unicode standard
// annex 9 section 2).
func isBidi(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || r == '\u200e' || r == '\u200f' || r == '\u061c'
}
