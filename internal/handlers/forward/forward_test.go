package forward_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/cloudevents/sdk-go/v2"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// TestMain names proxies in the environment, where nobody listens: a sink that asked one would look past its guard.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "", "no_proxy": ""} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const (
	oldSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	newSecret = "whsec_IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE="

	query = "?key=in-the-query" // of every target: must never be told
	words = "the-target-speaks" // of every answer: must never be told
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func secrets(tb testing.TB, texts ...string) []forward.Secret {
	tb.Helper()
	var all []forward.Secret
	for _, text := range texts {
		secret, err := forward.ParseSecret(text)
		must(tb, err)
		all = append(all, secret)
	}
	return all
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// sinkTo is a sink for a server on loopback.
func sinkTo(tb testing.TB, url string, edit ...func(*forward.Target)) *forward.Sink {
	tb.Helper()
	target := forward.Target{URL: url + "/hook" + query, Secrets: secrets(tb, oldSecret), Allow: loopback, Timeout: 20 * time.Second}
	for _, e := range edit {
		e(&target)
	}
	sink, err := forward.New(target)
	must(tb, err)
	tb.Cleanup(sink.Close)
	return sink
}

func within(timeout time.Duration) func(*forward.Target) {
	return func(t *forward.Target) { t.Timeout = timeout }
}

func event() *ipn.Stored {
	amount, _ := ipn.ParseMoney("21.00")
	return &ipn.Stored{ID: 42, ReceivedAt: time.Unix(1_772_000_000, 0), Facts: ipn.Facts{
		TransactionType: "CHARGE", ReferenceNumber: "1001", Amount: amount, Currency: "EUR"}}
}

// send sends one event and watches what the error tells.
func send(tb testing.TB, sink *forward.Sink) error {
	tb.Helper()
	err := sink.Send(tb.Context(), event())
	if err != nil {
		for _, never := range []string{"in-the-query", words, "127.0.0.1", "/hook", oldSecret[6:]} {
			if strings.Contains(err.Error(), never) {
				tb.Errorf("the error tells %q: %v", never, err)
			}
		}
	}
	return err
}

func serve(tb testing.TB, answer http.HandlerFunc) *httptest.Server {
	tb.Helper()
	server := httptest.NewServer(answer)
	tb.Cleanup(server.Close)
	return server
}

// wish reads which wish of the dispatcher an error holds, and for how long. The dispatcher keeps that to itself.
func wish(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.Type().Elem().PkgPath() == reflect.TypeFor[dispatch.Handler]().PkgPath() {
			return fmt.Sprint(v.Elem().FieldByName("kind"), " ", time.Duration(v.Elem().FieldByName("wait").Int()))
		}
	}
	return ""
}

func TestTheLibraryVerifiesWhatIsSent(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- body
	})
	must(t, send(t, sinkTo(t, server.URL, func(target *forward.Target) { target.Secrets = secrets(t, oldSecret, newSecret) })))
	request, body := <-got, <-bodies
	for _, secret := range []string{oldSecret, newSecret} {
		library, err := webhooks.NewWebhook(secret)
		must(t, err)
		if err := library.Verify(body, request.Header); err != nil {
			t.Errorf("%v: %v", err, request.Header)
		}
		if library.Verify(append([]byte(" "), body...), request.Header) == nil {
			t.Error("the library takes another body")
		}
	}
	want, err := cloudevent.New(event(), cloudevent.Options{}).JSON()
	must(t, err)
	var envelope sdk.Event
	must(t, json.Unmarshal(body, &envelope))
	if !bytes.Equal(body, want) || envelope.Validate() != nil || envelope.ID() != "42" {
		t.Errorf("got %s", body)
	}
	headers := map[string]string{"Webhook-Id": "42", "Content-Type": cloudevent.ContentType, "User-Agent": "ipn-receiver",
		"Accept-Encoding": "", "Cookie": "", "Authorization": "", "Content-Length": strconv.Itoa(len(want))}
	for name, value := range headers {
		if request.Header.Get(name) != value && (name != "Content-Length" || request.ContentLength != int64(len(want))) {
			t.Errorf("%s: got %q, want %q", name, request.Header.Get(name), value)
		}
	}
	if request.Method != http.MethodPost || request.RequestURI != "/hook"+query {
		t.Errorf("got %s %s", request.Method, request.RequestURI)
	}
}

