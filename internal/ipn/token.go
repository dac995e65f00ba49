package ipn

// marks are what the decoding of a name or value came across.
type marks uint16

const (
	badEscape marks = 1 << iota
	semicolon
	nul
	foreign // a byte whose meaning depends on the charset
	percent // an escaped percent sign
	guessed
	undecodable
	twice
	noName
	noEquals
)

// markTable gives the marks that are problems their codes.
var markTable = []struct {
	mark marks
	code string
}{
	{noName, EmptyName},
	{noEquals, NoEqualsSign},
	{badEscape, BadEscape},
	{semicolon, SemicolonKept},
	{nul, NULByte},
	{guessed, CharsetGuess},
	{undecodable, CharsetInvalid},
	{twice, DoubleEncoded},
}

// markOf is the mark of a decoded byte. Escape switches the alphabet in
// ISO-2022-JP.
var markOf = func() (table [256]marks) {
	table[0], table[0x1B], table['%'] = nul, foreign, percent
	for c := 0x80; c < len(table); c++ {
		table[c] = foreign
	}
	return table
}()

// plain are the bytes that stand for themselves and call for no thought.
var plain = func() (table [256]bool) {
	for c := range table {
		table[c] = markOf[c] == 0 && c != '+' && c != ';'
	}
	return table
}()

// The same without the bytes that end a name or a value.
var (
	plainInName  = without(plain, "=&")
	plainInValue = without(plain, "&")
)

func without(set [256]bool, members string) [256]bool {
	for i := 0; i < len(members); i++ {
		set[members[i]] = false
	}
	return set
}

// token decodes a name or value and brings it into UTF-8.
func (s *formScanner) token(raw string) (string, marks) {
	text, seen := s.unescape(raw)
	if seen&foreign == 0 {
		return text, seen
	}
	text, code := s.charset.text(text)
	switch code {
	case CharsetGuess:
		seen |= guessed
	case CharsetInvalid:
		seen |= undecodable
	}
	return text, seen
}

// unescape undoes the percent encoding into the buffer, in runs of plain bytes.
// Decoding never lengthens, so the buffer never moves and the text stays valid.
func (s *formScanner) unescape(raw string) (string, marks) {
	var seen marks
	start := s.buf.Len()
	for {
		if run := plainPrefix(raw); run > 0 {
			s.buf.WriteString(raw[:run])
			raw = raw[run:]
		}
		if len(raw) == 0 {
			return s.buf.String()[start:], seen
		}
		c, size, mark := decodeByte(raw)
		seen |= mark
		s.buf.WriteByte(c)
		raw = raw[size:]
	}
}

// plainPrefix is how many plain bytes s begins with.
func plainPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return i
		}
	}
	return len(s)
}

// decodeByte decodes the byte at the start of raw that is not plain. A percent
// sign without its two digits stands for itself.
func decodeByte(raw string) (c byte, size int, seen marks) {
	switch c = raw[0]; c {
	case '+':
		return ' ', 1, 0
	case ';':
		return c, 1, semicolon
	case '%':
		if len(raw) < 3 || unhex[raw[1]] < 0 || unhex[raw[2]] < 0 {
			return c, 1, badEscape
		}
		c = byte(unhex[raw[1]])<<4 | byte(unhex[raw[2]])
		return c, 3, markOf[c]
	}
	return c, 1, markOf[c]
}

// unhex is the value of a hexadecimal digit, -1 for other bytes.
var unhex = func() (table [256]int8) {
	for c := range table {
		table[c] = -1
	}
	for i := range 16 {
		table["0123456789abcdef"[i]], table["0123456789ABCDEF"[i]] = int8(i), int8(i)
	}
	return table
}()

// looksEncoded tells whether a decoded value with a percent sign is still what
// an encoder writes: its alphabet and nothing else, no bad escape. A URL with an
// escape of its own is not meant: its ':' and '/' would be encoded.
func looksEncoded(value string) bool {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '%':
			if len(value)-i < 3 || unhex[value[i+1]] < 0 || unhex[value[i+2]] < 0 {
				return false
			}
			i += 2
		case c != '+' && !unreserved[c]:
			return false
		}
	}
	return true
}
