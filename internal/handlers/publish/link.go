package publish

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// A link is the life of the connection as the senders feel it. The answer to what was sent over a connection does not
// come over the next one: who waits for it is told at once, and not by the clock.
type link struct {
	mu    sync.Mutex
	life  context.Context
	end   context.CancelFunc
	cause error // why there is no connection, as far as known
}

func newLink() *link {
	l := new(link)
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// follow ends cancel together with the connection of now. Call stop when the answer is there.
func (l *link) follow(cancel context.CancelFunc) (life context.Context, stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.life, context.AfterFunc(l.life, cancel)
}

// lost is called by the client when a connection ends, and again when an attempt at the next one fails.
func (l *link) lost(_ *nats.Conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	l.life, l.end = context.WithCancel(context.Background())
	if err != nil {
		l.cause = err
	}
}

// trouble says why there is no connection.
func (l *link) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return l.cause
	}
	return errors.New("none of the servers answers")
}
