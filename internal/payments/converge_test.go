package payments_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// portal is an account whose configuration is at hand. What it is asked is written down.
type portal struct {
	there   *payments.NotificationConfiguration // nil: nothing
	reads   []error                             // of each read in turn; nil, or past the end: it is read
	refuses error                               // to replace
	keeps   func(payments.NotificationConfiguration) payments.NotificationConfiguration
	asked   []string
}

func (p *portal) NotificationConfiguration(context.Context) (payments.NotificationConfiguration, error) {
	var err error
	if turn := len(p.asked); turn < len(p.reads) {
		err = p.reads[turn]
	}
	p.asked = append(p.asked, "read")
	switch {
	case err != nil:
		return payments.NotificationConfiguration{}, err
	case p.there == nil:
		return payments.NotificationConfiguration{}, payments.ErrNotFound
	}
	return *p.there, nil
}

func (p *portal) ReplaceNotificationConfiguration(_ context.Context, c payments.NotificationConfiguration) error {
	p.asked = append(p.asked, "replace")
	if p.refuses != nil {
		return p.refuses
	}
	if p.keeps != nil {
		c = p.keeps(c)
	}
	p.there = &c
	return nil
}

const (
	ours    = "https://hooks.example/ipn"
	foreign = "https://hooks.elsewhere.example/ipn"
)

func pointer(c payments.NotificationConfiguration) *payments.NotificationConfiguration { return &c }

var (
	errDown  = errors.New("it is down")
	apply    = payments.Options{Apply: true}
	force    = payments.Options{Apply: true, Force: true}
	unread   = payments.Options{Apply: true, PushUnread: true}
	lookOnly = payments.Options{}
)

