package main

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// ownNames lets through only what asks for a door by this machine's name or address, or by the host of the base URL. To a
// browser, a page whose host's name has been made to lead to this machine is of one origin with the doors, so that nothing
// else would keep it from having anything posted anywhere. The others are answered 421 (RFC 9110, section 15.5.20).
func ownNames(baseURL string, door http.Handler) http.Handler {
	base := ""
	if u, err := url.Parse(baseURL); err == nil {
		base = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := (&url.URL{Host: r.Host}).Hostname()
		if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() || strings.EqualFold(name, "localhost") || strings.EqualFold(name, base) {
			door.ServeHTTP(w, r)
			return
		}
		http.Error(w, "this door is reached as localhost or 127.0.0.1 only; for another name set --base-url, or --expose", http.StatusMisdirectedRequest)
	})
}
