package receiver_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

// effect is all that a request leaves behind.
type effect struct {
	Status  int
	Outcome string // the label of ipn_requests_total that was counted
	Kept    string // "event" with its voucher, "quarantine" with its reason and the status answered, or ""
}

// watch sends a request and tells its effect. Rules that hold for every answer are checked on the way: no body, no
// redirect, Retry-After exactly where another try is asked for.
func (d *door) watch(tb testing.TB, text string) (effect, reply) {
	tb.Helper()
	before := d.look(tb)
	got := d.send(tb, text)
	after := d.look(tb)

	if len(got.body) != 0 || got.ContentLength != 0 {
		tb.Errorf("the answer has a body of %d bytes and says %d", len(got.body), got.ContentLength)
	}
	if got.StatusCode/100 == 3 || got.Header.Get("Location") != "" {
		tb.Errorf("got a redirect: %s", got.Status)
	}
	later := got.StatusCode == 429 || got.StatusCode == 503
	if asked := got.Header.Get("Retry-After") != ""; asked != later {
		tb.Errorf("%s: Retry-After is %q", got.Status, got.Header.Get("Retry-After"))
	}
	return effect{Status: got.StatusCode, Outcome: after.outcome(before), Kept: after.kept(before)}, got
}

// sight is what can be seen of a door's deeds.
type sight struct {
	outcomes              map[string]float64
	receipts, quarantined int64
	voucher, reason       string // of the latest
}

