package control_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
)

// api is an API behind faults that says how often it was asked.
type api struct {
	*httptest.Server
	carried atomic.Int64
}

const rightAnswer = `{"transactionId":"1000001","amount":52.50}`

func (w *world) serveAPI(t *testing.T) *api {
	t.Helper()
	a := &api{}
	a.Server = httptest.NewServer(w.api.Wrap(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		_, _ = io.Copy(io.Discard, in.Body)
		a.carried.Add(1)
		out.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(out, rightAnswer)
	})))
	t.Cleanup(a.Close)
	return a
}

func (a *api) post(t *testing.T, timeout time.Duration) (*http.Response, int64, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/services/2/transactions", strings.NewReader(`{"amount":52.50}`))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("paysim", "a password that nobody may see")
	request.Header.Set("Idempotency-Key", "key-1")
	request.Header.Set("Service-Version", "2.0")
	// A connection of its own: net/http would repeat a request with an idempotency key that a used connection has dropped.
	client := http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<28))
	answer.Body = io.NopCloser(strings.NewReader(string(text[:min(len(text), 200)])))
	return answer, int64(len(text)), err
}

func TestTheAPIMisbehavesAsItIsTold(t *testing.T) {
	const documented = `"errorName":"SERVER_GENERAL_FAILURE"`
	for name, row := range map[string]struct {
		fault   control.APIFault
		status  int
		holds   string
		carried int64
	}{
		"an internal error":          {control.APIFault{Answer: "500"}, 500, documented, 0},
		"an error of one's choice":   {control.APIFault{Answer: "400", Code: "14016", Name: "NO_AVAILABLE_PROCESSORS"}, 400, `{"code":"14016","description":"The simulator was told to fail.","errorName":"NO_AVAILABLE_PROCESSORS"}`, 0},
		"an error without a name":    {control.APIFault{Answer: "400", Code: "24001"}, 400, `{"message":[{"code":"24001","description":"The simulator was told to fail."}]}`, 0},
		"too many requests":          {control.APIFault{Answer: "429", RetryAfter: "2"}, 429, documented, 0},
		"a redirect":                 {control.APIFault{Answer: "302", Location: "https://elsewhere.example.com/"}, 302, "", 0},
		"garbage":                    {control.APIFault{Answer: "garbage"}, 200, "<html>", 0},
		"garbage of another status":  {control.APIFault{Answer: "garbage", Status: 503}, 503, "<html>", 0},
		"an empty answer":            {control.APIFault{Answer: "empty"}, 200, "", 0},
		"a late answer":              {control.APIFault{Answer: "slow", Delay: "1ms"}, 200, rightAnswer, 1},
		"an error after it was done": {control.APIFault{Answer: "500", Done: true}, 500, documented, 1},
		"a fault of another path":    {control.APIFault{Answer: "500", Path: "/services/2/recurring"}, 200, rightAnswer, 1},
		"a fault of the path":        {control.APIFault{Answer: "500", Path: "/services/2/trans"}, 500, documented, 0},
		"a fault of another method":  {control.APIFault{Answer: "500", Method: "GET"}, 200, rightAnswer, 1},
		"a fault of the method":      {control.APIFault{Answer: "500", Method: "POST"}, 500, documented, 0},
		"no content":                 {control.APIFault{Answer: "204"}, 204, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			a := w.serveAPI(t)
			if err := w.api.Set([]control.APIFault{row.fault}); err != nil {
				t.Fatal(err)
			}
			answer, size, err := a.post(t, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != row.status || !strings.Contains(string(text), row.holds) || row.holds == "" && size > 0 {
				t.Errorf("got %d %q, want %d %q", answer.StatusCode, text, row.status, row.holds)
			}
			if got := answer.Header.Get("Retry-After") + answer.Header.Get("Location"); got != row.fault.RetryAfter+row.fault.Location {
				t.Errorf("got the headers %v", answer.Header)
			}
			if got := a.carried.Load(); got != row.carried {
				t.Errorf("carried out %d times, want %d", got, row.carried)
			}
		})
	}
}

