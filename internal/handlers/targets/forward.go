package targets

import (
	"net/netip"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
)

var forwardNames = slices.Concat(commonNames, []string{"url", "secretsFile", "unsigned", "allow", "caFile"})

func readForward(n node, taken names) ForwardTarget {
	in := n.object(forwardNames...)
	t := ForwardTarget{Common: readCommon(in, taken)}
	t.Sink = forward.Target{
		URL:         in["url"].text(),
		Secrets:     in["secretsFile"].signingSecrets(),
		Unsigned:    in["unsigned"].flag(),
		Allow:       readAllow(in["allow"]),
		Roots:       in["caFile"].roots(),
		Envelope:    cloudevent.Options{Fields: t.Fields},
		Timeout:     t.Timeout,
		Concurrency: t.Concurrency,
	}
	if err := forward.CheckURL(t.Sink.URL, t.Sink.Allow); err != nil {
		in["url"].fail("%v", err)
	}
	secrets := in["secretsFile"]
	switch {
	case t.Sink.Unsigned && secrets.has():
		in["unsigned"].fail("the target has a secretsFile as well: take one of them out")
	case !t.Sink.Unsigned && !secrets.has():
		secrets.fail("name the file of the target's secrets, or write `unsigned: true` when the target shall trust whoever calls")
	}
	return t
}

// The widest networks that may be opened: wider ones would open the metadata services of clouds along with what was
// meant.
const (
	widestIPv4 = 8
	widestIPv6 = 7
)

func readAllow(n node) []netip.Prefix {
	var allow []netip.Prefix
	for _, item := range n.list() {
		prefix, err := parseNetwork(item.text())
		switch {
		case err != nil || prefix.Addr().Is4In6():
			item.fail("write a network such as 10.0.0.0/8 or fd00::/8, or one address")
			continue
		case prefix != prefix.Masked():
			item.fail("%s has bits beyond its length: write %s", prefix, prefix.Masked())
		case prefix.Addr().Is4() && prefix.Bits() < widestIPv4, prefix.Addr().Is6() && prefix.Bits() < widestIPv6:
			item.fail("%s is too wide: name the networks of the target alone", prefix)
		}
		allow = append(allow, prefix)
	}
	return allow
}

func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.WithZone("").Prefix(addr.BitLen())
	}
	return netip.ParsePrefix(text)
}
