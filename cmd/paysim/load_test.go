package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLoadPostsAsManyAsAskedWithTheTypesInTurn(t *testing.T) {
	l := listen(t, http.StatusOK)
	r := runProgram(t, nil, "load", "--count=30", "--rate=10000", "--connections=4", "--types=CHARGE, REFUND,TELEPORTED", "--url="+l.URL, "--signing-key-file=none")
	r.wants(t, exitOK, "sent 30 in ", "30 × 200 OK", "p50 ", "p99 ", "max ", "TELEPORTED is no type")
	count, bodies := map[string]int{}, map[string]bool{}
	for _, p := range l.posts() {
		for _, kind := range []string{"CHARGE", "REFUND", "TELEPORTED"} {
			if strings.Contains("&"+p.body+"&", "&transactionType="+kind+"&") {
				count[kind]++
			}
		}
		bodies[p.body] = true
	}
	if count["CHARGE"] != 10 || count["REFUND"] != 10 || count["TELEPORTED"] != 10 || len(bodies) != 30 {
		t.Errorf("got %v, %d different bodies, want ten of each, all different", count, len(bodies))
	}
}

func TestLoadFailsUnlessEveryAnswerWas200(t *testing.T) {
	l := listen(t, http.StatusServiceUnavailable)
	r := runProgram(t, nil, "load", "--rate=100", "--duration=50ms", "--url="+l.URL, "--signing-key-file=none")
	r.wants(t, exitNo, "5 × 503 Service Unavailable", "5 of 5 were not answered 200")
}

func TestLoadThatIsToldToStopTellsWhatItDid(t *testing.T) {
	l := listen(t, http.StatusOK)
	ctx, stop := context.WithCancel(t.Context())
	p := newProgram(nil, "load", "--rate=50", "--duration=1h", "--url="+l.URL, "--signing-key-file=none")
	var output strings.Builder
	p.stdout, p.stderr = &output, &strings.Builder{}
	code := make(chan int)
	go func() { code <- p.run(ctx) }()
	eventually(t, "a post comes", func() bool { return len(l.posts()) > 0 })
	stop()
	if got := <-code; got != exitNo || !strings.Contains(output.String(), "× 200 OK") {
		t.Errorf("got %d, %s, want 1 and what was sent", got, output.String())
	}
}

func TestProgressTellsTheTimesSinceItWasLastAsked(t *testing.T) {
	all := newTally()
	all.add("200 OK", true, 2*time.Millisecond)
	if got, want := all.progress(time.Second), "   1s  1 answered, 1 with 200, 0 otherwise; p50 2ms, p99 2ms, max 2ms"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	all.add("503 Service Unavailable", false, 4*time.Millisecond)
	if got, want := all.progress(2*time.Second), "   2s  2 answered, 1 with 200, 1 otherwise; p50 4ms, p99 4ms, max 4ms"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := all.progress(3*time.Second), "   3s  2 answered, 1 with 200, 1 otherwise; no answer"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSpreadTellsTheTimeThatSoManyStayedWithin(t *testing.T) {
	times := make([]time.Duration, 200)
	for i := range times {
		times[i] = time.Duration(200-i) * time.Millisecond
	}
	if got, want := spread(times), "p50 100ms, p99 198ms, max 200ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorsWithoutEndAreCountedInOne(t *testing.T) {
	all := newTally()
	for i := range maxOutcomes + 5 {
		all.add(strings.Repeat("x", i+1), false, 0)
	}
	if got := all.summary(time.Second); !strings.Contains(got, "5 × other") {
		t.Errorf("got %s", got)
	}
}
