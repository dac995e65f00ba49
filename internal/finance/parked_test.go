package finance_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// follow reads all pages of a list and returns what name says of each item.
func (o *office) follow(target string, pairs []string, name func(map[string]any) string) (names []string, pages int) {
	o.tb.Helper()
	for next := query(pairs...); next != "" && pages < 10; pages++ {
		page := o.get(target + next)
		for _, item := range page["items"].([]any) {
			names = append(names, name(item.(map[string]any)))
		}
		next = ""
		if cursor := page["nextCursor"]; cursor != nil {
			next = query(append(slices.Clone(pairs), "cursor", fmt.Sprint(cursor))...)
		}
	}
	return names, pages
}

func TestFailedEventsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	d := &desk{parked: []ipn.ParkedEvent{
		{EventID: 1, Handler: "forward.a", State: ipn.EventParked}, {EventID: 1, Handler: "forward.b", State: ipn.EventBuried},
		{EventID: 2, Handler: "forward.a", State: ipn.EventBuried}, {EventID: 9, Handler: "ledger", State: ipn.EventParked},
	}}
	o := newOffice(t, nowhere(t), withDesk(d))
	tests := []struct {
		name  string
		query []string
		want  string
		pages int
	}{
		{"all", nil, "1 forward.a, 1 forward.b, 2 forward.a, 9 ledger", 1},
		{"one by one", []string{"limit", "1"}, "1 forward.a, 1 forward.b, 2 forward.a, 9 ledger", 4},
		{"two by two", []string{"limit", "2"}, "1 forward.a, 1 forward.b, 2 forward.a, 9 ledger", 2},
		{"of a handler", []string{"handler", "forward.a"}, "1 forward.a, 2 forward.a", 1},
		{"buried", []string{"state", "buried", "limit", "1"}, "1 forward.b, 2 forward.a", 2},
		{"none", []string{"handler", "nothing"}, "", 1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, pages := o.follow("/api/v1/parked", tc.query, func(item map[string]any) string {
				return fmt.Sprint(item["eventId"], " ", item["handler"])
			})
			if strings.Join(got, ", ") != tc.want || pages != tc.pages {
				t.Errorf("got %v on %d pages, want %s on %d", got, pages, tc.want, tc.pages)
			}
		})
	}
}

func TestTheAuditIsListedPageByPage(t *testing.T) {
	t.Parallel()
	d := &desk{audit: []ipn.AuditEntry{
		{ID: 3, At: noon, Actor: "cli:maria", Action: "replay", Handler: "ledger", Reason: "again", Details: []byte(`{"events":5}`)}, {ID: 2}, {ID: 1},
	}}
	o := newOffice(t, nowhere(t), withDesk(d))
	got, pages := o.follow("/api/v1/audit", []string{"limit", "2"}, func(item map[string]any) string { return fmt.Sprint(item["id"]) })
	if strings.Join(got, " ") != "3 2 1" || pages != 2 {
		t.Errorf("got %v on %d pages", got, pages)
	}
	first := o.get("/api/v1/audit?limit=1")["items"].([]any)[0].(map[string]any)
	if first["actor"] != "cli:maria" || first["details"].(map[string]any)["events"] != 5.0 || first["at"] != "2026-11-21T12:00:00Z" {
		t.Errorf("got %v", first)
	}
}

func TestABadParameterOfTheOperatorsListsIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t), withDesk(&desk{}))
	cursor := func(raw string) string { return base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	for _, tc := range []struct{ name, path, location string }{
		{"a handler with a NUL", "parked" + query("handler", "\x00"), "query.handler"},
		{"another state", "parked" + query("state", "waiting"), "query.state"},
		{"a cursor that is no base64", "parked" + query("cursor", "***"), "query.cursor"},
		{"a cursor without a handler", "parked" + query("cursor", cursor("12345678")), "query.cursor"},
		{"a cursor of no event", "parked" + query("cursor", cursor("\x00\x00\x00\x00\x00\x00\x00\x00a")), "query.cursor"},
		{"a cursor with a NUL", "parked" + query("cursor", cursor("\x00\x00\x00\x00\x00\x00\x00\x01a\x00")), "query.cursor"},
		{"a limit of nothing", "audit" + query("limit", "0"), "query.limit"},
		{"a cursor in words", "audit" + query("cursor", "next"), "query.cursor"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/"+tc.path), http.StatusUnprocessableEntity); !strings.Contains(text, `"`+tc.location+`"`) {
				t.Errorf("%s is not named: %s", tc.location, text)
			}
		})
	}
}
