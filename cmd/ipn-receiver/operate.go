package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// handlersCommand groups what operators do with handlers. Each works on the
// database itself, whether a receiver runs or not; one that runs notices at once.
type handlersCommand struct {
	List    listHandlers   `cmd:"" default:"withargs" help:"Tell all handlers: cursor, lag, parked, buried, who leads. What is done when no subcommand is named."`
	Parked  listParked     `cmd:"" help:"List the events that failed, with their last error."`
	Pause   pauseHandler   `cmd:"" help:"Stop handing events to a handler, until it is resumed, across restarts too. Its events wait in the log."`
	Resume  resumeHandler  `cmd:"" help:"Go on with a paused handler where it stood."`
	Replay  replayHandler  `cmd:"" help:"Let a handler see events again: all, those since a time, or those that match. Counts first; --yes does it."`
	Redrive redriveParked  `cmd:"" help:"Let parked and buried events be tried again now, with all their attempts."`
	Rebuild rebuildHandler `cmd:"" help:"Build the ledger's books anew from the log, tell whether they differ from what stands, and mend them."`
	Forget  forgetHandler  `cmd:"" help:"Remove the cursor, the parked events and the attempts of a handler that was taken out of the settings."`
}

// operation is what the commands on handlers have in common.
type operation struct {
	DatabaseSetting `group:"database"`
	Process         `group:"process"`

	JSON bool `help:"Answer in JSON."`
}

func (o *operation) check(m machine) error { return o.DatabaseSetting.check(m) }

// act is who does it, and why; both go into the audit.
type act struct {
	Reason string `required:"" placeholder:"TEXT" help:"Why; kept in the audit."`
	Actor  string `placeholder:"NAME" help:"Who does it. Not set: the user of this machine."`
}

func (a act) by(p *program) ipn.Act {
	user, _ := p.lookupEnv("USER")
	return ipn.Act{Actor: "cli:" + cmp.Or(a.Actor, user, "uid "+strconv.Itoa(p.uid)), Reason: a.Reason}
}

// open reaches the database: that of the URL, or the private one, of the receiver that runs or else started for the
// moment. The caller calls the function returned when done.
func (o *operation) open(ctx context.Context, p *program) (*store.Store, string, func(), error) {
	log := newLogger(&o.Process, p.stderr)
	db, err := attachDatabase(ctx, &o.DatabaseSetting, log)
	if err != nil {
		return nil, "", nil, err
	}
	memory, err := store.Open(ctx, store.Config{DSN: db.dsn, PoolSize: 2})
	if err != nil {
		db.close(log)
		return nil, "", nil, fmt.Errorf("%s: %w", name("database-url"), err)
	}
	return memory, db.dsn, func() {
		memory.Close()
		db.close(log)
	}, nil
}

// on opens the database, does one thing, and explains what cannot be found.
func (o *operation) on(ctx context.Context, p *program, do func(*store.Store) error) (int, error) {
	memory, _, done, err := o.open(ctx, p)
	if err != nil {
		return exitNo, err
	}
	defer done()
	return result(explained(do(memory)))
}

// tell prints an answer as JSON or as lines of words.
func (o *operation) tell(p *program, answer any, words func(io.Writer)) error {
	if !o.JSON {
		var said bytes.Buffer
		words(&said)
		_, err := said.WriteTo(p.stdout)
		return err
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(answer)
}

type listHandlers struct{ operation }

func (c *listHandlers) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		handlers, err := s.Handlers(ctx)
		if err != nil {
			return err
		}
		return c.tell(p, handlers, func(w io.Writer) { printHandlers(w, handlers) })
	})
}

func printHandlers(w io.Writer, handlers []ipn.HandlerState) {
	if len(handlers) == 0 {
		fmt.Fprintln(w, "no handler was ever started on this database")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HANDLER\tKIND\tCURSOR\tLAG\tOLDEST\tPARKED\tBURIED\tSTATE")
	for _, h := range handlers {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s\n", h.Name, h.Kind, h.Position, h.LagEvents,
			age(h.LagSeconds), h.Parked, h.Buried, printable(stateInWords(h)))
	}
	_ = table.Flush()
}

