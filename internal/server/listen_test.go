package server_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// accepting accepts for the rest of the test and hands over what came in.
func accepting(tb testing.TB, l *server.Listener) <-chan net.Conn {
	tb.Helper()
	accepted := make(chan net.Conn, 16)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	tb.Cleanup(func() {
		_ = l.Close()
		<-ended
		for len(accepted) > 0 {
			_ = (<-accepted).Close()
		}
	})
	return accepted
}

func TestATakenPortIsToldWithItsAddress(t *testing.T) {
	l := mustListen(t, server.Limits{})
	_, err := server.Listen(l.Addr().String(), server.Limits{})
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Fatalf("got %v, want an error naming %s", err, l.Addr())
	}
}

func TestAnAddressOverItsShareIsClosedAtOnce(t *testing.T) {
	l := mustListen(t, server.Limits{PerAddress: 2})
	accepted := accepting(t, l)
	mustDial(t, l)
	mustDial(t, l)
	first := receive(t, "the first connection", accepted)
	receive(t, "the second connection", accepted)

	_, err := mustDial(t, l).Read(make([]byte, 1))
	var timeout net.Error
	if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("third connection: got %v, want it closed", err)
	}
	if got := l.Refused(); got != 1 {
		t.Errorf("refused: got %d, want 1", got)
	}

	_ = first.Close()
	_ = first.Close() // a second close gives nothing back twice
	mustDial(t, l)
	receive(t, "a connection in the place of the closed one", accepted)
	if got := l.Open(); got != 2 {
		t.Errorf("open: got %d, want 2", got)
	}
}

func TestAnExemptAddressHasNoShare(t *testing.T) {
	l := mustListen(t, server.Limits{PerAddress: 1, Exempt: netip.Addr.IsLoopback})
	accepted := accepting(t, l)
	for range 3 {
		mustDial(t, l)
		receive(t, "a connection of a proxy", accepted)
	}
	if got := l.Refused(); got != 0 {
		t.Errorf("refused: got %d, want 0", got)
	}
}

func TestOverTheCapAConnectionWaitsForAnotherToEnd(t *testing.T) {
	l := mustListen(t, server.Limits{Connections: 1})
	accepted := accepting(t, l)
	mustDial(t, l)
	first := receive(t, "the first connection", accepted)
	waiting := mustDial(t, l)
	if got := l.Open(); got != 1 {
		t.Fatalf("open: got %d, want 1", got)
	}
	select {
	case <-accepted:
		t.Fatal("a connection over the cap was accepted")
	case <-time.After(50 * time.Millisecond): // without the cap it is there in one
	}

	_ = first.Close()
	second := receive(t, "the waiting connection", accepted)
	if _, err := io.WriteString(second, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(waiting, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestClosingEndsTheWaitForASlot(t *testing.T) {
	l := mustListen(t, server.Limits{Connections: 1})
	mustDial(t, l)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := make(chan error, 1)
	go func() { _, err := l.Accept(); answer <- err }()
	_ = l.Close()
	if err := receive(t, "the end of Accept", answer); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want net.ErrClosed", err)
	}
}
