package publish

import (
	"fmt"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
)

// tooLarge buries an event at once: it does not get smaller by waiting. Once the broker takes more, it is redriven.
func tooLarge(broker, place string, err error) error {
	return dispatch.Permanent(fmt.Errorf("%s: the event is larger than %s takes: %w", broker, place, err))
}

// short makes one line of a broker's words, fit for a log and a listing.
func short(text string) string {
	const longest = 200
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}
