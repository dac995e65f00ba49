package targets

import (
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
)

var publishNames = slices.Concat(commonNames, []string{"nats", "kafka"})

func readPublish(n node, taken names) PublishTarget {
	in := n.object(publishNames...)
	t := PublishTarget{Common: readCommon(in, taken)}
	switch nats, kafka := in["nats"], in["kafka"]; {
	case nats.has() == kafka.has():
		n.fail("write either nats or kafka: a target is one broker")
	case nats.has():
		t.NATS = readNATS(nats)
		t.NATS.Timeout = t.Timeout
	default:
		t.Kafka = readKafka(kafka)
		t.Kafka.Timeout = t.Timeout
	}
	return t
}

func readNATS(n node) *publish.NATSOptions {
	in := n.object("servers", "subject", "credentialsFile", "tokenFile", "tls")
	t := &publish.NATSOptions{
		Servers:         in["servers"].texts(publish.CheckServer),
		Subject:         in["subject"].text(),
		CredentialsFile: in["credentialsFile"].readable(),
		Token:           in["tokenFile"].secret(),
		TLS:             in["tls"].tls(),
	}
	if len(t.Servers) == 0 {
		in["servers"].fail("name at least one server, such as nats://127.0.0.1:4222")
	}
	if err := publish.CheckSubject(t.Subject); err != nil {
		in["subject"].fail("%v", err)
	}
	if in["credentialsFile"].has() && in["tokenFile"].has() {
		in["tokenFile"].fail("the target has a credentialsFile as well: take one of them out")
	}
	return t
}

func readKafka(n node) *publish.KafkaOptions {
	in := n.object("brokers", "topic", "tls", "sasl")
	t := &publish.KafkaOptions{
		Brokers: in["brokers"].texts(publish.CheckBroker),
		Topic:   in["topic"].text(),
		TLS:     in["tls"].tls(),
		SASL:    readSASL(in["sasl"]),
	}
	if len(t.Brokers) == 0 {
		in["brokers"].fail("name at least one broker, such as 127.0.0.1:9092")
	}
	if err := publish.CheckTopic(t.Topic); err != nil {
		in["topic"].fail("%v", err)
	}
	return t
}

// readSASL returns the zero SASL where none is written.
func readSASL(n node) publish.SASL {
	if !n.has() {
		return publish.SASL{}
	}
	in := n.object("mechanism", "username", "passwordFile")
	s := publish.SASL{
		Mechanism: in["mechanism"].word("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"),
		Username:  in["username"].text(),
		Password:  in["passwordFile"].secret(),
	}
	for _, name := range []string{"username", "passwordFile"} {
		if !in[name].has() {
			in[name].fail("is missing: sasl needs a username and a passwordFile")
		}
	}
	return s
}
