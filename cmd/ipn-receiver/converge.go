package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// convergence makes the payment service's notification configuration the desired one, one process of all at a time, and
// keeps a record of it. The start-up job and the command share it.
type convergence struct {
	service payments.ConfigurationService
	desired payments.NotificationConfiguration
	memory  *store.Store // nil: neither turns nor a record
	trigger string       // one of ipn.ConfigurationTriggers
	options payments.Options
	actor   string // who typed the command
}

// recordTime is how long the record may take of what was done, also when ctx has ended meanwhile.
const recordTime = 5 * time.Second

// converge looks, and replaces if it may. The push says what happened, whatever the error; err is for who asked.
func (c *convergence) converge(ctx context.Context) (push ipn.ConfigurationPush, err error) {
	err = c.alone(ctx, func(ctx context.Context) error {
		options := c.options
		options.PushUnread = options.PushUnread && !c.pushedUnread(ctx)
		report, err := payments.Converge(ctx, c.service, c.desired, options)
		push = c.describe(report, err)
		return errors.Join(err, c.record(ctx, push))
	})
	if push.Result == "" { // its turn never came
		push = c.describe(payments.Report{}, err)
	}
	return push, err
}

// alone waits for the turn of this process, where there is a database to give turns.
func (c *convergence) alone(ctx context.Context, do func(context.Context) error) error {
	if c.memory == nil {
		return do(ctx)
	}
	return c.memory.AloneConfiguring(ctx, do)
}

// pushedUnread tells whether this very configuration was the last to be pushed to a service whose answers cannot be read:
// pushing it again would tell nothing new.
func (c *convergence) pushedUnread(ctx context.Context) bool {
	if c.trigger == ipn.ConfigurationByCommand { // a person wants it now
		return false
	}
	last, known := c.last(ctx)
	return known && last.Result == ipn.ConfigurationUnconfirmed && bytes.Equal(last.Desired, asJSON(c.desired))
}

func (c *convergence) last(ctx context.Context) (ipn.ConfigurationPush, bool) {
	if c.memory == nil {
		return ipn.ConfigurationPush{}, false
	}
	pushes, err := c.memory.ConfigurationPushes(ctx, 0, 1)
	if err != nil || len(pushes) == 0 {
		return ipn.ConfigurationPush{}, false
	}
	return pushes[0], true
}

// record keeps what changed something or told something new. A look that finds what the last one found leaves no row, so
// that the record stays one that people read. What was done is kept although ctx ends.
func (c *convergence) record(ctx context.Context, push ipn.ConfigurationPush) error {
	if c.memory == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	last, known := c.last(ctx)
	same := known && last.Result == push.Result && last.Error == push.Error && slices.Equal(last.Changes, push.Changes) && bytes.Equal(last.Desired, push.Desired)
	if same && push.Result != ipn.ConfigurationReplaced && push.Result != ipn.ConfigurationDeleted {
		return nil
	}
	if err := c.memory.AddConfigurationPush(ctx, push); err != nil {
		return fmt.Errorf("keep the record of it: %w", err)
	}
	return nil
}

// describe makes a row of a report. Who only looks and cannot read what is there has failed: unconfirmed is kept for what
// was sent, since pushedUnread goes by it.
func (c *convergence) describe(report payments.Report, err error) ipn.ConfigurationPush {
	push := ipn.ConfigurationPush{
		Changes: make([]ipn.ConfigurationChange, 0, len(report.Changes)),
		Process: c.process(), Trigger: c.trigger, Result: string(report.Result), Desired: asJSON(c.desired),
		Before: readJSON(report.Before), After: readJSON(report.After),
	}
	for _, change := range report.Changes {
		push.Changes = append(push.Changes, ipn.ConfigurationChange{Setting: change.Setting, From: withoutPassword(change.From), To: withoutPassword(change.To)})
	}
	if err == nil {
		err = report.Doubt
	}
	if err != nil {
		push.Error = err.Error()
	}
	if report.Result == "" || report.Result == payments.ResultUnconfirmed && !c.options.Apply {
		push.Result = ipn.ConfigurationFailed
	}
	return push
}

// outcome is the result in the words that people are told it with: drift after a push is not the drift that was left alone.
func (c *convergence) outcome(push ipn.ConfigurationPush) string {
	if push.Result == ipn.ConfigurationDrift && c.options.Apply {
		return keptAnother
	}
	return push.Result
}

// keptAnother is the outcome of a push after which the payment service has something else all the same.
const keptAnother = "kept another"

// readJSON returns a configuration that was read, nil when there was none.
func readJSON(configuration *payments.NotificationConfiguration) json.RawMessage {
	if configuration == nil {
		return nil
	}
	shown := *configuration
	shown.Destinations = slices.Clone(shown.Destinations)
	for i := range shown.Destinations {
		shown.Destinations[i].URL = withoutPassword(shown.Destinations[i].URL)
	}
	return asJSON(shown)
}

// withoutPassword hides the user and password of a destination: it may be somebody else's, and goes into log and record.
func withoutPassword(address string) string {
	start, rest, found := strings.Cut(address, "//")
	authority := len(rest)
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = end
	}
	at := strings.LastIndexByte(rest[:authority], '@')
	if !found || at < 0 {
		return address
	}
	return start + "//[hidden]" + rest[at:]
}

func asJSON(configuration payments.NotificationConfiguration) json.RawMessage {
	text, err := json.Marshal(configuration)
	if err != nil {
		panic(err) // strings and booleans
	}
	return text
}

// process tells processes apart, on several machines too, and people.
func (c *convergence) process() string {
	host, _ := os.Hostname() // "" tells only the process
	process := fmt.Sprintf("%s:%d", host, os.Getpid())
	if c.actor != "" {
		return c.actor + "@" + process
	}
	return process
}

// serviceHost is the host of the payment service, for people.
func serviceHost(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Host
}
