// Package api is the payment service's HTTP interface: paths, Basic authentication, JSON and XML
// bodies, error bodies and the idempotency key (specification sections 2, 4, 5, 7 and 9), around
// the rules of package paysim.
//
// Its one non-obvious decision is that it is strict where the real service is silent. A misspelt
// flag, a member of the wrong type or a request without a content type is refused: a simulator
// exists to find out what clients assume. Members that the interface may have and this service does
// not know are passed over, as a service that grows would.
//
// A request goes through serve (credentials, version, size), then, if it is a POST with a key,
// through once, then by its path and method to an operation, which reads a body, asks package
// paysim, and shows what came of it. Bodies and views are types of this package, written from the
// documents: the rules know no wire.
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

// Config says what the interface stands before. All but VersionHeader is needed; an empty password
// is a password, and whoever configures must see to it that there is a better one.
type Config struct {
	Service            *paysim.Service
	Agenda             *agenda.Agenda // by which idempotency keys are forgotten
	Username, Password string         // of the one API user (specification section 5)
	VersionHeader      string         // "" means service-version (specification section 9)
}

// door is the interface: what is behind it, and the paths. It keeps nothing of its own but the
// answers to idempotency keys.
type door struct {
	config  Config
	service *paysim.Service
	mux     *http.ServeMux
	kept    *keeper
	user    [sha256.Size]byte // digest of username:password, so that comparing takes the same time whatever is given
}

// operation does one thing that was asked for. An error that is a *paysim.Refusal is told to the
// caller as documented; any other is a fault of the simulator.
type operation func(r *request) (answer, error)

// New returns the handler of all paths below /services/2/ (specification section 4, and the further
// ones that are documented). What it does not know it answers as documented, too: 404 for a path,
// 405 for a method.
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
		replyError(w, r, withoutCode(http.StatusNotFound, "NOT_FOUND", "nothing is known at this path"))
	})
	return http.HandlerFunc(d.serve)
}

// path registers the operations of one path by method, with and without a slash at its end: the
// specification writes some of its paths with one, and clients differ. Another method is refused
// with 405 and code 85.
func (d *door) path(pattern string, methods map[string]operation) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		do, known := methods[r.Method]
		if !known {
			w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
			replyError(w, r, paysim.Refuse("85", "", ""))
			return
		}
		result, err := do(&request{r})
		reply(w, r, result, err)
	}
	d.mux.HandleFunc(pattern, handle)
	d.mux.HandleFunc(pattern+"/{$}", handle)
}

// versions are the values of the version header. Without the header the account's default holds,
// which is one of them (specification section 9: it is absent on most operations); they differ in
// nothing that this service has.
var versions = []string{"1.0", "2.0", "3.0"}

// serve lets the API user in, checks the version, bounds the body, and answers a repeated POST with
// what was answered first. Credentials come before all: a stranger learns nothing about paths, nor
// makes the service read.
func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	if !d.admits(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="API"`)
		writeJSON(w, http.StatusUnauthorized, unauthorized{"401", "the API credentials are missing or wrong", "UNAUTHORIZED"})
		return
	}
	if version := r.Header.Get(d.config.VersionHeader); version != "" && !slices.Contains(versions, version) {
		replyError(w, r, unknownVersion)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Method == http.MethodPost && r.Header.Get(keyHeader) != "" {
		d.once(w, r)
		return
	}
	d.mux.ServeHTTP(w, r)
}

// unknownVersion shares its code with the general failure; the name tells them apart.
var unknownVersion = &paysim.Refusal{
	Status: http.StatusBadRequest, Code: "10000", Name: "INVALID_API_VERSION", Description: "the versions are 1.0, 2.0 and 3.0",
}

// unauthorized is the body of a 401, which has a form of its own, in JSON whatever is accepted: a
// client that expects the usual list must find it out here.
type unauthorized struct {
	Code        string `json:"errorCode"`
	Description string `json:"errorDescription"`
	Name        string `json:"errorName"`
}

// admits reports whether the request shows the credentials (specification section 5), in constant
// time. The scheme is written in any case (RFC 9110 11.1), with exactly one space behind it. A name
// cannot have a colon in it (RFC 7617 2), a password can.
func (d *door) admits(r *http.Request) bool {
	username, password, ok := r.BasicAuth()
	given := sha256.Sum256([]byte(username + ":" + password))
	return subtle.ConstantTimeCompare(given[:], d.user[:]) == 1 && ok
}
