package forward

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// closed are the networks that are not the public internet, from the special-purpose registries of RFC 6890 and its
// successors. The first row that holds an address names it.
var closed = []struct {
	network netip.Prefix
	name    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's private"},
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a protocol's"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay's"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmark"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved"},

	{netip.MustParsePrefix("::1/128"), "a loopback"},
	{netip.MustParsePrefix("::/128"), "an unspecified"},
	{netip.MustParsePrefix("::/96"), "an IPv4-compatible"},
	{netip.MustParsePrefix("64:ff9b::/96"), "a translated IPv4"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a translated IPv4"},
	{netip.MustParsePrefix("100::/64"), "a discard"},
	{netip.MustParsePrefix("2001::/23"), "a protocol's"}, // Teredo among them, which carries an IPv4 address
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation"},
	{netip.MustParsePrefix("2002::/16"), "a relay's"}, // 6to4, which carries an IPv4 address
	{netip.MustParsePrefix("3fff::/20"), "a documentation"},
	{netip.MustParsePrefix("5f00::/16"), "a routing segment's"},
	{netip.MustParsePrefix("fc00::/7"), "a private"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local"},
	{netip.MustParsePrefix("ff00::/8"), "a multicast"},
}

// publicIPv6 is the only IPv6 space that was ever given out; whatever lies outside is closed, too.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// closedAs returns what kind of address a closed one is, "" for an address of the public internet.
func closedAs(addr netip.Addr) string {
	for _, row := range closed {
		if row.network.Contains(addr) {
			return row.name
		}
	}
	if addr.Is6() && !publicIPv6.Contains(addr) {
		return "a reserved"
	}
	return ""
}

// refusedError says that a target's name led to an address that may not be dialled.
type refusedError struct{ kind string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("the host leads to %s address, which the target does not allow", e.kind)
}

// guard decides about addresses, after names were resolved: whoever controls a name's answers controls where it leads,
// and may change it between a check and a dial (S-72).
type guard struct {
	allow []netip.Prefix // closed networks that may be dialled
	plain bool           // without TLS: only those
}

// check refuses an address that is neither public nor allowed.
func (g guard) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	kind := closedAs(addr)
	if kind == "" && g.plain {
		return &refusedError{"a public"}
	}
	if kind == "" {
		return nil
	}
	for _, prefix := range g.allow {
		if prefix.Contains(addr) {
			return nil
		}
	}
	return &refusedError{kind}
}

// control is a net.Dialer's Control: it sees the very address that is about to be connected.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return &refusedError{"an unreadable"}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return &refusedError{"an unreadable"}
	}
	return g.check(addr)
}
