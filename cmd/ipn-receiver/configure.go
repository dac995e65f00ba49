package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// exitDrift is what configure --plan answers when something would be replaced.
const exitDrift = 2

// configureCommand is the start-up job as a process of its own, which alone needs the credential.
type configureCommand struct {
	PublicDoor      `group:"public"`
	DatabaseSetting `group:"database"`
	PaymentService  `group:"configuration"`
	WantedIPNs      `group:"configuration"`
	Process         `group:"process"`

	Plan       bool `xor:"act" help:"Only tell what would be replaced: exit code 0 when nothing, 2 when something, 1 when that cannot be told."`
	Force      bool `help:"Replace a configuration that names another host, too: notifications then stop going there."`
	Delete     bool `xor:"act" help:"Delete every notification configuration of the account: no notification is sent any more, to anybody. Asks for a confirmation on standard input."`
	Unrecorded bool `help:"Keep no record of it in the database, and wait for no other process."`
	JSON       bool `help:"Answer in JSON."`
}

func (c *configureCommand) check(m machine) error {
	var problems complaints
	if c.PaymentService.check(&problems); c.PaymentsURL == "" && len(problems) == 0 {
		problems.unless(false, "payments-url", "needed to ask the payment service: write it as https://api.payments.example")
	}
	c.WantedIPNs.check(&problems, !c.Delete, &c.PublicDoor)
	if !c.Unrecorded {
		if err := c.DatabaseSetting.check(m); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func (c *configureCommand) run(ctx context.Context, p *program) (int, error) {
	memory, done, err := c.open(ctx, p)
	if err != nil {
		return exitNo, err
	}
	defer done()
	client, err := c.PaymentService.client()
	if err != nil {
		return exitNo, fmt.Errorf("%s: %w", name("payments-url"), err)
	}
	work := &convergence{service: client, desired: c.wanted("http://" + reachable(c.Listen) + c.Path), memory: memory, trigger: ipn.ConfigurationByCommand, actor: act{}.by(p).Actor,
		options: payments.Options{Apply: !c.Plan, Force: c.Force, PushUnread: true}}
	if c.Delete {
		return c.delete(ctx, p, work, client.DeleteNotificationConfigurations)
	}
	push, err := work.converge(ctx)
	if told := c.tell(p, push, work.outcome(push)); told != nil {
		return exitNo, told
	}
	switch {
	case errors.Is(err, payments.ErrForeignHost):
		return exitNo, fmt.Errorf("%w; if notifications shall stop going there, add --force", err)
	case errors.Is(err, ipn.ErrUnavailable):
		return exitNo, withoutDatabase(err)
	case err != nil:
		return exitNo, err
	case push.Result == ipn.ConfigurationInSync, push.Result == ipn.ConfigurationReplaced:
		return exitOK, nil
	case push.Result == ipn.ConfigurationDrift && c.Plan:
		return exitDrift, nil
	case push.Error != "":
		return exitNo, errors.New(push.Error)
	}
	return exitNo, nil
}

// open reaches the database that turns and record are kept in; nil when there is none yet, or none is wanted.
func (c *configureCommand) open(ctx context.Context, p *program) (*store.Store, func(), error) {
	if c.Unrecorded || c.UsesEmbedded() && !embeddedpg.Exists(c.DataDir) {
		if !c.Unrecorded {
			fmt.Fprintf(p.stderr, "ipn-receiver: there is no database yet in %s, so this is not recorded\n", c.DataDir)
		}
		return nil, func() {}, nil
	}
	base := operation{DatabaseSetting: c.DatabaseSetting, Process: c.Process}
	memory, _, done, err := base.open(ctx, p)
	if err != nil {
		return nil, nil, withoutDatabase(err)
	}
	return memory, done, nil
}

// withoutDatabase says how to do it all the same.
func withoutDatabase(err error) error {
	return fmt.Errorf("%w; --unrecorded does without the database", err)
}

// tell prints what was found and done.
func (c *configureCommand) tell(p *program, push ipn.ConfigurationPush, outcome string) error {
	base := operation{JSON: c.JSON}
	answer := struct { // the row without what the database gives it
		Result  string                    `json:"result"`
		Changes []ipn.ConfigurationChange `json:"changes"`
		Desired json.RawMessage           `json:"desired,omitempty"`
		Before  json.RawMessage           `json:"before,omitempty"`
		After   json.RawMessage           `json:"after,omitempty"`
		Error   string                    `json:"error,omitempty"`
	}{push.Result, push.Changes, push.Desired, push.Before, push.After, push.Error}
	return base.tell(p, answer, func(w io.Writer) {
		printChanges(w, push.Changes)
		fmt.Fprintln(w, cmp.Or(pushWords[outcome], outcome))
	})
}

// pushWords is what came of it, for who typed the command.
var pushWords = map[string]string{
	ipn.ConfigurationInSync:      "the notification configuration is as desired; nothing was sent",
	ipn.ConfigurationDrift:       "the notification configuration is not as desired; without --plan it would be replaced, and one that names another host only with --force",
	keptAnother:                  "the notification configuration was sent, but the payment service keeps another one, which differs as told; look into its portal",
	ipn.ConfigurationReplaced:    "the notification configuration was replaced, and read back as desired",
	ipn.ConfigurationUnconfirmed: "the notification configuration was sent, but what the payment service has now cannot be read; look into its portal",
	ipn.ConfigurationRefused:     "the notification configuration names another host and was left alone",
	ipn.ConfigurationFailed:      "the notification configuration could not be compared or not be replaced",
	ipn.ConfigurationDeleted:     "every notification configuration of the account is deleted; nothing is sent any more",
}

func printChanges(w io.Writer, changes []ipn.ConfigurationChange) {
	if len(changes) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tIS\tSHALL BE")
	for _, change := range changes {
		fmt.Fprintf(table, "%s\t%s\t%s\n", printable(change.Setting), printable(cmp.Or(change.From, "-")), printable(cmp.Or(change.To, "-")))
	}
	_ = table.Flush()
}

// delete asks, deletes, and keeps the record.
func (c *configureCommand) delete(ctx context.Context, p *program, work *convergence, remove func(context.Context) error) (int, error) {
	fmt.Fprintf(p.stderr, "This deletes every notification configuration of the account at %s: no notification is sent any more, to anybody.\nA receiver that runs with IPN_CONFIGURE=apply puts its own back: stop it first.\nType delete to go on: ", serviceHost(c.PaymentsURL))
	line, _ := bufio.NewReader(io.LimitReader(p.stdin, 100)).ReadString('\n') // what was typed counts, with or without a line end
	if strings.TrimSpace(line) != "delete" {
		return exitNo, errors.New("not confirmed, so nothing was deleted")
	}
	push, err := work.delete(ctx, remove)
	if told := c.tell(p, push, push.Result); told != nil {
		return exitNo, told
	}
	return result(err)
}

// delete removes every configuration; only the command does.
func (c *convergence) delete(ctx context.Context, remove func(context.Context) error) (push ipn.ConfigurationPush, err error) {
	err = c.alone(ctx, func(ctx context.Context) error {
		err := remove(ctx)
		push = c.describe(payments.Report{}, err)
		if err == nil {
			push.Result = ipn.ConfigurationDeleted
		}
		push.Desired = nil
		return errors.Join(err, c.record(ctx, push))
	})
	if push.Result == "" { // its turn never came
		push = c.describe(payments.Report{}, err)
		push.Desired = nil
	}
	return push, err
}
