package publish

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

const (
	clientName     = "ipn-receiver"
	defaultTimeout = 5 * time.Second
	dialTimeout    = 2 * time.Second // of one server
	redialWait     = time.Second     // between two attempts at the same server
)

// NATSOptions say which JetStream takes the events. At most one of CredentialsFile, Username and Token is set.
type NATSOptions struct {
	Servers         []string // "nats://host:4222" or "tls://host:4222"; those of one cluster
	Subject         string   // stands before the type: "ipn.events" makes "ipn.events.CHARGE"
	CredentialsFile string   // as `nsc` writes it; read again at each connection
	Username        string
	Password        secret.Text
	Token           secret.Text
	TLS             *tls.Config   // nil: TLS only where a server asks for it
	Timeout         time.Duration // of one event, until the stream has it; 0 is 5 s
}

func (o *NATSOptions) check() error {
	if len(o.Servers) == 0 {
		return errors.New("servers: name at least one, such as nats://127.0.0.1:4222")
	}
	for i, server := range o.Servers {
		if err := CheckServer(server); err != nil {
			return fmt.Errorf("servers[%d]: %w", i, err)
		}
	}
	if err := CheckSubject(o.Subject); err != nil {
		return fmt.Errorf("subject: %w", err)
	}
	return o.checkAccess()
}

// CheckServer tells what is wrong with a server's address. It never quotes it: that may be the password in it.
func CheckServer(server string) error {
	u, err := url.Parse(server)
	switch {
	case err != nil, u.Scheme != "nats" && u.Scheme != "tls", u.Hostname() == "", u.Path != "", u.RawQuery != "", u.Fragment != "":
		return errors.New("write nats://host:port, or tls://host:port")
	case u.User != nil:
		return errors.New("the address holds a user: who the receiver is has fields of its own")
	}
	return nil
}

// CheckSubject tells what is wrong with a subject: every token must be plain, no wildcard, no space, and nothing of the
// server's own ("$JS").
func CheckSubject(subject string) error {
	for _, token := range strings.Split(subject, ".") {
		if token == "" || strings.Trim(token, letters+digits+"-_") != "" {
			return errors.New("write a subject of letters, digits, '-' and '_' between dots, such as ipn.events; the type is put behind it")
		}
	}
	return nil
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

func (o *NATSOptions) checkAccess() error {
	ways := 0
	for _, set := range []bool{o.CredentialsFile != "", o.Username != "", !o.Token.IsZero()} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("set one of credentials file, user name and token")
	case (o.Username == "") != o.Password.IsZero():
		return errors.New("set user name and password together")
	case o.CredentialsFile == "":
		return nil
	}
	if _, err := os.Stat(o.CredentialsFile); err != nil {
		return fmt.Errorf("credentials file: %w", err)
	}
	return nil
}

// dialling returns the options of a connection that is never given up, that keeps nothing for later while it is away,
// and that writes nothing to the standard error.
func (o *NATSOptions) dialling() []nats.Option {
	list := []nats.Option{
		nats.Name(clientName),
		nats.Timeout(dialTimeout),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(redialWait),
		nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // a password is changed on the two sides one after the other
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if o.TLS != nil {
		list = append(list, nats.Secure(o.TLS))
	}
	switch {
	case o.CredentialsFile != "":
		list = append(list, nats.UserCredentials(o.CredentialsFile))
	case o.Username != "":
		list = append(list, nats.UserInfo(o.Username, o.Password.Reveal()))
	case !o.Token.IsZero():
		list = append(list, nats.Token(o.Token.Reveal()))
	}
	return list
}
