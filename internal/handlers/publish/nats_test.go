package publish_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

// broker runs a JetStream server of the test's own.
func broker(t *testing.T, settings ...func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}
	for _, set := range settings {
		set(options)
	}
	s, err := server.NewServer(options)
	must(t, err)
	s.Start()
	t.Cleanup(func() { halt(s) })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the broker did not start")
	}
	return s
}

func halt(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// consumer is a connection of the test's own, which looks at the stream from outside.
func consumer(t *testing.T, address string, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(address, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	return js
}

// stream makes the stream that takes what bus sends.
func stream(t *testing.T, js jetstream.JetStream, settings ...func(*jetstream.StreamConfig)) jetstream.Stream {
	t.Helper()
	config := jetstream.StreamConfig{Name: "IPN", Subjects: []string{"ipn.events.>"}}
	for _, set := range settings {
		set(&config)
	}
	made, err := js.CreateStream(t.Context(), config)
	must(t, err)
	return made
}

func bus(t *testing.T, address string, settings ...func(*publish.NATSOptions)) *publish.NATS {
	t.Helper()
	options := publish.NATSOptions{Servers: []string{address}, Subject: "ipn.events", Timeout: patience}
	for _, set := range settings {
		set(&options)
	}
	n, err := publish.NewNATS(options, cloudevent.Options{})
	must(t, err)
	t.Cleanup(n.Close)
	return n
}

// impatient is for tests of an answer that does not come.
func impatient(o *publish.NATSOptions) { o.Timeout = 500 * time.Millisecond }

// kept returns the messages of a stream in order.
func kept(t *testing.T, s jetstream.Stream) []*jetstream.RawStreamMsg {
	t.Helper()
	info, err := s.Info(t.Context())
	must(t, err)
	var messages []*jetstream.RawStreamMsg
	for number := info.State.FirstSeq; number != 0 && number <= info.State.LastSeq; number++ {
		message, err := s.GetMsg(t.Context(), number)
		must(t, err)
		messages = append(messages, message)
	}
	return messages
}

// heard reads the envelope of a message as a consumer does.
func heard(t *testing.T, header nats.Header) map[string]string {
	t.Helper()
	headers := make(map[string]string)
	for name, values := range header {
		text, err := url.PathUnescape(values[0])
		must(t, err)
		if headers[name] = text; len(values) != 1 {
			t.Errorf("%s came %d times", name, len(values))
		}
	}
	return headers
}

func TestAnEventArrivesInTheStreamAsACloudEvent(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()))
	must(t, bus(t, s.ClientURL()).Send(t.Context(), charge(42, "1000001")))
	messages := kept(t, in)
	if len(messages) != 1 || messages[0].Subject != "ipn.events.CHARGE" {
		t.Fatalf("got %v", messages)
	}
	isCharge(t, reads(t, "ce-", heard(t, messages[0].Header), messages[0].Data), 42, "1000001")
	if id := messages[0].Header.Get("Nats-Msg-Id"); id != "42" {
		t.Errorf("the stream drops copies by %q, want the event id", id)
	}
	if kind := messages[0].Header.Get("ce-datacontenttype"); kind != "application/json" {
		t.Errorf("ce-datacontenttype: got %q", kind)
	}
}

func TestATypeThatNobodyKnowsGetsTheSubjectOther(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()))
	e := charge(1, "1000001")
	e.Facts.TransactionType = "A.B > *\r\nPUB x 0"
	must(t, bus(t, s.ClientURL()).Send(t.Context(), e))
	if messages := kept(t, in); len(messages) != 1 || messages[0].Subject != "ipn.events.other" {
		t.Errorf("got %v", messages)
	}
}

func TestTheSameEventTwiceIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()))
	first, second := bus(t, s.ClientURL()), bus(t, s.ClientURL())
	for _, sink := range []*publish.NATS{first, first, second} { // second: the process that took over
		must(t, sink.Send(t.Context(), charge(42, "1000001")))
	}
	if messages := kept(t, in); len(messages) != 1 {
		t.Errorf("got %d messages, want 1", len(messages))
	}
}

func TestHostileReferencesBreakNoHeaderOfAMessage(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()))
	sink := bus(t, s.ClientURL())
	must(t, sink.Send(t.Context(), charge(1, "plain")))
	plain := kept(t, in)[0]
	id := int64(1)
	for name, reference := range hostile {
		id++
		must(t, sink.Send(t.Context(), charge(id, reference)))
		messages := kept(t, in)
		if len(messages) != int(id) {
			t.Fatalf("%s: got %d messages, want %d", name, len(messages), id)
		}
		got := messages[id-1]
		read := reads(t, "ce-", heard(t, got.Header), got.Data)
		if want := representable(reference); read.Subject() != want || read.Type() != "ipn.CHARGE" || got.Subject != "ipn.events.CHARGE" {
			t.Errorf("%s: got subject %q, type %q on %q; want subject %q", name, read.Subject(), read.Type(), got.Subject, want)
		}
		for header := range got.Header {
			if _, known := plain.Header[header]; !known {
				t.Errorf("%s: made a header %q", name, header)
			}
		}
	}
}

