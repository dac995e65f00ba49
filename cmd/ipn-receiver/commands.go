package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// commandLine is what can be typed.
type commandLine struct {
	Serve       serveCommand       `cmd:"" default:"withargs" help:"Take IPNs in until told to stop. The command when none is named."`
	Handlers    handlersCommand    `cmd:"" help:"Tell and steer the handlers that events reach: list, parked, pause, resume, replay, redrive, rebuild, forget."`
	Events      eventsCommand      `cmd:"" help:"Ask the event history: list, show, export, tail, with the filters of the API."`
	Tokens      tokensCommand      `cmd:"" help:"Make and list the tokens of people and tools that may ask at the private door: make, list."`
	Configure   configureCommand   `cmd:"" help:"Tell the payment service which notifications to send where, and end. serve does so by itself where it has the credential; this is for those who keep it out of that process."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database's schema up to date, and end. serve does so by itself; this is for those who want it as a step of its own."`
	Decode      decodeCommand      `cmd:"" help:"Tell what an IPN means: its body on standard input, JSON on standard output."`
	Verify      verifyCommand      `cmd:"" help:"Tell whether a signature is good and, if not, why: the IPN's body on standard input."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a running receiver whether it is ready: exit code 0 or 1. For containers without curl."`

	Version kong.VersionFlag `help:"Tell the version."`
}

// command is one of them. check is called first: what it returns is for who
// typed the command. Then run returns the exit code, and an error to print.
type command interface {
	check(machine) error
	run(context.Context, *program) (int, error)
}

// serveCommand is the receiver itself.
type serveCommand struct{ Settings }

func (c *serveCommand) run(ctx context.Context, p *program) (int, error) {
	return result(serve(ctx, p, &c.Settings))
}

const description = `Takes the payment service's notifications (IPNs), keeps each exactly once, and answers questions about them.

Every setting is a flag of "serve" and a variable: --max-body is IPN_MAX_BODY. See "ipn-receiver serve --help" for all of them.

Examples:

  ipn-receiver
      starts on this machine, with a PostgreSQL of its own

  IPN_ENV=production IPN_LISTEN=:8080 IPN_DATABASE_URL_FILE=/run/secrets/database-url \
  IPN_SIGNING_SECRETS_FILE=/run/secrets/signing IPN_API_TOKEN_FILE=/run/secrets/api-token ipn-receiver
      starts for the world

  ipn-receiver decode < ipn.txt
      tells what a notification means`

// exited is panicked with where the command line library wants to end the
// process (after help and version), and recovered in parse.
type exited int

// parse reads the command line and the variables. It returns nil and an exit
// code when there is nothing left to do.
func (p *program) parse() (chosen command, code int) {
	defer func() {
		if raised := recover(); raised != nil {
			status, ok := raised.(exited)
			if !ok {
				panic(raised)
			}
			chosen, code = nil, int(status)
		}
	}()
	var line commandLine
	parser, err := newParser(&line, p)
	if err != nil {
		return nil, p.usageError(err)
	}
	parsed, err := parser.Parse(p.args)
	if err != nil {
		return nil, p.usageError(err)
	}
	return parsed.Selected().Target.Addr().Interface().(command), exitOK
}

func newParser(line *commandLine, p *program) (*kong.Kong, error) {
	explicit := make([]kong.Group, len(groups))
	for i, g := range groups {
		explicit[i] = kong.Group{Key: g.key, Title: g.title + ":"}
	}
	build := server.ReadBuild()
	return kong.New(line,
		kong.Name("ipn-receiver"),
		kong.Description(description),
		kong.Vars{"version": fmt.Sprintf("ipn-receiver %s (%s, %s)", build.Version, build.Revision, build.GoVersion)},
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ExplicitGroups(explicit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoAppDescFormat: true, WrapUpperBound: 110}),
		kong.ValueFormatter(helpOf),
		kong.Resolvers(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
			return p.lookup(flag), nil
		})),
	)
}

// lookup returns the value of a setting's variable, or nil.
func (p *program) lookup(flag *kong.Flag) any {
	if !isSetting(flag) {
		return nil
	}
	if value, _ := p.lookupEnv(variable(flag.Name)); value != "" {
		return value
	}
	return nil
}

// isSetting tells settings, which stand in a group, from the options of a command.
func isSetting(flag *kong.Flag) bool { return flag.Group != nil }

// helpOf puts the variable behind the help of a setting.
func helpOf(value *kong.Value) string {
	if value.Flag == nil || !isSetting(value.Flag) {
		return value.Help
	}
	return value.Help + " ($" + variable(value.Name) + ")"
}

var flagInError = regexp.MustCompile(`--([a-z][a-z-]*[a-z])`)

// usageError prints what is wrong with the command line or the settings, and returns the exit code. That of configure is
// exitNo: a script takes its 2 for drift.
func (p *program) usageError(err error) int {
	text := err.Error()
	if found := flagInError.FindStringSubmatch(text); found != nil && isSettingName(found[1]) && !strings.Contains(text, "IPN_") {
		text = strings.Replace(text, found[0], name(found[1]), 1)
	}
	for _, line := range strings.Split(text, "\n") {
		_, _ = fmt.Fprintf(p.stderr, "ipn-receiver: %s\n", line)
	}
	typed := p.typedCommand()
	_, _ = fmt.Fprintf(p.stderr, "ipn-receiver: \"ipn-receiver %s--help\" tells more\n", typed)
	if typed == "configure " {
		return exitNo
	}
	return exitUsage
}

// typedCommand is the command that was typed, as far as it is one, with a blank behind it; "serve " when none was.
func (p *program) typedCommand() string {
	var line commandLine
	parser, err := newParser(&line, &program{})
	if err != nil {
		panic(err) // the command line is built of constant structs
	}
	typed := ""
	for node, rest := parser.Model.Node, p.args; len(rest) > 0; rest = rest[1:] {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == rest[0] })
		if at < 0 {
			break
		}
		node, typed = node.Children[at], typed+rest[0]+" "
	}
	return cmp.Or(typed, "serve ")
}

// unknownVariables returns the names of variables that begin like a setting's and are none. The program starts all the
// same, because a variable may be meant for another release; but a setting that is not heard should not go unnoticed.
func unknownVariables(environ []string) []string {
	known := map[string]bool{}
	for _, s := range listSettings() {
		known[variable(s.Name)] = true
	}
	var unknown []string
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "IPN_") && !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// isSettingName tells whether a flag of that name is a setting.
func isSettingName(flag string) bool {
	for _, s := range listSettings() {
		if s.Name == flag {
			return true
		}
	}
	return false
}

// listSettings returns the flags of serve that are settings, in order. The
// command line is built of constant structs: an error is a mistake in them.
func listSettings() []*kong.Flag {
	var line commandLine
	parser, err := newParser(&line, &program{})
	if err != nil {
		panic(err)
	}
	var settings []*kong.Flag
	for _, node := range parser.Model.Children {
		if node.Target.Type() != reflect.TypeFor[serveCommand]() {
			continue
		}
		for _, flag := range node.Flags {
			if isSetting(flag) {
				settings = append(settings, flag)
			}
		}
	}
	return settings
}
