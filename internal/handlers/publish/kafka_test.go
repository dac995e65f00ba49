package publish_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

// kafka runs brokers of the test's own, with the topic.
func kafka(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(4, "ipn-events")}, options...)...)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func topic(t *testing.T, c *kfake.Cluster, settings ...func(*publish.KafkaOptions)) *publish.Kafka {
	t.Helper()
	options := publish.KafkaOptions{Brokers: c.ListenAddrs(), Topic: "ipn-events", Timeout: patience}
	for _, set := range settings {
		set(&options)
	}
	k, err := publish.NewKafka(options, cloudevent.Options{})
	must(t, err)
	t.Cleanup(k.Close)
	return k
}

// hurried is for tests of an answer that does not come.
func hurried(o *publish.KafkaOptions) { o.Timeout = 500 * time.Millisecond }

// records reads so many records of a topic.
func records(t *testing.T, c *kfake.Cluster, name string, count int) []*kgo.Record {
	t.Helper()
	reader, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(name), kgo.DisableClientMetrics())
	must(t, err)
	defer reader.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var list []*kgo.Record
	for len(list) < count {
		fetches := reader.PollFetches(ctx)
		must(t, fetches.Err())
		list = append(list, fetches.Records()...)
	}
	return list
}

// named are the headers of a record as a consumer sees them.
func named(t *testing.T, r *kgo.Record) map[string]string {
	t.Helper()
	headers := make(map[string]string)
	for _, h := range r.Headers {
		if _, twice := headers[h.Key]; twice {
			t.Errorf("%s came twice", h.Key)
		}
		headers[h.Key] = string(h.Value)
	}
	return headers
}

func TestAnEventArrivesInTheTopicAsACloudEvent(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	sink := topic(t, c)
	must(t, sink.Send(t.Context(), charge(42, "1000001")))
	got := records(t, c, "ipn-events", 1)[0]
	isCharge(t, reads(t, "ce_", named(t, got), got.Value), 42, "1000001")
	if string(got.Key) != "1000001" {
		t.Errorf("key: got %q, want the reference number", got.Key)
	}
	must(t, sink.Send(t.Context(), charge(43, "")))
	for _, r := range records(t, c, "ipn-events", 2) {
		if read := reads(t, "ce_", named(t, r), r.Value); read.ID() == "43" && string(r.Key) != "43" {
			t.Errorf("key without a reference number: got %q, want the id", r.Key)
		}
	}
}