func TestTheIdStaysAndTheTimestampMoves(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 2)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		w.WriteHeader(http.StatusInternalServerError)
	})
	var now atomic.Int64
	sink := sinkTo(t, server.URL, func(target *forward.Target) {
		target.Now = func() time.Time { return time.Unix(now.Load(), 999_999_999) }
	})
	for _, second := range []int64{1_772_000_000, 1_772_000_300} {
		now.Store(second)
		if send(t, sink) == nil {
			t.Fatal("500 is done")
		}
		h := <-got
		if h.Get("Webhook-Id") != "42" || h.Get("Webhook-Timestamp") != strconv.FormatInt(second, 10) {
			t.Errorf("got %v", h)
		}
	}
}

func TestAnUnsignedTargetGetsNoSignature(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header })
	must(t, send(t, sinkTo(t, server.URL, func(target *forward.Target) { target.Secrets, target.Unsigned = nil, true })))
	if h := <-got; h.Get("Webhook-Id") != "42" || len(h.Values("Webhook-Signature")) > 0 {
		t.Errorf("got %v", h)
	}
}

func TestAnAnswerMeansWhatTheTableSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	in := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	after := func(d time.Duration) string { return wish(dispatch.After(d, nil)) }
	if after(time.Second) == "" || after(time.Second) == after(time.Minute) || after(0) == wish(dispatch.Halt(nil)) {
		t.Fatal("the test is blind for wishes")
	}
	for _, tt := range []struct {
		status int
		after  []string // Retry-After
		want   string   // text, "" for done
		wish   string
	}{
		{200, nil, "", ""},
		{202, nil, "", ""},
		{204, nil, "", ""},
		{299, nil, "", ""},
		{300, nil, "the target answered 300 Multiple Choices: redirects are not followed", ""},
		{304, nil, "the target answered 304 Not Modified: redirects are not followed", ""},
		{400, nil, "the target answered 400 Bad Request", ""},
		{401, nil, "the target answered 401 Unauthorized", ""},
		{404, nil, "the target answered 404 Not Found", ""},
		{410, nil, "the target answered 410 Gone: the target wants no more events", wish(dispatch.Halt(nil))},
		{422, []string{"30"}, "the target answered 422 Unprocessable Entity", ""},
		{429, nil, "the target answered 429 Too Many Requests", ""},
		{429, []string{"30"}, "the target answered 429 Too Many Requests and asked to wait", after(30 * time.Second)},
		{503, []string{" 120 "}, "the target answered 503 Service Unavailable and asked to wait", after(2 * time.Minute)},
		{503, []string{in(90 * time.Second)}, "the target answered 503 Service Unavailable and asked to wait", after(90 * time.Second)},
		{503, []string{in(-time.Hour)}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"0"}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"-5"}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"1.5"}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"soon"}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"10", "20"}, "the target answered 503 Service Unavailable", ""},
		{503, []string{"99999999999999999999999"}, "the target answered 503 Service Unavailable and asked to wait", after(24 * time.Hour)},
		{503, []string{"9223372036854775807"}, "the target answered 503 Service Unavailable and asked to wait", after(24 * time.Hour)},
		{503, []string{in(1000 * time.Hour)}, "the target answered 503 Service Unavailable and asked to wait", after(24 * time.Hour)},
		{500, []string{"30"}, "the target answered 500 Internal Server Error", ""},
		{502, nil, "the target answered 502 Bad Gateway", ""},
		{599, nil, "the target answered 599", ""},
		{999, nil, "the target answered 999", ""},
	} {
		t.Run(fmt.Sprint(tt.status, tt.after), func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for _, value := range tt.after {
					w.Header().Add("Retry-After", value)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, words)
			})
			err := send(t, sinkTo(t, server.URL, func(target *forward.Target) { target.Now = func() time.Time { return now } }))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tt.want || wish(err) != tt.wish {
				t.Errorf("got %q (%s), want %q (%s)", text, wish(err), tt.want, tt.wish)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	inside := serve(t, func(http.ResponseWriter, *http.Request) { visits.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{inside.URL, "http://169.254.169.254/" + words, "/again", "::not a URL::"} {
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/again" {
					visits.Add(1)
				}
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			if err := send(t, sinkTo(t, server.URL)); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
				t.Errorf("%d to %s: got %v", status, to, err)
			}
		}
	}
	if visits.Load() > 0 {
		t.Errorf("%d redirects were followed", visits.Load())
	}
}

