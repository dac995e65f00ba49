package receiver

import (
	"cmp"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Mode says what a check may do: nothing, watch, or refuse.
type Mode string

// The modes.
const (
	Off     Mode = "off"
	Observe Mode = "observe"
	Enforce Mode = "enforce"
)

// Policy says what is believed. The checks themselves are pure functions of internal/ipn; this is what follows from them.
type Policy struct {
	Mode            Mode                // of signature and authKey
	Signature       ipn.Signature       // zone and window; its secrets are taken from Secrets
	Secrets         func() []ipn.Secret // those in force now; may be nil when Mode is Off
	SignatureHeader string
	TimestampHeader string
	AuthKey         ipn.Secret // legacy data protection key; zero: authKey is not checked
	Senders         ipn.Senders
	SendersMode     Mode // of the address list; "" is Off
}

// sound reports whether the policy can be followed. A mode that is misspelt must not pass for a mild one.
func (p Policy) sound() bool {
	modes := []Mode{Off, Observe, Enforce}
	return slices.Contains(modes, p.Mode) && (p.Mode == Off || p.Secrets != nil) && (p.SendersMode == "" || slices.Contains(modes, p.SendersMode))
}

// judgement is what is thought of a post: who vouches for it, or why it is refused.
type judgement struct {
	vouched  ipn.Vouched
	refusal  *answer // nil: the post may climb on
	reason   ipn.Reason
	detail   string
	problems []ipn.Problem
	fields   []zap.Field
}

// consequence is what a verdict leads to: the voucher when it is only observed, the reason when it is enforced.
type consequence struct {
	observed ipn.Vouched
	reason   ipn.Reason // "" when even enforcement lets it pass
}

// afterSignature and afterAuthKey are the two tables of verification. NoKey and NotVerifiable pass: what cannot be
// checked is not held against the sender; a program that enforces without any key does not start.
var (
	afterSignature = map[ipn.Result]consequence{
		ipn.Good:      {observed: ipn.VouchedSignature},
		ipn.NoKey:     {observed: ipn.VouchedUnsigned},
		ipn.Missing:   {ipn.VouchedUnsigned, ipn.ReasonSignatureMissing},
		ipn.Malformed: {ipn.VouchedFailed, ipn.ReasonSignatureMalformed},
		ipn.Mismatch:  {ipn.VouchedFailed, ipn.ReasonSignatureMismatch},
	}
	afterAuthKey = map[ipn.Result]consequence{
		ipn.Good:          {observed: ipn.VouchedAuthKey},
		ipn.NoKey:         {observed: ipn.VouchedUnsigned},
		ipn.NotVerifiable: {observed: ipn.VouchedUnsigned},
		ipn.Missing:       {ipn.VouchedUnsigned, ipn.ReasonAuthKeyMissing},
		ipn.Malformed:     {ipn.VouchedFailed, ipn.ReasonAuthKeyMismatch},
		ipn.Mismatch:      {ipn.VouchedFailed, ipn.ReasonAuthKeyMismatch},
	}
)

// judge applies all checks that need no decoding: the address list, the signature over the raw bytes, the media type.
// A body whose signature is bad is never decoded.
func (rc *Receiver) judge(p *post) judgement {
	if j := rc.judgeSender(p); j.refusal != nil {
		return j
	}
	j := rc.judgeSignature(p)
	if j.refusal != nil {
		return j
	}
	return rc.judgeMedia(p, j)
}

func (rc *Receiver) judgeSender(p *post) judgement {
	if rc.Policy.SendersMode != Observe && rc.Policy.SendersMode != Enforce {
		return judgement{}
	}
	if rc.Policy.Senders.Contains(p.peer) {
		rc.metrics.verified("sender", "listed")
		return judgement{}
	}
	rc.metrics.verified("sender", "unlisted")
	if rc.Policy.SendersMode == Observe {
		return judgement{}
	}
	return judgement{refusal: forbidden, reason: ipn.ReasonSenderNotListed}
}

func (rc *Receiver) judgeSignature(p *post) judgement {
	if rc.Policy.Mode == Off {
		return judgement{vouched: ipn.VouchedOff}
	}
	check := rc.Policy.Signature
	check.Secrets = rc.Policy.Secrets()
	header := p.request.Header
	verdict := check.Verify(p.body, header.Values(rc.Policy.TimestampHeader), header.Values(rc.Policy.SignatureHeader), p.arrived)
	rc.metrics.verified("signature", string(verdict.Result))

	j := judgement{vouched: afterSignature[verdict.Result].observed}
	if verdict.KeyID != "" {
		j.fields = append(j.fields, zap.String("keyId", verdict.KeyID))
	}
	if verdict.Stale {
		j.problems = append(j.problems, ipn.Problem{Code: ipn.SignatureStale})
	}
	if reason := afterSignature[verdict.Result].reason; reason != "" && rc.Policy.Mode == Enforce {
		j.refusal, j.reason = unauthorized, reason
	}
	return j
}

// judgeMedia refuses what is not a form, unless its signature is good: an authentic post is never refused for its
// content. Nothing is unpacked in either case. That a body is no form is a problem the decoder finds by itself.
func (rc *Receiver) judgeMedia(p *post, j judgement) judgement {
	signed := j.vouched == ipn.VouchedSignature
	switch encoding := p.request.Header.Get("Content-Encoding"); {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		if signed {
			j.problems = append(j.problems, ipn.Problem{Code: ipn.ContentEncoded})
			return j
		}
		j.refusal, j.reason = wrongMedia, ipn.ReasonContentEncoding
	case !signed && !isForm(p.request.Header.Get("Content-Type")):
		j.refusal, j.reason = wrongMedia, ipn.ReasonMediaType
	}
	return j
}

// isForm accepts the form type with any parameters, and no type at all: the sender's is undocumented.
func isForm(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.TrimSpace(media)
	return contentType == "" || strings.EqualFold(media, "application/x-www-form-urlencoded")
}

// judgeAuthKey checks the key inside the body, where one is set. It vouches where the signature did not, and a mismatch
// refuses even beside a good signature: the two cannot both be right.
func (rc *Receiver) judgeAuthKey(event *ipn.Event, j judgement) judgement {
	if rc.Policy.Mode == Off || rc.Policy.AuthKey.IsZero() {
		return j
	}
	verdict := ipn.VerifyAuthKey(event, rc.Policy.AuthKey)
	rc.metrics.verified("auth_key", string(verdict.Result))
	after := afterAuthKey[verdict.Result]
	signed := j.vouched == ipn.VouchedSignature
	if !signed {
		j.vouched = after.observed
	}
	mismatch := after.reason == ipn.ReasonAuthKeyMismatch
	if rc.Policy.Mode == Enforce && (mismatch || after.reason != "" && !signed) {
		j.refusal, j.reason = unauthorized, after.reason
	}
	return j
}

// Reverify judges a quarantined post again, under the present keys and by the present decoder. It returns the receipt to
// record, or the reason why the post must stay where it is. A post that was answered 200 was believed then, and has
// only to be readable now.
func (rc *Receiver) Reverify(q *ipn.Quarantined) (*ipn.Receipt, ipn.Reason) {
	event := rc.Decoder.Decode(q.Raw, q.Headers["content-type"])
	if q.Answered != owned.status {
		if reason := rc.disbelief(q, event); reason != "" {
			return nil, reason
		}
	}
	if reason, odd := unstorable(event); odd {
		return nil, reason
	}
	return &ipn.Receipt{
		Event: event, Identity: rc.Scope.Identify(event), Digest: q.Digest, Content: event.ContentDigest(),
		Vouched: ipn.VouchedPromoted, Raw: q.Raw, Origin: q.Origin,
	}, ""
}

// disbelief returns why a post is not vouched for, or "". It is as strict as the door under enforcement: a wrong authKey
// spoils a good signature, and a good one makes up for none where a signing key is set. Whether the sender was listed
// counts no more: whoever holds the key is the sender.
func (rc *Receiver) disbelief(q *ipn.Quarantined, event *ipn.Event) ipn.Reason {
	check := rc.Policy.Signature
	if rc.Policy.Secrets != nil {
		check.Secrets = rc.Policy.Secrets()
	}
	signature := check.Verify(q.Raw, kept(q, rc.Policy.TimestampHeader), kept(q, rc.Policy.SignatureHeader), q.ReceivedAt).Result
	authKey := ipn.VerifyAuthKey(event, rc.Policy.AuthKey).Result
	switch reason := afterAuthKey[authKey].reason; {
	case reason == ipn.ReasonAuthKeyMismatch:
		return reason
	case signature == ipn.Good || signature == ipn.NoKey && authKey == ipn.Good:
		return ""
	default:
		return cmp.Or(afterSignature[signature].reason, reason, q.Reason)
	}
}

// kept returns a header of a quarantined post as Verify wants it: no value when it was not sent.
func kept(q *ipn.Quarantined, header string) []string {
	if value, sent := q.Headers[strings.ToLower(header)]; sent {
		return []string{value}
	}
	return nil
}
