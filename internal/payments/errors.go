package payments

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Error is an answer of the payment service that is not a success.
type Error struct {
	Operation  string        // what was asked for, such as "create the tax quote"
	Status     int           // of HTTP
	Messages   []Message     // what the service said, if it could be read
	RetryAfter time.Duration // how long it asked to wait; 0: it did not

	nothing bool // the answer to a question, a success, was that there is nothing
	quoted  bool // what was asked for uses a tax quote
}

// Message is one entry of an error body (specification section 7). All of it is the service's own text.
type Message struct {
	Name        string // such as INSUFFICIENT_FUNDS; "" if there was none
	Code        string // such as 14002, whether it came as a string or as a number
	Description string // for people; may quote what was sent: not for logs
	Property    string // the field that is to blame; its value is not kept
}

// Error tells operation, status, and the codes and names that have the documented form. Descriptions are left out.
func (e *Error) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%s: the payment service answered %d %s", e.Operation, e.Status, http.StatusText(e.Status)))
	for _, m := range e.Messages {
		if told := m.told(); told != "" {
			text += "; " + told
		}
	}
	if e.Status >= 300 && e.Status <= 399 {
		text += ": redirects are not followed"
	}
	return text
}

// told is the part of a message that is fit for a log.
func (m Message) told() string {
	var parts []string
	for _, part := range []string{m.Code, m.Name} {
		if isWord(part) {
			parts = append(parts, part)
		}
	}
	if isWord(m.Property) {
		parts = append(parts, "("+m.Property+")")
	}
	return strings.Join(parts, " ")
}

// mostFigures is how many digits a word that is told may hold: more of them, hyphens or not, could be a card number.
const mostFigures = 8

// isWord tells whether text is a plain identifier.
func isWord(text string) bool {
	figures := 0
	for _, r := range text {
		if r >= '0' && r <= '9' {
			figures++
		}
	}
	return text != "" && len(text) <= 64 && figures <= mostFigures &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// FieldError is a request that was not sent, because the specification rules it out.
type FieldError struct {
	Field  string // as the interface names it
	Reason string // what is wrong, without the value
	Err    error  // one of ErrQuoteExpired, ErrPartialCapture, or nil
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }
func (e *FieldError) Unwrap() error { return e.Err }

// UnreadableError is [ErrUnreadable] with what could be read all the same.
type UnreadableError struct {
	Reason     string // what is wrong with the answer, without a value
	Identifier string // of the transaction, refund, subscription, order or quote that was made; "" when the answer tells none
}

func (e *UnreadableError) Error() string { return ErrUnreadable.Error() + ": " + e.Reason }
func (e *UnreadableError) Unwrap() error { return ErrUnreadable }

// Errors of this side of the wire.
var (
	// ErrUnreadable: the service answered a success whose body is not what the operation answers; an [UnreadableError] may
	// tell more. What was asked for has been
	// done all the same.
	ErrUnreadable = errors.New("the answer cannot be read")
	// ErrUnreachable: there was no answer. Unless the operation only reads, it may have happened all the same.
	ErrUnreachable = errors.New("no answer from the payment service")
	// ErrQuoteExpired: the tax quote is older than 24 hours and no transaction was sent with it (specification section 3.1).
	ErrQuoteExpired = errors.New("the tax quote has expired: create a new one")
	// ErrPartialCapture: a capture is for the full authorized amount (specification section 8).
	ErrPartialCapture = errors.New("a capture is for the full authorized amount")
)

// Groups of documented errors, for [errors.Is]. An error may belong to several: 20009 is of the transactions, and not found.
var (
	ErrUnauthorized = errors.New("the credentials are not accepted")               // 401
	ErrForbidden    = errors.New("the user or this address may not do that")       // 403; 24012
	ErrNotFound     = errors.New("there is no such thing")                         // 404; 15008, 20009, 90009
	ErrRequest      = errors.New("the request is not one that the service takes")  // what it lacks, or has of the wrong kind; 10000 INVALID_API_VERSION
	ErrDeclined     = errors.New("the payment was refused")                        // 14002, 14005, 14006, 14011, 14016
	ErrRefund       = errors.New("the refund was refused")                         // 14004 to 14055, but those above
	ErrTransaction  = errors.New("the transaction does not allow that")            // 20002 to 20010
	ErrPlan         = errors.New("the plan or subscription does not allow that")   // 20026, 24001 to 24018, 90009
	ErrTax          = errors.New("the tax cannot be told as asked")                // 300, 13001, 24011, 24019, 43003 to 43007, 50106
	ErrQuote        = errors.New("the tax quote was refused: create a new one")    // 43008 to 43010; of a request with a quote also 300
	ErrIdempotency  = errors.New("the idempotency-key was refused")                // 60101 to 60106
	ErrBusy         = errors.New("the payment service asks to come back later")    // 429, 503
	ErrService      = errors.New("the payment service could not answer correctly") // 5xx; 10000
)

// groups says which statuses and codes belong to a group. It is a list and no map: what errors.Is looks for may be an error
// that cannot be a key.
var groups = [...]struct {
	is       error
	statuses []int
	codes    []string
}{
	{is: ErrUnauthorized, statuses: []int{http.StatusUnauthorized}},
	{is: ErrForbidden, statuses: []int{http.StatusForbidden}, codes: []string{"24012"}},
	{is: ErrNotFound, statuses: []int{http.StatusNotFound}, codes: []string{"15008", "20009", "90009"}},
	{is: ErrRequest, codes: []string{"7", "30", "85", "90", "10001", "11001", "16001", "20020", "20021", "20022", "20023", "20035",
		"26001", "26002"}},
	{is: ErrDeclined, codes: []string{"14002", "14005", "14006", "14011", "14016"}},
	{is: ErrRefund, codes: []string{"14004", "14007", "14008", "14009", "14022", "14023", "14024", "14048", "14049", "14051", "14052",
		"14053", "14054", "14055"}},
	{is: ErrTransaction, codes: []string{"20002", "20003", "20005", "20006", "20007", "20008", "20009", "20010"}},
	{is: ErrPlan, codes: []string{"20026", "24001", "24002", "24003", "24004", "24005", "24006", "24007", "24008", "24009", "24010",
		"24011", "24012", "24013", "24014", "24015", "24016", "24017", "24018", "90009"}},
	{is: ErrTax, codes: taxCodes[:]},
	{is: ErrQuote, codes: []string{"43008", "43009", "43010"}},
	{is: ErrIdempotency, codes: []string{"60101", "60102", "60103", "60104", "60106"}},
	{is: ErrBusy, statuses: []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}},
}

