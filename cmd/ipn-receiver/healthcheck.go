package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// healthcheckTimeout is longer than the receiver's own probes take.
const healthcheckTimeout = 4 * time.Second

// healthcheckCommand asks the receiver on this machine whether it is ready.
type healthcheckCommand struct {
	PrivateAddress `group:"private"`
}

func (c *healthcheckCommand) check(machine) error {
	var found complaints
	checkAddress(&found, "private-listen", c.PrivateListen)
	return errors.Join(found...)
}

func (c *healthcheckCommand) run(ctx context.Context, p *program) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(c.PrivateListen)+"/readyz", nil)
	if err != nil {
		return exitNo, fmt.Errorf("ask for readiness: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: this machine only
	response, err := client.Do(request)
	if err != nil {
		return exitNo, fmt.Errorf("no receiver answers: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<10))
	if err != nil {
		return exitNo, fmt.Errorf("read the answer: %w", err)
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return exitNo, fmt.Errorf("not ready: %s", strings.TrimSpace(string(text)))
	default:
		return exitNo, fmt.Errorf("%s answers %s: is it the private door of a receiver? See %s", c.PrivateListen, response.Status, name("private-listen"))
	}
	_, err = fmt.Fprintln(p.stdout, "ready")
	return result(err)
}

// reachable turns an address to listen on into one to ask: every interface is
// asked on loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.Unmap().IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.Unmap().IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
