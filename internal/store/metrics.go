package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

type recorderMetrics struct {
	batchSize, hold prometheus.Histogram
}

func newRecorderMetrics(registerer prometheus.Registerer) (recorderMetrics, error) {
	m := recorderMetrics{
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ipn_record_batch_size",
			Help:    "Receipts committed as one transaction.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}),
		hold: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ipn_record_hold_seconds",
			Help:    "How long receipts were held because the database did not take them at first.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 3, 4, 6, 10},
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.batchSize, m.hold} {
		if err := registerer.Register(c); err != nil {
			return m, fmt.Errorf("register the recorder's metrics: %w", err)
		}
	}
	return m, nil
}

// collector reads the pools and the size of quarantine when Prometheus asks, so that nothing has to be kept in step.
type collector struct {
	store      *Store
	quarantine *prometheus.Desc
	pool       []poolGauge
}

type poolGauge struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*pgxpool.Stat) float64
}

func newCollector(s *Store) *collector {
	gauge := func(name, help string, kind prometheus.ValueType, read func(*pgxpool.Stat) float64) poolGauge {
		return poolGauge{prometheus.NewDesc("ipn_db_pool_"+name, help, []string{"pool"}, nil), kind, read}
	}
	return &collector{
		store:      s,
		quarantine: prometheus.NewDesc("ipn_quarantine_entries", "Posts in quarantine that were not promoted, by reason.", []string{"reason"}, nil),
		pool: []poolGauge{
			gauge("connections", "Connections open.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) }),
			gauge("connections_in_use", "Connections lent out.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) }),
			gauge("connections_max", "Connections the pool may open.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) }),
			gauge("acquires_total", "Connections lent since start.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) }),
			gauge("acquire_waits_total", "Loans that had to wait for a connection.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) }),
			gauge("acquire_seconds_total", "Time spent waiting for connections.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return s.AcquireDuration().Seconds() }),
		},
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.quarantine
	for _, g := range c.pool {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector. While the database is away quarantine is left out, which Prometheus shows as
// a gap rather than as a zero.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for name, pool := range map[string]*pgxpool.Pool{"intake": c.store.intake, "queries": c.store.queries} {
		stat := pool.Stat()
		for _, g := range c.pool {
			out <- prometheus.MustNewConstMetric(g.desc, g.kind, g.read(stat), name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	counts, err := c.store.QuarantineCounts(ctx)
	if err != nil {
		return
	}
	for reason, n := range counts {
		out <- prometheus.MustNewConstMetric(c.quarantine, prometheus.GaugeValue, float64(n), string(reason))
	}
}
