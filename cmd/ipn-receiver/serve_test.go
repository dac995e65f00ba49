package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// asProgram makes this test binary the program itself, so that a test can kill it.
const asProgram = "IPN_RECEIVER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	pgtest.Main(m)
}

// running is the program as a process of its own.
type running struct {
	tb              testing.TB
	command         *exec.Cmd
	intake, private string // URLs

	mu     sync.Mutex
	output bytes.Buffer
}

// start runs the program on free ports and waits until it is ready.
func start(tb testing.TB, env ...string) *running {
	tb.Helper()
	r := launch(tb, env...)
	r.await(`"message":"ready"|"msg":"ready"`)
	return r
}

// launch runs the program on free ports and waits until its doors are open.
func launch(tb testing.TB, env ...string) *running {
	tb.Helper()
	binary, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	r := &running{tb: tb, command: exec.Command(binary)}
	r.command.Env = append(os.Environ(), append([]string{asProgram + "=1", "IPN_LISTEN=127.0.0.1:0", "IPN_PRIVATE_LISTEN=127.0.0.1:0", "IPN_LOG_FORMAT=json"}, env...)...)
	output, err := r.command.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	r.command.Stdout = lockedWriter{r}
	if err := r.command.Start(); err != nil {
		tb.Fatal(err)
	}
	go r.read(output)
	tb.Cleanup(func() {
		_ = r.command.Process.Kill()
		_ = r.command.Wait()
		if tb.Failed() {
			tb.Logf("the program said:\n%s", r.said())
		}
	})
	return r
}

type lockedWriter struct{ r *running }

func (w lockedWriter) Write(text []byte) (int, error) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.output.Write(text)
}

func (r *running) read(from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		_, _ = lockedWriter{r}.Write(append(lines.Bytes(), '\n'))
	}
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.String()
}

// await waits until the program has said something, and learns its addresses on the way.
func (r *running) await(pattern string) {
	r.tb.Helper()
	wanted := regexp.MustCompile(pattern)
	eventually(r.tb, "the program says "+pattern, func() bool { return wanted.MatchString(r.said()) })
	if found := regexp.MustCompile(`"public":"([^"]+)","private":"([^"]+)"`).FindStringSubmatch(r.said()); found != nil {
		r.intake, r.private = found[1], found[2]
	}
}

// eventually polls for two minutes, which a loaded machine may need for a fresh cluster, or for what kills left over.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			tb.Fatalf("did not happen in time: %s", what)
		case <-tick.C:
		}
	}
}

func (r *running) post(body string, header http.Header) *http.Response {
	r.tb.Helper()
	request, err := http.NewRequest(http.MethodPost, r.intake, strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.tb.Fatal(err)
	}
	response.Body.Close()
	return response
}

func (r *running) get(path string) string {
	r.tb.Helper()
	response, err := http.Get(r.private + path)
	if err != nil {
		r.tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		r.tb.Fatalf("GET %s: %d, %v: %s", path, response.StatusCode, err, text)
	}
	return string(text)
}

// printedPost takes the curl line that the program prints apart.
func (r *running) printedPost() (body string, header http.Header) {
	r.tb.Helper()
	r.await(`curl -i .*--data-raw`)
	line := regexp.MustCompile(`curl -i .*`).FindString(r.said())
	header = http.Header{}
	for _, h := range regexp.MustCompile(`-H '([^:]+): ([^']+)'`).FindAllStringSubmatch(line, -1) {
		header.Set(h[1], h[2])
	}
	body = regexp.MustCompile(`--data-raw '([^']*)'`).FindStringSubmatch(line)[1]
	return body, header
}

// dataDir is a directory that the account of a private PostgreSQL may pass, which a test's own under root is not.
func dataDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "ipn-receiver-test-")
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "data")
}

