package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"golang.org/x/net/http/httpguts"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// check complains about how the payment service is reached; nothing is complained of while it is not to be.
func (p *PaymentService) check(c *complaints) {
	some := !p.PaymentsCredentials.IsZero() || p.PaymentsCredentialsFile != ""
	if _, _, err := p.credentials(); some && err != nil {
		*c = append(*c, err)
	}
	if p.PaymentsURL == "" {
		c.unless(!some, "payments-url", "needed, because credentials for it are set: write it as https://api.payments.example")
		return
	}
	c.unlessURL("payments-url", p.PaymentsURL)
	c.unless(!strings.Contains(p.PaymentsURL, "?"), "payments-url", "has a query: write it as https://api.payments.example")
	c.unless(httpguts.ValidHeaderFieldName(p.PaymentsVersionHeader), "payments-version-header", "%q is no name of a header", p.PaymentsVersionHeader)
	c.unless(some, "payments-credentials", "needed for %s: name a file with NAME:PASSWORD in %s", name("payments-url"), name("payments-credentials-file"))
}

// credentials returns name and password as they stand at the moment.
func (p *PaymentService) credentials() (username, password string, err error) {
	text := p.PaymentsCredentials
	if err := readSecret("payments-credentials", p.PaymentsCredentialsFile, &text); err != nil {
		return "", "", err
	}
	flag := "payments-credentials"
	if p.PaymentsCredentialsFile != "" {
		flag += "-file"
	}
	username, password, _ = strings.Cut(text.Reveal(), ":")
	switch {
	case username == "" || password == "":
		return "", "", fmt.Errorf("%s: write NAME:PASSWORD, with a colon between them", name(flag))
	case strings.ContainsFunc(text.Reveal(), unicode.IsControl): // RFC 7617, section 2
		return "", "", fmt.Errorf("%s: there is more than one line in it, or a control character: write NAME:PASSWORD and nothing else", name(flag))
	}
	return username, password, nil
}

// client speaks to the payment service.
func (p *PaymentService) client() (*payments.Client, error) {
	return payments.New(payments.Config{BaseURL: p.PaymentsURL, Credentials: p.credentials, VersionHeader: p.PaymentsVersionHeader})
}

// unlessURL wants an address that can be asked and that shows no credentials; without TLS only on this machine.
func (c *complaints) unlessURL(flag, text string) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, unicode.IsSpace) || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		c.unless(false, flag, "no URL that can be used: write it as https://host.example/path, without name and password")
		return
	}
	c.unless(u.Scheme == "https" || isLoopback(net.JoinHostPort(u.Hostname(), "1")), flag, "http is for this machine only: write https")
}

// desiredDocument is the configuration file; without one the settings fill it.
type desiredDocument struct {
	IPNURL                        string   `yaml:"ipnUrl"`
	EnsureNotificationReceipt     bool     `yaml:"ensureNotificationReceipt"`
	ReceiveAffiliateNotifications bool     `yaml:"receiveAffiliateNotifications"`
	Notifications                 []string `yaml:"notifications"` // absent: all
	Except                        []string `yaml:"except"`
}

// check fills in Desired. wanted says that there is a payment service to tell it to; the URL of a door on loopback may be
// left out, since the door itself knows it.
func (w *WantedIPNs) check(c *complaints, wanted bool, door *PublicDoor) {
	document, source, err := w.document()
	if err != nil {
		*c = append(*c, err)
		return
	}
	if document.IPNURL != "" {
		c.unlessURL(source("public-url"), document.IPNURL)
		u, err := url.Parse(document.IPNURL)
		c.unless(err != nil || u.Path != "", source("public-url"), "the URL has no path, and the public door takes IPNs at %s: write https://%s%s, or https://%s/ if a proxy leads from there to it", door.Path, u.Host, door.Path, u.Host)
	} else {
		c.unless(!wanted || isLoopback(door.Listen), source("public-url"), "needed to tell the payment service where notifications go: write it as https://hooks.example%s", door.Path)
	}
	send, err := sendFlags(document.Notifications, document.Except)
	c.unless(err == nil, source("notifications"), "%v", err)
	w.Desired = payments.NotificationConfiguration{
		Destinations:     []payments.NotificationDestination{{URL: document.IPNURL, Send: send}},
		EnsureReceipt:    document.EnsureNotificationReceipt,
		ReceiveAffiliate: document.ReceiveAffiliateNotifications,
	}
}

