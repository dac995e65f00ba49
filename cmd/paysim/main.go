// Command paysim plays the payment service for whoever develops against it: the API, the bank's page, a shop to click
// through, and the notifications (IPNs) of all that happens there. It is not for production: it moves no money, keeps
// nothing, and believes every card it knows.
//
// Its one non-obvious decision is that it needs no setting beside an ipn-receiver on the same machine: it sends to the
// receiver's default address and signs with the secret that the receiver has made up for development, read anew for each
// IPN, so that either may be started first.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// The exit codes.
const (
	exitOK    = 0
	exitNo    = 1 // it was tried and did not work, or the answer was not 200
	exitUsage = 2 // the command line or the settings are wrong; nothing was tried
)

// program is one run of the command and all it sees of the world outside.
type program struct {
	args           []string // without the program's name
	lookupEnv      func(string) (string, bool)
	environ        []string // every variable as NAME=value, to find those that are misspelt
	stdout, stderr io.Writer
	uid            int
	system         string // of the machine, as runtime.GOOS names it
	now            func() time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends at once
	p := &program{
		args:      os.Args[1:],
		lookupEnv: os.LookupEnv,
		environ:   os.Environ(),
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		uid:       os.Geteuid(),
		system:    runtime.GOOS,
		now:       time.Now,
	}
	code := p.run(ctx)
	stop()
	os.Exit(code)
}

// run does what the command line says and returns the exit code. It prints results on stdout and everything else on
// stderr.
func (p *program) run(ctx context.Context) int {
	chosen, code := p.parse()
	if chosen == nil {
		return code
	}
	for _, name := range unknownVariables(p.environ) {
		p.note("%s is no variable of this program; it is not heard", name)
	}
	code, err := chosen.run(ctx, p)
	if err != nil {
		p.note("%v", err)
	}
	return code
}

// note prints a line on stderr, under the program's name.
func (p *program) note(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stderr, "paysim: "+format+"\n", args...)
}

// getenv is what a variable holds, "" where it is not set.
func (p *program) getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}