func TestConnectionsAreKeptAndNoMoreThanAllowed(t *testing.T) {
	t.Parallel()
	var opened, busy, most atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		at := busy.Add(1)
		for seen := most.Load(); at > seen && !most.CompareAndSwap(seen, at); seen = most.Load() {
		}
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
		busy.Add(-1)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	sink := sinkTo(t, server.URL, func(target *forward.Target) { target.Concurrency = 3 })
	for range 20 {
		must(t, send(t, sink))
	}
	if opened.Load() != 1 {
		t.Errorf("20 events one after the other took %d connections", opened.Load())
	}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if err := send(t, sink); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if opened.Load() > 3 || most.Load() > 3 {
		t.Errorf("%d connections, %d requests at once, want at most 3", opened.Load(), most.Load())
	}
}

func TestTheEndOfTheCallerIsNoFaultOfTheTarget(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client is gone
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	sink := sinkTo(t, server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if err := sink.Send(ctx, event()); err != context.Canceled { // the very error, without a word about the target
		t.Errorf("got %v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	go func() { <-arrived }()
	if err := sink.Send(late, event()); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "no answer in time" {
		t.Errorf("got %v", err)
	}
}

func TestATargetWithoutASecretMustSayThatItIsMeant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		target forward.Target
		want   string
	}{
		{"no secret", forward.Target{URL: "https://x.example"}, "no secret"},
		{"both", forward.Target{URL: "https://x.example", Unsigned: true, Secrets: secrets(t, oldSecret)}, "choose one"},
		{"an empty secret", forward.Target{URL: "https://x.example", Secrets: make([]forward.Secret, 1)}, "whsec_"},
		{"a bad URL", forward.Target{URL: "https://", Unsigned: true}, "no host"},
		{"unsigned", forward.Target{URL: "https://x.example", Unsigned: true}, ""},
		{"signed", forward.Target{URL: "https://x.example", Secrets: secrets(t, oldSecret)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := forward.New(tt.target)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestASecretIsReadStrictlyAndShownNever(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "whsec_", oldSecret[6:], "WHSEC_" + oldSecret[6:], oldSecret + " ", oldSecret[:20] + "\n" + oldSecret[20:],
		strings.TrimRight(oldSecret, "="), strings.Replace(oldSecret, "8=", "9=", 1), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY=", "whsec_" + strings.Repeat("AAAA", 22), "whsec_" + strings.Repeat("_-_-", 8)} {
		if _, err := forward.ParseSecret(text); err == nil || len(text) > 10 && strings.Contains(err.Error(), text[6:]) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	for _, text := range []string{oldSecret, "whsec_" + strings.Repeat("AAAA", 8), "whsec_" + strings.Repeat("AAAA", 21) + "AA=="} {
		secret, err := forward.ParseSecret(text)
		must(t, err)
		encoded, err := json.Marshal(secret)
		must(t, err)
		if got := fmt.Sprintf("%v %+v %#v %s %q %x %s", secret, secret, []forward.Secret{secret}, secret, secret, secret, encoded); strings.Trim(got, `[]"hiden forwaSct.{}`) != "" {
			t.Errorf("got %s", got)
		}
	}
}
