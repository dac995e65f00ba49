package house_test

import (
	"fmt"
	"go/ast"
	"path"
	"sort"
	"strings"
)

const (
	longestFunction = 80  // lines, from signature to brace: a screen and a half
	longestFile     = 400 // lines
)

var functionLaw = law{
	name:   "no function is longer than a screen and a half",
	why:    "A function on the path of a payment must be read at one glance. Tests may be long: a table is one function.",
	find:   longFunctions,
	breach: snippet{"internal/store/x.go", "package store; func x() {" + strings.Repeat("\n", longestFunction) + "}"},
	near:   snippet{"internal/store/x.go", "package store; func x() {" + strings.Repeat("\n", longestFunction-1) + "}"},
}

func longFunctions(all tree) []string {
	var found []string
	for _, s := range all {
		if !s.isGo() || s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			var name string
			switch f := n.(type) {
			case *ast.FuncDecl:
				name = f.Name.Name
			case *ast.FuncLit:
				name = "a function literal"
			default:
				return true
			}
			if long := s.lines(n.Pos(), n.End()); long > longestFunction {
				found = append(found, s.at(n.Pos(), fmt.Sprintf("%s has %d lines, at most %d", name, long, longestFunction)))
			}
			return true
		})
	}
	return found
}

var fileLaw = law{
	name:   "no file is longer than a chapter",
	why:    "A file has one subject. Past this length it has two, and the second is looked for in vain.",
	find:   longFiles,
	breach: snippet{"internal/store/x.go", "package store\n" + strings.Repeat("\n", longestFile)},
	near:   snippet{"internal/store/x.go", "package store\n" + strings.Repeat("\n", longestFile-1)},
}

func longFiles(all tree) []string {
	var found []string
	for _, s := range all {
		if long := strings.Count(s.text, "\n"); s.isGo() && !s.isTest() && long > longestFile {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, long, longestFile))
		}
	}
	return found
}

var packageCommentLaw = law{
	name:   "every package introduces itself",
	why:    "A package comment says why the room exists and its one decision that is not obvious.",
	find:   silentPackages,
	breach: snippet{"internal/store/x.go", "package store"},
	near:   snippet{"internal/store/x.go", "// Package store is the memory.\npackage store"},
}

func silentPackages(all tree) []string {
	introduced := make(map[string]bool)
	for _, s := range all {
		if s.isGo() && !s.isTest() {
			introduced[s.dir()] = introduced[s.dir()] || introduces(s)
		}
	}
	var found []string
	for dir, said := range introduced {
		if !said {
			found = append(found, dir+": no package comment")
		}
	}
	sort.Strings(found)
	return found
}

// introduces reports whether the file carries a package comment in the usual
// form: "Package x ..." for a package, "Command x ..." for a program.
func introduces(s source) bool {
	text := s.file.Doc.Text()
	if s.file.Name.Name == "main" {
		return strings.HasPrefix(text, "Command "+path.Base(s.dir())+" ")
	}
	return strings.HasPrefix(text, "Package "+s.file.Name.Name+" ")
}

var exportedCommentLaw = law{
	name:   "every exported name has a comment",
	why:    "The comment is the contract: what comes back, what empty means, which errors there are.",
	find:   silentNames,
	breach: snippet{"internal/store/x.go", "package store; func Open() {}"},
	near:   snippet{"internal/store/x.go", "package store\n\n// Open opens.\nfunc Open() {}\n\nfunc (s *secret) String() {}"},
}

func silentNames(all tree) []string {
	var found []string
	for _, s := range all {
		if !s.isGo() || s.isTest() {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range silentIn(decl) {
				found = append(found, s.at(name.Pos(), name.Name+" has no comment"))
			}
		}
	}
	return found
}

// saidElsewhere are methods whose contract the standard library gives.
var saidElsewhere = map[string]bool{"Error": true, "Unwrap": true, "Is": true}

// silentIn returns the exported names of a declaration that nothing is said
// about. A method of an unexported type is reachable only through an interface,
// which carries the contract.
func silentIn(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !(d.Recv != nil && saidElsewhere[d.Name.Name]) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var silent []*ast.Ident
		for _, spec := range d.Specs {
			silent = append(silent, silentSpec(d, spec)...)
		}
		return silent
	}
	return nil
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			exported = id.IsExported()
			return false
		}
		return true
	})
	return exported
}

// silentSpec judges one type, constant or variable. In a group of values, the
// comment on the group or at the end of the line will do.
func silentSpec(group *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch v := spec.(type) {
	case *ast.TypeSpec:
		if v.Name.IsExported() && v.Doc == nil && group.Doc == nil {
			return []*ast.Ident{v.Name}
		}
	case *ast.ValueSpec:
		if v.Doc != nil || v.Comment != nil || group.Doc != nil {
			return nil
		}
		var silent []*ast.Ident
		for _, name := range v.Names {
			if name.IsExported() {
				silent = append(silent, name)
			}
		}
		return silent
	}
	return nil
}
