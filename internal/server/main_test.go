package server_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 15 * time.Second

// mustListen opens a listener on a free port; it is closed at the end.
func mustListen(tb testing.TB, limits server.Limits) *server.Listener {
	tb.Helper()
	l, err := server.Listen("127.0.0.1:0", limits)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// mustDial connects; the connection fails after patience and is closed at the end.
func mustDial(tb testing.TB, l *server.Listener) net.Conn {
	tb.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	return c
}

// mustGet asks over a connection of its own.
func mustGet(tb testing.TB, url string) *http.Response {
	tb.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Get(url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// eventually polls until done, or fails saying what did not happen.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			tb.Fatalf("did not happen within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// receive waits for a value, or fails saying what did not come.
func receive[T any](tb testing.TB, what string, from <-chan T) T {
	tb.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		tb.Fatalf("did not come within %s: %s", patience, what)
		panic("unreachable")
	}
}