// wanted returns the desired configuration; door is the public door's own address, for where no other was set.
func (w *WantedIPNs) wanted(door string) payments.NotificationConfiguration {
	desired := w.Desired
	desired.Destinations = slices.Clone(desired.Destinations)
	desired.Destinations[0].URL = cmp.Or(desired.Destinations[0].URL, door)
	return desired
}

// document returns what the file says, or else the settings, and who is to blame for what: the setting itself, or that of
// the file.
func (w *WantedIPNs) document() (document desiredDocument, source func(flag string) string, err error) {
	if w.ConfigurationFile == "" {
		return desiredDocument{
			IPNURL: w.PublicURL, Notifications: w.Notifications,
			EnsureNotificationReceipt: w.EnsureNotificationReceipt.On(), ReceiveAffiliateNotifications: w.ReceiveAffiliateNotifications.On(),
		}, func(flag string) string { return flag }, nil
	}
	const flag = "configuration-file"
	if w.PublicURL != "" || !slices.Equal(w.Notifications, []string{everything}) || w.EnsureNotificationReceipt.On() || w.ReceiveAffiliateNotifications.On() {
		return document, nil, fmt.Errorf("%s: it says all that %s, %s and the two beside them say: keep the file or these", name(flag), name("public-url"), name("notifications"))
	}
	if document, err = readDesired(w.ConfigurationFile); err != nil {
		return document, nil, fmt.Errorf("%s: %s: %w", name(flag), w.ConfigurationFile, err)
	}
	return document, func(string) string { return flag }, nil
}

// readDesired reads a configuration file; a field that is unknown is an error, since it may be a misspelt one.
func readDesired(path string) (document desiredDocument, err error) {
	text, err := readSmallFile(path)
	var trouble *fs.PathError
	if errors.As(err, &trouble) {
		return document, trouble.Err
	}
	if err != nil {
		return document, err
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &document, yaml.Strict()); err != nil {
		return document, legible(err)
	}
	if document.IPNURL == "" {
		return document, errors.New("ipnUrl is missing: write the URL under which the payment service reaches the public door")
	}
	if document.Notifications == nil {
		document.Notifications = []string{everything}
	}
	return document, nil
}

// legible is an error of the YAML library in words of the file.
func legible(err error) error {
	var mistyped *yaml.TypeError
	if errors.As(err, &mistyped) && mistyped.Token != nil {
		return fmt.Errorf("line %d, column %d: a value of the wrong kind; notifications and except are lists, the two settings true or false", mistyped.Token.Position.Line, mistyped.Token.Position.Column)
	}
	return errors.New(yaml.FormatError(err, false, false))
}

// everything is the word for all notifications that can be switched on.
const everything = "all"

// sendFlags returns every send flag, true for those that are named by flag or by type and not excepted.
func sendFlags(named, except []string) (map[string]bool, error) {
	send := map[string]bool{}
	for _, flag := range ipn.Flags() {
		send[flag] = false
	}
	for _, list := range []struct {
		names []string
		on    bool
	}{{named, true}, {except, false}} {
		for _, entry := range list.names {
			flags, err := flagsOf(strings.TrimSpace(entry))
			if err != nil {
				return nil, err
			}
			for _, flag := range flags {
				send[flag] = list.on
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(send)), true) {
		return nil, errors.New("nothing is named: every notification would be switched off; write all, or types such as CHARGE,REFUND")
	}
	return send, nil
}

// flagsOf returns the flags that a word stands for: all, a flag, or a type.
func flagsOf(word string) ([]string, error) {
	if strings.EqualFold(word, everything) {
		return ipn.Flags(), nil
	}
	for _, flag := range ipn.Flags() {
		if strings.EqualFold(word, flag) {
			return []string{flag}, nil
		}
	}
	known, ok := ipn.LookupType(word)
	switch {
	case ok && known.Flag != "":
		return []string{known.Flag}, nil
	case ok:
		return nil, fmt.Errorf("%s has no send flag: only the payment service's portal can switch it on", known.Name)
	}
	return nil, fmt.Errorf("%q is neither a type, such as CHARGE, nor a flag, such as sendCharge, nor %q", word, everything)
}
