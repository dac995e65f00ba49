package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// command is one of the program's. define enters its flags; check is called when they are read, with what stood on the
// line besides, and returns what is wrong for who typed it; then run returns the exit code, and an error to print.
type command interface {
	define(*flag.FlagSet)
	check(p *program, arguments []string) error
	run(context.Context, *program) (int, error)
}

// entry is a command as it is found and explained.
type entry struct {
	name, usage, help string
	make              func() command
}

// commands is all that can be typed. The first is meant when none is named.
var commands = []entry{
	{"serve", "serve [flags]", serveHelp, func() command { return new(serveCommand) }},
	{"send", "send TYPE [field=value ...] [flags]", sendHelp, func() command { return new(sendCommand) }},
	{"load", "load [flags]", loadHelp, func() command { return new(loadCommand) }},
}

const description = `paysim plays the payment service: its API, a bank, a shop to click through, and the notifications (IPNs) of all that
happens. It is for development and tests, and not for production: it moves no money and forgets everything when it ends.

Usage: paysim [command] [flags]

  serve   Be the payment service until told to stop. The command when none is named.
  send    Post one notification of any type anywhere, signed.
  load    Post notifications at a rate, and tell how they were answered.

Every flag is a variable too: --ipn-url is PAYSIM_IPN_URL. "paysim serve --help" tells the flags of serve.

Examples:

  paysim
      starts on this machine and sends to an ipn-receiver on this machine

  paysim --ipn-url http://127.0.0.1:9000/hook --signing-key-file key.txt --speed 3600
      sends elsewhere, signed with a key of yours; a simulated hour passes each second

  paysim send REFUND referenceNumber=70010001 reversalAmount=5.00
      posts one refund and tells the answer

  paysim load --rate 200 --duration 30s
      posts two hundred charges a second
`

// parse reads the variables and the command line. It returns nil and an exit code when there is nothing left to do.
func (p *program) parse() (chosen command, code int) {
	found, args, err := p.find()
	if err != nil {
		return nil, p.usageError("", err)
	}
	if found == nil {
		_, _ = io.WriteString(p.stdout, description)
		return nil, exitOK
	}
	chosen = found.make()
	set := newFlags(found.name, chosen)
	arguments, err := readFlags(set, p.lookupEnv, args)
	if errors.Is(err, flag.ErrHelp) {
		writeHelp(p.stdout, *found, set)
		return nil, exitOK
	}
	if err == nil {
		err = chosen.check(p, arguments)
	}
	if err != nil {
		return nil, p.usageError(found.name+" ", err)
	}
	return chosen, exitOK
}

// find returns the command that was typed and what follows it; nil for the help of the whole program.
func (p *program) find() (*entry, []string, error) {
	if len(p.args) == 0 {
		return &commands[0], nil, nil
	}
	first := p.args[0]
	at := slices.IndexFunc(commands, func(c entry) bool { return c.name == first })
	switch {
	case at >= 0:
		return &commands[at], p.args[1:], nil
	case slices.Contains([]string{"help", "-h", "-help", "--help"}, first):
		return nil, nil, nil
	case strings.HasPrefix(first, "-"):
		return &commands[0], p.args, nil
	}
	return nil, nil, fmt.Errorf("%q is no command: serve, send and load are", first)
}

// usageError prints what is wrong with the command line or the settings.
func (p *program) usageError(typed string, err error) int {
	for _, line := range strings.Split(err.Error(), "\n") {
		p.note("%s", line)
	}
	p.note("\"paysim %s--help\" tells more", typed)
	return exitUsage
}

// result is the exit code of a command that either works or fails.
func result(err error) (int, error) {
	if err != nil {
		return exitNo, err
	}
	return exitOK, nil
}
