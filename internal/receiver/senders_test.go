package receiver_test

import (
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

func networks(tb testing.TB, entries ...string) ipn.Senders {
	tb.Helper()
	list, err := ipn.ParseSenders(entries)
	must(tb, err)
	return list
}

// senders sets the list of those who may send; every test connects from 127.0.0.1.
func senders(tb testing.TB, mode receiver.Mode, entries ...string) setting {
	list := networks(tb, entries...)
	return func(c *receiver.Config) { c.Policy.Senders, c.Policy.SendersMode = list, mode }
}

// behind declares proxies.
func behind(tb testing.TB, entries ...string) setting {
	list := networks(tb, entries...)
	return func(c *receiver.Config) { c.Proxies = list }
}

func TestTheListOfSendersIsEnforcedOrObserved(t *testing.T) {
	t.Parallel()
	kept := effect{200, "new", "event off"}
	for _, tt := range []struct {
		name    string
		list    setting
		want    effect
		counted string // label of ipn_verification_total
	}{
		{"enforced, listed", senders(t, receiver.Enforce, "127.0.0.0/8"), kept, "listed"},
		{"enforced, not listed", senders(t, receiver.Enforce, "198.51.100.0/24"), effect{403, "forbidden", "quarantine sender_not_listed 403"}, "unlisted"},
		{"observed, not listed", senders(t, receiver.Observe, "198.51.100.0/24"), kept, "unlisted"},
		{"off", senders(t, receiver.Off, "198.51.100.0/24"), kept, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, tt.list)
			if got, _ := d.watch(t, post(charge("1"))); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			for _, label := range []string{"listed", "unlisted"} {
				want := 0.0
				if label == tt.counted {
					want = 1
				}
				if got := d.metric(t, "ipn_verification_total", "result", label, "scheme", "sender"); got != want {
					t.Errorf("%s: counted %v, want %v", label, got, want)
				}
			}
		})
	}
}

// TestForwardedAddressesCountBehindDeclaredProxiesOnly: what stands left of the nearest proxy's word anybody may have
// written (S-65, S-66).
func TestForwardedAddressesCountBehindDeclaredProxiesOnly(t *testing.T) {
	t.Parallel()
	const sender = "198.51.100.7"
	hops := strings.TrimSuffix(strings.Repeat("127.0.0.1, ", 500), ", ")
	for _, tt := range []struct {
		name    string
		proxies []string
		headers []string
		status  int
		peer    string // as kept
	}{
		{"no proxy, a forged header", nil, []string{"X-Forwarded-For: " + sender}, 403, "127.0.0.1"},
		{"a proxy that is not ours", []string{"10.0.0.0/8"}, []string{"X-Forwarded-For: " + sender}, 403, "127.0.0.1"},
		{"a declared proxy", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender}, 200, sender},
		{"a declared proxy without a header", []string{"127.0.0.0/8"}, nil, 403, "127.0.0.1"},
		{"the sender's address forged on the left", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender + ", 203.0.113.9"}, 403, "203.0.113.9"},
		{"forged in a line of its own", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender, "X-Forwarded-For: 203.0.113.9"}, 403, "203.0.113.9"},
		{"the sender in the last line", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: " + sender}, 200, sender},
		{"two declared proxies", []string{"127.0.0.0/8", "10.0.0.1"}, []string{"X-Forwarded-For: 203.0.113.9, " + sender + ", 10.0.0.1"}, 200, sender},
		{"with a port", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender + ":4711"}, 200, sender},
		{"mapped into IPv6", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: ::ffff:" + sender}, 200, sender},
		{"IPv6 with a zone", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: fe80::1%eth0"}, 403, "fe80::1"},
		{"other headers", []string{"127.0.0.0/8"}, []string{"Forwarded: for=" + sender, "X-Real-IP: " + sender}, 403, "127.0.0.1"},
		{"rubbish", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender + ", unknown"}, 403, "127.0.0.1"},
		{"500 hops", []string{"127.0.0.0/8"}, []string{"X-Forwarded-For: " + sender + ", " + hops}, 403, "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, senders(t, receiver.Enforce, sender), behind(t, tt.proxies...))
			if got := d.status(t, post(charge("1"), tt.headers...)); got != tt.status {
				t.Errorf("got %d, want %d", got, tt.status)
			}
			if got := ask[string](t, d, "select host(peer) from (select peer from quarantine union all select peer from payloads) as kept"); got != tt.peer {
				t.Errorf("kept the peer %s, want %s", got, tt.peer)
			}
		})
	}
}
