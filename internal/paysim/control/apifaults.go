package control

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
)

// APIFault is a rule by which the API misbehaves.
type APIFault struct {
	Answer     string `json:"answer"`               // a status, such as 503, or garbage, empty, huge, slow, hang, cut or drop
	Method     string `json:"method,omitempty"`     // "": any
	Path       string `json:"path,omitempty"`       // what the path begins with; "": any
	Times      int    `json:"times,omitempty"`      // strikes so often; 0: without end
	Status     int    `json:"status,omitempty"`     // of what is garbage, empty or huge; 0: 200
	Code       string `json:"code,omitempty"`       // of the error body of a status from 400 on, such as 14016; "": 10000
	Name       string `json:"name,omitempty"`       // beside Code, such as NO_AVAILABLE_PROCESSORS; "" with a Code: none is told
	RetryAfter string `json:"retryAfter,omitempty"` // a header of the answer
	Location   string `json:"location,omitempty"`   // a header of the answer
	Delay      string `json:"delay,omitempty"`      // slow: how late, of the world's time; "": 5s
	Done       bool   `json:"done,omitempty"`       // the request is carried out all the same, and its answer thrown away
}

// apiEffect is what a fault does. The last argument of do is the API's own answer; nil where the request was not carried out.
type apiEffect struct {
	meaning string
	carries bool // always carries the request out
	do      func(f APIFault, w http.ResponseWriter, r *http.Request, answer *kept)
}

// anyStatus stands in the table, and in the door's description, for every number from 200 to 599.
const anyStatus = "a status"

// apiEffects is the closed table of the API's faults.
var apiEffects = map[string]apiEffect{
	anyStatus: {meaning: "such as 503: that, with a documented error body from 400 on", do: answerStatus},
	"garbage": {meaning: "an answer that is no JSON", do: func(f APIFault, w http.ResponseWriter, _ *http.Request, _ *kept) {
		f.answer(w, `{"taxReference":"7e1`+"\x00\xff<html>")
	}},
	"empty": {meaning: "an answer without a body", do: func(f APIFault, w http.ResponseWriter, _ *http.Request, _ *kept) { f.answer(w, "") }},
	"huge":  {meaning: "an answer of 100 MB", do: answerHuge},
	"slow":  {meaning: "the right answer, late", carries: true, do: answerLate},
	"hang":  {meaning: "no answer, until the client gives up", do: func(_ APIFault, _ http.ResponseWriter, r *http.Request, _ *kept) { <-r.Context().Done() }},
	"cut":   {meaning: "half of the right answer, then the connection is closed", carries: true, do: answerHalf},
	"drop":  {meaning: "the connection is closed without an answer", do: func(APIFault, http.ResponseWriter, *http.Request, *kept) { panic(http.ErrAbortHandler) }},
}

// effect is what the fault does; false when its answer is neither in the table nor a status.
func (f APIFault) effect() (apiEffect, bool) {
	if status, err := strconv.Atoi(f.Answer); err == nil {
		return apiEffects[anyStatus], status >= 200 && status <= 599
	}
	e, known := apiEffects[f.Answer]
	return e, known && f.Answer != anyStatus
}

// apiFaultNames lists what stands in the table, sorted: a status first.
func apiFaultNames() []string { return slices.Sorted(maps.Keys(apiEffects)) }

// answer is an answer in the API's place. It claims to be JSON whatever it is, as a service in trouble would.
func (f APIFault) answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Retry-After": f.RetryAfter, "Location": f.Location} {
		if value != "" {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(cmp.Or(f.Status, http.StatusOK))
	_, _ = io.WriteString(w, body) // the client has gone
}

// answerStatus answers as a service that has trouble: with the documented error body, or, below 400, with none.
func answerStatus(f APIFault, w http.ResponseWriter, _ *http.Request, _ *kept) {
	f.Status, _ = strconv.Atoi(f.Answer) // checked before
	body := ""
	if f.Status >= http.StatusBadRequest {
		body = f.errorBody()
	}
	f.answer(w, body)
}

// errorBody is a documented error body with the code and the name of the rule; a general failure where it has neither.
func (f APIFault) errorBody() string {
	if f.Code == "" && f.Name == "" {
		f.Code, f.Name = "10000", "SERVER_GENERAL_FAILURE"
	}
	message := map[string]string{"description": "The simulator was told to fail."}
	for name, value := range map[string]string{"code": f.Code, "errorName": f.Name} {
		if value != "" {
			message[name] = value
		}
	}
	text, err := json.Marshal(map[string]any{"message": []any{message}})
	if err != nil {
		panic(err) // texts alone
	}
	return string(text)
}

