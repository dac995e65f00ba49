package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ipn-receiver/ipn-receiver"

// A source is one file of the tree. Go files are parsed; others have a nil file.
type source struct {
	path string // from the root of the module, with slashes
	text string
	set  *token.FileSet
	file *ast.File
}

// A tree is what the laws judge: all files of the repository, or a snippet.
type tree []source

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isGo() bool   { return s.file != nil }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s source) isTool() bool { return strings.HasPrefix(s.path, "tools/") }

// in reports whether the file lies in one of the folders or below.
func (s source) in(folders ...string) bool {
	for _, folder := range folders {
		if s.dir() == folder || strings.HasPrefix(s.path, folder+"/") {
			return true
		}
	}
	return false
}

// at renders a finding as path:line: text, which editors can open.
func (s source) at(pos token.Pos, text string) string {
	return s.path + ":" + strconv.Itoa(s.set.Position(pos).Line) + ": " + text
}

// lines counts the lines from one position to another, both included.
func (s source) lines(from, to token.Pos) int {
	return s.set.Position(to).Line - s.set.Position(from).Line + 1
}

// imports maps the name a file knows a package by to its path. The blank and the
// dot import are kept under their path.
func (s source) imports() map[string]string {
	known := make(map[string]string)
	for _, spec := range s.file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		known[importName(spec, target)] = target
	}
	return known
}

func importName(spec *ast.ImportSpec, target string) string {
	switch {
	case spec.Name == nil:
		name := path.Base(target)
		if isMajor(name) {
			name = path.Base(path.Dir(target))
		}
		return name
	case spec.Name.Name == "_" || spec.Name.Name == ".":
		return target
	}
	return spec.Name.Name
}

// isMajor reports whether an import path ends in v2, v3, ...: not its name then.
func isMajor(name string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(name, "v"))
	return err == nil && strings.HasPrefix(name, "v")
}

// selectors calls visit for each pkg.Name of an imported package in the file.
func (s source) selectors(visit func(pkg, name string, pos token.Pos)) {
	known := s.imports()
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && known[x.Name] != "" {
				visit(known[x.Name], sel.Sel.Name, sel.Pos())
			}
		}
		return true
	})
}

// parse makes a source of a path and its text; a Go file that does not parse
// fails the test, since a law could say nothing about it.
func parse(t *testing.T, name, text string) source {
	t.Helper()
	s := source{path: name, text: text, set: token.NewFileSet()}
	if !strings.HasSuffix(name, ".go") {
		return s
	}
	file, err := parser.ParseFile(s.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("parse %s: %v", name, err)
	}
	s.file = file
	return s
}

// readTree reads the repository this test was built from.
func readTree(t *testing.T) tree {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("find the root of the module: %v", err)
	}
	var all tree
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(entry.Name())
		}
		if !isText(name) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		all = append(all, parse(t, filepath.ToSlash(rel), string(text)))
		return nil
	})
	if err != nil {
		t.Fatalf("read the tree: %v", err)
	}
	return all
}

// skipFolder leaves out what git or the tools own, and data of tests.
func skipFolder(name string) error {
	switch name {
	case ".git", "bin", "testdata", "vendor", "secrets":
		return fs.SkipDir
	}
	return nil
}

// isText names the files that people write here.
func isText(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".sql", ".md", ".sh", ".yml", ".yaml", ".env", ".service", ".conf":
		return true
	}
	switch filepath.Base(name) {
	case "Makefile", "Dockerfile", "run", "fuzz":
		return true
	}
	return false
}
