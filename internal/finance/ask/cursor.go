package ask

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ErrCursor says that a cursor was not given out for the list that it came back to.
var ErrCursor = errors.New("cursor: " + mendCursor)

const (
	mendCursor    = "pass nextCursor of the page before, unchanged, and the same filters"
	longestCursor = 8 << 10 // a dispute's place is two texts of 255 bytes, at six characters each where they are odd
	sealSize      = 16      // bytes of the HMAC-SHA256 that are kept
)

// Cursors seals the places where lists go on. What it gives out says nothing that the page before did not say, but cannot
// be made up, and is good for the very question that it was made under.
type Cursors struct {
	read func(context.Context) ([]byte, error)
	key  atomic.Pointer[[]byte]
}

// NewCursors takes the way to the key, which is asked until it answers, and then never again.
func NewCursors(read func(context.Context) ([]byte, error)) *Cursors { return &Cursors{read: read} }

// Seal makes the cursor of a place in a list. The kind of the list, the question and the place must be known to JSON. It
// fails as reading the key does.
func (c *Cursors) Seal(ctx context.Context, kind string, question, place any) (string, error) {
	text, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("write the place: %w", err)
	}
	seal, err := c.seal(ctx, kind, question, text)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(seal, text...)), nil
}

// Open reads the place back that Seal made the cursor of. It fails with ErrCursor when the cursor was made up, was changed,
// or was given out for another list or question, else as reading the key does.
func (c *Cursors) Open(ctx context.Context, kind string, question any, cursor string, place any) error {
	if len(cursor) > longestCursor || strings.ContainsAny(cursor, "\r\n") { // line ends are nothing to the decoder
		return ErrCursor
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= sealSize {
		return ErrCursor
	}
	seal, err := c.seal(ctx, kind, question, raw[sealSize:])
	if err != nil {
		return err
	}
	if !hmac.Equal(seal, raw[:sealSize]) || json.Unmarshal(raw[sealSize:], place) != nil {
		return ErrCursor
	}
	return nil
}

// seal hashes the three under the key; as one list of JSON, so that none can run over into the next.
func (c *Cursors) seal(ctx context.Context, kind string, question any, place []byte) ([]byte, error) {
	key, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal([]any{kind, question, string(place)})
	if err != nil {
		return nil, fmt.Errorf("write the question: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)[:sealSize], nil
}

// known returns the key. Those who ask before it is there each read it for themselves: nobody waits for another's answer.
func (c *Cursors) known(ctx context.Context) ([]byte, error) {
	if key := c.key.Load(); key != nil {
		return *key, nil
	}
	key, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	c.key.Store(&key)
	return key, nil
}

// events is the kind of the lists of events, whoever shows them: a cursor of the API is good on the page.
const events = "events"

// Resume puts the place of the query's cursor into its question, none where it has no cursor. It fails as Open does.
func (c *Cursors) Resume(ctx context.Context, q *Query) error {
	if q.Cursor == "" {
		return nil
	}
	var place ipn.Position
	if err := c.Open(ctx, events, q.bound(), q.Cursor, &place); err != nil {
		return err
	}
	q.After = &place
	return nil
}

// After makes the cursor of the page that follows a place in the answer to a query. It fails as Seal does.
func (c *Cursors) After(ctx context.Context, q *Query, place ipn.Position) (string, error) {
	return c.Seal(ctx, events, q.bound(), place)
}

// bound is what must stay the same from page to page: everything but where the page begins and how long it is.
func (q *Query) bound() ipn.Question {
	bound := q.Question
	bound.After, bound.Limit, bound.FactsOnly = nil, 0, false
	return bound
}
