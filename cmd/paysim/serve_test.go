package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// running is the program as a process of its own.
type running struct {
	tb               testing.TB
	command          *exec.Cmd
	service, control string // URLs

	mu     sync.Mutex
	output bytes.Buffer
}

// Write implements io.Writer for what the program says.
func (r *running) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.Write(text)
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.String()
}

// start runs the program on free ports and waits until it has said where it is.
func start(tb testing.TB, env []string, args ...string) *running {
	tb.Helper()
	binary, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	r := &running{tb: tb, command: exec.Command(binary, args...)}
	r.command.Env = append(os.Environ(), append([]string{asProgram + "=1", "PAYSIM_LISTEN=127.0.0.1:0", "PAYSIM_CONTROL=127.0.0.1:0", "IPN_DATA_DIR=" + tb.TempDir()}, env...)...)
	r.command.Stdout, r.command.Stderr = r, r
	if err := r.command.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = r.command.Process.Kill()
		_ = r.command.Wait()
		if tb.Failed() {
			tb.Logf("the program said:\n%s", r.said())
		}
	})
	doors := regexp.MustCompile(`Shop +(http://\S+)/ [^\0]*Control +(http://\S+)/ [^\0]*notification-config/.*\n`)
	eventually(tb, "the program says where it is", func() bool { return doors.MatchString(r.said()) })
	found := doors.FindStringSubmatch(r.said())
	r.service, r.control = found[1], found[2]
	return r
}

// pasted makes the request that the welcome prints as a curl line for a path.
func (r *running) pasted(path string) *http.Request {
	r.tb.Helper()
	line := regexp.MustCompile(`curl -i -u (\S+):(\S+) (http://\S+` + path + `) (.*) --data-raw '([^']*)'`).FindStringSubmatch(r.said())
	if line == nil {
		r.tb.Fatalf("no curl line for %s", path)
	}
	request, err := http.NewRequest(http.MethodPost, line[3], strings.NewReader(line[5]))
	if err != nil {
		r.tb.Fatal(err)
	}
	request.SetBasicAuth(line[1], line[2])
	for _, header := range regexp.MustCompile(`-H '([^:]+): ([^']+)'`).FindAllStringSubmatch(line[4], -1) {
		request.Header.Set(header[1], header[2])
	}
	return request
}

// do makes a request and returns the status.
func (r *running) do(request *http.Request) int {
	r.tb.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.tb.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func (r *running) get(url string) int {
	r.tb.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		r.tb.Fatal(err)
	}
	return r.do(request)
}

func TestThePrintedLinesWorkAndWhatIsBoughtReachesTheReceiverSigned(t *testing.T) {
	l := listen(t, http.StatusOK)
	dir := t.TempDir()
	r := start(t, []string{"PAYSIM_IPN_URL=" + l.URL, "IPN_DATA_DIR=" + dir})
	for _, url := range []string{r.service + "/", r.control + "/"} {
		if got := r.get(url); got != http.StatusOK {
			t.Errorf("%s: got %d, want 200", url, got)
		}
	}
	if got := r.get(r.service + "/services/2/notification-config/"); got != http.StatusUnauthorized {
		t.Errorf("the API without credentials: got %d, want 401", got)
	}

	if got := r.do(r.pasted("/services/2/transactions")); got/100 != 2 {
		t.Fatalf("the printed charge was answered %d", got)
	}
	eventually(t, "the IPN comes", func() bool { return len(l.posts()) == 1 })
	if got := l.posts()[0]; got.header.Get("X-IPN-Signature") != "" || !strings.Contains(got.body, "transactionType=CHARGE&") {
		t.Errorf("got %+v, want an unsigned charge: there is no key yet", got)
	}

	const secret = "example-ipn-security-key-0001" // the receiver is started after the simulator
	if err := os.WriteFile(filepath.Join(dir, "signing-secret"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.do(r.pasted("/services/2/transactions")); got/100 != 2 {
		t.Fatalf("the printed charge was answered %d", got)
	}
	eventually(t, "the second IPN comes", func() bool { return len(l.posts()) == 2 })
	got := l.posts()[1]
	if want := signature(secret, got.header.Get("X-IPN-Timestamp"), got.body); !strings.EqualFold(got.header.Get("X-IPN-Signature"), want) {
		t.Errorf("got the signature %q, want %q", got.header.Get("X-IPN-Signature"), want)
	}
	if strings.Contains(r.said(), secret) {
		t.Error("the key was printed")
	}
	if got := r.do(r.pasted("/services/2/notification-config/")); got/100 != 2 {
		t.Errorf("the printed configuration was answered %d", got)
	}

	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.command.Wait(); err != nil {
		t.Errorf("after SIGTERM the program ended with %v, want exit code 0", err)
	}
}

func TestAPasswordOfAFileIsInForceAndNotPrinted(t *testing.T) {
	const password = "correct-horse-battery"
	r := start(t, nil, "--password-file="+mustWrite(t, password+"\n"), "--username=shop", "--ipn-url=none")
	if strings.Contains(r.said(), password) {
		t.Error("the password was printed")
	}
	for given, want := range map[string]int{password: http.StatusOK, "paysim-password": http.StatusUnauthorized} {
		request, err := http.NewRequest(http.MethodPost, r.service+"/services/2/transactions", strings.NewReader(charge))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("shop", given)
		request.Header.Set("Content-Type", "application/json")
		if got := r.do(request); got != want {
			t.Errorf("%q: got %d, want %d", given, got, want)
		}
	}
}

func TestASecondProgramOnOneDoorEndsWithTheReason(t *testing.T) {
	r := start(t, nil, "--ipn-url=none")
	runProgram(t, nil, "--listen="+strings.TrimPrefix(r.service, "http://")).wants(t, exitNo, "open a door")
}

func TestADoorBeyondThisMachineMustBeMeant(t *testing.T) {
	for _, c := range []struct {
		name, address string
		expose, ok    bool
	}{
		{"loopback", "127.0.0.1:8090", false, true},
		{"another address of loopback", "127.8.8.8:0", false, true},
		{"loopback of IPv6", "[::1]:8090", false, true},
		{"its name", "localhost:8090", false, true},
		{"all addresses", ":8090", false, false},
		{"all addresses in digits", "0.0.0.0:8090", false, false},
		{"all addresses of IPv6", "[::]:8090", false, false},
		{"an address outside", "192.0.2.1:8090", false, false},
		{"a name", "example.com:8090", false, false},
		{"all addresses, meant", ":8090", true, true},
		{"no port", "127.0.0.1", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&serveCommand{expose: c.expose}).checkDoor("listen", c.address)
			if (err == nil) != c.ok {
				t.Errorf("got %v, want ok %t", err, c.ok)
			}
		})
	}
}
