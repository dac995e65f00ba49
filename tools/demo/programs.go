package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const module = "github.com/ipn-receiver/ipn-receiver"

// build makes both programs of the module beside this one.
func build(ctx context.Context, into string) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find the module, which is beside tools/: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(root)), "-o", into, "./cmd/ipn-receiver", "./cmd/paysim")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("build the programs: %w", err)
	}
	return nil
}

// A program is one of the two as a process, with a log of its own.
type program struct {
	path, log string
	env       []string // its settings; of those that are in this process's environment none is passed on
	ready     func(context.Context) (bool, error)

	process *exec.Cmd
	ended   chan error
}

// start runs the program and waits until it is ready.
func (p *program) start(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	p.process = exec.Command(p.path)   // not bound to ctx: clear ends it, in order
	p.process.Stdout, p.process.Stderr = log, log
	p.process.Env = append(foreign(os.Environ()), p.env...)
	if err := p.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(p.path), err)
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.process.Wait() }()
	return await(ctx, filepath.Base(p.path)+" to be ready", func(ctx context.Context) (bool, error) {
		select {
		case err := <-p.ended:
			p.ended <- err
			return false, fmt.Errorf("%s ended: %w", filepath.Base(p.path), errors.Join(err, errors.New("see its log")))
		default:
			return p.ready(ctx)
		}
	})
}

// foreign are the variables that neither program takes for its own.
func foreign(environ []string) []string {
	return slices.DeleteFunc(environ, func(entry string) bool {
		return strings.HasPrefix(entry, "IPN_") || strings.HasPrefix(entry, "PAYSIM_")
	})
}

// kill ends the program as a power failure would.
func (p *program) kill() {
	_ = p.process.Process.Kill()
	<-p.ended
	p.process = nil // nothing is left to stop
}

// stopTime is how long a program may take to end in order.
const stopTime = 30 * time.Second

// stop ends the program in order, or kills it when it does not.
func (p *program) stop() error {
	if p.process == nil || p.process.Process == nil {
		return nil
	}
	_ = p.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTime):
		p.kill()
		return fmt.Errorf("%s did not end in %s", filepath.Base(p.path), stopTime)
	}
}

// freeAddresses returns addresses of this machine that nobody listens on.
func freeAddresses(n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = listener.Close() }() // all are held until the last is found
		addresses[i] = listener.Addr().String()
	}
	return addresses, nil
}

// patience is how long anything may take that is waited for.
const patience = 90 * time.Second

// await asks again and again until done says so, or fails.
func await(ctx context.Context, what string, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ready, err := done(ctx)
		if ready || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
