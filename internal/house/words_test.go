package house_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

var sleepLaw = law{
	name:   "no test waits by the clock",
	why:    "A sleep is too short on a busy machine and too long on an idle one. Wait for a channel or a condition with a deadline, or use synctest, whose time is not real.",
	find:   sleeps,
	breach: snippet{"internal/store/x_test.go", `package store_test; import "time"; func x() { time.Sleep(1) }`},
	near: snippet{"internal/store/x_test.go", `package store_test; import ("time"; "testing"; "testing/synctest")
		func x(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }`},
}

func sleeps(all tree) []string {
	var found []string
	for _, s := range all {
		if !s.isGo() || !s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isName(call.Fun, "synctest", "Test") {
				return false
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && isName(sel, "time", "Sleep") {
				found = append(found, s.at(sel.Pos(), "time.Sleep in a test"))
			}
			return true
		})
	}
	return found
}

// The marks are put together here so that this file does not carry them.
var unfinished = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}, "|") + `)\b`)

var unfinishedLaw = law{
	name:   "nothing is marked as unfinished",
	why:    "Work that remains is an issue with a number, or it is done. A mark in the code is read by nobody.",
	find:   marks,
	breach: snippet{"deploy/x.yml", "# TO" + "DO: later"},
	near:   snippet{"deploy/x.yml", "# To do this, see the README"},
}

func marks(all tree) []string {
	var found []string
	for _, s := range all {
		if s.isGo() {
			found = append(found, marksInComments(s)...)
			continue
		}
		for i, line := range strings.Split(s.text, "\n") {
			if unfinished.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d: %s", s.path, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return found
}

// marksInComments leaves the strings of Go alone: one of the marks is the ISO
// code for "no currency".
func marksInComments(s source) []string {
	var found []string
	for _, group := range s.file.Comments {
		for _, comment := range group.List {
			if unfinished.MatchString(comment.Text) {
				found = append(found, s.at(comment.Pos(), comment.Text))
			}
		}
	}
	return found
}
