package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the settings table into README.md")

const (
	readme     = "../../README.md"
	tableBegin = "<!-- settings:begin -->"
	tableEnd   = "<!-- settings:end -->"
)

// settingsTable is the README's table of all settings, made of what the command
// line knows of them.
func settingsTable() string {
	var b strings.Builder
	settings := listSettings()
	for _, g := range groups {
		fmt.Fprintf(&b, "\n**%s**\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n", g.title)
		for _, s := range settings {
			if s.Group.Key != g.key {
				continue
			}
			usual := ""
			if s.Default != "" {
				usual = "`" + s.Default + "`"
			}
			help := strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s.Help)
			fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", s.Name, variable(s.Name), usual, help)
		}
	}
	return b.String() + "\n"
}

func TestTheReadmeTellsAllSettings(t *testing.T) {
	text, err := os.ReadFile(readme)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no README.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), tableBegin)
	told, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		t.Fatalf("README.md has no place for the settings: a line %s and a line %s", tableBegin, tableEnd)
	}
	want := "\n" + settingsTable()
	if *update {
		if err := os.WriteFile(readme, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if told != want {
		t.Error("README.md tells other settings than there are; mend it with: go test ./cmd/ipn-receiver -run TestTheReadme -update")
	}
}
