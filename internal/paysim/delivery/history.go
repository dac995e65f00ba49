package delivery

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// State is where a delivery stands.
type State string

// The states of a delivery.
const (
	Waiting   State = "waiting"   // on its way, or waiting for its next attempt
	Delivered State = "delivered" // a 200 arrived
	GivenUp   State = "given up"  // the last attempt failed
)

// States returns the states that a delivery may have.
func States() []State { return []State{Waiting, Delivered, GivenUp} }

// Delivery is one notice on its way to one URL.
type Delivery struct {
	ID        int64         `json:"id"` // ascends by one, in the order of sending
	Type      string        `json:"transactionType"`
	URL       string        `json:"url"`
	CreatedAt time.Time     `json:"createdAt"`        // on the agenda
	Origin    string        `json:"origin,omitempty"` // the fault that it was added by; "" for what really happened
	Notice    notice.Notice `json:"notice"`
	State     State         `json:"state"`
	Note      string        `json:"note,omitempty"`   // what else became of it
	NextAt    *time.Time    `json:"nextAt,omitempty"` // of the next attempt, on the agenda; nil: none is planned
	Attempts  []Attempt     `json:"attempts"`         // that are over, oldest first
}

// Attempt is one post of a delivery. All but Body are as they were on the wire, or would have been, had the request not
// been lost.
type Attempt struct {
	Number       int           `json:"number"`           // from 1; a duplicate has the number of what it repeats
	At           time.Time     `json:"at"`               // when it began, on the agenda
	Faults       []string      `json:"faults,omitempty"` // the names of those that touched it
	Headers      http.Header   `json:"headers"`
	Body         Body          `json:"body"`             // the whole, also of an attempt that was cut
	Status       int           `json:"status,omitempty"` // of the answer, also of one that was thrown away; 0: there was none
	Error        string        `json:"error,omitempty"`  // why no answer counts
	Took         time.Duration `json:"-"`                // of the world's time; in JSON as text, such as "1.5ms"
	Acknowledged bool          `json:"acknowledged"`     // a 200 arrived, and was not thrown away
}

// Body is the bytes of a body. In JSON they are a string: what is sent is ASCII in every charset.
type Body []byte

// MarshalText implements encoding.TextMarshaler.
func (b Body) MarshalText() ([]byte, error) { return b, nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Body) UnmarshalText(text []byte) error {
	*b = slices.Clone(text)
	return nil
}

// MarshalJSON adds took.
func (a Attempt) MarshalJSON() ([]byte, error) {
	type plain Attempt
	return json.Marshal(struct {
		plain
		Took string `json:"took"`
	}{plain(a), a.Took.String()})
}

// Query chooses deliveries. What is zero does not restrict.
type Query struct {
	Type      string
	State     State
	Reference string // the notice's referenceNumber
	After     int64  // only those with a larger ID
	Oldest    bool   // the oldest first: with After, for whoever follows the history
	Limit     int    // at most so many; 0: 100
}

// Deliveries returns copies of the deliveries that q chooses, newest first unless q says otherwise.
func (s *Sender) Deliveries(q Query) []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Limit <= 0 {
		q.Limit = 100
	}
	chosen := []Delivery{}
	look := func(r *record) bool {
		if q.matches(r) {
			chosen = append(chosen, r.copy())
		}
		return len(chosen) < q.Limit
	}
	s.history.each(q, look)
	return chosen
}

func (q Query) matches(r *record) bool {
	return (q.Type == "" || q.Type == r.Type) && (q.State == "" || q.State == r.State) &&
		(q.Reference == "" || q.Reference == r.Notice.Get("referenceNumber"))
}

// Delivery returns a copy of one delivery; false when it never was, or is no longer kept.
func (s *Sender) Delivery(id int64) (Delivery, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.history.find(id)
	if r == nil {
		return Delivery{}, false
	}
	return r.copy(), true
}

// record is a delivery as the sender keeps it.
type record struct {
	Delivery
	body []byte // encoded, shared by all attempts that no fault changes
	line *line  // of the ledger
}

func (r *record) copy() Delivery {
	d := r.Delivery
	d.Attempts = slices.Clone(d.Attempts)
	return d
}

// history is the latest deliveries, oldest first. Their numbers have no gaps.
type history struct {
	keep  int
	last  int64
	items []*record
}

func (h *history) add(r *record) {
	h.last++
	r.ID = h.last
	h.items = append(h.items, r)
	if len(h.items) > h.keep {
		h.items[0] = nil // not to be kept by the array behind the slice
		h.items = h.items[1:]
	}
}

func (h *history) find(id int64) *record {
	i := h.index(id)
	if i < 0 || i >= len(h.items) {
		return nil
	}
	return h.items[i]
}

func (h *history) index(id int64) int { return int(id - (h.last - int64(len(h.items)) + 1)) }

// each shows the deliveries after a number, in the order that q asks for, until look has seen enough.
func (h *history) each(q Query, look func(*record) bool) {
	items := h.items[min(max(h.index(q.After+1), 0), len(h.items)):]
	order := slices.Backward[[]*record]
	if q.Oldest {
		order = slices.All[[]*record]
	}
	for _, r := range order(items) {
		if !look(r) {
			return
		}
	}
}
