package receiver_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

func TestADoorThatCannotBeRightIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  setting
	}{
		{"no path", func(c *receiver.Config) { c.Path = "" }},
		{"a path without a slash", func(c *receiver.Config) { c.Path = "ipn" }},
		{"no largest body", func(c *receiver.Config) { c.MaxBody = 0 }},
		{"no memory", func(c *receiver.Config) { c.MemoryBudget = 0 }},
		{"no hold", func(c *receiver.Config) { c.Hold = 0 }},
		{"no record", func(c *receiver.Config) { c.Record = nil }},
		{"no decoder", func(c *receiver.Config) { c.Decoder = nil }},
		{"no mode", func(c *receiver.Config) { c.Policy.Mode = "" }},
		{"a misspelt mode", verify("enforced", oldKey(t))},
		{"enforcement without secrets", func(c *receiver.Config) { c.Policy.Mode = receiver.Enforce }},
		{"a misspelt mode of the senders", func(c *receiver.Config) { c.Policy.SendersMode = "on" }},
		{"metrics that are registered already", func(c *receiver.Config) {
			registry := prometheus.NewRegistry()
			registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "ipn_inflight_requests"}))
			c.Registerer = registry
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := sound()
			if _, err := receiver.New(config); err != nil {
				t.Fatalf("before: %v", err)
			}
			tt.set(&config)
			if _, err := receiver.New(config); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// sound is the least that makes a door.
func sound() receiver.Config {
	return receiver.Config{
		Path: "/ipn", MaxBody: 1 << 20, MemoryBudget: 64 << 20, AdmissionWait: 2 * time.Second, Hold: 4 * time.Second,
		Policy:  receiver.Policy{Mode: receiver.Off, SignatureHeader: signatureHeader, TimestampHeader: timestampHeader},
		Decoder: &ipn.Decoder{}, Scope: ipn.Scope{Endpoint: "test"}, Record: record{},
	}
}
