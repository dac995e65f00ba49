package finance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
)

// described is an office that answers all there is.
func described(tb testing.TB) *office {
	tb.Helper()
	return newOffice(tb, "host="+tb.TempDir(), withDesk(&desk{}), withShelf(&shelf{}), withLookout(&lookout{}), func(o *finance.Office) {
		o.Transfers, o.TaxRecords, o.Version = o.History.(finance.Transfers), o.History.(finance.TaxRecords), "current"
	})
}

var update = flag.Bool("update", false, "write what is described to docs/openapi.json")

// committed is the description that people read without a server.
const committed = "../../docs/openapi.json"

func TestTheCommittedDescriptionIsWhatTheHandlersDescribe(t *testing.T) {
	t.Parallel()
	answer := described(t).do(http.MethodGet, "/openapi.json")
	var got bytes.Buffer
	if err := json.Indent(&got, answer.Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(committed, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	is, was := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	at := 0
	for at < len(is) && at < len(was) && is[at] == was[at] {
		at++
	}
	t.Errorf("docs/openapi.json differs from line %d on; look at what changed and write it anew: go test ./internal/finance -run Committed -update\n got %q\nwant %q",
		at+1, is[at:min(at+3, len(is))], was[at:min(at+3, len(was))])
}

// The rules of OpenAPI 3.1 that a generator of clients trips over, and our own: everything is said in words.
func TestTheDescriptionIsSound(t *testing.T) {
	t.Parallel()
	o := described(t)
	description := o.get("/openapi.json")
	if version, _ := description["openapi"].(string); !strings.HasPrefix(version, "3.1.") {
		t.Errorf("got OpenAPI %q", version)
	}
	if info := description["info"].(map[string]any); info["title"] == "" || info["version"] == "" || info["description"] == "" {
		t.Errorf("got %v", info)
	}
	seen := map[string]string{}
	for path, item := range description["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			where := method + " " + path
			op := operation.(map[string]any)
			id, _ := op["operationId"].(string)
			if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(id) || seen[id] != "" {
				t.Errorf("%s: the operationId is %q, also of %q", where, id, seen[id])
			}
			seen[id] = where
			if tags, _ := op["tags"].([]any); len(tags) != 1 || op["summary"] == nil || op["x-right"] == nil {
				t.Errorf("%s has no summary, tag or right", where)
			}
			checkParameters(t, where, path, op)
			checkResponses(t, where, method, op)
		}
	}
	checkSchemas(t, "", description)
	if got := o.do(http.MethodGet, "/docs").Code; got != http.StatusNotFound {
		t.Errorf("a page of scripts from elsewhere: got %d", got)
	}
}

func checkParameters(t *testing.T, where, path string, op map[string]any) {
	t.Helper()
	parameters, _ := op["parameters"].([]any)
	seen := map[string]bool{}
	for _, each := range parameters {
		p := each.(map[string]any)
		name, in := p["name"].(string), p["in"].(string)
		if seen[in+name] {
			t.Errorf("%s: %s comes twice", where, name)
		}
		seen[in+name] = true
		if p["description"] == nil || p["schema"] == nil {
			t.Errorf("%s: %s is not described", where, name)
		}
		if in == "path" != strings.Contains(path, "{"+name+"}") || in == "path" && p["required"] != true {
			t.Errorf("%s: %s stands in %s", where, name, in)
		}
		schema, _ := p["schema"].(map[string]any)
		example, given := p["example"].(string)
		if pattern, ok := schema["pattern"].(string); ok && given && !regexp.MustCompile(pattern).MatchString(example) {
			t.Errorf("%s: the example of %s does not match", where, name)
		}
		if enum, ok := schema["enum"].([]any); ok && given && !slices.Contains(enum, any(example)) {
			t.Errorf("%s: the example of %s is none of %v", where, name, enum)
		}
	}
	for _, named := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
		if !seen["path"+named[1]] {
			t.Errorf("%s: %s is not described", where, named[1])
		}
	}
}

func checkResponses(t *testing.T, where, method string, op map[string]any) {
	t.Helper()
	responses := op["responses"].(map[string]any)
	want := []string{"401", "503", map[bool]string{true: "404", false: "403"}[method == "get"]}
	if op["parameters"] != nil || op["requestBody"] != nil {
		want = append(want, "422")
	}
	good := false
	for status, each := range responses {
		response := each.(map[string]any)
		good = good || strings.HasPrefix(status, "2")
		if response["description"] == nil || response["description"] == "" {
			t.Errorf("%s: %s says nothing", where, status)
		}
		if content, _ := response["content"].(map[string]any); status >= "400" && content["application/problem+json"] == nil {
			t.Errorf("%s: %s is no problem", where, status)
		}
	}
	for _, status := range want {
		if responses[status] == nil {
			t.Errorf("%s: %s is not described", where, status)
		}
	}
	if !good {
		t.Errorf("%s never succeeds", where)
	}
	if body, given := op["requestBody"].(map[string]any); given {
		if content, _ := body["content"].(map[string]any); len(content) != 1 || content["application/json"] == nil {
			t.Errorf("%s takes %v", where, content)
		}
	}
}

