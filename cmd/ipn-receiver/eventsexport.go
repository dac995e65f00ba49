package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// exportForm is how an export is written: the rest of the table of its parameters. --resume finds by itself what it goes on
// behind, and goes up to the last event there is by then.
type exportForm struct {
	Of     string `name:"of" placeholder:"ROWS" help:"What the rows are: events, when it is not set, or movements, which --from and --to (days), --kind, --currency and --test narrow."`
	Format string `name:"format" placeholder:"FORMAT" help:"csv, when it is not set, or jsonl."`
	BOM    string `name:"bom" placeholder:"true|false" help:"true: begin CSV with a byte order mark, by which Excel knows that it is UTF-8."`
	Kind   string `name:"kind" placeholder:"KIND" help:"Of movements: only of this kind, such as charge or refund."`
}

type exportEvents struct {
	history
	exportForm `embed:""`
	Out        string `type:"path" placeholder:"FILE" help:"File to write. It is there when it is whole; until then it is FILE.KEY.part, where KEY stands for what was asked. Not set: standard output."`
	Resume     bool   `help:"Continue the part of an export that was cut off, behind its last whole row, with the same filters."`
	Progress   bool   `help:"Tell on standard error how far it has come, as it does on a terminal anyway."`
	Reason     string `placeholder:"TEXT" help:"Why; kept in the audit, as the export itself is."`

	question export.Question
	asked    string // what was asked, but for people: of one export, a part of another is none
}

func (c *exportEvents) check(m machine) error {
	if err := c.history.check(m); err != nil {
		return err
	}
	if c.Resume && c.Out == "" {
		return errors.New("--resume: name the file with --out FILE")
	}
	if c.JSON {
		if c.Format == string(export.CSV) {
			return errors.New("--json: an export is of one format; leave out --format=csv")
		}
		c.Format = string(export.JSONL)
	}
	values := url.Values{}
	askedBy(c.EventFilters, values, export.Filters())
	askedBy(c.exportForm, values, export.Filters())
	question, err := export.Read(values)
	if err != nil {
		return byFlag(err, export.Filters())
	}
	c.asked = values.Encode()
	if c.question = question; question.Of == export.Movements && c.Email+c.Person != "" {
		return errors.New("--email, --name: leave them out: the books know no people")
	}
	return nil
}

func (c *exportEvents) run(ctx context.Context, p *program) (int, error) {
	return c.opening(ctx, p, func(o *opened) error {
		_, query, err := c.query(p, url.Values{}, o.key)
		if err != nil {
			return err
		}
		c.question.Events.People = query.People
		for _, person := range []struct{ name, value string }{{"email", c.Email}, {"name", c.Person}} {
			if person.value != "" {
				c.question.Filters = append(slices.Clone(c.question.Filters), person.name)
			}
		}
		if c.Out == "" {
			return c.export(ctx, p, o, p.stdout, 0)
		}
		return c.toFile(ctx, p, o)
	})
}

// export writes what was asked for, once that is in the audit. had is how many rows there are already.
func (c *exportEvents) export(ctx context.Context, p *program, o *opened, to io.Writer, had int64) error {
	run, err := export.Begin(ctx, c.question, o, o.books)
	if err != nil {
		return err
	}
	act := ipn.Act{Actor: o.by.Actor(), Reason: cmp.Or(c.Reason, run.Reason())}
	if err := o.WitnessAct(ctx, "export", act, run.Details()); err != nil {
		return fmt.Errorf("without an entry in the audit nothing is exported: %w", err)
	}
	progress := exportProgress{to: p.stderr, now: p.now, terminal: isTerminal(p.stderr), total: run.Rows, had: had, begun: p.now(), last: p.now()}
	told := progress.told
	if !c.Progress && !progress.terminal {
		told = nil
	}
	err = run.Write(ctx, to, told)
	if told != nil {
		progress.end()
	}
	return err
}

// toFile writes beside the file and puts it in place when it is whole.
func (c *exportEvents) toFile(ctx context.Context, p *program, o *opened) (err error) {
	if err := writable(c.Out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	part := c.partName()
	file, had, err := c.openPart(part)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer file.Close()
	if err := c.export(ctx, p, o, file, had); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return fmt.Errorf("%w; what is whole stands in %s: go on with --resume", err, part)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := os.Rename(part, c.Out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return syncDir(filepath.Dir(c.Out))
}

// partName is the name of the file until it is whole. It tells apart what was asked, so that nothing is continued with rows of
// another question; of people it has what the record has, a keyed hash.
func (c *exportEvents) partName() string {
	key := sha256.Sum256(fmt.Append(nil, c.asked, c.question.Events.People))
	return fmt.Sprintf("%s.%x.part", c.Out, key[:4])
}

// writable refuses a name that a file cannot take: what stands there, such as a pipe or a device, would be lost to a file.
func writable(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no ordinary file: name another, or leave --out out and send standard output there", name)
	}
	return err
}

// openPart opens the file to write, and returns how many rows of it are kept. To resume what is not there is to begin.
func (c *exportEvents) openPart(part string) (file *os.File, had int64, err error) {
	if !c.Resume {
		file, err = os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s is there, of an export that runs or was cut off: continue it with --resume, or remove it", part)
		}
		return file, 0, err
	}
	if file, err = os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, 0, err
	}
	kept, err := export.Keep(file, c.question.Of, c.question.Format)
	if err == nil {
		err = file.Truncate(kept.Size)
	}
	if err == nil {
		_, err = file.Seek(kept.Size, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("%s cannot be continued: %w", part, err)
	}
	c.question.After = kept.Mark
	return file, kept.Rows, nil
}

// syncDir makes a new name last.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// exportProgress tells how far an export has come: on a terminal in one line, elsewhere in a line now and then.
type exportProgress struct {
	to       io.Writer
	now      func() time.Time
	terminal bool
	total    int64 // rows of this run
	had      int64 // rows that were there before
	begun    time.Time
	last     time.Time
	rows     int64
}

func (e *exportProgress) told(rows int64) {
	e.rows = rows
	pause := 5 * time.Second
	if e.terminal {
		pause = 200 * time.Millisecond
	}
	if now := e.now(); now.Sub(e.last) >= pause {
		e.last = now
		e.print()
	}
}

func (e *exportProgress) end() {
	e.print()
	if e.terminal {
		fmt.Fprintln(e.to)
	}
}

// print tells rows, share, rate and what remains; a share of nothing is all.
func (e *exportProgress) print() {
	percent := int64(100)
	if all := e.total + e.had; all > 0 {
		percent = (e.rows + e.had) * 100 / all
	}
	line := fmt.Sprintf("%d of %d rows, %d %%", e.rows+e.had, e.total+e.had, percent)
	if seconds := e.now().Sub(e.begun).Seconds(); seconds > 0 && e.rows > 0 {
		rate := int64(float64(e.rows) / seconds)
		remaining := time.Duration(seconds * float64(e.total-e.rows) / float64(e.rows) * float64(time.Second))
		line += fmt.Sprintf(", %d rows/s, %s left", rate, max(remaining, 0).Round(time.Second))
	}
	if e.terminal {
		fmt.Fprintf(e.to, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(e.to, line)
}
