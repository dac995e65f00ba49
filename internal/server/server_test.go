package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// running is a server under test and the two signals that end it.
type running struct {
	public, private string // base URLs
	listener        *server.Listener
	terminate       context.CancelFunc
	now             chan struct{}
	ended           chan error
}

// start runs handler behind the public door and health behind the private one.
func start(tb testing.TB, s *server.Server, handler http.Handler) *running {
	tb.Helper()
	public, private := mustListen(tb, server.Limits{}), mustListen(tb, server.Limits{})
	s.Health = server.NewHealth()
	s.Doors = []server.Door{
		{Name: "public", Listener: public, Handler: handler},
		{Name: "private", Listener: private, Handler: s.Health.Ready()},
	}
	ctx, terminate := context.WithCancel(context.Background())
	r := &running{
		public: "http://" + public.Addr().String(), private: "http://" + private.Addr().String(),
		listener: public, terminate: terminate, now: make(chan struct{}), ended: make(chan error, 1),
	}
	go func() { r.ended <- s.Run(ctx, r.now); close(r.ended) }()
	tb.Cleanup(func() {
		terminate()
		receive(tb, "the end of the server", r.ended)
	})
	return r
}

// held is a handler that says when it was entered and answers when let go.
type held struct{ entered, letGo chan struct{} }

func newHeld() held { return held{make(chan struct{}, 1), make(chan struct{})} }

func (h held) ServeHTTP(http.ResponseWriter, *http.Request) {
	h.entered <- struct{}{}
	<-h.letGo
}

// asyncStatus asks in the background; 0 is an answer cut off.
func asyncStatus(url string) <-chan int {
	answer := make(chan int, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get(url)
		if err != nil {
			answer <- 0
			return
		}
		_ = response.Body.Close()
		answer <- response.StatusCode
	}()
	return answer
}

func refusesConnections(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err == nil {
		_ = c.Close()
	}
	return err != nil
}

func TestWhatIsInFlightFinishesBehindAClosedDoor(t *testing.T) {
	handler := newHeld()
	r := start(t, &server.Server{}, handler)
	answer := asyncStatus(r.public)
	receive(t, "the request", handler.entered)

	r.terminate()
	eventually(t, "the public door closes", func() bool { return refusesConnections(r.listener.Addr().String()) })
	response := mustGet(t, r.private)
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readiness while draining: got %d, want 503", response.StatusCode)
	}
	close(handler.letGo)
	if got := receive(t, "the answer", answer); got != http.StatusOK {
		t.Errorf("in-flight request: got %d, want 200", got)
	}
	if err := receive(t, "the end", r.ended); err != nil {
		t.Errorf("run: got %v, want nil", err)
	}
}

func TestReadinessGoesBeforeTheDoorCloses(t *testing.T) {
	r := start(t, &server.Server{DrainDelay: time.Hour, DrainTimeout: 2 * time.Hour},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if got := mustGet(t, r.private).StatusCode; got != http.StatusOK {
		t.Fatalf("readiness before: got %d, want 200", got)
	}
	r.terminate()
	eventually(t, "readiness goes", func() bool { return mustGet(t, r.private).StatusCode == http.StatusServiceUnavailable })

	response := mustGet(t, r.public)
	if response.StatusCode != http.StatusOK || !response.Close {
		t.Errorf("during the delay: got %d, close %t, want 200 and close", response.StatusCode, response.Close)
	}
	close(r.now)
	receive(t, "the end", r.ended)
}

func TestASecondSignalCutsWhatIsInFlight(t *testing.T) {
	handler := newHeld()
	r := start(t, &server.Server{DrainTimeout: time.Hour}, handler)
	answer := asyncStatus(r.public)
	receive(t, "the request", handler.entered)
	r.terminate()
	close(r.now)
	if err := receive(t, "the end", r.ended); !errors.Is(err, server.ErrCut) {
		t.Errorf("run: got %v, want ErrCut", err)
	}
	if got := receive(t, "the cut answer", answer); got != 0 {
		t.Errorf("in-flight request: got %d, want it cut", got)
	}
	close(handler.letGo)
}

func TestWhatOutlastsTheDrainIsCut(t *testing.T) {
	handler := newHeld()
	r := start(t, &server.Server{DrainTimeout: time.Millisecond}, handler)
	answer := asyncStatus(r.public)
	receive(t, "the request", handler.entered)
	r.terminate()
	if err := receive(t, "the end", r.ended); !errors.Is(err, server.ErrCut) || !strings.Contains(err.Error(), "time to drain") {
		t.Errorf("run: got %v, want ErrCut because of the time", err)
	}
	receive(t, "the cut answer", answer)
	close(handler.letGo)
}

func TestADoorThatFailsClosesTheOthers(t *testing.T) {
	s := &server.Server{}
	r := start(t, s, http.NotFoundHandler())
	_ = r.listener.Close()
	err := receive(t, "the end", r.ended)
	if err == nil || !strings.Contains(err.Error(), "public door") {
		t.Errorf("run: got %v, want an error naming the public door", err)
	}
	if private := s.Doors[1].Listener.Addr().String(); !refusesConnections(private) {
		t.Error("the private door is still open")
	}
}

// The rows are those of the hostile inputs that the edge itself must meet.
func TestFramingIsRefusedHard(t *testing.T) {
	r := start(t, &server.Server{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	for _, c := range []struct{ name, request, want string }{
		{"S-8: HTTP/1.0 is served", "GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 200"},
		{"S-9: HTTP/2 in the clear is not spoken", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505"},
		{"S-15: two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "HTTP/1.1 400"},
		{"S-18: an unknown transfer coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "HTTP/1.1 501"},
		{"S-28: a header of 30 kB", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 30<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		{"S-28: a request line of 40 kB", "GET /" + strings.Repeat("x", 40<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 431"},
		{"S-29: 1 000 tiny headers", "GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("a: b\r\n", 1000) + "\r\n", "HTTP/1.1 431"},
		{"100 headers are served", "GET / HTTP/1.0\r\nHost: a\r\n" + strings.Repeat("a: b\r\n", 100) + "\r\n", "HTTP/1.0 200"},
		{"S-14: random bytes", "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", "HTTP/1.1 400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := converse(t, r.listener, c.request); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %.40q, want %q", got, c.want)
			}
		})
	}
}

func TestNoRequestFollowsAChunkedOne(t *testing.T) { // S-17
	r := start(t, &server.Server{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	const smuggled = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" +
		"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
	got := converse(t, r.listener, smuggled)
	if n := strings.Count(got, "HTTP/1.1 200"); n != 1 {
		t.Errorf("got %d answers, want 1: %q", n, got)
	}
}

func TestTheSlowAreCut(t *testing.T) { // S-30
	r := start(t, &server.Server{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	for _, c := range []struct{ name, request string }{
		{"nothing sent", ""},
		{"half a header", "POST / HTTP/1.1\r\nHo"},
		{"half a body", "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			converse(t, r.listener, c.request)
		})
	}
}

// converse sends request, and returns all that comes back until the server
// closes the connection; that it does is part of every test.
func converse(tb testing.TB, l *server.Listener, request string) string {
	tb.Helper()
	c := mustDial(tb, l)
	go func() { _, _ = io.WriteString(c, request) }()
	answer, err := io.ReadAll(c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		tb.Fatalf("not closed within %s; came so far: %.80q", patience, answer)
	}
	return string(answer)
}
