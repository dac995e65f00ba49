package server_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// scrape returns what a scraper sees of the collectors.
func scrape(tb testing.TB, collectors ...prometheus.Collector) []byte {
	tb.Helper()
	registry := prometheus.NewPedanticRegistry()
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			tb.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	server.Metrics(registry).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		tb.Fatalf("got %d, want 200: %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

func TestMetricsTellTheBuildAndTheConnections(t *testing.T) {
	l := mustListen(t, server.Limits{})
	w := scrape(t, server.NewBuildInfo(server.Build{Version: "v1", Revision: "abc", GoVersion: "go1"}),
		server.NewConnections(server.Door{Name: "public", Listener: l}))
	for _, want := range []string{
		`ipn_build_info{goversion="go1",revision="abc",version="v1"} 1`,
		`ipn_connections{door="public"} 0`, `ipn_connections_refused_total{door="public"} 0`,
	} {
		if !bytes.Contains(w, []byte(want)) {
			t.Errorf("missing %s in:\n%s", want, w)
		}
	}
	if build := server.ReadBuild(); build.Version == "" || build.Revision == "" || build.GoVersion == "" {
		t.Errorf("got %+v, want all told", build)
	}
}