func TestAHugeAnswerHas100MB(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"huge"}]`, nil)
	if _, size, err := a.post(t, time.Minute); err != nil || size < 100_000_000 {
		t.Errorf("got %d bytes, %v", size, err)
	}
}

func TestAnAnswerIsCutAfterTheRequestWasCarriedOut(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"cut"}]`, nil)
	answer, size, err := a.post(t, 10*time.Second)
	if !errors.Is(err, io.ErrUnexpectedEOF) || answer.StatusCode != 200 || size != int64(len(rightAnswer)/2) || a.carried.Load() != 1 {
		t.Errorf("got %d bytes, %v, carried out %d times", size, err, a.carried.Load())
	}
}

func TestAConnectionIsDroppedBeforeAnythingIsDone(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"drop"}]`, nil)
	if _, _, err := a.post(t, 10*time.Second); err == nil || a.carried.Load() != 0 {
		t.Errorf("got %v, carried out %d times", err, a.carried.Load())
	}
}

func TestAHangingAPIWaitsForTheClientToGiveUp(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"hang"}]`, nil)
	_, _, err := a.post(t, 50*time.Millisecond)
	if timeout := (interface{ Timeout() bool })(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v", err)
	}
}

func TestAFaultOfTheAPIEndsAfterItsTimes(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"503","times":2},{"answer":"empty","times":1}]`, nil)
	for i, want := range []int{503, 503, 200, 200} {
		answer, size, err := a.post(t, 10*time.Second)
		if err != nil || answer.StatusCode != want || (size == 0) != (i == 2) {
			t.Errorf("%d: got %v, %d bytes, %v", i, answer, size, err)
		}
	}
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"503"}]`, nil)
	w.must(t, http.MethodDelete, "/api-faults", "", nil)
	if answer, _, err := a.post(t, 10*time.Second); err != nil || answer.StatusCode != 200 {
		t.Errorf("after the end of all faults: %v, %v", answer, err)
	}
}

func TestTheHistoryOfTheAPITellsWhatItWasAsked(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	w.must(t, http.MethodPut, "/api-faults", `[{"answer":"503","times":1},{"answer":"drop","times":1}]`, nil)
	for range 4 {
		_, _, _ = a.post(t, 10*time.Second)
	}
	var answer struct {
		Requests []control.APIRequest
		Counts   map[string]map[string]int
	}
	w.must(t, http.MethodGet, "/api-history?method=POST&path=/services/2/transactions&limit=3", "", &answer)
	if len(answer.Requests) != 3 {
		t.Fatalf("got %+v", answer)
	}
	digest := sha256.Sum256([]byte(`{"amount":52.50}`))
	for i, want := range []struct {
		id     int64
		status int
		fault  string
	}{{4, 200, ""}, {3, 200, ""}, {2, 0, "drop"}} {
		got := answer.Requests[i]
		if got.ID != want.id || got.Status != want.status || got.Fault != want.fault {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got.Principal != "paysim" || got.IdempotencyKey != "key-1" || got.Version != "2.0" || got.BodySHA256 != hex.EncodeToString(digest[:]) || got.At.Before(beginning) {
			t.Errorf("got %+v", got)
		}
	}
	counts := answer.Counts["POST /services/2/transactions"]
	if counts["503"] != 1 || counts["0"] != 1 || counts["200"] != 2 {
		t.Errorf("got %v", answer.Counts)
	}
	w.must(t, http.MethodGet, "/api-history?method=DELETE", "", &answer)
	if len(answer.Requests) != 0 {
		t.Errorf("of another method: got %+v", answer.Requests)
	}
}

func TestTheHistoryOfTheAPINeverTellsThePassword(t *testing.T) {
	w := start(t)
	a := w.serveAPI(t)
	_, _, _ = a.post(t, 10*time.Second)
	answer, err := w.Client().Get(w.URL + "/api-history")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || strings.Contains(string(text), "nobody may see") || strings.Contains(string(text), "52.50") {
		t.Errorf("%v: %s", err, text)
	}
}
