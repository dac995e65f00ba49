package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ran is what a run of the program left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// at is the time in all tests.
var at = time.Date(2023, 5, 15, 13, 3, 0, 0, time.UTC)

// runProgram runs the program with the variables given and no others.
func runProgram(tb testing.TB, env map[string]string, stdin string, args ...string) ran {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{
		args:      args,
		lookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		stdin:     strings.NewReader(stdin),
		stdout:    &stdout,
		stderr:    &stderr,
		uid:       1000,
		now:       func() time.Time { return at },
	}
	code := p.run(context.Background())
	return ran{code, stdout.String(), stderr.String()}
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

func TestHelpTeachesEveryCommandAndEverySetting(t *testing.T) {
	r := runProgram(t, nil, "", "--help")
	r.wants(t, exitOK, "serve", "migrate", "decode", "verify", "healthcheck", "Examples:", "serve --help")
	if r.stderr != "" {
		t.Errorf("help went to stderr: %s", r.stderr)
	}

	r = runProgram(t, nil, "", "serve", "--help")
	r.wants(t, exitOK)
	for _, setting := range listSettings() {
		if !strings.Contains(r.stdout, "--"+setting.Name) || !strings.Contains(r.stdout, "$"+variable(setting.Name)) {
			t.Errorf("help does not tell --%s and $%s", setting.Name, variable(setting.Name))
		}
	}
	for _, g := range groups {
		if !strings.Contains(r.stdout, g.title+":\n") {
			t.Errorf("help has no group %q", g.title)
		}
	}
}

func TestEverySettingIsExplainedInSentences(t *testing.T) {
	settings := listSettings()
	if len(settings) < 45 {
		t.Fatalf("got %d settings, want all of them", len(settings))
	}
	for _, s := range settings {
		if len(s.Help) < 20 || !strings.HasSuffix(s.Help, ".") {
			t.Errorf("--%s: %q is no explanation", s.Name, s.Help)
		}
	}
}

func TestVersionTellsTheBuild(t *testing.T) {
	runProgram(t, nil, "", "--version").wants(t, exitOK, "ipn-receiver ", "go1.")
}

func TestAWrongCommandLineIsUsage(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"an unknown command", nil, []string{"dance"}, "dance"},
		{"an unknown flag", nil, []string{"--listne=x"}, "--listne"},
		{"an unknown flag of a command", nil, []string{"decode", "--listen=:1"}, "--listen"},
		{"a size that is none", nil, []string{"--max-body=much"}, "--max-body (IPN_MAX_BODY): "},
		{"a size that is none, by variable", map[string]string{"IPN_MAX_BODY": "much"}, nil, "--max-body (IPN_MAX_BODY): "},
		{"a word out of no list", nil, []string{"--env=test"}, "--env (IPN_ENV)"},
		{"a number that is none", map[string]string{"IPN_POOL_SIZE": "ten"}, nil, "--pool-size (IPN_POOL_SIZE)"},
		{"a zone that is none", nil, []string{"--zone=Local"}, "Europe/Berlin"},
		{"a network that is none", nil, []string{"--senders=192.0.2.1/24"}, "192.0.2.0/24"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runProgram(t, c.env, "", c.args...).wants(t, exitUsage, c.want, `--help" tells more`)
		})
	}
}

func TestAWrongCommandLineLeadsToTheHelpOfItsCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--listne=x"}, `"ipn-receiver serve --help"`},
		{[]string{"decode", "--listen=:1"}, `"ipn-receiver decode --help"`},
		{[]string{"handlers", "pause", "ledger"}, `"ipn-receiver handlers pause --help"`},
		{[]string{"handlers", "dance"}, `"ipn-receiver handlers --help"`},
	} {
		runProgram(t, nil, "", c.args...).wants(t, exitUsage, c.want)
	}
}

func TestAFlagGoesBeforeItsVariable(t *testing.T) {
	env := map[string]string{"IPN_PRIVATE_LISTEN": "nowhere"}
	runProgram(t, env, "", "healthcheck").wants(t, exitUsage, "--private-listen (IPN_PRIVATE_LISTEN)", `"nowhere"`)
	runProgram(t, env, "", "healthcheck", "--private-listen=elsewhere").wants(t, exitUsage, `"elsewhere"`)
}

func TestAMisspeltVariableIsFound(t *testing.T) {
	got := unknownVariables([]string{"HOME=/x", "IPN_LISTEN=:1", "IPN_SENDERS_MOD=enforce", "IPN_SIGNING_SECRETS_FILE=f", "IPN_=x"})
	if want := []string{"IPN_SENDERS_MOD", "IPN_"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnEmptyVariableIsNotSet(t *testing.T) {
	s, err := checked(t, map[string]string{"IPN_LISTEN": "", "IPN_MAX_BODY": ""})
	if err != nil || s.Listen != "127.0.0.1:8080" || s.MaxBody != 1<<20 {
		t.Errorf("got %q, %d, %v, want the defaults", s.Listen, s.MaxBody, err)
	}
}
