package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// grace is how long a run may take to return after its context has ended. Then it is left behind.
const grace = time.Second

// cell runs a handler's code where it can do no harm: in a goroutine of its own, with a budget of time.
type cell struct {
	budget  time.Duration
	stuck   atomic.Int64 // runs that were left behind and have not returned since
	onStuck func(change float64)
	onPanic func(text, stack string)
}

// report is how one run ended.
type report struct {
	err  error  // nil: it went well
	wish wish   // what the error asks for
	lost bool   // the error says that the lead is lost, and nothing about the handler
	text string // the error's, fit to be stored; "" when it went well
	// broken says that the run did not return in its own way and in time: what it was using may be half used.
	broken bool
	took   time.Duration
}

// The ways of a run to end without returning.
var (
	errPanicked  = errors.New("panic")
	errExited    = errors.New("the handler ended its goroutine instead of returning")
	errAbandoned = errors.New("the handler ignored the end of its time and was left behind")
)

// run calls work and waits for it, at most for the budget and a second of grace. A run that is left behind is counted
// as stuck until it returns; what it returns then is lost.
func (c *cell) run(ctx context.Context, work func(context.Context) error) report {
	ctx, cancel := context.WithTimeout(ctx, c.budget)
	defer cancel()
	began := time.Now()
	ended := make(chan report)  // taken by whoever waits
	left := make(chan struct{}) // closed when nobody waits any more
	go c.confine(ctx, work, ended, left)
	r := c.await(ctx, ended, left)
	r.took = time.Since(began)
	r.broken = r.broken || r.err != nil && ctx.Err() == context.DeadlineExceeded
	return r
}

func (c *cell) await(ctx context.Context, ended <-chan report, left chan<- struct{}) report {
	select {
	case r := <-ended:
		return r
	case <-ctx.Done():
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case r := <-ended:
		return r
	case <-patience.C:
		c.stuck.Add(1)
		c.onStuck(1)
		close(left)
		return report{err: errAbandoned, text: errAbandoned.Error(), broken: true}
	}
}

// confine runs work and hands its report over. Everything that is the handler's own code, the methods of its error
// included, runs within.
func (c *cell) confine(ctx context.Context, work func(context.Context) error, ended chan<- report, left <-chan struct{}) {
	r := report{err: errExited, text: errExited.Error(), broken: true} // unless it returns
	defer func() {
		if cause := recover(); cause != nil {
			r = report{err: errPanicked, text: panicText(cause), broken: true}
			c.onPanic(r.text, stack())
		}
		select {
		case ended <- r:
		case <-left:
			c.stuck.Add(-1)
			c.onStuck(-1)
		}
	}()
	r = read(work(ctx))
}

func read(err error) report {
	if err == nil {
		return report{}
	}
	return report{err: err, wish: wishOf(err), lost: isLost(err), text: shorten(err.Error())}
}

// panicText tells of a panic without quoting what was thrown, which may hold an event's values. What the runtime
// throws holds none.
func panicText(cause any) string {
	if err, ok := cause.(runtime.Error); ok {
		return shorten("panic: " + err.Error())
	}
	return shorten(fmt.Sprintf("panic: %T", cause))
}

// stack returns where a panic came from: functions and lines, without the arguments that the runtime's own rendering
// shows.
func stack() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var text strings.Builder
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&text, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		if !more {
			return text.String()
		}
	}
}
