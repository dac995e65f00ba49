package server

import (
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// answerWriter remembers what was answered. Unwrap keeps http.ResponseController
// working behind it.
type answerWriter struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64
}

// Unwrap implements what http.ResponseController asks for.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter; the informational 1xx are not the answer.
func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// kindOf is the type of a panic's value, and the text of those the runtime
// raised itself (nil map, index out of range), which quote no data but numbers.
func kindOf(raised any) string {
	if err, ok := raised.(interface {
		error
		RuntimeError()
	}); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", raised)
}

// privateHeaders are for pages that show what shoppers typed: nothing is loaded
// from elsewhere, framed, sniffed, cached or told to other sites.
var privateHeaders = [][2]string{
	{"Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
	{"Vary", "Authorization, Cookie"},
}

// PrivateHeaders sets the security headers of the private door. A handler may
// replace one, as a static file does with Cache-Control.
func PrivateHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range privateHeaders {
			w.Header().Set(h[0], h[1])
		}
		next.ServeHTTP(w, r)
	})
}

// newErrorLog takes what net/http has to say about connections: at debug level,
// as strangers cause most of it, but for sockets that cannot be accepted, which
// an operator must mend. Of each message at most ten a second are kept.
func newErrorLog(to *zap.Logger) *log.Logger {
	sampled := to.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, 10, 0)
	}))
	return log.New(errorWriter{sampled}, "", 0)
}

type errorWriter struct{ to *zap.Logger }

func (w errorWriter) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "http: Accept error") {
		w.to.Warn("connections cannot be accepted; raise the limit of file descriptors if it is too low", zap.String("cause", text))
	} else {
		w.to.Debug("connection trouble", zap.String("cause", text))
	}
	return len(line), nil
}
