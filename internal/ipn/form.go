package ipn

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// defaultMaxFields is the limit of a zero setting. A genuine body has some 120
// fields, a few hundred with promoted products and the merchant's own fields.
const defaultMaxFields = 1000

// scanForm reads a URL-encoded body in one pass over its bytes and appends its
// pairs to dst. It never fails: whatever is not well formed is kept as text and
// named in a problem, because the specification promises no more than "name=value
// pairs separated by &" and an authentic body must not be lost for its spelling.
//
// Unlike net/url it keeps order, repeats and pairs with a semicolon or a bad
// escape. Everything is decoded exactly once. Past maxFields pairs (at most 0:
// the default) it stops. Neither body nor contentType is kept or altered: all
// texts lie in one buffer, which holds a copy of the body, so that what stands
// for itself is a slice of it, and behind the copy the texts that had to be decoded.
func scanForm(body []byte, contentType string, maxFields int, dst Fields) (Fields, []Problem) {
	if maxFields <= 0 {
		maxFields = defaultMaxFields
	}
	var s formScanner
	var ok bool
	if s.charset, ok = charsetOf(contentType); !ok {
		s.problems.add("", CharsetUnknown, "")
	}
	body = s.trimByteOrderMark(body)
	s.buf.Grow(2 * len(body))
	s.buf.Write(body)
	dst = slices.Grow(dst, min(maxFields, 1+bytes.Count(body, []byte{'&'})))
	return s.scan(s.buf.String(), maxFields, dst), s.problems
}

// A formScanner is the state of one scan.
type formScanner struct {
	charset  charset
	buf      strings.Builder // grown once; names and values are slices of it
	problems problemList
}

// trimByteOrderMark drops a UTF-8 byte order mark, encoded or not.
func (s *formScanner) trimByteOrderMark(body []byte) []byte {
	for _, mark := range []string{"\xEF\xBB\xBF", "%EF%BB%BF"} {
		if len(body) >= len(mark) && strings.EqualFold(string(body[:len(mark)]), mark) {
			s.problems.add("", ByteOrderMark, "")
			return body[len(mark):]
		}
	}
	return body
}

// scan cuts the body at each '&'. Empty pieces, as a trailing '&' leaves them,
// are nothing and not counted.
func (s *formScanner) scan(body string, maxFields int, dst Fields) Fields {
	count := 0
	for first := true; body != ""; first = false {
		field, length, isPlain := plainPair(body)
		if isPlain && count < maxFields {
			dst = append(dst, field)
			count++
			body = body[min(length+1, len(body)):]
			continue
		}
		var pair string
		pair, body, _ = cutByte(body, '&')
		if !first && strings.HasPrefix(pair, "amp;") {
			pair = pair[len("amp;"):]
			s.problems.add("", AmpersandEntity, "")
		}
		if pair == "" {
			continue
		}
		if count++; count > maxFields {
			s.problems.add("", TooManyFields, "stopped after "+strconv.Itoa(maxFields))
			break
		}
		dst = append(dst, s.field(pair, count))
	}
	return dst
}

// plainPair reads the pair at the start of body if its bytes stand for
// themselves, which those of nine pairs in ten do: neither cutting nor decoding
// needs a second look at them. It returns the pair's length.
func plainPair(body string) (f Field, length int, ok bool) {
	name := 0
	for name < len(body) && plainInName[body[name]] {
		name++
	}
	if name == 0 || name == len(body) || body[name] != '=' {
		return Field{}, 0, false
	}
	end := name + 1
	for end < len(body) && plainInValue[body[end]] {
		end++
	}
	if end < len(body) && body[end] != '&' {
		return Field{}, 0, false
	}
	return Field{Name: body[:name], Value: body[name+1 : end]}, end, true
}

// field decodes one pair, the number-th of the body. Only the first '=' counts.
func (s *formScanner) field(pair string, number int) Field {
	rawName, rawValue, hasEquals := cutByte(pair, '=')
	name, nameMarks := s.token(rawName)
	value, valueMarks := s.token(rawValue)
	if valueMarks&percent != 0 && looksEncoded(value) {
		valueMarks |= twice
	}
	seen := nameMarks | valueMarks
	if name == "" {
		seen |= noName
	}
	if !hasEquals {
		seen |= noEquals
	}
	if seen&^(percent|foreign) != 0 {
		s.report(name, number, seen)
	}
	return Field{Name: name, Value: value}
}

// report names what a pair showed, in the order of the table.
func (s *formScanner) report(name string, number int, seen marks) {
	label := name
	if !isPlainName(name) || seen&noEquals != 0 {
		label = "#" + strconv.Itoa(number)
	}
	for _, row := range markTable {
		if seen&row.mark != 0 {
			s.problems.add(label, row.code, "")
		}
	}
}

// isPlainName tells whether a name is a name and nothing else. A pair cut out
// of a badly encoded body can hold a shopper's own words in its place; those
// must not reach a problem's Field.
func isPlainName(name string) bool {
	const most = 64
	for i := 0; i < len(name); i++ {
		if !nameBytes[name[i]] {
			return false
		}
	}
	return name != "" && len(name) <= most
}

var nameBytes = byteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]{}")

// cutByte is strings.Cut for one byte, in half its time.
func cutByte(s string, sep byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
