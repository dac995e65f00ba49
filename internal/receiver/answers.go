package receiver

import (
	"net/http"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// answer is one way a request can end: the word that metrics and logs use, and what the sender is told. The table below
// is the whole policy; there is no 3xx and no 410 in it, because senders take those for "go away".
type answer struct {
	outcome      string
	status       int
	retryAfter   string // seconds, on answers that ask for another try
	closes       bool   // the connection is of no more use
	acknowledges bool   // the sender may forget the IPN
}

// The answers.
var (
	probed      = &answer{outcome: "probe", status: http.StatusOK} // the portal's URL test: an empty GET wants an empty 200
	recordedNew = &answer{outcome: "new", status: http.StatusOK, acknowledges: true}
	duplicate   = &answer{outcome: "duplicate", status: http.StatusOK, acknowledges: true}
	variant     = &answer{outcome: "variant", status: http.StatusOK, acknowledges: true}
	owned       = &answer{outcome: "quarantined", status: http.StatusOK, acknowledges: true}

	emptyBody    = &answer{outcome: "empty", status: http.StatusBadRequest}
	brokenBody   = &answer{outcome: "broken", status: http.StatusBadRequest, closes: true}
	unauthorized = &answer{outcome: "unauthorized", status: http.StatusUnauthorized}
	forbidden    = &answer{outcome: "forbidden", status: http.StatusForbidden}
	notFound     = &answer{outcome: "not_found", status: http.StatusNotFound}
	wrongMethod  = &answer{outcome: "method", status: http.StatusMethodNotAllowed}
	tooLarge     = &answer{outcome: "too_large", status: http.StatusRequestEntityTooLarge, closes: true}
	wrongMedia   = &answer{outcome: "media_type", status: http.StatusUnsupportedMediaType}
	flooding     = &answer{outcome: "flood", status: http.StatusTooManyRequests, retryAfter: "60", closes: true}

	overloaded  = &answer{outcome: "overloaded", status: http.StatusServiceUnavailable, retryAfter: "5"}
	unavailable = &answer{outcome: "unavailable", status: http.StatusServiceUnavailable, retryAfter: "5"}
)

// answers lists them all, for the metrics' labels and the tests.
var answers = []*answer{
	probed, recordedNew, duplicate, variant, owned, emptyBody, brokenBody, unauthorized, forbidden, notFound, wrongMethod, tooLarge, wrongMedia,
	flooding, overloaded, unavailable,
}

// answerTo maps what the record says to what the sender is told: the same, but counted apart.
var answerTo = map[ipn.Outcome]*answer{ipn.OutcomeNew: recordedNew, ipn.OutcomeDuplicate: duplicate, ipn.OutcomeVariant: variant}

// result is an answer with what the log line of its request should know.
type result struct {
	answer *answer
	fields []zap.Field
	cause  error // why an answer is 503; holds no data
}

func plain(a *answer) result { return result{answer: a} }
