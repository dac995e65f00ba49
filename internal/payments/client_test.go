package payments_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// operations are all calls of the client, with an answer that each of them can read.
func operations(tb testing.TB) []operation {
	const transfer = `{"orderId":7,"sofortTransaction":{"sofortUrl":"https://bank.example/7"}}`
	ctx := tb.Context()
	return []operation{
		{"create a tax quote", "POST /services/2/tax-quote", keyed, `{"taxReference":"q-1","totalTax":1}`,
			func(c *payments.Client) error { _, err := c.CreateTaxQuote(ctx, quoteRequest(tb)); return err }},
		{"read a tax quote", "GET /services/2/tax-quote/q-1", free, `{"taxReference":"q-1","totalTax":1}`,
			func(c *payments.Client) error { _, err := c.TaxQuote(ctx, "q-1"); return err }},
		{"create a card transaction", "POST /services/2/transactions", keyed, `{"transactionId":"1"}`,
			func(c *payments.Client) error {
				_, err := c.CreateCardTransaction(ctx, cardRequest(tb, "10"))
				return err
			}},
		{"capture", "PUT /services/2/transactions", careful, `{"transactionId":"1"}`,
			func(c *payments.Client) error {
				_, err := c.Capture(ctx, payments.CaptureRequest{TransactionID: "1"})
				return err
			}},
		{"reverse an authorization", "PUT /services/2/transactions", careful, `{"transactionId":"1"}`,
			func(c *payments.Client) error { _, err := c.ReverseAuthorization(ctx, "1"); return err }},
		{"read a card transaction", "GET /services/2/transactions/1", free, `{"transactionId":"1"}`,
			func(c *payments.Client) error { _, err := c.CardTransaction(ctx, "1"); return err }},
		{"refund", "POST /services/2/transactions/refund/1", keyed, `{"refundTransactionId":2}`,
			func(c *payments.Client) error {
				_, err := c.Refund(ctx, payments.RefundRequest{TransactionID: "1"})
				return err
			}},
		{"cancel a pending refund", "DELETE /services/2/transactions/pending-refund/2", free, ``,
			func(c *payments.Client) error { return c.CancelPendingRefund(ctx, "2") }},
		{"create a subscription", "POST /services/2/recurring/subscriptions", keyed, `{"subscriptionId":3}`,
			func(c *payments.Client) error {
				_, err := c.CreateSubscription(ctx, subscriptionRequest(5))
				return err
			}},
		{"update a subscription", "PUT /services/2/recurring/subscriptions/3", careful, `{"subscriptionId":3}`,
			func(c *payments.Client) error {
				_, err := c.UpdateSubscription(ctx, "3", payments.SubscriptionUpdate{PlanID: 6})
				return err
			}},
		{"read a subscription", "GET /services/2/recurring/subscriptions/3", free, `{"subscriptionId":3}`,
			func(c *payments.Client) error { _, err := c.Subscription(ctx, "3"); return err }},
		{"create a bank transfer", "POST /services/2/alt-transactions/", keyed, transfer,
			func(c *payments.Client) error {
				_, err := c.CreateBankTransfer(ctx, transferRequest(tb, "Ann"))
				return err
			}},
		{"read a bank transfer", "GET /services/2/alt-transactions/4", free, transfer,
			func(c *payments.Client) error { _, err := c.BankTransfer(ctx, "4"); return err }},
		{"read a bank transfer by the merchant's number", "GET /services/2/alt-transactions/order%2F77%2C%20a,900", free, transfer,
			func(c *payments.Client) error {
				_, err := c.BankTransferByMerchantID(ctx, "order/77, a", "900")
				return err
			}},
		{"resolve a bank transfer", "GET /services/2/alt-transactions/resolve?orderId=7", free, transfer,
			func(c *payments.Client) error { _, err := c.ResolveBankTransfer(ctx, 7); return err }},
		{"retrieve the configuration", "GET /services/2/notification-config/", free, `{"ipnDestinations":[]}`,
			func(c *payments.Client) error { _, err := c.NotificationConfiguration(ctx); return err }},
		{"replace the configuration", "POST /services/2/notification-config/", keyed, ``,
			func(c *payments.Client) error {
				return c.ReplaceNotificationConfiguration(ctx, configuration("https://hooks.example/ipn"))
			}},
		{"replace the configuration in XML", "POST /services/2/notification-config/", keyed, ``,
			func(c *payments.Client) error {
				return c.ReplaceNotificationConfigurationXML(ctx, configuration("https://hooks.example/ipn"))
			}},
		{"delete the configurations", "DELETE /services/2/notification-config/", free, ``,
			func(c *payments.Client) error { return c.DeleteNotificationConfigurations(ctx) }},
	}
}

