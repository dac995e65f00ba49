package delivery_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func TestABurstKeepsItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var arrivals []time.Duration
		begun := time.Now()
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			arrivals = append(arrivals, time.Since(begun))
			return answerWith(200)(nil)
		})
		sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1), Client: &http.Client{Transport: transport}})
		run(t, sender)
		sender.Burst("http://192.0.2.1/ipn", func(i int) notice.Notice { return charge(fmt.Sprint(i), "1.00") }, 4, 10)
		idle(t, sender)

		want := "[0s 250ms 500ms 750ms 1s 1.25s 1.5s 1.75s 2s 2.25s]"
		if got := fmt.Sprint(arrivals); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		for i, d := range sender.Deliveries(delivery.Query{Oldest: true}) {
			if d.Notice.Get("referenceNumber") != fmt.Sprint(i) || d.Origin != "burst" || d.Attempts[0].Faults[0] != "burst" {
				t.Errorf("%d: got %+v", i, d)
			}
		}
	})
}

// Whatever a burst is asked for, no more of it is made than the receiver can take soon.
func TestABurstWaitsForAReceiverThatCannotKeepUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			<-goOn
			return answerWith(200)(nil)
		})
		sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1), Client: &http.Client{Transport: transport}})
		run(t, sender)
		var made atomic.Int64
		sender.Burst("http://192.0.2.1/ipn", func(i int) notice.Notice {
			made.Add(1)
			return charge(fmt.Sprint(i), "1.00")
		}, 0, 5000)
		synctest.Wait()
		if got := made.Load(); got > 1100 {
			t.Errorf("%d were made while nothing was answered", got)
		}
		close(goOn)
		idle(t, sender)
		if got := sender.Totals()[0].Acknowledged.Count; got != 5000 {
			t.Errorf("%d arrived, want 5000", got)
		}
	})
}

func TestSamplesCountUpSoThatNoTwoHaveOneReference(t *testing.T) {
	sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1)})
	reference := func() int {
		n, err := strconv.Atoi(sender.Sample("CHARGE").Get("referenceNumber"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if first, second := reference(), reference(); second != first+1 {
		t.Errorf("got %d, then %d", first, second)
	}
}

func TestSamplesDifferAndHaveTheNodeFieldOfTheSettings(t *testing.T) {
	sender := delivery.New(delivery.Config{Agenda: agenda.New(beginning, 1), NodeField: "dataCentre"})
	first, second := sender.Sample("CHARGE"), sender.Sample("CHARGE")
	if first.Type != "CHARGE" || first.Get("dataCentre") == "" || string(first.Encode()) == string(second.Encode()) {
		t.Errorf("got %+v", first)
	}
}

func TestABurstAddsSamplesOfTheType(t *testing.T) {
	w, original := misbehave(t, delivery.Fault{Name: "burst", PerSecond: 500, Delay: 100 * time.Millisecond})
	all := w.deliveries()
	if len(all) != 51 || len(w.receiver.requests()) != 51 || original.Origin != "" {
		t.Fatalf("got %d deliveries and %d requests, want 51", len(all), len(w.receiver.requests()))
	}
	seen := map[string]bool{}
	for _, d := range all[1:] {
		hasFaults(t, d.Attempts[0], "burst")
		seen[string(d.Attempts[0].Body)] = true
		if d.Type != "CHARGE" || d.Origin != "burst" {
			t.Errorf("got %+v", d)
		}
	}
	if len(seen) != 50 {
		t.Errorf("only %d of 50 differ", len(seen))
	}
}

func TestABurstThatStrikesAddsAtLeastOne(t *testing.T) {
	w, _ := misbehave(t, delivery.Fault{Name: "burst", PerSecond: 0.5})
	if got := len(w.deliveries()); got != 2 {
		t.Errorf("got %d deliveries, want the notice and one more", got)
	}
}

// A burst plays by the clock of the world: how many samples it has made by then must not change what goes wrong next.
func TestSamplesDoNotChangeWhatGoesWrong(t *testing.T) {
	play := func(samples int) string {
		w := start(t, delivery.Config{Seed: 7})
		w.setFaults(t, delivery.Fault{Name: "old-timestamp", Probability: 0.5})
		for range samples {
			w.Sample("CHARGE")
		}
		for range 64 {
			w.send(small("CHARGE"))
		}
		w.settle(t)
		return struck(w)
	}
	if none, three := play(0), play(3); none != three {
		t.Errorf("got %s, and after three samples %s", none, three)
	}
}
