// Command ipn-receiver takes the payment service's notifications (IPNs), keeps
// them in PostgreSQL and answers questions about them.
//
// main is signals, settings and an exit code; everything else happens in run,
// which gets the outside world as values, so that tests run the program as it
// is. Settings are read in this package only, once, and checked before anything
// is opened. The settings' variables are looked up by this program and not by
// the command line library, whose errors would show the value of a secret.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
	_ "time/tzdata" // so that time zones are there on machines that bring none
)

// The exit codes.
const (
	exitOK    = 0
	exitNo    = 1 // it was tried and did not work, or the answer is no
	exitUsage = 2 // the command line or the settings are wrong; nothing was tried. Not so of configure: see usageError
)

// gcPercent makes the collector run half as often as by default. The heap is small and what passes through it is not: at
// the default, working off a backlog of events spends half of its processor time on collecting. GOGC goes before it.
const gcPercent = 200

// program is one run of the command and all it sees of the world outside.
type program struct {
	args           []string // without the program's name
	lookupEnv      func(string) (string, bool)
	environ        []string // every variable as NAME=value, to find those that are misspelt
	stdin          io.Reader
	stdout, stderr io.Writer
	uid            int
	now            func() time.Time
	stopNow        <-chan struct{} // closed by the second signal
}

func main() {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stopNow, release := watchSignals(context.Background())
	p := &program{
		args:      os.Args[1:],
		lookupEnv: os.LookupEnv,
		environ:   os.Environ(),
		stdin:     interruptible{ctx, os.Stdin},
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		uid:       os.Geteuid(),
		now:       time.Now,
		stopNow:   stopNow,
	}
	code := p.run(ctx)
	release()
	os.Exit(code)
}

// watchSignals ends ctx with the first SIGINT or SIGTERM and closes stopNow with
// the second. release stops watching.
func watchSignals(parent context.Context) (ctx context.Context, stopNow <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	now, released := make(chan struct{}), make(chan struct{})
	go func() {
		for _, react := range []func(){cancel, func() { close(now) }} {
			select {
			case <-signals:
				react()
			case <-released:
				return
			}
		}
	}()
	return ctx, now, func() {
		signal.Stop(signals)
		close(released)
		cancel()
	}
}

// run does what the command line says and returns the exit code. It prints
// results on stdout and everything else on stderr.
func (p *program) run(ctx context.Context) int {
	command, code := p.parse()
	if command == nil {
		return code
	}
	if err := command.check(machine{uid: p.uid, lookupEnv: p.lookupEnv}); err != nil {
		return p.usageError(err)
	}
	code, err := command.run(ctx, p)
	if err != nil {
		_, _ = fmt.Fprintf(p.stderr, "ipn-receiver: %v\n", err)
	}
	return code
}

// result is the exit code of a command that either works or fails.
func result(err error) (int, error) {
	if err != nil {
		return exitNo, err
	}
	return exitOK, nil
}
