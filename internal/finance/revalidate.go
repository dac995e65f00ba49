package finance

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// longestRevalidated is how many bytes of an answer are held back to be compared; a longer one goes out as it comes.
const longestRevalidated = 1 << 20

// revalidate gives answers of JSON to GET a strong ETag, the hash of their bytes, and answers 304 without them to who has
// them already (RFC 9110 13.1.2). It saves the way, not the work: who asks is judged, and the record is read, all the same.
func revalidate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldAnswer{ResponseWriter: w, known: r.Header.Values("If-None-Match")}
		next.ServeHTTP(held, r)
		held.end()
	})
}

// heldAnswer holds an answer back until it is whole, or turns out to be none that is compared.
type heldAnswer struct {
	http.ResponseWriter
	known []string // what the caller has

	begun, passing bool
	body           bytes.Buffer
}

// Unwrap lets http.ResponseController reach the connection.
func (a *heldAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *heldAnswer) WriteHeader(status int) {
	if a.begun {
		return
	}
	a.begun = true
	kind, _, _ := mime.ParseMediaType(a.Header().Get("Content-Type"))
	if status == http.StatusOK && (kind == "application/json" || strings.HasSuffix(kind, "+json")) {
		return
	}
	a.pass(status)
}

// pass lets the answer go out as it comes from now on.
func (a *heldAnswer) pass(status int) {
	a.passing = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *heldAnswer) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.passing && a.body.Len()+len(text) > longestRevalidated {
		a.pass(http.StatusOK)
		if _, err := a.ResponseWriter.Write(a.body.Bytes()); err != nil {
			return 0, err
		}
	}
	if a.passing {
		return a.ResponseWriter.Write(text)
	}
	return a.body.Write(text)
}

// end sends what was held back, unless the caller has it.
func (a *heldAnswer) end() {
	if !a.begun || a.passing {
		return
	}
	hash := sha256.Sum256(a.body.Bytes())
	tag := `"` + base64.RawURLEncoding.EncodeToString(hash[:18]) + `"`
	a.Header().Set("ETag", tag)
	if matches(a.known, tag) {
		a.Header().Del("Content-Type")
		a.ResponseWriter.WriteHeader(http.StatusNotModified)
		return
	}
	a.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	a.ResponseWriter.WriteHeader(http.StatusOK)
	_, _ = a.ResponseWriter.Write(a.body.Bytes())
}

// matches tells whether a tag is among those of If-None-Match, which are compared without their W/ (RFC 9110 13.1.2).
func matches(known []string, tag string) bool {
	for _, line := range known {
		for each := range strings.SplitSeq(line, ",") {
			if each = strings.TrimSpace(each); each == "*" || strings.TrimPrefix(each, "W/") == tag {
				return true
			}
		}
	}
	return false
}
