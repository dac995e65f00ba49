package house_test

import (
	"strings"
	"testing"
)

// A law is one rule of the house. find returns one line per breach. breach is a
// file that breaks the law, and near one that comes close and is allowed: with
// both, a law can neither sleep nor cry wolf unseen.
type law struct {
	name   string
	why    string
	find   func(tree) []string
	breach snippet
	near   snippet
}

type snippet struct{ path, text string }

// laws is the whole list. Each entry is built in the file of its subject.
func laws() []law {
	all := []law{roomLaw, ioLaw, driverLaw, simulatorLaw, plainSimulatorLaw}
	all = append(all, callLaws...)
	all = append(all, functionLaw, fileLaw, packageCommentLaw, exportedCommentLaw, sleepLaw, unfinishedLaw)
	return append(all, lockTimeoutLaw, sqlLaw, metricLaw, testNameLaw)
}

func TestTheTreeKeepsItsLaws(t *testing.T) {
	t.Parallel()
	whole := readTree(t)
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if found := l.find(whole); len(found) > 0 {
				t.Errorf("%s\n%s", l.why, strings.Join(found, "\n"))
			}
		})
	}
}

func TestEachLawCatchesItsBreach(t *testing.T) {
	t.Parallel()
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if found := l.find(tree{parse(t, l.breach.path, l.breach.text)}); len(found) == 0 {
				t.Errorf("the breach was let pass:\n%s", l.breach.text)
			}
			if l.near.path == "" {
				return
			}
			if found := l.find(tree{parse(t, l.near.path, l.near.text)}); len(found) > 0 {
				t.Errorf("what is allowed was refused: %s", strings.Join(found, "\n"))
			}
		})
	}
}

func TestTheTreeIsRead(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, s := range readTree(t) {
		seen[s.path] = true
	}
	for _, name := range []string{"internal/house/doc.go", "migrations/migrations.go", "README.md", "Dockerfile", ".ci/run"} {
		if !seen[name] {
			t.Errorf("%s was not read: the laws judge less than the tree", name)
		}
	}
}