func TestEventsOfOneReferenceStayInOrder(t *testing.T) {
	t.Parallel()
	const keys, each = 6, 40
	c := kafka(t, kfake.NumBrokers(3))
	sink := topic(t, c)
	var wait sync.WaitGroup
	for key := range keys {
		wait.Go(func() {
			for number := range each {
				if err := sink.Send(t.Context(), charge(int64(number*keys+key), "reference-"+strconv.Itoa(key))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	last, place := make(map[string]int64), make(map[string]int32)
	for _, r := range records(t, c, "ipn-events", keys*each) {
		id, err := strconv.ParseInt(named(t, r)["ce_id"], 10, 64)
		must(t, err)
		key := string(r.Key)
		if before, seen := last[key]; seen && (id <= before || place[key] != r.Partition) {
			t.Errorf("%s: event %d in partition %d came after %d in %d", key, id, r.Partition, before, place[key])
		}
		last[key], place[key] = id, r.Partition
	}
}

func TestHostileReferencesBreakNoHeaderOfARecord(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	sink := topic(t, c)
	id := int64(0)
	want := make(map[string]string)
	for _, reference := range hostile {
		id++
		want[strconv.FormatInt(id, 10)] = representable(reference)
		must(t, sink.Send(t.Context(), charge(id, reference)))
	}
	for _, r := range records(t, c, "ipn-events", len(hostile)) {
		read := reads(t, "ce_", named(t, r), r.Value)
		subject := want[read.ID()]
		if read.Subject() != subject || read.Type() != "ipn.CHARGE" {
			t.Errorf("got subject %q, type %q; want %q", read.Subject(), read.Type(), subject)
		}
		if key := string(r.Key); key != subject && (subject != "" || key != read.ID()) {
			t.Errorf("key: got %q for subject %q", key, subject)
		}
	}
}

func TestATopicMayBeMadeOfTypeAndFamily(t *testing.T) {
	t.Parallel()
	c := kafka(t, kfake.SeedTopics(1, "ipn.payment.CHARGE", "ipn.unknown.other"))
	sink := topic(t, c, func(o *publish.KafkaOptions) { o.Topic = "ipn.{family}.{type}" })
	must(t, sink.Send(t.Context(), charge(1, "1000001")))
	stranger := charge(2, "1000001")
	stranger.Facts.TransactionType = "ipn/../{type}"
	must(t, sink.Send(t.Context(), stranger))
	records(t, c, "ipn.payment.CHARGE", 1)
	records(t, c, "ipn.unknown.other", 1)
}

func TestAMissingTopicIsToldWithTheCommandThatMakesIt(t *testing.T) {
	t.Parallel()
	err := topic(t, kafka(t), func(o *publish.KafkaOptions) { o.Topic = "ipn-evnets" }).Send(t.Context(), charge(1, "4711-secret"))
	says(t, err, "topic ipn-evnets does not exist", "kafka-topics.sh", "--create --topic ipn-evnets")
	silent(t, err)
}

// refuses answers the next produce request with an error code.
func refuses(c *kfake.Cluster, code int16) {
	c.ControlKey(int16(kmsg.Produce), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		request := asked.(*kmsg.ProduceRequest)
		answer := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, t := range request.Topics {
			told := kmsg.ProduceResponseTopic{Topic: t.Topic, TopicID: t.TopicID}
			for _, p := range t.Partitions {
				told.Partitions = append(told.Partitions, kmsg.ProduceResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
			}
			answer.Topics = append(answer.Topics, told)
		}
		return answer, nil, true
	})
}

func TestABrokerThatRefusesIsAnErrorAndTheNextTryGoesThrough(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		code  int16
		words []string
		bury  bool
	}{
		"for want of a right":   {kerr.TopicAuthorizationFailed.Code, []string{"publish to ipn-events", "TOPIC_AUTHORIZATION_FAILED"}, false},
		"for the event is huge": {kerr.MessageTooLarge.Code, []string{"larger than ipn-events takes"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := kafka(t)
			sink := topic(t, c)
			refuses(c, row.code)
			err := sink.Send(t.Context(), charge(1, "4711-secret"))
			says(t, err, row.words...)
			silent(t, err)
			if row.bury {
				buries(t, err)
			}
			must(t, sink.Send(t.Context(), charge(1, "4711-secret")))
		})
	}
}

func TestABrokerThatFailsInPassingIsAskedAgain(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	sink := topic(t, c)
	must(t, sink.Send(t.Context(), charge(1, "1000001")))
	refuses(c, kerr.NotEnoughReplicas.Code)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, errors.New("cut"), true })
	must(t, sink.Send(t.Context(), charge(2, "1000001")))
	if got := records(t, c, "ipn-events", 2); len(got) != 2 {
		t.Errorf("got %d records, want 2", len(got))
	}
}

func TestABrokerThatHangsCostsNoMoreThanTheTime(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	sink := topic(t, c, hurried)
	eventually(t, "it works", func() error { return sink.Send(t.Context(), charge(1, "1000001")) })
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, nil, true })
	err := sink.Send(t.Context(), charge(2, "4711-secret"))
	says(t, err, "did not say in time")
	silent(t, err)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := sink.Send(ctx, charge(3, "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "it works again", func() error { return sink.Send(t.Context(), charge(2, "1000001")) })
}

func TestAnEventThatWaitsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	asked := make(chan struct{}, 1)
	c.ControlKey(-1, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		select {
		case asked <- struct{}{}:
		default:
		}
		return nil, nil, true
	})
	sink := topic(t, c)
	patient, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- sink.Send(patient, charge(1, "1000001")) }()
	<-asked // the patient one is the first: while the topic is not known, the first one's context counts for all
	hasty, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	says(t, sink.Send(hasty, charge(2, "1000001")), "kafka: ")
	select {
	case err := <-ended:
		t.Fatalf("the patient one ended, too: %v", err)
	default:
	}
	leave()
	<-ended
}

