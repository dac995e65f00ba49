package receiver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

// gate is a record that keeps everybody waiting until it is opened.
type gate struct {
	record
	inside chan struct{} // one for each that has come in
	opened chan struct{}
}

func newGate() *gate {
	g := &gate{inside: make(chan struct{}, 1024), opened: make(chan struct{})}
	g.keep = func(context.Context, *ipn.Receipt) (ipn.Recorded, error) {
		g.inside <- struct{}{}
		<-g.opened
		return ipn.Recorded{EventID: 1, Outcome: ipn.OutcomeNew, Receipts: 1}, nil
	}
	g.quarantine = func(context.Context, *ipn.Quarantined) (bool, error) {
		g.inside <- struct{}{}
		<-g.opened
		return true, nil
	}
	return g
}

// crowd posts n times at once and returns the answers as they come.
func (d *door) crowd(tb testing.TB, n int, text string) <-chan int {
	answers := make(chan int, n)
	for range n {
		conn := d.dial(tb)
		go func() {
			_, _ = conn.Write([]byte(text))
			if got, err := read(conn, text); err == nil {
				answers <- got.StatusCode
			} else {
				answers <- 0
			}
		}()
	}
	return answers
}

// take waits for a value, or fails saying what did not come.
func take[T any](tb testing.TB, what string, from <-chan T) T {
	tb.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		tb.Fatalf("did not come within %s: %s", patience, what)
		panic("unreachable")
	}
}

func budget(bytes int64, wait time.Duration) setting {
	return func(c *receiver.Config) { c.MemoryBudget, c.AdmissionWait = bytes, wait }
}

// TestWhoFindsNoRoomIsAskedToComeAgain: 128 KiB are room for fewer than eight posts, the others wait their time.
func TestWhoFindsNoRoomIsAskedToComeAgain(t *testing.T) {
	t.Parallel()
	const posts, room = 20, 128 << 10
	g := newGate()
	d := newDoorBefore(t, g.record, budget(room, 50*time.Millisecond))
	answers := d.crowd(t, posts, post(charge("1")))
	turnedAway := 0
	for ; turnedAway < posts-8; turnedAway++ {
		if got := take(t, "a refusal", answers); got != 503 {
			t.Fatalf("got %d, want 503", got)
		}
	}
	eventually(t, "everyone is inside, or counted as turned away", func() bool {
		return int(d.metric(t, "ipn_requests_total", "outcome", "overloaded"))+len(g.inside) == posts
	})
	if len(g.inside) == 0 {
		t.Error("nobody came in")
	}
	close(g.opened)
	for inside := len(g.inside); inside > 0; {
		if take(t, "an answer", answers) == 200 {
			inside--
		}
	}
}

func TestWhoFindsNoRoomWaitsForIt(t *testing.T) {
	t.Parallel()
	const posts = 20
	g := newGate()
	d := newDoorBefore(t, g.record, budget(64<<10, patience))
	answers := d.crowd(t, posts, post(charge("1")))
	take(t, "the first", g.inside)
	eventually(t, "all have arrived", func() bool { return d.metric(t, "ipn_inflight_requests") == posts })
	close(g.opened)
	for range posts {
		if got := take(t, "an answer", answers); got != 200 {
			t.Errorf("got %d, want 200", got)
		}
	}
}

// TestAChunkedPostGivesBackWhatItDoesNotNeed: at first each is taken for the largest, of which there is room for one.
func TestAChunkedPostGivesBackWhatItDoesNotNeed(t *testing.T) {
	t.Parallel()
	const posts = 20
	g := newGate()
	d := newDoorBefore(t, g.record, budget(8<<20, patience))
	answers := d.crowd(t, posts, request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, chunked(charge("1"))))
	for range posts {
		take(t, "a post inside while the others are", g.inside)
	}
	close(g.opened)
	for range posts {
		if got := take(t, "an answer", answers); got != 200 {
			t.Errorf("got %d, want 200", got)
		}
	}
}

