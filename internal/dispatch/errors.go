package dispatch

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// longestAfter bounds the wait that a handler may ask for: a target that says "in a year" is asked again tomorrow.
const longestAfter = 24 * time.Hour

// longestText bounds the error text that is stored with an attempt, in bytes.
const longestText = 500

// After wraps err and asks for the next attempt in d instead of by the schedule: at once when d is not positive, in 24
// hours when it is longer. The attempt counts like any other.
func After(d time.Duration, err error) error {
	return &wish{cause: err, kind: wishAfter, wait: min(max(d, 0), longestAfter)}
}

// Permanent wraps err and says that trying again cannot help: the event is buried at once. It says nothing against the
// target, so the circuit breaker does not count it.
func Permanent(err error) error { return &wish{cause: err, kind: wishPermanent} }

// Halt wraps err and says that no event can be handled until a person has acted, such as when the target is gone for
// good. The handler pauses itself with the text of err as the reason; the event is given back without an attempt spent.
func Halt(err error) error { return &wish{cause: err, kind: wishHalt} }

// wish is an error with a meaning for the dispatcher. The outermost one of a chain counts.
type wish struct {
	cause error // nil is told as "no reason given"
	kind  wishKind
	wait  time.Duration
}

type wishKind int

const (
	wishNone wishKind = iota
	wishAfter
	wishPermanent
	wishHalt
)

func (w *wish) Error() string {
	if w.cause == nil {
		return "no reason given"
	}
	return w.cause.Error()
}

func (w *wish) Unwrap() error { return w.cause }

// wishOf returns the wish in err's chain, or the zero wish.
func wishOf(err error) wish {
	if w, ok := errors.AsType[*wish](err); ok {
		return *w
	}
	return wish{}
}

// shorten makes a text fit for the column: valid UTF-8 without NUL, at most 500 bytes.
func shorten(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
