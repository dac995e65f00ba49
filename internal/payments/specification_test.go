package payments_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A statement is one row, or one rule, of the specification of the payment service, and how it is proved: by the client of
// this package against the simulator, over a socket.
type statement struct {
	id    string // section and row; the name of the sub-test
	says  string // what is stated, in words of our own
	where string // what in our code keeps it, parted by commas: package.Symbol
	check func(*testing.T, *world)
}

// A chapter is a section of the specification and its test.
type chapter struct {
	title      string
	test       string // the name of the test function
	statements []statement
}

func chapters() []chapter {
	return []chapter{
		{"1. What the service does", "TestSpecificationSection1", section1()},
		{"2. Resources and their fields", "TestSpecificationSection2", section2()},
		{"3. States and transitions", "TestSpecificationSection3", section3()},
		{"4. Endpoints", "TestSpecificationSection4", section4()},
		{"5. Authentication", "TestSpecificationSection5", section5()},
		{"7. Errors", "TestSpecificationSection7", section7()},
		{"8. Limits", "TestSpecificationSection8", section8()},
		{"9. Versioning", "TestSpecificationSection9", section9()},
	}
}

func TestSpecificationSection1(t *testing.T) { t.Parallel(); prove(t, section1()) }
func TestSpecificationSection2(t *testing.T) { t.Parallel(); prove(t, section2()) }
func TestSpecificationSection3(t *testing.T) { t.Parallel(); prove(t, section3()) }
func TestSpecificationSection4(t *testing.T) { t.Parallel(); prove(t, section4()) }
func TestSpecificationSection5(t *testing.T) { t.Parallel(); prove(t, section5()) }
func TestSpecificationSection7(t *testing.T) { t.Parallel(); prove(t, section7()) }
func TestSpecificationSection8(t *testing.T) { t.Parallel(); prove(t, section8()) }
func TestSpecificationSection9(t *testing.T) { t.Parallel(); prove(t, section9()) }

// prove checks each statement in a world of its own.
func prove(t *testing.T, statements []statement) {
	for _, s := range statements {
		t.Run(s.id, func(t *testing.T) {
			t.Parallel()
			s.check(t, newWorld(t))
		})
	}
}

const document = "../../docs/specification.md"

const preamble = `# The specification, statement by statement

Every row and rule of the payment service's interface that this program relies on, where it is kept, and the test that
proves it. Sections 1 to 5 and 7 to 9 are proved by the client of ` + "`internal/payments`" + ` against the simulator of
` + "`internal/paysim`" + ` over a socket; neither imports the other. Section 6, what a receiver is sent, is proved where IPNs are
received. What the specification leaves open is marked so, with what was done instead.

This file is written by ` + "`go test ./internal/payments -run TestTheTableOfStatementsIsWrittenDown -update`" + ` and compared by
the same test without ` + "`-update`" + `. One statement is run by its name:
` + "`go test ./internal/payments -run 'TestSpecificationSection2/2.2-amount$'`" + `.
`

func TestTheTableOfStatementsIsWrittenDown(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(preamble)
	for _, c := range chapters() {
		if c.title[0] == '7' {
			writeEvents(&text)
		}
		fmt.Fprintf(&text, "\n## %s\n\n| id | statement | where | test |\n|---|---|---|---|\n", c.title)
		for _, s := range c.statements {
			fmt.Fprintf(&text, "| %s | %s | %s | `%s/%s` |\n", s.id, s.says, code(s.where), c.test, s.id)
		}
	}
	golden(t, document, text.String())
}

func writeEvents(text *strings.Builder) {
	text.WriteString("\n## 6. Events\n\n| id | statement | where | tests |\n|---|---|---|---|\n")
	for _, e := range events {
		fmt.Fprintf(text, "| %s | %s | %s | %s |\n", e.id, e.says, code(e.where), code(e.tests))
	}
}

// code marks each entry of a list as code.
func code(list string) string {
	return "`" + strings.Join(strings.Split(list, ", "), "`, `") + "`"
}

func TestEveryStatementHasANameOfItsOwnAndAPlaceThatExists(t *testing.T) {
	t.Parallel()
	known := declared(t, "payments", "paysim", "paysim/api", "paysim/delivery", "paysim/notice", "ipn", "receiver")
	all := slices.Clone(events)
	for _, c := range chapters() {
		for _, s := range c.statements {
			all = append(all, event{s.id, s.says, s.where, c.test})
		}
	}
	seen := make(map[string]bool)
	for _, e := range all {
		if seen[e.id] || strings.ContainsAny(e.id, " /") || e.says == "" || strings.Contains(e.says, "|") {
			t.Errorf("%s: the name is taken or odd, or nothing is said", e.id)
		}
		seen[e.id] = true
		for _, symbol := range slices.Concat(strings.Split(e.where, ", "), strings.Split(e.tests, ", ")) {
			if !known[symbol] {
				t.Errorf("%s: there is no %s", e.id, symbol)
			}
		}
	}
}

// declared lists what the packages declare: package.Name, package.Type.Method, package.Type.Field, and the names of tests.
func declared(tb testing.TB, packages ...string) map[string]bool {
	tb.Helper()
	known := make(map[string]bool)
	for _, dir := range packages {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		must(tb, err)
		if len(files) == 0 {
			tb.Fatal(fs.ErrNotExist)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			must(tb, err)
			for _, d := range parsed.Decls {
				enter(known, filepath.Base(dir), d)
			}
		}
	}
	return known
}

func enter(known map[string]bool, pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			name = fmt.Sprint(receiver) + "." + name
		}
		known[pkg+"."+name] = true
		if strings.HasPrefix(name, "Test") {
			known[name] = true
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			enterSpec(known, pkg, spec)
		}
	}
}

func enterSpec(known map[string]bool, pkg string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			known[pkg+"."+name.Name] = true
		}
	case *ast.TypeSpec:
		known[pkg+"."+s.Name.Name] = true
		if structure, ok := s.Type.(*ast.StructType); ok {
			for _, field := range structure.Fields.List {
				for _, name := range field.Names {
					known[pkg+"."+s.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}
