package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Subject is what the rows are.
type Subject string

// The subjects.
const (
	Events    Subject = "events"
	Movements Subject = "movements"
)

// History is the record as an export reads it. All methods fail with ipn.ErrUnavailable while it is away.
type History interface {
	// LastEventID returns the id of the newest event, 0 where there is none.
	LastEventID(ctx context.Context) (int64, error)
	// EventExtent counts the events that match, behind after and up to upTo.
	EventExtent(ctx context.Context, q ipn.Question, after, upTo int64) (ipn.Extent, error)
	// ExportEvents calls each for at most limit events that match, by id, and returns up to where all were told.
	ExportEvents(ctx context.Context, q ipn.Question, after, upTo int64, limit int, each func(*ipn.EventRow) error) (int64, error)
}

// Books are the movements as an export reads them. All methods fail with ipn.ErrUnavailable while they are away.
type Books interface {
	// Reach returns the id of the newest event that is in the books, 0 where there is none.
	Reach(ctx context.Context) (int64, error)
	// MovementExtent counts the movements that match, behind after and of events up to upTo.
	MovementExtent(ctx context.Context, f ipn.MovementFilter, after ipn.ExportMark, upTo int64) (ipn.Extent, error)
	// ExportMovements calls each for at most limit movements that match, by event and line, and returns up to where all
	// were told.
	ExportMovements(ctx context.Context, f ipn.MovementFilter, after ipn.ExportMark, upTo int64, limit int, each func(*ipn.MovementRow) error) (ipn.ExportMark, error)
}

// Question says what is to be written, and how.
type Question struct {
	Of        Subject
	Format    Format
	BOM       bool               // begin CSV with a byte order mark, by which Excel knows UTF-8
	Events    ipn.Question       // which events; order, position and limit do not matter
	Movements ipn.MovementFilter // which movements
	After     ipn.ExportMark     // continue behind this row, without the row of names
	UpTo      int64              // tell nothing of events behind this id; 0: behind the newest when it begins
	Filters   []string           // names of those that narrow the rows, for the audit
}

// Export is one that has begun: what it is going to tell is settled.
type Export struct {
	Rows int64 // how many there are to tell
	UpTo int64 // the last event of which anything is told

	question Question
	extent   ipn.Extent
	read     reader
}

// reader writes a chunk of rows behind after, and returns up to where all are written now.
type reader func(ctx context.Context, after ipn.ExportMark, upTo int64, l *lines) (ipn.ExportMark, error)

// Begin settles how far an export goes and counts its rows. The count is exact as long as nothing changes whether an event
// matches, as the filters by variants and by what is parked can, and as long as the books of the events in it stand: a late
// event may rewrite movements of an earlier one, and one that was parked is booked when it is redriven. It fails with
// ipn.ErrUnavailable.
func Begin(ctx context.Context, q Question, history History, books Books) (*Export, error) {
	e := &Export{question: q}
	var last int64
	var err error
	if q.Of == Movements {
		last, err = books.Reach(ctx)
	} else {
		last, err = history.LastEventID(ctx)
	}
	if err != nil {
		return nil, err
	}
	if e.UpTo = last; q.UpTo > 0 {
		e.UpTo = min(q.UpTo, last)
	}
	if q.Of == Movements {
		e.read = readMovements(books, q.Movements)
		e.extent, err = books.MovementExtent(ctx, q.Movements, q.After, e.UpTo)
	} else {
		e.read = readEvents(history, q.Events)
		e.extent, err = history.EventExtent(ctx, q.Events, q.After.EventID, e.UpTo)
	}
	e.Rows = e.extent.Rows
	return e, err
}

// Reason returns what the audit says in place of what a person would have typed.
func (e *Export) Reason() string {
	return fmt.Sprintf("export of %s as %s", e.question.Of, e.question.Format)
}

// Details are what the audit keeps of the export: of the filters only their names, for a value may be a person's.
func (e *Export) Details() any {
	return struct {
		Of      Subject  `json:"of"`
		Format  Format   `json:"format"`
		Filters []string `json:"filters"`
		After   int64    `json:"after,omitempty"`
		UpTo    int64    `json:"upTo"`
		Rows    int64    `json:"rows"`
	}{e.question.Of, e.question.Format, append([]string{}, e.question.Filters...), e.question.After.EventID, e.UpTo, e.Rows}
}