type operation struct {
	name, line string
	repeats    string
	answer     string
	do         func(*payments.Client) error
}

// How an operation may be repeated.
const (
	keyed   = "with an idempotency-key"
	free    = "freely"
	careful = "only when it was surely not done"
)

func TestEveryRequestCarriesTheHeadersOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, o := range operations(t) {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			s, client := serve(t, says(http.StatusOK, o.answer))
			must(t, o.do(client))
			got := s.requests()[0]
			if line := got.method + " " + got.path; line != o.line {
				t.Errorf("got %s, want %s", line, o.line)
			}
			format, version := "application/json", ""
			if strings.HasSuffix(o.name, "in XML") {
				format = "application/xml"
			}
			if strings.HasPrefix(o.name, "retrieve") || strings.HasPrefix(o.name, "delete") {
				version = "2.0"
			}
			basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
			for name, want := range map[string]string{"Content-Type": format, "Accept": "application/json", "Authorization": basic,
				"Service-Version": version, "User-Agent": "ipn-receiver", "Accept-Encoding": ""} {
				if got.header.Get(name) != want {
					t.Errorf("%s: got %q, want %q", name, got.header.Get(name), want)
				}
			}
			if key := got.header.Get("Idempotency-Key"); (key != "") != (o.repeats == keyed) || len(key) > 64 {
				t.Errorf("the idempotency-key is %q", key)
			}
		})
	}
}

func TestAFailedCallIsRepeatedOnlyWhereThatIsSafe(t *testing.T) {
	t.Parallel()
	repeated := map[string]map[string]bool{ // by what happened, by how an operation may be repeated
		"503":                 {keyed: true, free: true, careful: true},
		"429":                 {keyed: true, free: true, careful: true},
		"500":                 {keyed: true, free: true},
		"502":                 {keyed: true, free: true},
		"the connection ends": {keyed: true, free: true},
		"60102":               {keyed: true, free: true},
		"302":                 {}, "400": {}, "401": {}, "404": {}, "422": {},
	}
	failures := map[string]http.HandlerFunc{
		"the connection ends": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"60102":               says(http.StatusConflict, `{"message":[{"code":60102}]}`),
		"302":                 says(http.StatusFound, "", "Location", "/elsewhere"),
	}
	for _, o := range operations(t) {
		for happened, safe := range repeated {
			t.Run(o.name+" after "+happened, func(t *testing.T) {
				t.Parallel()
				failure, special := failures[happened]
				if !special {
					status, err := strconv.Atoi(happened)
					must(t, err)
					failure = says(status, "")
				}
				s, client := serve(t, failure, failure, says(http.StatusOK, o.answer))
				err := o.do(client)
				tells(t, err)
				times, want := len(s.requests()), 1
				if safe[o.repeats] {
					want = 3
				}
				gone := happened == "404" && strings.HasPrefix(o.name, "delete the conf") // which is what was wanted
				if times != want || (err == nil) != (safe[o.repeats] || gone) {
					t.Fatalf("%d requests, error %v; want %d", times, err, want)
				}
				first := s.requests()[0]
				for _, again := range s.requests() {
					if again.body != first.body || again.header.Get("Idempotency-Key") != first.header.Get("Idempotency-Key") {
						t.Error("a repetition is another request")
					}
				}
			})
		}
	}
}

