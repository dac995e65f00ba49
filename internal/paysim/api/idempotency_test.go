package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func TestARepeatedRequestIsAnsweredAsTheFirstWas(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	post := func(body, key string) said {
		return w.ask(t, http.MethodPost, "/services/2/transactions", body, "idempotency-key: "+key)
	}
	good, refused := charge("AUTH_CAPTURE", "10.00", ""), strings.Replace(charge("AUTH_CAPTURE", "10.00", ""), "4111111111111111", "4000000000000002", 1)
	first := post(good, "key-1")
	wants(t, "answer", post(good, "key-1").text, first.text)
	wants(t, "content type", post(good, "key-1").header.Get("Content-Type"), "application/json")
	wants(t, "transactions", len(w.service.Transactions()), 1)

	declined := post(refused, "key-2")
	again := post(refused, "key-2")
	wants(t, "answer to a refused card", again.text, declined.text)
	wants(t, "status", again.status, http.StatusBadRequest)
	wants(t, "transactions", len(w.service.Transactions()), 2)

	other := post(charge("AUTH_CAPTURE", "11.00", ""), "key-1")
	wants(t, "status of another request", other.status, http.StatusUnprocessableEntity)
	wants(t, "code", other.code(), "60101")
	wants(t, "code at another path", w.ask(t, http.MethodPost, "/services/2/tax-quote", good, "idempotency-key: key-1").code(), "60101")

	w.agenda.Advance(day)
	if post(good, "key-1").at("transactionId") == first.at("transactionId") {
		t.Error("a day later the key is still known")
	}
}

func TestAKeyIsShortAndPlain(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for key, code := range map[string]string{
		strings.Repeat("k", 64): "", strings.Repeat("k", 65): "60103", "a key": "60104", "k_1": "60104", "é": "60104",
	} {
		got := w.ask(t, http.MethodPost, "/services/2/tax-quote", aQuote, "idempotency-key: "+key)
		wants(t, "code of "+key, got.code(), code)
	}
}

func TestARequestThatStillRunsIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	running, goOn := make(chan struct{}), make(chan struct{})
	w.send = func(string, notice.Notice) { running <- struct{}{}; <-goOn }
	w.service.ReplaceConfiguration(paysim.Configuration{
		Destinations: []paysim.Destination{{URL: "https://hooks.example.com", Send: map[string]bool{"sendCharge": true}}},
	})
	post := func() said {
		return w.ask(t, http.MethodPost, "/services/2/transactions", charge("AUTH_CAPTURE", "10.00", ""), "idempotency-key: once")
	}
	first := make(chan said)
	go func() { first <- post() }()
	<-running
	meanwhile := post()
	close(goOn)
	wants(t, "status meanwhile", meanwhile.status, http.StatusConflict)
	wants(t, "code meanwhile", meanwhile.code(), "60102")
	wants(t, "answer afterwards", (<-first).text, post().text)
}
