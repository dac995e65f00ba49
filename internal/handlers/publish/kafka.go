package publish

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Kafka publishes events to a topic. It is safe for concurrent use.
type Kafka struct {
	options  KafkaOptions
	envelope cloudevent.Options
	client   *kgo.Client
	dials    *dials
}

// NewKafka checks the options; errors name the field. It dials nothing: the first event does.
func NewKafka(options KafkaOptions, envelope cloudevent.Options) (*Kafka, error) {
	if err := options.check(); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	dials := new(dials)
	client, err := kgo.NewClient(append(options.producing(), kgo.WithHooks(dials))...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return &Kafka{options: options, envelope: envelope, client: client, dials: dials}, nil
}

// Send publishes one event and returns nil when every in-sync replica has it. It returns within the timeout and the
// context, even while the client is still busy with a broker that does not answer; that copy is given up as soon as the
// client can, and one that had got through comes twice. An event that the broker finds too large is refused for good
// ([dispatch.Permanent]).
func (k *Kafka) Send(ctx context.Context, e *ipn.Stored) error {
	ctx, cancel := context.WithTimeout(ctx, k.options.Timeout)
	defer cancel()
	record := k.record(e)
	topic := record.Topic // the record is the client's until it says so
	done := make(chan error, 1)
	k.client.Produce(ctx, record, func(_ *kgo.Record, err error) { done <- err })
	select {
	case err := <-done:
		return k.explain(topic, err)
	case <-ctx.Done():
		return k.explain(topic, ctx.Err())
	}
}

// Close ends the connections and the sending of events that still wait for an answer. Send fails afterwards.
func (k *Kafka) Close() { k.client.Close() }

// record puts the event into headers and value, under a key that keeps the events of one transaction in order: the
// envelope's partitionkey, as the CloudEvents Kafka binding 1.0, section 3.1 proposes.
func (k *Kafka) record(e *ipn.Stored) *kgo.Record {
	envelope := cloudevent.New(e, k.envelope)
	kind, _ := ipn.LookupType(e.Facts.TransactionType)
	record := &kgo.Record{
		Topic: topicOf(k.options.Topic, kind.Label(), string(cloudevent.FamilyOf(e))),
		Key:   []byte(envelope.Extensions["partitionkey"]),
		Value: envelope.Data,
	}
	for _, h := range envelope.Headers(cloudevent.KafkaPrefix) {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
	}
	return record
}

// explain says what went wrong and what mends it.
func (k *Kafka) explain(topic string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return tooLarge("kafka", topic, err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("kafka: topic %s does not exist; make it: "+
			"kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 6 --replication-factor 3: %w",
			topic, k.options.Brokers[0], topic, err)
	case errors.Is(err, context.DeadlineExceeded):
		if why := k.dials.trouble(); why != nil {
			return fmt.Errorf("kafka: no connection: %w", why)
		}
		return fmt.Errorf("kafka: the brokers did not say in time that they have the event: %w", err)
	}
	return fmt.Errorf("kafka: publish to %s: %w", topic, err)
}

// dials remembers how the last attempt to reach a broker went. The client itself tries again in silence, and what an
// operator would read is that time ran out.
type dials struct{ last atomic.Pointer[error] }

// OnBrokerConnect is called by the client after each attempt.
func (d *dials) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	d.last.Store(&err)
}

func (d *dials) trouble() error {
	if last := d.last.Load(); last != nil {
		return *last
	}
	return nil
}
