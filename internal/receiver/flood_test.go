package receiver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

// from is the header by which a test comes from elsewhere; the proxy at 127.0.0.1 must be declared.
func from(address string) string { return "X-Forwarded-For: " + address }

// allowance is a burst of failures that does not come back while a test runs.
func allowance(burst int) setting {
	return func(c *receiver.Config) { c.JunkPerSecond, c.JunkBurst = 1e-6, burst }
}

func TestANetworkThatFloodsIsTurnedAwayUnread(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)), allowance(3), behind(t, "127.0.0.1"), senders(t, receiver.Off, "198.51.100.0/24"))
	// Only the headers are sent: who waits for the body answers nothing.
	unread := func(address string) string {
		return request("POST /ipn", []string{formType, length(20), from(address)}, "")
	}
	for i := range 3 {
		if got := d.status(t, post("a=b", from(fmt.Sprintf("203.0.113.%d", i)))); got != 401 {
			t.Fatalf("failure %d: got %d, want 401", i+1, got)
		}
	}
	start := time.Now()
	got, answer := d.watch(t, unread("203.0.113.200"))
	if took := time.Since(start); took > 4*time.Second { // the server gives up on a body after five
		t.Errorf("answered after %s: the body was waited for", took)
	}
	if want := (effect{429, "flood", ""}); got != want || !answer.Close || answer.Header.Get("Retry-After") != "60" {
		t.Errorf("the same network: got %+v, close %t, want %+v", got, answer.Close, want)
	}
	if got := d.status(t, request("GET /ipn", []string{from("203.0.113.1")}, "")); got != 200 {
		t.Errorf("a probe from the same network: got %d, want 200", got)
	}
	if got := d.status(t, post("a=b", from("203.0.114.1"))); got != 401 {
		t.Errorf("another network: got %d, want 401", got)
	}
	if got := d.status(t, post("a=b", from("2001:db8::1"))); got != 401 {
		t.Errorf("an IPv6 network: got %d, want 401", got)
	}
}

func TestListedSendersAreNeverTurnedAwayAsAFlood(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)), allowance(1), behind(t, "127.0.0.1"), senders(t, receiver.Off, "198.51.100.0/24"))
	for range 5 {
		if got := d.status(t, post("a=b", from("198.51.100.7"))); got != 401 {
			t.Fatalf("got %d, want 401", got)
		}
	}
}

func TestGoodPostsAreNoFlood(t *testing.T) {
	t.Parallel()
	d := newDoor(t, allowance(1))
	client := newClient(t)
	for i := range 50 {
		if got, err := d.try(client, charge(fmt.Sprint(i))); got != 200 {
			t.Fatalf("got %d, %v", got, err)
		}
	}
}

func TestAnIPv6NetworkIsA64(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)), allowance(1), behind(t, "127.0.0.1"))
	for _, tt := range []struct {
		address string
		want    int
	}{{"2001:db8::1", 401}, {"2001:db8::ffff:ffff:ffff:ffff", 429}, {"2001:db8:0:1::1", 401}} {
		if got := d.status(t, post("a=b", from(tt.address))); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.address, got, tt.want)
		}
	}
}

func TestWithoutALimitNobodyIsTurnedAway(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)))
	for range 20 {
		if got := d.status(t, post("a=b")); got != 401 {
			t.Fatalf("got %d, want 401", got)
		}
	}
}