const (
	chunkRows  = 5000    // read by one statement, to be written once that is over: a slow reader holds up no connection
	chunkBytes = 4 << 20 // and not more than that, whatever rows are like
)

// Write writes all rows. After each chunk told is called, where it is not nil, with how many rows were written so far. It
// fails with an error of the writer, of ctx, or ipn.ErrUnavailable; what was written until then are whole rows.
func (e *Export) Write(ctx context.Context, to io.Writer, told func(rows int64)) error {
	l := &lines{format: e.question.Format}
	if !e.question.resumed() {
		l.head(&e.question)
	}
	at := e.question.After
	if first := e.extent.First - 1; at.EventID < first {
		at = ipn.ExportMark{EventID: first, Line: ipn.WholeEvent}
	}
	for done := e.Rows == 0; ; {
		if len(l.buffer) > 0 {
			if _, err := to.Write(l.buffer); err != nil {
				return err
			}
			l.buffer = l.buffer[:0]
		}
		if told != nil {
			told(l.rows)
		}
		if done {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if at, err = e.read(ctx, at, e.extent.Last, l); err != nil {
			return err
		}
		done = at.EventID >= e.extent.Last && at.Line == ipn.WholeEvent
	}
}

// head writes what comes before the rows.
func (l *lines) head(q *Question) {
	if l.format != CSV {
		return
	}
	if q.BOM {
		l.buffer = append(l.buffer, byteOrderMark...)
	}
	l.names = true
	if q.Of == Movements {
		l.movement(&ipn.MovementRow{})
	} else {
		l.event(&ipn.EventRow{})
	}
	l.names, l.rows = false, 0
}

const byteOrderMark = "\ufeff"

// errFull ends a chunk that has grown enough.
var errFull = errors.New("the chunk is full")

func (l *lines) full() error {
	if len(l.buffer) >= chunkBytes {
		return errFull
	}
	return nil
}

func readEvents(history History, q ipn.Question) reader {
	return func(ctx context.Context, after ipn.ExportMark, upTo int64, l *lines) (ipn.ExportMark, error) {
		at := ipn.ExportMark{Line: ipn.WholeEvent}
		reached, err := history.ExportEvents(ctx, q, after.EventID, upTo, chunkRows, func(e *ipn.EventRow) error {
			l.event(e)
			at.EventID = e.ID
			return l.full()
		})
		if errors.Is(err, errFull) {
			return at, nil
		}
		at.EventID = reached
		return at, err
	}
}

func readMovements(books Books, f ipn.MovementFilter) reader {
	return func(ctx context.Context, after ipn.ExportMark, upTo int64, l *lines) (ipn.ExportMark, error) {
		var at ipn.ExportMark
		reached, err := books.ExportMovements(ctx, f, after, upTo, chunkRows, func(m *ipn.MovementRow) error {
			l.movement(m)
			at = ipn.ExportMark{EventID: m.EventID, Line: m.Line}
			return l.full()
		})
		if errors.Is(err, errFull) {
			return at, nil
		}
		return reached, err
	}
}

// ParseMark reads where to continue: the id of an event or, of movements, "EVENT:LINE" too.
func ParseMark(of Subject, text string) (ipn.ExportMark, error) {
	event, line, lined := strings.Cut(text, ":")
	mark := ipn.ExportMark{Line: ipn.WholeEvent}
	id, err := strconv.ParseUint(event, 10, 63)
	mark.EventID = int64(id)
	if lined && err == nil {
		var n uint64
		n, err = strconv.ParseUint(line, 10, 15)
		mark.Line = int(n)
	}
	switch {
	case err == nil && !(lined && of == Events):
		return mark, nil
	case of == Events:
		return ipn.ExportMark{}, errors.New("write the id of the last whole row")
	}
	return ipn.ExportMark{}, errors.New("write eventId and line of the last whole row, such as 1042:0")
}
