package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
)

func TestANoticeIsPostedAsAFormAndSigned(t *testing.T) {
	w := start(t, delivery.Config{Key: func() []byte { return []byte("example-ipn-security-key-0001") }})
	w.send(charge("70010001", "21.00"))
	w.settle(t)

	got := w.receiver.requests()
	if len(got) != 1 {
		t.Fatalf("got %d requests, want 1", len(got))
	}
	want := "transactionType=CHARGE&firstName=Jos%C3%A9&referenceNumber=70010001&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&ipnId=5f0a3c1e-0000-4000-8000-000000000001"
	if got[0].method != http.MethodPost || string(got[0].body) != want {
		t.Errorf("got %s %s\nwant POST %s", got[0].method, got[0].body, want)
	}
	for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "paysim/1"} {
		if got[0].header.Get(name) != value {
			t.Errorf("%s: got %q, want %q", name, got[0].header.Get(name), value)
		}
	}
	if verdict := verify(t, got[0]); verdict.Result != ipn.Good || verdict.Stale {
		t.Errorf("the receiver's verdict is %+v", verdict)
	}
	d := w.deliveries()[0]
	if d.State != delivery.Delivered || len(d.Attempts) != 1 || string(d.Attempts[0].Body) != want || !d.Attempts[0].Acknowledged || d.Attempts[0].Status != http.StatusOK {
		t.Errorf("the history says %+v", d)
	}
}

// verify judges a request as the receiver does.
func verify(t *testing.T, q request) ipn.Verdict {
	t.Helper()
	secret, err := ipn.NewSecret("a", []byte("example-ipn-security-key-0001"))
	if err != nil {
		t.Fatal(err)
	}
	return ipn.Signature{Secrets: []ipn.Secret{secret}}.Verify(q.body, q.header.Values("X-IPN-Timestamp"), q.header.Values("X-IPN-Signature"), time.Now())
}

func TestWithoutAKeyNothingIsSigned(t *testing.T) {
	for name, key := range map[string]func() []byte{"none": nil, "one that is not there yet": func() []byte { return nil }} {
		t.Run(name, func(t *testing.T) {
			w := start(t, delivery.Config{Key: key})
			w.send(charge("1", "1.00"))
			w.settle(t)
			if header := w.receiver.requests()[0].header; header.Get("X-IPN-Signature") != "" || header.Get("X-IPN-Timestamp") != "" {
				t.Errorf("got %v", header)
			}
		})
	}
}

func TestTheHeadersHaveTheirNamesFromTheSettings(t *testing.T) {
	w := start(t, delivery.Config{Key: func() []byte { return []byte("k") }, SignatureHeader: "Signed", TimestampHeader: "Dated", UserAgent: "somebody"})
	w.send(charge("1", "1.00"))
	w.settle(t)
	header := w.receiver.requests()[0].header
	if len(header.Get("Signed")) != 64 || header.Get("Dated") == "" || header.Get("User-Agent") != "somebody" {
		t.Errorf("got %v", header)
	}
}

func TestNothingButA200Acknowledges(t *testing.T) {
	for _, status := range []int{201, 202, 204, 302, 307, 400, 401, 404, 413, 429, 500, 503} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w := start(t, delivery.Config{})
			w.receiver.answer(status)
			w.send(charge("1", "1.00"))
			w.settle(t)
			d := w.deliveries()[0]
			if d.State != delivery.Waiting || d.Attempts[0].Acknowledged || d.Attempts[0].Status != status || d.NextAt == nil {
				t.Errorf("got %+v", d)
			}
			if got := len(w.receiver.requests()); got != 1 {
				t.Errorf("got %d requests, want 1: a redirect is not followed", got)
			}
			w.passes(t, 4*time.Hour)
			if d := w.deliveries()[0]; d.State != delivery.Delivered || len(d.Attempts) != 2 || d.NextAt != nil {
				t.Errorf("after four hours: %+v", d)
			}
		})
	}
}

