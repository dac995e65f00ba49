// Command demo builds both programs, lets them play together, and tells each step in a line: the configuration is pushed, a
// shopper buys, gets some of it back, disputes, subscribes and pays by bank transfer, and then a thousand IPNs come with
// every fault there is, while the receiver is killed. At the end the receiver's books must be, to the cent, what the
// simulator says it sent.
//
// Its one non-obvious decision is that it knows nothing that an outsider does not: it buys by the payment service's API,
// clicks the forms of the shop and of the bank, and asks both programs over their doors.
//
//	go -C tools run ./demo           exit code 1 when anything is not as it should be
//	go -C tools run ./demo --stay    leaves both programs up, to look around
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type commandLine struct {
	Stay bool   `help:"Keep both programs up at the end, and tell where they are, until Ctrl-C."`
	IPNs int    `name:"ipns" default:"1000" help:"IPNs of the storm; 0 leaves it out."`
	Seed uint64 `default:"4" help:"What everything made up follows from."`
	Logs string `type:"path" placeholder:"DIR" help:"Where the programs' logs go. Not set: a temporary directory, which stays when something went wrong."`
}

func main() {
	line := new(commandLine)
	parsed := kong.Parse(line, kong.Name("demo"), kong.UsageOnError())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := line.run(ctx)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	if err != nil {
		parsed.Exit(1)
	}
}

// A story is a part of the demonstration that stands for itself; stories are played one after the other.
type story struct {
	title string
	play  func(context.Context, *stage) error
}

var stories = []story{
	{"The configuration is pushed", pushed},
	{"A purchase with tax, a partial refund, a dispute that is won", purchase},
	{"A subscription from its first charge to its end", subscription},
	{"Bank transfers, one for each ending", transfers},
	{"Somebody changes the configuration in the portal", changed},
	{"A storm: every fault there is, and the receiver is killed", storm},
	{"The books", compare},
}

// run sets the stage, plays, and clears away what it built.
func (c *commandLine) run(ctx context.Context) (err error) {
	s, err := c.setStage(ctx)
	defer func() { err = errors.Join(err, s.clear(err != nil)) }()
	if err != nil {
		return err
	}
	began := time.Now()
	for i, told := range stories {
		fmt.Printf("\n%d. %s\n", i+1, told.title)
		if err := told.play(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", told.title, err)
		}
	}
	fmt.Printf("\nAll of it is as it should be, after %s.\n", time.Since(began).Round(time.Second))
	if c.Stay {
		s.tellWhere()
		<-ctx.Done()
	}
	return nil
}
