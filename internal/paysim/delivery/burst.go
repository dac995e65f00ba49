package delivery

import (
	"context"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// burst is a row of notices at a pace.
type burst struct {
	url       string
	make      func(i int) notice.Notice
	perSecond float64
	count     int
}

// Burst takes n notices on their way to a URL at a pace of so many in a second of the world's; 0 is as fast as they are
// posted. It never blocks. Run asks make for notice i, from 0, when its time has come and the queue has room; a burst ends
// when Run does.
func (s *Sender) Burst(url string, make func(i int) notice.Notice, perSecond float64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bursts = append(s.bursts, burst{url: url, make: make, perSecond: perSecond, count: n})
	s.tell()
}

// Sample returns another realistic notice of a type, chosen by the seed and dated now on the agenda.
//
// It draws nothing from the chance that faults are decided by, for a burst asks for samples by the clock of the world. And
// seeds that count up are sales with other references each, where seeds drawn at random would soon repeat one.
func (s *Sender) Sample(transactionType string) notice.Notice {
	s.mu.Lock()
	s.sampled++
	seed := s.sampled
	s.mu.Unlock()
	return notice.Sample(transactionType, seed, s.config.Agenda.Now(), s.config.NodeField)
}

// MostBurst is as many notices as one burst may have.
const MostBurst = 100_000

// longestQueue is how many attempts may wait to be posted before bursts wait, too. It bounds what a burst takes of memory
// when the receiver is slower than its pace.
const longestQueue = 1000

// play sends a burst. One that falls behind its pace catches up.
func (s *Sender) play(ctx context.Context, b burst) {
	defer s.played()
	begun := time.Now()
	for i := range b.count {
		if !waitUntil(ctx, begun.Add(b.offset(i))) || !s.waitForRoom(ctx) {
			return
		}
		n := b.make(i)
		s.mu.Lock()
		s.add(b.url, n, bursting)
		s.tell()
		s.mu.Unlock()
	}
}

// offset is how long after the beginning notice i is sent.
func (b burst) offset(i int) time.Duration {
	if b.perSecond <= 0 {
		return 0
	}
	return time.Duration(float64(i) / b.perSecond * float64(time.Second))
}

// waitForRoom waits until the queue is short enough; false when ctx ended before.
func (s *Sender) waitForRoom(ctx context.Context) bool {
	for {
		s.mu.Lock()
		room, changed := len(s.queue) < longestQueue, s.changed
		s.mu.Unlock()
		if room {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

func (s *Sender) played() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playing--
	s.tell()
}

// waitUntil waits for a time of the world; false when ctx ended before.
func waitUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
