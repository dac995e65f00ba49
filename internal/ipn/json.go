package ipn

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string that jsonb accepts: NUL and bytes that
// are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[done:i]...), "\uFFFD"...)
				done = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = appendEscape(append(dst, s[done:i]...), c)
			done = i + 1
		}
		i++
	}
	return append(append(dst, s[done:]...), '"')
}

// appendEscape appends the JSON escape of a quote, a backslash or a control.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case 0:
		return append(dst, "\uFFFD"...)
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// storable tells whether Postgres text takes s as it is.
func storable(s string) bool {
	return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// makeStorable puts U+FFFD in the place of each NUL and each run of bytes that
// are not UTF-8.
func makeStorable(s string) string {
	if storable(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// withStorableNames returns the fields themselves when every name can be
// stored, else a copy whose names can. It comes before names are compared, so
// that two names which differ in their unstorable part share one key and
// neither value is lost.
func withStorableNames(f Fields) Fields {
	unstorable := func(field Field) bool { return !storable(field.Name) }
	if !slices.ContainsFunc(f, unstorable) {
		return f
	}
	f = slices.Clone(f)
	for i := range f {
		f[i].Name = makeStorable(f[i].Name)
	}
	return f
}
