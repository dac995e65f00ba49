package server_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// canary stands for whatever must not reach a log.
const canary = "canary@example.com"

// observed serves one request and returns the answer and what was logged.
func observed(o *server.Observer, handler http.HandlerFunc, r *http.Request) (*httptest.ResponseRecorder, []observer.LoggedEntry) {
	core, logs := observer.New(zapcore.DebugLevel)
	o.Log = zap.New(core)
	mux := http.NewServeMux()
	mux.HandleFunc("/events/{id}", handler)
	w := httptest.NewRecorder()
	o.Wrap(mux).ServeHTTP(w, r)
	return w, logs.All()
}

func TestARequestIsOneLineOfClosedWords(t *testing.T) {
	r := httptest.NewRequest("GRUSS", "/events/"+canary+"?q="+canary, strings.NewReader(canary))
	r.RemoteAddr = "203.0.113.9:1"
	r.Header.Set("X-Request-Id", canary)
	var id string
	w, logged := observed(&server.Observer{}, func(w http.ResponseWriter, r *http.Request) {
		id = server.RequestID(r.Context())
		server.LogField(r.Context(), zap.String("outcome", "first"))
		_, _ = w.Write([]byte("four"))
	}, r)

	if len(logged) != 1 {
		t.Fatalf("got %d lines, want 1", len(logged))
	}
	fields := logged[0].ContextMap()
	if fields["took"] == nil || id == "" || w.Header().Get("X-Request-Id") != id {
		t.Errorf("no duration or no request id: %v, %q", fields, id)
	}
	delete(fields, "took")
	want := map[string]any{"requestId": id, "method": "other", "route": "/events/{id}", "status": int64(200),
		"bytes": int64(4), "peer": "public", "outcome": "first"}
	for name, value := range want {
		if fields[name] != value {
			t.Errorf("%s: got %v, want %v", name, fields[name], value)
		}
	}
	if len(fields) != len(want) {
		t.Errorf("got %v, want %v", fields, want)
	}
}

func TestALineHasTheLevelOfItsOutcome(t *testing.T) {
	for _, c := range []struct {
		name, path string
		status     int
		quiet      []string
		want       zapcore.Level
	}{
		{"a request is info", "/events/1", 200, nil, zapcore.InfoLevel},
		{"what machines ask all day is debug", "/events/1", 200, []string{"/events/{id}"}, zapcore.DebugLevel},
		{"unless it fails", "/events/1", 503, []string{"/events/{id}"}, zapcore.WarnLevel},
		{"an unknown path is info", "/elsewhere", 404, nil, zapcore.InfoLevel},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }
			_, logged := observed(&server.Observer{Quiet: c.quiet}, answer, httptest.NewRequest(http.MethodGet, c.path, nil))
			if got := logged[0]; got.Level != c.want || got.ContextMap()["status"] != int64(c.status) {
				t.Errorf("got %s %v, want %s %d", got.Level, got.ContextMap()["status"], c.want, c.status)
			}
		})
	}
}

func TestAPeerIsToldByItsClass(t *testing.T) {
	proxies := netip.MustParsePrefix("192.0.2.0/24")
	for remote, want := range map[string]string{
		"192.0.2.7:1": "proxy", "127.0.0.1:1": "loopback", "[::ffff:10.0.0.1]:1": "private",
		"[fe80::1]:1": "private", "[2001:db8::1]:1": "public", "@": "unknown",
	} {
		t.Run(remote, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/events/1", nil)
			r.RemoteAddr = remote
			_, logged := observed(&server.Observer{Proxy: proxies.Contains}, func(http.ResponseWriter, *http.Request) {}, r)
			if got := logged[0].ContextMap()["peer"]; got != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

func TestAPanicIsAnEmpty500AndAStackWithoutItsValue(t *testing.T) {
	for _, c := range []struct {
		name   string
		raised any
		kind   string
	}{
		{"an error that quotes data", errors.New(canary), "*errors.errorString"},
		{"a text", canary, "string"},
		{"one of the runtime", nil, "assignment to entry in nil map"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, logged := observed(&server.Observer{}, func(http.ResponseWriter, *http.Request) {
				if c.raised == nil {
					var none map[string]int
					none["x"] = 1 //lint:ignore SA5000 the panic is the point
				}
				panic(c.raised)
			}, httptest.NewRequest(http.MethodGet, "/events/1", nil))
			if w.Code != http.StatusInternalServerError || w.Body.Len() != 0 {
				t.Errorf("got %d %q, want an empty 500", w.Code, w.Body)
			}
			if len(logged) != 2 || logged[0].ContextMap()["kind"] != c.kind {
				t.Fatalf("got %v, want the panic of kind %q and the line", logged, c.kind)
			}
			stack := logged[0].ContextMap()["stack"].(string)
			if !strings.Contains(stack, "observe_test.go") || strings.Contains(stack, canary) {
				t.Errorf("stack is not one, or holds the value: %.200s", stack)
			}
		})
	}
}

func TestABegunAnswerIsCutByAPanic(t *testing.T) {
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("got %v, want http.ErrAbortHandler", got)
		}
	}()
	observed(&server.Observer{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half of it"))
		panic(canary)
	}, httptest.NewRequest(http.MethodGet, "/events/1", nil))
}

func TestThePrivateDoorHasItsHeaders(t *testing.T) {
	w := httptest.NewRecorder()
	server.PrivateHeaders(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store", "Vary": "Authorization",
	} {
		if got := w.Header().Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
