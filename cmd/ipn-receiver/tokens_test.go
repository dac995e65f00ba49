package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// makeTokenIn makes a token with the command and returns it.
func makeTokenIn(tb testing.TB, file, name, role string, more ...string) string {
	tb.Helper()
	r := runProgram(tb, nil, "", append([]string{"tokens", "make", "--name", name, "--role", role, "--file", file}, more...)...)
	r.wants(tb, exitOK)
	return strings.TrimSpace(r.stdout)
}

func TestATokenIsToldOnceWithItsLine(t *testing.T) {
	r := runProgram(t, nil, "", "tokens", "make", "--name=maria", "--role=finance", "--expires=90d")
	r.wants(t, exitOK, "maria", "not told again")
	token, line, _ := strings.Cut(strings.TrimSpace(r.stdout), "\n")
	if want := fmt.Sprintf("maria finance sha256:%x expires=2023-08-13", access.HashOf(token)); line != want || !strings.HasPrefix(token, "ipn_") {
		t.Errorf("got %q and %q, want %q", token, line, want)
	}
	if strings.Contains(r.stderr, token) {
		t.Error("the token is told twice")
	}
}

func TestTokensAreAddedToAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	maria := makeTokenIn(t, file, "maria", "finance")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file for its owner alone", info, err)
	}
	if err := os.WriteFile(file, []byte("# who may ask\n"+strings.TrimSpace(read(t, file))), 0o640); err != nil { // no newline at its end
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	erp := makeTokenIn(t, file, "erp", "viewer", "--expires=2023-06-30")
	tokens, err := access.ParseTokens(read(t, file))
	if err != nil || len(tokens.All()) != 2 || tokens.All()[0].Hash != access.HashOf(maria) || tokens.All()[1].Hash != access.HashOf(erp) || !strings.HasPrefix(read(t, file), "# who may ask\n") {
		t.Errorf("got %v, %v", read(t, file), err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode that was set is lost: %v", info.Mode())
	}
	if left, _ := filepath.Glob(file + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	r := runProgram(t, map[string]string{"IPN_TOKENS_FILE": file}, "", "tokens", "list")
	r.wants(t, exitOK, "maria", "finance", "erp", "viewer", "2023-06-30")
	if strings.Contains(r.stdout, "sha256") {
		t.Errorf("the list shows hashes: %s", r.stdout)
	}
}

func TestAListTellsWhatHasExpired(t *testing.T) {
	old := access.Token{Name: "old", Role: access.Viewer, Hash: access.HashOf("x"), Expires: at.Add(-24 * time.Hour).Truncate(24 * time.Hour)}
	runProgram(t, nil, "", "tokens", "list", "--file", mustWrite(t, old.Line())).wants(t, exitOK, "2023-05-13", "expired")
}

func TestATokenThatCannotBeMadeLeavesTheFileAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	makeTokenIn(t, file, "maria", "finance")
	before := read(t, file)
	broken := mustWrite(t, "maria finance "+canary+"\n")
	busy := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(busy+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a name twice":               {[]string{"--name=maria", "--role=viewer", "--file=" + file}, exitNo, "another token has this name"},
		"a name twice, in capitals":  {[]string{"--name=MARIA", "--role=viewer", "--file=" + file}, exitNo, "another token has this name"},
		"a name that is none":        {[]string{"--name=ma ria", "--role=viewer", "--file=" + file}, exitUsage, "--name"},
		"a role that is none":        {[]string{"--name=erp", "--role=root", "--file=" + file}, exitUsage, "--role"},
		"no role":                    {[]string{"--name=erp", "--file=" + file}, exitUsage, "--role"},
		"a day that is over":         {[]string{"--name=erp", "--role=viewer", "--expires=2023-05-14", "--file=" + file}, exitUsage, "is over"},
		"no days":                    {[]string{"--name=erp", "--role=viewer", "--expires=0d", "--file=" + file}, exitUsage, "90d"},
		"days without end":           {[]string{"--name=erp", "--role=viewer", "--expires=99999d", "--file=" + file}, exitUsage, "90d"},
		"a day that is none":         {[]string{"--name=erp", "--role=viewer", "--expires=soon", "--file=" + file}, exitUsage, "2027-01-31"},
		"a file that is wrong":       {[]string{"--name=erp", "--role=viewer", "--file=" + broken}, exitNo, "line 1: "},
		"a file that is written now": {[]string{"--name=erp", "--role=viewer", "--file=" + busy}, exitNo, "somebody else"},
		"a folder that is not there": {[]string{"--name=erp", "--role=viewer", "--file=/nowhere/at/all"}, exitNo, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runProgram(t, nil, "", append([]string{"tokens", "make"}, c.args...)...)
			r.wants(t, c.code, c.want)
			if strings.Contains(r.stdout, "ipn_") || strings.Contains(r.stdout+r.stderr, canary) || read(t, file) != before {
				t.Errorf("a token was told or the file changed: %s %s", r.stdout, read(t, file))
			}
		})
	}
	if left, _ := filepath.Glob(file + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestATokenThatNobodyHearsIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	for _, args := range [][]string{{"tokens", "make", "--name=maria", "--role=viewer"}, {"tokens", "make", "--name=maria", "--role=viewer", "--file=" + file}} {
		var said strings.Builder
		p := &program{args: args, stdout: deaf{}, stderr: &said, lookupEnv: func(string) (string, bool) { return "", false }, now: func() time.Time { return at }}
		if code := p.run(t.Context()); code != exitNo || !strings.Contains(said.String(), "could not be told") {
			t.Errorf("%v: got %d, %s", args, code, said.String())
		}
	}
}

// deaf is an output that takes nothing, as a disk that is full.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestTokensMadeAtOnceAreAllThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	var makers sync.WaitGroup
	codes := make([]ran, 8)
	for i := range codes {
		makers.Go(func() {
			codes[i] = runProgram(t, nil, "", "tokens", "make", fmt.Sprintf("--name=tool%d", i), "--role=viewer", "--file="+file)
		})
	}
	makers.Wait()
	tokens, err := access.ParseTokens(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	there := map[access.Hash]bool{}
	for _, token := range tokens.All() {
		there[token.Hash] = true
	}
	for i, r := range codes {
		if r.code == exitOK && !there[access.HashOf(strings.TrimSpace(r.stdout))] {
			t.Errorf("tool%d was told a token that is not in the file", i)
		}
	}
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestTheTokensFollowTheirFile(t *testing.T) {
	file := mustWrite(t, access.Token{Name: "maria", Role: access.Finance, Hash: access.HashOf("one")}.Line())
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zapcore.DebugLevel)
		s, err := checked(t, map[string]string{"IPN_TOKENS_FILE": file, "IPN_API_TOKEN": canary})
		if err != nil {
			t.Fatal(err)
		}
		tokens := openTokens(&s.PrivateAccess)
		go tokens.watch(t.Context(), zap.New(core))
		for _, step := range []struct{ text, want, said string }{
			{"", "maria finance, api admin", ""}, // as it was
			{"maria viewer sha256:" + strings.Repeat("ab", 32) + "\n", "maria viewer, api admin", "read again"},
			{"maria finance " + canary + "\n", "maria viewer, api admin", "cannot be read"},
			{"api viewer sha256:" + strings.Repeat("cd", 32) + "\n", "maria viewer, api admin", "cannot be read"},
			{"# nobody\n", "api admin", "read again"},
		} {
			if step.text != "" {
				if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(4 * keysInterval) // of the bubble's clock: it is over at once
			synctest.Wait()
			var names []string
			for _, token := range tokens.current().All() {
				names = append(names, token.Name+" "+string(token.Role))
			}
			if got := strings.Join(names, ", "); got != step.want {
				t.Errorf("%q: got %s, want %s", step.text, got, step.want)
			}
			said := logged.TakeAll()
			if step.said == "" && len(said) != 0 || step.said != "" && (len(said) != 1 || !strings.Contains(said[0].Message, step.said)) {
				t.Errorf("%q: it said %v, want %q once", step.text, said, step.said)
			}
			for _, entry := range said {
				if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(text, canary) || strings.Contains(text, "abab") || strings.Contains(text, "cdcd") {
					t.Errorf("the log shows a token or a hash: %s", text)
				}
			}
		}
	})
}