func TestAMissingStreamIsToldWithTheCommandThatMakesIt(t *testing.T) {
	t.Parallel()
	s := broker(t)
	sink := bus(t, s.ClientURL())
	err := sink.Send(t.Context(), charge(1, "4711-secret"))
	says(t, err, "no stream takes ipn.events.CHARGE", "nats stream add", "--subjects 'ipn.events.>'")
	silent(t, err)
	stream(t, consumer(t, s.ClientURL()))
	must(t, sink.Send(t.Context(), charge(1, "4711-secret")))
}

func TestAStreamThatIsFullRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()), func(c *jetstream.StreamConfig) {
		c.MaxMsgs, c.Discard = 1, jetstream.DiscardNew
	})
	sink := bus(t, s.ClientURL())
	must(t, sink.Send(t.Context(), charge(1, "1000001")))
	err := sink.Send(t.Context(), charge(2, "4711-secret"))
	says(t, err, "the stream refused ipn.events.CHARGE", "maximum messages exceeded")
	silent(t, err)
	must(t, in.Purge(t.Context()))
	must(t, sink.Send(t.Context(), charge(2, "4711-secret")))
}

func TestAnEventThatIsTooLargeIsBuriedAtOnce(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		server, stream int32 // bytes
	}{
		"for the server": {512, -1},
		"for the stream": {4096, 512},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broker(t, func(o *server.Options) { o.MaxPayload = row.server })
			stream(t, consumer(t, s.ClientURL()), func(c *jetstream.StreamConfig) { c.MaxMsgSize = row.stream })
			err := bus(t, s.ClientURL()).Send(t.Context(), charge(1, "4711-secret"))
			says(t, err, "larger than ipn.events.CHARGE takes")
			silent(t, err)
			buries(t, err)
		})
	}
}

func TestAnAnswerThatDoesNotComeIsAnError(t *testing.T) {
	t.Parallel()
	s := broker(t)
	swallows(t, s.ClientURL())
	t.Run("when the time is over", func(t *testing.T) {
		sink := bus(t, s.ClientURL(), impatient)
		comesToSay(t, func() error { return sink.Send(t.Context(), charge(1, "4711-secret")) }, "did not say in time")
	})
	t.Run("when the caller goes", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, leave)
		if err := bus(t, s.ClientURL()).Send(ctx, charge(1, "1")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// swallows subscribes to the subject without a stream: somebody hears, nobody answers.
func swallows(t *testing.T, address string) {
	t.Helper()
	conn, err := nats.Connect(address)
	must(t, err)
	t.Cleanup(conn.Close)
	_, err = conn.Subscribe("ipn.events.>", func(*nats.Msg) {})
	must(t, err)
	must(t, conn.Flush())
}

func TestABrokerThatIsAwayFailsAtOnceAndOneThatIsBackGoesOn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := broker(t, func(o *server.Options) { o.StoreDir = folder })
	address := s.ClientURL()
	stream(t, consumer(t, address))
	sink := bus(t, address)
	must(t, sink.Send(t.Context(), charge(1, "1000001")))
	halt(s)
	eventually(t, "the connection is missed", func() error {
		if err := sink.Send(t.Context(), charge(2, "4711-secret")); err == nil {
			return errors.New("sent to a broker that is down")
		} else if errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("waited for a broker that is down: %v", err)
		}
		return nil
	})
	again := broker(t, func(o *server.Options) { o.StoreDir, o.Port = folder, port(t, address) })
	eventually(t, "the event goes through", func() error { return sink.Send(t.Context(), charge(2, "1000001")) })
	in, err := consumer(t, again.ClientURL()).Stream(t.Context(), "IPN")
	must(t, err)
	if messages := kept(t, in); len(messages) != 2 {
		t.Errorf("got %d messages, want 2", len(messages))
	}
}

func TestABrokerThatIsDownAtTheStartIsMetWhenItComes(t *testing.T) {
	t.Parallel()
	s := broker(t) // for a port that is free
	address := s.ClientURL()
	halt(s)
	sink := bus(t, address)
	comesToSay(t, func() error { return sink.Send(t.Context(), charge(1, "4711-secret")) }, "no connection")
	s = broker(t, func(o *server.Options) { o.Port = port(t, address) })
	in := stream(t, consumer(t, s.ClientURL()))
	eventually(t, "the event goes through", func() error { return sink.Send(t.Context(), charge(1, "1000001")) })
	if messages := kept(t, in); len(messages) != 1 {
		t.Errorf("got %d messages, want 1: a publish that failed was sent later", len(messages))
	}
}

