package finance_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// A desk stands between the API and the record: it knows the handler ledger, and notes what it is told to do.
type desk struct {
	act     ipn.Act
	replay  ipn.Replay
	redrive ipn.Redrive
	done    []string

	parked []ipn.ParkedEvent // by event id and handler
	audit  []ipn.AuditEntry  // newest first
}

func withDesk(d *desk) func(*finance.Office) {
	return func(o *finance.Office) { o.Handlers, o.Configured, o.Cursors = d, []string{"ledger"}, sealing() }
}

func (d *desk) does(what, name string, act ipn.Act) error {
	if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return ipn.ErrUnavailable // the database refuses the text, which looks like trouble
	}
	if name != "ledger" && name != "" {
		return ipn.ErrNotFound
	}
	d.act, d.done = act, append(d.done, what)
	return nil
}

func (d *desk) Handlers(context.Context) ([]ipn.HandlerState, error) {
	return []ipn.HandlerState{{Name: "forward.gone", Kind: ipn.KindSink}, {Name: "ledger", Kind: ipn.KindProjection, Position: 7}}, nil
}

func (d *desk) PauseHandler(_ context.Context, name string, act ipn.Act) error {
	return d.does("pause", name, act)
}

func (d *desk) ResumeHandler(_ context.Context, name string, act ipn.Act) error {
	return d.does("resume", name, act)
}

func (d *desk) ReplayHandler(_ context.Context, r ipn.Replay, act ipn.Act) (ipn.Replayed, error) {
	d.replay = r
	return ipn.Replayed{Events: 5, Position: 2, DryRun: r.DryRun}, d.does("replay", r.Handler, act)
}

func (d *desk) RedriveParked(_ context.Context, r ipn.Redrive, act ipn.Act) (int64, error) {
	d.redrive = r
	return 3, d.does("redrive", r.Handler, act)
}

func (d *desk) ParkedEvents(_ context.Context, q ipn.ParkedQuestion) ([]ipn.ParkedEvent, error) {
	var page []ipn.ParkedEvent
	for _, p := range d.parked {
		behind := p.EventID > q.After || p.EventID == q.After && p.Handler > q.AfterHandler
		if behind && (q.Handler == "" || q.Handler == p.Handler) && (q.State == "" || q.State == p.State) && len(page) < q.Limit {
			page = append(page, p)
		}
	}
	return page, nil
}

func (d *desk) Handlings(context.Context, int64) ([]ipn.Handling, error) {
	return nil, nil
}

func (d *desk) Audit(_ context.Context, before int64, limit int) ([]ipn.AuditEntry, error) {
	var page []ipn.AuditEntry
	for _, e := range d.audit {
		if (before == 0 || e.ID < before) && len(page) < limit {
			page = append(page, e)
		}
	}
	return page, nil
}

// nowhere is a database that is never asked.
func nowhere(t *testing.T) string { return "host=" + t.TempDir() }

func TestHandlersAreListedAndThoseServedHereMarked(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withDesk(&desk{}))
	items := o.get("/api/v1/handlers")["items"].([]any)
	gone, ledger := items[0].(map[string]any), items[1].(map[string]any)
	if gone["configured"] != false || gone["kind"] != "sink" || ledger["configured"] != true || ledger["position"] != 7.0 {
		t.Errorf("got %v", items)
	}
}

func TestAnActAnswersWhatHappened(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, body, done string
		want             map[string]any
	}{
		{"handlers/ledger/pause", `{"reason":"closing"}`, "pause", map[string]any{"handler": "ledger", "paused": true}},
		{"handlers/ledger/resume", `{"reason":"closed"}`, "resume", map[string]any{"handler": "ledger", "paused": false}},
		{"handlers/ledger/replay", `{"reason":"again","all":true,"dryRun":true}`, "replay",
			map[string]any{"handler": "ledger", "events": 5.0, "position": 2.0, "dryRun": true}},
		{"handlers/ledger/replay", `{"reason":"again","all":true,"dryRun":false}`, "replay",
			map[string]any{"handler": "ledger", "events": 5.0, "position": 2.0, "dryRun": false}},
		{"parked/redrive", `{"reason":"again"}`, "redrive", map[string]any{"events": 3.0, "dryRun": false}},
		{"parked/redrive", `{"reason":"again","dryRun":true}`, "redrive", map[string]any{"events": 3.0, "dryRun": true}},
	}
	for _, tc := range tests {
		t.Run(tc.path+tc.body, func(t *testing.T) {
			d := &desk{}
			o := newOffice(t, nowhere(t), withDesk(d))
			answer := o.post("/api/v1/"+tc.path, tc.body)
			if answer.Code != http.StatusOK {
				t.Fatalf("got %d %s", answer.Code, answer.Body)
			}
			if got := object(t, answer.Body); !reflect.DeepEqual(got, tc.want) || strings.Join(d.done, " ") != tc.done {
				t.Errorf("got %v after %v, want %v after %s", got, d.done, tc.want, tc.done)
			}
		})
	}
}

