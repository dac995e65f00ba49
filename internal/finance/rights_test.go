package finance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// An operation is what the API says of one.
type operation struct {
	method, path string
	id           string
	right        access.Right
	roles        []access.Role
}

// target is a path of the operation, with an id in it that could be.
func (op operation) target() string {
	return strings.NewReplacer("{id}", "1", "{name}", "ledger", "{referenceNumber}", "R1", "{number}", "R1").Replace(op.path)
}

func (op operation) reads() bool { return op.method == http.MethodGet }

// mounted are the operations of an office, as it describes itself.
func (o *office) mounted() (all []operation) {
	o.tb.Helper()
	answer := o.do(http.MethodGet, "/openapi.json")
	var description struct {
		Paths map[string]map[string]struct {
			OperationID string        `json:"operationId"`
			Right       access.Right  `json:"x-right"`
			Roles       []access.Role `json:"x-roles"`
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &description); err != nil {
		o.tb.Fatal(err)
	}
	for path, methods := range description.Paths {
		for method, op := range methods {
			all = append(all, operation{strings.ToUpper(method), path, op.OperationID, op.Right, op.Roles})
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	if len(all) < 20 {
		o.tb.Fatalf("%d operations are mounted: that is not the API", len(all))
	}
	return all
}

// wholeOffice answers everything that can be answered.
func wholeOffice(t *testing.T) *office {
	t.Helper()
	return newOffice(t, pgtest.New(t), withDesk(&desk{}), withShelf(&shelf{}), withLookout(&lookout{}), func(o *finance.Office) {
		record := o.History.(*store.Store)
		o.TaxRecords, o.Transfers = record, record
		for name, part := range reflect.ValueOf(o).Elem().Fields() {
			if part.Kind() == reflect.Interface && part.IsNil() {
				t.Errorf("%s is left out, and with it its operations", name.Name)
			}
		}
	})
}

// A part of a question that goes unheard would widen it, or write into the other book.
func TestNoPartOfAQuestionGoesUnheard(t *testing.T) {
	t.Parallel()
	o := wholeOffice(t)
	for _, op := range o.mounted() {
		for asked, where := range map[string]string{"test=true&x=50%": `"location":"query"`, "test=true%zz": `"location":"query"`, "from=2026-11-01;to=2026-12-01": `"location":"query"`,
			"from=2026-11-01&from=2026-12-01": `"location":"query.from"`, "limit=1&test=true&test=": `"location":"query.test"`} {
			answer := o.do(op.method, op.target()+"?"+asked)
			if text := wantProblem(t, answer, http.StatusUnprocessableEntity); !strings.Contains(text, where) {
				t.Errorf("%s %s?%s: %d %s", op.method, op.path, asked, answer.Code, text)
			}
		}
	}
}

// TestEveryOperationAsksForItsRight is S-77 and S-84: it goes through what is mounted, so that an operation that is added is
// in it.
func TestEveryOperationAsksForItsRight(t *testing.T) {
	t.Parallel()
	o := wholeOffice(t)
	for _, op := range o.mounted() {
		t.Run(op.method+" "+op.path, func(t *testing.T) {
			if !access.Admin.May(op.right) {
				t.Fatalf("it names no right: %+v", op)
			}
			// A parameter that nobody knows tells apart who came in, without any act or any id that is there: 422.
			for _, query := range []string{"?no-such-parameter=1", "?no-such-parameter=1&token=ipn_x&access_token=ipn_x"} {
				answer := o.as("").do(op.method, op.target()+query)
				wantProblem(t, answer, http.StatusUnauthorized)
				if got := answer.Header().Get("WWW-Authenticate"); got != `Bearer realm="ipn-receiver"` {
					t.Errorf("got %q", got)
				}
			}
			for _, role := range append(access.Roles(), "root") {
				if slices.Contains(op.roles, role) != role.May(op.right) {
					t.Errorf("the description names %s for %s", op.roles, op.right)
				}
				want := http.StatusUnprocessableEntity
				switch {
				case role.May(op.right):
				case op.reads():
					want = http.StatusNotFound
				default:
					want = http.StatusForbidden
				}
				if text := wantProblem(t, o.as(role).do(op.method, op.target()+"?no-such-parameter=1"), want); want == http.StatusUnprocessableEntity && !strings.Contains(text, "no-such-parameter") {
					t.Errorf("%s: it is something else that is wrong: %s", role, text)
				}
			}
		})
	}
}

// TestNoActIsASight holds against a right that is too small: what the table above cannot know.
func TestNoActIsASight(t *testing.T) {
	t.Parallel()
	wanted := map[string]access.Right{
		"search-events": access.See, "get-event-raw": access.Reveal, "reveal-event": access.Reveal, "reveal-quarantined": access.Reveal, "export": access.Export,
		"list-audit": access.Audit, "pause-handler": access.Operate, "resume-handler": access.Operate, "replay-handler": access.Operate, "redrive-parked": access.Operate,
		"promote-quarantined": access.Operate, "add-tax-record": access.Record, "add-tax-refund": access.Record,
	}
	for _, op := range wholeOffice(t).mounted() {
		want, listed := wanted[op.id]
		switch {
		case listed && op.right != want:
			t.Errorf("%s needs %s, want %s", op.id, op.right, want)
		case !listed && !op.reads() && op.right == access.See:
			t.Errorf("%s %s (%s) can be done by who may only see; if it does nothing, enter it here", op.method, op.path, op.id)
		}
	}
}

func TestWhatAViewerMayNotReadLooksAsIfItWereNotThere(t *testing.T) { // S-84
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	there := o.record("transactionType=CHARGE&referenceNumber=R1").EventID
	answer := func(role access.Role, target string) string {
		a := o.as(role).do(http.MethodGet, target)
		return fmt.Sprint(a.Code, a.Header(), a.Body)
	}
	absent := answer(access.Admin, fmt.Sprintf("/api/v1/events/%d/raw", there+1))
	for _, role := range []access.Role{access.Viewer, access.Operator} {
		for _, target := range []string{fmt.Sprintf("/api/v1/events/%d/raw", there), fmt.Sprintf("/api/v1/events/%d/raw", there+1), "/api/v1/events/0/raw", "/api/v1/events/x/raw"} {
			if got := answer(role, target); got != absent {
				t.Errorf("%s, %s: got %s, want %s", role, target, got, absent)
			}
		}
	}
	if got, want := answer(access.Viewer, "/api/v1/audit"), answer(access.Admin, "/api/v1/no-such-list"); got != want {
		t.Errorf("a list: got %s, want %s", got, want)
	}
	if got := o.as(access.Finance).do(http.MethodGet, fmt.Sprintf("/api/v1/events/%d/raw", there)); got.Code != http.StatusOK {
		t.Errorf("who may: got %d", got.Code)
	}
}

func TestAViewerCannotAct(t *testing.T) { // S-77
	t.Parallel()
	d := &desk{}
	o := newOffice(t, nowhere(t), withDesk(d))
	for _, role := range []access.Role{access.Viewer, access.Finance} {
		for path, body := range map[string]string{
			"handlers/ledger/pause": `{"reason":"closing"}`, "handlers/ledger/resume": `{"reason":"closing"}`, "handlers/nobody/pause": `{"reason":"closing"}`,
			"handlers/ledger/replay": `{"reason":"closing","all":true,"dryRun":true}`, "parked/redrive": `{"reason":"closing"}`, "quarantine/1/promote": `{}`, "quarantine/x/promote": `{`,
		} {
			// The database is nowhere: an answer that looked something up would be 503.
			if text := wantProblem(t, o.as(role).post("/api/v1/"+path, body), http.StatusForbidden); !strings.Contains(text, string(role)) || !strings.Contains(text, "operate") {
				t.Errorf("%s: it is not told why: %s", path, text)
			}
		}
	}
	if len(d.done) != 0 {
		t.Errorf("done: %v", d.done)
	}
	o.as(access.Operator).act("/api/v1/handlers/ledger/pause", `{"reason":"closing","actor":"maria"}`)
	if want := (ipn.Act{Actor: "api:tester/maria", Reason: "closing"}); d.act != want {
		t.Errorf("got %+v, want %+v", d.act, want)
	}
}

func TestWhoAsksIsToldWhoTheyAre(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t)).as(access.Operator)
	o.person = access.Person{Name: "ann@example.com", Role: access.Operator, Via: access.ViaProxy}
	got, want := o.get("/api/v1/me"), map[string]any{
		"name": "ann@example.com", "role": "operator", "via": "proxy", "actor": "proxy:ann@example.com", "rights": []any{"see", "operate", "audit"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	wantProblem(t, o.as("").do(http.MethodGet, "/api/v1/me"), http.StatusUnauthorized)
}

func TestARecordThatIsAwaySendsNobodyToSignIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nowhere(t))
	gate := &access.Gate{Sessions: o.store}
	request := httptest.NewRequest(http.MethodGet, "/api/v1/me", nil)
	request.Header.Set("Cookie", access.CookieName+"="+strings.Repeat("A", 43))
	answer := httptest.NewRecorder()
	gate.Identify(o.handler).ServeHTTP(answer, request)
	wantProblem(t, answer, http.StatusServiceUnavailable)
}

func TestAnOperationWithoutARightIsNotMounted(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	for name, op := range map[string]huma.Operation{
		"no metadata": {}, "a right that nobody has": {Metadata: access.Needs("fly")}, "hidden": {Hidden: true}, "the word alone": {Metadata: map[string]any{"right": "see"}},
	} {
		t.Run(name, func(t *testing.T) {
			op.OperationID, op.Method, op.Path = "forgotten", http.MethodGet, "/api/v1/forgotten"
			defer func() {
				if raised := recover(); raised == nil || !strings.Contains(fmt.Sprint(raised), "forgotten") {
					t.Errorf("got %v", raised)
				}
			}()
			huma.Register(finance.Guarded(chi.NewRouter()), op, nothing)
		})
	}
}

func TestPromotionsSayWhoDidThem(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	for _, body := range []string{"", `{"reason":"the key was set wrong","actor":"maria"}`} {
		o.quarantine("transactionType=CHARGE&believe=me&referenceNumber=R" + fmt.Sprint(len(body)))
		newest := o.get("/api/v1/quarantine?limit=1")["items"].([]any)[0].(map[string]any)["id"]
		target := fmt.Sprintf("/api/v1/quarantine/%.0f/promote", newest)
		if answer := o.post(target, body); answer.Code != http.StatusOK {
			t.Fatalf("got %d %s", answer.Code, answer.Body)
		}
	}
	var acts []string
	for _, e := range o.get("/api/v1/audit")["items"].([]any) {
		e := e.(map[string]any)
		acts = append(acts, fmt.Sprint(e["actor"], " ", e["action"], ": ", e["reason"], " ", e["details"].(map[string]any)["outcome"]))
	}
	if want := []string{"api:tester/maria promote: the key was set wrong new", "api:tester promote: verified again, and good new"}; !slices.Equal(acts, want) {
		t.Errorf("got %q, want %q", acts, want)
	}
}

func TestBodiesInQuarantineAreForWhoMayReveal(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.quarantine("transactionType=CHARGE&referenceNumber=R1&email=ann%40example.com")
	for _, role := range access.Roles() {
		list := o.as(role).do(http.MethodGet, "/api/v1/quarantine").Body.String()
		if !strings.Contains(list, `"R1"`) || strings.Contains(list, "ann@example.com") {
			t.Errorf("%s: the list shows %s", role, list)
		}
		revealed := o.as(role).post("/api/v1/quarantine/1/reveal", `{"reason":"who sent this"}`)
		if got := strings.Contains(revealed.Body.String(), "ann@example.com"); got != role.May(access.Reveal) {
			t.Errorf("%s: got %d %s", role, revealed.Code, revealed.Body)
		}
	}
}
