package control

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// APIRequest is a request that the API received. It never tells the password.
type APIRequest struct {
	ID             int64     `json:"id"` // ascends by one
	At             time.Time `json:"at"` // on the agenda
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Status         int       `json:"status"` // 0: not answered, or not yet
	Fault          string    `json:"fault,omitempty"`
	Principal      string    `json:"principal,omitempty"` // the user name that was shown, be it right or wrong
	IdempotencyKey string    `json:"idempotencyKey,omitempty"`
	Version        string    `json:"version,omitempty"` // the value of the header whose name ends in -version (specification section 9)
	ContentType    string    `json:"contentType,omitempty"`
	BodySHA256     string    `json:"bodySha256,omitempty"` // of what was read of the body; "": nothing was
}

// mostRequests is how many requests are kept.
const mostRequests = 10_000

// Wrap puts the faults and the history before an API.
func (f *APIFaults) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, struck := f.strike(r)
		entry := f.note(r, fault.Answer)
		body := &digester{ReadCloser: r.Body, sum: sha256.New()}
		answer := &counted{ResponseWriter: w}
		r.Body = body
		defer func() { f.settle(entry, answer.status, body) }()
		if struck {
			fault.misbehave(answer, r, next)
			return
		}
		next.ServeHTTP(answer, r)
	})
}

// misbehave answers in the place of the API, which is asked first if the fault says so.
func (f APIFault) misbehave(w http.ResponseWriter, r *http.Request, next http.Handler) {
	e, _ := f.effect() // checked before
	if !e.carries && !f.Done {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)) // what cannot be read is not in the digest
		e.do(f, w, r, nil)
		return
	}
	answer := &kept{header: http.Header{}}
	next.ServeHTTP(answer, r)
	e.do(f, w, r, answer)
}

// note takes a request down as it comes.
func (f *APIFaults) note(r *http.Request, fault string) *APIRequest {
	user, _, _ := r.BasicAuth()
	entry := &APIRequest{
		At: f.agenda.Now(), Method: r.Method, Path: r.URL.Path, Fault: fault, Principal: user,
		IdempotencyKey: r.Header.Get("Idempotency-Key"), Version: version(r.Header), ContentType: r.Header.Get("Content-Type"),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	entry.ID = f.asked
	f.latest = append(f.latest, entry)
	if len(f.latest) > mostRequests {
		f.latest[0] = nil // not to be kept by the array behind the slice
		f.latest = f.latest[1:]
	}
	return entry
}

func version(headers http.Header) string {
	for name := range headers {
		if strings.HasSuffix(name, "-Version") {
			return headers.Get(name)
		}
	}
	return ""
}

// settle takes down how the request was answered.
func (f *APIFaults) settle(entry *APIRequest, status int, body *digester) {
	f.mu.Lock()
	defer f.mu.Unlock()
	entry.Status = status
	if body.read > 0 {
		entry.BodySHA256 = hex.EncodeToString(body.sum.Sum(nil))
	}
	name := operation(entry)
	if f.counts[name] == nil {
		f.counts[name] = map[int]int{}
	}
	f.counts[name][status]++
}

// operation is a method and the first three parts of a path: without the numbers of transactions, of which there is no end.
func operation(r *APIRequest) string {
	parts := strings.SplitN(r.Path, "/", 5)
	return r.Method + " " + strings.Join(parts[:min(len(parts), 4)], "/")
}

// History returns copies of the latest requests that are chosen, newest first. A method of "" is any; path is what the path
// begins with; a limit of 0 is 100.
func (f *APIFaults) History(method, path string, limit int) []APIRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	chosen := []APIRequest{}
	for _, r := range slices.Backward(f.latest) {
		if len(chosen) == cmp.Or(limit, 100) {
			break
		}
		if (method == "" || method == r.Method) && strings.HasPrefix(r.Path, path) {
			chosen = append(chosen, *r)
		}
	}
	return chosen
}

// Counts returns how often each operation, such as "POST /services/2/transactions", was answered with each status, since
// the beginning; a status of 0 is no answer.
func (f *APIFaults) Counts() map[string]map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := make(map[string]map[int]int, len(f.counts))
	for name, statuses := range f.counts {
		counts[name] = map[int]int{}
		for status, n := range statuses {
			counts[name][status] = n
		}
	}
	return counts
}

func (d door) apiHistory(r *http.Request) (any, error) {
	if err := allow(r, "method", "path", "limit"); err != nil {
		return nil, err
	}
	limit, err := number(r, "limit")
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	return struct {
		Requests []APIRequest           `json:"requests"`
		Counts   map[string]map[int]int `json:"counts"`
	}{d.API.History(query.Get("method"), query.Get("path"), int(limit)), d.API.Counts()}, nil
}

// digester takes the digest of what is read of a body.
type digester struct {
	io.ReadCloser
	sum  hash.Hash
	read int
}

// Read implements io.Reader.
func (d *digester) Read(into []byte) (int, error) {
	n, err := d.ReadCloser.Read(into)
	d.sum.Write(into[:n])
	d.read += n
	return n, err
}

// counted remembers the status of an answer.
type counted struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *counted) Write(text []byte) (int, error) {
	c.status = cmp.Or(c.status, http.StatusOK)
	return c.ResponseWriter.Write(text)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
