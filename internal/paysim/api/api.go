// Package api is the payment service's HTTP interface: paths, Basic authentication, JSON and XML bodies, error bodies and
// the idempotency key (specification sections 2, 4, 5, 7 and 9), around the rules of package paysim.
//
// Its one non-obvious decision is that it is strict where the real service is silent. A misspelt flag, a member of the wrong
// type or a request without a content type is refused: a simulator exists to find out what clients assume.
package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
)

// Config says what the interface stands before.
type Config struct {
	Service            *paysim.Service
	Agenda             *agenda.Agenda // by which idempotency keys are forgotten
	Username, Password string         // of the one API user
	VersionHeader      string         // "" means service-version
}

// door is the interface: what is behind it, and the paths.
type door struct {
	config  Config
	service *paysim.Service
	mux     *http.ServeMux
	kept    *keeper
	user    [sha256.Size]byte // digest of username:password
}

// operation does one thing that was asked for. An error that is a *paysim.Refusal is told to the caller as documented.
type operation func(r *request) (answer, error)

// New returns the handler of all paths below /services/2/.
func New(c Config) http.Handler {
	if c.VersionHeader == "" {
		c.VersionHeader = "service-version"
	}
	d := &door{
		config: c, service: c.Service, mux: http.NewServeMux(), kept: newKeeper(c.Agenda.Now),
		user: sha256.Sum256([]byte(c.Username + ":" + c.Password)),
	}
	d.registerQuotes()
	d.registerTransactions()
	d.registerRefunds()
	d.registerConfiguration()
	d.registerSubscriptions()
	d.registerTransfers()
	d.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		d.reply(w, r, answer{}, refusal(http.StatusNotFound, "", "NOT_FOUND", "nothing is known at this path"))
	})
	return http.HandlerFunc(d.serve)
}

// path registers the operations of one path by method, with and without a slash at its end.
func (d *door) path(pattern string, methods map[string]operation) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		do, known := methods[r.Method]
		if !known {
			w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
			d.reply(w, r, answer{}, refusal(http.StatusMethodNotAllowed, "85", "INVALID_HTTP_METHOD", "this path does not know "+r.Method))
			return
		}
		result, err := do(&request{Request: r, writer: w})
		d.reply(w, r, result, err)
	}
	d.mux.HandleFunc(pattern, handle)
	d.mux.HandleFunc(pattern+"/{$}", handle)
}

// serve lets the API user in, checks the version, and answers a repeated POST with what was answered first.
func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	if !d.admits(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="API"`)
		writeJSON(w, http.StatusUnauthorized, unauthorized{"401", "the API credentials are missing or wrong", "UNAUTHORIZED"})
		return
	}
	if version := r.Header.Get(d.config.VersionHeader); version != "" && !slices.Contains([]string{"1.0", "2.0", "3.0"}, version) {
		d.reply(w, r, answer{}, refusal(http.StatusBadRequest, "10000", "INVALID_API_VERSION", "the versions are 1.0, 2.0 and 3.0"))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Method == http.MethodPost && r.Header.Get(keyHeader) != "" {
		d.once(w, r)
		return
	}
	d.mux.ServeHTTP(w, r)
}

// unauthorized is the body of a 401, which has a form of its own.
type unauthorized struct {
	Code        string `json:"errorCode"`
	Description string `json:"errorDescription"`
	Name        string `json:"errorName"`
}

// admits reports whether the request shows the credentials, in constant time. The scheme is written in any case
// (RFC 9110 11.1), with exactly one space behind it.
func (d *door) admits(r *http.Request) bool {
	username, password, ok := r.BasicAuth()
	given := sha256.Sum256([]byte(username + ":" + password))
	return subtle.ConstantTimeCompare(given[:], d.user[:]) == 1 && ok
}
