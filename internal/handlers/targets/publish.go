package targets

import (
	"crypto/tls"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

// NATS says how to reach a NATS cluster with JetStream.
type NATS struct {
	Servers         []string    // nats:// or tls:// URLs without a user
	Subject         string      // stands before the type: "ipn.events" makes "ipn.events.CHARGE"
	CredentialsFile string      // path of a .creds file; "": none
	Token           secret.Text // the zero Text: none
	TLS             *tls.Config // nil: none but what a server asks for
}

// Kafka says how to reach a Kafka cluster.
type Kafka struct {
	Brokers []string    // host:port
	Topic   string      // may hold {type} and {family}
	TLS     *tls.Config // nil: none
	SASL    *SASL       // nil: none
}

// SASL says who the receiver is at a Kafka cluster.
type SASL struct {
	Mechanism string // plain, scram-sha-256 or scram-sha-512
	Username  string
	Password  secret.Text
}

var (
	publishNames = slices.Concat(commonNames, []string{"nats", "kafka"})

	subjectForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	topicForm   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
)

func readPublish(n node, taken names) PublishTarget {
	in := n.object(publishNames...)
	t := PublishTarget{Common: readCommon(in, taken)}
	switch nats, kafka := in["nats"], in["kafka"]; {
	case nats.has() == kafka.has():
		n.fail("write either nats or kafka: a target is one broker")
	case nats.has():
		t.NATS = readNATS(nats)
	default:
		t.Kafka = readKafka(kafka)
	}
	return t
}

func readNATS(n node) *NATS {
	in := n.object("servers", "subject", "credentialsFile", "tokenFile", "tls")
	t := &NATS{
		Servers:         in["servers"].texts(checkServer),
		Subject:         in["subject"].text(),
		CredentialsFile: in["credentialsFile"].readable(),
		Token:           in["tokenFile"].secret(),
		TLS:             in["tls"].tls(),
	}
	if len(t.Servers) == 0 {
		in["servers"].fail("name at least one server, such as nats://127.0.0.1:4222")
	}
	if !subjectForm.MatchString(t.Subject) {
		in["subject"].fail("write a subject of letters, digits, '-' and '_' between dots, such as ipn.events; the type is put behind it")
	}
	if in["credentialsFile"].has() && in["tokenFile"].has() {
		in["tokenFile"].fail("the target has a credentialsFile as well: take one of them out")
	}
	return t
}

func checkServer(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "nats" && u.Scheme != "tls", u.Hostname() == "", u.Path != "", u.RawQuery != "", u.Fragment != "":
		return "write nats://host:port, or tls://host:port"
	case u.User != nil:
		return "the server's URL holds a user: use credentialsFile or tokenFile"
	}
	return ""
}

func readKafka(n node) *Kafka {
	in := n.object("brokers", "topic", "tls", "sasl")
	t := &Kafka{
		Brokers: in["brokers"].texts(checkBroker),
		Topic:   in["topic"].text(),
		TLS:     in["tls"].tls(),
		SASL:    readSASL(in["sasl"]),
	}
	if len(t.Brokers) == 0 {
		in["brokers"].fail("name at least one broker, such as 127.0.0.1:9092")
	}
	if topic := plainPattern(t.Topic); !topicForm.MatchString(topic) || topic == "." || topic == ".." {
		in["topic"].fail("write a topic of letters, digits, '.', '-' and '_', such as ipn-events; {type} and {family} may stand in it")
	}
	return t
}

func checkBroker(text string) string {
	host, port, err := net.SplitHostPort(text)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || number == 0 || host == "" || strings.ContainsAny(host, "@/ ") {
		return "write host:port, such as 127.0.0.1:9092"
	}
	return ""
}

func readSASL(n node) *SASL {
	if !n.has() {
		return nil
	}
	in := n.object("mechanism", "username", "passwordFile")
	s := &SASL{
		Mechanism: in["mechanism"].word("scram-sha-512", "scram-sha-256", "plain"),
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

// plainPattern puts the longest of what may stand for them in the place of {type} and {family}, so that the pattern can
// be checked like a name.
func plainPattern(pattern string) string {
	longest := ""
	for _, name := range typeNames() {
		if len(name) > len(longest) {
			longest = name
		}
	}
	return strings.NewReplacer("{type}", longest, "{family}", "subscription").Replace(pattern)
}
