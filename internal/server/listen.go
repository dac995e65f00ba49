package server

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Limits bounds the connections one listener keeps open. The zero value sets no
// bound but that of the process's file descriptors.
type Limits struct {
	// Connections is the most connections open at a time; one more waits in the
	// kernel's queue until another ends. Lowered to what the process's limit of
	// file descriptors allows, so that strangers cannot take those of the database.
	Connections int
	// PerAddress is the most connections open from one address (for IPv6 from one
	// /64, which is what a single customer gets); one more is closed at once.
	PerAddress int
	// Exempt names the addresses PerAddress is not for: declared proxies, behind
	// which everyone has one address. nil exempts nobody.
	Exempt func(netip.Addr) bool
}

// Listener is a TCP listener within Limits. It belongs to one Server.
type Listener struct {
	tcp    *net.TCPListener
	limits Limits

	slots chan struct{} // one for each connection that may be open; nil is no bound
	done  chan struct{} // closed by Close, so that waiting for a slot ends
	close sync.Once

	mu      sync.Mutex
	peers   map[netip.Prefix]int
	open    atomic.Int64
	refused atomic.Uint64
}

// Listen binds addr ("127.0.0.1:8080", ":0") and accepts nothing yet: who
// connects waits in the kernel's queue until a Server serves the listener.
func Listen(addr string, limits Limits) (*Listener, error) {
	bound, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	l := &Listener{
		tcp:    bound.(*net.TCPListener),
		limits: limits,
		done:   make(chan struct{}),
		peers:  make(map[netip.Prefix]int),
	}
	if n := withinDescriptors(limits.Connections); n > 0 {
		l.slots = make(chan struct{}, n)
	}
	return l, nil
}

// Addr is the address really bound, with its port where 0 was asked for.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// Open is the number of connections open now.
func (l *Listener) Open() int { return int(l.open.Load()) }

// Refused counts the connections closed at once because their address already
// had its share.
func (l *Listener) Refused() uint64 { return l.refused.Load() }

// Accept waits for a free slot and then for a connection whose address has not
// used up its share. Errors are those of the socket: the ones that pass, such as
// a process without file descriptors, are for the caller to try again, as
// http.Server does.
func (l *Listener) Accept() (net.Conn, error) {
	if !l.acquire() {
		return nil, net.ErrClosed
	}
	for {
		accepted, err := l.tcp.AcceptTCP()
		if err != nil {
			l.release()
			return nil, err
		}
		if peer, ok := l.admit(accepted); ok {
			l.open.Add(1)
			return &conn{TCPConn: accepted, listener: l, peer: peer}, nil
		}
		l.refused.Add(1)
		_ = accepted.Close() // refused: nothing was read, nobody waits for an error
	}
}

// Close stops accepting; connections already open stay so. It may be called twice.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.done) })
	return l.tcp.Close()
}

func (l *Listener) acquire() bool {
	if l.slots == nil {
		return true
	}
	select {
	case <-l.done:
		return false
	case l.slots <- struct{}{}:
		return true
	}
}

func (l *Listener) release() {
	if l.slots != nil {
		<-l.slots
	}
}

// admit counts the connection on its address, unless that has its share already.
// The prefix returned is what forget takes; it is invalid for exempt addresses.
func (l *Listener) admit(c *net.TCPConn) (netip.Prefix, bool) {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok || l.limits.PerAddress <= 0 {
		return netip.Prefix{}, true
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if l.limits.Exempt != nil && l.limits.Exempt(addr) {
		return netip.Prefix{}, true
	}
	peer := household(addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[peer] >= l.limits.PerAddress {
		return netip.Prefix{}, false
	}
	l.peers[peer]++
	return peer, true
}

func (l *Listener) forget(peer netip.Prefix) {
	l.open.Add(-1)
	l.release()
	if !peer.IsValid() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[peer]--; l.peers[peer] <= 0 {
		delete(l.peers, peer)
	}
}

// household is what shares one allowance: an IPv4 address, an IPv6 /64.
func household(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(addr, bits).Masked()
}

// conn gives its slot back when it is closed. It embeds the TCP connection
// whole, because net/http half-closes after an early answer (413) and would cut
// that answer off if CloseWrite were hidden.
type conn struct {
	*net.TCPConn
	listener *Listener
	peer     netip.Prefix
	once     sync.Once
}

func (c *conn) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() { c.listener.forget(c.peer) })
	return err
}
