package receiver

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// metrics are the door's. Every label comes from a closed set: the answers, the type table plus "other", the outcomes,
// the results of verification.
type metrics struct {
	requests     *prometheus.CounterVec
	events       *prometheus.CounterVec
	lastEvent    *prometheus.GaugeVec
	verification *prometheus.CounterVec
	variants     prometheus.Counter
	ack          prometheus.Histogram
	inflight     prometheus.Gauge
	returns      *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ipn_requests_total", Help: "Requests at the public door, by what they came to."}, []string{"outcome"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ipn_events_total", Help: "Receipts recorded, by transaction type and outcome (new, duplicate, variant)."}, []string{"transaction_type", "outcome"}),
		lastEvent: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "ipn_last_event_timestamp_seconds", Help: "When the latest receipt of each transaction type was recorded, as Unix time."}, []string{"transaction_type"}),
		verification: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ipn_verification_total", Help: "Checks of authenticity, by scheme (signature, auth_key, sender) and result."}, []string{"scheme", "result"}),
		variants: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ipn_variants_total", Help: "Receipts of a known identity that told something else."}),
		ack: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ipn_ack_seconds", Help: "From the arrival of a post to its acknowledgement, durable by then.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 8}}),
		inflight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "ipn_inflight_requests", Help: "Requests at the public door being answered now."}),
	}
	m.returns = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ipn_bank_transfer_returns_total", Help: "Shoppers who came back from their bank, by what became of what they brought."}, []string{"outcome"})
	for _, outcome := range returnOutcomes {
		m.returns.WithLabelValues(outcome)
	}
	for _, a := range answers {
		m.requests.WithLabelValues(a.outcome)
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.events, m.lastEvent, m.verification, m.variants, m.ack, m.inflight, m.returns} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register the receiver's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) kept(event *ipn.Event, recorded ipn.Recorded, at time.Time) {
	label := event.Type.Label()
	m.events.WithLabelValues(label, string(recorded.Outcome)).Inc()
	m.lastEvent.WithLabelValues(label).Set(float64(at.UnixMilli()) / 1000)
	if recorded.Outcome == ipn.OutcomeVariant {
		m.variants.Inc()
	}
}

func (m *metrics) verified(scheme, result string) {
	m.verification.WithLabelValues(scheme, result).Inc()
}
