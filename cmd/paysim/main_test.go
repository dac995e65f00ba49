package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// asProgram makes this test binary the program itself, so that a test can signal it.
const asProgram = "IPN_PAYSIM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// at is the time in all tests.
var at = time.Date(2023, 5, 15, 13, 2, 57, 878e6, time.UTC)

// ran is what a run of the program left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// runProgram runs the program with the variables given and no others.
func runProgram(tb testing.TB, env map[string]string, args ...string) ran {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	p := newProgram(env, args...)
	p.stdout, p.stderr = &stdout, &stderr
	code := p.run(tb.Context())
	return ran{code, stdout.String(), stderr.String()}
}

func newProgram(env map[string]string, args ...string) *program {
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	return &program{
		args:      args,
		lookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		environ:   environ,
		uid:       1000, system: "linux",
		now: func() time.Time { return at },
	}
}

// wants fails unless the code is right and each text stands in the output.
func (r ran) wants(tb testing.TB, code int, texts ...string) {
	tb.Helper()
	if r.code != code {
		tb.Errorf("exit code: got %d, want %d", r.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			tb.Errorf("missing: %q", text)
		}
	}
	if tb.Failed() {
		tb.Logf("stdout:\n%s\nstderr:\n%s", r.stdout, r.stderr)
	}
}

// mustWrite writes a file for the test and returns its path.
func mustWrite(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestHelpTeachesEveryCommandAndEveryFlag(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		r := runProgram(t, nil, args...)
		r.wants(t, exitOK, "serve", "send", "load", "Examples:", "not for production", "serve --help")
		if r.stderr != "" {
			t.Errorf("help went to stderr: %s", r.stderr)
		}
	}
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			r := runProgram(t, nil, c.name, "--help")
			r.wants(t, exitOK, c.help)
			newFlags(c.name, c.make()).VisitAll(func(f *flag.Flag) {
				r.wants(t, exitOK, "--"+f.Name, "($"+variable(f.Name)+")")
				if len(f.Usage) < 15 || !strings.HasSuffix(f.Usage, ".") {
					t.Errorf("--%s: %q is no explanation", f.Name, f.Usage)
				}
			})
		})
	}
}

func TestAWrongCommandLineIsUsage(t *testing.T) {
	empty := mustWrite(t, "\n")
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"an unknown command", nil, []string{"dance"}, `"dance" is no command`},
		{"an unknown flag", nil, []string{"--listne=x"}, "listne"},
		{"a flag of another command", nil, []string{"send", "CHARGE", "--listen=:1"}, "listen"},
		{"an argument too much", nil, []string{"serve", "now"}, `"now" is too much`},
		{"a number that is none", nil, []string{"--seed=ten"}, `"ten"`},
		{"a number that is none, by variable", map[string]string{"PAYSIM_SEED": "ten"}, nil, `PAYSIM_SEED: "ten"`},
		{"a door for the world", nil, []string{"--listen=:8090"}, "--expose"},
		{"a control door for the world", nil, []string{"--control=192.0.2.1:8091"}, "--expose"},
		{"a door that is none", nil, []string{"--listen=here"}, "--listen"},
		{"a URL that is none", nil, []string{"--ipn-url=127.0.0.1"}, "--ipn-url"},
		{"a base URL that is none", nil, []string{"--base-url=ftp://example.com"}, "--base-url"},
		{"a clock that stands", nil, []string{"--speed=0"}, "--speed"},
		{"a clock without a measure", nil, []string{"--speed=NaN"}, "--speed"},
		{"a clock beyond all measure", nil, []string{"--speed=1e300"}, "--speed"},
		{"a time that is none", nil, []string{"--start=tomorrow"}, "--start"},
		{"a key file that is not there", nil, []string{"--signing-key-file=/nowhere/key"}, "read the signing key"},
		{"a key file without a key", nil, []string{"--signing-key-file=" + empty}, "is empty"},
		{"a password file that is not there", nil, []string{"--password-file=/nowhere/password"}, "--password-file"},
		{"a password file without a password", nil, []string{"--password-file=" + empty}, "is empty"},
		{"nothing to send", nil, []string{"send"}, "paysim send CHARGE"},
		{"a field without a value", nil, []string{"send", "CHARGE", "referenceNumber"}, "name=value"},
		{"a field without a name", nil, []string{"send", "CHARGE", "=5"}, "name=value"},
		{"none to send", nil, []string{"send", "CHARGE", "--count=0"}, "--count"},
		{"nowhere to send", nil, []string{"send", "CHARGE", "--url=nowhere"}, "--url"},
		{"no rate", nil, []string{"load", "--rate=0"}, "--rate"},
		{"a rate that is none", nil, []string{"load", "--rate=NaN"}, "--rate"},
		{"no time", nil, []string{"load", "--duration=0s"}, "--duration"},
		{"no types", nil, []string{"load", "--types=,"}, "--types"},
		{"no connections", nil, []string{"load", "--connections=0"}, "--connections"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runProgram(t, c.env, c.args...)
			r.wants(t, exitUsage, c.want, `--help" tells more`)
			if r.stdout != "" {
				t.Errorf("it went to stdout: %s", r.stdout)
			}
		})
	}
}

func TestAFlagGoesBeforeItsVariable(t *testing.T) {
	env := map[string]string{"PAYSIM_TYPES": ",", "PAYSIM_RATE": "0", "PAYSIM_URL": ""}
	r := runProgram(t, env, "load", "--rate=1")
	r.wants(t, exitUsage, "--types")
	if strings.Contains(r.stderr, "--rate") || strings.Contains(r.stderr, "--url") {
		t.Errorf("a variable went before its flag, or was set by nothing: %s", r.stderr)
	}
}

func TestFlagsMayStandAnywhereAmongTheArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"before", []string{"--count=2", "CHARGE", "a=b"}, []string{"CHARGE", "a=b"}},
		{"between and behind", []string{"CHARGE", "--count", "2", "a=b", "--print"}, []string{"CHARGE", "a=b"}},
		{"none behind two dashes", []string{"CHARGE", "--count=2", "--", "a=b", "--print=c"}, []string{"CHARGE", "a=b", "--print=c"}},
		{"none at all", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var send sendCommand
			got, err := readFlags(newFlags("send", &send), func(string) (string, bool) { return "", false }, c.args)
			if err != nil || !slices.Equal(got, c.want) || c.args != nil && send.count != 2 {
				t.Errorf("got %q, count %d, %v, want %q, count 2", got, send.count, err, c.want)
			}
		})
	}
}

func TestAMisspeltVariableIsNoted(t *testing.T) {
	r := runProgram(t, map[string]string{"PAYSIM_SEDE": "1", "PAYSIM_SEED": "2"}, "send", "CHARGE", "--print", "--signing-key-file=none")
	r.wants(t, exitOK, "PAYSIM_SEDE is no variable")
	if strings.Contains(r.stderr, "PAYSIM_SEED ") {
		t.Errorf("a variable that is one was noted too: %s", r.stderr)
	}
}

// eventually polls for half a minute, which a loaded machine may need.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			tb.Fatalf("did not happen in time: %s", what)
		case <-tick.C:
		}
	}
}
