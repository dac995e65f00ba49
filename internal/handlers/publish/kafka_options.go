package publish

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// KafkaOptions say which topic takes the events.
type KafkaOptions struct {
	Brokers []string // "host:9092"; any of the cluster, the others are found through them
	// Topic is a name, or a pattern: {type} is the transaction type or "other", {family} its family or "unknown".
	Topic   string
	TLS     *tls.Config // nil: no TLS
	SASL    SASL
	Timeout time.Duration // of one event, until every in-sync replica has it; 0 is 5 s
}

// SASL is how the client proves itself; the zero value is not at all. PLAIN shows the password to the network unless
// there is TLS around it.
type SASL struct {
	Mechanism string // "PLAIN", "SCRAM-SHA-256" or "SCRAM-SHA-512"
	Username  string
	Password  secret.Text
}

// The placeholders of a topic.
const (
	typePlace   = "{type}"
	familyPlace = "{family}"

	longestTopic = 249 // bytes: Kafka's own limit
)

func (o *KafkaOptions) check() error {
	if len(o.Brokers) == 0 {
		return errors.New("brokers: name at least one, such as 127.0.0.1:9092")
	}
	for i, broker := range o.Brokers {
		if err := CheckBroker(broker); err != nil {
			return fmt.Errorf("brokers[%d]: %w", i, err)
		}
	}
	if err := CheckTopic(o.Topic); err != nil {
		return fmt.Errorf("topic: %w", err)
	}
	if _, err := o.SASL.mechanism(); err != nil {
		return fmt.Errorf("sasl: %w", err)
	}
	return nil
}

// CheckBroker tells what is wrong with a broker's address.
func CheckBroker(broker string) error {
	host, port, err := net.SplitHostPort(broker)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || number == 0 || host == "" || strings.ContainsAny(host, "@/ ") {
		return errors.New("write host:port, such as 127.0.0.1:9092")
	}
	return nil
}

// CheckTopic tells what is wrong with a pattern that makes topics which Kafka would refuse, whatever the event.
func CheckTopic(pattern string) error {
	label, family := longestNames()
	topic := topicOf(pattern, label, family)
	if topic == "" || topic == "." || topic == ".." || len(topic) > longestTopic || strings.Trim(topic, letters+digits+"._-") != "" {
		return fmt.Errorf("write a topic of letters, digits, '.', '-' and '_', such as ipn-events, of at most %d characters; {type} and {family} may stand in it", longestTopic)
	}
	return nil
}

// longestNames returns the longest of what may stand for {type} and for {family}.
func longestNames() (label, family string) {
	for _, kind := range ipn.Types() {
		if len(kind.Label()) > len(label) {
			label = kind.Label()
		}
		if len(kind.Family) > len(family) {
			family = string(kind.Family)
		}
	}
	return label, family
}

// topicOf fills a pattern. Labels and families are words of closed lists, so a sender cannot invent a topic.
func topicOf(pattern, label, family string) string {
	return strings.NewReplacer(typePlace, label, familyPlace, family).Replace(pattern)
}

// mechanism returns nil when there is nothing to prove.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s.Mechanism == "" && s.Username == "" && s.Password.IsZero() {
		return nil, nil
	}
	if s.Username == "" || s.Password.IsZero() {
		return nil, errors.New("set mechanism, user name and password together")
	}
	switch s.Mechanism {
	case "PLAIN":
		return plain.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("mechanism %q: use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
}

const (
	mostBuffered  = 1024                   // records; the dispatcher has a few under way at once
	metadataPause = 250 * time.Millisecond // between two looks for a leader or a topic
)

// producing returns the options of a producer that says an event is stored when every in-sync replica has it, and that
// puts events of one key into one partition, the same as any other Kafka client would choose.
func (o *KafkaOptions) producing() []kgo.Opt {
	list := []kgo.Opt{
		kgo.ClientID(clientName),
		kgo.SeedBrokers(o.Brokers...),
		kgo.RequiredAcks(kgo.AllISRAcks()), // with the idempotent producer, which is the client's default
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(mostBuffered),
		kgo.AllowIdempotentProduceCancellation(), // the attempt's time counts more: a second copy has the same id
		kgo.ProduceRequestTimeout(o.Timeout),
		kgo.DialTimeout(dialTimeout),
		kgo.UnknownTopicRetries(1),
		kgo.MetadataMinAge(metadataPause),
		kgo.DisableClientMetrics(),
	}
	if o.TLS != nil {
		list = append(list, kgo.DialTLSConfig(o.TLS))
	}
	if mechanism, _ := o.SASL.mechanism(); mechanism != nil { // checked before
		list = append(list, kgo.SASL(mechanism))
	}
	return list
}