func TestTheAuditIsToldWhoAndWhyInPlainWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       ipn.Act
	}{
		{"nobody", `{"reason":"month's end"}`, ipn.Act{Actor: "api:tester", Reason: "month's end"}},
		{"somebody", `{"reason":"month's end","actor":"maria"}`, ipn.Act{Actor: "api:tester/maria", Reason: "month's end"}},
		{"line breaks and control characters", `{"reason":" a\r\n\tb\u0000c\u001b[31m ","actor":"\u0007ma\nria"}`, ipn.Act{Actor: "api:tester/ma ria", Reason: "a b c [31m"}},
		{"an actor of nothing", `{"reason":"Jürgen fragt","actor":" \n "}`, ipn.Act{Actor: "api:tester", Reason: "Jürgen fragt"}},
		{"text that turns direction", `{"reason":"abc\u202edef"}`, ipn.Act{Actor: "api:tester", Reason: "abc def"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := &desk{}
			o := newOffice(t, nowhere(t), withDesk(d))
			if answer := o.post("/api/v1/handlers/ledger/pause", tc.body); answer.Code != http.StatusOK || d.act != tc.want {
				t.Errorf("got %d %+v, want %+v", answer.Code, d.act, tc.want)
			}
		})
	}
}

func TestAReplayNamesItsEvents(t *testing.T) {
	t.Parallel()
	yes := true
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, body string
		want       ipn.Replay
	}{
		{"all", `"all":true`, ipn.Replay{All: true}},
		{"since a day", `"since":"2026-11-01"`, ipn.Replay{Since: day}},
		{"since an instant", `"since":"2026-11-01T01:00:00+01:00"`, ipn.Replay{Since: day}},
		{"matching", `"matching":{"transactionType":" refund","referenceNumber":"R1","subscriptionId":"S1","merchantTransactionId":"M1","accountId":"A1",
			"currency":"eur","from":"2026-11-01","to":"2026-11-02","test":true}`,
			ipn.Replay{Matching: &ipn.Question{TransactionType: "REFUND", ReferenceNumber: "R1", SubscriptionID: "S1", MerchantTransactionID: "M1", AccountID: "A1",
				Currency: "EUR", From: day, To: day.AddDate(0, 0, 1), Test: &yes}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := &desk{}
			o := newOffice(t, nowhere(t), withDesk(d))
			if answer := o.post("/api/v1/handlers/ledger/replay", `{"reason":"again","dryRun":false,`+tc.body+`}`); answer.Code != http.StatusOK {
				t.Fatalf("got %d %s", answer.Code, answer.Body)
			}
			tc.want.Handler = "ledger"
			d.replay.Since = d.replay.Since.UTC()
			if !reflect.DeepEqual(d.replay, tc.want) {
				t.Errorf("got %+v, want %+v", d.replay, tc.want)
			}
		})
	}
}

func TestARedriveNamesItsEvents(t *testing.T) {
	t.Parallel()
	d := &desk{}
	o := newOffice(t, nowhere(t), withDesk(d))
	answer := o.post("/api/v1/parked/redrive", `{"reason":"again","handler":"ledger","state":"buried","eventId":7,"dryRun":true}`)
	want := ipn.Redrive{Handler: "ledger", State: ipn.EventBuried, EventID: 7, DryRun: true}
	if answer.Code != http.StatusOK || d.redrive != want {
		t.Errorf("got %d %+v, want %+v", answer.Code, d.redrive, want)
	}
}