// taxCodes are those of a request for a quote, and of one that lacks a quote.
var taxCodes = [...]string{"300", "13001", "24011", "24019", "43003", "43004", "43006", "43007", "50106"}

// generalFailure is one code for what the service could not do and for a version it does not know; the name tells them apart.
const (
	generalFailure = "10000"
	unknownVersion = "INVALID_API_VERSION"
)

// Is tells whether the error belongs to one of the groups of documented errors.
func (e *Error) Is(target error) bool {
	switch {
	case target == ErrService && e.Status >= 500, target == ErrNotFound && e.nothing:
		return true
	case target == ErrQuote && e.refusesItsQuote():
		return true
	}
	for _, m := range e.Messages {
		if m.Code == generalFailure && (target == ErrRequest && m.Name == unknownVersion || target == ErrService && m.Name != unknownVersion) {
			return true
		}
	}
	for _, group := range groups {
		if group.is == target {
			return slices.Contains(group.statuses, e.Status) || slices.ContainsFunc(e.Messages, func(m Message) bool {
				return slices.Contains(group.codes, m.Code)
			})
		}
	}
	return false
}

// refusesItsQuote tells an expired quote by what is known of it: the code is documented nowhere, but it is 300 or one of
// 43xxx that means nothing else, and the request uses a quote. A quote that is asked for can fail with 300 too, and then
// there is none to create anew.
func (e *Error) refusesItsQuote() bool {
	return e.quoted && e.Status >= 400 && e.Status <= 499 && slices.ContainsFunc(e.Messages, func(m Message) bool {
		return m.Code == "300" || len(m.Code) == 5 && strings.HasPrefix(m.Code, "43") && !slices.Contains(taxCodes[:], m.Code)
	})
}

// Code returns the code of the first message that has one, such as 14002, or "" when err is no answer of the service or
// holds none.
func Code(err error) string {
	var answer *Error
	if errors.As(err, &answer) {
		for _, m := range answer.Messages {
			if m.Code != "" {
				return m.Code
			}
		}
	}
	return ""
}
