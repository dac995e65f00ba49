package ipn

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Vouched says what vouched for a receipt. It is stored with the event and shown to finance.
type Vouched string

// The closed set of vouchers; the schema checks the same words.
const (
	VouchedSignature Vouched = "signature" // the HMAC over timestamp and body is good
	VouchedAuthKey   Vouched = "auth_key"  // the legacy authKey is good: origin only, neither amount nor type
	VouchedPromoted  Vouched = "promoted"  // accepted from quarantine after the key was mended
	VouchedUnsigned  Vouched = "unsigned"  // observed only: nothing to verify was sent, or no key is known
	VouchedFailed    Vouched = "failed"    // observed only: verification failed
	VouchedOff       Vouched = "off"       // verification is switched off
)

// Origin is how an IPN reached us: what is kept beside the raw bytes so that it can be verified and decoded again.
type Origin struct {
	Headers    map[string]string // lower-case names, those that matter for verification and decoding
	Peer       netip.Addr        // the sender's address behind declared proxies; invalid when unknown
	ReceivedAt time.Time
}

// Receipt is one accepted POST of an event, ready to be recorded.
type Receipt struct {
	Event    *Event
	Identity Identity
	Digest   Digest // of the raw bytes
	Content  Digest // of the meaning: Event.ContentDigest
	Vouched  Vouched
	Raw      []byte
	Origin
}

// Outcome is what recording a receipt came to.
type Outcome string

// The closed set of outcomes.
const (
	OutcomeNew       Outcome = "new"       // the first receipt of its identity
	OutcomeDuplicate Outcome = "duplicate" // a known identity with the same content
	OutcomeVariant   Outcome = "variant"   // a known identity with other content, kept beside the event
)

// Outcomes returns every outcome, for metrics that want their labels ahead of time.
func Outcomes() []Outcome { return []Outcome{OutcomeNew, OutcomeDuplicate, OutcomeVariant} }

// Recorded is the record's answer: where the event stands in the log, and how often it was received by now.
type Recorded struct {
	EventID  int64
	Outcome  Outcome
	Receipts int64
}

// ErrUnavailable says that the record could not be reached or did not answer in time. The receipt may or may not be
// committed; sending it again is safe.
var ErrUnavailable = errors.New("the record is unavailable")

// ErrOverloaded says that the record's queue is full. Nothing was stored.
var ErrOverloaded = errors.New("the record's queue is full")

// RefusedError says that the database refuses this row for good: sending it again cannot help. SQLState is the five
// letter code; the server's message is left out because it quotes data.
type RefusedError struct{ SQLState string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the database refuses the row with SQLSTATE %s", e.SQLState)
}

// Reason says why a POST is in quarantine.
type Reason string

// The closed set of reasons; the schema checks the same words.
const (
	ReasonSignatureMissing   Reason = "signature_missing"
	ReasonSignatureMalformed Reason = "signature_malformed"
	ReasonSignatureMismatch  Reason = "signature_mismatch"
	ReasonAuthKeyMissing     Reason = "auth_key_missing"
	ReasonAuthKeyMismatch    Reason = "auth_key_mismatch"
	ReasonSenderNotListed    Reason = "sender_not_listed"
	ReasonMediaType          Reason = "media_type"
	ReasonContentEncoding    Reason = "content_encoding"
	ReasonNoFields           Reason = "no_fields"
	ReasonTooManyFields      Reason = "too_many_fields"
	ReasonRefusedByDatabase  Reason = "refused_by_database"
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonSignatureMissing, ReasonSignatureMalformed, ReasonSignatureMismatch, ReasonAuthKeyMissing, ReasonAuthKeyMismatch, ReasonSenderNotListed,
		ReasonMediaType, ReasonContentEncoding, ReasonNoFields, ReasonTooManyFields, ReasonRefusedByDatabase,
	}
}

// Quarantined is a POST that was not believed or could not become an event.
type Quarantined struct {
	ID       int64 // 0 until it is kept
	Reason   Reason
	Detail   string // never a value of the body: a SQLSTATE, a media type
	Answered int    // the status the sender got; 200 means that the receiver owns it and never evicts it
	Digest   Digest
	Raw      []byte
	Origin
}
