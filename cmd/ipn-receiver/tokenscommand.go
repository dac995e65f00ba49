package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

// tokensCommand groups what is done with the tokens file. It needs no database and no running receiver; one that runs
// notices a changed file by itself.
type tokensCommand struct {
	Make makeToken  `cmd:"" help:"Make a token for a person or a tool. It is told once; only its SHA-256 is kept."`
	List listTokens `cmd:"" help:"List whose tokens a file holds, with their roles and last days."`
}

type makeToken struct {
	Name    string `required:"" placeholder:"NAME" help:"Who gets it, such as maria or erp: a name of its own, which the audit shows."`
	Role    string `required:"" enum:"viewer,finance,operator,admin" placeholder:"ROLE" help:"What they may: viewer, finance, operator or admin."`
	Expires string `placeholder:"90d|DATE" help:"Last day it is good for, in UTC: a number of days from today, or a date such as 2027-01-31. Not set: it is good until its line is taken away."`
	File    string `type:"path" placeholder:"FILE" help:"Tokens file to add its line to. Not set: the line is told too, for you to add."`

	expires time.Time
}

func (c *makeToken) check(machine) error { return nil }

// run tells the token on standard output, so that a script can take it from there, and everything else beside it.
func (c *makeToken) run(_ context.Context, p *program) (int, error) {
	if err := c.readExpires(p.now()); err != nil {
		return exitUsage, err
	}
	text, kept := access.NewToken(c.Name, access.Role(c.Role), c.expires)
	if _, err := (access.Tokens{}).With(kept); err != nil {
		return exitUsage, fmt.Errorf("--name: %w", err)
	}
	if c.File == "" {
		if _, err := fmt.Fprintf(p.stdout, "%s\n%s\n", text, kept.Line()); err != nil {
			return exitNo, fmt.Errorf("the token could not be told: %w", err)
		}
		_, _ = fmt.Fprintf(p.stderr, "The first line is the token: hand it to %s, it is not told again.\nThe second line is for the file that %s names.\n", c.Name, variable("tokens-file"))
		return exitOK, nil
	}
	if err := addToken(c.File, kept); err != nil {
		return exitNo, fmt.Errorf("--file: %w", err)
	}
	if _, err := fmt.Fprintln(p.stdout, text); err != nil {
		return exitNo, fmt.Errorf("the token could not be told, and nobody has it; take the line of %s out of %s and make another: %w", c.Name, c.File, err)
	}
	_, _ = fmt.Fprintf(p.stderr, "That is the token: hand it to %s, it is not told again.\nIts line stands in %s; a receiver that runs with the file notices within seconds.\n", c.Name, c.File)
	return exitOK, nil
}

// maxDays is longer than anybody should hold one token.
const maxDays = 3660

func (c *makeToken) readExpires(now time.Time) (err error) {
	if c.Expires == "" {
		return nil
	}
	day := c.Expires
	if digits, counted := strings.CutSuffix(day, "d"); counted {
		days, err := strconv.Atoi(digits)
		if err != nil || days < 1 || days > maxDays {
			return fmt.Errorf("--expires: %q is no number of days from 1 to %d: write it as 90d", day, maxDays)
		}
		day = now.UTC().AddDate(0, 0, days).Format(time.DateOnly)
	}
	if c.expires, err = access.EndOf(day); err != nil {
		return fmt.Errorf("--expires: %w, or as a number of days, such as 90d", err)
	}
	if !c.expires.After(now) {
		return fmt.Errorf("--expires: %s is over: name a day to come", day)
	}
	return nil
}

// addToken writes the file anew with one line more, so that whoever reads it meanwhile sees the old or the new one whole.
// It changes nothing when the file is not right as it is, or holds the name already.
func addToken(path string, token access.Token) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file is replaced, not a link to it
	}
	// The new file is also the lock: who finds it there came second, and would lose the line of who came first.
	fresh, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("somebody else is adding a token; if nobody is, remove %s.new", path)
	}
	if err != nil {
		return err
	}
	defer func() {
		if fresh.Close(); err != nil {
			_ = os.Remove(fresh.Name())
		}
	}()
	text, err := readSmallFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there, err := access.ParseTokens(text)
	if err != nil {
		return err
	}
	if _, err := there.With(token); err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := keepOwner(fresh, path); err != nil {
		return err
	}
	if _, err := fresh.WriteString(text + token.Line() + "\n"); err != nil {
		return err
	}
	if err := fresh.Sync(); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), path)
}

type listTokens struct {
	File string `type:"path" placeholder:"FILE" help:"Tokens file to read. Not set: that of IPN_TOKENS_FILE."`
}

func (c *listTokens) check(m machine) error {
	if c.File = cmp.Or(c.File, m.getenv(variable("tokens-file"))); c.File == "" {
		return fmt.Errorf("--file: name the tokens file, or set %s", variable("tokens-file"))
	}
	return nil
}

func (c *listTokens) run(_ context.Context, p *program) (int, error) {
	text, err := readSmallFile(c.File)
	if err != nil {
		return exitNo, err
	}
	tokens, err := access.ParseTokens(text)
	if err != nil {
		return exitNo, err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tROLE\tLAST DAY\tSTATE")
	for _, token := range tokens.All() {
		lastDay, state := "-", "good"
		if !token.Expires.IsZero() {
			lastDay = access.LastDay(token.Expires)
		}
		if token.Expired(p.now()) {
			state = "expired"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", token.Name, token.Role, lastDay, state)
	}
	return result(table.Flush())
}