func (d *door) look(tb testing.TB) sight {
	tb.Helper()
	s := sight{outcomes: map[string]float64{}}
	families, err := d.registry.Gather()
	must(tb, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "ipn_requests_total" {
				s.outcomes[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	if d.db != nil {
		must(tb, d.db.QueryRow(tb.Context(), `
			select coalesce((select sum(receipts) from events), 0)::bigint, (select count(*) from quarantine),
				coalesce((select verification from events order by last_received_at desc, id desc limit 1), ''),
				coalesce((select reason || ' ' || answered from quarantine order by id desc limit 1), '')`).
			Scan(&s.receipts, &s.quarantined, &s.voucher, &s.reason))
	}
	return s
}

func (s sight) outcome(before sight) string {
	var changed []string
	for label, n := range s.outcomes {
		for range int(n - before.outcomes[label]) {
			changed = append(changed, label)
		}
	}
	slices.Sort(changed)
	return strings.Join(changed, ", ")
}

func (s sight) kept(before sight) string {
	var kept []string
	for range s.receipts - before.receipts {
		kept = append(kept, "event "+s.voucher)
	}
	for range s.quarantined - before.quarantined {
		kept = append(kept, "quarantine "+s.reason)
	}
	return strings.Join(kept, ", ")
}

// What most requests of the ladder come to.
var (
	isNew    = effect{200, "new", "event unsigned"}
	isProbe  = effect{200, "probe", ""}
	isMethod = effect{405, "method", ""}
	isLost   = effect{404, "not_found", ""}
	isLarge  = effect{413, "too_large", ""}
	isMedia  = effect{415, "media_type", "quarantine media_type 415"}
)

// TestTheLadder is the whole policy of the door, one row for each way a request can look. Signatures are observed, so
// that both who signs and who does not gets up to the top.
func TestTheLadder(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Observe, oldKey(t)))
	n := 0
	ref := func() string { n++; return charge(fmt.Sprint(n)) }
	to := func(target string) string {
		body := ref()
		return request("POST "+target, []string{formType, length(len(body))}, body)
	}
	as := func(body string, headers ...string) string {
		return request("POST /ipn", append(headers, length(len(body))), body)
	}
	signed := func(body string, headers ...string) string {
		return as(body, append(headers, signedBy(oldKey(t), body)...)...)
	}
	const json, xml = `{"transactionType":"CHARGE"}`, `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>`
	pairs := func(n int) string {
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "&f%d=%d", i, i)
		}
		return "transactionType=CHARGE" + body.String()
	}
	for _, tt := range []struct {
		name, text string
		want       effect
	}{
		{"a probe", request("GET /ipn", nil, ""), isProbe},
		{"a probe of the head", request("HEAD /ipn", nil, ""), isProbe},
		{"a probe with a query", request("GET /ipn?x=1", nil, ""), isProbe},
		{"GET with a body", request("GET /ipn", []string{length(3)}, "a=b"), isMethod},
		{"GET with a chunked body", request("GET /ipn", []string{"Transfer-Encoding: chunked"}, chunked("a=b")), isMethod},
		{"PUT", request("PUT /ipn", []string{length(3)}, "a=b"), isMethod},
		{"DELETE", request("DELETE /ipn", nil, ""), isMethod},
		{"OPTIONS", request("OPTIONS /ipn", nil, ""), isMethod},
		{"TRACE", request("TRACE /ipn", nil, ""), isMethod},
		{"CONNECT", request("CONNECT /ipn", nil, ""), isMethod},
		{"lower-case post", request("post /ipn", []string{length(3)}, "a=b"), isMethod},
		{"an invented verb", request("FROBNICATE /ipn", nil, ""), isMethod},

		{"a post", to("/ipn"), isNew},
		{"two slashes", to("//ipn"), isNew},
		{"a slash behind", to("/ipn/"), isNew},
		{"slashes everywhere", to("///ipn//"), isNew},
		{"a query, which is not looked at", to("/ipn?transactionType=REFUND"), isNew},
		{"an escaped letter", to("/%69pn"), isNew},
		{"a target in absolute form", to("http://evil.example/ipn"), isNew},
		{"dots", to("/x/../ipn"), isLost},
		{"one dot", to("/./ipn"), isLost},
		{"a path parameter", to("/ipn;x=1"), isLost},
		{"a NUL", to("/ipn%00"), isLost},
		{"below", to("/ipn/x"), isLost},
		{"another case", to("/IPN"), isLost},
		{"the root", to("/"), isLost},
		{"the private door's pages", request("GET /metrics", nil, ""), isLost},
		{"profiles", request("GET /debug/pprof/", nil, ""), isLost},

		{"an empty body", post(""), effect{400, "empty", ""}},
		{"an empty chunked body", request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, chunked("")), effect{400, "empty", ""}},
		{"no name at all", post("&&&==="), effect{200, "quarantined", "quarantine no_fields 200"}},
		{"a thousand pairs", post(pairs(999)), isNew},
		{"a thousand and one pairs", post(pairs(1000)), effect{200, "quarantined", "quarantine too_many_fields 200"}},
		{"16,000 pairs", post(pairs(16000)), effect{200, "quarantined", "quarantine too_many_fields 200"}},

		{"an unknown type", post("transactionType=MOON_PHASE&referenceNumber=1"), isNew},
		{"no type", post("referenceNumber=1"), isNew},
		{"binary garbage", post(garbage()), isNew},
		{"an escaped NUL", post(ref() + "&firstName=%00%00&%00=x"), isNew},
		{"a bare NUL", post(ref() + "&firstName=\x00"), isNew},
		{"invalid UTF-8", post(ref() + "&firstName=%FF%FE&lastName=\xff"), isNew},
		{"surrogates and overlong UTF-8", post(ref() + "&a=%ED%A0%80&%C0%80=b"), isNew},
		{"broken escapes", post(ref() + "&a=%zz&b=%&c=100%"), isNew},
		{"semicolons", post("transactionType=CHARGE;referenceNumber=9"), isNew},
		{"a reference of 24 kB", post(charge(noise(24 << 10))), isNew},
		{"an amount of a thousand digits", post(ref() + "&invoiceAmount=" + strings.Repeat("9", 1000)), isNew},
		{"a date that never was", post("transactionType=CHARGE&referenceNumber=10&transactionDate=02/30/2026+13:60+PM"), isNew},
		{"a critical field twice", post(ref() + "&invoiceChargeAmount=7.00"), isNew},
		{"300 kB", post(ref() + "&note=" + strings.Repeat("x", 300<<10)), isNew},
		{"the largest body", post(ref() + "&note=" + strings.Repeat("x", 1<<20-len(charge("99")+"&note="))), isNew},

		{"a byte too many", post(strings.Repeat("x", 1<<20+1)), isLarge},
		{"chunked, 2 MB", request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, chunked(strings.Repeat("x", 2<<20))), isLarge},
		{"50 MB declared, nothing sent", request("POST /ipn", []string{formType, length(50 << 20)}, ""), isLarge},
		{"50 MB announced", request("POST /ipn", []string{formType, length(50 << 20), "Expect: 100-continue"}, ""), isLarge},
		{"a small body announced", post(ref(), "Expect: 100-continue"), isNew},
		{"a small body in chunks", request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, chunked(ref())), isNew},
		{"a broken chunk", request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, "zz\r\na=b\r\n0\r\n\r\n"), effect{400, "broken", ""}},

		{"no content type", as(ref()), isNew},
		{"a charset", as(ref()+"&city=K%F6ln", formType+"; charset=ISO-8859-1"), isNew},
		{"a content type in capitals", as(ref(), "Content-Type: APPLICATION/X-WWW-FORM-URLENCODED"), isNew},
		{"a content type with broken parameters", as(ref(), formType+"; charset=a; charset=b; ="), isNew},
		{"JSON", as(json, "Content-Type: application/json"), isMedia},
		{"XML", as(xml, "Content-Type: text/xml"), isMedia},
		{"multipart", as("--x\r\n\r\n--x--", "Content-Type: multipart/form-data; boundary=x"), isMedia},
		{"plain text", as("a=b", "Content-Type: text/plain"), isMedia},
		{"a content type that is none", as("a=b", "Content-Type: ;;\xff"), isMedia},
		{"gzip", as("\x1f\x8b\x08", formType, "Content-Encoding: gzip"), effect{415, "media_type", "quarantine content_encoding 415"}},
		{"no encoding, said aloud", as(ref(), formType, "Content-Encoding: identity"), isNew},

		{"JSON, signed", signed(json, "Content-Type: application/json"), effect{200, "new", "event signature"}},
		{"XML, signed", signed(xml, "Content-Type: text/xml"), effect{200, "new", "event signature"}},
		{"gzip, signed", signed("\x1f\x8b\x08=", formType, "Content-Encoding: gzip"), effect{200, "new", "event signature"}},
		{"no name at all, signed", signed("==", formType), effect{200, "quarantined", "quarantine no_fields 200"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, answer := d.watch(t, tt.text)
			if got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
			if closes := strings.Contains(tt.text, "chunked") || tt.want.Status == 413; closes && !answer.Close {
				t.Error("the connection stays open")
			}
			if answer.asked && tt.want == isLarge {
				t.Error("the body was asked for")
			}
			if allow := answer.Header.Get("Allow"); tt.want.Status == 405 && allow != "POST, GET, HEAD" {
				t.Errorf("Allow: got %q", allow)
			}
		})
	}
}