func TestAClosedBusSendsNothing(t *testing.T) {
	t.Parallel()
	s := broker(t)
	in := stream(t, consumer(t, s.ClientURL()))
	used, unused := bus(t, s.ClientURL()), bus(t, s.ClientURL())
	must(t, used.Send(t.Context(), charge(1, "1000001")))
	for name, sink := range map[string]*publish.NATS{"used": used, "unused": unused} {
		sink.Close()
		if err := sink.Send(t.Context(), charge(2, "1000001")); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if messages := kept(t, in); len(messages) != 1 {
		t.Errorf("got %d messages, want 1", len(messages))
	}
}

func TestNATSAccess(t *testing.T) {
	t.Parallel()
	server1, client1 := certified(t)
	for name, row := range map[string]struct {
		server func(*server.Options)
		client func(*publish.NATSOptions)
		words  []string // of the error; none: it works
	}{
		"a user and the password open": {asks("maria", "secret"), knows("maria", "secret"), nil},
		"a wrong password does not":    {asks("maria", "secret"), knows("maria", "other"), []string{"no connection", "iolation"}},
		"a token opens": {
			func(o *server.Options) { o.Authorization = "t0ken" },
			func(o *publish.NATSOptions) { o.Token = secret.New("t0ken") }, nil,
		},
		"TLS by the authority that is trusted": {
			func(o *server.Options) { o.TLS, o.TLSConfig = true, server1 },
			func(o *publish.NATSOptions) { o.TLS = client1 }, nil,
		},
		"TLS by one that is not": {
			func(o *server.Options) { o.TLS, o.TLSConfig = true, server1 },
			func(o *publish.NATSOptions) {}, []string{"no connection", "certificate"},
		},
		"a user who may not publish": {
			func(o *server.Options) {
				o.Users = []*server.User{{Username: "maria", Password: "secret", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: []string{"ipn.>"}},
				}}}
			},
			func(o *publish.NATSOptions) { knows("maria", "secret")(o); impatient(o) }, []string{"let user publish to ipn.events.>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broker(t, row.server)
			sink := bus(t, s.ClientURL(), row.client)
			if len(row.words) == 0 {
				row.words = []string{"no stream takes"} // it got in
			}
			comesToSay(t, func() error { return sink.Send(t.Context(), charge(1, "4711-secret")) }, row.words...)
		})
	}
}

func asks(user, password string) func(*server.Options) {
	return func(o *server.Options) { o.Username, o.Password = user, password }
}

func knows(user, password string) func(*publish.NATSOptions) {
	return func(o *publish.NATSOptions) { o.Username, o.Password = user, secret.New(password) }
}

func TestNATSOptionsAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	good := publish.NATSOptions{Servers: []string{"nats://127.0.0.1:4222"}, Subject: "ipn.events"}
	for name, row := range map[string]struct {
		change func(*publish.NATSOptions)
		words  []string
	}{
		"no server":                 {func(o *publish.NATSOptions) { o.Servers = nil }, []string{"servers"}},
		"another protocol":          {func(o *publish.NATSOptions) { o.Servers = []string{"http://x"} }, []string{"servers[0]", "nats://"}},
		"a password in the address": {func(o *publish.NATSOptions) { o.Servers = []string{"nats://u:4711-secret@x"} }, []string{"servers[0]", "fields of its own"}},
		"no address at all":         {func(o *publish.NATSOptions) { o.Servers = []string{"nats://4711-secret\x7f@x"} }, []string{"servers[0]"}},
		"no subject":                {func(o *publish.NATSOptions) { o.Subject = "" }, []string{"subject"}},
		"a wildcard":                {func(o *publish.NATSOptions) { o.Subject = "ipn.>" }, []string{"subject"}},
		"the server's own subject":  {func(o *publish.NATSOptions) { o.Subject = "$JS.API" }, []string{"subject"}},
		"an empty word":             {func(o *publish.NATSOptions) { o.Subject = "ipn..events" }, []string{"subject"}},
		"a user without password":   {func(o *publish.NATSOptions) { o.Username = "maria" }, []string{"password together"}},
		"two ways in": {func(o *publish.NATSOptions) {
			o.Token = secret.New("4711-secret")
			o.CredentialsFile = "x"
		}, []string{"one of"}},
		"a file that is not there": {func(o *publish.NATSOptions) { o.CredentialsFile = "nowhere.creds" }, []string{"credentials file", "nowhere.creds"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := good
			row.change(&options)
			_, err := publish.NewNATS(options, cloudevent.Options{})
			says(t, err, row.words...)
			silent(t, err)
		})
	}
}

func TestPasswordsDoNotShowThemselves(t *testing.T) {
	t.Parallel()
	o := publish.KafkaOptions{SASL: publish.SASL{Password: secret.New("4711-secret")}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		silent(t, fmt.Errorf(verb, o))
	}
}

// port returns the port of a broker's address.
func port(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	var number int
	_, err = fmt.Sscan(u.Port(), &number)
	must(t, err)
	return number
}
