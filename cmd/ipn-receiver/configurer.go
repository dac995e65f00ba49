package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

const (
	configureOff = "off"

	lookTime   = 5 * time.Minute // one look at the most, with its retries and the wait for its turn
	firstPause = 2 * time.Second // after a look that failed; each further pause is twice as long, up to the interval
)

// configurer keeps the payment service's notification configuration as desired while the receiver runs. It works beside
// intake and never before it: whatever the payment service does, IPNs are taken in.
type configurer struct {
	convergence
	mode     string // apply or plan
	host     string // of the payment service
	interval time.Duration
	log      *zap.Logger
	now      func() time.Time
	looks    *prometheus.CounterVec

	mu    sync.Mutex
	state ipn.ConfigurationState
}

// run looks at once, then after each interval, or sooner as long as the payment service cannot be asked, until ctx ends.
func (c *configurer) run(ctx context.Context) {
	if c.mode == configureOff {
		return
	}
	c.trigger = ipn.ConfigurationAtStart
	for pause := firstPause; ; {
		err := c.look(ctx)
		wait := c.interval
		if err == nil || c.ConfigurationState().Result == ipn.ConfigurationRefused { // a person has to decide
			c.trigger, pause = ipn.ConfigurationAtInterval, firstPause
		} else {
			wait, pause = min(pause, c.interval), min(2*pause, c.interval) // a pause that only doubles is negative one day
		}
		if !sleep(ctx, wait+rand.N(wait/10+1)) { // so that replicas do not go on in step
			return
		}
	}
}

// look converges once, and tells log, metrics and API what came of it.
func (c *configurer) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	push, err := c.converge(ctx)
	if ctx.Err() == context.Canceled {
		return err // the program stops
	}
	c.looks.WithLabelValues(push.Result).Inc()
	before := c.remember(push)
	if before.Result == push.Result && before.Error == push.Error && slices.Equal(before.Changes, push.Changes) && push.Result != ipn.ConfigurationReplaced {
		c.log.Debug("notification configuration: as before", zap.String("result", push.Result), zap.Error(err))
		return err
	}
	tell := lookWords[c.outcome(push)]
	trouble := push.Error
	if err != nil { // also that it cannot be recorded
		trouble = err.Error()
	}
	tell.log(c.log, tell.words, zap.String("service", c.host), zap.String("trigger", push.Trigger), zap.Any("changes", push.Changes), zap.String("error", trouble))
	return err
}

// lookWords is how each outcome is told in the log.
var lookWords = map[string]struct {
	log   func(*zap.Logger, string, ...zap.Field)
	words string
}{
	ipn.ConfigurationInSync:      {(*zap.Logger).Info, "notification configuration: as desired"},
	ipn.ConfigurationDrift:       {(*zap.Logger).Warn, "notification configuration: not as desired; IPN_CONFIGURE=apply or \"ipn-receiver configure\" would replace it, unless it names another host"},
	keptAnother:                  {(*zap.Logger).Warn, "notification configuration: sent, but the payment service keeps another one; look into its portal"},
	ipn.ConfigurationReplaced:    {(*zap.Logger).Info, "notification configuration: replaced by the desired one"},
	ipn.ConfigurationUnconfirmed: {(*zap.Logger).Warn, "notification configuration: sent, but what the payment service has now cannot be read; look into its portal"},
	ipn.ConfigurationRefused:     {(*zap.Logger).Error, "notification configuration: it names another host, and is left alone; if it is to be replaced, type \"ipn-receiver configure --force\""},
	ipn.ConfigurationFailed:      {(*zap.Logger).Warn, "notification configuration: the payment service cannot be asked; trying again, intake goes on"},
}

// remember makes the push the state that is answered, and returns the one before.
func (c *configurer) remember(push ipn.ConfigurationPush) (before ipn.ConfigurationState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.state
	c.state = ipn.ConfigurationState{
		Mode: c.mode, Service: c.host, Desired: push.Desired, Actual: before.Actual, CheckedAt: before.CheckedAt, InSync: before.InSync,
		Result: push.Result, Error: push.Error, Changes: push.Changes,
	}
	if push.Result == ipn.ConfigurationFailed {
		return before // what was known of it is all that is known
	}
	checked, inSync := c.now().UTC(), push.Result == ipn.ConfigurationInSync || push.Result == ipn.ConfigurationReplaced
	c.state.CheckedAt, c.state.InSync = &checked, &inSync
	if push.Result == ipn.ConfigurationUnconfirmed { // sent, and nobody knows
		c.state.InSync = nil
	}
	c.state.Actual = firstJSON(push.After, push.Before)
	return before
}

func firstJSON(texts ...json.RawMessage) json.RawMessage {
	for _, text := range texts {
		if text != nil {
			return text
		}
	}
	return nil
}

// ConfigurationState is what the last look found.
func (c *configurer) ConfigurationState() ipn.ConfigurationState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// ConfigurationPushes returns the record, newest first.
func (c *configurer) ConfigurationPushes(ctx context.Context, before int64, limit int) ([]ipn.ConfigurationPush, error) {
	return c.memory.ConfigurationPushes(ctx, before, limit)
}

var (
	inSyncDesc  = prometheus.NewDesc("ipn_configuration_in_sync", "1 while the payment service's notification configuration is the desired one, else 0; absent while that is not known.", nil, nil)
	checkedDesc = prometheus.NewDesc("ipn_configuration_checked_timestamp_seconds", "When the payment service was last asked for its notification configuration and answered; absent until it was.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *configurer) Describe(out chan<- *prometheus.Desc) {
	out <- inSyncDesc
	out <- checkedDesc
}

// Collect implements prometheus.Collector.
func (c *configurer) Collect(out chan<- prometheus.Metric) {
	state := c.ConfigurationState()
	if state.CheckedAt != nil {
		out <- prometheus.MustNewConstMetric(checkedDesc, prometheus.GaugeValue, float64(state.CheckedAt.Unix()))
	}
	if state.InSync == nil {
		return
	}
	value := 0.0
	if *state.InSync {
		value = 1
	}
	out <- prometheus.MustNewConstMetric(inSyncDesc, prometheus.GaugeValue, value)
}

// openConfigurer prepares the look at the payment service's configuration; one that does not look only tells so.
func (s *service) openConfigurer() (*configurer, error) {
	c := &configurer{mode: s.Configure, interval: s.ConfigureInterval, host: serviceHost(s.PaymentsURL), log: s.log.Named("configure"), now: s.program.now}
	c.memory = s.store
	if s.PaymentsURL == "" {
		c.mode = configureOff
	}
	c.state = ipn.ConfigurationState{Mode: c.mode, Service: c.host}
	if c.mode == configureOff {
		return c, nil
	}
	client, err := s.PaymentService.client()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name("payments-url"), err)
	}
	c.service, c.desired = client, s.wanted(s.intakeURL())
	c.state.Desired = asJSON(c.desired)
	c.options = payments.Options{Apply: c.mode == "apply", PushUnread: true}
	c.looks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ipn_configuration_push_total", Help: "Looks at the payment service's notification configuration, by what came of them.",
	}, []string{"result"})
	for _, result := range ipn.ConfigurationResults() {
		c.looks.WithLabelValues(result)
	}
	s.registry.MustRegister(c, c.looks)
	return c, nil
}
