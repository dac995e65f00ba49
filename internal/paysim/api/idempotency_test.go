package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

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

// Two requests with one key, the second while the bank still thinks about the first; and a day of the simulated clock makes no
// difference: what runs is not forgotten, however old its key is.
func TestARequestThatStillRunsIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]time.Duration{"at once": 0, "a day later": day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			running, goOn := make(chan struct{}, 2), make(chan struct{})
			w.send = func(string, notice.Notice) { running <- struct{}{}; <-goOn }
			w.takesCharges()
			post := func() said {
				return w.ask(t, http.MethodPost, "/services/2/transactions", charge("AUTH_CAPTURE", "10.00", ""), "idempotency-key: once")
			}
			first := make(chan said)
			go func() { first <- post() }()
			<-running
			w.agenda.Advance(age)
			meanwhile := post()
			close(goOn)
			wants(t, "status meanwhile", meanwhile.status, http.StatusConflict)
			wants(t, "code meanwhile", meanwhile.code(), "60102")
			wants(t, "the answer afterwards is the first one's", (<-first).text == post().text, age == 0)
		})
	}
}

// Whoever comes second may be told that the first still runs, but of a charge under one key there is one.
func TestOfRequestsAtOnceWithOneKeyOneIsDone(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	answers := make(chan said, 8)
	for range cap(answers) {
		go func() {
			answers <- w.ask(t, http.MethodPost, "/services/2/transactions", charge("AUTH_CAPTURE", "10.00", ""), "idempotency-key: once")
		}()
	}
	done := map[string]bool{}
	for range cap(answers) {
		if got := <-answers; got.status == http.StatusOK {
			done[got.text] = true
		} else {
			wants(t, "code", got.code(), "60102")
		}
	}
	wants(t, "different answers", len(done), 1)
	wants(t, "transactions", len(w.service.Transactions()), 1)
}

// takesCharges configures a destination for the IPNs of charges.
func (w *wire) takesCharges() {
	w.service.ReplaceConfiguration(paysim.Configuration{
		Destinations: []paysim.Destination{{URL: "https://hooks.example.com", Send: map[string]bool{"sendCharge": true}}},
	})
}

// A request that died has perhaps moved money: the caller who sends it again must neither hear for a day that it still runs,
// nor move it twice.
func TestARequestThatDiedIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.send = func(string, notice.Notice) { panic(http.ErrAbortHandler) } // the server cuts the connection, and is silent about it
	w.takesCharges()
	body := charge("AUTH_CAPTURE", "10.00", "")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/services/2/transactions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("merchant", "pass:word")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "once")
	r.GetBody = nil // else the client would send it again by itself
	if response, err := http.DefaultClient.Do(r); err == nil {
		_ = response.Body.Close()
		t.Fatalf("answered %d", response.StatusCode)
	}
	again := w.ask(t, http.MethodPost, "/services/2/transactions", body, "idempotency-key: once")
	wants(t, "status of "+again.text, again.status, http.StatusInternalServerError)
	wants(t, "code", again.code(), "10000")
	wants(t, "transactions", len(w.service.Transactions()), 1)
}
