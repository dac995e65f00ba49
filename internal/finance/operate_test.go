package finance_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// newOperatedOffice opens an office over a real record of three events. The sink forward.billing has gone through them
// and failed on the second, whose next attempt is an hour away.
func newOperatedOffice(t *testing.T) *office {
	t.Helper()
	o := newOffice(t, pgtest.New(t), func(o *finance.Office) { o.Configured = []string{"forward.billing"} })
	for i := range 3 {
		o.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=R%d&transactionDate=11/20/2026+08:30+AM", i+1))
	}
	lead, err := o.store.Lead(t.Context(), billing)
	if err != nil {
		t.Fatal(err)
	}
	defer lead.Close()
	if err := lead.Settle(t.Context(), ipn.Settlement{Position: 3, Failed: []ipn.Failure{{EventID: 2, Number: 1, Error: "answered 500", Wait: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	return o
}

var billing = store.LeadConfig{Handler: "forward.billing", Kind: ipn.KindSink, Process: "here:1"}

// act posts an act that must go well.
func (o *office) act(target, body string) map[string]any {
	o.tb.Helper()
	answer := o.post(target, body)
	if answer.Code != http.StatusOK {
		o.tb.Fatalf("POST %s: %d %s", target, answer.Code, answer.Body)
	}
	return object(o.tb, answer.Body)
}

// only returns where the only handler stands.
func (o *office) only() map[string]any {
	o.tb.Helper()
	return o.get("/api/v1/handlers")["items"].([]any)[0].(map[string]any)
}

func TestAFailedEventIsFoundAndRedriven(t *testing.T) {
	t.Parallel()
	o := newOperatedOffice(t)
	if h := o.only(); h["name"] != "forward.billing" || h["configured"] != true || h["position"] != 3.0 || h["parked"] != 1.0 || h["lagEvents"] != 0.0 {
		t.Errorf("got %v", h)
	}
	parked := o.get("/api/v1/parked")["items"].([]any)
	if p := parked[0].(map[string]any); len(parked) != 1 || p["eventId"] != 2.0 || p["referenceNumber"] != "R2" || p["lastError"] != "answered 500" {
		t.Errorf("got %v", parked)
	}
	var states []any
	for id := 1; id <= 3; id++ {
		handlings := o.get(fmt.Sprint("/api/v1/events/", id))["handlers"].([]any)
		states = append(states, handlings[0].(map[string]any)["state"])
	}
	if !slices.Equal(states, []any{"done", "parked", "done"}) {
		t.Errorf("got %v", states)
	}
	for _, dryRun := range []bool{true, false} {
		if got := o.act("/api/v1/parked/redrive", fmt.Sprintf(`{"handler":"forward.billing","dryRun":%t,"reason":"mended"}`, dryRun)); got["events"] != 1.0 {
			t.Errorf("dryRun %t: got %v", dryRun, got)
		}
	}
	if p := o.get("/api/v1/parked?state=parked")["items"].([]any)[0].(map[string]any); p["attempts"] != 0.0 {
		t.Errorf("after the redrive: got %v", p)
	}
}

func TestAReplayIsCountedAndThenDone(t *testing.T) {
	t.Parallel()
	o := newOperatedOffice(t)
	tests := []struct {
		body             string
		events, position float64
	}{
		{`"all":true,"dryRun":true`, 3, 0},
		{`"since":"2026-11-22","dryRun":true`, 0, 3},
		{`"matching":{"referenceNumber":"R1"},"dryRun":true`, 1, 3},
		{`"matching":{"referenceNumber":"R1"},"dryRun":false`, 1, 3},
		{`"since":"2026-11-21","dryRun":false`, 3, 0},
	}
	for _, tc := range tests {
		before := o.only()["position"]
		got := o.act("/api/v1/handlers/forward.billing/replay", `{"reason":"lost","actor":"maria",`+tc.body+`}`)
		if got["events"] != tc.events || got["position"] != tc.position {
			t.Errorf("%s: got %v", tc.body, got)
		}
		if after := o.only()["position"]; got["dryRun"] == true && after != before {
			t.Errorf("%s moved the cursor from %v to %v", tc.body, before, after)
		}
	}
	if got := o.only()["position"]; got != 0.0 {
		t.Errorf("the cursor stands at %v", got)
	}
}

func TestAPausedHandlerIsNotLedAndTheAuditTellsWhy(t *testing.T) {
	t.Parallel()
	o := newOperatedOffice(t)
	o.act("/api/v1/handlers/forward.billing/pause", `{"reason":"month's end","actor":"maria"}`)
	if h := o.only(); h["pausedAt"] == nil || h["pausedBecause"] != "month's end" {
		t.Errorf("got %v", h)
	}
	if lead, err := o.store.Lead(t.Context(), billing); !errors.Is(err, ipn.ErrPaused) {
		t.Errorf("led while paused: %v, %v", lead, err)
	}
	o.act("/api/v1/handlers/forward.billing/resume", `{"reason":"month closed"}`)
	if h := o.only(); h["pausedAt"] != nil {
		t.Errorf("got %v", h)
	}
	entries, pages := o.follow("/api/v1/audit", []string{"limit", "1"}, func(e map[string]any) string {
		return fmt.Sprint(e["actor"], " ", e["action"], " ", e["handler"], ": ", e["reason"])
	})
	want := []string{"api:tester resume forward.billing: month closed", "api:tester/maria pause forward.billing: month's end"}
	if !slices.Equal(entries, want) || pages != 2 {
		t.Errorf("got %q on %d pages, want %q", entries, pages, want)
	}
}

func TestTheRecordKnowsNoOtherHandler(t *testing.T) {
	t.Parallel()
	o := newOperatedOffice(t)
	for _, name := range []string{"forward.bill", "a%00b", "%ff"} {
		for _, tc := range []struct{ act, body string }{
			{"pause", `{"reason":"closing"}`}, {"resume", `{"reason":"closing"}`}, {"replay", `{"reason":"closing","all":true,"dryRun":true}`},
		} {
			wantProblem(t, o.post("/api/v1/handlers/"+name+"/"+tc.act, tc.body), http.StatusNotFound)
		}
	}
	wantProblem(t, o.post("/api/v1/parked/redrive", `{"reason":"closing","handler":"forward.bill"}`), http.StatusNotFound)
	if entries := o.get("/api/v1/audit")["items"].([]any); len(entries) != 0 {
		t.Errorf("what was not done is in the audit: %v", entries)
	}
}
