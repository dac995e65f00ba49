package server

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// LoopbackNames lets through only what asks for this machine as localhost or by an address of loopback; others are answered
// 421 (RFC 9110 15.5.20). It stands before a door that asks nobody who they are: to a browser, a page whose host's name was made to
// lead to this machine is of one origin with the door, and could read all that is behind it.
func LoopbackNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := (&url.URL{Host: r.Host}).Hostname()
		ip, err := netip.ParseAddr(name)
		if strings.EqualFold(name, "localhost") || err == nil && ip.Unmap().IsLoopback() {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = io.WriteString(w, `{"title":"Misdirected Request","status":421,"detail":"this door asks nobody who they are, so it answers to localhost and 127.0.0.1 only; set IPN_TOKENS_FILE or IPN_API_TOKEN_FILE to reach it by another name"}`+"\n")
	})
}
