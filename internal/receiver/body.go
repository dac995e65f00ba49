package receiver

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// isProbe recognises the payment service's test of the URL: a GET or HEAD without a body.
func isProbe(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0
}

// readBody reads the whole body, or returns the answer for one that is too large, empty, or breaks off. Nothing is ever
// cut to fit. The declared length only sizes the buffer; the limit is held against what really comes.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *answer) {
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, io.NopCloser(r.Body), limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, brokenBody
	case body.Len() == 0:
		return nil, emptyBody
	}
	return body.Bytes(), nil
}
