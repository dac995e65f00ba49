package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const loadHelp = `Post notifications (IPNs) at a steady rate, each another, and tell each second and at the end how they were answered: the
exit code is 0 only when every answer was 200.

  paysim load --rate 200 --duration 30s
  paysim load --rate 1000 --count 50000 --types CHARGE,RECURRING,REFUND --connections 128

Times are counted from the moment a post was due, so that waiting for a free connection is a part of them.
`

// Past these a number is a slip of the hand.
const (
	maxRate        = 100_000
	maxConnections = 4096
	maxCount       = 100_000_000
)

// loadCommand posts many.
type loadCommand struct {
	posting
	rate        float64
	duration    time.Duration
	count       int
	types       string
	connections int

	kinds []string
}

// define enters the flags. There are no more posts under way than connections, as a service's sender has a bound of its own.
func (c *loadCommand) define(set *flag.FlagSet) {
	c.posting.define(set)
	set.Float64Var(&c.rate, "rate", 100, "How `MANY` a second.")
	set.DurationVar(&c.duration, "duration", 10*time.Second, "`TIME` to go on for, where no count is set.")
	set.IntVar(&c.count, "count", 0, "How `MANY` in all; it goes before the duration.")
	set.StringVar(&c.types, "types", "CHARGE", "`TYPE,...` of notifications, in turn.")
	set.IntVar(&c.connections, "connections", 32, "How `MANY` posts may be under way at a time.")
}

// check tells all that is wrong at once, and notes types that nobody knows.
func (c *loadCommand) check(p *program, arguments []string) error {
	problems := []error{noArguments(arguments), c.posting.check(p), c.checkAmount()}
	if c.connections < 1 || c.connections > maxConnections {
		problems = append(problems, fmt.Errorf("--connections: set 1 to %d", maxConnections))
	}
	for kind := range strings.SplitSeq(c.types, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			c.kinds = append(c.kinds, kind)
		}
	}
	if len(c.kinds) == 0 {
		problems = append(problems, errors.New("--types: name at least one, such as CHARGE"))
	}
	for _, kind := range c.kinds {
		if !notice.Known(kind) {
			p.note("%s is no type of the payment service; it is sent all the same", kind)
		}
	}
	return errors.Join(problems...)
}

// checkAmount settles how many posts are made. A rate that is not a number fails each comparison, and so the one that counts
// is written to be true for good rates only.
func (c *loadCommand) checkAmount() error {
	if !(c.rate > 0 && c.rate <= maxRate) {
		return fmt.Errorf("--rate: set more than 0, at most %d", maxRate)
	}
	if c.count == 0 {
		c.count = int(math.Ceil(min(c.rate*c.duration.Seconds(), maxCount)))
	}
	if c.count < 1 || c.count > maxCount {
		return fmt.Errorf("--count and --duration: this comes to no number from 1 to %d", maxCount)
	}
	return nil
}

// due is a post that is to be made. Its time is counted from at, not from when a connection was free: else a receiver that
// holds all connections up would be measured on the few posts it lets through.
type due struct {
	number int
	at     time.Time
}

// run posts until all are made or ctx ends; what is under way then is waited for.
func (c *loadCommand) run(ctx context.Context, p *program) (int, error) {
	began := time.Now()
	all := newTally()
	posts := make(chan due)
	go c.pace(ctx, began, posts)
	var workers sync.WaitGroup
	for range c.connections {
		workers.Go(func() {
			for d := range posts {
				c.postOne(context.WithoutCancel(ctx), d, all)
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	all.tellEachSecond(p.stderr, began, done)
	_, _ = fmt.Fprint(p.stdout, all.summary(time.Since(began)))
	if ctx.Err() != nil {
		return exitNo, errors.New("told to stop before all were posted")
	}
	return all.verdict()
}

// pace hands out each post when it is due. When no connection is free it waits, and the posts after it come late: their
// times tell so.
func (c *loadCommand) pace(ctx context.Context, began time.Time, posts chan<- due) {
	defer close(posts)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range c.count {
		at := began.Add(time.Duration(float64(i) / c.rate * float64(time.Second)))
		timer.Reset(time.Until(at))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return
		case posts <- due{i, at}:
		}
	}
}

// postOne makes a post and counts its answer. ctx is not that of the run: a post that is under way when the run is told to
// stop is waited for, so that none is counted as failed for that.
func (c *loadCommand) postOne(ctx context.Context, d due, all *tally) {
	body := c.sample(c.kinds[d.number%len(c.kinds)], d.number).Encode()
	status, err := c.post(ctx, body)
	outcome := fmt.Sprintf("%d %s", status, http.StatusText(status))
	if err != nil {
		outcome = err.Error()
	}
	all.add(outcome, status == http.StatusOK, time.Since(d.at))
}
