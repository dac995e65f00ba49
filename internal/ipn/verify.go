package ipn

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"
)

// Result is what a verification found.
type Result string

// The closed set of results.
const (
	Good          Result = "good"
	Missing       Result = "missing"        // the sender gave nothing to verify
	Malformed     Result = "malformed"      // sent twice, or not hexadecimal of the right length
	Mismatch      Result = "mismatch"       // made with another key, or over another text
	NoKey         Result = "no_key"         // we have no key to verify with
	NotVerifiable Result = "not_verifiable" // this type's formula is not known
)

// Results returns the closed set, for metrics that start at zero.
func Results() []Result {
	return []Result{Good, Missing, Malformed, Mismatch, NoKey, NotVerifiable}
}

// A Verdict is a result and, when it is Good, the circumstances.
type Verdict struct {
	Result Result
	KeyID  string        // the secret that matched
	Age    time.Duration // now minus the timestamp; negative if that lies ahead
	Stale  bool          // outside the window, or the timestamp cannot be read
}

// defaultWindow is longer than the sender keeps trying: eleven attempts, four
// hours apart. A re-send may carry the first timestamp, so that a window of
// minutes would refuse every one of them. Replays are stopped by identity.
const defaultWindow = 72 * time.Hour

// Signature verifies the header pair of signed IPNs: a timestamp, and the
// hexadecimal HMAC-SHA256 of the timestamp's text directly followed by the raw
// body. It needs the bytes as they arrived: decoding and encoding again gives
// other bytes of the same meaning.
type Signature struct {
	Secrets []Secret       // all that may have signed; two during a rotation
	Zone    *time.Location // of the timestamp, which names none; nil is UTC
	Window  time.Duration  // how old or far ahead is not Stale; 0 is 72 h
}

// Verify judges a body by the values of the two headers as received. A genuine
// signature outside the window is Good and Stale: what that means is the
// caller's policy. Without any secret the verdict is NoKey, never Good.
func (s Signature) Verify(body []byte, timestamps, signatures []string, now time.Time) Verdict {
	switch {
	case !s.hasKey():
		return Verdict{Result: NoKey}
	case len(timestamps) == 0 || len(signatures) == 0:
		return Verdict{Result: Missing}
	case len(timestamps) > 1 || len(signatures) > 1 || timestamps[0] == "":
		return Verdict{Result: Malformed}
	}
	var sent [sha256.Size]byte
	if !decodeMAC(sent[:], signatures[0]) {
		return Verdict{Result: Malformed}
	}
	keyID, ok := s.match(timestamps[0], body, sent[:])
	if !ok {
		return Verdict{Result: Mismatch}
	}
	verdict := Verdict{Result: Good, KeyID: keyID}
	verdict.Age, verdict.Stale = s.age(timestamps[0], now)
	return verdict
}

func (s Signature) hasKey() bool {
	for _, secret := range s.Secrets {
		if !secret.IsZero() {
			return true
		}
	}
	return false
}

// match tries every secret, also after a hit: the time taken tells nothing.
func (s Signature) match(timestamp string, body, sent []byte) (keyID string, ok bool) {
	for _, secret := range s.Secrets {
		if !secret.IsZero() && hmac.Equal(secret.mac(timestamp, body), sent) {
			keyID, ok = secret.ID(), true
		}
	}
	return keyID, ok
}

// age reads the timestamp, "YYYY-MM-DD HH:MM:SS" with or without a fraction. To
// the MAC its text is opaque, so an unreadable one does not spoil the verdict.
func (s Signature) age(timestamp string, now time.Time) (age time.Duration, stale bool) {
	zone, window := s.Zone, s.Window
	if zone == nil {
		zone = time.UTC
	}
	if window == 0 {
		window = defaultWindow
	}
	at, err := time.ParseInLocation(time.DateTime, timestamp, zone)
	if err != nil {
		return 0, true
	}
	age = now.Sub(at)
	return age, age > window || age < -window
}

// Sign returns the signature of a body as lower-case hexadecimal digits; the
// zero Secret signs nothing and returns "".
func (s Secret) Sign(timestamp string, body []byte) string {
	if s.IsZero() {
		return ""
	}
	return hex.EncodeToString(s.mac(timestamp, body))
}

func (s Secret) mac(timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, s.reveal())
	_, _ = io.WriteString(h, timestamp) // a hash never fails
	_, _ = h.Write(body)
	return h.Sum(nil)
}

// decodeMAC fills dst from hexadecimal digits of either case; false when the
// text is anything else or of another length.
func decodeMAC(dst []byte, text string) bool {
	if len(text) != hex.EncodedLen(len(dst)) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}
