package delivery_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
)

var key = func() []byte { return []byte("example-ipn-security-key-0001") }

// misbehave sends a notice to a receiver with faults, and returns the one delivery it was.
func misbehave(t *testing.T, faults ...delivery.Fault) (*world, delivery.Delivery) {
	t.Helper()
	w := start(t, delivery.Config{Key: key})
	w.setFaults(t, faults...)
	w.send(charge("70010001", "21.00"))
	w.settle(t)
	return w, w.first()
}

func (w *world) first() delivery.Delivery {
	d, _ := w.Delivery(1)
	return d
}

func hasFaults(t *testing.T, a delivery.Attempt, want ...string) {
	t.Helper()
	if !slices.Equal(a.Faults, want) {
		t.Errorf("attempt %d: faults %q, want %q", a.Number, a.Faults, want)
	}
}

func TestADuplicateIsTheSameRequestTwice(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "duplicate"})
	got := w.receiver.requests()
	if len(got) != 2 || string(got[0].body) != string(got[1].body) || got[0].header.Get("X-IPN-Signature") != got[1].header.Get("X-IPN-Signature") {
		t.Fatalf("got %+v", got)
	}
	if len(d.Attempts) != 2 || d.Attempts[1].Number != 1 || d.State != delivery.Delivered {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0])
	hasFaults(t, d.Attempts[1], "duplicate")
}

func TestADuplicateArrivesAlsoWhereTheOriginalIsLost(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "duplicate"}, delivery.Fault{Name: "lose-request"}, delivery.Fault{Name: "old-timestamp"})
	if len(w.receiver.requests()) != 1 || d.State != delivery.Delivered || d.Attempts[0].Acknowledged || !d.Attempts[1].Acknowledged {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0], "lose-request", "old-timestamp")
	hasFaults(t, d.Attempts[1], "old-timestamp", "duplicate")
}

func TestReorderLetsLaterNoticesOvertake(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "reorder", Times: 2})
	for i := range 3 {
		w.send(small(fmt.Sprint("N", i+1)))
	}
	until(t, "the overtaking", func() bool { return len(w.receiver.requests()) == 3 })
	w.settle(t)
	if got := w.receiver.bodies(); !strings.Contains(got[0], "N3") {
		t.Errorf("got %q first", got[0])
	}
	for i, d := range w.deliveries() {
		hasFaults(t, d.Attempts[0], [][]string{{"reorder"}, {"reorder"}, nil}[i]...)
	}
}

func TestWhatNothingOvertakesIsSentInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := agenda.New(beginning, 1)
		sender := delivery.New(delivery.Config{Agenda: clock, Client: &http.Client{Transport: answerWith(200)}})
		run(t, sender)
		if err := sender.SetFaults([]delivery.Fault{{Name: "reorder", Delay: 5 * time.Minute}}); err != nil {
			t.Fatal(err)
		}
		sender.Send("http://192.0.2.1/ipn", charge("1", "1.00"))
		for _, minutes := range []struct {
			pass time.Duration
			want delivery.State
		}{{4, delivery.Waiting}, {1, delivery.Delivered}} {
			clock.Advance(minutes.pass * time.Minute)
			synctest.Wait()
			if d, _ := sender.Delivery(1); d.State != minutes.want {
				t.Errorf("%d minutes further: got %s, want %s", minutes.pass, d.State, minutes.want)
			}
		}
	})
}

func TestWhatNothingOvertakesOvertakesItsLike(t *testing.T) {
	w := start(t, delivery.Config{})
	goOn := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-goOn }))
	defer slow.Close()
	for i := range 15 { // so that the rest is posted one by one
		w.Send(slow.URL, charge(fmt.Sprint(i), "1.00"))
	}
	w.setFaults(t, delivery.Fault{Name: "reorder"})
	for i := range 3 {
		w.send(small(fmt.Sprint("N", i+1)))
	}
	w.agenda.Advance(time.Minute)
	until(t, "the posts", func() bool { return len(w.receiver.requests()) == 3 })
	for i, body := range w.receiver.bodies() {
		if want := fmt.Sprint("N", 3-i); !strings.Contains(body, want) {
			t.Errorf("post %d: got %q, want %s", i, body, want)
		}
	}
	close(goOn)
	w.settle(t)
}

