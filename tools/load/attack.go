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
	Seed            uint64        `default:"1" help:"Another seed gives other references; the same one repeats them."`
	SecretFile      string        `type:"existingfile" help:"File with the signing secret; not set: posts are unsigned."`
	SignatureHeader string        `default:"X-IPN-Signature" help:"Name of the header with the signature."`
	TimestampHeader string        `default:"X-IPN-Timestamp" help:"Name of the header with the timestamp."`
	Journal         string        `type:"path" help:"File that gets the reference of each acknowledged post, flushed to disk line by line: what must be in the database after a crash."`
}

// Run posts, tells the figures, and fails unless every answer was 200.
func (a *attack) Run() error {
	address, err := url.Parse(a.URL)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	to := &target{url: address, signatureHeader: a.SignatureHeader, timestampHeader: a.TimestampHeader}
	if a.SecretFile != "" {
		text, err := os.ReadFile(a.SecretFile)
		if err != nil {
			return fmt.Errorf("--secret-file: %w", err)
		}
		if to.secret, err = ipn.NewSecret("", text); err != nil {
			return fmt.Errorf("--secret-file: %w", err)
		}
	}
	journal, err := openJournal(a.Journal)
	if err != nil {
		return err
	}
	defer journal.close()

	f, stop := newFigures(), make(chan struct{})
	go progress(f, stop)
	begin := time.Now()
	if a.Rate > 0 {
		openLoop(to, newBodies(a.Seed), f, journal, a.Rate, a.Duration)
	} else {
		closedLoop(to, newBodies(a.Seed), f, journal, a.Connections, a.Duration)
	}
	close(stop)
	result := f.sum(time.Since(begin))
	fmt.Println(result)
	if result.good != result.posts {
		return errors.New("not every answer was 200")
	}
	return nil
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
			n := f.count()
			fmt.Fprintf(os.Stderr, "%d answers, %d in the last second\n", n, n-last)
			last = n
		}
	}
}

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
			}
		})
	}
	all.Wait()
}

// openLoop posts at a fixed rate whatever the answers do, over as many connections as that takes.
func openLoop(to *target, from *bodies, f *figures, journal *journal, rate int, duration time.Duration) {
	var all sync.WaitGroup
	idle := make(chan *connection, 1<<16)
	begin := time.Now()
	for i := range int(duration.Seconds() * float64(rate)) {
		at := due(begin, i, rate)
		time.Sleep(time.Until(at))
		all.Go(func() {
			c := &connection{to: to}
			select {
			case c = <-idle:
			default:
			}
			body, reference := from.take()
			status := c.post(body)
			f.add(status, time.Since(at))
			journal.note(status, reference)
			idle <- c
		})
	}
	all.Wait()
	close(idle)
	for c := range idle {
		c.close()
	}
}

// due is when the i-th post of a rate is to be sent.
func due(begin time.Time, i, rate int) time.Time {
	return begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
}

// journal is the client's own durable list of what was acknowledged. A nil file keeps none.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func openJournal(path string) (*journal, error) {
	if path == "" {
		return &journal{}, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--journal: %w", err)
	}
	return &journal{file: file}, nil
}

func (j *journal) note(status int, reference string) {
	if j.file == nil || status != 200 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintln(j.file, reference); err == nil {
		_ = j.file.Sync()
	}
}

func (j *journal) close() {
	if j.file != nil {
		_ = j.file.Close()
	}
}
