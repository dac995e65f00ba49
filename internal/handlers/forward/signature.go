package forward

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
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
)

var errSecret = errors.New("a secret is whsec_ and the base64 of 24 to 64 random bytes, such as `openssl rand -base64 32` prints")

// Secret is a key that signs for one target: the bytes that Standard Webhooks writes as base64.
type Secret struct{ secret.Text }

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
	return Secret{secret.New(string(key))}, nil
}

// sign returns "v1," and the base64 of the HMAC-SHA256 over id, timestamp and body, joined by dots.
func (s Secret) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
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
	for i, key := range secrets {
		signatures[i] = key.sign(id, timestamp, body)
	}
	if len(signatures) > 0 {
		h.Set(headerSignature, strings.Join(signatures, " "))
	}
}