// garbage is every byte there is.
func garbage() string {
	all := make([]byte, 512)
	for i := range all {
		all[i] = byte(i * 7)
	}
	return string(all)
}

// noise is text that no index can compress.
func noise(n int) string {
	text, state := make([]byte, n), uint32(1)
	for i := range text {
		state = state*1664525 + 1013904223
		text[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[state>>27]
	}
	return string(text)
}

func TestABodyThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for _, text := range []string{
		request("POST /ipn", []string{formType, length(100)}, charge("1")[:50]),
		request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, "64\r\n"+charge("1")[:50]),
	} {
		conn := d.dial(t)
		_, err := conn.Write([]byte(text))
		must(t, err)
		must(t, conn.(*net.TCPConn).CloseWrite())
		got, err := read(conn, text)
		must(t, err)
		if got.StatusCode != 400 || !got.Close {
			t.Errorf("got %s, close %t", got.Status, got.Close)
		}
	}
	if got := d.look(t); got.outcomes["broken"] != 2 || got.receipts+got.quarantined != 0 {
		t.Errorf("got %+v, want two broken bodies and nothing kept", got)
	}
}

func TestHTTP10IsServed(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	got, answer := d.watch(t, strings.Replace(post(charge("1")), "HTTP/1.1", "HTTP/1.0", 1))
	if want := (effect{200, "new", "event off"}); got != want || !answer.Close {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestASampleOfEveryTypeIsKept(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	samples, err := filepath.Glob("../ipn/testdata/*.body")
	must(t, err)
	if len(samples) < 36 {
		t.Fatalf("only %d samples", len(samples))
	}
	for _, path := range samples {
		body, err := os.ReadFile(path)
		must(t, err)
		if got, _ := d.watch(t, post(string(body))); got != (effect{200, "new", "event off"}) {
			t.Errorf("%s: got %+v", filepath.Base(path), got)
		}
	}
}

// TestNoBodyIsAnswered5xx lets chance put the ugliest pieces together (B-16): while the database is healthy no body is a
// reason to ask for it again.
func TestNoBodyIsAnswered5xx(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	client := newClient(t)
	pieces := []string{
		"&", "=", ";", "%", "%0", "%00", "\x00", "%FF", "\xff", "%ED%A0%80", "%C0%80", "%5Cu0000", `\u0000`, "\"", "\\", "&amp;", "+", "\xef\xbb\xbf",
		"transactionType=", "CHARGE", "REFUND", "PAYOUT", "ACCOUNT_UPDATER", "&referenceNumber=", "&invoiceChargeAmount=", "&invoiceChargeCurrency=",
		"1e9", "NaN", "-0.00", "Infinity", "0x10", "1,234.56", "9999999999999999999999999999999999999999", "0.0000000000000000000000000000000000000001",
		"&transactionDate=", "05/15/2026 01:02 PM", "01/01/0001 12:00 AM", "12/31/9999 11:59 PM", "&testMode=", "Y", "&country=", "&cbStatus=", "&untilDate=",
		noise(3000), strings.Repeat("%E2%80%AE", 100), strings.Repeat("a%CC%81", 200), "&3DStatus=", "&promoteContractId[0]=", "__proto__", "'; drop table events; --",
	}
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 40).Draw(t, "pieces"), "")
		if got, err := d.try(client, body); err != nil || got != 200 {
			t.Fatalf("got %d, %v for %q", got, err, body)
		}
	})
}
