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
	longestKey  = 64             // bytes, which are characters: others than ASCII are refused
	mostKeys    = 100_000        // then the oldest is forgotten before its time, so that memory has a bound
)

// keeper keeps what was answered to each idempotency key. A lock of its own, held only to look and
// to note, never while a request is done: requests with different keys do not wait for each other
// here.
type keeper struct {
	now func() time.Time

	mu    sync.Mutex
	kept  map[string]*keptAnswer
	order []string // of the keys, oldest first
}

// keptAnswer is the answer to the first request with a key. What was refused is kept like what was
// done: the caller who asks again under the same key wants to know what became of it, not another
// try.
type keptAnswer struct {
	request [sha256.Size]byte // digest of the first one: method, path, body
	at      time.Time         // when the key came
	done    bool              // false: the first request still runs, and the rest is not to be read yet
	status  int
	header  http.Header
	body    []byte
}

// newKeeper returns a keeper that knows no key, and forgets by a clock.
func newKeeper(now func() time.Time) *keeper {
	return &keeper{now: now, kept: map[string]*keptAnswer{}}
}

// once serves a POST that carries a key: the first request is done, any further one is answered
// with the first one's answer, byte for byte, for a day. A body that cannot be read, or is too
// long, leaves the key unused.
func (d *door) once(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get(keyHeader)
	if err := checkKey(key); err != nil {
		replyError(w, r, err)
		return
	}
	body, _, err := (&request{r}).read()
	if err != nil {
		replyError(w, r, err)
		return
	}
	entry, mine, err := d.kept.claim(key, sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), body...)))
	if err != nil {
		replyError(w, r, err)
		return
	}
	if mine {
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.perform(entry, r)
	}
	entry.replay(w)
}

// perform serves the first request with a key into memory, and settles the entry. One that dies on
// the way has perhaps moved money: it counts as answered with 500, so that nobody who asks again
// hears for a day that it still runs, or moves it twice.
func (d *door) perform(entry *keptAnswer, r *http.Request) {
	answered := newRecorder()
	replyError(answered, r, paysim.Refuse("10000", "", ""))
	defer func() { d.kept.settle(entry, answered) }()
	into := newRecorder()
	d.mux.ServeHTTP(into, r)
	answered = into
}

// checkKey refuses a key that is too long (60103) or has other characters than letters, digits and
// hyphens (60104).
func checkKey(key string) error {
	if len(key) > longestKey {
		return paysim.Refuse("60103", "", "")
	}
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return paysim.Refuse("60104", "", "")
	}
	return nil
}

// claim finds the key's entry or enters one; mine says that the request is the first and must be
// done. Looking and entering are one step, so of two that come at once exactly one is first.
// Another request under a key is refused with 60101, one whose first is still running with 60102.
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
		return nil, false, paysim.Refuse("60101", "", "")
	case !entry.done:
		return nil, false, paysim.Refuse("60102", "", "")
	}
	return entry, false, nil
}

// forget drops the keys whose time is over, or for which there is no room, the oldest first. One
// whose request still runs, and all behind it, stay: forgotten, it would be done twice. The lock is
// held.
func (k *keeper) forget(now time.Time) {
	for len(k.order) > 0 {
		oldest := k.kept[k.order[0]]
		if !oldest.done || len(k.order) <= mostKeys && now.Sub(oldest.at) < keyLifetime {
			return
		}
		delete(k.kept, k.order[0])
		k.order = k.order[1:]
	}
}

// settle keeps what was answered. From then on the entry is never written again, so that replay
// needs no lock.
func (k *keeper) settle(entry *keptAnswer, answered *recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry.done, entry.status, entry.header, entry.body = true, answered.status, answered.header, answered.body.Bytes()
}

// replay writes a settled answer, with the headers it had: the repetition cannot be told from the
// first.
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

// newRecorder returns one that nothing was written to, which is an empty 200.
func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(text []byte) (int, error) { return r.body.Write(text) }
