package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var lockTimeoutLaw = law{
	name:   "every migration gives way",
	why:    "A statement that waits for a lock makes every later one wait behind it, intake too. Each direction of a migration begins with set local lock_timeout.",
	find:   impatient,
	breach: snippet{"migrations/00009_x.sql", "-- +goose Up\nalter table events add column x int;\n"},
	near:   snippet{"migrations/00009_x.sql", "-- +goose Up\n-- a word\nset local lock_timeout = '200ms';\nalter table events add column x int;\n"},
}

// statement matches the first thing of a section that is neither blank, comment
// nor marker of goose.
var (
	section   = regexp.MustCompile(`(?m)^-- \+goose (Up|Down)\s*$`)
	firstSQL  = regexp.MustCompile(`(?m)^\s*[^-\s].*$`)
	givesWay  = regexp.MustCompile(`(?i)^\s*set\s+(local\s+)?lock_timeout\s*(=|to)`)
	untangled = "-- +goose NO TRANSACTION"
	ofNothing = regexp.MustCompile(`(?i)^\s*set\s+local\s`) // without a transaction it does nothing
)

func impatient(all tree) []string {
	var found []string
	for _, s := range all {
		if !s.in("migrations") || !strings.HasSuffix(s.path, ".sql") {
			continue
		}
		bounds := section.FindAllStringIndex(s.text, -1)
		if len(bounds) == 0 {
			found = append(found, s.path+": no section of goose")
		}
		for i, bound := range bounds {
			end := len(s.text)
			if i+1 < len(bounds) {
				end = bounds[i+1][0]
			}
			first := firstSQL.FindString(s.text[bound[1]:end])
			if first == "" || givesWay.MatchString(first) && !(strings.Contains(s.text, untangled) && ofNothing.MatchString(first)) {
				continue
			}
			found = append(found, s.path+": begins with "+strings.TrimSpace(first))
		}
	}
	return found
}

// reviewedSQL lists the functions that may put SQL together, with the reason why
// nothing of a stranger can get into it.
var reviewedSQL = map[string]string{
	"internal/store/export.go:EventExtent":         "the conditions are those of history.go; values go by parameter",
	"internal/store/export.go:ExportEvents":        "columns and conditions are constants of the room; the number is that of a parameter",
	"internal/store/count.go:CountEvents":          "conditions are constants of history_restrict.go; the number is that of a parameter",
	"internal/store/history_page.go:near":          "places and conditions are constants of the room; the numbers are those of parameters",
	"internal/store/history_page.go:listing":       "places and conditions are constants of the room; the name is that of a parameter",
	"internal/store/history_page.go:eachReference": "columns and conditions are constants of the room; the names are those of parameters",
	"internal/store/history.go:Events":             "columns, joins and conditions are constants of the file; the number is that of a parameter",
}

var sqlLaw = law{
	name:   "SQL is written, not assembled",
	why:    "A statement made of pieces is where an injection begins. Values go by parameter; what must be assembled is reviewed and entered in reviewedSQL.",
	find:   assembledSQL,
	breach: snippet{"internal/store/x.go", `package store; import "fmt"; func x(n string) string { return fmt.Sprintf("select * from %s", n) }`},
	near:   snippet{"internal/store/x.go", `package store; import "fmt"; func x(n string) string { return fmt.Sprintf("month %s", n) }`},
}

// sqlText tells a piece of SQL from a piece of English.
var sqlText = regexp.MustCompile(`(?i)\b(select\s+.*\bfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+(table|index|database|role)|` +
	`alter\s+(table|system|role|database)|drop\s+(table|index|database)|order\s+by|where\s+\w+\s*(=|<|>|in\b|like\b))`)

func assembledSQL(all tree) []string {
	var found []string
	seen := make(map[string]bool)
	for _, s := range all {
		if !product(s) || !s.in("internal/store", "internal/handlers") {
			continue
		}
		for _, decl := range s.file.Decls {
			place := s.path + ":" + declName(decl)
			for _, pos := range assembled(decl) {
				seen[place] = true
				if reviewedSQL[place] == "" {
					found = append(found, s.at(pos, "SQL assembled in "+declName(decl)))
				}
			}
		}
	}
	if len(all) > 1 {
		found = append(found, staleReviews(seen)...)
	}
	return found
}

// assembled finds SQL that is formatted, or glued to something that is neither
// a literal nor a plain name.
func assembled(decl ast.Decl) []token.Pos {
	var found []token.Pos
	ast.Inspect(decl, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.CallExpr:
			if sel, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) > 0 && formats(sel.Sel.Name) && anySQL(e.Args) {
				found = append(found, e.Pos())
				return false
			}
		case *ast.BinaryExpr:
			if e.Op == token.ADD && anySQL([]ast.Expr{e}) && glued(e) {
				found = append(found, e.Pos())
				return false
			}
		}
		return true
	})
	return found
}

func formats(name string) bool {
	return name == "Sprintf" || name == "Fprintf" || name == "Appendf" || name == "Sprint"
}

// glued reports whether a sum of strings has a part that is computed: a call or
// an index. A bare name is left to review, as constants are names too.
func glued(sum ast.Expr) bool {
	switch e := sum.(type) {
	case *ast.BinaryExpr:
		return glued(e.X) || glued(e.Y)
	case *ast.ParenExpr:
		return glued(e.X)
	case *ast.BasicLit, *ast.Ident:
		return false
	}
	return true
}

func anySQL(args []ast.Expr) bool {
	found := false
	for _, arg := range args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				found = found || sqlText.MatchString(text)
			}
			return !found
		})
	}
	return found
}

func declName(decl ast.Decl) string {
	if f, ok := decl.(*ast.FuncDecl); ok {
		return f.Name.Name
	}
	return "a declaration"
}

// staleReviews finds entries of reviewedSQL whose code is gone.
func staleReviews(seen map[string]bool) []string {
	var stale []string
	for place := range reviewedSQL {
		if !seen[place] {
			stale = append(stale, place+": reviewed, but assembles no SQL any more")
		}
	}
	sort.Strings(stale)
	return stale
}
