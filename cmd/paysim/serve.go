package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/simulator"
)

const serveHelp = `Be the payment service until told to stop. One door is the service: the API under /services/2/, the bank's page and the
shop. The other one, the control door, makes it misbehave and tells what it did: open it in a browser to read how.

Beside an ipn-receiver on this machine nothing need be set.
`

// defaultIPNURL is where an ipn-receiver on this machine listens.
const defaultIPNURL = "http://127.0.0.1:8080/ipn"

// stopTimeout is how long requests under way may take when the program is told to stop.
const stopTimeout = 5 * time.Second

// serveCommand is the simulator itself.
type serveCommand struct {
	listen, control, baseURL, ipnURL string
	signingKeyFile, passwordFile     string
	start                            string
	expose                           bool
	options                          simulator.Options

	key *signingKey
}

// define enters the flags. Names that a brand puts on the wire are flags, so that a profile of a real service can set them
// for the simulator and the receiver alike.
func (c *serveCommand) define(set *flag.FlagSet) {
	o := &c.options
	set.StringVar(&c.listen, "listen", "127.0.0.1:8090", "`ADDRESS` of the service door; port 0 takes a free one.")
	set.StringVar(&c.control, "control", "127.0.0.1:8091", "`ADDRESS` of the control door.")
	set.BoolVar(&c.expose, "expose", false, "Listen beyond this machine too. Whoever reaches the control door can have anything posted anywhere.")
	set.StringVar(&c.baseURL, "base-url", "", "`URL` at which the service door is reached from outside, where it is another than the one it listens on.")
	set.StringVar(&c.ipnURL, "ipn-url", defaultIPNURL, "`URL` that the account's portal sends IPNs to at the start, all types; \"none\" begins without.")
	set.StringVar(&c.signingKeyFile, "signing-key-file", "", "`FILE` with the key that IPNs are signed with, read anew for each; \"none\" signs nothing. When it is not set, the secret that an ipn-receiver in development has made up on this machine.")
	set.StringVar(&o.SignatureHeader, "signature-header", "X-IPN-Signature", "`NAME` of the header with the signature.")
	set.StringVar(&o.TimestampHeader, "timestamp-header", "X-IPN-Timestamp", "`NAME` of the header with the timestamp that is signed.")
	set.StringVar(&o.UserAgent, "user-agent", "paysim/1", "`NAME` under which IPNs come.")
	set.StringVar(&o.NodeField, "node-field", "serviceNode", "`NAME` of the field of IPNs that tells the data centre.")
	set.StringVar(&o.VersionHeader, "version-header", "service-version", "`NAME` of the API's version header.")
	set.StringVar(&o.Username, "username", "paysim", "`NAME` of the API user.")
	set.StringVar(&c.passwordFile, "password-file", "", "`FILE` with the API user's password; without one it is paysim-password.")
	set.Uint64Var(&o.Seed, "seed", 0, "`NUMBER` that everything made up follows from: persons, numbers, which IPN a fault strikes. Without one, another each time, so that a receiver does not take what is bought now for what it was told in an earlier run.")
	set.Float64Var(&o.Speed, "speed", 1, "How `MANY` simulated seconds pass in one of the world's.")
	set.StringVar(&c.start, "start", "", "`TIME` the simulated clock begins at, such as 2026-01-31T09:00:00Z; without one, now.")
}

// check reads the files that are named and tells all that is wrong at once.
func (c *serveCommand) check(p *program, arguments []string) error {
	problems := []error{noArguments(arguments), c.checkDoor("listen", c.listen), c.checkDoor("control", c.control),
		checkURL("base-url", c.baseURL), c.checkIPNURL(), c.checkClock()}
	if c.options.Seed == 0 {
		c.options.Seed = 1 + rand.Uint64N(1_000_000_000) // few digits, for it may be typed again
	}
	var err error
	c.key, err = p.openSigningKey(c.signingKeyFile)
	return errors.Join(append(problems, err, c.readPassword())...)
}

// checkDoor refuses an address that others than this machine reach, unless that is meant.
func (c *serveCommand) checkDoor(name, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	if ip := net.ParseIP(host); !c.expose && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--%s: %s is reached from beyond this machine: if that is meant, add --expose", name, address)
	}
	return nil
}

// checkIPNURL settles what "none" means.
func (c *serveCommand) checkIPNURL() error {
	if c.ipnURL == none {
		c.ipnURL = ""
	}
	c.options.IPNURL = c.ipnURL
	return checkURL("ipn-url", c.ipnURL)
}