// answerHuge never ends the string that it begins: it is no JSON, however much of it is read.
func answerHuge(f APIFault, w http.ResponseWriter, _ *http.Request, _ *kept) {
	piece := bytes.Repeat([]byte("a"), 100_000)
	f.answer(w, `{"padding":"`)
	for range 1000 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// answerLate holds back the API's own answer.
func answerLate(f APIFault, w http.ResponseWriter, r *http.Request, answer *kept) {
	timer := time.NewTimer(f.delay())
	defer timer.Stop()
	select {
	case <-timer.C:
		answer.send(w, answer.body.Len())
	case <-r.Context().Done():
	}
}

// answerHalf declares the whole length of the API's own answer and breaks off: the client knows that it has not read all, and
// not whether the request was carried out. It was. An empty answer declares one byte, or nothing would be missing.
func answerHalf(_ APIFault, w http.ResponseWriter, _ *http.Request, answer *kept) {
	w.Header().Set("Content-Length", strconv.Itoa(max(answer.body.Len(), 1)))
	answer.send(w, answer.body.Len()/2)
	_ = http.NewResponseController(w).Flush() // the connection is closed anyway
	panic(http.ErrAbortHandler)
}

// kept is an answer that has not been sent. It is held in memory: the API's own answers are small.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header            { return k.header }
func (k *kept) Write(text []byte) (int, error) { return k.body.Write(text) }
func (k *kept) WriteHeader(status int)         { k.status = cmp.Or(k.status, status) }

// send sends the answer and so many bytes of its body.
func (k *kept) send(w http.ResponseWriter, bytes int) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(cmp.Or(k.status, http.StatusOK))
	_, _ = w.Write(k.body.Bytes()[:bytes]) // the client has gone
}

// delay is how late an answer is; checked before.
func (f APIFault) delay() time.Duration {
	delay, _ := time.ParseDuration(cmp.Or(f.Delay, "5s"))
	return delay
}

// check tells what is wrong with a rule. What the rule's answer has no use for is let be.
func (f APIFault) check() error {
	delay, err := time.ParseDuration(cmp.Or(f.Delay, "5s"))
	_, known := f.effect()
	switch {
	case !known:
		return fmt.Errorf("no answer is called %q: choose a status from 200 to 599, or from %s", f.Answer, strings.Join(apiFaultNames()[1:], ", "))
	case f.Times < 0:
		return errors.New("times is negative")
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return errors.New("the status is not from 200 to 599")
	case (f.Code != "" || f.Name != "") && (len(f.Answer) != 3 || f.Answer < "400"):
		return errors.New("code and name are those of an error: the answer must be a status from 400 on")
	case err != nil || delay < 0:
		return errors.New("delay is a duration such as 5s")
	}
	return nil
}

// touches compares the beginning of the path, so that one rule can be for an operation with all its numbers.
func (f APIFault) touches(r *http.Request) bool {
	return (f.Method == "" || f.Method == r.Method) && strings.HasPrefix(r.URL.Path, f.Path)
}

// APIFaults lets an API misbehave on request and keeps what it was asked. Its methods may be called from anywhere at any
// time.
type APIFaults struct {
	agenda *agenda.Agenda

	mu     sync.Mutex
	rules  []*apiRule
	asked  int64
	latest []*APIRequest // oldest first
	counts map[string]map[int]int
}

type apiRule struct {
	APIFault
	struck int
}

// NewAPIFaults returns one without faults, whose history is dated by the agenda.
func NewAPIFaults(a *agenda.Agenda) *APIFaults {
	return &APIFaults{agenda: a, counts: map[string]map[int]int{}}
}

// Set replaces all rules. Its error says which rule cannot be used and why, and then nothing changes.
func (f *APIFaults) Set(faults []APIFault) error {
	rules := make([]*apiRule, 0, len(faults))
	for i, fault := range faults {
		if err := fault.check(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		rules = append(rules, &apiRule{APIFault: fault})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = rules
	return nil
}

// Faults returns the rules in force, as they were set.
func (f *APIFaults) Faults() []APIFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	faults := make([]APIFault, 0, len(f.rules))
	for _, r := range f.rules {
		faults = append(faults, r.APIFault)
	}
	return faults
}

// strike returns the first rule that strikes a request. Rules after it do not count it: two rules of the same path strike one
// after the other, which is how a story of several failures is told.
func (f *APIFaults) strike(r *http.Request) (APIFault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range f.rules {
		if rule.touches(r) && (rule.Times == 0 || rule.struck < rule.Times) {
			rule.struck++
			return rule.APIFault, true
		}
	}
	return APIFault{}, false
}

func (d door) apiFaults(*http.Request) (any, error) { return d.API.Faults(), nil }

func (d door) setAPIFaults(r *http.Request) (any, error) {
	var faults []APIFault
	if err := read(r, &faults); err != nil {
		return nil, err
	}
	if err := d.API.Set(faults); err != nil {
		return nil, err
	}
	return d.API.Faults(), nil
}

func (d door) clearAPIFaults(*http.Request) (any, error) {
	return json.RawMessage("[]"), d.API.Set(nil)
}
