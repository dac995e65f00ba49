package payments

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// The defaults of a Config.
const (
	DefaultTimeout       = 10 * time.Second
	DefaultMaxBody       = 1 << 20
	DefaultAttempts      = 4
	DefaultPause         = 500 * time.Millisecond
	DefaultVersionHeader = "service-version"
	DefaultUserAgent     = "ipn-receiver"
	DefaultQuotePath     = "tax-quote"
)

// Config says which payment service to speak to, and how.
type Config struct {
	// BaseURL is the service's address, before /services/2. It is https, or http on the own machine.
	BaseURL string
	// Credentials returns the API user. It is asked for each attempt, so that a rotated password is seen.
	Credentials func() (username, password string, err error)
	// VersionHeader names the header that tells the version of the interface (specification section 9); "" is
	// DefaultVersionHeader.
	VersionHeader string
	// QuotePath is the last part of the path of tax quotes, which the specification leaves open and other documents write in
	// two ways: "" is DefaultQuotePath, the other one is taxQuote.
	QuotePath string
	// Timeout is of one attempt, from the name's resolution to the last byte; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxBody is how many bytes of an answer are taken; 0 is DefaultMaxBody.
	MaxBody int64
	// Attempts is how often a call that may be repeated is tried in all; 0 is DefaultAttempts.
	Attempts int
	// Pause is how long the second attempt waits, and what grows for those after it; 0 is DefaultPause.
	Pause time.Duration
	// UserAgent is told to the service; "" is DefaultUserAgent.
	UserAgent string
	// Transport makes the connections; nil is one without proxies, redirects, compression and cookies.
	Transport http.RoundTripper
	// Now tells the time, for the age of tax quotes; nil is time.Now.
	Now func() time.Time
}

// Client speaks to the payment service. It is safe for use by several goroutines. Every method's error is a *[FieldError]
// when the request is one that the specification rules out, what Credentials fails with when there are none, an *[Error]
// when the service answered with something else than success, and otherwise tells [ErrUnreachable], [ErrUnreadable] or the
// cause of the context.
type Client struct {
	config Config
}

// New makes a client. Its error tells what is wrong with the configuration, without the address: somebody may have put a
// password into it.
func New(c Config) (*Client, error) {
	if err := checkBaseURL(c.BaseURL); err != nil {
		return nil, err
	}
	if c.Credentials == nil {
		return nil, errors.New("the payment service is spoken to with credentials: there are none")
	}
	if !isPlain(c.QuotePath) {
		return nil, errors.New("the path of tax quotes must be one part of letters, digits and hyphens, such as tax-quote")
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return &Client{config: c.completed()}, nil
}

// completed returns the configuration with its defaults.
func (c Config) completed() Config {
	if c.VersionHeader == "" {
		c.VersionHeader = DefaultVersionHeader
	}
	if c.QuotePath == "" {
		c.QuotePath = DefaultQuotePath
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.Attempts <= 0 {
		c.Attempts = DefaultAttempts
	}
	if c.Pause <= 0 {
		c.Pause = DefaultPause
	}
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	if c.Transport == nil {
		c.Transport = newTransport()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// checkBaseURL tells what is wrong with an address without quoting it.
func checkBaseURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Hostname() == "", u.Opaque != "", u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the payment service's address is none: write https://host")
	case u.User != nil:
		return errors.New("the payment service's address holds a user: give the credentials apart from it")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the payment service's address has a query or a fragment: write https://host")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return errors.New("the payment service is spoken to by https: http sends the password in the clear")
	}
	return nil
}

// isLoopback trusts the name localhost; any other name could lead away from the machine tomorrow.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// newTransport makes connections of HTTP/1.1, and keeps a few of them for a minute.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // only cmd reads the environment
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		DisableCompression:     true, // what was not asked for is not inflated
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
	}
}

// Close closes the connections that wait for another call, if the transport keeps any.
func (c *Client) Close() {
	if idle, ok := c.config.Transport.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// NotificationConfiguration retrieves what the account has (specification section 4). The error is [ErrNotFound] when there
// is nothing, told by 404 or by an answer without content.
func (c *Client) NotificationConfiguration(ctx context.Context) (NotificationConfiguration, error) {
	k := call{operation: "retrieve the notification configuration", method: http.MethodGet, path: configurationPath,
		versioned: true, repeat: always}
	reply, err := c.exchange(ctx, k)
	if err != nil {
		return NotificationConfiguration{}, err
	}
	if reply.status == http.StatusNoContent {
		return NotificationConfiguration{}, &Error{Operation: k.operation, Status: reply.status, nothing: true}
	}
	var configuration NotificationConfiguration
	if err := decode(reply.body, &configuration); err != nil {
		return NotificationConfiguration{}, fmt.Errorf("%s: %w", k.operation, err)
	}
	return configuration, nil
}

// ReplaceNotificationConfiguration puts a configuration in the place of all that is there (specification section 4, rule 7),
// with every flag explicit. What the service answers beside its status is not shown in the specification, and not read.
func (c *Client) ReplaceNotificationConfiguration(ctx context.Context, desired NotificationConfiguration) error {
	return c.replaceConfiguration(ctx, desired, asJSON)
}

// ReplaceNotificationConfigurationXML does the same with a body of XML, whose names are those of JSON in kebab-case.
func (c *Client) ReplaceNotificationConfigurationXML(ctx context.Context, desired NotificationConfiguration) error {
	return c.replaceConfiguration(ctx, desired, asXML)
}

// DeleteNotificationConfigurations removes every destination and configuration of the account (specification section 4,
// rule 8): no IPN is sent any more. That there is none is a success.
func (c *Client) DeleteNotificationConfigurations(ctx context.Context) error {
	_, err := c.exchange(ctx, call{operation: "delete the notification configurations", method: http.MethodDelete,
		path: configurationPath, versioned: true, repeat: always, unread: true})
	if errors.Is(err, ErrNotFound) { // or the answer to an earlier attempt was lost
		return nil
	}
	return err
}