func TestABadActIsRefusedAndTheFieldNamed(t *testing.T) {
	t.Parallel()
	d := &desk{}
	o := newOffice(t, nowhere(t), withDesk(d))
	tests := []struct{ name, path, body, named string }{
		{"no body", "handlers/ledger/pause", ``, "body"},
		{"no reason", "handlers/ledger/pause", `{}`, "reason"},
		{"a short reason", "handlers/ledger/resume", `{"reason":"x"}`, "body.reason"},
		{"a reason of spaces", "handlers/ledger/resume", `{"reason":"   \n  "}`, "body.reason"},
		{"a long reason", "handlers/ledger/pause", `{"reason":"` + strings.Repeat("x", 501) + `"}`, "body.reason"},
		{"a long actor", "handlers/ledger/pause", `{"reason":"closing","actor":"` + strings.Repeat("x", 65) + `"}`, "body.actor"},
		{"an unknown field", "handlers/ledger/pause", `{"reason":"closing","until":"monday"}`, "body.until"},
		{"a replay without dryRun", "handlers/ledger/replay", `{"reason":"again","all":true}`, `"body.dryRun"`},
		{"a replay with a dryRun of null", "handlers/ledger/replay", `{"reason":"again","all":true,"dryRun":null}`, `"body.dryRun"`},
		{"a replay without a reason", "handlers/ledger/replay", `{"dryRun":true,"all":true}`, "reason"},
		{"a replay of nothing", "handlers/ledger/replay", `{"reason":"again","dryRun":false}`, "body.all"},
		{"a replay of not all", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"all":false}`, "body.all"},
		{"a replay of two", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"all":true,"since":"2026-11-01"}`, "body.since"},
		{"a replay of three", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"all":true,"since":"2026-11-01","matching":{"test":true}}`, "body.since"},
		{"a replay since a date of another form", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"since":"1.11.2026"}`, "body.since"},
		{"a replay of no field", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"matching":{}}`, "body.matching"},
		{"a replay of an unknown field", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"matching":{"email":"x"}}`, "body.matching.email"},
		{"a replay of a NUL", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"matching":{"accountId":"\u0000"}}`, "body.matching.accountId"},
		{"a replay to a bad date", "handlers/ledger/replay", `{"reason":"again","dryRun":false,"matching":{"to":"soon"}}`, "body.matching.to"},
		{"a redrive of an unknown state", "parked/redrive", `{"reason":"again","state":"waiting"}`, "body.state"},
		{"a redrive of event 0", "parked/redrive", `{"reason":"again","eventId":0}`, "body.eventId"},
		{"a redrive without a reason", "parked/redrive", `{"handler":"ledger"}`, "reason"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			answer := o.post("/api/v1/"+tc.path, tc.body)
			status := http.StatusUnprocessableEntity
			if tc.body == "" {
				status = http.StatusBadRequest
			}
			if text := wantProblem(t, answer, status); !strings.Contains(text, tc.named) {
				t.Errorf("%s is not named: %s", tc.named, text)
			}
		})
	}
	if len(d.done) != 0 {
		t.Errorf("a refused act was done: %v", d.done)
	}
}

func TestAnUnknownHandlerIs404(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withDesk(&desk{}))
	for _, tc := range []struct{ path, body string }{
		{"handlers/legder/pause", `{"reason":"closing"}`},
		{"handlers/legder/resume", `{"reason":"closing"}`},
		{"handlers/legder/replay", `{"reason":"closing","all":true,"dryRun":true}`},
		{"handlers/a%00b/pause", `{"reason":"closing"}`},
		{"handlers/a%ff/replay", `{"reason":"closing","all":true,"dryRun":true}`},
		{"parked/redrive", `{"reason":"closing","handler":"legder"}`},
		{"parked/redrive", `{"reason":"closing","handler":"\u0000"}`},
	} {
		if text := wantProblem(t, o.post("/api/v1/"+tc.path, tc.body), http.StatusNotFound); !strings.Contains(text, "/api/v1/handlers") {
			t.Errorf("%s: it is not told where the names are: %s", tc.path, text)
		}
	}
}

func TestActsNeedAPerson(t *testing.T) {
	t.Parallel()
	d := &desk{}
	o := newOffice(t, nowhere(t), withDesk(d)).as("")
	for _, path := range []string{"handlers/ledger/pause", "handlers/ledger/resume", "handlers/ledger/replay", "parked/redrive"} {
		wantProblem(t, o.post("/api/v1/"+path, `{"reason":"closing"}`), http.StatusUnauthorized)
	}
	if len(d.done) != 0 {
		t.Errorf("done for nobody: %v", d.done)
	}
}
