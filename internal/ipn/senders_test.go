package ipn_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func senders(tb testing.TB, entries ...string) ipn.Senders {
	tb.Helper()
	s, err := ipn.ParseSenders(entries)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestSendersContainTheirNetworks(t *testing.T) {
	s := senders(t, "192.0.2.10", " 198.51.100.0/24 ", "", "2001:db8::/32", "::ffff:203.0.113.7", "::ffff:10.1.0.0/112")
	for _, tt := range []struct {
		addr string
		want bool
	}{
		{"192.0.2.10", true}, {"192.0.2.11", false}, {"::ffff:192.0.2.10", true},
		{"198.51.100.0", true}, {"198.51.100.255", true}, {"198.51.101.0", false}, {"::ffff:198.51.100.9", true},
		{"2001:db8::1", true}, {"2001:db8::1%eth0", true}, {"2001:db9::1", false},
		{"203.0.113.7", true}, {"10.1.200.3", true}, {"10.2.0.0", false}, {"::c000:20a", false},
	} {
		if got := s.Contains(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.addr, got, tt.want)
		}
	}
	if s.Contains(netip.Addr{}) || (ipn.Senders{}).Contains(netip.MustParseAddr("192.0.2.10")) {
		t.Error("the invalid address is a sender, or an empty list has one")
	}
	if got, want := s.String(), "192.0.2.10/32,198.51.100.0/24,2001:db8::/32,203.0.113.7/32,10.1.0.0/16"; got != want || s.Len() != 5 {
		t.Errorf("got %s (%d), want %s (5)", got, s.Len(), want)
	}
}

func TestABadSenderIsNamed(t *testing.T) {
	for _, tt := range []struct{ entry, want string }{
		{"sender.example", `sender "sender.example": want an address or a network like 192.0.2.0/24`},
		{"192.0.2", `sender "192.0.2": want an address or a network like 192.0.2.0/24`},
		{"192.0.2.0/33", `sender "192.0.2.0/33": want an address or a network like 192.0.2.0/24`},
		{"192.0.2.1:443", `sender "192.0.2.1:443": want an address or a network like 192.0.2.0/24`},
		{"fe80::1%eth0", `sender "fe80::1%eth0": want an address or a network like 192.0.2.0/24`},
		{"192.0.2.*", `sender "192.0.2.*": want an address or a network like 192.0.2.0/24`},
		{"10.0.0.1/8", `sender "10.0.0.1/8": host bits are set: write 10.0.0.0/8, or the address alone`},
	} {
		got, err := ipn.ParseSenders([]string{"192.0.2.10", tt.entry})
		if err == nil || err.Error() != tt.want || got.Len() != 0 {
			t.Errorf("got %v with %d networks, want %s with none", err, got.Len(), tt.want)
		}
	}
}

func TestTheClientIsTheRightmostAddressThatIsNoProxy(t *testing.T) {
	proxies := senders(t, "10.0.0.0/8", "fd00::/8")
	for _, tt := range []struct {
		name, peer string
		lines      []string
		want       string
	}{
		{"no proxy, no header", "203.0.113.5", nil, "203.0.113.5"},
		{"no proxy, a header is nothing", "203.0.113.5", []string{"192.0.2.10"}, "203.0.113.5"},
		{"an IPv4 peer on an IPv6 socket", "::ffff:203.0.113.5", []string{"192.0.2.10"}, "203.0.113.5"},
		{"a proxy without a header", "10.0.0.1", nil, "10.0.0.1"},
		{"a proxy", "10.0.0.1", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a proxy seen as IPv4-mapped", "::ffff:10.0.0.1", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a proxy with a zone", "fd00::1%eth0", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a forged left end", "10.0.0.1", []string{"192.0.2.10, 203.0.113.5"}, "203.0.113.5"},
		{"a forged left end between proxies", "10.0.0.1", []string{"192.0.2.10,10.9.9.9,203.0.113.5, 10.0.0.2"}, "203.0.113.5"},
		{"several lines are one list", "10.0.0.1", []string{"192.0.2.10", "203.0.113.5", "10.0.0.2"}, "203.0.113.5"},
		{"only proxies", "10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"empty elements", "10.0.0.1", []string{"203.0.113.5, ,", "", ","}, "203.0.113.5"},
		{"a port", "10.0.0.1", []string{"203.0.113.5:4711"}, "203.0.113.5"},
		{"brackets", "10.0.0.1", []string{"[2001:db8::5]"}, "2001:db8::5"},
		{"brackets and a port, quoted", "10.0.0.1", []string{`"[2001:db8::5]:4711"`}, "2001:db8::5"},
		{"bare IPv6", "10.0.0.1", []string{"2001:db8::5"}, "2001:db8::5"},
		{"a zone", "10.0.0.1", []string{"fe80::5%eth0"}, "fe80::5"},
		{"IPv4-mapped", "10.0.0.1", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"an IPv4-mapped proxy in the list", "10.0.0.1", []string{"203.0.113.5, [::ffff:10.0.0.2]:80"}, "203.0.113.5"},
		{"garbage", "10.0.0.1", []string{"192.0.2.10, unknown"}, "10.0.0.1"},
		{"garbage behind a proxy", "10.0.0.1", []string{"192.0.2.10, for=x, 10.0.0.2"}, "10.0.0.2"},
		{"garbage left of the client", "10.0.0.1", []string{"\x00, 203.0.113.5"}, "203.0.113.5"},
		{"a bracket too few", "10.0.0.1", []string{"[2001:db8::5"}, "10.0.0.1"},
		{"leading zeros", "10.0.0.1", []string{"203.000.113.005"}, "10.0.0.1"},
		{"a name", "10.0.0.1", []string{"localhost"}, "10.0.0.1"},
		{"500 strangers", "10.0.0.1", []string{strings.Repeat("192.0.2.10,", 499) + "203.0.113.5"}, "203.0.113.5"},
		{"500 proxies are more than anyone has", "10.0.0.1", []string{"203.0.113.5" + strings.Repeat(",10.0.0.2", 500)}, "10.0.0.2"},
		{"sixteen proxies in the list are too many", "10.0.0.1", []string{"203.0.113.5" + strings.Repeat(",10.0.0.2", 16)}, "10.0.0.2"},
		{"fifteen are not", "10.0.0.1", []string{"203.0.113.5" + strings.Repeat(",10.0.0.2", 15)}, "203.0.113.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ipn.ClientAddress(netip.MustParseAddr(tt.peer), tt.lines, proxies)
			if got != netip.MustParseAddr(tt.want) {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
	if got := ipn.ClientAddress(netip.Addr{}, []string{"192.0.2.10"}, proxies); got.IsValid() {
		t.Errorf("no peer: got %v, want none", got)
	}
}

// Whoever is not a proxy writes the left of the list, or whole lines before it.
func TestNothingWrittenByTheClientChangesItsAddress(t *testing.T) {
	proxies := senders(t, "10.0.0.0/8")
	peer, client := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("203.0.113.5")
	element := rapid.OneOf(rapid.SampledFrom([]string{"192.0.2.10", "10.0.0.2", "", "[::1]:1", "unknown"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		forged := rapid.SliceOf(element).Draw(t, "forged")
		lines := append(slices.Clone(forged), strings.Join(append(slices.Clone(forged), "203.0.113.5", "10.0.0.2"), ","))
		if got := ipn.ClientAddress(peer, lines, proxies); got != client {
			t.Fatalf("got %v, want %v", got, client)
		}
	})
}
