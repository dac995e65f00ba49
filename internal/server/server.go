package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// The times a connection is given. A genuine IPN is a few kilobytes sent by a
// machine: it needs none of them.
const (
	readHeaderTimeout = 2 * time.Second
	readTimeout       = 5 * time.Second
	idleTimeout       = 30 * time.Second
	writeTimeout      = 30 * time.Second // of a door that names none

	// net/http reads up to 4 KiB more than MaxHeaderBytes before it answers 431.
	maxHeaderBytes = 16<<10 - 4<<10
	maxHeaderCount = 100
)

// DefaultDrainTimeout is the time from the first signal to the end, DrainDelay
// included: what is still in flight then is cut.
const DefaultDrainTimeout = 10 * time.Second

// ErrCut is returned by Server.Run when requests in flight were cut, by a second
// signal or because DrainTimeout was over. Nothing that was acknowledged is
// lost; who was cut got no answer and sends again.
var ErrCut = errors.New("requests in flight were cut")

// Door is one listener and who answers there.
type Door struct {
	Name     string // in errors, logs and metrics: "public", "private"
	Listener *Listener
	Handler  http.Handler
	// WriteTimeout is the time from the end of a request's headers to the end of
	// its answer: the longest hold and then some. Zero means 30 seconds.
	WriteTimeout time.Duration
}

// Server serves its doors together: when one fails, all are closed.
type Server struct {
	// Doors close in this order at the end, so the one that answers for readiness
	// comes last.
	Doors []Door
	Log   *zap.Logger // nil logs nothing
	// Health is told first when the end begins. nil: nobody is told.
	Health *Health
	// DrainDelay is how long everything is still served after readiness is gone,
	// for balancers that need a probe or two to see it. It is a part of DrainTimeout.
	DrainDelay time.Duration
	// DrainTimeout bounds the whole end. Zero means DefaultDrainTimeout.
	DrainTimeout time.Duration

	draining atomic.Bool
}

// Run serves until ctx ends, then drains and returns nil, or ErrCut when
// something had to be cut. Requests do not see ctx end: an IPN being recorded is
// recorded. Closing stopNow (a second signal) ends everything at once; nil never
// does. A door that fails ends the others at once, and its error is returned.
// Listeners are closed in every case. Run may be called once.
func (s *Server) Run(ctx context.Context, stopNow <-chan struct{}) error {
	if s.Log == nil {
		s.Log = zap.NewNop()
	}
	servers := make([]*http.Server, len(s.Doors))
	failed := make(chan error, len(s.Doors))
	for i, door := range s.Doors {
		servers[i] = s.newHTTPServer(door)
		go func() { failed <- serve(servers[i], door) }()
	}

	running := len(servers)
	var err error
	select {
	case err = <-failed:
		running--
		closeAll(servers)
	case <-ctx.Done():
		err = s.drain(servers, stopNow)
	}
	for ; running > 0; running-- {
		err = errors.Join(err, <-failed)
	}
	return err
}

// serve returns nil when the door was closed on purpose.
func serve(server *http.Server, door Door) error {
	err := server.Serve(door.Listener)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the %s door: %w", door.Name, err)
}

func (s *Server) newHTTPServer(door Door) *http.Server {
	write := door.WriteTimeout
	if write == 0 {
		write = writeTimeout
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      s.guard(door.Handler),
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is for the handler to refuse
		ReadHeaderTimeout:            readHeaderTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 write,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		Protocols:                    &protocols,
		ErrorLog:                     newErrorLog(s.Log.Named(door.Name)),
	}
}

// guard is what every request passes, whatever its handler does.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A length beside chunked framing is how requests are smuggled (RFC 9112,
		// 6.1), and net/http removes the length it saw: so no chunked request is
		// followed by another on its connection.
		if len(r.TransferEncoding) > 0 || s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		if status := refusal(r); status != 0 {
			w.Header().Set("Connection", "close")
			w.WriteHeader(status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal is the status for what net/http lets through and no handler shall see,
// or 0: the preface of HTTP/2 in the clear, and headers without number.
func refusal(r *http.Request) int {
	switch {
	case r.ProtoMajor != 1:
		return http.StatusHTTPVersionNotSupported
	case headerCount(r.Header) > maxHeaderCount:
		return http.StatusRequestHeaderFieldsTooLarge
	}
	return 0
}

func headerCount(header http.Header) int {
	n := 0
	for _, values := range header {
		n += len(values)
	}
	return n
}
