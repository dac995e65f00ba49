package finance_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// personal is a charge with something of every class of fields; what stands in capitals must not be seen while it is masked.
const personal = "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&accountId=A1&country=DE" +
	"&firstName=M-ANNA&lastName=S-ANTOS&email=m-ANNA%40s-ANTOS.test&address1=5+ELM+ST&city=BERLIN&workPhone=555ELM&vatId=DEVAT" +
	"&creditCardLastFourDigits=1234&creditCardExpDate=7/2031&authKey=AUTH-KEY&shopperAdminUrl=https://PORTAL&remoteAddress=ADDRESS-7&Color=INDIGO&custom1=yarn"

// hiddenParts are parts of values that nobody may see by looking.
var hiddenParts = []string{"ANNA", "ANTOS", "ELM", "BERLIN", "DEVAT", "2031", "AUTH-KEY", "PORTAL", "ADDRESS-7", "INDIGO"}

func wantHidden(tb testing.TB, what, text string) {
	tb.Helper()
	for _, part := range hiddenParts {
		if strings.Contains(text, part) {
			tb.Errorf("%s shows %s: %s", what, part, text)
		}
	}
}

func TestNobodySeesPersonalFieldsByLooking(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	id := o.record(personal).EventID
	o.record(personal + "&quantity=2&company=ANTOS")
	o.quarantine(personal)
	for _, role := range access.Roles() {
		for _, path := range []string{"/api/v1/events", fmt.Sprint("/api/v1/events/", id), "/api/v1/quarantine"} {
			answer := o.as(role).do(http.MethodGet, path)
			if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"R1"`) {
				t.Errorf("%s as %s: got %d %s", path, role, answer.Code, answer.Body)
			}
			wantHidden(t, path+" as "+string(role), answer.Body.String())
		}
	}
	event := o.get(fmt.Sprint("/api/v1/events/", id))
	fields, details := event["fields"].(map[string]any), event["details"].(map[string]any)
	for name, want := range map[string]any{
		"firstName": "M***", "email": "m***@s***.test", "city": "***", "creditCardLastFourDigits": "•••• 1234", "authKey": "[hidden]", "country": "DE", "custom1": "yarn",
	} {
		if fields[name] != want || name != "custom1" && details[name] != want {
			t.Errorf("%s: fields show %v, details %v, want %v", name, fields[name], details[name], want)
		}
	}
	if event["masked"] != true || o.get("/api/v1/quarantine")["items"].([]any)[0].(map[string]any)["masked"] != true {
		t.Error("nothing says that values are masked")
	}
}

// S-83: no cache keeps what was revealed.
func TestARevealShowsAllAndIsKeptInTheAudit(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	id := o.record(personal).EventID
	o.record(personal + "&quantity=2")
	answer := o.post(fmt.Sprintf("/api/v1/events/%d/reveal", id), `{"reason":"The bank asks who paid"}`)
	if answer.Code != http.StatusOK || answer.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	shown := object(t, answer.Body)
	variant := shown["variants"].([]any)[0].(map[string]any)
	for what, fields := range map[string]any{
		"fields": shown["fields"], "details": shown["details"], "the variant's fields": variant["fields"], "the variant's details": variant["details"],
	} {
		if got := fields.(map[string]any)["lastName"]; got != "S-ANTOS" {
			t.Errorf("%s show the last name %v", what, got)
		}
	}
	if shown["masked"] != false {
		t.Errorf("masked: got %v", shown["masked"])
	}
	o.wantAudit(fmt.Sprintf("api:tester reveal The bank asks who paid map[eventId:%d what:fields]", id))
}

func TestARawBodyIsKeptInTheAuditToo(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	id := o.record(personal).EventID
	answer := o.do(http.MethodGet, fmt.Sprintf("/api/v1/events/%d/raw", id))
	if answer.Code != http.StatusOK || answer.Header().Get("Cache-Control") != "no-store" || answer.Body.String() != personal {
		t.Fatalf("got %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	o.wantAudit(fmt.Sprintf("api:tester reveal took the raw body map[eventId:%d what:raw]", id))
}

func TestAPostInQuarantineIsRevealedToo(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.quarantine(personal)
	id := o.get("/api/v1/quarantine")["items"].([]any)[0].(map[string]any)["id"].(float64)
	answer := o.post(fmt.Sprintf("/api/v1/quarantine/%.0f/reveal", id), `{"reason":"Who sends this?"}`)
	if answer.Code != http.StatusOK || answer.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	if shown := object(t, answer.Body); shown["fields"].(map[string]any)["lastName"] != "S-ANTOS" || shown["masked"] != false {
		t.Errorf("got %v", shown)
	}
	o.wantAudit(fmt.Sprintf("api:tester reveal Who sends this? map[quarantineId:%.0f what:fields]", id))
}

// wantAudit checks that the audit holds one entry, written as actor, action, reason and details.
func (o *office) wantAudit(want string) {
	o.tb.Helper()
	entries := o.get("/api/v1/audit")["items"].([]any)
	if len(entries) != 1 {
		o.tb.Fatalf("the audit has %d entries", len(entries))
	}
	e := entries[0].(map[string]any)
	if got := fmt.Sprintf("%v %v %v %v", e["actor"], e["action"], e["reason"], e["details"]); got != want {
		o.tb.Errorf("the audit says\n%s, want\n%s", got, want)
	}
}

// S-81: the error that this provokes tells nothing of the event.
func TestARevealThatCannotBeKeptDoesNotHappen(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t), func(o *finance.Office) { o.Witness = deafWitness{} })
	id := o.record(personal).EventID
	o.quarantine(personal)
	quarantined := o.get("/api/v1/quarantine")["items"].([]any)[0].(map[string]any)["id"]
	reveals := []string{fmt.Sprintf("/api/v1/events/%d/reveal", id), fmt.Sprintf("/api/v1/quarantine/%.0f/reveal", quarantined)}
	for _, path := range reveals {
		wantHidden(t, path, wantProblem(t, o.post(path, because), http.StatusServiceUnavailable))
	}
	wantHidden(t, "raw", wantProblem(t, o.do(http.MethodGet, fmt.Sprintf("/api/v1/events/%d/raw", id)), http.StatusServiceUnavailable))
}

// deafWitness cannot write the audit.
type deafWitness struct{}

func (deafWitness) WitnessAct(context.Context, string, ipn.Act, any) error { return ipn.ErrUnavailable }

// S-84: an event that somebody may not take looks like none.
func TestWhoMayNotRevealGetsNothingToSee(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	id := o.record(personal).EventID
	for _, role := range []access.Role{access.Viewer, access.Operator} {
		reveal := fmt.Sprintf("/api/v1/events/%d/reveal", id)
		wantHidden(t, reveal, wantProblem(t, o.as(role).post(reveal, because), http.StatusForbidden))
		wantProblem(t, o.as(role).post("/api/v1/events/999/reveal", because), http.StatusForbidden)
		raw := o.as(role).do(http.MethodGet, fmt.Sprintf("/api/v1/events/%d/raw", id))
		absent := o.as(role).do(http.MethodGet, "/api/v1/events/999/raw")
		if wantProblem(t, raw, http.StatusNotFound) != wantProblem(t, absent, http.StatusNotFound) {
			t.Errorf("%s can tell an event from none", role)
		}
	}
	if entries := o.get("/api/v1/audit")["items"].([]any); len(entries) != 0 {
		t.Errorf("the audit tells of %v", entries)
	}
}

func TestARevealNeedsAReasonAndAnEvent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	reveal := fmt.Sprintf("/api/v1/events/%d/reveal", o.record(personal).EventID)
	for _, body := range []string{`{}`, `{"reason":""}`, `{"reason":"\u202e \u0000  "}`} {
		if text := wantProblem(t, o.post(reveal, body), http.StatusUnprocessableEntity); !strings.Contains(text, "reason") {
			t.Errorf("%s: the reason is not named: %s", body, text)
		}
	}
	wantProblem(t, o.post("/api/v1/events/999/reveal", because), http.StatusNotFound)
	wantProblem(t, o.post("/api/v1/quarantine/999/reveal", because), http.StatusNotFound)
}

func TestADroppedBodyIsNullAndSaysNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn)
	id := o.record(personal).EventID
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "delete from payloads"); err != nil {
		t.Fatal(err)
	}
	event := o.get(fmt.Sprint("/api/v1/events/", id))
	if fields, present := event["fields"]; fields != nil || !present || event["details"] != nil {
		t.Errorf("got %v and %v", event["fields"], event["details"])
	}
	answer := o.post(fmt.Sprintf("/api/v1/events/%d/reveal", id), because)
	shown := object(t, answer.Body)
	if answer.Code != http.StatusOK || shown["fields"] != nil || !reflect.DeepEqual(shown["variants"], []any{}) {
		t.Errorf("got %d %v", answer.Code, shown)
	}
}
