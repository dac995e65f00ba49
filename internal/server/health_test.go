package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

func ask(handler http.Handler, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/readyz", nil)
	r.Header.Set("Accept", accept)
	handler.ServeHTTP(w, r)
	return w
}

func passing(context.Context) error { return nil }

func TestReadinessTellsWhatFailsAndHowToMendIt(t *testing.T) {
	failing := func(context.Context) error { return errors.New("fsync is off;\nset fsync=on") }
	h := server.NewHealth(server.Check{Name: "database", Probe: failing}, server.Check{Name: "disk", Probe: passing})
	for _, c := range []struct {
		name, accept string
		handler      http.Handler
		status       int
		body         string
	}{
		{"in lines", "", h.Ready(), 503, "database: fsync is off; set fsync=on\n"},
		{"in JSON", "application/json", h.Ready(), 503, `{"ok":false,"problems":[{"check":"database","problem":"fsync is off; set fsync=on"}]}` + "\n"},
		{"live all the same", "", h.Live(), 200, "ok\n"},
		{"live in JSON", "application/json", h.Live(), 200, `{"ok":true,"problems":[]}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ask(c.handler, c.accept)
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, c.status, c.body)
			}
		})
	}
}

func TestDrainingIsNotReady(t *testing.T) {
	h := server.NewHealth(server.Check{Name: "database", Probe: passing})
	if w := ask(h.Ready(), ""); w.Code != http.StatusOK {
		t.Fatalf("before: got %d, want 200", w.Code)
	}
	h.Drain()
	if w := ask(h.Ready(), ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("after: got %d, want 503", w.Code)
	}
}

func TestAnswersAreKeptForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probes := 0
		h := server.NewHealth(server.Check{Name: "database", Probe: func(context.Context) error { probes++; return nil }})
		h.Complaints()
		h.Complaints()
		if probes != 1 {
			t.Errorf("within a second: got %d probes, want 1", probes)
		}
		<-time.After(time.Second) // of the bubble: no real time passes
		h.Complaints()
		if probes != 2 {
			t.Errorf("after a second: got %d probes, want 2", probes)
		}
	})
}

func TestAHangingProbeHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		h := server.NewHealth(
			server.Check{Name: "deaf", Probe: func(context.Context) error { <-deaf; return nil }},
			server.Check{Name: "slow", Probe: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
		start := time.Now()
		found := h.Complaints()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s, want 2s", took)
		}
		if len(found) != 2 || found[0].Problem != "no answer within 2s" {
			t.Errorf("got %v, want both to complain", found)
		}
		close(deaf)
	})
}