func TestATokensFileThatIsWrongStopsTheStart(t *testing.T) {
	_, err := checked(t, map[string]string{"IPN_TOKENS_FILE": mustWrite(t, "\nmaria finance "+canary+"\n")})
	if err == nil || !strings.Contains(err.Error(), name("tokens-file")+": line 2: ") || strings.Contains(err.Error(), canary) {
		t.Errorf("got %v", err)
	}
}

// asked is one request to the private door, and its status and headers.
func (r *running) asked(method, path, body string, headers ...string) *http.Response {
	r.tb.Helper()
	request, err := http.NewRequest(method, r.private+path, strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	if body != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request) // follows no redirect
	if err != nil {
		r.tb.Fatal(err)
	}
	response.Body.Close()
	return response
}

func TestTheDoorAsksWhoYouAre(t *testing.T) { // S-75, S-77
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	maria, ann := makeTokenIn(t, file, "maria", "finance"), makeTokenIn(t, file, "ann", "viewer")
	r := start(t, "IPN_DATABASE_URL="+pgtest.Own(t).DSN(), "IPN_TOKENS_FILE="+file, "IPN_API_TOKEN="+canary)

	for _, c := range []struct {
		method, path, body string
		headers            []string
		want               int
	}{
		{"GET", "/api/v1/events", "", nil, 401},
		{"GET", "/api/v1/events?token=" + url.QueryEscape(maria), "", nil, 401},
		{"GET", "/api/v1/events", "", []string{"Authorization", "Bearer " + maria}, 200},
		{"GET", "/api/v1/events", "", []string{"Authorization", "Bearer " + canary}, 200},
		{"GET", "/api/v1/audit", "", []string{"Authorization", "Bearer " + ann}, 404},
		{"GET", "/api/v1/audit", "", []string{"Authorization", "Bearer " + canary}, 200},
		{"POST", "/api/v1/handlers/ledger/pause", `{"reason":"closing"}`, []string{"Authorization", "Bearer " + ann, "Content-Type", "application/json"}, 403},
		{"POST", "/api/v1/handlers/ledger/pause", `{"reason":"closing"}`, []string{"Content-Type", "application/json"}, 401},
		{"GET", "/api/v1/events", "", []string{"X-Forwarded-User", "ann"}, 401},
		{"GET", "/livez", "", nil, 200},
		{"GET", "/readyz", "", nil, 200},
		{"GET", "/metrics", "", nil, 200},
		{"POST", "/sign-in", "token=ipn_wrong", nil, 401},
		{"POST", "/sign-in?token=" + url.QueryEscape(maria), "next=/", nil, 401},
		{"POST", "/sign-in", "token=" + maria, []string{"Origin", "https://evil.example"}, 403},
		{"POST", "/sign-in", "token=" + maria, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/api/v1/parked/redrive", `{"reason":"closing"}`, []string{"Authorization", "Bearer " + canary, "Sec-Fetch-Site", "same-site"}, 403},
	} {
		if got := r.asked(c.method, c.path, c.body, c.headers...); got.StatusCode != c.want {
			t.Errorf("%s %s %v: got %d, want %d", c.method, strings.ReplaceAll(c.path, maria, "TOKEN"), len(c.headers), got.StatusCode, c.want)
		}
	}

	opened := r.asked("POST", "/sign-in", "token="+maria+"&next=/events")
	if opened.StatusCode != http.StatusSeeOther || opened.Header.Get("Location") != "/events" || len(opened.Cookies()) != 1 {
		t.Fatalf("got %d %v", opened.StatusCode, opened.Header)
	}
	for next, want := range map[string]string{"//evil.example": "/", `/\evil.example`: "/", "https://evil.example": "/", "/money?test=true": "/money?test=true"} {
		if got := r.asked("POST", "/sign-in", "token="+maria+"&next="+url.QueryEscape(next)).Header.Get("Location"); got != want {
			t.Errorf("signing in leads to %q for %q, want %q", got, next, want)
		}
	}
	cookie := opened.Cookies()[0].Name + "=" + opened.Cookies()[0].Value
	if got := r.asked("GET", "/api/v1/events", "", "Cookie", cookie); got.StatusCode != http.StatusOK {
		t.Errorf("in a session: got %d", got.StatusCode)
	}
	if got := r.asked("POST", "/sign-out", "", "Cookie", cookie); got.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out: got %d", got.StatusCode)
	}
	if got := r.asked("GET", "/api/v1/events", "", "Cookie", cookie); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after that: got %d", got.StatusCode)
	}
	counts := r.asked("GET", "/metrics", "")
	if counts.StatusCode != http.StatusOK {
		t.Errorf("metrics: got %d", counts.StatusCode)
	}
	for _, secret := range []string{maria, ann, canary, opened.Cookies()[0].Value, regexp.MustCompile(`sha256:(\S+)`).FindStringSubmatch(read(t, file))[1]} {
		if strings.Contains(r.said(), secret) {
			t.Errorf("the program said a secret, or its hash")
		}
	}

	makeTokenIn(t, file, "erp", "viewer") // while it runs
	r.await(`tokens were read again`)
}