func TestWhoWaitsForNothingToBeOnItsWayDoesNotWaitForWhatIsHeldBack(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "reorder", Delay: 100 * time.Hour})
	if d.State != delivery.Delivered || len(w.receiver.requests()) != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestADelayedAttemptIsMadeLater(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "delay", Delay: 90 * time.Minute, Times: 1})
	if len(w.receiver.requests()) != 0 || d.NextAt == nil || d.NextAt.Sub(d.CreatedAt) < 90*time.Minute {
		t.Fatalf("got %+v", d)
	}
	w.passes(t, 90*time.Minute)
	d = w.first()
	if d.State != delivery.Delivered || d.Attempts[0].At.Sub(d.CreatedAt) < 90*time.Minute {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0], "delay")
}

// Both names stand in the history, and so both must have done something.
func TestADelayedAttemptIsThenHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrived []string
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			arrived = append(arrived, string(body))
			return &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}}, err
		})
		clock := agenda.New(beginning, 1)
		sender := delivery.New(delivery.Config{Agenda: clock, Client: &http.Client{Transport: transport}})
		run(t, sender)
		faults := []delivery.Fault{{Name: "delay", Times: 1}, {Name: "reorder", Times: 1}}
		if err := sender.SetFaults(faults); err != nil {
			t.Fatal(err)
		}
		sender.Send("http://192.0.2.1/ipn", small("N1"))
		clock.Advance(time.Hour)
		synctest.Wait()
		if len(arrived) != 0 {
			t.Fatalf("got %q before anything could overtake", arrived)
		}
		sender.Send("http://192.0.2.1/ipn", small("N2"))
		synctest.Wait()
		if len(arrived) != 2 || !strings.Contains(arrived[0], "N2") {
			t.Errorf("got %q, want N2 and then N1", arrived)
		}
		d, _ := sender.Delivery(1)
		hasFaults(t, d.Attempts[0], "delay", "reorder")
	})
}

func TestALostRequestIsAFailedAttemptThatNobodySaw(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "lose-request", Times: 1})
	if len(w.receiver.requests()) != 0 || d.State != delivery.Waiting || d.Attempts[0].Status != 0 || d.Attempts[0].Error == "" {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0], "lose-request")
	w.passes(t, 4*time.Hour)
	if d := w.first(); d.State != delivery.Delivered || len(d.Attempts) != 2 || d.Attempts[1].Faults != nil {
		t.Errorf("got %+v", d)
	}
}

func TestAnIPNWhoseAnswerIsLostComesAgain(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "lose-answer", Times: 1})
	if d.State != delivery.Waiting || d.Attempts[0].Status != 200 || d.Attempts[0].Acknowledged || d.Attempts[0].Error == "" {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0], "lose-answer")
	w.passes(t, 4*time.Hour)
	if got := w.receiver.bodies(); len(got) != 2 || got[0] != got[1] {
		t.Errorf("got %q", got)
	}
}

func TestAFieldIsChangedOnResendsOnly(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "change-field"})
	w.receiver.answer(500, 500)
	w.send(charge("70010001", "21.00"))
	w.settle(t)
	w.passes(t, 4*time.Hour)
	w.passes(t, 4*time.Hour)

	d := w.first()
	if len(d.Attempts) != 3 {
		t.Fatalf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0])
	var seen []string
	for i, a := range d.Attempts {
		if string(a.Body) != w.receiver.bodies()[i] {
			t.Errorf("the history has another body than the receiver: %s", a.Body)
		}
		seen = append(seen, formOf(t, a).Get("referrer"), formOf(t, a).Get("ipnId"))
		if i > 0 {
			hasFaults(t, a, "change-field")
		}
	}
	if seen[0] != "" || !strings.HasPrefix(seen[2], "changed") || seen[2] == seen[4] || seen[1] == seen[3] || seen[3] == seen[5] {
		t.Errorf("got %q", seen)
	}
	if formOf(t, d.Attempts[2]).Get("invoiceChargeAmount") != "21.00" {
		t.Error("the amount is another")
	}
}

