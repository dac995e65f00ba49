package payments

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ConfigurationService is what [Converge] needs of the payment service; *[Client] fits. That nothing here deletes is meant.
type ConfigurationService interface {
	// NotificationConfiguration returns what is there. The error is ErrNotFound when nothing is, and ErrUnreadable when
	// something was answered that is no configuration.
	NotificationConfiguration(ctx context.Context) (NotificationConfiguration, error)
	// ReplaceNotificationConfiguration puts a configuration in the place of all that is there.
	ReplaceNotificationConfiguration(ctx context.Context, c NotificationConfiguration) error
}

// Options says how far Converge may go.
type Options struct {
	Apply      bool // replace what differs; else only tell
	Force      bool // replace even a destination on a host that is not ours
	PushUnread bool // replace even when what is there cannot be read
}

// Result is how a convergence ended.
type Result string

// The results of a convergence.
const (
	ResultInSync      Result = "in_sync"     // what is there is what is desired; nothing was sent
	ResultDrift       Result = "drift"       // it differs: nothing was to be applied, or the service kept something else
	ResultReplaced    Result = "replaced"    // it differed, was replaced, and reads back as desired
	ResultUnconfirmed Result = "unconfirmed" // what is there now could not be read, see Report.Doubt
	ResultRefused     Result = "refused"     // it would have replaced a foreign destination; nothing was sent
	ResultFailed      Result = "failed"      // the service could not be read or did not take the configuration
)

// Report tells what a convergence found and did.
type Report struct {
	Result       Result
	Before       *NotificationConfiguration // nil: there was none, or it could not be read
	BeforeUnread bool                       // something was there that could not be read
	After        *NotificationConfiguration // read back, or as Before when nothing was sent; nil: not known
	Changes      []Change                   // what differs from the desired; after a replacement, what was changed
	Doubt        error                      // why the result is unconfirmed; nil with any other
}

// Change is one setting that differs.
type Change struct {
	Destination string // ipnUrl; "" for a setting of the whole account
	Setting     string // such as sendCharge, ensureNotificationReceipt, or ipnUrl for a whole destination
	From, To    string // "true", "false", or a URL; "" where there was nothing, or is to be nothing
}

// ErrForeignHost is the error of a convergence that found a destination on a host of which the desired configuration knows
// nothing: somebody else's receiver, or a setting from another environment.
var ErrForeignHost = errors.New("the configuration that is there leads to a host that is not ours")

// Converge brings the notification configuration to the desired one: it reads, compares, replaces only when something
// differs, and reads back. It never deletes. The report is good with an error too; the error is [ErrForeignHost] when the
// result is refused, the service's when it is failed, and nil otherwise: a replacement that could not be confirmed has
// happened all the same, and the next convergence tells.
func Converge(ctx context.Context, service ConfigurationService, desired NotificationConfiguration, options Options) (Report, error) {
	if err := desired.Check(); err != nil {
		return Report{Result: ResultFailed}, fmt.Errorf("check the desired configuration: %w", err)
	}
	report, err := look(ctx, service, desired)
	if err != nil {
		return report, err
	}
	switch {
	case report.Result == ResultInSync || !options.Apply:
		return report, nil
	case report.BeforeUnread && !options.PushUnread:
		return report, nil
	case !options.Force && report.Before.leadsAway(desired):
		report.Result = ResultRefused
		return report, ErrForeignHost
	}
	return replace(ctx, service, desired, report)
}

// look reads what is there and compares. The result is in_sync, drift, or unconfirmed when it could not be read.
func look(ctx context.Context, service ConfigurationService, desired NotificationConfiguration) (Report, error) {
	actual, err := service.NotificationConfiguration(ctx)
	switch {
	case errors.Is(err, ErrUnreadable):
		return Report{Result: ResultUnconfirmed, BeforeUnread: true, Doubt: err}, nil
	case errors.Is(err, ErrNotFound):
		return Report{Result: ResultDrift, Changes: differences(NotificationConfiguration{}, desired)}, nil
	case err != nil:
		return Report{Result: ResultFailed}, err
	}
	report := Report{Result: ResultDrift, Before: &actual, After: &actual, Changes: differences(actual, desired)}
	if len(report.Changes) == 0 {
		report.Result = ResultInSync
	}
	return report, nil
}

// replace sends the desired configuration and reads it back.
func replace(ctx context.Context, service ConfigurationService, desired NotificationConfiguration, report Report) (Report, error) {
	report.After, report.Doubt = nil, nil
	if err := service.ReplaceNotificationConfiguration(ctx, desired); err != nil {
		report.Result = ResultFailed
		return report, err
	}
	actual, err := service.NotificationConfiguration(ctx)
	if err != nil {
		report.Result, report.Doubt = ResultUnconfirmed, err
		return report, nil
	}
	report.Result, report.After = ResultReplaced, &actual
	if left := differences(actual, desired); len(left) > 0 {
		report.Result, report.Changes = ResultDrift, left
	}
	return report, nil
}

// leadsAway tells whether a destination stands on a host that no desired one stands on. An address that is no URL does: its
// host is "", and every desired one has one.
func (c *NotificationConfiguration) leadsAway(desired NotificationConfiguration) bool {
	if c == nil {
		return false
	}
	return slices.ContainsFunc(c.Destinations, func(d NotificationDestination) bool {
		return !slices.ContainsFunc(desired.Destinations, func(ours NotificationDestination) bool {
			return hostOf(ours.URL) == hostOf(d.URL)
		})
	})
}

// hostOf returns the host of a URL without its port: another port of a host is the same owner's.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// differences lists what has to change to come from actual to desired: settings of the account first, then destinations in
// the order desired, then those that are to go.
func differences(actual, desired NotificationConfiguration) []Change {
	changes := differ(nil, "", "ensureNotificationReceipt", actual.EnsureReceipt, desired.EnsureReceipt)
	changes = differ(changes, "", "receiveAffiliateNotifications", actual.ReceiveAffiliate, desired.ReceiveAffiliate)
	for _, to := range desired.Destinations {
		from, found := actual.destination(to)
		if !found {
			changes = append(changes, Change{Destination: to.URL, Setting: "ipnUrl", To: to.URL})
		}
		both := NotificationDestination{Send: map[string]bool{}}
		for _, name := range append(from.flags(), to.flags()...) {
			if !both.Send[name] {
				both.Send[name] = true
				changes = differ(changes, to.URL, name, from.Send[name], to.Send[name])
			}
		}
	}
	seen := make(map[string]bool)
	for _, from := range actual.Destinations {
		if _, wanted := desired.destination(from); !wanted || seen[from.key()] { // one that comes twice gets every IPN twice
			changes = append(changes, Change{Destination: from.URL, Setting: "ipnUrl", From: from.URL})
		}
		seen[from.key()] = true
	}
	return changes
}

// differ adds a change if two values of a setting are not the same.
func differ(changes []Change, destination, setting string, from, to bool) []Change {
	if from == to {
		return changes
	}
	return append(changes, Change{destination, setting, strconv.FormatBool(from), strconv.FormatBool(to)})
}

// destination finds the destination that has the address of another.
func (c NotificationConfiguration) destination(of NotificationDestination) (NotificationDestination, bool) {
	for _, d := range c.Destinations {
		if d.key() == of.key() {
			return d, true
		}
	}
	return NotificationDestination{}, false
}
