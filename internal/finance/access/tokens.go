package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Hash is the SHA-256 of a token: what is kept of one. It needs no salt and no slow function: those protect words that people
// think up and use twice, and a token is 256 random bits, which nobody finds by trying.
type Hash [sha256.Size]byte

// HashOf returns the hash of a token.
func HashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

// Token is what is known of one: all but the token.
type Token struct {
	Name    string    // of who holds it, unique; the audit shows it
	Role    Role      // what they may
	Hash    Hash      // of the token
	Expires time.Time // from then on it is worth nothing, in UTC; zero: never
}

// tokenPrefix lets people and scanners of repositories tell a token from other random text.
const tokenPrefix = "ipn_"

// NewToken makes a token of 256 random bits, and what is to be kept of it.
func NewToken(name string, role Role, expires time.Time) (text string, kept Token) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the program instead
	text = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	return text, Token{Name: name, Role: role, Hash: HashOf(text), Expires: expires}
}

// Line is the token's line in a tokens file, without the newline: NAME ROLE sha256:HEX [expires=YYYY-MM-DD], where the day
// is the last one on which it is good.
func (t Token) Line() string {
	line := t.Name + " " + string(t.Role) + " " + hashPrefix + hex.EncodeToString(t.Hash[:])
	if !t.Expires.IsZero() {
		line += " " + expiresPrefix + LastDay(t.Expires)
	}
	return line
}

// LastDay is the last day, in UTC, before a token expires.
func LastDay(expires time.Time) string {
	return expires.UTC().Add(-time.Nanosecond).Format(time.DateOnly)
}

// EndOf returns the end of a day written as YYYY-MM-DD, in UTC: the moment at which a token expires whose last day it is.
func EndOf(day string) (time.Time, error) {
	start, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, errors.New("write the last day as YYYY-MM-DD, such as 2027-01-31")
	}
	return start.AddDate(0, 0, 1), nil
}

const (
	hashPrefix    = "sha256:"
	expiresPrefix = "expires="

	// APITokenName is the name of the token that is set by itself, outside of any file.
	APITokenName = "api"
)

// Tokens are those in force. The zero Tokens are none.
type Tokens struct{ all []Token }

// ParseTokens reads a tokens file: a token a line, as Line writes it; blank lines and what stands behind # are left out. A
// file without tokens is good: it closes the door to all who held one. Errors name the lines and never what stands there,
// which may be a token by mistake.
func ParseTokens(text string) (Tokens, error) {
	var tokens Tokens
	var problems []error
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		token, err := parseToken(words)
		if err == nil {
			tokens, err = tokens.With(token)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", i+1, err))
		}
	}
	return tokens, errors.Join(problems...)
}

func parseToken(words []string) (token Token, err error) {
	if len(words) < 3 || len(words) > 4 {
		return token, errors.New("write NAME ROLE sha256:HEX, and expires=YYYY-MM-DD if it shall expire; \"ipn-receiver tokens make\" makes such a line")
	}
	token.Name = words[0]
	if token.Role, err = ParseRole(words[1]); err != nil {
		return token, err
	}
	digits, hashed := strings.CutPrefix(words[2], hashPrefix)
	hash, err := hex.DecodeString(digits)
	if !hashed || err != nil || len(hash) != len(token.Hash) {
		return token, errors.New("the third word must be sha256: and 64 hexadecimal digits, never the token itself")
	}
	copy(token.Hash[:], hash)
	if len(words) == 4 {
		day, named := strings.CutPrefix(words[3], expiresPrefix)
		if !named {
			return token, errors.New("the fourth word must be expires=YYYY-MM-DD")
		}
		token.Expires, err = EndOf(day)
	}
	return token, err
}

// With returns the tokens and one more. It fails when the name is none or is taken, or the token is there already.
func (t Tokens) With(token Token) (Tokens, error) {
	if err := checkName(token.Name); err != nil {
		return t, err
	}
	for _, other := range t.all {
		if strings.EqualFold(other.Name, token.Name) {
			return t, errors.New("another token has this name: each needs one of its own, so that the audit tells them apart")
		}
		if other.Hash == token.Hash {
			return t, errors.New("this token stands there already, under another name")
		}
	}
	return Tokens{append(t.all[:len(t.all):len(t.all)], token)}, nil
}

// maxName is longer than any name of a person or a tool.
const maxName = 64

// checkName refuses what could not be told apart in the audit, and what may be a token by mistake.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName || strings.Trim(name, nameLetters) != "" || strings.ContainsRune("-._@", rune(name[0])):
		return fmt.Errorf("the name must be 1 to %d letters, digits, - . _ and @, and begin with a letter or a digit", maxName)
	case strings.HasPrefix(name, tokenPrefix):
		return errors.New("the name looks like a token: the first word is the name, and the token itself stands nowhere")
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._@"

// All returns the tokens in the order in which they stand.
func (t Tokens) All() []Token { return append([]Token(nil), t.all...) }

// find returns the token that text is, unless it has expired. It compares with all, each in constant time, so that the time
// tells neither how much of a guess was right nor whose token it was.
func (t Tokens) find(text string, now time.Time) (found Token, ok bool) {
	hash := HashOf(text)
	for _, token := range t.all {
		if subtle.ConstantTimeCompare(hash[:], token.Hash[:]) == 1 {
			found, ok = token, true
		}
	}
	return found, ok && !found.Expired(now)
}

// named returns the token of that name, unless it has expired.
func (t Tokens) named(name string, now time.Time) (Token, bool) {
	for _, token := range t.all {
		if token.Name == name {
			return token, !token.Expired(now)
		}
	}
	return Token{}, false
}

// Expired tells whether the token is worth nothing any more.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }
