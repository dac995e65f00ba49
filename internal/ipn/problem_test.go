package ipn_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestEveryProblemCodeHasOneSentence(t *testing.T) {
	seen := map[string]bool{}
	for _, code := range ipn.ProblemCodes() {
		sentence := ipn.ProblemSentence(code)
		if seen[code] || !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(code) {
			t.Errorf("code %q is repeated or not snake case", code)
		}
		if !strings.HasSuffix(sentence, ".") || seen[sentence] {
			t.Errorf("code %q: sentence %q is repeated or no sentence", code, sentence)
		}
		seen[code], seen[sentence] = true, true
	}
	if got := ipn.ProblemSentence("no_such_code"); got != "" {
		t.Errorf("unknown code: got %q, want nothing", got)
	}
}

// The constants and the table stand apart in the source; this keeps them equal.
func TestEveryProblemConstantIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "problem.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !spec.Names[0].IsExported() {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			code, _ := strconv.Unquote(literal.Value)
			constants = append(constants, code)
		}
		return true
	})
	if got, want := len(ipn.ProblemCodes()), len(constants); got != want {
		t.Errorf("table has %d codes, want the %d constants", got, want)
	}
	for _, code := range constants {
		if ipn.ProblemSentence(code) == "" {
			t.Errorf("code %q has no sentence", code)
		}
	}
}

func TestAProblemLeavesOutAnEmptyDetailInJSON(t *testing.T) {
	got, err := json.Marshal([]ipn.Problem{{Field: "taxRate", Code: ipn.BadEscape}, {Code: ipn.TooManyFields, Detail: "stopped after 3"}})
	want := `[{"field":"taxRate","code":"bad_escape"},{"field":"","code":"too_many_fields","detail":"stopped after 3"}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
