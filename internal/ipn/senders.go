package ipn

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Senders is a list of networks: those the payment service sends from, or those
// of our own proxies. It is a setting, because published copies differ and
// change; the zero value contains nothing.
type Senders struct{ prefixes []netip.Prefix }

// ParseSenders reads addresses and networks in CIDR form, IPv4 or IPv6; blank
// entries are left out. An IPv4-mapped IPv6 entry means the IPv4 one. A network
// with host bits set is refused, for it is a slip of the pen. The error names
// the bad entry.
func ParseSenders(entries []string) (Senders, error) {
	var s Senders
	for _, entry := range entries {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		prefix, err := parsePrefix(entry)
		if err != nil {
			return Senders{}, err
		}
		s.prefixes = append(s.prefixes, prefix)
	}
	return s, nil
}

func parsePrefix(entry string) (netip.Prefix, error) {
	if !strings.Contains(entry, "/") {
		addr, err := netip.ParseAddr(entry)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("sender %q: want an address or a network like 192.0.2.0/24", entry)
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("sender %q: want an address or a network like 192.0.2.0/24", entry)
	}
	const mapped = 128 - 32
	if prefix.Addr().Is4In6() && prefix.Bits() >= mapped {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mapped)
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, fmt.Errorf("sender %q: host bits are set: write %s, or the address alone", entry, prefix.Masked())
	}
	return prefix, nil
}

// Len returns how many networks the list has.
func (s Senders) Len() int { return len(s.prefixes) }

// String returns the networks, separated by commas.
func (s Senders) String() string {
	texts := make([]string, len(s.prefixes))
	for i, prefix := range s.prefixes {
		texts[i] = prefix.String()
	}
	return strings.Join(texts, ",")
}

// Contains tells whether an address lies in one of the networks. IPv4-mapped
// IPv6 counts as IPv4 and a zone is ignored: both depend on the socket, not on
// the sender. The invalid address is in none.
func (s Senders) Contains(addr netip.Addr) bool {
	addr = plainAddr(addr)
	return slices.ContainsFunc(s.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func plainAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// maxHops is how many declared proxies a chain may have. More is a loop or a
// lie, and the walk must not be as long as a stranger likes.
const maxHops = 16

// ClientAddress returns the address an IPN came from: the TCP peer, unless that
// is one of our proxies. Then the X-Forwarded-For lines, in the order received,
// count as one list and are walked from the right, where the nearest proxy
// wrote, over addresses that are proxies, too; the first that is not is the
// client. What stands left of it anybody may have written. Ports, brackets,
// quotes, zones and IPv4-mapped spellings are understood. Where the list ends,
// cannot be read or has more than sixteen proxies, the last proxy reached is
// returned: the furthest address somebody we trust has vouched for.
func ClientAddress(peer netip.Addr, forwardedFor []string, proxies Senders) netip.Addr {
	client := plainAddr(peer)
	hops := 0
	for _, line := range slices.Backward(forwardedFor) {
		for more := true; more; {
			if hops == maxHops || !proxies.Contains(client) {
				return client
			}
			var hop string
			if line, hop, more = cutLast(line); hop == "" {
				continue // an empty element of a list is nothing: RFC 9110 5.6.1
			}
			addr, ok := parseHop(hop)
			if !ok {
				return client
			}
			client = addr
			hops++
		}
	}
	return client
}

// cutLast cuts the last element off a comma-separated list.
func cutLast(list string) (before, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", strings.TrimSpace(list), false
	}
	return list[:i], strings.TrimSpace(list[i+1:]), true
}

// parseHop reads "192.0.2.1", "192.0.2.1:4711", "2001:db8::1", "[2001:db8::1]"
// and "[2001:db8::1]:4711", each also in quotes.
func parseHop(hop string) (netip.Addr, bool) {
	hop = strings.Trim(hop, `"`)
	if withPort, err := netip.ParseAddrPort(hop); err == nil {
		return plainAddr(withPort.Addr()), true
	}
	if inner, ok := strings.CutPrefix(hop, "["); ok {
		if hop, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(hop)
	return plainAddr(addr), err == nil
}