func TestAClientOfOnesOwnFollowsNoRedirectEither(t *testing.T) {
	w := start(t, delivery.Config{Client: &http.Client{Timeout: time.Minute}})
	w.receiver.answer(307)
	w.send(charge("1", "1.00"))
	w.settle(t)
	if got := len(w.receiver.requests()); got != 1 {
		t.Errorf("got %d requests, want 1", got)
	}
}

// roundTrip is a receiver inside a synctest bubble.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answerWith(status int) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}, nil
	}
}

func TestADeliveryIsTriedElevenTimesFourHoursApartAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := agenda.New(beginning, 1)
		sender := delivery.New(delivery.Config{Agenda: clock, Client: &http.Client{Transport: answerWith(503)}})
		run(t, sender)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go clock.Run(ctx)

		sender.Send("http://192.0.2.1/ipn", charge("1", "1.00"))
		time.Sleep(100 * time.Hour) // of the bubble
		synctest.Wait()

		d, _ := sender.Delivery(1)
		if len(d.Attempts) != 11 {
			t.Fatalf("got %d attempts, want 11", len(d.Attempts))
		}
		for i, a := range d.Attempts {
			if want := beginning.Add(time.Duration(i) * 4 * time.Hour); !a.At.Equal(want) || a.Number != i+1 {
				t.Errorf("attempt %d: number %d at %s, want %s", i+1, a.Number, a.At, want)
			}
		}
		if d.State != delivery.GivenUp || !strings.Contains(d.Note, "e-mail") || d.NextAt != nil {
			t.Errorf("got %s, %q, next at %v", d.State, d.Note, d.NextAt)
		}
		cancel()
	})
}

func TestOnlyTheOlderDefaultTypesAreTriedAgainIfSoSet(t *testing.T) {
	for transactionType, again := range map[string]bool{"CHARGE": true, "CHARGEBACK_STATUS_CHANGED": true, "PAYOUT": false, "UNDER_REVIEW": false} {
		t.Run(transactionType, func(t *testing.T) {
			w := start(t, delivery.Config{DefaultsOnly: true})
			w.receiver.answer(500)
			w.send(small(transactionType))
			w.settle(t)
			want := map[bool]delivery.State{true: delivery.Waiting, false: delivery.GivenUp}[again]
			if d := w.deliveries()[0]; d.State != want {
				t.Errorf("got %s (%s), want %s", d.State, d.Note, want)
			}
		})
	}
}

func TestAReceiverThatIsNotThereIsAFailedAttempt(t *testing.T) {
	w := start(t, delivery.Config{})
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	for _, url := range []string{nobody.URL, "http://user:secret@%zz", "nowhere"} {
		w.Send(url, charge("1", "1.00"))
	}
	w.settle(t)
	for _, d := range w.deliveries() {
		if d.State != delivery.Waiting || d.Attempts[0].Error == "" || strings.Contains(d.Attempts[0].Error, "secret") {
			t.Errorf("%s: got %s, %q", d.URL, d.State, d.Attempts[0].Error)
		}
	}
}

// endless is a body without an end that counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(into []byte) (int, error) {
	e.read.Add(int64(len(into)))
	if e.read.Load() > 1<<30 {
		return 0, io.EOF
	}
	return len(into), nil
}

func TestAnAnswerWithoutEndIsNotReadToItsEnd(t *testing.T) {
	body := &endless{}
	transport := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Header: http.Header{}}, nil
	})
	w := start(t, delivery.Config{Client: &http.Client{Transport: transport}})
	w.send(charge("1", "1.00"))
	w.settle(t)
	if d := w.deliveries()[0]; d.State != delivery.Delivered || body.read.Load() > 1<<20 {
		t.Errorf("%d bytes were read: %+v", body.read.Load(), d)
	}
}

func TestSixteenArePostedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flying atomic.Int64
		goOn := make(chan struct{})
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			flying.Add(1)
			<-goOn
			return answerWith(200)(nil)
		})
		sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1), Client: &http.Client{Transport: transport}})
		run(t, sender)
		for i := range 40 {
			sender.Send("http://192.0.2.1/ipn", charge(fmt.Sprint(i), "1.00"))
		}
		synctest.Wait()
		if got := flying.Load(); got != 16 {
			t.Errorf("got %d", got)
		}
		close(goOn)
		idle(t, sender)
	})
}

func TestIdleWaitsForWhatTheAgendaIsAboutToDo(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "delay", Delay: 90 * time.Minute})
	w.send(charge("1", "1.00"))
	w.settle(t)
	w.agenda.SetSpeed(agenda.Fastest)
	until(t, "the time of the attempt", func() bool { return w.agenda.Now().After(beginning.Add(2 * time.Hour)) })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Idle(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("idle with an attempt that is due: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go w.agenda.Run(ctx)
	w.settle(t)
	if len(w.receiver.requests()) != 1 {
		t.Error("idle before the attempt was made")
	}
}

func TestAReceiverThatDoesNotAnswerHoldsNeitherTheClockNorSendUp(t *testing.T) {
	asked, goOn := make(chan struct{}, 64), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-goOn
	}))
	defer slow.Close()
	w := start(t, delivery.Config{})
	for i := range 40 {
		w.agenda.After(time.Hour, func() { w.Send(slow.URL, charge(fmt.Sprint(i), "1.00")) })
	}
	w.agenda.Advance(2 * time.Hour)
	<-asked
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Idle(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("idle while 40 are on their way: %v", err)
	}
	close(goOn)
	w.settle(t)
	if got := len(w.Deliveries(delivery.Query{State: delivery.Delivered})); got != 40 {
		t.Errorf("got %d delivered, want 40", got)
	}
}

// Whoever waits until the sender is idle finds every notice posted and nothing in flight, whatever goes wrong.
func TestIdleIsExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var mu sync.Mutex
		flying, arrived := 0, 0
		count := func(f, a int) {
			mu.Lock()
			defer mu.Unlock()
			flying, arrived = flying+f, arrived+a
		}
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			count(1, 1)
			defer count(-1, 0)
			return answerWith(200)(nil)
		})
		clock := agenda.New(beginning, 1)
		sender := delivery.New(delivery.Config{Agenda: clock, Client: &http.Client{Transport: transport}, Seed: rapid.Uint64().Draw(r, "seed")})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go sender.Run(ctx)
		if err := sender.SetFaults([]delivery.Fault{{Name: "reorder", Probability: 0.5}, {Name: "duplicate", Every: 3}, {Name: "delay", Every: 4}}); err != nil {
			r.Fatal(err)
		}

		n := rapid.IntRange(0, 40).Draw(r, "notices")
		var senders sync.WaitGroup
		for i := range n {
			senders.Go(func() { sender.Send("http://192.0.2.1/ipn", charge(fmt.Sprint(i), "1.00")) })
		}
		senders.Wait()
		if err := sender.Idle(ctx); err != nil {
			r.Fatal(err)
		}
		mu.Lock()
		if flying != 0 || arrived != n-n/4+n/3-n/12 {
			r.Errorf("idle with %d in flight and %d of %d arrived", flying, arrived, n)
		}
		mu.Unlock()
		clock.Advance(time.Hour)
		if err := sender.Idle(ctx); err != nil {
			r.Fatal(err)
		}
		if waiting := sender.Deliveries(delivery.Query{State: delivery.Waiting}); len(waiting) != 0 {
			r.Errorf("%d are waiting after all", len(waiting))
		}
	})
}

func TestWhatRunDidNotBeginIsPostedByTheNextRun(t *testing.T) {
	receiver := listen(t)
	sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1)})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	sender.Send(receiver.URL, charge("1", "1.00"))
	sender.Run(ended)
	if len(receiver.requests()) != 0 {
		t.Fatal("posted without a context")
	}
	run(t, sender)
	idle(t, sender)
	if len(receiver.requests()) != 1 {
		t.Error("not posted")
	}
}