// hostile are services that misbehave, and what reading the configuration makes of each of them.
var hostile = []struct {
	name   string
	answer http.HandlerFunc
	is     error
	tries  int
}{
	{"is slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, payments.ErrUnreachable, 2},
	{"answers 500", says(500, "<h1>oops, stranger's words</h1>"), payments.ErrService, 2},
	{"answers 302", says(302, "", "Location", "http://192.0.2.1/stranger's words"), nil, 1},
	{"answers garbage", says(200, "<html>stranger's words"), payments.ErrUnreadable, 1},
	{"answers nothing", says(200, ""), payments.ErrUnreadable, 1},
	{"answers another question", says(200, `{"stranger's words":"ok"}`), payments.ErrUnreadable, 1},
	{"answers a list", says(200, `["stranger's words"]`), payments.ErrUnreadable, 1},
	{"answers null", says(200, "null"), payments.ErrUnreadable, 1},
	{"answers 100 MB", endless, payments.ErrUnreadable, 1},
	{"answers 500 with 100 MB", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		endless(w, r)
	}, payments.ErrService, 2},
	{"hangs up in the middle", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"ipnDestinations":[`)
		panic(http.ErrAbortHandler)
	}, payments.ErrUnreachable, 2},
	{"stops in the middle", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"ipnDestinations":[`)
		_ = http.NewResponseController(w).Flush() // the test's own connection
		<-r.Context().Done()
	}, payments.ErrUnreachable, 2},
	{"speaks something else", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "220 stranger's words\r\n")
			_ = conn.Close()
		}
	}, payments.ErrUnreachable, 2},
	{"asks to come back tomorrow", says(429, "", "Retry-After", "86400"), payments.ErrBusy, 1},
	{"asks to come back in a minute", says(503, "", "Retry-After", "60"), payments.ErrBusy, 1},
	{"asks to come back at no time", says(429, "", "Retry-After", "stranger's words"), payments.ErrBusy, 2},
	{"refuses the credentials", says(401, "stranger's words"), payments.ErrUnauthorized, 1},
	{"knows nothing", says(404, ""), payments.ErrNotFound, 1},
	{"has nothing", says(204, ""), payments.ErrNotFound, 1},
	{"switches protocols", says(101, ""), nil, 1},
}

// endless writes 100 MB, or until nobody reads.
func endless(w http.ResponseWriter, _ *http.Request) {
	block := []byte(strings.Repeat(" ", 1<<20))
	for range 100 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestAServiceThatMisbehavesCostsAnErrorAndLittleElse(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		t.Run("a service that "+h.name, func(t *testing.T) {
			t.Parallel()
			s := &service{answers: []http.HandlerFunc{h.answer}}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			client := connect(t, server.URL, func(c *payments.Config) {
				c.Attempts = 2
				if h.is == payments.ErrUnreachable {
					c.Timeout = 200 * time.Millisecond
				}
			})
			_, err := client.NotificationConfiguration(t.Context())
			if err == nil || h.is != nil && !errors.Is(err, h.is) {
				t.Errorf("got %v, want %v", err, h.is)
			}
			if got := len(s.requests()); got != h.tries {
				t.Errorf("%d requests, want %d", got, h.tries)
			}
			tells(t, err, "stranger's words", "192.0.2.1")
		})
	}
}

func TestNoMoreOfAnAnswerIsReadThanItMayHave(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		left := strings.NewReader(strings.Repeat("{", 1<<20))
		client := connect(t, "https://payments.example", func(c *payments.Config) {
			c.MaxBody = 1000
			c.Transport = wire(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Body: io.NopCloser(left)}, nil
			})
		})
		_, err := client.NotificationConfiguration(t.Context())
		if read := left.Size() - int64(left.Len()); err == nil || read != 1001 {
			t.Errorf("%d: %d bytes were read, %v", status, read, err)
		}
	}
}