// checkURL wants http or https and a host; an empty one is not set. Its error does not repeat the text, whose query may hold
// a token.
func checkURL(name, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--%s: this is no URL such as http://127.0.0.1:8080/ipn", name)
	}
	return nil
}

// checkClock refuses a clock that stands still, on which no retry and no renewal would ever come.
func (c *serveCommand) checkClock() error {
	if speed := c.options.Speed; !(speed > 0 && speed <= agenda.Fastest) { // written to be true for no NaN
		return fmt.Errorf("--speed: the clock must go on: set more than 0, at most %.0f", agenda.Fastest)
	}
	if c.start == "" {
		return nil
	}
	start, err := time.Parse(time.RFC3339, c.start)
	if err != nil {
		return fmt.Errorf("--start: %q is no time such as 2026-01-31T09:00:00Z", c.start)
	}
	c.options.Start = start
	return nil
}

// readPassword takes the password from its file, less the line end that editors leave. It is never a flag by value: the
// command line of a process can be read by others.
func (c *serveCommand) readPassword() error {
	if c.passwordFile == "" {
		c.options.Password = "paysim-password"
		return nil
	}
	text, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return fmt.Errorf("--password-file: %w", err)
	}
	c.options.Password = strings.TrimRight(string(text), "\r\n")
	if c.options.Password == "" {
		return fmt.Errorf("--password-file: %s is empty", c.passwordFile)
	}
	return nil
}

// run opens both doors, tells where they are, and serves until ctx ends or a door fails.
func (c *serveCommand) run(ctx context.Context, p *program) (int, error) {
	var doors doors
	defer doors.close()
	service, err := doors.open(c.listen)
	if err != nil {
		return exitNo, err
	}
	control, err := doors.open(c.control)
	if err != nil {
		return exitNo, err
	}
	if c.baseURL == "" {
		c.baseURL = "http://" + service.Addr().String()
	}
	c.baseURL = strings.TrimRight(c.baseURL, "/")
	controlURL := "http://" + control.Addr().String()
	c.options.BaseURL = func() string { return c.baseURL }
	c.options.ControlURL = func() string { return controlURL }
	c.options.Key = c.key.current
	s := simulator.New(c.options)
	doors.serve(ctx, service, c.guard(s.Handler()))
	doors.serve(ctx, control, c.guard(s.Control()))
	_, _ = fmt.Fprint(p.stdout, c.welcome(controlURL))
	c.key.current() // tells whether there is one
	return result(doors.wait(ctx, s.Run))
}

// guard keeps a door that only this machine shall reach from pages that reach it through a browser on this machine.
func (c *serveCommand) guard(door http.Handler) http.Handler {
	if c.expose {
		return door
	}
	return ownNames(c.baseURL, door)
}

// doors are what the program listens on. They are opened before anything is served, so that an address that is taken ends
// the program before it has said where it is.
type doors struct {
	listeners []net.Listener
	servers   []*http.Server
	failed    chan error
}

// open takes an address; port 0 is a free one.
func (d *doors) open(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open a door: %w", err)
	}
	d.listeners = append(d.listeners, listener)
	return listener, nil
}

// serve begins to answer on a listener. What waits for something, as the faults that hang do, ends with ctx. Headers must come soon; bodies and answers may take their time, for slow answers are
// among the API's faults.
func (d *doors) serve(ctx context.Context, on net.Listener, handler http.Handler) {
	if d.failed == nil {
		d.failed = make(chan error, 2) // one for each door
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }}
	d.servers = append(d.servers, server)
	go func() { d.failed <- server.Serve(on) }()
}

// wait runs the simulator behind the doors until ctx ends, or a door fails, and lets what is under way end.
func (d *doors) wait(ctx context.Context, simulate func(context.Context)) error {
	ctx, stop := context.WithCancel(ctx)
	var behind sync.WaitGroup
	behind.Go(func() { simulate(ctx) })
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-d.failed:
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	for _, server := range d.servers {
		_ = server.Shutdown(last) // what is not done by then is cut off
	}
	stop()
	behind.Wait()
	return failure
}

// close cuts off what is still open; harmless for what is closed already.
func (d *doors) close() {
	for _, server := range d.servers {
		_ = server.Close()
	}
	for _, listener := range d.listeners {
		_ = listener.Close()
	}
}
