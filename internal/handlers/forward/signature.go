package forward

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

const (
	secretPrefix = "whsec_"
	minKey       = 24 // bytes, both by Standard Webhooks
	maxKey       = 64
	hidden       = "[hidden]"
)

var errSecret = errors.New("a secret is whsec_ and the base64 of 24 to 64 random bytes, such as `openssl rand -base64 32` prints")

// Secret is a key that signs for one target. It does not show itself: every verb of fmt and every encoder gets
// "[hidden]". The key sits in a closure, because fmt and loggers walk unexported fields. The zero Secret holds no key.
type Secret struct{ key func() []byte }

// ParseSecret reads a secret as Standard Webhooks writes it, "whsec_" and base64 with padding. Its error does not show
// the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, errSecret
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") || len(key) < minKey || len(key) > maxKey {
		return Secret{}, errSecret
	}
	return Secret{key: func() []byte { return key }}, nil
}

// IsZero tells whether the secret holds no key.
func (s Secret) IsZero() bool { return s.key == nil }

// String returns "[hidden]".
func (s Secret) String() string { return hidden }

// Format writes "[hidden]" whatever the verb.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// MarshalText returns "[hidden]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// sign returns "v1," and the base64 of the HMAC-SHA256 over id, timestamp and body, joined by dots.
func (s Secret) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, s.key())
	_, _ = io.WriteString(mac, id+"."+timestamp+".") // a hash.Hash never fails
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// setSignature writes the headers of one attempt. The id is the event's, the same at every attempt, so that the target
// knows what it has seen; the timestamp is the attempt's, so that the target may refuse what somebody recorded and
// plays again. Each secret signs: during a rotation the target verifies with the old one or the new one.
func setSignature(h http.Header, secrets []Secret, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	h.Set(headerID, id)
	h.Set(headerTimestamp, timestamp)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = secret.sign(id, timestamp, body)
	}
	if len(signatures) > 0 {
		h.Set(headerSignature, strings.Join(signatures, " "))
	}
}
