package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// rebuildHandler proves the books against the log, and mends them where they
// differ. Exit code 1 says that they did.
type rebuildHandler struct {
	operation
	act
	Name string `arg:"" enum:"ledger" help:"The handler: ledger."`
}

func (c *rebuildHandler) run(ctx context.Context, p *program) (int, error) {
	memory, dsn, done, err := c.open(ctx, p)
	if err != nil {
		return exitNo, err
	}
	defer done()
	var report ledger.Report
	err = memory.Exclusively(ctx, "rebuild", c.Name, c.by(p), func(ctx context.Context, position int64) (any, error) {
		var err error
		report, err = ledger.RebuildAt(ctx, dsn, position, memory.Log, progressOn(p.stderr, p.now))
		return report, err
	})
	if err != nil {
		return exitNo, fmt.Errorf("%w; should the handler still be paused, resume it: ipn-receiver handlers resume %s --reason TEXT", explained(err), c.Name)
	}
	if err := c.tell(p, report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return exitNo, err
	}
	if !report.Equal() {
		return exitNo, nil
	}
	return exitOK, nil
}

func printReport(w io.Writer, r ledger.Report) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TABLE\tROWS\tMISSING\tEXTRA\tDIFFERING")
	for _, t := range r.Tables {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", t.Table, t.Rows, t.Missing, t.Extra, t.Differing)
	}
	_ = table.Flush()
	if r.Equal() {
		fmt.Fprintf(w, "the books were rebuilt from %d events and are equal to what stood\n", r.Events)
		return
	}
	fmt.Fprintf(w, "the books were rebuilt from %d events and differed from what stood; they are mended\n", r.Events)
}

// progressOn tells every other second how far a long work has come.
func progressOn(w io.Writer, now func() time.Time) func(position, target int64) {
	told := now()
	return func(position, target int64) {
		if target > 0 && now().Sub(told) >= 2*time.Second {
			told = now()
			fmt.Fprintf(w, "event %d of %d (%d %%)\n", position, target, position*100/target)
		}
	}
}

// explained says of a handler that is not there where the others are listed.
func explained(err error) error {
	if errors.Is(err, ipn.ErrNotFound) {
		return errors.New(`there is no such handler; "ipn-receiver handlers" lists them`)
	}
	return err
}