func TestTheFieldThatIsChangedMayBeGiven(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "change-field", Field: "invoiceChargeAmount", Value: "99.00"})
	w.receiver.answer(500)
	w.send(charge("1", "21.00"))
	w.settle(t)
	w.passes(t, 4*time.Hour)
	if got := formOf(t, w.first().Attempts[1]).Get("invoiceChargeAmount"); got != "99.00" {
		t.Errorf("got %q", got)
	}
	compare(t, lines(w.Totals()), []string{"EUR CHARGE 1/21.00/0.00 1/21.00/0.00 1/21.00/0.00"})
}

func formOf(t *testing.T, a delivery.Attempt) url.Values {
	t.Helper()
	form, err := url.ParseQuery(string(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	return form
}

func TestABadSignatureIsOfAnotherKey(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "bad-signature"})
	if verdict := verify(t, w.receiver.requests()[0]); verdict.Result != ipn.Mismatch {
		t.Errorf("got %+v", verdict)
	}
	hasFaults(t, d.Attempts[0], "bad-signature")
}

func TestAnOldTimestampHasAGoodSignature(t *testing.T) {
	for name, row := range map[string]struct {
		delay time.Duration
		hours int
	}{"by default": {0, 100}, "as old as asked for": {80 * time.Hour, 80}} {
		t.Run(name, func(t *testing.T) {
			w, d := misbehave(t, delivery.Fault{Name: "old-timestamp", Delay: row.delay})
			verdict := verify(t, w.receiver.requests()[0])
			if verdict.Result != ipn.Good || !verdict.Stale || int(verdict.Age.Hours()) != row.hours {
				t.Errorf("got %+v", verdict)
			}
			hasFaults(t, d.Attempts[0], "old-timestamp")
		})
	}
}

func TestTheWrongCharsetIsWindows1252(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "wrong-charset"})
	got := w.receiver.requests()[0]
	if !strings.Contains(string(got.body), "firstName=Jos%E9&") || string(d.Attempts[0].Body) != string(got.body) {
		t.Errorf("got %s", got.body)
	}
	if verdict := verify(t, got); verdict.Result != ipn.Good {
		t.Errorf("got %+v", verdict)
	}
	hasFaults(t, d.Attempts[0], "wrong-charset")
}

func TestACutBodyDeclaresTheWhole(t *testing.T) {
	w, d := misbehave(t, delivery.Fault{Name: "cut-body", Times: 1})
	until(t, "the hanging up", func() bool { return len(w.receiver.requests()) == 1 })
	got, whole := w.receiver.requests()[0], len(d.Attempts[0].Body)
	if got.whole || got.declared != int64(whole) || len(got.body) != whole/2 {
		t.Errorf("the receiver got %d of %d declared bytes, whole: %t; sent %d", len(got.body), got.declared, got.whole, whole)
	}
	if d.State != delivery.Waiting || d.Attempts[0].Status != 0 || d.Attempts[0].Error == "" {
		t.Errorf("got %+v", d)
	}
	hasFaults(t, d.Attempts[0], "cut-body")
	w.passes(t, 4*time.Hour)
	if w.first().State != delivery.Delivered {
		t.Error("it does not come again")
	}
}

func TestAnUnknownTypeIsAnotherNotice(t *testing.T) {
	w, original := misbehave(t, delivery.Fault{Name: "unknown-type", Value: "LOYALTY_POINTS"})
	all := w.deliveries()
	if len(all) != 2 || len(w.receiver.requests()) != 2 {
		t.Fatalf("got %+v", all)
	}
	hasFaults(t, original.Attempts[0])
	added := all[1]
	if added.Type != "LOYALTY_POINTS" || added.Origin != "unknown-type" || added.Notice.Get("transactionType") != "LOYALTY_POINTS" || added.Notice.Get("ipnId") == original.Notice.Get("ipnId") {
		t.Errorf("got %+v", added)
	}
	hasFaults(t, added.Attempts[0], "unknown-type")
}

