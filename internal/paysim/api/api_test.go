package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/api"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const day = 24 * time.Hour

// wire is the interface on a socket.
type wire struct {
	service *paysim.Service
	agenda  *agenda.Agenda
	url     string
	send    func(url string, n notice.Notice) // nil: IPNs go nowhere
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{agenda: agenda.New(time.Date(2026, time.July, 1, 6, 30, 15, 0, time.UTC), 1)}
	w.service = paysim.New(paysim.Config{
		Agenda: w.agenda, Send: func(url string, n notice.Notice) {
			if w.send != nil {
				w.send(url, n)
			}
		},
		BankURL: func() string { return "https://bank.example.com/bank/" },
	})
	server := httptest.NewServer(api.New(api.Config{Service: w.service, Agenda: w.agenda, Username: "merchant", Password: "pass:word"}))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// said is an answer as it came.
type said struct {
	status int
	header http.Header
	text   string
	body   map[string]any // of JSON
}

// ask sends a request in JSON; "Name: value" headers replace its own, and one without a value is taken away.
func (w *wire) ask(t *testing.T, method, path, body string, headers ...string) said {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth("merchant", "pass:word")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ") // of "" no header
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	s := said{status: response.StatusCode, header: response.Header, text: string(text)}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		decoder := json.NewDecoder(strings.NewReader(s.text))
		decoder.UseNumber()
		if err := decoder.Decode(&s.body); err != nil {
			t.Fatalf("%v in %s", err, s.text)
		}
	}
	return s
}

// at walks into an answer: "message.0.code". What is not there is "".
func (s said) at(path string) string {
	var here any = s.body
	for step := range strings.SplitSeq(path, ".") {
		switch value := here.(type) {
		case map[string]any:
			here = value[step]
		case []any:
			if int(step[0]-'0') >= len(value) {
				return ""
			}
			here = value[step[0]-'0']
		default:
			return ""
		}
	}
	switch value := here.(type) {
	case nil:
		return ""
	case string:
		return value
	default:
		text, _ := json.Marshal(value)
		return string(text)
	}
}

func (s said) code() string { return s.at("message.0.code") }

func wants[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// fields compares members of an answer.
func (s said) fields(t *testing.T, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := s.at(path); got != value {
			t.Errorf("%s: got %q, want %q in %s", path, got, value, s.text)
		}
	}
}

func TestOnlyTheAPIUserIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for _, c := range []struct {
		name, header string
		status       int
	}{
		{"the right credentials", "Authorization: Basic bWVyY2hhbnQ6cGFzczp3b3Jk", http.StatusOK},
		{"the scheme in lower case", "Authorization: basic bWVyY2hhbnQ6cGFzczp3b3Jk", http.StatusOK},
		{"two spaces", "Authorization: Basic  bWVyY2hhbnQ6cGFzczp3b3Jk", http.StatusUnauthorized},
		{"another password", "Authorization: Basic bWVyY2hhbnQ6cGFzcw==", http.StatusUnauthorized},
		{"another scheme", "Authorization: Bearer bWVyY2hhbnQ6cGFzczp3b3Jk", http.StatusUnauthorized},
		{"no credentials", "Authorization: ", http.StatusUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, http.MethodGet, "/services/2/notification-config/", "", c.header)
			wants(t, "status", got.status, c.status)
			if c.status == http.StatusUnauthorized {
				wants(t, "error", got.at("errorName"), "UNAUTHORIZED")
				wants(t, "challenge", got.header.Get("WWW-Authenticate"), `Basic realm="API"`)
			}
		})
	}
}

func TestWhatCannotBeUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	const transactions = "/services/2/transactions"
	for _, c := range []struct {
		name, method, path, body, header string
		status                           int
		code, property                   string
	}{
		{"a path nobody knows", "GET", "/services/2/nothing", "", "", 404, "", ""},
		{"a method the path does not know", "DELETE", transactions, "", "", 405, "85", ""},
		{"no content type", "POST", transactions, "{}", "Content-Type: ", 415, "", ""},
		{"XML where there is only JSON", "POST", transactions, "<a/>", "Content-Type: application/xml", 415, "", ""},
		{"no JSON", "POST", transactions, "{", "", 400, "10001", ""},
		{"nothing", "POST", transactions, "null", "", 400, "10001", ""},
		{"a list", "POST", transactions, "[]", "", 400, "10001", ""},
		{"two objects", "POST", transactions, "{}{}", "", 400, "10001", ""},
		{"a member of the wrong type", "POST", transactions, `{"creditCard":{"cardNumber":4111}}`, "", 400, "10001", "creditCard.cardNumber"},
		{"an unknown version", "GET", transactions + "/1", "", "service-version: 9.0", 400, "10000", ""},
		{"a body that is too long", "POST", transactions, strings.Repeat(" ", 1<<20+1), "", 413, "10001", ""},
		{"no type", "POST", transactions, "{}", "", 400, "16001", "cardTransactionType"},
		{"a capture by POST", "POST", transactions, `{"cardTransactionType":"CAPTURE"}`, "", 405, "85", "cardTransactionType"},
		{"a charge by PUT", "PUT", transactions, `{"cardTransactionType":"AUTH_CAPTURE"}`, "", 405, "85", "cardTransactionType"},
		{"another type", "PUT", transactions, `{"cardTransactionType":"REFUND"}`, "", 403, "7", "cardTransactionType"},
		{"no amount", "POST", transactions, `{"cardTransactionType":"AUTH_ONLY","currency":"USD"}`, "", 400, "16001", "amount"},
		{"an exponent", "POST", transactions, `{"cardTransactionType":"AUTH_ONLY","currency":"USD","amount":1e3}`, "", 400, "10001", "amount"},
		{"an amount that is none", "POST", transactions, `{"cardTransactionType":"AUTH_ONLY","currency":"USD","amount":true}`, "", 400, "10001", "amount"},
		{"an amount above all", "POST", transactions, `{"cardTransactionType":"AUTH_ONLY","currency":"USD","amount":99999999999.00}`, "", 400, "14006", "amount"},
		{"a capture without a number", "PUT", transactions, `{"cardTransactionType":"CAPTURE"}`, "", 400, "20008", "transactionId"},
		{"a transaction nobody knows", "GET", transactions + "/7", "", "", 404, "20009", "transactionId"},
		{"a quote nobody knows", "GET", "/services/2/tax-quote/7", "", "", 404, "300", "taxReference"},
		{"a pending refund nobody knows", "DELETE", transactions + "/pending-refund/7", "", "", 404, "20009", "refundTransactionId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, c.method, c.path, c.body, c.header)
			wants(t, "status", got.status, c.status)
			wants(t, "code", got.code(), c.code)
			wants(t, "property", got.at("message.0.invalidProperty.name"), c.property)
		})
	}
}

func TestAnErrorComesInXMLToWhoeverAcceptsXML(t *testing.T) {
	t.Parallel()
	got := newWire(t).ask(t, "GET", "/services/2/transactions/7", "", "Accept: application/xml")
	wants(t, "body", got.text, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<messages><message><error-name>INVALID_TRANSACTION_ID</error-name><code>20009</code><description>there is no such transaction</description>`+
		`<invalid-property><name>transactionId</name><message-value>7</message-value></invalid-property></message></messages>`)
}
