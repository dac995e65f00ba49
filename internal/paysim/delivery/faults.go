package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Fault is a rule by which the sender misbehaves.
//
// A rule looks at each attempt of its types as it becomes due (change-field at each resend, unknown-type and burst at each
// notice that was sent) and strikes each time, or every so many times, or by chance.
type Fault struct {
	Name        string   `json:"name"`                  // one of FaultNames
	Types       []string `json:"types,omitempty"`       // transactionTypes; empty: all
	Every       int      `json:"every,omitempty"`       // strikes each time that this number of times has come; 0: see Probability
	Probability float64  `json:"probability,omitempty"` // by chance, from 0 to 1; 0, with Every 0: each time
	Times       int      `json:"times,omitempty"`       // strikes at most so often; 0: without end
	// Delay is, of the simulated time: how much later (delay; default 1 h), how long at most to wait to be overtaken
	// (reorder; default 1 min). Of the world's: how old the timestamp is (old-timestamp; default 100 h), how long the burst
	// lasts (burst; default 1 s).
	Delay     time.Duration `json:"-"`                   // in JSON as text, such as "90m"
	Field     string        `json:"field,omitempty"`     // change-field: which; "": referrer
	Value     string        `json:"value,omitempty"`     // change-field: to what; unknown-type: its name; "" lets the sender choose
	PerSecond float64       `json:"perSecond,omitempty"` // burst: notices in a second of the world's; 0: 10
}

// FaultNames returns the names that a Fault may have, sorted.
func FaultNames() []string { return slices.Sorted(maps.Keys(effects)) }

// FaultMeaning says in a line what a fault does; "" for a name that is none.
func FaultMeaning(name string) string { return effects[name].meaning }

// MarshalJSON adds delay.
func (f Fault) MarshalJSON() ([]byte, error) {
	w := wireFault{plainFault: plainFault(f)}
	if f.Delay != 0 {
		w.Delay = f.Delay.String()
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads delay, a text such as "90m".
func (f *Fault) UnmarshalJSON(text []byte) error {
	var w wireFault
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return err
	}
	*f = Fault(w.plainFault)
	if w.Delay == "" {
		return nil
	}
	delay, err := time.ParseDuration(w.Delay)
	f.Delay = delay
	return err
}

type plainFault Fault

type wireFault struct {
	plainFault
	Delay string `json:"delay,omitempty"`
}

// SetFaults replaces all rules. Its error says which rule cannot be used and why, and then nothing changes.
func (s *Sender) SetFaults(faults []Fault) error {
	rules := make([]*rule, 0, len(faults))
	for i, f := range faults {
		if err := f.check(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		f.Types = slices.Clone(f.Types)
		rules = append(rules, &rule{Fault: f})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = rules
	return nil
}

// Faults returns the rules in force, as they were set.
func (s *Sender) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := make([]Fault, 0, len(s.rules))
	for _, r := range s.rules {
		faults = append(faults, r.Fault)
	}
	return faults
}

func (f Fault) check() error {
	e, known := effects[f.Name]
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{!known, fmt.Sprintf("no fault is called %q: choose from %s", f.Name, strings.Join(FaultNames(), ", "))},
		{f.Every < 0 || f.Times < 0 || f.Delay < 0 || f.PerSecond < 0, "a number is negative"},
		{math.IsNaN(f.Probability) || f.Probability < 0 || f.Probability > 1, "the probability is not from 0 to 1"},
		{f.Every > 0 && f.Probability > 0, "every and probability are two ways to say when: choose one"},
		{f.Delay > 0 && e.delay == 0, "a delay means nothing to it"},
		{f.Field != "" && f.Name != "change-field", "a field means nothing to it"},
		{f.Value != "" && !e.value, "a value means nothing to it"},
		{f.PerSecond > 0 && f.Name != bursting, "perSecond means nothing to it"},
		{f.Name == bursting && !(e.filled(f).burst() <= MostBurst), fmt.Sprintf("a burst has %d notices at most", MostBurst)}, // written to be true of NaN
	} {
		if c.wrong {
			return errors.New(c.why)
		}
	}
	return nil
}

func (f Fault) touches(transactionType string) bool {
	return len(f.Types) == 0 || slices.Contains(f.Types, transactionType)
}

// rule is a fault in force.
type rule struct {
	Fault
	looked, struck int
}

// choose returns the faults that strike, of those that an attempt is open to; of each name at most one. What was left to
// the sender is filled in. The lock is held.
func (s *Sender) choose(open func(effect, Fault) bool) []Fault {
	var chosen []Fault
	for _, r := range s.rules {
		e := effects[r.Name]
		if !open(e, r.Fault) || !r.strikes(s.random.Float64()) {
			continue
		}
		if f := e.filled(r.Fault); !slices.ContainsFunc(chosen, func(c Fault) bool { return c.Name == f.Name }) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// strikes decides by count, or by a number drawn from 0 to 1.
func (r *rule) strikes(drawn float64) bool {
	r.looked++
	if r.Times > 0 && r.struck >= r.Times || r.Every > 0 && r.looked%r.Every != 0 || r.Probability > 0 && drawn >= r.Probability {
		return false
	}
	r.struck++
	return true
}

// fault returns the fault of a name that touches the attempt.
func (a attempt) fault(name string) (Fault, bool) {
	for _, f := range a.faults {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}