func TestARuleSaysWhichTypesAndHowOften(t *testing.T) {
	for name, row := range map[string]struct {
		fault delivery.Fault
		want  string // of CHARGE, REFUND, CHARGE, REFUND, ...
	}{
		"each":                  {delivery.Fault{}, "xxxxxxxx"},
		"every third":           {delivery.Fault{Every: 3}, "..x..x.."},
		"twice at most":         {delivery.Fault{Times: 2}, "xx......"},
		"every second, once":    {delivery.Fault{Every: 2, Times: 1}, ".x......"},
		"one type":              {delivery.Fault{Types: []string{"REFUND", "PAYOUT"}}, ".x.x.x.x"},
		"every second of one":   {delivery.Fault{Types: []string{"REFUND"}, Every: 2}, "...x...x"},
		"with certainty":        {delivery.Fault{Probability: 1}, "xxxxxxxx"},
		"hardly ever by chance": {delivery.Fault{Probability: 1e-12}, "........"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, delivery.Config{})
			row.fault.Name = "old-timestamp"
			w.setFaults(t, row.fault)
			for i := range 8 {
				w.send(small([]string{"CHARGE", "REFUND"}[i%2]))
			}
			w.settle(t)
			if got := struck(w); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// struck writes an x for each delivery whose first attempt a fault touched.
func struck(w *world) string {
	var text strings.Builder
	for _, d := range w.deliveries() {
		text.WriteString(map[bool]string{true: "x", false: "."}[len(d.Attempts[0].Faults) > 0])
	}
	return text.String()
}

func TestTheSameSeedMakesTheSameMistakes(t *testing.T) {
	play := func(seed uint64) string {
		w := start(t, delivery.Config{Seed: seed})
		w.setFaults(t, delivery.Fault{Name: "old-timestamp", Probability: 0.5})
		for range 64 {
			w.send(small("CHARGE"))
		}
		w.settle(t)
		return struck(w)
	}
	first := play(7)
	if again := play(7); again != first {
		t.Errorf("got %s, then %s", first, again)
	}
	if other := play(8); other == first {
		t.Error("another seed makes the same mistakes")
	}
}

func TestARuleThatSaysNothingSensibleIsRefusedAndNothingChanges(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "duplicate"})
	for name, bad := range map[string]delivery.Fault{
		"no name":                   {},
		"a name that is none":       {Name: "gremlins"},
		"a negative count":          {Name: "duplicate", Every: -1},
		"negative times":            {Name: "duplicate", Times: -1},
		"a negative delay":          {Name: "delay", Delay: -time.Second},
		"a negative pace":           {Name: "burst", PerSecond: -1},
		"more than certain":         {Name: "duplicate", Probability: 1.5},
		"two ways to say when":      {Name: "duplicate", Probability: 0.5, Every: 2},
		"a delay without a meaning": {Name: "duplicate", Delay: time.Second},
		"a field without a meaning": {Name: "duplicate", Field: "referrer"},
		"a value without a meaning": {Name: "duplicate", Value: "x"},
		"a pace without a meaning":  {Name: "duplicate", PerSecond: 1},
		"a pace that is no number":  {Name: "burst", PerSecond: math.NaN()},
		"a burst without end":       {Name: "burst", PerSecond: 1e9},
		"a burst of many hours":     {Name: "burst", Delay: 1000 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.SetFaults([]delivery.Fault{{Name: "delay"}, bad})
			if err == nil || !strings.HasPrefix(err.Error(), "fault 2: ") {
				t.Errorf("got %v", err)
			}
			if got := w.Faults(); len(got) != 1 || got[0].Name != "duplicate" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestEveryFaultSaysWhatItDoes(t *testing.T) {
	names := delivery.FaultNames()
	if len(names) != 12 || !slices.IsSorted(names) {
		t.Errorf("got %q", names)
	}
	for _, name := range names {
		if delivery.FaultMeaning(name) == "" {
			t.Errorf("%s says nothing", name)
		}
	}
}

func TestAFaultIsReadAsItIsWritten(t *testing.T) {
	text := `{"name":"delay","types":["REFUND"],"every":2,"times":3,"delay":"1h30m0s"}`
	var f delivery.Fault
	if err := json.Unmarshal([]byte(text), &f); err != nil || f.Delay != 90*time.Minute {
		t.Fatalf("%v, %+v", err, f)
	}
	if again, err := json.Marshal(f); err != nil || string(again) != text {
		t.Errorf("%v, %s", err, again)
	}
	for _, bad := range []string{`{"nome":"delay"}`, `{"delay":"soon"}`, `{"delay":5}`} {
		if err := json.Unmarshal([]byte(bad), &f); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
