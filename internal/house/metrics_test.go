package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var metricLaw = law{
	name:   "a metric that is written about exists",
	why:    "An alert on a metric that was renamed never fires, and nothing else says so. README, deploy and docs name only what the code registers.",
	find:   inventedMetrics,
	breach: snippet{"deploy/prometheus/x.yml", "expr: rate(ipn_invented_total[5m]) > 0"},
	near:   snippet{"deploy/prometheus/x.yml", "expr: up == 0 # see the database ipn_ci"},
}

// metricName matches names of ours in prose and rules: two words at least after
// the prefix, or a unit.
var metricName = regexp.MustCompile(`\bipn_[a-z]+(?:_[a-z]+)*_(?:total|seconds|size|requests|entries|info|connections|events|max|use|sync)\b`)

func inventedMetrics(all tree) []string {
	known, prefixes := registeredNames(all)
	var found []string
	for _, s := range all {
		if s.isGo() || !(s.path == "README.md" || s.in("deploy", "docs")) {
			continue
		}
		for _, name := range metricName.FindAllString(s.text, -1) {
			if !known[name] && !hasAnyPrefix(name, prefixes) {
				found = append(found, s.path+": "+name)
			}
		}
	}
	sort.Strings(found)
	return found
}

// registeredNames collects the literals of the product that are names of
// metrics, or beginnings of names ("ipn_db_pool_" + ...).
func registeredNames(all tree) (known map[string]bool, prefixes []string) {
	known = make(map[string]bool)
	for _, s := range all {
		if !product(s) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || !strings.HasPrefix(lit.Value, `"ipn_`) {
				return true
			}
			name, _ := strconv.Unquote(lit.Value)
			known[name] = true
			if strings.HasSuffix(name, "_") {
				prefixes = append(prefixes, name)
			}
			return true
		})
	}
	return known, prefixes
}

func hasAnyPrefix(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
