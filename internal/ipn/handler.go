package ipn

import (
	"encoding/json"
	"errors"
	"time"
)

// HandlerKind says what a handler may promise.
type HandlerKind string

// The closed set of kinds; the schema checks the same words.
const (
	KindProjection HandlerKind = "projection" // writes the database in the cursor's transaction: exactly once
	KindSink       HandlerKind = "sink"       // speaks to the outside: at least once, under one stable id
)

// HandlerState is where one handler stands in the log.
type HandlerState struct {
	Name       string      `json:"name"`
	Kind       HandlerKind `json:"kind" enum:"projection,sink"`
	Configured bool        `json:"configured" doc:"Whether a running process has it in its settings; false for one that was taken out of them, and while none runs"`

	Position   int64      `json:"position" doc:"The cursor: the last event id the handler is done with"`
	Started    int64      `json:"started" doc:"The handler was never asked about events up to this id"`
	LagEvents  int64      `json:"lagEvents" doc:"Events behind the cursor; counted up to 1,000,000"`
	LagSeconds float64    `json:"lagSeconds" doc:"Age of the oldest of them, 0 when there is none"`
	Parked     int64      `json:"parked" doc:"Events that failed and will be tried again"`
	Buried     int64      `json:"buried" doc:"Events that were given up on; kept until they are redriven"`
	OldestAt   *time.Time `json:"oldestParkedAt,omitempty" doc:"First failure of the parked or buried event that waits longest"`

	PausedAt      *time.Time `json:"pausedAt,omitempty"`
	PausedBecause string     `json:"pausedBecause,omitempty"`
	HeldSince     *time.Time `json:"heldSince,omitempty" doc:"Since when the circuit breaker holds events back, because the target is down"`
	HeldBecause   string     `json:"heldBecause,omitempty"`

	Leader   string     `json:"leader,omitempty" doc:"The process that serves the handler now"`
	LedSince *time.Time `json:"ledSince,omitempty"`
	MovedAt  *time.Time `json:"movedAt,omitempty" doc:"When the cursor last moved"`
}

// EventState says what became of one event at one handler.
type EventState string

// The closed set of an event's states at a handler.
const (
	EventWaiting EventState = "waiting" // the cursor has not reached it
	EventDone    EventState = "done"    // handled, or not wanted by the handler
	EventParked  EventState = "parked"  // failed, will be tried again
	EventBuried  EventState = "buried"  // given up on
	EventBefore  EventState = "before"  // older than the handler, which began behind it
)

// Handling is one event at one handler.
type Handling struct {
	Handler   string     `json:"handler"`
	State     EventState `json:"state" enum:"waiting,done,parked,buried,before"`
	Attempts  int        `json:"attempts" doc:"Attempts spent since it was last driven; 0 when the first one went well"`
	NextAt    *time.Time `json:"nextAt,omitempty" doc:"When it is tried again"`
	LastError string     `json:"lastError,omitempty"`
	History   []Attempt  `json:"history,omitempty" doc:"Attempts that failed, and those after a failure, oldest first"`
}

// Attempt is one try of an event that did not go well at once.
type Attempt struct {
	Number int           `json:"number"`
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"tookNanoseconds"`
	Result string        `json:"result" enum:"failed,buried,done"`
	Error  string        `json:"error,omitempty"`
}

// ParkedEvent is an entry of the list of what failed.
type ParkedEvent struct {
	Handler         string     `json:"handler"`
	EventID         int64      `json:"eventId"`
	TransactionType string     `json:"transactionType"`
	ReferenceNumber string     `json:"referenceNumber,omitempty"`
	State           EventState `json:"state" enum:"parked,buried"`
	Attempts        int        `json:"attempts"`
	FirstFailedAt   time.Time  `json:"firstFailedAt"`
	NextAt          *time.Time `json:"nextAt,omitempty"`
	LastError       string     `json:"lastError"`
}

// Act says who did something by hand, and why. Both are written to the audit.
type Act struct {
	Actor  string // such as "cli:maria" or "api"
	Reason string // what a person typed; required
}

// Replay says which events a handler shall see again. Exactly one of All, Since and Matching is set.
type Replay struct {
	Handler  string
	All      bool      // from the very first event
	Since    time.Time // from the first event received at that time or later
	Matching *Question // only these, as far as the cursor has passed them; After and Limit do not count
	DryRun   bool      // count, and change nothing
}

// Replayed is what a replay comes to, or would come to.
type Replayed struct {
	Events   int64 `json:"events" doc:"Events the handler sees again"`
	Position int64 `json:"position" doc:"The cursor afterwards"`
	DryRun   bool  `json:"dryRun"`
}

// Redrive says which failed events are due again now, with all their attempts. Empty fields do not restrict.
type Redrive struct {
	Handler string
	State   EventState // EventParked, EventBuried, or "" for both
	EventID int64
	DryRun  bool
}

// ParkedQuestion asks for a page of what failed, by event id within a handler. Empty fields do not restrict.
type ParkedQuestion struct {
	Handler      string
	State        EventState
	After        int64 // id of the last entry of the page before, by (event id, handler)
	AfterHandler string
	Limit        int
}

// AuditEntry is one thing that was done by hand, or by a handler to itself.
type AuditEntry struct {
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor" doc:"Who did it: cli:NAME, api, api:NAME, or handler for one that paused itself"`
	Action  string          `json:"action" doc:"What was done, such as pause, resume, replay, redrive"`
	Handler string          `json:"handler,omitempty"`
	Reason  string          `json:"reason" doc:"What the person typed"`
	Details json.RawMessage `json:"details,omitempty" doc:"What it came to, such as counts and positions"`
}

// ErrFenced says that a handler is led by another process now, or that an operator moved its cursor: what was about to be
// written was not.
var ErrFenced = errors.New("the handler is led by another process, or its cursor was moved")

// ErrLed says that another process leads the handler.
var ErrLed = errors.New("another process leads the handler")

// ErrPaused says that the handler was paused by an operator, or by itself.
var ErrPaused = errors.New("the handler is paused")

// Failure is one attempt that failed, and what becomes of the event.
type Failure struct {
	EventID int64
	Number  int // of the attempt, from 1
	Took    time.Duration
	Error   string // fit to be shown: no field of the event, no secret
	Bury    bool   // given up; else it is due again after Wait
	Wait    time.Duration
}

// Settlement is what a handler came to in one step; all of it becomes true at once, or nothing.
type Settlement struct {
	// Project are the events a projection applies in the transaction of the settlement; nil for sinks.
	Project []Stored
	// Position is where the cursor goes; 0 leaves it.
	Position int64
	// Done are parked events that went well at last, by id, each with the attempt that did it.
	Done []Success
	// Failed are attempts that failed, of events of the log or parked ones.
	Failed []Failure
}

// Success is an attempt that went well after others had failed.
type Success struct {
	EventID int64
	Number  int
	Took    time.Duration
}

// Due is a parked event whose time has come.
type Due struct {
	Stored
	Attempts      int       // spent so far
	FirstFailedAt time.Time // the age limit counts from here
}
