package ipn

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
)

const (
	minSecret = 16   // bytes: 128 bits when they are random
	maxSecret = 4096 // bytes: more is another file by mistake
	hidden    = "[hidden]"
)

// A Secret is a signing key that does not show itself: every verb of fmt,
// every structured logger and every encoder gets "[hidden]". The key sits in a
// closure because fmt and loggers walk unexported fields, too, and because a
// struct with a func cannot be compared with ==, which no key should be. The
// zero Secret holds no key.
type Secret struct {
	id     string
	reveal func() []byte
}

// NewSecret makes a secret of its UTF-8 text. One trailing newline, as editors
// and shells leave it in a file, is not part of the key; anything else is. The
// id names the key in logs and metrics during a rotation: letters, digits, '-',
// '_' and '.', at most 64; when empty it is the first eight hexadecimal digits
// of the key's SHA-256. Errors never show the key.
func NewSecret(id string, value []byte) (Secret, error) {
	value = trimNewline(value)
	if err := checkSecret(id, value); err != nil {
		return Secret{}, err
	}
	if id == "" {
		sum := sha256.Sum256(value)
		id = hex.EncodeToString(sum[:4])
	}
	value = bytes.Clone(value)
	return Secret{id: id, reveal: func() []byte { return value }}, nil
}

func checkSecret(id string, value []byte) error {
	switch {
	case len(id) > 64 || !isPlainName(id) && id != "":
		return fmt.Errorf("secret id: use up to 64 letters, digits, '-', '_' and '.'")
	case len(value) < minSecret:
		return fmt.Errorf("secret %q: %d bytes are too few: set a random key of at least %d", id, len(value), minSecret)
	case len(value) > maxSecret:
		return fmt.Errorf("secret %q: %d bytes are too many: set one key of at most %d, not another file", id, len(value), maxSecret)
	}
	return nil
}

func trimNewline(value []byte) []byte {
	if trimmed, ok := bytes.CutSuffix(value, []byte("\r\n")); ok {
		return trimmed
	}
	return bytes.TrimSuffix(value, []byte("\n"))
}

// ID returns the name of the key, which is not secret.
func (s Secret) ID() string { return s.id }

// IsZero tells whether the secret holds no key.
func (s Secret) IsZero() bool { return s.reveal == nil }

// String returns "[hidden]".
func (s Secret) String() string { return hidden }

// GoString returns "[hidden]".
func (s Secret) GoString() string { return hidden }

// Format writes "[hidden]" whatever the verb.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// MarshalJSON returns "[hidden]" as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText returns "[hidden]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Matches tells in constant time whether text is the secret. The zero Secret matches nothing.
func (s Secret) Matches(text string) bool {
	if s.reveal == nil {
		return false
	}
	want, got := sha256.Sum256(s.reveal()), sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