func TestTheFirstRunKeepsThePrintedIPNThroughAKill9(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL of its own")
	}
	dir := "IPN_DATA_DIR=" + dataDir(t)
	first := start(t, dir)
	body, header := first.printedPost()
	if response := first.post(body, header); response.StatusCode != http.StatusOK || response.ContentLength != 0 {
		t.Fatalf("the printed post was answered %s with %d bytes, want an empty 200", response.Status, response.ContentLength)
	}
	if err := first.command.Process.Kill(); err != nil { // SIGKILL: nothing is tidied up
		t.Fatal(err)
	}
	_ = first.command.Wait()

	second := start(t, dir)
	var page struct {
		Items []struct {
			ID              int64
			TransactionType string
			Verification    string
		}
	}
	if err := json.Unmarshal([]byte(second.get("/api/v1/events")), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 1 || page.Items[0].TransactionType != "CHARGE" || page.Items[0].Verification != "signature" {
		t.Fatalf("got %+v, want the one signed charge", page.Items)
	}
	var event struct{ Fields map[string]any }
	second.answer(fmt.Sprintf("/api/v1/events/%d", page.Items[0].ID), &event)
	if got, want := len(event.Fields), strings.Count(body, "&")+1; got != want {
		t.Errorf("got %d fields, want all %d of the body", got, want)
	}
	if raw := second.get(fmt.Sprintf("/api/v1/events/%d/raw", page.Items[0].ID)); raw != body {
		t.Errorf("raw: got %q, want %q", raw, body)
	}

	if err := second.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.command.Wait(); err != nil {
		t.Errorf("after SIGTERM the program ended with %v, want exit code 0", err)
	}
}

func TestTheDoorsAnswerWhateverComesInByThem(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL of its own")
	}
	r := start(t, "IPN_DATA_DIR="+dataDir(t))
	for _, c := range []struct {
		request string
		status  int
	}{
		{"post /ipn", http.StatusMethodNotAllowed},
		{"DANCE /ipn", http.StatusMethodNotAllowed},
		{"OPTIONS *", http.StatusNotFound},
		{"GET /metrics", http.StatusNotFound},
		{"GET /api/v1/events", http.StatusNotFound},
		{"GET //ipn/", http.StatusOK},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(r.intake, "/ipn"), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", c.request)
		answer, err := io.ReadAll(conn)
		conn.Close()
		head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
		if err != nil || !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", c.status)) || body != "" {
			t.Errorf("%s: got %q, %v, want an empty %d", c.request, answer, err, c.status)
		}
		if c.status == http.StatusMethodNotAllowed && !strings.Contains(head, "\r\nAllow: POST, GET, HEAD") {
			t.Errorf("%s: the answer has no Allow: %q", c.request, head)
		}
	}
	if got := r.get("/metrics"); !strings.Contains(got, `ipn_requests_total{outcome="method"} 2`) {
		t.Error("invented verbs are not counted")
	}

	request, err := http.NewRequest(http.MethodGet, r.private+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "rebound.example" // as a browser says it whose page's name leads here
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("the private door without a token answered a foreign name %d, want 421", response.StatusCode)
	}
}

func TestAPrivatePostgreSQLThatDiesIsStartedAgainAndNobodyNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL of its own")
	}
	dir := dataDir(t)
	r := start(t, "IPN_DATA_DIR="+dir, "IPN_HOLD=30s")
	file, err := os.ReadFile(filepath.Join(dir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(file), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := r.post("transactionType=CHARGE&referenceNumber=1", nil).StatusCode; got != http.StatusOK {
		t.Errorf("got %d, want 200", got)
	}
	eventually(t, "the event is there", func() bool { // a backend that outlived its server may have taken it before there is a new one
		response, err := http.Get(r.private + "/api/v1/events?referenceNumber=1")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		page, err := io.ReadAll(response.Body)
		return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(page), `"receipts":`)
	})
}

func TestADoorThatFailsEndsTheProgramWithoutASignal(t *testing.T) {
	p := &program{
		args:      []string{"serve", "--listen=127.0.0.1:0", "--private-listen=127.0.0.1:0", "--database-url=" + pgtest.NewEmpty(t)},
		lookupEnv: func(string) (string, bool) { return "", false },
		stdout:    io.Discard, stderr: io.Discard, now: time.Now,
	}
	chosen, code := p.parse()
	if chosen == nil {
		t.Fatalf("exit code %d", code)
	}
	settings := &chosen.(*serveCommand).Settings
	s := &service{Settings: settings, program: p, log: zap.NewNop(), registry: prometheus.NewRegistry(), migrated: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- s.run(t.Context()) }()
	<-s.migrated // the doors are open, and handlers are served
	s.public.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the program ended as if it had been told to")
		}
	case <-time.After(30 * time.Second):
		t.Error("the program goes on without a door")
	}
}
