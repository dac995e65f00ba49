package finance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// A lookout stands between the API and what is known of the payment service's configuration.
type lookout struct {
	state  ipn.ConfigurationState
	pushes []ipn.ConfigurationPush // newest first
	err    error
}

func withLookout(l *lookout) func(*finance.Office) {
	return func(o *finance.Office) { o.Configuration, o.Cursors = l, sealing() }
}

func (l *lookout) ConfigurationState() ipn.ConfigurationState { return l.state }

func (l *lookout) ConfigurationPushes(_ context.Context, before int64, limit int) ([]ipn.ConfigurationPush, error) {
	var page []ipn.ConfigurationPush
	for _, p := range l.pushes {
		if (before == 0 || p.ID < before) && len(page) < limit {
			page = append(page, p)
		}
	}
	return page, l.err
}

func TestTheStateOfTheConfigurationIsTold(t *testing.T) {
	t.Parallel()
	inSync, at := false, noon
	l := &lookout{state: ipn.ConfigurationState{
		Mode: "plan", Service: "pay.example.com", InSync: &inSync, CheckedAt: &at, Result: ipn.ConfigurationDrift,
		Desired: json.RawMessage(`{"url":"https://shop.example.com/ipn"}`),
		Changes: []ipn.ConfigurationChange{{Setting: "https://shop.example.com/ipn CHARGE", From: "false", To: "true"}},
	}}
	for id := range int64(30) {
		l.pushes = append(l.pushes, ipn.ConfigurationPush{ID: 30 - id, At: noon, Process: "here:1", Trigger: "start", Result: "drift"})
	}
	got := newOffice(t, nowhere(t), withLookout(l)).get("/api/v1/configuration")
	pushes := got["pushes"].([]any)
	delete(got, "pushes")
	want := map[string]any{
		"mode": "plan", "service": "pay.example.com", "inSync": false, "checkedAt": "2026-11-21T12:00:00Z", "result": "drift",
		"desired": map[string]any{"url": "https://shop.example.com/ipn"},
		"changes": []any{map[string]any{"setting": "https://shop.example.com/ipn CHARGE", "from": "false", "to": "true"}},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(pushes) != 10 || pushes[0].(map[string]any)["id"] != 30.0 {
		t.Errorf("got %v", pushes)
	}
}

// A reader need not tell an absent list from an empty one, and must not take "not known yet" for "no".
func TestAConfigurationThatWasNeverLookedAtIsNeitherInSyncNorNot(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withLookout(&lookout{state: ipn.ConfigurationState{Mode: "off"}}))
	if got := strings.TrimSpace(o.do(http.MethodGet, "/api/v1/configuration").Body.String()); got != `{"mode":"off","changes":[],"pushes":[]}` {
		t.Errorf("got %s", got)
	}
}

func TestTheLooksAreListedPageByPage(t *testing.T) {
	t.Parallel()
	l := &lookout{pushes: []ipn.ConfigurationPush{
		{ID: 3, At: noon, Process: "here:1", Trigger: "interval", Result: "failed", Error: "the payment service answered 500"}, {ID: 2}, {ID: 1},
	}}
	o := newOffice(t, nowhere(t), withLookout(l))
	got, pages := o.follow("/api/v1/configuration/pushes", []string{"limit", "2"}, func(item map[string]any) string { return fmt.Sprint(item["id"]) })
	if strings.Join(got, " ") != "3 2 1" || pages != 2 {
		t.Errorf("got %v on %d pages", got, pages)
	}
	first := o.get("/api/v1/configuration/pushes?limit=1")["items"].([]any)[0].(map[string]any)
	if first["trigger"] != "interval" || first["error"] != "the payment service answered 500" || first["at"] != "2026-11-21T12:00:00Z" || len(first["changes"].([]any)) != 0 {
		t.Errorf("got %v", first)
	}
	for _, bad := range []string{"limit=0", "limit=1001", "cursor=next", "result=drift"} {
		wantProblem(t, o.do(http.MethodGet, "/api/v1/configuration/pushes?"+bad), http.StatusUnprocessableEntity)
	}
}

func TestARecordThatIsAwayLeavesTheConfigurationUntold(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withLookout(&lookout{err: ipn.ErrUnavailable}))
	for _, path := range []string{"/api/v1/configuration", "/api/v1/configuration/pushes"} {
		wantProblem(t, o.do(http.MethodGet, path), http.StatusServiceUnavailable)
		wantProblem(t, o.as("").do(http.MethodGet, path), http.StatusUnauthorized)
	}
}