func TestWhatNeverConnectedIsRepeatedWhateverItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		tries int
	}{
		"the connection is refused": {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, payments.DefaultAttempts},
		"the name is not resolved":  {&net.DNSError{IsNotFound: true}, payments.DefaultAttempts},
		"the connection is reset":   {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, 1},
	} {
		tries := 0
		client := connect(t, "https://payments.example", func(config *payments.Config) {
			config.Transport = wire(func(*http.Request) (*http.Response, error) { tries++; return nil, c.err })
		})
		_, err := client.Capture(t.Context(), payments.CaptureRequest{TransactionID: "1"})
		if tries != c.tries || !errors.Is(err, payments.ErrUnreachable) || !errors.Is(err, c.err) {
			t.Errorf("%s: %d attempts, %v", name, tries, err)
		}
	}
}

func TestAServiceThatIsDownIsToldSo(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := "http://" + listener.Addr().String()
	must(t, listener.Close())
	for _, o := range operations(t) {
		if err := o.do(connect(t, address)); !errors.Is(err, payments.ErrUnreachable) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: got %v", o.name, err)
		}
	}
}

// wire is a transport without a network.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func answered(status int, body string, header http.Header) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func TestRetryAfterIsWaitedForToTheSecond(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]func() string{
		"in seconds": func() string { return "7" },
		"as a date":  func() string { return time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Time
				client := connect(t, "https://payments.example", func(c *payments.Config) {
					c.Transport = wire(func(*http.Request) (*http.Response, error) {
						asked = append(asked, time.Now())
						if len(asked) < 3 {
							return answered(http.StatusTooManyRequests, "", http.Header{"Retry-After": {header()}}), nil
						}
						return answered(http.StatusOK, `{"ipnDestinations":[]}`, nil), nil
					})
				})
				_, err := client.NotificationConfiguration(t.Context())
				must(t, err)
				if len(asked) != 3 || asked[1].Sub(asked[0]) != 7*time.Second || asked[2].Sub(asked[1]) != 7*time.Second {
					t.Errorf("asked at %v", asked)
				}
			})
		})
	}
}

