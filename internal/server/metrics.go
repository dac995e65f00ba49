package server

import (
	"net/http"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Build is what the binary says about itself.
type Build struct {
	Version   string // of the module; "(devel)" when built from a working tree
	Revision  string // of the source, "-dirty" behind it when altered; "unknown" when not recorded
	GoVersion string // "go1.26.8"
}

// ReadBuild reads the record the Go linker left in the binary.
func ReadBuild() Build {
	build := Build{Version: "(devel)", Revision: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build
	}
	build.GoVersion = info.GoVersion
	if info.Main.Version != "" {
		build.Version = info.Main.Version
	}
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		build.Revision = revision
		if settings["vcs.modified"] == "true" {
			build.Revision += "-dirty"
		}
	}
	return build
}

// NewBuildInfo is the gauge ipn_build_info, always 1: its labels tell the build.
func NewBuildInfo(build Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ipn_build_info",
		Help: "The running build, told by its labels; always 1.",
		ConstLabels: prometheus.Labels{
			"version":   build.Version,
			"revision":  build.Revision,
			"goversion": build.GoVersion,
		},
	})
	info.Set(1)
	return info
}

// Metrics serves what the registry gathers, to at most four scrapers at a time.
func Metrics(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Registry:            registry,
		MaxRequestsInFlight: 4,
		EnableOpenMetrics:   true,
	})
}

// connections reads the listeners' counters at scrape time.
type connections struct {
	doors         []Door
	open, refused *prometheus.Desc
}

// NewConnections tells of each door's connections: ipn_connections{door}, those
// open now, and ipn_connections_refused_total{door}, those closed at once
// because their address had its share already.
func NewConnections(doors ...Door) prometheus.Collector {
	label := []string{"door"}
	return &connections{
		doors: doors,
		open: prometheus.NewDesc("ipn_connections",
			"Connections open now, by door.", label, nil),
		refused: prometheus.NewDesc("ipn_connections_refused_total",
			"Connections closed at once because their address had its share, by door.", label, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *connections) Describe(out chan<- *prometheus.Desc) {
	out <- c.open
	out <- c.refused
}

// Collect implements prometheus.Collector.
func (c *connections) Collect(out chan<- prometheus.Metric) {
	for _, door := range c.doors {
		out <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue,
			float64(door.Listener.Open()), door.Name)
		out <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue,
			float64(door.Listener.Refused()), door.Name)
	}
}
