package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// action does what a request asks and returns what is answered as JSON.
type action func(r *http.Request) (any, error)

// problem is an error with the status that it is answered with.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

// invalid is the problem of a request that makes no sense, answered with 400.
func invalid(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// answering makes a handler of an action. Errors are answered as {"error": ...}; what the payment service refuses, with
// the status that its API has for it.
func answering(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		answer, err := do(r)
		if err != nil {
			write(w, status(err), map[string]string{"error": err.Error()})
			return
		}
		write(w, http.StatusOK, answer)
	}
}

// status is what an error is answered with. What tells no status of its own was wrong with the request.
func status(err error) int {
	var (
		own     *problem
		refused *paysim.Refusal
		large   *http.MaxBytesError
	)
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &own):
		return own.status
	case errors.As(err, &refused) && refused.Status >= http.StatusBadRequest:
		return refused.Status
	}
	return http.StatusBadRequest
}

// write answers with JSON that is kept by no cache and taken for nothing else by a browser.
func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(answer) // whoever asked has gone
}

// read decodes the one JSON value of a request. Fields that nobody knows are an error, as a misspelt fault must be.
func read(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("read the request: there is more than one JSON value")
	}
	return nil
}

// number reads a parameter of the query; 0 when it is not there.
func number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, invalid("%s is a number from 0", name)
	}
	return n, nil
}

// allow refuses parameters of the query other than these.
func allow(r *http.Request, names ...string) error {
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return invalid("%q means nothing here: choose from %v", name, names)
		}
	}
	return nil
}