func TestPausesGrowAndVary(t *testing.T) {
	t.Parallel()
	lengths := make(map[time.Duration]bool)
	for range 8 {
		synctest.Test(t, func(t *testing.T) {
			var asked []time.Time
			client := connect(t, "https://payments.example", func(c *payments.Config) {
				c.Pause, c.Attempts = 0, 0
				c.Transport = wire(func(*http.Request) (*http.Response, error) {
					asked = append(asked, time.Now())
					return answered(http.StatusInternalServerError, "", nil), nil
				})
			})
			_, err := client.NotificationConfiguration(t.Context())
			if !errors.Is(err, payments.ErrService) || len(asked) != payments.DefaultAttempts {
				t.Fatalf("%d attempts, %v", len(asked), err)
			}
			for i, middle := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
				if pause := asked[i+1].Sub(asked[i]); pause < middle/2 || pause > middle*3/2+time.Nanosecond {
					t.Errorf("pause %d is %s", i+1, pause)
				}
			}
			lengths[asked[1].Sub(asked[0])] = true
		})
	}
	if len(lengths) < 2 {
		t.Error("pauses do not vary: clients that failed together come back together")
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"while it waits for an answer":       func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"while it waits for another attempt": says(http.StatusServiceUnavailable, "", "Retry-After", "20"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			_, client := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); answer(w, r) })
			if _, err := client.NotificationConfiguration(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestARotatedPasswordIsSeenByTheNextAttempt(t *testing.T) {
	t.Parallel()
	s := &service{answers: []http.HandlerFunc{says(http.StatusServiceUnavailable, ""), says(http.StatusOK, `{"ipnDestinations":[]}`)}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var turn atomic.Int64
	client := connect(t, server.URL, func(c *payments.Config) {
		c.Credentials = func() (string, string, error) { return "user", "turn-" + strconv.FormatInt(turn.Add(1), 10), nil }
	})
	_, err := client.NotificationConfiguration(t.Context())
	must(t, err)
	for i, r := range s.requests() {
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:turn-"+strconv.Itoa(i+1)))
		if got := r.header.Get("Authorization"); got != want {
			t.Errorf("attempt %d: got %s, want %s", i+1, got, want)
		}
	}
}

func TestWithoutCredentialsNothingIsSent(t *testing.T) {
	t.Parallel()
	s := &service{answers: []http.HandlerFunc{says(http.StatusOK, "{}")}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	missing := errors.New("the file is not there")
	client := connect(t, server.URL, func(c *payments.Config) {
		c.Credentials = func() (string, string, error) { return "", "", missing }
	})
	if _, err := client.NotificationConfiguration(t.Context()); !errors.Is(err, missing) || len(s.requests()) != 0 {
		t.Errorf("got %v after %d requests", err, len(s.requests()))
	}
}

func TestAnIdempotencyKeyOfTheCallersOwnIsSent(t *testing.T) {
	t.Parallel()
	s, client := serve(t, says(http.StatusOK, `{"refundTransactionId":2}`))
	_, err := client.Refund(t.Context(), payments.RefundRequest{TransactionID: "1", IdempotencyKey: "refund-of-order-7"})
	must(t, err)
	if got := s.requests()[0].header.Get("Idempotency-Key"); got != "refund-of-order-7" {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"with space", "with_underscore", strings.Repeat("x", 65), "line\nfeed"} {
		_, err := client.Refund(t.Context(), payments.RefundRequest{TransactionID: "1", IdempotencyKey: bad})
		var field *payments.FieldError
		if !errors.As(err, &field) || field.Field != "idempotency-key" || len(s.requests()) != 1 {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestTheServiceIsSpokenToByHTTPSOrOnTheOwnMachine(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"https://payments.example":               true,
		"https://payments.example/prefix/":       true,
		"http://127.0.0.1:8090":                  true,
		"http://[::1]:8090":                      true,
		"http://localhost:8090":                  true,
		"http://payments.example":                false,
		"http://127.0.0.1.payments.example":      false,
		"http://192.0.2.1":                       false,
		"ftp://payments.example":                 false,
		"payments.example":                       false,
		"https://":                               false,
		"":                                       false,
		"https://user:secret@payments.example":   false,
		"https://payments.example/?key=secret":   false,
		"https://payments.example/#secret":       false,
		"https://payments.example\x00/?x=secret": false,
	} {
		_, err := payments.New(payments.Config{BaseURL: address, Credentials: credentials})
		if (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
		tells(t, err, "secret")
	}
	if _, err := payments.New(payments.Config{BaseURL: "https://payments.example"}); err == nil {
		t.Error("a client without credentials is made")
	}
	for _, path := range []string{"../other", "tax-quote/", "tax quote", "tax-quote?x=1"} {
		if _, err := payments.New(payments.Config{BaseURL: "https://payments.example", Credentials: credentials, QuotePath: path}); err == nil {
			t.Errorf("a client with tax quotes at %q is made", path)
		}
	}
}

func TestTheVersionHeaderHasTheNameItIsGiven(t *testing.T) {
	t.Parallel()
	s := &service{answers: []http.HandlerFunc{says(http.StatusOK, "{}")}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client := connect(t, server.URL, func(c *payments.Config) { c.VersionHeader, c.UserAgent = "Other-Version", "other/1" })
	_, err := client.NotificationConfiguration(t.Context())
	must(t, err)
	if h := s.requests()[0].header; h.Get("Other-Version") != "2.0" || h.Get("Service-Version") != "" || h.Get("User-Agent") != "other/1" {
		t.Errorf("got %v", h)
	}
}
