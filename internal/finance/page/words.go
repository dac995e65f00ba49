package page

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// words are how pages write text, money, time and states. A template has no other functions of ours; what needs more than a
// word is a method of the frame or of the page's data.
var words = template.FuncMap{
	"text": text, "money": money, "count": count, "moment": moment, "day": day, "within": within,
	"mood": mood, "spoken": spoken, "percent": percent, "plural": plural,
	"below": below, "pairs": pairs,
}

const (
	noBreak = "\u00a0" // keeps a number and its unit on one line
	minus   = "−"
)

// Limits of what text lets through. They keep a page small and its lines apart, and are far above what people are called.
const (
	maxText  = 300 // runes of one text
	maxMarks = 4   // combining marks on one letter; Vietnamese needs two, vocalised Hebrew three
)

// text makes what a stranger wrote harmless to look at: characters that turn the direction of the line, that are not seen or
// that control become U+FFFD, marks piled on a letter are cut, and so is what is too long, with its length told. Escaping is
// the template's; put <bdi> around it, so that a name in another script does not turn what stands beside it.
func text(v any) string {
	s := plain(v)
	var b strings.Builder
	runes, marks := 0, 0
	for _, r := range s {
		if runes == maxText {
			return b.String() + "… (" + count(utf8.RuneCountInString(s)) + " characters)"
		}
		switch {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
			if marks++; marks > maxMarks {
				continue
			}
		case r == '\n' || r == '\t' || r == '\r':
			r, marks = ' ', 0
		case hidden(r):
			r, marks = utf8.RuneError, 0
		default:
			marks = 0
		}
		b.WriteRune(r)
		runes++
	}
	return b.String()
}

// hidden tells characters that are not seen but change what is: controls, and formats but for the two joiners, which scripts
// of India and emojis need.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2028' || r == '\u2029')
}

// validText tells whether the database could hold a text: UTF-8 without NUL.
func validText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// plain writes a value as text, nothing for nil, a pointer's value for a pointer to text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *string:
		if v == nil {
			return ""
		}
		return *v
	case bool:
		if !v {
			return ""
		}
	}
	return fmt.Sprint(v)
}

// money writes an amount for people, with all decimals that it was kept with: "1,234.50 EUR". It takes a decimal, one that
// may be absent, ipn.Money, or text of decimal digits; "–" for an absent one.
func money(amount any, currency any) string {
	digits := ""
	switch v := amount.(type) {
	case decimal.Decimal:
		digits = ipn.Digits(v)
	case decimal.NullDecimal:
		if v.Valid {
			digits = ipn.Digits(v.Decimal)
		}
	case ipn.Money:
		digits = v.String()
	case string:
		digits = v
	case *string:
		digits = plain(v)
	}
	if digits == "" {
		return "–"
	}
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = minus, rest
	}
	whole, fraction, dotted := strings.Cut(digits, ".")
	written := sign + grouped(whole)
	if dotted {
		written += "." + fraction
	}
	if code := plain(currency); code != "" {
		written += noBreak + text(code)
	}
	return written
}

// count writes a whole number with its thousands apart.
func count(n any) string {
	written := fmt.Sprint(n)
	if rest, negative := strings.CutPrefix(written, "-"); negative {
		return minus + grouped(rest)
	}
	return grouped(written)
}

// grouped puts a comma between thousands.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural writes a number with its noun: "1 event", "2 events".
func plural(n any, one, many string) string {
	if written := count(n); written != "1" {
		return written + noBreak + many
	}
	return "1" + noBreak + one
}

// percent writes a share of 0 to 1 as "1.25 %"; "–" for an absent one.
func percent(share decimal.NullDecimal) string {
	if !share.Valid {
		return "–"
	}
	return share.Decimal.Shift(2).StringFixed(2) + noBreak + "%"
}

// moment writes a time to the minute, in UTC, with the exact one for machines; "–" for none.
func moment(t any) template.HTML { return timeTag(t, "2 Jan 2006, 15:04") }

// day writes a date of UTC; "–" for none.
func day(t any) template.HTML { return timeTag(t, "2 Jan 2006") }

// Moment writes a time to the minute for a list whose columns are narrow: without the year where it is this one.
func (f *frame) Moment(t any) template.HTML {
	if instant(t).Year() == f.Now.Year() {
		return timeTag(t, "2 Jan, 15:04")
	}
	return moment(t)
}

// timeTag holds nothing but digits and names of months, so it needs no escaping.
func timeTag(t any, layout string) template.HTML {
	at := instant(t)
	if at.IsZero() {
		return "–"
	}
	return template.HTML(`<time datetime="` + at.Format(time.RFC3339) + `">` + strings.ReplaceAll(at.Format(layout), " ", noBreak) + `</time>`)
}

// instant takes a time or a pointer to one; the zero time for none.
func instant(t any) time.Time {
	switch t := t.(type) {
	case time.Time:
		return t.UTC()
	case *time.Time:
		if t != nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// ago writes how long before now something was, or how far ahead it is, in the largest unit: "5 minutes ago", "in 3 days".
func ago(now time.Time, t any) string {
	at := instant(t)
	if at.IsZero() {
		return "never"
	}
	if now.Sub(at).Abs() < time.Second { // the clock of the database may be a little ahead
		return "just now"
	}
	if at.After(now) {
		return "in" + noBreak + within(at.Sub(now))
	}
	return within(now.Sub(at)) + noBreak + "ago"
}

// within writes a length of time in its largest unit, rounded down.
func within(d time.Duration) string {
	const dayLong = 24 * time.Hour
	for _, unit := range []struct {
		long      time.Duration
		one, many string
	}{{365 * dayLong, "year", "years"}, {30 * dayLong, "month", "months"}, {dayLong, "day", "days"}, {time.Hour, "hour", "hours"},
		{time.Minute, "minute", "minutes"}} {
		if d >= unit.long {
			return plural(int64(d/unit.long), unit.one, unit.many)
		}
	}
	return plural(max(0, int64(d/time.Second)), "second", "seconds")
}

// spoken makes a word of the code one for people: "past_due" is "past due", "SUBSCRIPTION_REMINDER" stays in capitals.
func spoken(v any) string { return text(strings.ReplaceAll(plain(v), "_", " ")) }

// moods are the colours beside a state: good, wait or bad; what is missing has none. The word stands beside the colour always:
// not everybody sees it.
var moods = map[string]string{
	// transactions, subscriptions, disputes
	"charged": "good", "won": "good", "active": "good", "trial": "good",
	"authorised": "wait", "in_review": "wait", "pending": "wait", "disputed": "bad", "open": "wait", "past_due": "bad", "cancel_at_period_end": "wait",
	"declined": "bad", "lost": "bad", "incomplete": "wait",
	// an event at a handler, a handler
	"done": "good", "waiting": "wait", "parked": "wait", "buried": "bad", "paused": "wait", "held": "bad", "running": "good", "no leader": "bad", "behind": "wait",
	// the configuration
	"in_sync": "good", "replaced": "good", "drift": "bad", "unconfirmed": "wait", "refused": "bad", "failed": "bad",
	// what vouched for a receipt
	"signature": "good", "auth_key": "good", "promoted": "good", "unsigned": "wait", "off": "wait",
	// a bank transfer
	"SUCCESS": "good", "PENDING": "wait", "FAIL": "bad",
}

func mood(state any) string { return moods[fmt.Sprint(state)] }

// number reads a positive whole number of an address; 0 for anything else.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}
