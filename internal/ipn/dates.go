package ipn

import (
	"fmt"
	"strings"
	"sync"
	"time"

	// The sender's dates name no zone, and what they mean must not hang on
	// whether the box has zone files: a minimal container has none. The table
	// costs 450 kB of program.
	_ "time/tzdata"
)

// Dates outside these years are no dates of a payment service.
const (
	firstYear = 1990
	lastYear  = 2200
)

// defaultZone is US Pacific with daylight saving time, in which the sender's
// dates are given.
var defaultZone = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // the table above holds it: a program without is built wrong
		panic(fmt.Sprintf("time zone of IPN dates: %v", err))
	}
	return zone
})

// parseDate reads the sender's "MM/DD/YYYY hh:mm AM/PM" as an instant in UTC,
// by the clocks of zone (nil: the default). Seconds after the minutes, a missing
// time of day (midnight) and small letters are accepted. Empty text is the zero
// time and no problem. Otherwise a problem code comes with
//
//   - the zero time for DateMalformed, DateOutOfRange and DateNonexistent, an
//     hour that clocks skip in spring;
//   - the earlier of two instants for DateAmbiguous, an hour that comes twice in
//     autumn. The text tells no more; the later one is an hour on.
func parseDate(text string, zone *time.Location) (time.Time, string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, ""
	}
	w, ok := readWallClock(text)
	switch {
	case !ok:
		return time.Time{}, DateMalformed
	case w.year < firstYear || w.year > lastYear:
		return time.Time{}, DateOutOfRange
	}
	if zone == nil {
		zone = defaultZone()
	}
	return w.in(zone)
}

// A wallClock is a date as clocks show it, before a zone makes it an instant.
type wallClock struct{ year, month, day, hour, minute, second int }

// readWallClock takes a text apart by position and checks each range.
func readWallClock(s string) (wallClock, bool) {
	const date = len("MM/DD/YYYY")
	if len(s) < date || s[2] != '/' || s[5] != '/' {
		return wallClock{}, false
	}
	w := wallClock{month: number(s[0:2]), day: number(s[3:5]), year: number(s[6:10])}
	if w.year < 0 || w.month < 1 || w.month > 12 || w.day < 1 || w.day > daysIn(w.year, w.month) {
		return wallClock{}, false
	}
	if len(s) == date {
		return w, true
	}
	if s[date] != ' ' {
		return wallClock{}, false
	}
	return w, w.readTime(s[date+1:])
}

// readTime reads "hh:mm AM" or "hh:mm:ss AM".
func (w *wallClock) readTime(s string) bool {
	switch len(s) {
	case len("hh:mm:ss AM"):
		if s[5] != ':' {
			return false
		}
		w.second = number(s[6:8])
	case len("hh:mm AM"):
	default:
		return false
	}
	half := s[len(s)-3:]
	hour := number(s[0:2])
	w.minute = number(s[3:5])
	if s[2] != ':' || half[0] != ' ' || half[2]|0x20 != 'm' ||
		hour < 1 || hour > 12 || w.minute < 0 || w.minute > 59 || w.second < 0 || w.second > 59 {
		return false
	}
	w.hour = hour % 12
	switch half[1] | 0x20 {
	case 'a':
		return true
	case 'p':
		w.hour += 12
		return true
	}
	return false
}

// number reads ASCII digits, -1 when there is anything else.
func number(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// in returns the instant at which clocks in zone show w.
func (w wallClock) in(zone *time.Location) (time.Time, string) {
	utc := time.Date(w.year, time.Month(w.month), w.day, w.hour, w.minute, w.second, 0, time.UTC)
	first, count := instants(utc, zone)
	switch count {
	case 0:
		return time.Time{}, DateNonexistent
	case 1:
		return first, ""
	}
	return first, DateAmbiguous
}

// instants returns how many moments, none, one or two, there are at which clocks
// in zone show what clocks in UTC show at wall, and the first of them. Any such
// moment is less than a day from wall, and no zone changes its clocks twice in
// two days: the offset is the one of a day before or of a day after.
func instants(wall time.Time, zone *time.Location) (first time.Time, count int) {
	const day = 24 * time.Hour
	before, after := offset(wall.Add(-day), zone), offset(wall.Add(day), zone)
	early, late := wall.Add(-before), wall.Add(-after)
	if offset(late, zone) == after {
		first, count = late, 1
	}
	if before != after && offset(early, zone) == before {
		first, count = early, count+1
	}
	return first, count
}

func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
