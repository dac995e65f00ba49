package finance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
)

// operations are all that the API answers, by path and method.
var operations = map[string][]string{
	"/api/v1/me":                             {"get"},
	"/api/v1/events":                         {"get"},
	"/api/v1/events/{id}":                    {"get"},
	"/api/v1/events/{id}/raw":                {"get"},
	"/api/v1/events/{id}/reveal":             {"post"},
	"/api/v1/quarantine":                     {"get"},
	"/api/v1/quarantine/{id}/promote":        {"post"},
	"/api/v1/quarantine/{id}/reveal":         {"post"},
	"/api/v1/handlers":                       {"get"},
	"/api/v1/handlers/{name}/pause":          {"post"},
	"/api/v1/handlers/{name}/resume":         {"post"},
	"/api/v1/handlers/{name}/replay":         {"post"},
	"/api/v1/parked":                         {"get"},
	"/api/v1/parked/redrive":                 {"post"},
	"/api/v1/audit":                          {"get"},
	"/api/v1/transactions/{referenceNumber}": {"get"},
	"/api/v1/subscriptions/{id}":             {"get"},
	"/api/v1/stories/{number}":               {"get"},
	"/api/v1/subscriptions":                  {"get"},
	"/api/v1/disputes":                       {"get"},
	"/api/v1/disputes/summary":               {"get"},
	"/api/v1/payouts":                        {"get"},
	"/api/v1/balance":                        {"get"},
	"/api/v1/taxes":                          {"get"},
	"/api/v1/contracts":                      {"get"},
	"/api/v1/rates":                          {"get"},
	"/api/v1/unbooked":                       {"get"},
	"/api/v1/totals":                         {"get"},
	"/api/v1/export":                         {"get"},
	"/api/v1/configuration":                  {"get"},
	"/api/v1/configuration/pushes":           {"get"},
}

func TestTheAPIDescribesItself(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir(), withDesk(&desk{}), withShelf(&shelf{}), withLookout(&lookout{}))
	description := o.get("/openapi.json")
	if version, _ := description["openapi"].(string); !strings.HasPrefix(version, "3.1") {
		t.Errorf("got OpenAPI %q", version)
	}
	paths := description["paths"].(map[string]any)
	if len(paths) != len(operations) {
		t.Errorf("%d paths are described, %d are known here", len(paths), len(operations))
	}
	for path, methods := range operations {
		described, _ := paths[path].(map[string]any)
		for _, method := range methods {
			operation, _ := described[method].(map[string]any)
			if operation["summary"] == nil || operation["operationId"] == nil || operation["tags"] == nil {
				t.Errorf("%s %s is not described: %v", method, path, operation)
			}
		}
	}
	if got := o.do(http.MethodGet, "/docs").Code; got != http.StatusNotFound {
		t.Errorf("a page of scripts from elsewhere: got %d", got)
	}
}

func TestTheDescriptionHoldsWhatIsAnswered(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir(), withDesk(&desk{}), withShelf(&shelf{}), withLookout(&lookout{}))
	description := o.get("/openapi.json")
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
		{"RedriveRequestBody", "reason", "string", true},
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