// convergences lead to ours with sendCharge on.
var convergences = []struct {
	name    string
	portal  portal
	options payments.Options
	asked   []string
	result  payments.Result
	err     error
	changes []payments.Change
}{
	{name: "what is as desired is left alone", portal: portal{there: pointer(configuration(ours, "sendCharge"))}, options: apply,
		asked: []string{"read"}, result: payments.ResultInSync},
	{name: "what differs is replaced and read back", portal: portal{there: pointer(configuration(ours, "sendRefund"))}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "sendCharge", From: "false", To: "true"}, {Destination: ours, Setting: "sendRefund", From: "true", To: "false"}}},
	{name: "what differs is only told when nothing is to be applied", portal: portal{there: pointer(configuration(ours))}, options: lookOnly,
		asked: []string{"read"}, result: payments.ResultDrift,
		changes: []payments.Change{{Destination: ours, Setting: "sendCharge", From: "false", To: "true"}}},
	{name: "where nothing is, everything is put", portal: portal{}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"}}},
	{name: "another path of our host is ours to replace", portal: portal{there: pointer(configuration("http://HOOKS.example.:8080/old"))}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"},
			{Destination: "http://HOOKS.example.:8080/old", Setting: "ipnUrl", From: "http://HOOKS.example.:8080/old"}}},
	{name: "a foreign host is not replaced", portal: portal{there: pointer(configuration(foreign, "sendCharge"))}, options: apply,
		asked: []string{"read"}, result: payments.ResultRefused, err: payments.ErrForeignHost,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"},
			{Destination: foreign, Setting: "ipnUrl", From: foreign}}},
	{name: "an address that is none is foreign", portal: portal{there: pointer(configuration("hooks.example/ipn"))}, options: apply,
		asked: []string{"read"}, result: payments.ResultRefused, err: payments.ErrForeignHost,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"},
			{Destination: "hooks.example/ipn", Setting: "ipnUrl", From: "hooks.example/ipn"}}},
	{name: "a foreign host is replaced by force", portal: portal{there: pointer(configuration(foreign, "sendCharge"))}, options: force,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"},
			{Destination: foreign, Setting: "ipnUrl", From: foreign}}},
	{name: "what cannot be read is left alone", portal: portal{reads: []error{payments.ErrUnreadable}}, options: apply,
		asked: []string{"read"}, result: payments.ResultUnconfirmed},
	{name: "what cannot be read is replaced if that is wanted", portal: portal{reads: []error{payments.ErrUnreadable}}, options: unread,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced},
	{name: "what can never be read stays unconfirmed", portal: portal{reads: []error{payments.ErrUnreadable, nil, payments.ErrUnreadable}}, options: unread,
		asked: []string{"read", "replace", "read"}, result: payments.ResultUnconfirmed},
	{name: "what cannot be read is not replaced when nothing is to be applied", portal: portal{reads: []error{payments.ErrUnreadable}},
		options: payments.Options{PushUnread: true, Force: true}, asked: []string{"read"}, result: payments.ResultUnconfirmed},
	{name: "a service that is down is left alone", portal: portal{reads: []error{errDown}}, options: unread,
		asked: []string{"read"}, result: payments.ResultFailed, err: errDown},
	{name: "a service that is down at the reading back leaves a doubt", portal: portal{reads: []error{nil, nil, errDown}}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultUnconfirmed,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", To: ours}, {Destination: ours, Setting: "sendCharge", From: "false", To: "true"}}},
	{name: "a service that refuses is told of", portal: portal{there: pointer(configuration(ours)), refuses: errDown}, options: apply,
		asked: []string{"read", "replace"}, result: payments.ResultFailed, err: errDown,
		changes: []payments.Change{{Destination: ours, Setting: "sendCharge", From: "false", To: "true"}}},
	{name: "a service that keeps something else is drift", portal: portal{there: pointer(configuration(ours)), keeps: withoutFlags}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultDrift,
		changes: []payments.Change{{Destination: ours, Setting: "sendCharge", From: "false", To: "true"}}},
	{name: "a flag that nobody knows is seen and switched off", portal: portal{there: pointer(configuration(ours, "sendCharge", "sendLaterAddition"))}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "sendLaterAddition", From: "true", To: "false"}}},
	{name: "our URL there twice is once too often", portal: portal{there: &payments.NotificationConfiguration{
		Destinations: append(configuration(ours, "sendCharge").Destinations, configuration(ours, "sendCharge").Destinations...)}}, options: apply,
		asked: []string{"read", "replace", "read"}, result: payments.ResultReplaced,
		changes: []payments.Change{{Destination: ours, Setting: "ipnUrl", From: ours}}},
	{name: "settings of the account count", portal: portal{there: &payments.NotificationConfiguration{EnsureReceipt: true, ReceiveAffiliate: true,
		Destinations: configuration(ours, "sendCharge").Destinations}}, options: lookOnly,
		asked: []string{"read"}, result: payments.ResultDrift,
		changes: []payments.Change{{Setting: "ensureNotificationReceipt", From: "true", To: "false"}, {Setting: "receiveAffiliateNotifications", From: "true", To: "false"}}},
}

func withoutFlags(c payments.NotificationConfiguration) payments.NotificationConfiguration {
	return configuration(c.Destinations[0].URL)
}

func TestConvergenceDoesWhatIsNeededAndNoMore(t *testing.T) {
	t.Parallel()
	for _, c := range convergences {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := c.portal.there
			report, err := payments.Converge(t.Context(), &c.portal, configuration(ours, "sendCharge"), c.options)
			if report.Result != c.result || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("got %s, %v; want %s, %v", report.Result, err, c.result, c.err)
			}
			if !reflect.DeepEqual(c.portal.asked, c.asked) {
				t.Errorf("asked %v, want %v", c.portal.asked, c.asked)
			}
			if !reflect.DeepEqual(report.Changes, c.changes) {
				t.Errorf("changes\n%v, want\n%v", report.Changes, c.changes)
			}
			unread := len(c.portal.reads) > 0 && errors.Is(c.portal.reads[0], payments.ErrUnreadable)
			if report.BeforeUnread != unread || !reflect.DeepEqual(report.Before, before) {
				t.Errorf("before: got %v, unread %t", report.Before, report.BeforeUnread)
			}
			if (report.Doubt != nil) != (report.Result == payments.ResultUnconfirmed) || (report.Doubt != nil) && report.After != nil {
				t.Errorf("got doubt %v, after %v", report.Doubt, report.After)
			}
		})
	}
}

