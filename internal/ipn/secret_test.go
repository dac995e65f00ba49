package ipn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const keyText = "example-ipn-security-key-0001"

func secret(tb testing.TB, id, text string) ipn.Secret {
	tb.Helper()
	s, err := ipn.NewSecret(id, []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestASecretShowsItselfNowhere(t *testing.T) {
	s := secret(t, "current", keyText)
	type nested struct {
		Public ipn.Secret
		inner  ipn.Secret
	}
	values := []any{s, &s, []ipn.Secret{s}, map[string]ipn.Secret{"k": s}, nested{s, s}, &nested{s, s}, ipn.Signature{Secrets: []ipn.Secret{s}}}
	var shown strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&shown, verb+"\n", v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	text, _ := s.MarshalText()
	shown.Write(text)
	slog.New(slog.NewTextHandler(&shown, nil)).Info("secret", "s", s, "n", nested{s, s})
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("secret", "s", s, "n", nested{s, s})
	for _, leak := range []string{keyText, fmt.Sprintf("%x", keyText), fmt.Sprintf("%X", keyText), strings.Trim(fmt.Sprint([]byte(keyText)), "[]"), "ZXhhbXBsZS1pcG4"} {
		if strings.Contains(shown.String(), leak) {
			t.Errorf("the key shows itself as %q", leak)
		}
	}
	if got := s.String() + s.GoString(); got != "[hidden][hidden]" {
		t.Errorf("got %s, want it hidden", got)
	}
	if got := fmt.Sprintf("%s %v %+v %#v", s, s, s, s); got != "[hidden] [hidden] [hidden] [hidden]" {
		t.Errorf("got %s, want it hidden", got)
	}
}

func TestASecretIsItsTextWithoutOneNewline(t *testing.T) {
	want := secret(t, "", keyText).Sign("ts", nil)
	for _, tt := range []struct {
		name, text string
		same       bool
	}{
		{"a newline", keyText + "\n", true},
		{"a carriage return and newline", keyText + "\r\n", true},
		{"two newlines", keyText + "\n\n", false},
		{"a carriage return", keyText + "\r", false},
		{"a space", keyText + " ", false},
		{"a newline before", "\n" + keyText, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := secret(t, "", tt.text).Sign("ts", nil); (got == want) != tt.same {
				t.Errorf("same key: got %v, want %v", got == want, tt.same)
			}
		})
	}
}

func TestASecretKeepsItsOwnCopy(t *testing.T) {
	text := []byte(keyText)
	s, err := ipn.NewSecret("", text)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Sign("ts", nil)
	clear(text)
	if s.Sign("ts", nil) != before {
		t.Error("the secret changed with the caller's bytes")
	}
}

func TestSecretsOutOfBoundsAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, id, text, want string }{
		{"empty", "a", "", `secret "a": 0 bytes are too few: set a random key of at least 16`},
		{"fifteen bytes and a newline", "", "fifteen-bytes-x\n", `secret "": 15 bytes are too few: set a random key of at least 16`},
		{"another file", "", strings.Repeat("x", 4097), `secret "": 4097 bytes are too many: set one key of at most 4096, not another file`},
		{"an id that is a text", "two words", keyText, `secret id: use up to 64 letters, digits, '-', '_' and '.'`},
		{"a long id", strings.Repeat("x", 65), keyText, `secret id: use up to 64 letters, digits, '-', '_' and '.'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ipn.NewSecret(tt.id, []byte(tt.text))
			if err == nil || err.Error() != tt.want || !s.IsZero() {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	for _, size := range []int{16, 4096} {
		if _, err := ipn.NewSecret("", bytes.Repeat([]byte("x"), size)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestASecretHasAName(t *testing.T) {
	if got := secret(t, "2026-current", keyText).ID(); got != "2026-current" {
		t.Errorf("got %q, want the given id", got)
	}
	// printf '%s' example-ipn-security-key-0001 | sha256sum
	if got, want := secret(t, "", keyText).ID(), "545a1fd5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASecretMatchesItsOwnTextOnly(t *testing.T) {
	s := secret(t, "", keyText)
	if !s.Matches(keyText) || s.Matches(keyText+"\n") || s.Matches("") || s.Matches(keyText[1:]) || (ipn.Secret{}).Matches("") {
		t.Error("want the secret to match its text and no other, the zero secret none")
	}
}
