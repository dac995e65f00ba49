// Package delivery sends the simulator's IPNs: it tries again as the payment service does, misbehaves where it is told to,
// and keeps what was sent and what was answered.
//
// Its one non-obvious decision is that faults are decided when an attempt becomes due and not while it is posted: the seed
// and the order of events alone say what goes wrong, however fast the receiver answers, and each fault leaves its name on
// the attempt that it touched.
package delivery

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Config says how a Sender sends. Only Agenda is required.
type Config struct {
	Agenda *agenda.Agenda
	// Key signs; it is asked for each attempt. Nil, or an empty answer: the attempt is not signed.
	Key             func() []byte
	SignatureHeader string // "": X-IPN-Signature
	TimestampHeader string // "": X-IPN-Timestamp
	UserAgent       string // "": paysim/1
	NodeField       string // of the samples that faults and bursts add; "": serviceNode
	// Client posts. Nil: one that asks no proxy and waits 10 s of the world's time at most. No client follows redirects.
	Client       *http.Client
	Seed         uint64        // of all chance
	Attempts     int           // in all; 0: 11
	Interval     time.Duration // between them, on the agenda; 0: 4 h
	DefaultsOnly bool          // only the types that the service sent by default in older days are tried again
	Keep         int           // how many deliveries are kept in full, the latest; 0: 10,000
}

// Sender sends IPNs. Its methods may be called from anywhere at any time, also by entries of the agenda; Run alone waits
// for the receiver.
type Sender struct {
	config Config
	client *http.Client

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, whenever something below has changed
	random  *rand.Rand
	rules   []*rule
	turn    int64                 // of the attempt that departed last
	sampled uint64                // seed of the last sample; they count up
	queue   []attempt             // due, in order
	held    []attempt             // due, but waiting to be overtaken
	later   map[*record]time.Time // entered on the agenda, and when
	bursts  []burst               // not begun
	posting int                   // attempts that Run has begun
	playing int                   // bursts that Run has begun
	history history
	ledger  ledger
}

// attempt is a try of a delivery that is due.
type attempt struct {
	of     *record
	number int     // from 1
	turn   int64   // ascends in the order of departing
	faults []Fault // that touch it
	id     string  // an ipnId, for a fault that wants another
}

// New returns a sender that sends nothing before Run.
func New(c Config) *Sender {
	c.SignatureHeader = cmp.Or(c.SignatureHeader, "X-IPN-Signature")
	c.TimestampHeader = cmp.Or(c.TimestampHeader, "X-IPN-Timestamp")
	c.UserAgent = cmp.Or(c.UserAgent, "paysim/1")
	c.NodeField = cmp.Or(c.NodeField, "serviceNode")
	c.Attempts = cmp.Or(c.Attempts, 11)
	c.Interval = cmp.Or(c.Interval, 4*time.Hour)
	if c.Key == nil {
		c.Key = func() []byte { return nil }
	}
	return &Sender{
		config: c, client: newClient(c.Client), changed: make(chan struct{}), random: rand.New(rand.NewPCG(c.Seed, 1)),
		sampled: rand.New(rand.NewPCG(c.Seed, 2)).Uint64(),
		later:   map[*record]time.Time{}, history: history{keep: cmp.Or(c.Keep, 10_000)}, ledger: newLedger(),
	}
}

// Send takes a notice on its way to a URL. It never blocks.
func (s *Sender) Send(url string, n notice.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(url, n, "")
	s.besides(url, n)
	s.tell()
}

// add begins a delivery: its first attempt is due. The lock is held.
func (s *Sender) add(url string, n notice.Notice, origin string) {
	r := &record{body: n.Encode()}
	r.Delivery = Delivery{Type: n.Type, URL: url, CreatedAt: s.config.Agenda.Now(), Origin: origin, Notice: n, State: Waiting}
	r.line = s.ledger.enter(n, r.body)
	s.history.add(r)
	s.attempt(r, 1)
}

// attempt decides what goes wrong with an attempt that is due, and puts it on its way, or on the agenda for later. The lock
// is held.
func (s *Sender) attempt(r *record, number int) {
	a := attempt{of: r, number: number, id: s.uuid()}
	a.faults = s.choose(func(e effect, f Fault) bool {
		return e.stage != beside && (number > 1 || !e.resends) && f.touches(r.Type)
	})
	if f, found := a.fault(delayed); found {
		s.enter(r, s.config.Agenda.Now().Add(f.Delay), func() { s.depart(a) })
		return
	}
	s.depart(a)
}

