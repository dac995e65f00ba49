package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// A stage is both programs at work, and all the ways to speak to them.
type stage struct {
	*commandLine
	dir                 string
	receiver, simulator program
	destination         string // where the receiver takes IPNs
	private             door   // the receiver's API
	service             door   // the simulator's API, shop and bank
	control             door   // the simulator's second door
	payments            *payments.Client
}

const user = "demo"

// look is how often the receiver looks at the configuration here.
const look = 2 * time.Second

// setStage builds and starts both programs. What it returns is to be cleared also with an error.
func (c *commandLine) setStage(ctx context.Context) (*stage, error) {
	s := &stage{commandLine: c}
	var err error
	if s.dir, err = os.MkdirTemp("", "ipn-demo-"); err != nil {
		return s, fmt.Errorf("make a directory: %w", err)
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { // root's PostgreSQL runs under another account
		return s, fmt.Errorf("open the directory: %w", err)
	}
	if c.Logs == "" {
		c.Logs = s.dir
	}
	if err := os.MkdirAll(c.Logs, 0o755); err != nil {
		return s, fmt.Errorf("make the directory of the logs: %w", err)
	}
	secrets, err := s.writeSecrets()
	if err != nil {
		return s, err
	}
	if err := s.arrange(secrets); err != nil {
		return s, err
	}
	fmt.Println("Building both programs ...")
	if err := build(ctx, s.dir); err != nil {
		return s, err
	}
	if err := s.simulator.start(ctx); err != nil {
		return s, err
	}
	return s, s.receiver.start(ctx)
}

// secrets are made up for one run, and handed over in files.
type secrets struct{ key, password, token string }

func (s *stage) writeSecrets() (secrets, error) {
	made := secrets{rand.Text(), rand.Text(), rand.Text()}
	for name, text := range map[string]string{
		"key": made.key, "password": made.password, "credentials": user + ":" + made.password, "token": made.token,
	} {
		if err := os.WriteFile(s.file(name), []byte(text+"\n"), 0o600); err != nil {
			return made, fmt.Errorf("write a secret: %w", err)
		}
	}
	return made, nil
}

func (s *stage) file(name string) string { return filepath.Join(s.dir, name) }

// arrange gives each program its addresses and settings.
func (s *stage) arrange(made secrets) error {
	free, err := freeAddresses(4)
	if err != nil {
		return err
	}
	public, private, service, control := free[0], free[1], free[2], free[3]
	s.destination = "http://" + public + "/ipn"
	s.private = door{base: "http://" + private, token: made.token}
	s.service, s.control = door{base: "http://" + service}, door{base: "http://" + control}
	s.receiver = program{path: s.file("ipn-receiver"), log: filepath.Join(s.Logs, "ipn-receiver.log"), ready: s.private.answers("/readyz"), env: []string{
		"IPN_LISTEN=" + public, "IPN_PRIVATE_LISTEN=" + private, "IPN_DATA_DIR=" + s.file("data"),
		"IPN_SIGNING_SECRETS_FILE=" + s.file("key"), "IPN_VERIFICATION=enforce", "IPN_API_TOKEN_FILE=" + s.file("token"),
		"IPN_PAYMENTS_URL=" + s.service.base, "IPN_PAYMENTS_CREDENTIALS_FILE=" + s.file("credentials"),
		"IPN_CONFIGURE=apply", "IPN_CONFIGURE_INTERVAL=" + look.String(), "IPN_PUBLIC_URL=" + s.destination,
	}}
	s.simulator = program{path: s.file("paysim"), log: filepath.Join(s.Logs, "paysim.log"), ready: s.control.answers("/"), env: []string{
		"PAYSIM_LISTEN=" + service, "PAYSIM_CONTROL=" + control, "PAYSIM_IPN_URL=none", "PAYSIM_SIGNING_KEY_FILE=" + s.file("key"),
		"PAYSIM_USERNAME=" + user, "PAYSIM_PASSWORD_FILE=" + s.file("password"), "PAYSIM_SEED=" + strconv.FormatUint(s.Seed, 10),
	}}
	s.payments, err = payments.New(payments.Config{
		BaseURL:     s.service.base,
		Credentials: func() (string, string, error) { return user, made.password, nil },
	})
	return err
}

// clear ends both programs and removes what they kept; the logs stay when something went wrong.
func (s *stage) clear(failed bool) error {
	err := errors.Join(s.simulator.stop(), s.receiver.stop())
	if s.dir == "" {
		return err
	}
	if failed {
		fmt.Printf("\nThe logs are in %s.\n", s.Logs)
		if s.Logs == s.dir {
			return err
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *stage) tellWhere() {
	fmt.Printf("\nBoth are still up; Ctrl-C ends them.\n  Shop      %s/\n  Control   %s/\n  Receiver  curl -H \"Authorization: Bearer $(cat %s)\" %s/api/v1/totals\n",
		s.service.base, s.control.base, s.file("token"), s.private.base)
}

// say tells one step.
func say(format string, args ...any) { fmt.Printf("   "+format+"\n", args...) }

// advance moves the simulator's clock; all that becomes due on the way happens, and its IPNs are sent.
func (s *stage) advance(ctx context.Context, by time.Duration) error {
	return s.control.call(ctx, http.MethodPost, "/clock", map[string]string{"advance": by.String()}, nil)
}