// TestAnAddressIsComparedAsAnAddress: a service may write host and port in its own way, but /ipn/ is another path than /ipn.
func TestAnAddressIsComparedAsAnAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		desired, there string
		same           bool
	}{
		{"https://hooks.example/ipn", "HTTPS://Hooks.Example:443/ipn", true},
		{"https://HOOKS.example:443/Ipn?a=B", "https://hooks.example/Ipn?a=B", true},
		{"http://hooks.example:80/ipn", "http://hooks.example/ipn", true},
		{"https://[2001:db8::A]:443/ipn", "https://[2001:db8::a]/ipn", true},
		{"https://Ann:Secret@hooks.example/ipn", "https://Ann:Secret@HOOKS.example/ipn", true},
		{"https://Ann:Secret@hooks.example/ipn", "https://ann:secret@hooks.example/ipn", false},
		{"https://hooks.example/ipn", "https://hooks.example/ipn/", false},
		{"https://hooks.example/ipn", "https://hooks.example/IPN", false},
		{"https://hooks.example/ipn?a=b", "https://hooks.example/ipn?a=B", false},
		{"https://hooks.example/?u=https://x.example:443/", "https://hooks.example/?u=https://x.example/", false},
		{"https://hooks.example/ipn", "http://hooks.example/ipn", false},
		{"https://hooks.example/ipn", "https://hooks.example:80/ipn", false},
		{"https://hooks.example/ipn", "https://hooks.example:8443/ipn", false},
	} {
		p := portal{there: pointer(configuration(c.there, "sendCharge"))}
		report, err := payments.Converge(t.Context(), &p, configuration(c.desired, "sendCharge"), apply)
		want := payments.ResultReplaced
		if c.same {
			want = payments.ResultInSync
		}
		if err != nil || report.Result != want {
			t.Errorf("%s where %s is there: got %s, %v; want %s", c.desired, c.there, report.Result, err, want)
		}
		if !c.same && p.there.Destinations[0].URL != c.desired {
			t.Errorf("%s was desired and %s sent", c.desired, p.there.Destinations[0].URL)
		}
	}
}

func TestConvergingTwiceReplacesOnce(t *testing.T) {
	t.Parallel()
	var p portal
	for _, want := range []payments.Result{payments.ResultReplaced, payments.ResultInSync, payments.ResultInSync} {
		report, err := payments.Converge(t.Context(), &p, configuration(ours, payments.NotificationFlags()...), apply)
		if err != nil || report.Result != want {
			t.Errorf("got %s, %v; want %s", report.Result, err, want)
		}
	}
	if want := []string{"read", "replace", "read", "read", "read"}; !reflect.DeepEqual(p.asked, want) {
		t.Errorf("asked %v", p.asked)
	}
}

func TestADesiredConfigurationThatCannotBeAsksNobody(t *testing.T) {
	t.Parallel()
	var p portal
	var field *payments.FieldError
	report, err := payments.Converge(t.Context(), &p, configuration(""), force)
	if !errors.As(err, &field) || field.Field != "ipnUrl" || report.Result != payments.ResultFailed || len(p.asked) != 0 {
		t.Errorf("got %s, %v, asked %v", report.Result, err, p.asked)
	}
}

func TestConvergenceNeverDeletes(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		if h.is == payments.ErrUnreachable {
			continue // the slow ones: what is asked is the same
		}
		s := &service{answers: []http.HandlerFunc{h.answer}}
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		client := connect(t, server.URL, func(c *payments.Config) { c.Attempts = 2 })
		_, _ = payments.Converge(t.Context(), client, configuration(ours), payments.Options{Apply: true, Force: true, PushUnread: true})
		for _, r := range s.requests() {
			if r.method != http.MethodGet && r.method != http.MethodPost {
				t.Errorf("a service that %s is asked to %s", h.name, r.method)
			}
		}
	}
}