func TestAKafkaThatIsAwayIsAnErrorAndOneThatIsBackGoesOn(t *testing.T) {
	t.Parallel()
	c := kafka(t)
	_, text, err := net.SplitHostPort(c.ListenAddrs()[0])
	must(t, err)
	number, err := strconv.Atoi(text)
	must(t, err)
	sink := topic(t, c, hurried)
	c.Close()
	comesToSay(t, func() error { return sink.Send(t.Context(), charge(1, "4711-secret")) }, "kafka: no connection", "refused")
	again := kafka(t, kfake.Ports(number))
	eventually(t, "the event goes through", func() error { return sink.Send(t.Context(), charge(1, "1000001")) })
	records(t, again, "ipn-events", 1)
}

func TestAClosedTopicSendsNothing(t *testing.T) {
	t.Parallel()
	sink := topic(t, kafka(t))
	sink.Close()
	if err := sink.Send(t.Context(), charge(1, "1")); !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("got %v", err)
	}
}

func TestKafkaAccess(t *testing.T) {
	t.Parallel()
	inside, outside := certified(t)
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		for password, words := range map[string][]string{"4711-secret": nil, "another": {"kafka: no connection"}} {
			t.Run(mechanism+" with "+password, func(t *testing.T) {
				t.Parallel()
				c := kafka(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "maria", "4711-secret"), kfake.TLS(inside))
				sink := topic(t, c, func(o *publish.KafkaOptions) {
					o.TLS = outside
					o.SASL = publish.SASL{Mechanism: mechanism, Username: "maria", Password: secret.New(password)}
					if words != nil {
						hurried(o)
					}
				})
				send := func() error { return sink.Send(t.Context(), charge(1, "4711-secret")) }
				if words == nil {
					must(t, send())
					return
				}
				comesToSay(t, send, words...)
			})
		}
	}
}

func TestKafkaOptionsAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	good := publish.KafkaOptions{Brokers: []string{"127.0.0.1:9092"}, Topic: "ipn-events"}
	password := secret.New("4711-secret")
	for name, row := range map[string]struct {
		change func(*publish.KafkaOptions)
		words  []string
	}{
		"no broker":                 {func(o *publish.KafkaOptions) { o.Brokers = nil }, []string{"brokers"}},
		"a broker without a port":   {func(o *publish.KafkaOptions) { o.Brokers = []string{"a:1", "b"} }, []string{"brokers[1]", "host:port"}},
		"no topic":                  {func(o *publish.KafkaOptions) { o.Topic = "" }, []string{"topic"}},
		"a place that is not known": {func(o *publish.KafkaOptions) { o.Topic = "ipn.{currency}" }, []string{"topic", "{type}"}},
		"a character Kafka refuses": {func(o *publish.KafkaOptions) { o.Topic = "ipn/events" }, []string{"topic"}},
		"a folder":                  {func(o *publish.KafkaOptions) { o.Topic = ".." }, []string{"topic"}},
		"a topic that is too long":  {func(o *publish.KafkaOptions) { o.Topic = strings.Repeat("x", 240) + "{type}" }, []string{"topic", "249"}},
		"a mechanism nobody knows": {func(o *publish.KafkaOptions) {
			o.SASL = publish.SASL{Mechanism: "GSSAPI", Username: "maria", Password: password}
		}, []string{"sasl", "SCRAM-SHA-256"}},
		"a user without a password": {func(o *publish.KafkaOptions) { o.SASL = publish.SASL{Mechanism: "PLAIN", Username: "maria"} }, []string{"sasl", "together"}},
		"a password without a user": {func(o *publish.KafkaOptions) { o.SASL = publish.SASL{Password: password} }, []string{"sasl", "together"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := good
			row.change(&options)
			_, err := publish.NewKafka(options, cloudevent.Options{})
			says(t, err, row.words...)
			silent(t, fmt.Errorf("%w %v", err, options))
		})
	}
}
