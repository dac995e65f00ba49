package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// newFlags returns the flags of a command. The library prints nothing by itself: its words for errors and help are ours.
func newFlags(name string, c command) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	c.define(set)
	return set
}

// readFlags takes the variables first and then the line, so that a flag goes before its variable. It returns what stood
// between and behind the flags; behind "--" nothing is a flag. An empty variable is not set.
func readFlags(set *flag.FlagSet, lookupEnv func(string) (string, bool), args []string) ([]string, error) {
	var problems []error
	set.VisitAll(func(f *flag.Flag) {
		value, _ := lookupEnv(variable(f.Name))
		if value == "" {
			return
		}
		if err := set.Set(f.Name, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %q: %w", variable(f.Name), value, err))
		}
	})
	arguments, err := mixed(set, args)
	if errors.Is(err, flag.ErrHelp) {
		return nil, err
	}
	return arguments, errors.Join(append(problems, err)...)
}

// mixed parses flags that stand anywhere among the arguments, which the library alone does not.
func mixed(set *flag.FlagSet, args []string) (arguments []string, err error) {
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		rest := set.Args()
		if len(rest) == 0 {
			break
		}
		if before := len(args) - len(rest); before > 0 && args[before-1] == "--" {
			return append(arguments, rest...), nil
		}
		arguments, args = append(arguments, rest[0]), rest[1:]
	}
	return arguments, nil
}

// variable is the name of a flag's variable: --ipn-url is PAYSIM_IPN_URL.
func variable(name string) string {
	return "PAYSIM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// unknownVariables returns the names of variables that begin like a flag's and are none, so that a misspelt one does not
// go unnoticed.
func unknownVariables(environ []string) []string {
	known := map[string]bool{}
	for _, c := range commands {
		newFlags(c.name, c.make()).VisitAll(func(f *flag.Flag) { known[variable(f.Name)] = true })
	}
	var unknown []string
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "PAYSIM_") && !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// writeHelp explains a command and each of its flags.
func writeHelp(w io.Writer, c entry, set *flag.FlagSet) {
	_, _ = fmt.Fprintf(w, "Usage: paysim %s\n\n%s\nFlags, each also a variable:\n", c.usage, c.help)
	set.VisitAll(func(f *flag.Flag) {
		placeholder, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			text += " Default: " + f.DefValue + "."
		}
		_, _ = fmt.Fprintf(w, "\n  %s\n", strings.TrimSpace("--"+f.Name+" "+placeholder))
		for _, line := range wrap(text + " ($" + variable(f.Name) + ")") {
			_, _ = fmt.Fprintf(w, "      %s\n", line)
		}
	})
}

// wrap breaks a text at blanks into lines that a terminal shows whole.
func wrap(text string) []string {
	const width = 100
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// noArguments is the check of commands that take flags only.
func noArguments(arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("%q is too much: this command takes flags only", arguments[0])
	}
	return nil
}
