package main

import (
	"context"
	"errors"
	"io"
)

// interruptible is standard input that ends with ctx. A read of a terminal ends only when something is typed, so that a person
// could not leave a question by Ctrl-C. What was typed into a read that was left is lost; the program is about to end.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (i interruptible) Read(into []byte) (int, error) {
	type part struct {
		text []byte
		err  error
	}
	typed := make(chan part, 1)
	go func() {
		text := make([]byte, len(into)) // into is the caller's again once this Read has ended
		n, err := i.from.Read(text)
		typed <- part{text[:n], err}
	}()
	select {
	case p := <-typed:
		return copy(into, p.text), p.err
	case <-i.ctx.Done():
		return 0, errors.New("interrupted")
	}
}
