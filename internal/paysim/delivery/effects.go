package delivery

import (
	"cmp"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// stage is when a fault does its work.
type stage int

const (
	setting    stage = iota // an attempt is put on its way
	writing                 // it is put into bytes
	travelling              // it is posted
	beside                  // a notice was sent: another one is added
)

// The names that code speaks of; the others stand only in the table.
const (
	delayed     = "delay"
	reordered   = "reorder"
	duplicated  = "duplicate"
	unknownType = "unknown-type"
	bursting    = "burst"
)

// effect is what a fault of a name does.
type effect struct {
	meaning string
	stage   stage
	resends bool                          // it touches resends only
	value   bool                          // Fault.Value says something to it
	delay   time.Duration                 // the default of Fault.Delay; 0: it has none
	apply   func(*letter, attempt, Fault) // writing, travelling
}

// effects is the closed table of faults.
var effects = map[string]effect{
	delayed:     {meaning: "the attempt is made later", stage: setting, delay: time.Hour},
	reordered:   {meaning: "the attempt is held back until a later one has been answered", stage: setting, delay: time.Minute},
	duplicated:  {meaning: "the same request is posted twice at the same time", stage: travelling, apply: func(l *letter, _ attempt, _ Fault) { l.twice = true }},
	unknownType: {meaning: "another notice is sent besides, of a type nobody knows", stage: beside, value: true},
	bursting:    {meaning: "samples of the same type are sent besides, perSecond of them for a time", stage: beside, delay: time.Second},

	"lose-request":  {meaning: "the request never arrives", stage: travelling, apply: func(l *letter, _ attempt, _ Fault) { l.road = lost }},
	"lose-answer":   {meaning: "the answer is thrown away, so that the IPN comes again", stage: travelling, apply: func(l *letter, _ attempt, _ Fault) { l.deaf = true }},
	"cut-body":      {meaning: "the whole length is declared and half of the body sent before hanging up", stage: travelling, apply: func(l *letter, _ attempt, _ Fault) { l.road = max(l.road, cut) }},
	"change-field":  {meaning: "a resend has another value in a field, and another ipnId", stage: writing, resends: true, value: true, apply: changeField},
	"bad-signature": {meaning: "the signature is made with another key", stage: writing, apply: func(l *letter, _ attempt, _ Fault) { l.key = []byte("the key of somebody else") }},
	"old-timestamp": {meaning: "the signature is good, over a timestamp of long ago", stage: writing, delay: 100 * time.Hour, apply: func(l *letter, _ attempt, f Fault) { l.at = l.at.Add(-f.Delay) }},
	"wrong-charset": {meaning: "the text is encoded in Windows-1252", stage: writing, apply: func(l *letter, _ attempt, _ Fault) { l.encode = notice.Notice.EncodeWindows1252 }},
}

// filled is the fault with the defaults in place of what is zero.
func (e effect) filled(f Fault) Fault {
	f.Delay = cmp.Or(f.Delay, e.delay)
	f.PerSecond = cmp.Or(f.PerSecond, 10)
	f.Field = cmp.Or(f.Field, "referrer")
	return f
}

// burst is how many notices a filled burst has.
func (f Fault) burst() float64 { return f.PerSecond * f.Delay.Seconds() }

// changeField keeps the meaning of the notice, unless the rule names a field that has one.
func changeField(l *letter, a attempt, f Fault) {
	value := cmp.Or(f.Value, "changed with "+a.id)
	l.notice = l.notice.With(notice.Field{Name: f.Field, Value: value})
	if l.notice.Get("ipnId") != "" {
		l.notice = l.notice.With(notice.Field{Name: "ipnId", Value: a.id})
	}
	if l.encode == nil {
		l.encode = notice.Notice.Encode
	}
}

// besides adds the notices that faults make of one that was sent. The lock is held.
func (s *Sender) besides(url string, n notice.Notice) {
	for _, f := range s.choose(func(e effect, f Fault) bool { return e.stage == beside && f.touches(n.Type) }) {
		additions[f.Name](s, url, n, f)
	}
}

var additions = map[string]func(s *Sender, url string, n notice.Notice, f Fault){
	unknownType: func(s *Sender, url string, n notice.Notice, f Fault) {
		name := cmp.Or(f.Value, "NOBODY_KNOWS_THIS_TYPE")
		s.add(url, n.With(notice.Field{Name: "transactionType", Value: name}, notice.Field{Name: "ipnId", Value: s.uuid()}), unknownType)
	},
	bursting: func(s *Sender, url string, n notice.Notice, f Fault) {
		count := max(1, int(f.burst())) // a fault that struck must be seen
		s.bursts = append(s.bursts, burst{url: url, make: func(int) notice.Notice { return s.Sample(n.Type) }, perSecond: f.PerSecond, count: count})
	},
}
