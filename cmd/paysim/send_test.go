package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// listener is a merchant's server that keeps what comes and answers with a status.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	came   []post
}

type post struct {
	header http.Header
	body   string
}

func listen(tb testing.TB, status int) *listener {
	tb.Helper()
	l := &listener{status: status}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.came = append(l.came, post{r.Header, string(body)})
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(l.status)
	}))
	tb.Cleanup(l.Close)
	return l
}

// posts is what has come so far.
func (l *listener) posts() []post {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]post(nil), l.came...)
}

// signature is what the headers must hold, reckoned here and not by the program's own code.
func signature(key, timestamp, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + body))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestSendPostsASignedSampleWithTheFieldsGiven(t *testing.T) {
	l := listen(t, http.StatusOK)
	key := mustWrite(t, "example-ipn-security-key-0001\n")
	r := runProgram(t, nil, "send", "REFUND", "referenceNumber=70010001", "Main product=a+b", "--url="+l.URL, "--signing-key-file="+key, "--seed=7")
	r.wants(t, exitOK, "REFUND 70010001: 200 OK")
	if len(l.posts()) != 1 {
		t.Fatalf("got %d posts, want 1", len(l.posts()))
	}
	got := l.posts()[0]
	values, err := url.ParseQuery(got.body)
	if err != nil || values.Get("transactionType") != "REFUND" || values.Get("referenceNumber") != "70010001" || values.Get("Main product") != "a+b" {
		t.Errorf("got %s, %v", got.body, err)
	}
	if len(values) < 20 {
		t.Errorf("got %d fields, want a whole sample", len(values))
	}
	const timestamp = "2023-05-15 13:02:57.878"
	if got.header.Get("X-IPN-Timestamp") != timestamp || !strings.EqualFold(got.header.Get("X-IPN-Signature"), signature("example-ipn-security-key-0001", timestamp, got.body)) {
		t.Errorf("the signature is wrong: %v", got.header)
	}
	if got.header.Get("Content-Type") != "application/x-www-form-urlencoded" || got.header.Get("User-Agent") != "paysim/1" {
		t.Errorf("got the headers %v", got.header)
	}
	if strings.Contains(r.stdout+r.stderr, "security-key") {
		t.Errorf("the key was printed")
	}
}

func TestSendEndsWithZeroOnlyWhenAllWereAnswered200(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		want   int
	}{
		{"200", http.StatusOK, exitOK},
		{"204 is no 200", http.StatusNoContent, exitNo},
		{"a redirect is not followed", http.StatusFound, exitNo},
		{"503", http.StatusServiceUnavailable, exitNo},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := listen(t, c.status)
			runProgram(t, nil, "send", "CHARGE", "--count=2", "--url="+l.URL, "--signing-key-file=none").wants(t, c.want)
			if got := l.posts(); len(got) != 2 || got[0].body == got[1].body || got[0].header.Get("X-IPN-Signature") != "" {
				t.Errorf("got %d posts, want two different ones without a signature", len(got))
			}
		})
	}
}

func TestAnErrorShowsNoMoreOfTheURLThanItsHost(t *testing.T) {
	l := listen(t, http.StatusOK)
	address := l.URL
	l.Close()
	r := runProgram(t, nil, "send", "CHARGE", "--url="+address+"/x?token=hidden", "--signing-key-file=none")
	r.wants(t, exitNo, strings.TrimPrefix(address, "http://"))
	if strings.Contains(r.stderr, "hidden") {
		t.Errorf("the query was printed: %s", r.stderr)
	}
}

func TestWhatIsPrintedIsExactlyABodyThatTheReceiverUnderstands(t *testing.T) {
	args := []string{"send", "CHARGE", "invoiceChargeAmount=52.50", "--print", "--seed=3", "--signing-key-file=none"}
	first, second := runProgram(t, nil, args...), runProgram(t, nil, args...)
	first.wants(t, exitOK)
	if first.stdout != second.stdout {
		t.Errorf("one seed printed two bodies:\n%s\n%s", first.stdout, second.stdout)
	}
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	decoder := ipn.Decoder{Zone: zone}
	event := decoder.Decode([]byte(first.stdout), "application/x-www-form-urlencoded")
	text, err := event.MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"amount":"52.50"`) || !strings.Contains(string(text), `"problems":[]`) || strings.HasSuffix(first.stdout, "\n") {
		t.Errorf("the receiver understood %s, %v", text, err)
	}
}

func TestAnUnknownTypeIsSentWithANote(t *testing.T) {
	l := listen(t, http.StatusOK)
	runProgram(t, nil, "send", "TELEPORTED", "--url="+l.URL, "--signing-key-file=none").wants(t, exitOK, "TELEPORTED is no type", "200 OK")
	if got := l.posts(); len(got) != 1 || !strings.Contains(got[0].body, "transactionType=TELEPORTED") {
		t.Errorf("got %+v", got)
	}
}