// checkSchemas looks at whatever below a value looks like a schema.
func checkSchemas(t *testing.T, where string, value any) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		required, _ := v["required"].([]any)
		for _, name := range required {
			if properties != nil && properties[name.(string)] == nil {
				t.Errorf("%s requires %v, which it does not know", where, name)
			}
		}
		if kind, ok := v["type"].(string); ok && !slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean", "null", "http", "apiKey"}, kind) {
			t.Errorf("%s is of the type %s", where, kind)
		}
		if v["type"] == "array" && v["items"] == nil {
			t.Errorf("%s lists nothing", where)
		}
		if pattern, ok := v["pattern"].(string); ok {
			if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
		for name, inner := range v {
			checkSchemas(t, where+"/"+name, inner)
		}
	case []any:
		for i, inner := range v {
			checkSchemas(t, fmt.Sprint(where, "/", i), inner)
		}
	}
}

func TestTheDescriptionHoldsWhatIsAnswered(t *testing.T) {
	t.Parallel()
	description := described(t).get("/openapi.json")
	schemas := description["components"].(map[string]any)["schemas"].(map[string]any)
	eachReference(description, func(reference string) {
		if name, ok := strings.CutPrefix(reference, "#/components/schemas/"); !ok || schemas[name] == nil {
			t.Errorf("%s leads nowhere", reference)
		}
	})
	tests := []struct {
		schema, property, kind string
		required               bool
	}{
		{"EventDetail", "transactionType", "string", true},
		{"EventDetail", "handlers", "array", true},
		{"ReplayBody", "reason", "string", true},
		{"ReplayBody", "dryRun", "boolean", true},
		{"ReplayBody", "since", "string", false},
		{"ReplayAnswerBody", "events", "integer", true},
		{"RedriveBody", "reason", "string", true},
		{"TransactionView", "charged", "string", true},
		{"TransactionView", "tax", "string", true},
		{"TransactionView", "state", "string", true},
		{"TransactionView", "timeline", "array", true},
		{"DisputeView", "estimatedDeadline", "string", false},
		{"EventDetail", "deposits", "array", false},
		{"UnbookedView", "sentence", "string", true},
		{"TotalView", "amountUSD", "string", true},
		{"TransactionView", "summary", "string", true},
		{"TransactionView", "disputes", "array", true},
		{"TimelineEntry", "sentence", "string", true},
		{"BalanceView", "rest", "string", true},
		{"TaxView", "country", "string", false},
		{"TaxView", "collected", "string", true},
		{"ContractView", "charges", "integer", true},
		{"ContractView", "amountUSD", "string", true},
		{"RatesView", "declineRate", "string", true},
		{"RatesView", "declines", "integer", true},
		{"PayoutView", "eventId", "integer", true},
		{"SubscriptionItem", "state", "string", true},
		{"Story", "is", "array", true},
		{"ConfigurationAnswerBody", "mode", "string", true},
		{"ConfigurationAnswerBody", "inSync", "boolean", false},
		{"ConfigurationAnswerBody", "pushes", "array", true},
		{"ConfigurationPush", "trigger", "string", true},
	}
	for _, tc := range tests {
		t.Run(tc.schema+" "+tc.property, func(t *testing.T) {
			schema, _ := schemas[tc.schema].(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			property, _ := properties[tc.property].(map[string]any)
			kinds, several := property["type"].([]any) // with null
			if property["type"] != tc.kind && (!several || !slices.Contains(kinds, any(tc.kind))) {
				t.Errorf("got %v of %v", property, schema)
			}
			required, _ := schema["required"].([]any)
			if got := slices.Contains(required, any(tc.property)); got != tc.required {
				t.Errorf("required: got %v", got)
			}
		})
	}
}

// eachReference calls f with each $ref below a value.
func eachReference(value any, f func(string)) {
	switch v := value.(type) {
	case map[string]any:
		if reference, ok := v["$ref"].(string); ok {
			f(reference)
		}
		for _, inner := range v {
			eachReference(inner, f)
		}
	case []any:
		for _, inner := range v {
			eachReference(inner, f)
		}
	}
}

func TestWhatIsNotServedIsNotAnswered(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir(), func(o *finance.Office) { o.Handlers = nil })
	for _, path := range []string{"/api/v1/handlers", "/api/v1/parked", "/api/v1/audit", "/api/v1/transactions/R1", "/api/v1/subscriptions", "/api/v1/disputes", "/api/v1/disputes/summary", "/api/v1/payouts", "/api/v1/balance", "/api/v1/taxes",
		"/api/v1/contracts", "/api/v1/rates", "/api/v1/stories/R1", "/api/v1/unbooked", "/api/v1/totals", "/api/v1/configuration", "/api/v1/configuration/pushes"} {
		if got := o.do(http.MethodGet, path).Code; got != http.StatusNotFound {
			t.Errorf("%s: got %d", path, got)
		}
	}
}
