package house_test

import (
	"go/ast"
	"go/token"
	"slices"
)

// callLaws are the laws about names of other packages that must not be spoken.
var callLaws = []law{
	{
		name: "only the program reads the environment and the flags",
		why:  "A setting that is read deep inside cannot be found, documented or tested. cmd reads all of them once, into one struct.",
		find: banned(productOutside("cmd", "internal/pgtest"), map[string][]string{
			"os":                         {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args"},
			"syscall":                    {"Getenv", "Environ"},
			"flag":                       {anyName},
			"github.com/alecthomas/kong": {anyName},
		}),
		breach: snippet{"internal/receiver/x.go", `package receiver; import "os"; var home = os.Getenv("HOME")`},
		near:   snippet{"cmd/ipn-receiver/x.go", `package main; import "os"; var home = os.Getenv("HOME")`},
	},
	{
		name: "no global logger",
		why:  "Loggers are passed to the edges that log. A global one is shared by tests and set by whoever comes last.",
		find: banned(product, map[string][]string{
			"go.uber.org/zap": {"L", "S", "ReplaceGlobals", "RedirectStdLog", "RedirectStdLogAt"},
			"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default",
				"SetOutput", "SetFlags", "SetPrefix"},
			"log/slog": {"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log"},
		}),
		breach: snippet{"internal/server/x.go", `package server; import "go.uber.org/zap"; func x() { zap.L().Info("hello") }`},
		near:   snippet{"internal/server/x.go", `package server; import "go.uber.org/zap"; func x() { zap.NewNop().Info("hello") }`},
	},
	{
		name: "no global registry",
		why:  "Metrics are registered where a registerer was passed, so that two receivers can live in one test process.",
		find: banned(product, map[string][]string{
			"github.com/prometheus/client_golang/prometheus": {"MustRegister", "Register", "Unregister", "DefaultRegisterer", "DefaultGatherer"},
			"github.com/prometheus/client_golang/prometheus/promauto": {
				"NewCounter", "NewCounterVec", "NewCounterFunc", "NewGauge", "NewGaugeVec", "NewGaugeFunc",
				"NewHistogram", "NewHistogramVec", "NewSummary", "NewSummaryVec", "NewUntypedFunc"},
			"github.com/prometheus/client_golang/prometheus/promhttp": {"Handler"},
		}),
		breach: snippet{"internal/store/x.go", `package store; import "github.com/prometheus/client_golang/prometheus"; func x() { prometheus.MustRegister(nil) }`},
		near: snippet{"internal/store/x.go", `package store; import "github.com/prometheus/client_golang/prometheus"
			func x(r prometheus.Registerer) { r.MustRegister(nil) }`},
	},
	{
		name:   "no global clock",
		why:    "A clock in a package variable is set by one test and read by another. Clocks are fields and parameters.",
		find:   globalClocks,
		breach: snippet{"internal/receiver/x.go", `package receiver; import "time"; var now = time.Now`},
		near:   snippet{"internal/receiver/x.go", `package receiver; import "time"; func start() time.Time { return time.Now() }`},
	},
	{
		name: "the meaning does not ask the time",
		why:  "internal/ipn is told the time by its caller: the same IPN must mean the same tomorrow.",
		find: banned(func(s source) bool { return product(s) && s.in("internal/ipn") }, map[string][]string{
			"time": {"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick"},
		}),
		breach: snippet{"internal/ipn/x.go", `package ipn; import "time"; func x() time.Time { return time.Now() }`},
		near:   snippet{"internal/store/x.go", `package store; import "time"; func x() time.Time { return time.Now() }`},
	},
	{
		name:   "money is never a float",
		why:    "0.1 + 0.2 is not 0.3 in binary. Amounts are decimal in Go, NUMERIC in SQL and text in JSON.",
		find:   floatMoney,
		breach: snippet{"internal/finance/x.go", `package finance; import d "github.com/shopspring/decimal"; var x = d.NewFromFloat(0.1)`},
		near:   snippet{"internal/finance/x.go", `package finance; import d "github.com/shopspring/decimal"; var x = d.NewFromInt(1)`},
	},
}

// anyName stands for every name of a package.
const anyName = "*"

// product is the code that is shipped: not a test, not a tool, not these laws.
func product(s source) bool { return s.isGo() && !s.isTest() && !s.isTool() }

// productOutside is product, less some folders.
func productOutside(folders ...string) func(source) bool {
	return func(s source) bool { return product(s) && !s.in(folders...) }
}

// banned makes a law of names that must not be spoken in the files chosen.
func banned(chosen func(source) bool, names map[string][]string) func(tree) []string {
	return func(all tree) []string {
		var found []string
		for _, s := range all {
			if !chosen(s) {
				continue
			}
			s.selectors(func(pkg, name string, pos token.Pos) {
				if slices.Contains(names[pkg], name) || slices.Contains(names[pkg], anyName) {
					found = append(found, s.at(pos, pkg+"."+name))
				}
			})
		}
		return found
	}
}

// globalClocks finds package variables that hold the clock.
func globalClocks(all tree) []string {
	var found []string
	for _, s := range all {
		if !product(s) {
			continue
		}
		for _, decl := range s.file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			ast.Inspect(group, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && isName(sel, "time", "Now") {
					found = append(found, s.at(sel.Pos(), "the clock in a package variable"))
				}
				return true
			})
		}
	}
	return found
}

// isName reports whether an expression reads pkg.name.
func isName(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}

// floatMoney finds the ways from money to a float and back. Methods are matched
// by name, since the laws read without types; InexactFloat64 is decimal's alone.
func floatMoney(all tree) []string {
	found := banned(product, map[string][]string{
		"math/big":                      {"Float", "NewFloat", "ParseFloat"},
		"github.com/shopspring/decimal": {"NewFromFloat", "NewFromFloat32", "NewFromFloatWithExponent"},
	})(all)
	found = append(found, banned(moneyRoom, map[string][]string{"strconv": {"ParseFloat", "FormatFloat"}})(all)...)
	for _, s := range all {
		if !product(s) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "InexactFloat64" {
				found = append(found, s.at(sel.Pos(), "an amount made a float"))
			}
			return true
		})
	}
	return found
}

// moneyRoom is where numbers of the payment service pass through.
func moneyRoom(s source) bool {
	return product(s) && s.in("internal/ipn", "internal/store", "internal/receiver", "internal/finance", "internal/handlers", "internal/payments")
}
