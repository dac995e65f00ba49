package api

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

const (
	keyHeader   = "Idempotency-Key"
	keyLifetime = 24 * time.Hour // of the simulated clock
	longestKey  = 64
	mostKeys    = 100_000 // then the oldest is forgotten before its time
)

// keeper keeps what was answered to each idempotency key.
type keeper struct {
	now func() time.Time

	mu    sync.Mutex
	kept  map[string]*keptAnswer
	order []string // of the keys, oldest first
}

// keptAnswer is the answer to the first request with a key.
type keptAnswer struct {
	request [sha256.Size]byte // digest of the first one: method, path, body
	at      time.Time
	done    bool
	status  int
	header  http.Header
	body    []byte
}

// newKeeper returns a keeper that knows no key, and forgets by a clock.
func newKeeper(now func() time.Time) *keeper {
	return &keeper{now: now, kept: map[string]*keptAnswer{}}
}

// once serves a POST that carries a key: the first request is done, any further one is answered with the first one's
// answer, byte for byte.
func (d *door) once(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get(keyHeader)
	if err := checkKey(key); err != nil {
		d.reply(w, r, answer{}, err)
		return
	}
	body, _, err := (&request{Request: r}).read()
	if err != nil {
		d.reply(w, r, answer{}, err)
		return
	}
	entry, mine, err := d.kept.claim(key, sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), body...)))
	if err != nil {
		d.reply(w, r, answer{}, err)
		return
	}
	if mine {
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.kept.settle(entry, d.record(r))
	}
	entry.replay(w)
}

// record serves the request into memory.
func (d *door) record(r *http.Request) *recorder {
	into := &recorder{header: http.Header{}, status: http.StatusOK}
	d.mux.ServeHTTP(into, r)
	return into
}

// checkKey refuses a key that is too long (60103) or has other characters than letters, digits and hyphens (60104).
func checkKey(key string) *paysim.Refusal {
	if len(key) > longestKey {
		return refusal(http.StatusBadRequest, "60103", "IDEMPOTENCY_KEY_TOO_LONG", "an idempotency key has at most 64 characters")
	}
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return refusal(http.StatusBadRequest, "60104", "IDEMPOTENCY_KEY_INVALID_CHARACTERS", "an idempotency key has letters, digits and hyphens")
	}
	return nil
}

// claim finds the key's entry or enters one; mine says that the request is the first and must be done. Another request
// under a key is refused with 60101, one whose first is still running with 60102.
func (k *keeper) claim(key string, request [sha256.Size]byte) (entry *keptAnswer, mine bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.forget(now)
	entry, known := k.kept[key]
	switch {
	case !known:
		entry = &keptAnswer{request: request, at: now}
		k.kept[key], k.order = entry, append(k.order, key)
		return entry, true, nil
	case entry.request != request:
		return nil, false, refusal(http.StatusUnprocessableEntity, "60101", "IDEMPOTENCY_KEY_REUSED", "this key came with another request")
	case !entry.done:
		return nil, false, refusal(http.StatusConflict, "60102", "IDEMPOTENCY_REQUEST_RUNNING", "the first request with this key is still running")
	}
	return entry, false, nil
}

// forget drops the keys whose time is over. The lock is held.
func (k *keeper) forget(now time.Time) {
	for len(k.order) > 0 && (len(k.order) > mostKeys || now.Sub(k.kept[k.order[0]].at) >= keyLifetime) {
		delete(k.kept, k.order[0])
		k.order = k.order[1:]
	}
}

// settle keeps what was answered.
func (k *keeper) settle(entry *keptAnswer, answered *recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry.done, entry.status, entry.header, entry.body = true, answered.status, answered.header, answered.body.Bytes()
}

// replay writes a settled answer.
func (a *keptAnswer) replay(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller who has gone hears nothing more
}

// recorder is a ResponseWriter into memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(text []byte) (int, error) { return r.body.Write(text) }
