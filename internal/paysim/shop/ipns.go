package shop

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// How many IPNs are listed. A load test sends many thousands; a page must stay one.
const (
	fewest = 30  // beside every page
	most   = 200 // on their own page
)

// row is an IPN in a list: a delivery to one destination, with all its attempts.
type row struct {
	ID              int64
	Type, Reference string
	At              time.Time
	State, Mood     string // Mood is good, wait or bad: a colour beside the word
	Attempts        int
	Answer          string // the last one: a status or an error; "" before the first
	Faults          []string
}

// moods are the colours of the states of a delivery; an unknown one has none.
var moods = map[delivery.State]string{delivery.Delivered: "good", delivery.Waiting: "wait", delivery.GivenUp: "bad"}

// rowOf is a delivery in a line: its last answer, and each fault that any attempt met, once.
func rowOf(d delivery.Delivery) row {
	one := row{
		ID: d.ID, Type: d.Type, Reference: d.Notice.Get("referenceNumber"), At: d.CreatedAt,
		State: string(d.State), Mood: moods[d.State], Attempts: len(d.Attempts),
	}
	if n := len(d.Attempts); n > 0 {
		one.Answer = answer(d.Attempts[n-1])
	}
	for _, a := range d.Attempts {
		one.Faults = append(one.Faults, a.Faults...)
	}
	slices.Sort(one.Faults) // for Compact, which looks at neighbours only
	one.Faults = slices.Compact(one.Faults)
	return one
}

// answer is how an attempt ended, in a word; "" for one that has not.
func answer(a delivery.Attempt) string {
	switch {
	case a.Status != 0:
		return strconv.Itoa(a.Status)
	case a.Error != "":
		return "no answer"
	}
	return ""
}

// live is the part that a script keeps fresh, by asking for it every second: the time and the
// latest IPNs.
type live struct {
	Now        time.Time
	Rows       []row
	Subject    string // the reference that they are about; "" for all
	Configured bool   // false: IPNs go nowhere, which explains an empty list
}

// live is the fresh part for the IPNs of one reference, or of all when it is empty.
func (s *shop) live(subject string) live {
	c, ok := s.service.Configuration()
	return live{
		Now: s.now(), Subject: subject, Configured: ok && len(c.Destinations) > 0,
		Rows: s.rows(delivery.Query{Reference: subject, Limit: fewest}),
	}
}

// rows are the deliveries that a query chooses, newest first.
func (s *shop) rows(q delivery.Query) []row {
	var rows []row
	for _, d := range s.sender.Deliveries(q) {
		rows = append(rows, rowOf(d))
	}
	return rows
}

// Said is the list in a sentence, for those who hear the page.
func (l live) Said() string {
	if len(l.Rows) == 0 {
		return "No IPN yet."
	}
	newest := l.Rows[0]
	return fmt.Sprintf("Latest IPN: %s, %s.", newest.Type, newest.State)
}

// latest answers with the fresh part alone, for the reference that the query names, or for all.
func (s *shop) latest(w http.ResponseWriter, r *http.Request) {
	s.render(w, "home", http.StatusOK, "live", s.live(r.URL.Query().Get("reference")))
}

// ipnsPage lists the IPNs.
type ipnsPage struct {
	Rows  []row
	Types []string
	Query delivery.Query
}

// wide leaves out the list beside the page, which is one itself.
func (ipnsPage) wide() bool { return true }

// ipns lists the IPNs that the query of the address chooses, by type, state and reference; each may
// be empty. What is none of them finds nothing, which is no mistake.
func (s *shop) ipns(r *http.Request) (page, error) {
	form := r.URL.Query()
	q := delivery.Query{Type: form.Get("type"), State: delivery.State(form.Get("state")), Reference: form.Get("reference"), Limit: most}
	return page{name: "ipns", title: "IPNs", data: ipnsPage{s.rows(q), notice.Types(), q}}, nil
}

// ipnPage shows one IPN: each attempt, and what was sent. Half the fields of an IPN are empty, as
// on the wire; they are listed by name only.
type ipnPage struct {
	delivery.Delivery
	Mood          string
	Filled, Empty []notice.Field
	Last          *delivery.Attempt // nil before the first attempt
}

// wide leaves out the list beside the page: its fields need the room.
func (ipnPage) wide() bool { return true }

// Body is what was posted last, or will be. A fault may have cut or changed it: then it is what
// went out, not what was meant.
func (p ipnPage) Body() string {
	if p.Last != nil && len(p.Last.Body) > 0 {
		return string(p.Last.Body)
	}
	return string(p.Notice.Encode())
}

// ipn shows one delivery; 404 when there never was one of that number, or it is no longer kept.
func (s *shop) ipn(r *http.Request) (page, error) {
	id, err := number(r.PathValue("id"))
	if err != nil {
		return page{}, errNothing
	}
	d, ok := s.sender.Delivery(id)
	if !ok {
		return page{}, errNothing
	}
	p := ipnPage{Delivery: d, Mood: moods[d.State]}
	if n := len(d.Attempts); n > 0 {
		p.Last = &d.Attempts[n-1]
	}
	for _, f := range d.Notice.Fields {
		if f.Value == "" {
			p.Empty = append(p.Empty, f)
		} else {
			p.Filled = append(p.Filled, f)
		}
	}
	return page{name: "ipn", title: d.Type, data: p}, nil
}

// number reads the number of an IPN or an order.
func number(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
