package store

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// handlerCollector reads the handlers when Prometheus asks.
type handlerCollector struct {
	store  *Store
	names  []string
	gauges []handlerGauge
	parked *prometheus.Desc
}

type handlerGauge struct {
	desc *prometheus.Desc
	read func(*handlerRow) float64
}

// NewHandlerCollector returns the metrics of the handlers of these names. A handler that was never led, and all of them
// while the database is away, are left out, which Prometheus shows as a gap rather than as a zero.
func (s *Store) NewHandlerCollector(names []string) prometheus.Collector {
	gauge := func(name, help string, read func(*handlerRow) float64) handlerGauge {
		return handlerGauge{prometheus.NewDesc(name, help, []string{"handler"}, nil), read}
	}
	return &handlerCollector{
		store: s, names: slices.Clone(names),
		parked: prometheus.NewDesc("ipn_parked_events", "Events that a handler failed on: parked to be tried again, or buried.", []string{"handler", "state"}, nil),
		gauges: []handlerGauge{
			gauge("ipn_handler_lag_events", "Events behind the cursor of a handler, counted up to 100,000.", func(h *handlerRow) float64 { return float64(h.LagEvents) }),
			gauge("ipn_handler_lag_seconds", "Age of the oldest event behind the cursor of a handler.", func(h *handlerRow) float64 { return h.LagSeconds }),
			gauge("ipn_oldest_parked_seconds", "Age of the first failure of the parked or buried event that waits longest; 0 when there is none.", func(h *handlerRow) float64 { return h.OldestSeconds }),
			gauge("ipn_handler_paused", "1 while a handler is paused.", func(h *handlerRow) float64 { return oneIf(h.PausedAt != nil) }),
		},
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (c *handlerCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.parked
	for _, g := range c.gauges {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (c *handlerCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	rows, err := c.store.handlerRows(ctx, mostScraped)
	if err != nil {
		return
	}
	for i := range rows {
		h := &rows[i]
		if !slices.Contains(c.names, h.Name) {
			continue
		}
		for _, g := range c.gauges {
			out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.read(h), h.Name)
		}
		for state, n := range map[ipn.EventState]int64{ipn.EventParked: h.Parked, ipn.EventBuried: h.Buried} {
			out <- prometheus.MustNewConstMetric(c.parked, prometheus.GaugeValue, float64(n), h.Name, string(state))
		}
	}
}
