package notice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"
)

// Timestamp writes a time as the timestamp header has it: UTC, to the millisecond, "2023-05-15 13:02:57.878".
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// Sign returns the signature header of a body: HMAC-SHA256, in lower-case hexadecimal, of the timestamp header's text with
// the raw bytes of the body directly behind it.
func Sign(key []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, timestamp) // a hash does not fail
	_, _ = mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