// depart puts an attempt on its way, unless it waits to be overtaken: by attempts that depart after it, which is why the
// turns are given out here. The lock is held.
func (s *Sender) depart(a attempt) {
	s.turn++
	a.turn = s.turn
	if f, found := a.fault(reordered); found {
		s.held = append(s.held, a)
		s.config.Agenda.After(f.Delay, s.letGo)
		return
	}
	s.queue = append(s.queue, a)
}

// enter does something with a delivery at a time of the agenda, with the lock held, as it is now.
func (s *Sender) enter(r *record, at time.Time, do func()) {
	s.later[r], r.NextAt = at, &at
	s.config.Agenda.At(at, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.later, r)
		r.NextAt = nil
		do()
		s.tell()
	})
}

// letGo puts all attempts on their way that are held back.
func (s *Sender) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(s.turn + 1)
	s.tell()
}

// release lets go of what was held back before a turn, the latest first: should nothing else overtake them, they overtake
// each other. The lock is held.
func (s *Sender) release(before int64) {
	var still []attempt
	for _, a := range s.held {
		if a.turn >= before {
			still = append(still, a)
		}
	}
	for i := len(s.held) - 1; i >= 0; i-- {
		if s.held[i].turn < before {
			s.queue = append(s.queue, s.held[i])
		}
	}
	s.held = still
}

// settle takes down what became of an attempt. A delivery that no 200 arrived for is tried again, (k-1) intervals after it
// began for the k-th time, until it is given up.
func (s *Sender) settle(a attempt, done []Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := a.of
	r.Attempts = append(r.Attempts, done...)
	s.ledger.settle(r.line, done)
	switch last, why := s.last(a); {
	case acknowledged(done):
		r.State = Delivered
	case last:
		r.State, r.Note = GivenUp, why
	default:
		at := r.CreatedAt.Add(time.Duration(a.number) * s.config.Interval)
		s.enter(r, at, func() { s.attempt(r, a.number+1) })
	}
	s.posting--
	s.release(a.turn) // it has overtaken them
	s.tell()
}

// last tells whether an attempt is the last of its delivery, and what is noted if it fails.
func (s *Sender) last(a attempt) (bool, string) {
	if s.config.DefaultsOnly && !defaults[a.of.Type] {
		return true, "this type is not sent again"
	}
	return a.number >= s.config.Attempts, `the account's contact was sent the e-mail "IPN/Webhook failure"`
}

// defaults lists the types that the service sent by default in older days, and alone sent again.
var defaults = map[string]bool{
	"CHARGE": true, "RECURRING": true, "AUTH_ONLY": true, "DECLINE": true, "REFUND": true, "CANCELLATION": true,
	"CANCEL_ON_RENEWAL": true, "CANCELLATION_REFUND": true, "CONTRACT_CHANGE": true, "SUBSCRIPTION_REMINDER": true,
	"CHARGEBACK": true, "CHARGEBACK_STATUS_CHANGED": true,
}

// Idle waits until nothing is on its way or due. A retry or a delayed attempt does not count before its time has come; what
// is held back to be overtaken is let go of when there is nothing else. It waits in vain while Run does not run, and for an
// agenda that nobody moves. Its only error is that of ctx.
func (s *Sender) Idle(ctx context.Context) error {
	for {
		changed, idle := s.idle()
		if idle {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *Sender) idle() (changed <-chan struct{}, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posting > 0 || s.playing > 0 || len(s.queue) > 0 || len(s.bursts) > 0 || s.overdue() {
		return s.changed, false
	}
	if len(s.held) == 0 {
		return nil, true
	}
	s.release(s.turn + 1)
	s.tell()
	return s.changed, false
}

// overdue tells whether the agenda is about to do something for a delivery. The lock is held.
func (s *Sender) overdue() bool {
	now := s.config.Agenda.Now()
	for _, at := range s.later {
		if !at.After(now) {
			return true
		}
	}
	return false
}

// tell wakes all who wait for a change. The lock is held.
func (s *Sender) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// uuid makes up an ipnId. The lock is held.
func (s *Sender) uuid() string {
	a, b := s.random.Uint64(), s.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>50, b&0xffff_ffff_ffff)
}
