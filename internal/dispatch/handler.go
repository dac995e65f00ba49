package dispatch

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Defaults of Handler. A projection's budget stays below the four seconds after which the database ends its idle
// transaction.
const (
	defaultConcurrency      = 8
	defaultBatch            = 256
	defaultSinkBudget       = 15 * time.Second
	defaultProjectionBudget = 3 * time.Second
)

// Sink tells the outside of one event, such as by a post to another system.
//
// Send must be safe for use by several goroutines, must come to the same when an event is sent twice (its id is the
// key), and must return when ctx ends. nil means done. Any error means: try again later; After, Permanent and Halt say
// more. The text of an error is stored and shown to operators, so it never quotes a field of the event or a secret. The
// event is read-only.
type Sink interface {
	Send(ctx context.Context, e *ipn.Stored) error
}

// Lead is the right to serve one handler, and the view of the log that goes with it. One process at a time has it; it
// ends with its connection. Its methods return ipn.ErrFenced, ipn.ErrPaused or ipn.ErrUnavailable when it is lost; then
// only Close is left to be called. Due, Next, Settle, Hold and Pause are called by one goroutine, Check by another.
type Lead interface {
	// Next returns up to limit events after the cursor, in the order of the log.
	Next(ctx context.Context, limit int) ([]ipn.Stored, error)
	// Due returns up to limit parked events whose time has come, longest due first. When there is none, wait is the
	// time until there is one, 0 when nothing is parked.
	Due(ctx context.Context, limit int) (due []ipn.Due, wait time.Duration, err error)
	// Settle makes the settlement true in one transaction. With Project set it first applies these events; an error
	// that is none of the three above is then the projection's own, and nothing is written.
	Settle(ctx context.Context, s ipn.Settlement) error
	// Check says whether the lead is still held, and keeps its connection awake.
	Check(ctx context.Context) error
	// Hold notes why the handler holds events back; "" that it does not, as at the beginning of a lead.
	Hold(ctx context.Context, because string) error
	// Pause pauses the handler until an operator resumes it.
	Pause(ctx context.Context, because string) error
	// Close gives the lead up. It never blocks, not even while a Settle is stuck.
	Close()
}

// Handler is a named consumer of the log. Name, Kind, Lead and, for a sink, Sink are required; the rest has defaults.
type Handler struct {
	Name string // lower-case words parted by dots, such as "forward.billing": the key of its cursor, and a metric label
	Kind ipn.HandlerKind
	Sink Sink // nil for a projection, whose work is done by Lead.Settle
	// Wants chooses a sink's events; the others count as done. nil: all.
	Wants func(*ipn.Stored) bool
	// Lead takes the lead of the handler. It returns ipn.ErrLed while another process has it, ipn.ErrPaused or
	// ipn.ErrUnavailable.
	Lead func(ctx context.Context) (Lead, error)

	Concurrency int           // most events at once, of a sink; 0: 8
	Batch       int           // most events read at once; 0: 256
	Budget      time.Duration // for one run of the handler; 0: 15 s for one event of a sink, 3 s for a projection's batch
	Retry       Retry
}

// handlerName keeps names fit for a label, a URL and a shell.
var handlerName = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)

const longestName = 63

func (h *Handler) check() error {
	switch {
	case !handlerName.MatchString(h.Name) || len(h.Name) > longestName:
		return errors.New("the name must be lower-case letters and digits, parted by dots, dashes or underscores, 63 at most")
	case h.Lead == nil:
		return errors.New("there is no way to take the lead")
	case h.Kind == ipn.KindSink && h.Sink == nil:
		return errors.New("a sink needs Sink")
	case h.Kind == ipn.KindProjection && (h.Sink != nil || h.Wants != nil):
		return errors.New("a projection has no Sink, and wants every event")
	case h.Kind != ipn.KindSink && h.Kind != ipn.KindProjection:
		return errors.New("the kind must be projection or sink")
	case h.Concurrency < 0 || h.Batch < 0 || h.Budget < 0:
		return errors.New("a limit is negative")
	}
	return h.Retry.check()
}

func (h Handler) withDefaults() Handler {
	budget := defaultSinkBudget
	if h.Kind == ipn.KindProjection {
		budget = defaultProjectionBudget
	}
	h.Concurrency = cmp.Or(h.Concurrency, defaultConcurrency)
	h.Batch = cmp.Or(h.Batch, defaultBatch)
	h.Budget = cmp.Or(h.Budget, budget)
	h.Retry = h.Retry.withDefaults()
	return h
}
