package finance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

const because = `{"reason":"The key is mended"}`

func (o *office) quarantine(body string) {
	o.tb.Helper()
	kept, err := o.store.Quarantine(o.tb.Context(), &ipn.Quarantined{
		Reason: ipn.ReasonSignatureMissing, Answered: 401, Digest: ipn.DigestOf([]byte(body)), Raw: []byte(body), Origin: ipn.Origin{ReceivedAt: noon}})
	if err != nil || !kept {
		o.tb.Fatalf("got %v, %v", kept, err)
	}
}

func TestQuarantineIsListedWithWhatAPromotionWouldComeTo(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.quarantine("transactionType=CHARGE&referenceNumber=R1&believe=me")
	o.quarantine("transactionType=CHARGE&referenceNumber=R2")
	first := o.get("/api/v1/quarantine?limit=1")
	newest := first["items"].([]any)[0].(map[string]any)
	if newest["verifiable"] != false || newest["obstacle"] != string(ipn.ReasonSignatureMismatch) || newest["reason"] != string(ipn.ReasonSignatureMissing) ||
		newest["answered"] != 401.0 || newest["size"] != 41.0 || newest["fields"].(map[string]any)["referenceNumber"] != "R2" {
		t.Errorf("got %v", newest)
	}
	second := o.get(fmt.Sprintf("/api/v1/quarantine?limit=1&cursor=%s", first["nextCursor"]))
	if older := second["items"].([]any)[0].(map[string]any); older["verifiable"] != true || second["nextCursor"] != nil {
		t.Errorf("got %v", second)
	}
}

func TestAPromotionMakesAnEventOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.quarantine("transactionType=CHARGE&referenceNumber=R1&believe=me")
	o.quarantine("transactionType=CHARGE&referenceNumber=R2")
	items := o.get("/api/v1/quarantine")["items"].([]any)
	promote := func(item any) string {
		return fmt.Sprintf("/api/v1/quarantine/%.0f/promote", item.(map[string]any)["id"])
	}

	if text := wantProblem(t, o.post(promote(items[0]), because), http.StatusConflict); !strings.Contains(text, string(ipn.ReasonSignatureMismatch)) {
		t.Errorf("the obstacle is not named: %s", text)
	}
	answer := o.post(promote(items[1]), because)
	if answer.Code != http.StatusOK {
		t.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	promoted := object(t, answer.Body)
	if promoted["outcome"] != "new" || promoted["receipts"] != 1.0 {
		t.Errorf("got %v", promoted)
	}
	if event := o.get(fmt.Sprintf("/api/v1/events/%.0f", promoted["eventId"])); event["verification"] != "promoted" || event["referenceNumber"] != "R1" {
		t.Errorf("got %v", event)
	}
	wantProblem(t, o.post(promote(items[1]), because), http.StatusNotFound)
}
