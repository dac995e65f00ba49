package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// attack posts to a receiver that somebody else has started.
type attack struct {
	URL             string        `default:"http://127.0.0.1:8080/ipn" help:"Where IPNs are taken."`
	Connections     int           `default:"16" help:"Closed loop: connections that post one after another. Ignored with --rate."`
	Rate            int           `help:"Open loop: posts a second that do not wait for answers."`
	Duration        time.Duration `default:"10s" help:"How long to go on."`
	Size            int           `default:"2300" help:"Bytes of a body, about; 100 fields in any case."`
	Seed            uint64        `default:"1" help:"Another seed gives other references; the same one repeats them."`
	SecretFile      string        `type:"existingfile" help:"File with the signing secret; not set: posts are unsigned."`
	SignatureHeader string        `default:"X-IPN-Signature" help:"Name of the header with the signature."`
	TimestampHeader string        `default:"X-IPN-Timestamp" help:"Name of the header with the timestamp."`
	Journal         string        `type:"path" help:"File that gets the reference of each acknowledged post, flushed to disk before the same connection posts again: what must be in the database after a crash."`
}

// Validate refuses what could only give figures of nothing.
func (a *attack) Validate() error {
	switch {
	case a.Connections < 1 || a.Rate < 0 || a.Duration <= 0:
		return errors.New("--connections and --duration must be positive, --rate must not be negative")
	case a.Size < smallestBody:
		return fmt.Errorf("--size must be %d or more: the names of 100 fields take as much", smallestBody)
	}
	return nil
}

// Run posts, tells the figures, and fails unless every answer was 200.
func (a *attack) Run() error {
	to, err := a.target()
	if err != nil {
		return err
	}
	journal, err := openJournal(a.Journal)
	if err != nil {
		return err
	}
	f, stop := newFigures(), make(chan struct{})
	go progress(f, stop)
	begin := time.Now()
	if a.Rate > 0 {
		openLoop(to, newBodies(a.Seed, a.Size), f, journal, a.Rate, a.Duration)
	} else {
		closedLoop(to, newBodies(a.Seed, a.Size), f, journal, a.Connections, a.Duration)
	}
	close(stop)
	result := f.sum(time.Since(begin))
	fmt.Println(result)
	if err := journal.close(); err != nil {
		return fmt.Errorf("the journal is not whole: %w", err)
	}
	if result.good != result.posts {
		return errors.New("not every answer was 200")
	}
	return nil
}

func (a *attack) target() (*target, error) {
	address, err := url.Parse(a.URL)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	if address.Scheme != "http" || address.Port() == "" {
		return nil, errors.New("--url: must be http://host:port/path; what ends TLS stands in front of the receiver and is not measured here")
	}
	to := &target{url: address, signatureHeader: a.SignatureHeader, timestampHeader: a.TimestampHeader}
	if a.SecretFile == "" {
		return to, nil
	}
	text, err := os.ReadFile(a.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	if to.secret, err = ipn.NewSecret("load", text); err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	return to, nil
}

// progress tells once a second how far it is.
func progress(f *figures, stop <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := 0; ; {
		select {
		case <-stop:
			return
		case <-tick.C:
			answers, bad := f.count()
			fmt.Fprintf(os.Stderr, "%d posts, %d in the last second, %d not 200 so far\n", answers, answers-last, bad)
			last = answers
		}
	}
}

// breath is taken after a post that got no answer, lest a receiver that is down be asked a hundred thousand times a second.
const breath = 20 * time.Millisecond

// closedLoop posts over so many connections, each waiting for its answer before it posts again.
func closedLoop(to *target, from *bodies, f *figures, journal *journal, connections int, duration time.Duration) {
	var all sync.WaitGroup
	end := time.Now().Add(duration)
	for range connections {
		all.Go(func() {
			c := &connection{to: to}
			defer c.close()
			for began := time.Now(); began.Before(end); began = time.Now() {
				body, reference := from.take()
				status := c.post(body)
				f.add(status, time.Since(began))
				journal.note(status, reference)
				if status == 0 {
					time.Sleep(breath)
				}
			}
		})
	}
	all.Wait()
}

// openLoop posts at a fixed rate whatever the answers do, over as many connections as that takes. A wait is counted from
// the moment the post was due.
func openLoop(to *target, from *bodies, f *figures, journal *journal, rate int, duration time.Duration) {
	var all sync.WaitGroup
	idle := &shelf{to: to}
	defer idle.close()
	begin := time.Now()
	for i := range int(duration.Seconds() * float64(rate)) {
		at := due(begin, i, rate)
		time.Sleep(time.Until(at))
		body, reference := from.take()
		all.Go(func() {
			c := idle.take()
			status := c.post(body)
			f.add(status, time.Since(at))
			journal.note(status, reference)
			idle.put(c)
		})
	}
	all.Wait()
}

// due is when the i-th post of a rate is to be sent.
func due(begin time.Time, i, rate int) time.Time {
	return begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
}
