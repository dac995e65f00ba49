package dispatch

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the room's. Labels are the names of handlers, which are settings, and results.
type metrics struct {
	events               *prometheus.CounterVec
	seconds, delay       *prometheus.HistogramVec
	leading, held, stuck *prometheus.GaugeVec
}

// meter is what one handler writes to.
type meter struct {
	events               map[verdict]prometheus.Counter
	seconds, delay       prometheus.Observer
	leading, held, stuck prometheus.Gauge
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	handler := []string{"handler"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, handler)
	}
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, handler)
	}
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ipn_handler_events_total", Help: "Attempts that were settled, by handler and result (done, skipped, failed, buried)."}, []string{"handler", "result"}),
		seconds: histogram("ipn_handler_seconds", "Time in the handler: of an event for a sink, of a batch for a projection.",
			.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20),
		delay: histogram("ipn_handler_delay_seconds", "From the receipt of an event to its being done, for events that went well at once.",
			.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 300, 3600),
		leading: gauge("ipn_handler_leading", "1 while this process leads the handler."),
		held:    gauge("ipn_handler_held", "1 while this process holds the handler's events back because the target is down or runs are stuck."),
		stuck:   gauge("ipn_handler_stuck", "Runs that ignored the end of their time, were left behind and go on."),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.events, m.seconds, m.delay, m.leading, m.held, m.stuck} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of dispatch: %w", err)
		}
	}
	return m, nil
}

// of returns the meter of one handler, every series of it present from the start.
func (m *metrics) of(handler string) meter {
	events := make(map[verdict]prometheus.Counter)
	for v, result := range results {
		events[v] = m.events.WithLabelValues(handler, result)
	}
	return meter{
		events: events, seconds: m.seconds.WithLabelValues(handler), delay: m.delay.WithLabelValues(handler),
		leading: m.leading.WithLabelValues(handler), held: m.held.WithLabelValues(handler), stuck: m.stuck.WithLabelValues(handler),
	}
}

// settled counts one job.
func (m *meter) settled(j *job) {
	m.events[j.verdict].Inc()
	if j.verdict == done && !j.due {
		m.delay.Observe(time.Since(j.event.ReceivedAt).Seconds())
	}
}
