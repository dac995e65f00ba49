package receiver_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

func TestTheMetricsAreWellFormed(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Observe, oldKey(t)))
	must200(t, d, post(charge("1")))
	must200(t, d, post("=="))
	problems, err := testutil.GatherAndLint(d.registry)
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// S-80: a label per type that somebody invents would fill the memory of whoever scrapes.
func TestLabelsComeFromClosedSets(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	client := newClient(t)
	for i := range 100 {
		if got, err := d.try(client, fmt.Sprintf("transactionType=INVENTED_%d", i)); got != 200 {
			t.Fatalf("got %d, %v", got, err)
		}
	}
	if got := d.metric(t, "ipn_events_total", "outcome", "new", "transaction_type", "other"); got != 100 {
		t.Errorf("counted %v others, want 100", got)
	}
	for name, want := range map[string]int{"ipn_events_total": 1, "ipn_last_event_timestamp_seconds": 1} {
		if got, err := testutil.GatherAndCount(d.registry, name); got != want || err != nil {
			t.Errorf("%s has %d series, want %d (%v)", name, got, want, err)
		}
	}
}

// TestEveryOutcomeIsThereFromTheStart so that a rate over a counter that never moved is zero, and not a gap.
func TestEveryOutcomeIsThereFromTheStart(t *testing.T) {
	t.Parallel()
	d := newDoorBefore(t, record{})
	var got []string
	for outcome := range d.look(t).outcomes {
		got = append(got, outcome)
	}
	slices.Sort(got)
	want := "broken duplicate empty flood forbidden media_type method new not_found overloaded probe quarantined too_large unauthorized unavailable variant"
	if strings.Join(got, " ") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestAnAcknowledgementIsTimed(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	must200(t, d, post(charge("1")))
	must200(t, d, post("=="))
	must200(t, d, request("GET /ipn", nil, "")) // which acknowledges nothing
	families, err := d.registry.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() == "ipn_ack_seconds" {
			if got := family.GetMetric()[0].GetHistogram().GetSampleCount(); got != 2 {
				t.Errorf("timed %d acknowledgements, want 2", got)
			}
			return
		}
	}
	t.Error("ipn_ack_seconds is not there")
}

// personal are the fields that tell of a person, a card or an account; custom ones may.
var personal = strings.Fields(`invoiceFirstName invoiceLastName invoiceAddress1 invoiceAddress2 invoiceEmail invoiceCompany invoiceCity invoiceZipCode
	invoiceState invoiceMobilePhone invoiceWorkPhone invoiceFaxNumber invoiceTitle firstName lastName address1 address2 city zipCode state email
	homePhone mobilePhone workPhone faxNumber company username title shippingFirstName shippingLastName shippingAddress1 shippingAddress2 shippingCity
	shippingZipCode accountId remoteAddress creditCardLastFourDigits creditCardExpDate vatId licenseKey authKey merchantTransactionId referenceNumber
	subscriptionId personalId cpf Color`)

// TestNothingOfABodyReachesLogsOrMetrics puts a canary into every place a stranger can write to, and meets every answer
// (B-39, S-79): what is not written cannot break a line of the log.
func TestNothingOfABodyReachesLogsOrMetrics(t *testing.T) {
	t.Parallel()
	enforced := newDoor(t, verify(receiver.Enforce, oldKey(t)), allowance(12))
	_, err := enforced.db.Exec(t.Context(), "alter table events add constraint no_curse check (country <> 'XX')")
	must(t, err)
	var body strings.Builder
	body.WriteString("transactionType=CHARGE")
	for i, name := range personal {
		fmt.Fprintf(&body, "&%s=%s", name, url.QueryEscape(fmt.Sprintf("canary %d", i)))
	}
	body.WriteString("&invoiceChargeAmount=canary&currency=canary&transactionDate=canary&canary+name=1&canary;=2&%zzcanary")
	sign := func(body string, headers ...string) string {
		return request("POST /ipn?canary=1", append(append(signedBy(oldKey(t), body), headers...), length(len(body))), body)
	}
	told := body.String()
	for _, tt := range []struct {
		text string
		want int
	}{
		{sign(told, formType, "User-Agent: canary", "X-Canary: canary", "Cookie: canary"), 200},
		{sign(told, formType), 200},
		{sign(told+"&couponCode=canary", formType), 200},
		{sign(told+"&country=XX&invoiceCountry=XX&shippingCountry=XX", formType), 200},
		{sign("&=canary", formType), 200},
		{sign(`{"canary":"canary"}`, "Content-Type: application/canary"), 200},
		{sign("transactionType=CANARY", formType, "Content-Encoding: canary"), 200},
		{post(told), 401},
		{post(told, headers("canary", "canary")...), 401},
		{post(told, headers("canary", strings.Repeat("ca", 32))...), 401},
		{request("GET /canary?canary", []string{"Referer: canary"}, ""), 404},
		{request("CANARY /ipn", nil, ""), 405},
		{request("POST /ipn", []string{formType, length(9 << 20)}, "canary"), 413},
		{request("POST /ipn", []string{formType, "Transfer-Encoding: chunked"}, "canary\r\n"), 400},
	} {
		if got := enforced.status(t, tt.text); got != tt.want {
			t.Errorf("got %d, want %d to %.80q", got, tt.want, tt.text)
		}
	}
	if entries := enforced.logs.FilterMessage("request").Len(); entries < 14 {
		t.Errorf("only %d requests are in the log", entries)
	}
	for _, entry := range enforced.logs.All() {
		if line := fmt.Append(nil, entry.Message, entry.ContextMap()); hasCanary(line) {
			t.Errorf("in the log: %s", line)
		}
	}
	families, err := enforced.registry.Gather()
	must(t, err)
	var text bytes.Buffer
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&text, family)
		must(t, err)
	}
	if hasCanary(text.Bytes()) {
		t.Errorf("in the metrics: %s", text.Bytes())
	}
	if got := ask[int](t, enforced, "select count(*) from events where problems::text ilike '%canary%'"); got != 0 {
		t.Errorf("%d events quote the body in their problems", got)
	}
}

// TestTheLogTellsWhatBecameOfAPost, in words out of closed sets.
func TestTheLogTellsWhatBecameOfAPost(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Observe, oldKey(t)))
	body := charge("1")
	must200(t, d, post(body, signedBy(oldKey(t), body)...))
	eventually(t, "the line is written", func() bool { return d.logs.FilterMessage("request").Len() == 1 })
	got := d.logs.FilterMessage("request").All()[0].ContextMap()
	for name, want := range map[string]any{
		"outcome": "new", "type": "CHARGE", "eventId": int64(1), "receipts": int64(1), "verification": string(ipn.VouchedSignature), "problems": int64(0), "status": int64(200),
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	if identity, _ := got["identity"].(string); len(identity) != 12 {
		t.Errorf("identity: got %v", got["identity"])
	}
}
