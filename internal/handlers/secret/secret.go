// Package secret holds texts that must not show themselves: passwords, tokens and keys that targets are reached with.
//
// The text sits in a closure, because fmt and loggers walk unexported fields, too, and because a struct with a func
// cannot be compared with ==, which no secret should be.
package secret

import (
	"fmt"
	"io"
)

const hidden = "[hidden]"

// Text is a secret. Every verb of fmt and every encoder gets "[hidden]". The zero Text is none.
type Text struct{ reveal func() string }

// New hides a text; "" gives the zero Text.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{reveal: func() string { return text }}
}

// Reveal returns the secret itself, "" of the zero Text.
func (t Text) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// IsZero tells whether there is no secret.
func (t Text) IsZero() bool { return t.reveal == nil }

// String returns "[hidden]".
func (t Text) String() string { return hidden }

// Format writes "[hidden]" whatever the verb.
func (t Text) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// MarshalText returns "[hidden]".
func (t Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }
