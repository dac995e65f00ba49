package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// NATS publishes events to a JetStream stream. It is safe for concurrent use.
type NATS struct {
	options  NATSOptions
	envelope cloudevent.Options

	link *link

	once   sync.Once
	dialed chan struct{} // closed when the fields below are set
	conn   *nats.Conn
	stream jetstream.JetStream
	failed error
}

// NewNATS checks the options; errors name the field. It dials nothing: the first event does, so that a broker that is
// down holds up one handler and not the start.
func NewNATS(options NATSOptions, envelope cloudevent.Options) (*NATS, error) {
	if err := options.check(); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	return &NATS{options: options, envelope: envelope, link: newLink(), dialed: make(chan struct{})}, nil
}

// Send publishes one event and returns nil when the stream has stored it, or had it already. It returns within the
// timeout and the context, and at once while there is no connection. An error that leaves open whether the stream has
// the event is an error: sent again, the event is dropped there by its id. An event that the broker finds too large is
// refused for good ([dispatch.Permanent]).
func (n *NATS) Send(ctx context.Context, e *ipn.Stored) error {
	ctx, cancel := context.WithTimeout(ctx, n.options.Timeout)
	defer cancel()
	if err := n.connected(ctx); err != nil {
		return err
	}
	life, stop := n.link.follow(cancel)
	defer stop()
	message := n.message(e)
	_, err := n.stream.PublishMsg(ctx, message)
	switch {
	case err == nil:
		return nil
	case life.Err() != nil:
		return fmt.Errorf("nats: the connection was lost before the answer: %w", n.link.trouble())
	}
	return n.explain(message.Subject, err)
}

// Close ends the connection, and the sending of events that still wait for an answer. It waits for a first dial that is
// under way. Send fails afterwards.
func (n *NATS) Close() {
	n.once.Do(func() {
		n.failed = nats.ErrConnectionClosed
		close(n.dialed)
	})
	<-n.dialed
	if n.conn != nil {
		n.conn.Close()
	}
}

// connected waits for the first dial, the one time it takes place, and tells whether there is a connection now.
func (n *NATS) connected(ctx context.Context) error {
	n.once.Do(func() { go n.dial() })
	select {
	case <-n.dialed:
	case <-ctx.Done():
		return fmt.Errorf("nats: no connection yet: %w", ctx.Err())
	}
	switch {
	case n.failed != nil:
		return fmt.Errorf("nats: %w", n.failed)
	case n.conn.IsConnected():
		return nil
	case n.conn.IsClosed():
		return fmt.Errorf("nats: %w", nats.ErrConnectionClosed)
	}
	return fmt.Errorf("nats: no connection: %w", n.link.trouble())
}

func (n *NATS) dial() {
	defer close(n.dialed)
	options := append(n.options.dialling(), nats.DisconnectErrHandler(n.link.lost), nats.ReconnectErrHandler(n.link.lost))
	if n.conn, n.failed = nats.Connect(strings.Join(n.options.Servers, ","), options...); n.failed == nil {
		n.stream, n.failed = jetstream.New(n.conn)
	}
}

// message puts the event into headers and body. content-type is what CloudEvents libraries read; the binding's text
// wants the same under ce-datacontenttype, as any other attribute.
func (n *NATS) message(e *ipn.Stored) *nats.Msg {
	envelope := cloudevent.New(e, n.envelope)
	kind, _ := ipn.LookupType(e.Facts.TransactionType)
	message := nats.NewMsg(n.options.Subject + "." + kind.Label())
	message.Data = envelope.Data
	for _, h := range envelope.Headers(cloudevent.HTTPPrefix) {
		message.Header[h.Name] = []string{h.Value}
	}
	message.Header["ce-datacontenttype"] = []string{envelope.DataContentType}
	message.Header[jetstream.MsgIDHeader] = []string{envelope.ID}
	return message
}

// explain says what went wrong and what mends it.
func (n *NATS) explain(subject string, err error) error {
	var refused *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return tooLarge("nats", subject, err)
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("nats: no stream takes %s, or it has no leader now; make one: %s: %w", subject, n.command(), err)
	case errors.As(err, &refused):
		return fmt.Errorf("nats: the stream refused %s: %s (code %d)", subject, short(refused.Description), refused.ErrorCode)
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(n.conn.LastError(), nats.ErrPermissionViolation):
		return fmt.Errorf("nats: let user publish to %s.> and subscribe to _INBOX.>: %w", n.options.Subject, n.conn.LastError())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("nats: the stream did not say in time that it has %s: %w", subject, err)
	}
	return fmt.Errorf("nats: publish to %s: %w", subject, err)
}

// command is what makes a fitting stream by the broker's own tool.
func (n *NATS) command() string {
	return fmt.Sprintf("nats stream add IPN --subjects '%s.>' --storage file --replicas 3 --dupe-window %s --defaults",
		n.options.Subject, dupeWindow)
}

// dupeWindow is the server's default, written out: within it an event that is sent again is stored once.
const dupeWindow = 2 * time.Minute
