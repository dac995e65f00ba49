package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The times of readiness: a balancer that asks every 100 ms costs the database
// one probe a second, and one that hangs holds nobody up for longer than two.
const (
	probeTTL     = time.Second
	probeTimeout = 2 * time.Second
)

// Check is one condition of being ready.
type Check struct {
	Name string // what is checked: "database"
	// Probe returns nil when all is well. Else its text is shown by /readyz on the
	// private door: what is wrong and how to mend it, and no secret. It must heed
	// ctx, which ends after two seconds.
	Probe func(ctx context.Context) error
}

// Complaint is one check that failed.
type Complaint struct {
	Check   string `json:"check"`
	Problem string `json:"problem"`
}

// Health answers the two questions of an orchestrator: does the process turn
// (live), and can it accept durably (ready). They differ on purpose: a process
// whose database is away is alive, and restarting it would help nobody.
type Health struct {
	checks   []Check
	draining atomic.Bool

	mu         sync.Mutex // held while probing, so that those who ask together probe once
	asked      time.Time
	complaints []Complaint
}

// NewHealth is ready when all the checks pass and Drain was not called.
func NewHealth(checks ...Check) *Health { return &Health{checks: checks} }

// Drain makes the process unready for good.
func (h *Health) Drain() { h.draining.Store(true) }

// Complaints are the checks that fail, in the order given to NewHealth, draining
// first; empty means ready. Answers of the checks are up to a second old.
func (h *Health) Complaints() []Complaint {
	var found []Complaint
	if h.draining.Load() {
		found = append(found, Complaint{Check: "draining", Problem: "the process is stopping; send elsewhere"})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked.IsZero() || time.Since(h.asked) >= probeTTL {
		h.complaints = h.probeAll()
		h.asked = time.Now()
	}
	return append(found, h.complaints...)
}

// probeAll asks all checks at once. It does not use the context of the request
// that asks: its answer is kept for others.
func (h *Health) probeAll() []Complaint {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	answers := make([]chan error, len(h.checks))
	for i, check := range h.checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- check.Probe(ctx) }()
	}
	var found []Complaint
	for i, check := range h.checks {
		if err := await(ctx, answers[i]); err != nil {
			found = append(found, Complaint{Check: check.Name, Problem: oneLine(err.Error())})
		}
	}
	return found
}

// await prefers an answer to the end of time, as a probe that heeds its context
// gives both at once.
func await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-answer:
		return err
	default:
		return fmt.Errorf("no answer within %s", probeTimeout)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Live is /livez: 200 and "ok" as long as the process turns.
func (h *Health) Live() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeHealth(w, r, nil)
	})
}

// Ready is /readyz: 200 and "ok", or 503 with a line for each check that fails.
// Who accepts application/json gets {"ok":false,"problems":[{"check","problem"}]}.
func (h *Health) Ready() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeHealth(w, r, h.Complaints())
	})
}

func writeHealth(w http.ResponseWriter, r *http.Request, complaints []Complaint) {
	status := http.StatusOK
	if len(complaints) > 0 {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		writeHealthJSON(w, status, complaints)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if len(complaints) == 0 {
		_, _ = fmt.Fprintln(w, "ok")
	}
	for _, c := range complaints {
		_, _ = fmt.Fprintf(w, "%s: %s\n", c.Check, c.Problem)
	}
}

func writeHealthJSON(w http.ResponseWriter, status int, complaints []Complaint) {
	answer := struct {
		OK       bool        `json:"ok"`
		Problems []Complaint `json:"problems"`
	}{OK: len(complaints) == 0, Problems: append([]Complaint{}, complaints...)}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // fails only when the caller has gone
}
