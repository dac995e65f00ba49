package forward_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
)

// wire is a server of one connection after the other that says what it likes.
type wire struct {
	url   string
	ended chan struct{} // one for each connection that say is done with
	sent  atomic.Int64  // bytes, over all connections
	calls atomic.Int64  // connections
	stuck atomic.Int64  // connections that the other side left open until the end of all patience
}

// speak starts a wire. say gets each connection after the request's head has come in.
func speak(tb testing.TB, say func(io.Writer, net.Conn)) *wire {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	w := &wire{url: "http://" + listener.Addr().String(), ended: make(chan struct{}, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.calls.Add(1)
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			_, _ = conn.Read(make([]byte, 64<<10))
			say(counted{conn, &w.sent}, conn)
			if _, err := conn.Write([]byte("x")); errors.Is(err, os.ErrDeadlineExceeded) {
				w.stuck.Add(1)
			}
			_ = conn.Close()
			w.ended <- struct{}{}
		}
	}()
	tb.Cleanup(func() { must(tb, listener.Close()); <-done })
	return w
}

type counted struct {
	io.Writer
	sent *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

const ok = "HTTP/1.1 200 OK\r\n"

// forever writes a text until the other side hangs up, or 10 GB are through.
func forever(w io.Writer, text string) {
	block := []byte(strings.Repeat(text, 64<<10/len(text)))
	for range 10 << 30 / len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestAHostileAnswerCostsLittle(t *testing.T) {
	t.Parallel()
	const unanswered, late = "the connection ended without an answer", "no answer in time"
	for _, tt := range []struct {
		name string
		say  func(io.Writer, net.Conn)
		want string // "" for done
	}{
		{"it hangs up before a word", func(io.Writer, net.Conn) {}, unanswered},
		{"it resets the connection", func(_ io.Writer, c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, unanswered},
		{"it hangs up in the status", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, "HTTP/1.1 20") }, unanswered},
		{"it hangs up in the head", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok+"A: b\r\n") }, unanswered},
		{"it hangs up in the body", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok+"Content-Length: 100\r\n\r\nabc") }, ""},
		{"it speaks no HTTP", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, words+"\r\n\r\n") }, unanswered},
		{"it tells two lengths", func(w io.Writer, _ net.Conn) {
			_, _ = io.WriteString(w, ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")
		}, unanswered},
		{"it says nothing", func(_ io.Writer, c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, late},
		{"its head never ends", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok); forever(w, "A: "+words+"\r\n") }, unanswered},
		{"a head of 128 KiB", head(128), unanswered},
		{"a head of 32 KiB", head(32), ""},
		{"one header never ends", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok+"A: "); forever(w, words) }, unanswered},
		{"it says 100 for ever", func(w io.Writer, _ net.Conn) { forever(w, "HTTP/1.1 100 Continue\r\n\r\n") }, unanswered},
		{"it says 103 for ever", func(w io.Writer, _ net.Conn) { forever(w, "HTTP/1.1 103 Early Hints\r\nA: "+words+"\r\n\r\n") }, unanswered},
		{"it switches protocols", func(w io.Writer, c net.Conn) {
			_, _ = io.WriteString(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = c.Read(make([]byte, 1))
		}, "the target answered 101 Switching Protocols"},
		{"10 GB of body", func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok+"\r\n"); forever(w, words) }, ""},
		{"10 GB of an error's body", func(w io.Writer, _ net.Conn) {
			_, _ = io.WriteString(w, "HTTP/1.1 500 "+words+"\r\n\r\n")
			forever(w, words)
		}, "the target answered 500 Internal Server Error"},
		{"10 GB in one chunk", func(w io.Writer, _ net.Conn) {
			_, _ = io.WriteString(w, ok+"Transfer-Encoding: chunked\r\n\r\n280000000\r\n")
			forever(w, words)
		}, ""},
		{"trailers without end", func(w io.Writer, _ net.Conn) {
			_, _ = io.WriteString(w, ok+"Transfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\n")
			forever(w, "A: "+words+"\r\n")
		}, ""},
		{"a byte at a time", func(w io.Writer, c net.Conn) {
			_, _ = io.WriteString(w, ok+"Content-Length: 1000\r\n\r\na")
			_, _ = c.Read(make([]byte, 1)) // the next byte would come when nobody listens any more
		}, ""},
		{"a head a byte at a time", func(w io.Writer, c net.Conn) {
			_, _ = io.WriteString(w, "HTTP")
			_, _ = c.Read(make([]byte, 1))
		}, late},
		{"a gzip bomb", func(w io.Writer, _ net.Conn) {
			_, _ = io.WriteString(w, ok+"Content-Encoding: gzip\r\n\r\n")
			_, _ = w.Write(bomb())
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := speak(t, tt.say)
			err := send(t, sinkTo(t, target.url, within(3*time.Second)))
			if got := text(err); got != tt.want && !(tt.want == unanswered && got == late) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			<-target.ended // by its deadline at the latest
			if sent := target.sent.Load(); sent > 16<<20 || target.stuck.Load() > 0 {
				t.Errorf("the target got rid of %d bytes, %d connections were left to it", sent, target.stuck.Load())
			}
		})
	}
}

