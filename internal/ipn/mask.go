package ipn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	veiled = "***"  // in place of what is known to be a person's
	dots   = "••••" // in place of the digits of a card

	longestCard = 19 // digits of a card's number, at most (ISO/IEC 7812)
)

// Masked returns the event as people see it who may not know whose it is: the same fields in the same order, each with as
// much of its value as its class allows, and details that are made of those. Empty values stay empty. The facts are the
// same: they hold no names.
func (e *Event) Masked() *Event {
	masked := *e
	masked.Fields = e.Fields.Masked()
	return &masked
}

// Masked returns the fields with as much of each value as its class allows. A name that is none of the standard ones is
// shown where it is plainly a name; a badly encoded body may hold a person's own words in its place.
func (f Fields) Masked() Fields {
	masked := make(Fields, len(f))
	for i := range f {
		id := lookupName(f[i].Name)
		masked[i] = f[i]
		if id == 0 && !showableName(f[i]) {
			masked[i].Name = veiled
		}
		if value := strings.TrimSpace(f[i].Value); value != "" {
			masked[i].Value = nameTable[id].class.veil(value)
		}
	}
	return masked
}

// showableName tells whether a field of no standard name may show the name it has. A pair without a value may be the rest
// of somebody's text that an ampersand cut in two.
func showableName(f Field) bool {
	return f.Value != "" && isPlainName(f.Name) && veilCards(f.Name) == f.Name
}

// veilName leaves the first letter of each of the first four words of a name.
func veilName(value string) string {
	const most = 4
	words := strings.Fields(value)
	words = words[:min(most, len(words))]
	for i, word := range words {
		words[i] = firstLetter(word) + veiled
	}
	return strings.Join(words, " ")
}

// firstLetter returns the first character of a text if that is a letter or a digit, else "".
func firstLetter(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if first == utf8.RuneError || !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return ""
	}
	return text[:size]
}

// veilEmail leaves the first letters of user and domain, and a top-level domain as short as they mostly are.
func veilEmail(value string) string {
	const longest = 6
	at := strings.LastIndexByte(value, '@')
	if at < 0 {
		return veiled
	}
	masked := firstLetter(value[:at]) + veiled + "@" + firstLetter(value[at+1:]) + veiled
	dot := strings.LastIndexByte(value, '.')
	if dot < at {
		return masked
	}
	top := value[dot+1:]
	if len(top) < 2 || len(top) > longest || strings.ContainsFunc(top, func(r rune) bool { return r > 127 || !isLetter(byte(r)) }) {
		return masked
	}
	return masked + "." + top
}

// veilLastFour leaves the last four digits of what is nothing but digits and what stands for some, and the rest never:
// where more of a card number was sent, it is not shown.
func veilLastFour(value string) string {
	var digits []byte
	for _, r := range value {
		switch {
		case '0' <= r && r <= '9':
			digits = append(digits, byte(r))
		case !strings.ContainsRune("xX*•- ", r):
			return dots
		}
	}
	if len(digits) < 4 {
		return dots
	}
	return dots + " " + string(digits[len(digits)-4:])
}

// veilCheck hides three or four digits, which are a card's security code where a flag or a letter belongs.
func veilCheck(value string) string {
	if (len(value) == 3 || len(value) == 4) && number(value) >= 0 {
		return hidden
	}
	return veilCards(value)
}

// veilCards replaces card numbers in a text by their last four digits: 13 to 19 digits, perhaps in groups, that begin as
// cards do and end in the right check digit.
func veilCards(value string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(value); {
		if _, size := digitAt(value, at); size == 0 {
			at++
			continue
		}
		end, digits := cardAt(value, at)
		if digits == nil {
			at, _ = endOfDigits(value, at, nil)
			continue
		}
		b.WriteString(value[done:at] + dots + " " + string(digits[len(digits)-4:]))
		at, done = end, end
	}
	if done == 0 {
		return value
	}
	b.WriteString(value[done:])
	return b.String()
}

// cardAt returns the longest card number that begins with the group of digits at at, and where it ends; nil when none does.
// It begins and ends with whole groups: a house number before it is none of it.
func cardAt(value string, at int) (end int, card []byte) {
	var digits []byte
	for group := at; ; {
		stop, more := endOfDigits(value, group, digits)
		if digits = more; len(digits) > longestCard {
			return end, card
		}
		if isCard(digits) {
			end, card = stop, slices.Clone(digits)
		}
		group = endOfGap(value, stop)
		if _, size := digitAt(value, group); size == 0 {
			return end, card
		}
	}
}

// endOfDigits returns where the digits at at end, and appends them to digits.
func endOfDigits(value string, at int, digits []byte) (end int, more []byte) {
	for {
		digit, size := digitAt(value, at)
		if size == 0 {
			return at, digits
		}
		digits = append(digits, digit)
		at += size
	}
}

// endOfGap returns where the next group of a card's number may begin: behind a few spaces, dashes, dots and the like.
func endOfGap(value string, at int) int {
	const widest = 4 // characters
	for range widest {
		r, size := utf8.DecodeRuneInString(value[at:])
		if !unicode.IsSpace(r) && !strings.ContainsRune("-_.\u00b7\u2010\u2011\u2012\u2013", r) {
			break
		}
		at += size
	}
	return at
}

// digitAt returns the digit at at, which may be one of full width, and its length in bytes; 0 when there is none.
func digitAt(value string, at int) (digit byte, size int) {
	const wide = "\uff10" // of full width; the nine others follow it
	switch {
	case at < len(value) && isDigit(value[at]):
		return value[at], 1
	case at+len(wide) <= len(value) && value[at:at+2] == wide[:2] && value[at+2] >= wide[2] && value[at+2] <= wide[2]+9:
		return '0' + value[at+2] - wide[2], len(wide)
	}
	return 0, 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isCard tells whether digits are a payment card's number: of its length, of an issuer's range (ISO/IEC 7812: 2221 to 2720,
// and 3 to 6), and with its check digit.
func isCard(digits []byte) bool {
	if len(digits) < 13 || len(digits) > longestCard {
		return false
	}
	issuer := number(string(digits[:4]))
	if issuer < 2221 || issuer > 2720 && issuer < 3000 || issuer >= 7000 {
		return false
	}
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
