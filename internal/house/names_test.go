package house_test

import (
	"go/ast"
	"regexp"
	"sort"
)

var testNameLaw = law{
	name:   "a test that is cited as proof exists",
	why:    "A promise with the name of a test beside it is worth what the test is. A renamed one leaves a promise without proof.",
	find:   inventedTests,
	breach: snippet{"docs/x.md", "as `TestTheMoonIsCheese` shows"},
	near:   snippet{"docs/x.md", "as the tests show"},
}

var testName = regexp.MustCompile(`\b(Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9]{5,}\b`)

func inventedTests(all tree) []string {
	real := make(map[string]bool)
	for _, s := range all {
		if !s.isGo() || !s.isTest() {
			continue
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				real[f.Name.Name] = true
			}
		}
	}
	var found []string
	for _, s := range all {
		if s.isGo() || s.path == "CONTRIBUTING.md" { // which gives a name as an example
			continue
		}
		for _, name := range testName.FindAllString(s.text, -1) {
			if !real[name] {
				found = append(found, s.path+": "+name)
			}
		}
	}
	sort.Strings(found)
	return found
}
