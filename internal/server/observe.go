package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Observer writes one line for each request, and none with anything in it that a
// stranger typed: the route's pattern instead of the path, a method out of a
// closed set, a class instead of the peer's address; never a query, a body or a
// header's value.
type Observer struct {
	Log *zap.Logger
	// Route returns the pattern that matched, asked after the handler is done; ""
	// is logged as "other". nil uses http.Request.Pattern, which http.ServeMux sets,
	// and a chi router when Wrap is one of its own middlewares.
	Route func(*http.Request) string
	// Quiet are the routes logged at debug level while they succeed: those that
	// machines ask all day.
	Quiet []string
	// Proxy names the declared proxies. nil: there are none.
	Proxy func(netip.Addr) bool
}

// record is what one request gathers for its line.
type record struct {
	id     string
	mu     sync.Mutex // handlers may add fields from goroutines of their own
	fields []zap.Field
}

type recordKey struct{}

// LogField adds fields to the request's line. Outside of an Observer it does
// nothing. Values out of an IPN have no place here.
func LogField(ctx context.Context, fields ...zap.Field) {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.fields = append(rec.fields, fields...)
	}
}

// RequestID is what the answer's X-Request-Id says, so that a person can name a
// request to the operator; "" outside of an Observer.
func RequestID(ctx context.Context) string {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		return rec.id
	}
	return ""
}

// Wrap observes next: request id, one line, and a panic answered with an empty
// 500 and logged with its stack, without the value it was raised with, which may
// quote the data that caused it.
func (o *Observer) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &record{id: rand.Text()}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
		w.Header().Set("X-Request-Id", rec.id)
		answer := &answerWriter{ResponseWriter: w}
		start := time.Now()
		defer func() {
			raised := recover()
			cut := raised != nil && o.recovered(answer, rec, raised)
			o.line(r, rec, answer, time.Since(start))
			if cut {
				panic(http.ErrAbortHandler)
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

// recovered answers for a handler that panicked. It reports true when the
// connection must be cut instead: the handler asked for that, or its answer was
// begun and nobody may take it for whole.
func (o *Observer) recovered(w *answerWriter, rec *record, raised any) (cut bool) {
	if raised == http.ErrAbortHandler {
		return true
	}
	o.Log.Error("handler panicked",
		zap.String("requestId", rec.id), zap.String("kind", kindOf(raised)), zap.ByteString("stack", debug.Stack()))
	if w.status != 0 {
		return true
	}
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusInternalServerError)
	return false
}

func (o *Observer) line(r *http.Request, rec *record, w *answerWriter, took time.Duration) {
	route, status := o.route(r), w.status
	if status == 0 {
		status = http.StatusOK
	}
	level := zapcore.InfoLevel
	switch {
	case status >= http.StatusInternalServerError:
		level = zapcore.WarnLevel
	case slices.Contains(o.Quiet, route):
		level = zapcore.DebugLevel
	}
	entry := o.Log.Check(level, "request")
	if entry == nil {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	entry.Write(append([]zap.Field{
		zap.String("requestId", rec.id),
		zap.String("method", methodOf(r.Method)),
		zap.String("route", route),
		zap.Int("status", status),
		zap.Duration("took", took),
		zap.Int64("bytes", w.bytes),
		zap.String("peer", o.peerClass(r.RemoteAddr)),
	}, rec.fields...)...)
}

func (o *Observer) route(r *http.Request) string {
	pattern := r.Pattern
	if o.Route != nil {
		pattern = o.Route(r)
	}
	if pattern == "" {
		return "other"
	}
	return pattern
}

// peerClass tells how near the TCP peer is: unknown, proxy, loopback, private or
// public.
func (o *Observer) peerClass(remote string) string {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "unknown"
	}
	addr := peer.Addr().Unmap()
	switch {
	case o.Proxy != nil && o.Proxy(addr):
		return "proxy"
	case addr.IsLoopback():
		return "loopback"
	case addr.IsPrivate(), addr.IsLinkLocalUnicast():
		return "private"
	}
	return "public"
}

var knownMethods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true,
	http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true,
}

func methodOf(method string) string {
	if knownMethods[method] {
		return method
	}
	return "other"
}