func age(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Millisecond).String()
}

func stateInWords(h ipn.HandlerState) string {
	switch {
	case !h.Configured && h.PausedAt == nil:
		return "no running receiver has it in its settings"
	case h.PausedAt != nil:
		return "paused since " + h.PausedAt.Format(time.RFC3339) + ": " + h.PausedBecause
	case h.HeldSince != nil:
		return "held since " + h.HeldSince.Format(time.RFC3339) + ": " + h.HeldBecause
	case h.Leader != "":
		return "led by " + h.Leader
	default:
		return "nobody leads it"
	}
}

type listParked struct {
	operation
	Handler string `placeholder:"NAME" help:"Only of this handler."`
	State   string `enum:",parked,buried" default:"" placeholder:"STATE" help:"Only parked or only buried ones."`
	Limit   int    `default:"50" help:"How many to tell at most."`
}

func (c *listParked) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		parked, err := s.ParkedEvents(ctx, ipn.ParkedQuestion{Handler: c.Handler, State: ipn.EventState(c.State), Limit: max(c.Limit, 1)})
		if err != nil {
			return err
		}
		return c.tell(p, parked, func(w io.Writer) { printParked(w, parked) })
	})
}

func printParked(w io.Writer, parked []ipn.ParkedEvent) {
	if len(parked) == 0 {
		fmt.Fprintln(w, "nothing is parked or buried")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "EVENT\tTYPE\tREFERENCE\tHANDLER\tSTATE\tATTEMPTS\tNEXT\tLAST ERROR")
	for _, e := range parked {
		next := "-"
		if e.NextAt != nil && e.State == ipn.EventParked {
			next = e.NextAt.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", e.EventID, printable(e.TransactionType), printable(e.ReferenceNumber),
			e.Handler, e.State, e.Attempts, next, printable(e.LastError))
	}
	_ = table.Flush()
}

// printable takes out what a terminal would act upon: texts of events and of targets are a stranger's.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

type pauseHandler struct {
	operation
	act
	Name string `arg:"" help:"The handler."`
}

func (c *pauseHandler) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		if err := s.PauseHandler(ctx, c.Name, c.by(p)); err != nil {
			return err
		}
		return c.tell(p, map[string]string{"paused": c.Name}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is paused; its events wait in the log until: ipn-receiver handlers resume %s --reason ...\n", c.Name, c.Name)
		})
	})
}

type resumeHandler struct {
	operation
	act
	Name string `arg:"" help:"The handler."`
}

func (c *resumeHandler) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		if err := s.ResumeHandler(ctx, c.Name, c.by(p)); err != nil {
			return err
		}
		return c.tell(p, map[string]string{"resumed": c.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s goes on\n", c.Name) })
	})
}

type forgetHandler struct {
	operation
	act
	Name string `arg:"" help:"The handler."`
}

func (c *forgetHandler) run(ctx context.Context, p *program) (int, error) {
	return c.on(ctx, p, func(s *store.Store) error {
		err := s.ForgetHandler(ctx, c.Name, c.by(p))
		if errors.Is(err, ipn.ErrLed) {
			return fmt.Errorf("a running receiver serves %s: take it out of the settings and restart first", c.Name)
		}
		if err != nil {
			return err
		}
		return c.tell(p, map[string]string{"forgotten": c.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s is forgotten\n", c.Name) })
	})
}

// attachDatabase is openDatabase that also finds the private server of a
// receiver that runs.
func attachDatabase(ctx context.Context, s *DatabaseSetting, log *zap.Logger) (*database, error) {
	if s.UsesEmbedded() {
		dsn, err := embeddedpg.Attach(s.DataDir, "ipn")
		if err != nil {
			return nil, fmt.Errorf("%w; be the user that runs the receiver, or set %s", err, name("database-url"))
		}
		if dsn != "" {
			return &database{dsn: dsn}, nil
		}
		if !embeddedpg.Exists(s.DataDir) {
			return nil, fmt.Errorf("no receiver ever kept anything in %s: name its data directory with %s, or its database with %s", s.DataDir, name("data-dir"), name("database-url"))
		}
	}
	return openDatabase(ctx, s, log)
}
