package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const secretText = "not-a-secret-at-all"

// listener answers every third post as told and the others 200, and remembers which references it acknowledged.
type listener struct {
	third http.HandlerFunc
	asked atomic.Int64

	mu    sync.Mutex
	acked map[string]int
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if l.asked.Add(1)%3 == 0 && l.third != nil {
		l.third(w, r)
		return
	}
	secret, _ := ipn.NewSecret("k", []byte(secretText))
	check := ipn.Signature{Secrets: []ipn.Secret{secret}}
	verdict := check.Verify(body, r.Header.Values("X-IPN-Timestamp"), r.Header.Values("X-IPN-Signature"), time.Now())
	if verdict.Result != ipn.Good || verdict.Stale {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[new(ipn.Decoder).Decode(body, "").Facts.ReferenceNumber]++
}

func TestAnAttack(t *testing.T) {
	for _, c := range []struct {
		name    string
		third   http.HandlerFunc
		rate    int
		succeed bool
	}{
		{"over connections that are all acknowledged succeeds", nil, 0, true},
		{"at a rate that is all acknowledged succeeds", nil, 400, true},
		{"that is refused at times fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 400, false},
		{"that is cut off at times fails and repeats nothing", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &listener{third: c.third, acked: map[string]int{}}
			there := httptest.NewServer(l)
			defer there.Close()
			dir := t.TempDir()
			secretFile, journal := filepath.Join(dir, "secret"), filepath.Join(dir, "journal")
			if err := os.WriteFile(secretFile, []byte(secretText+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			a := &attack{URL: there.URL + "/ipn", Connections: 4, Rate: c.rate, Duration: 250 * time.Millisecond, Size: usualBody, Seed: 3,
				SecretFile: secretFile, SignatureHeader: "X-IPN-Signature", TimestampHeader: "X-IPN-Timestamp", Journal: journal}
			if err := a.Run(); (err == nil) != c.succeed {
				t.Errorf("got error %v", err)
			}
			if c.rate > 0 && l.asked.Load() != 100 {
				t.Errorf("400 a second for a quarter of a second made %d posts, want 100", l.asked.Load())
			}
			l.journalHolds(t, journal)
		})
	}
}

// journalHolds checks that the journal has just what was acknowledged, as often as it was.
func (l *listener) journalHolds(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.acked) == 0 {
		t.Error("nothing was acknowledged at all")
	}
	for line := range strings.Lines(string(text)) {
		l.acked[strings.TrimSpace(line)]--
	}
	for reference, left := range l.acked {
		if left != 0 {
			t.Errorf("reference %s: acknowledged %d times more than the journal says", reference, left)
		}
	}
}

func TestAnOpenLoopDoesNotWaitForAnswers(t *testing.T) {
	const posts = 50
	var here sync.WaitGroup // until all are in, nobody is answered
	here.Add(posts)
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		here.Done()
		here.Wait()
	}))
	defer there.Close()
	a := &attack{URL: there.URL, Rate: 500, Duration: posts * time.Second / 500, Size: usualBody}
	if err := a.Run(); err != nil {
		t.Error(err)
	}
}

func TestASenselessAttackIsRefused(t *testing.T) {
	sound := attack{Connections: 1, Duration: time.Second, Size: usualBody}
	if err := sound.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*attack){
		"no connection": func(a *attack) { a.Connections = 0 },
		"no time":       func(a *attack) { a.Duration = 0 },
		"negative rate": func(a *attack) { a.Rate = -1 },
		"tiny body":     func(a *attack) { a.Size = 10 },
	} {
		a := sound
		spoil(&a)
		if a.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, address := range []string{"https://127.0.0.1:1/ipn", "http://127.0.0.1/ipn", "127.0.0.1:8080"} {
		if _, err := (&attack{URL: address}).target(); err == nil {
			t.Errorf("%s was accepted", address)
		}
	}
}
