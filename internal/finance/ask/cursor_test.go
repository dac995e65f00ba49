package ask_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func cursors(key byte) *ask.Cursors {
	return ask.NewCursors(func(context.Context) ([]byte, error) { return []byte(strings.Repeat(string(key), 32)), nil })
}

func parsed(tb testing.TB, query string) *ask.Query {
	tb.Helper()
	q, err := ask.Parse(query)
	if err != nil {
		tb.Fatal(err)
	}
	return &q
}

func TestACursorLeadsBackToItsPlace(t *testing.T) {
	t.Parallel()
	c := cursors('k')
	place := ipn.Position{At: time.Date(2026, 11, 20, 16, 30, 0, 123456000, time.UTC), ID: 1 << 62}
	cursor, err := c.After(t.Context(), parsed(t, "currency=EUR&limit=5"), place)
	if err != nil {
		t.Fatal(err)
	}
	again := parsed(t, "limit=9&currency=eur&cursor="+cursor) // the page may be longer, and the same be written in another way
	if err := c.Resume(t.Context(), again); err != nil || again.After == nil || *again.After != place {
		t.Errorf("got %+v, %v", again.After, err)
	}
	first := parsed(t, "currency=EUR")
	if err := c.Resume(t.Context(), first); err != nil || first.After != nil {
		t.Errorf("without a cursor: got %+v, %v", first.After, err)
	}
}

func TestACursorIsGoodForItsOwnQuestionOnly(t *testing.T) {
	t.Parallel()
	c := cursors('k')
	cursor, err := c.After(t.Context(), parsed(t, "currency=EUR"), ipn.Position{At: time.Now(), ID: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "currency=USD", "currency=EUR&test=false", "currency=EUR&order=received", "currency=EUR&amountFrom=1", "q=EUR"} {
		q := parsed(t, query)
		q.Cursor = cursor
		if err := c.Resume(t.Context(), q); !errors.Is(err, ask.ErrCursor) || q.After != nil {
			t.Errorf("%q: got %+v, %v", query, q.After, err)
		}
	}
	var id int64
	if err := c.Open(t.Context(), "audit", nil, cursor, &id); !errors.Is(err, ask.ErrCursor) {
		t.Errorf("another list: got %v", err)
	}
	if err := cursors('l').Resume(t.Context(), parsed(t, "currency=EUR&cursor="+cursor)); !errors.Is(err, ask.ErrCursor) {
		t.Errorf("another key: got %v", err)
	}
}

func TestAForgedCursorIsRefused(t *testing.T) {
	t.Parallel()
	c := cursors('k')
	good, err := c.Seal(t.Context(), "events", nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(good)
	changed := func(at int) string {
		other := append([]byte(nil), raw...)
		other[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(other)
	}
	for name, cursor := range map[string]string{
		"nothing in it":        "AAAA",
		"no base64":            "***",
		"base64 of another":    strings.ReplaceAll(good+"==", "_", "/"),
		"bits beyond the end":  good[:len(good)-1] + string(good[len(good)-1]+1),
		"the seal alone":       base64.RawURLEncoding.EncodeToString(raw[:16]),
		"another seal":         changed(0),
		"the seal's last byte": changed(15),
		"another place":        changed(16),
		"a longer place":       base64.RawURLEncoding.EncodeToString(append(raw, '0')),
		"a place unsealed":     base64.RawURLEncoding.EncodeToString([]byte("9223372036854775807")),
		"10 MB":                strings.Repeat("A", 10<<20),
		"a line end":           good + "\n",
		"an older cursor":      base64.RawURLEncoding.EncodeToString([]byte("\x00\x06\x44\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07")),
	} {
		var id int64
		if err := c.Open(t.Context(), "events", nil, cursor, &id); !errors.Is(err, ask.ErrCursor) || id != 0 {
			t.Errorf("%s: got %d, %v", name, id, err)
		}
	}
}

func TestTheKeyIsAskedForUntilItIsKnown(t *testing.T) {
	t.Parallel()
	asked := 0
	c := ask.NewCursors(func(context.Context) ([]byte, error) {
		if asked++; asked == 1 {
			return nil, ipn.ErrUnavailable
		}
		return []byte("key"), nil
	})
	if _, err := c.Seal(t.Context(), "events", nil, 7); !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	for range 3 {
		if _, err := c.Seal(t.Context(), "events", nil, 7); err != nil {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("it was asked for %d times", asked)
	}
}

func FuzzNoCursorIsMadeUp(f *testing.F) {
	c := cursors('k')
	good, err := c.Seal(f.Context(), "events", nil, 7)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		var id int64
		if err := c.Open(t.Context(), "events", nil, cursor, &id); err == nil && (cursor != good || id != 7) {
			t.Errorf("%q leads to %d", cursor, id)
		}
	})
}