func TestAnOverloadedAnswerAsksForAnotherTry(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := newDoorBefore(t, g.record, budget(1, time.Millisecond))
	answers := d.crowd(t, 1, post(charge("1")))
	take(t, "the first", g.inside)
	got, answer := d.watch(t, post(charge("2")))
	if want := (effect{503, "overloaded", ""}); got != want || answer.Header.Get("Retry-After") != "5" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	close(g.opened)
	take(t, "the first's answer", answers)
}

// TestAllMemoryIsGivenBack sends whatever comes to mind, then a post that needs the whole budget and may not wait.
func TestAllMemoryIsGivenBack(t *testing.T) {
	t.Parallel()
	var recorded error // what the record says next
	r := record{
		keep: func(context.Context, *ipn.Receipt) (ipn.Recorded, error) {
			if errors.Is(recorded, errPanic) {
				panic(errPanic)
			}
			return ipn.Recorded{EventID: 1, Outcome: ipn.OutcomeNew, Receipts: 1}, recorded
		},
		quarantine: func(context.Context, *ipn.Quarantined) (bool, error) { return true, nil },
	}
	const limit = 64 << 10
	d := newDoorBefore(t, r, budget(limit, time.Millisecond), func(c *receiver.Config) { c.MaxBody = limit })
	inChunks := func(body string) string {
		return request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, chunked(body))
	}
	texts := []string{
		post(charge("1")), post(""), post("=&="), post(strings.Repeat("x", limit)), post(strings.Repeat("x", limit+1)),
		inChunks(charge("1")), inChunks(""), inChunks(strings.Repeat("x", limit)), inChunks(strings.Repeat("x", 2*limit)),
		request("GET /ipn", nil, ""), request("POST /ipn", []string{"Content-Type: text/plain", length(3)}, "a=b"),
		request("POST /ipn", []string{formType, length(100)}, "cut"), request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, "5\r\ncut"),
	}
	causes := []error{nil, ipn.ErrUnavailable, ipn.ErrOverloaded, &ipn.RefusedError{SQLState: "22001"}, errPanic}
	rapid.Check(t, func(rt *rapid.T) {
		for _, text := range rapid.SliceOfN(rapid.SampledFrom(texts), 1, 5).Draw(rt, "requests") {
			recorded = rapid.SampledFrom(causes).Draw(rt, "the record says")
			conn := d.dial(t)
			_, _ = conn.Write([]byte(text))
			_ = conn.(*net.TCPConn).CloseWrite()
			if _, err := read(conn, text); err != nil {
				rt.Fatalf("no answer: %v", err)
			}
			conn.Close()
		}
		recorded = nil
		if got := d.status(t, inChunks(charge("2"))); got != http.StatusOK {
			rt.Fatalf("the whole budget is not free: got %d", got)
		}
	})
}

var errPanic = errors.New("a bug")

// TestCopiesOfRefusedPostsLeaveRoomForReceipts: the record has three connections, and a flood of forgeries may not keep
// them all from the receipts.
func TestCopiesOfRefusedPostsLeaveRoomForReceipts(t *testing.T) {
	t.Parallel()
	const forgeries = 10
	g := newGate()
	d := newDoorBefore(t, g.record, verify(receiver.Enforce, oldKey(t)), hold(time.Hour))
	answers := d.crowd(t, forgeries, post(charge("1")))
	take(t, "the first copy", g.inside)
	take(t, "the second copy", g.inside)
	// The others are answered without, once their second is over.
	for i := range forgeries - 2 {
		if got := take(t, fmt.Sprintf("answer %d", i+1), answers); got != 401 {
			t.Errorf("got %d, want 401", got)
		}
	}
	if len(g.inside) != 0 {
		t.Errorf("%d more copies at the same time than two", len(g.inside))
	}
	close(g.opened)
	for range 2 {
		take(t, "the answer to a copied one", answers)
	}
}