// head answers with a head of that many KiB and a bit.
func head(kib int) func(io.Writer, net.Conn) {
	return func(w io.Writer, _ net.Conn) {
		_, _ = io.WriteString(w, ok+"Content-Length: 0\r\nA: "+strings.Repeat("x", kib<<10)+"\r\n\r\n")
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// bomb is 8 MiB of zeros, packed.
func bomb() []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range 8 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return packed.Bytes()
}

func TestAnAnswerOfTooManyBytesCostsTheConnectionAndNoMore(t *testing.T) {
	t.Parallel()
	target := speak(t, func(w io.Writer, _ net.Conn) { _, _ = io.WriteString(w, ok+"\r\n"); forever(w, words) })
	sink := sinkTo(t, target.url)
	for range 3 {
		must(t, send(t, sink))
		<-target.ended
	}
	if got := target.calls.Load(); got != 3 {
		t.Errorf("%d connections, want 3", got)
	}
}

func TestATargetThatDoesNotListenIsToldSo(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	err = send(t, sinkTo(t, "http://"+listener.Addr().String()))
	if text(err) != "the target refused the connection" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTrustedTLSIsSpoken(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	start := func(t *testing.T, version uint16) *httptest.Server {
		server := httptest.NewUnstartedServer(answer)
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes are meant to fail
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	trusting := func(server *httptest.Server) func(*forward.Target) {
		return func(target *forward.Target) {
			target.Roots = x509.NewCertPool()
			target.Roots.AddCert(server.Certificate())
		}
	}
	for _, tt := range []struct {
		name    string
		version uint16
		trusts  bool
		want    string
	}{
		{"TLS 1.3", tls.VersionTLS13, true, ""},
		{"TLS 1.2", tls.VersionTLS12, true, ""},
		{"TLS 1.1", tls.VersionTLS11, true, "no TLS with the target"},
		{"an unknown authority", tls.VersionTLS13, false, "the target's certificate is not trusted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := start(t, tt.version)
			edit := trusting(server)
			if !tt.trusts {
				edit = func(*forward.Target) {}
			}
			if got := text(send(t, sinkTo(t, server.URL, edit))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a server of plain HTTP", func(t *testing.T) {
		t.Parallel()
		server := serve(t, answer)
		if got := text(send(t, sinkTo(t, strings.Replace(server.URL, "http", "https", 1)))); got != "no TLS with the target" {
			t.Errorf("got %q", got)
		}
	})
}

// names answers every question about names with one address, over UDP.
func names(tb testing.TB, address [4]byte) *net.Resolver {
	tb.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(tb, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: address}}}
			}
			packed, _ := m.Pack()
			_, _ = conn.WriteTo(packed, from)
		}
	}()
	tb.Cleanup(func() { must(tb, conn.Close()); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestANameThatLeadsInsideIsNotFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	to := func(t *testing.T, address [4]byte, edit func(*forward.Target)) error {
		return send(t, sinkTo(t, "https://example.com:"+port, func(target *forward.Target) {
			target.Resolver, target.Roots = names(t, address), x509.NewCertPool()
			target.Roots.AddCert(server.Certificate())
			edit(target)
		}))
	}
	closed := func(target *forward.Target) { target.Allow = nil }
	for address, want := range map[[4]byte]string{
		{127, 0, 0, 1}: "a loopback", {10, 0, 0, 1}: "a private", {169, 254, 169, 254}: "a link-local", {0, 0, 0, 0}: "an unspecified",
		{100, 64, 0, 1}: "a carrier's private", {224, 0, 0, 1}: "a multicast",
	} {
		if got := text(to(t, address, closed)); !strings.Contains(got, want+" address, which the target does not allow") {
			t.Errorf("%v: got %q", address, got)
		}
	}
	if visits.Load() != 0 {
		t.Errorf("%d requests came through", visits.Load())
	}
	if err := to(t, [4]byte{127, 0, 0, 1}, func(*forward.Target) {}); err != nil || visits.Load() != 1 {
		t.Errorf("the test is blind: with the network allowed, %v, %d requests", err, visits.Load())
	}
}

func TestPlainHTTPStaysInsideTheNetworksAllowed(t *testing.T) {
	t.Parallel()
	err := send(t, sinkTo(t, "http://example.com", func(target *forward.Target) { target.Resolver = names(t, [4]byte{93, 184, 216, 34}) }))
	if got := text(err); !strings.Contains(got, "a public address, which the target does not allow") {
		t.Errorf("got %q", got)
	}
}

func TestANameThatLeadsNowhereIsToldSo(t *testing.T) {
	t.Parallel()
	refused := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
	if got := text(send(t, sinkTo(t, "http://example.com", func(target *forward.Target) { target.Resolver = refused }))); got != "the host's name was not resolved" {
		t.Errorf("got %q", got)
	}
}

func TestAddressesThatAreNotPublicAreClosed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host, allow string
		want        string // "" passes
	}{
		{"93.184.216.34", "", ""},
		{"[2606:2800:220:1::1]", "", ""},
		{"[::ffff:93.184.216.34]", "", ""},
		{"0.0.0.0", "", "an unspecified"},
		{"0.1.2.3", "", "an unspecified"},
		{"10.255.255.255", "", "a private"},
		{"100.127.255.254", "", "a carrier's private"},
		{"127.8.8.8", "", "a loopback"},
		{"169.254.169.254", "", "a link-local"},
		{"172.31.0.1", "", "a private"},
		{"172.32.0.1", "", ""},
		{"192.0.0.170", "", "a protocol's"},
		{"192.0.2.1", "", "a documentation"},
		{"192.168.1.1", "", "a private"},
		{"198.19.0.1", "", "a benchmark"},
		{"198.51.100.7", "", "a documentation"},
		{"203.0.113.7", "", "a documentation"},
		{"239.1.1.1", "", "a multicast"},
		{"255.255.255.255", "", "a reserved"},
		{"[::]", "", "an unspecified"},
		{"[::1]", "", "a loopback"},
		{"[::127.0.0.1]", "", "an IPv4-compatible"},
		{"[::ffff:127.0.0.1]", "", "a loopback"},
		{"[::ffff:169.254.169.254]", "", "a link-local"},
		{"[64:ff9b::7f00:1]", "", "a translated IPv4"},
		{"[64:ff9b:1::a00:1]", "", "a translated IPv4"},
		{"[2001::1]", "", "a protocol's"},
		{"[2001:db8::1]", "", "a documentation"},
		{"[2002:7f00:1::]", "", "a relay's"},
		{"[3fff::1]", "", "a documentation"},
		{"[4000::1]", "", "a reserved"},
		{"[fd00::1]", "", "a private"},
		{"[fe80::1]", "", "a link-local"},
		{"[fe80::1%25eth0]", "", "a link-local"},
		{"[fec0::1]", "", "a reserved"},
		{"[ff02::1]", "", "a multicast"},

		{"10.1.2.3", "10.0.0.0/8", ""},
		{"10.1.2.3", "10.2.0.0/16", "a private"},
		{"127.0.0.1", "10.0.0.0/8", "a loopback"},
		{"[::ffff:10.1.2.3]", "10.0.0.0/8", ""},
		{"[fd00::1]", "fd00::/8", ""},
		{"[64:ff9b::7f00:1]", "127.0.0.0/8", "a translated IPv4"},
		{"[64:ff9b::7f00:1]", "64:ff9b::/96", ""},
	} {
		t.Run(tt.host+" "+tt.allow, func(t *testing.T) {
			t.Parallel()
			err := forward.CheckURL("https://"+tt.host+"/x", prefixes(t, tt.allow))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want+" address")) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := forward.CheckURL("http://93.184.216.34/", prefixes(t, "10.0.0.0/8")); err == nil {
		t.Error("plain HTTP to a public address passes")
	}
}

func prefixes(tb testing.TB, text string) []netip.Prefix {
	tb.Helper()
	if text == "" {
		return nil
	}
	prefix, err := netip.ParsePrefix(text)
	must(tb, err)
	return []netip.Prefix{prefix}
}
