package targets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Error is everything that is wrong with a targets file, so that it is mended in one go.
type Error struct{ Faults []Fault }

// Fault is one thing that is wrong: where, and how to mend it.
type Fault struct {
	File         string
	Line, Column int    // from 1
	Field        string // such as forward[0].url; "" for the file itself
	Text         string
}

// Error returns one line for each fault, in the order of the file: "targets.yaml:12:5: forward[0].url: ...".
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
		if f.Field != "" {
			lines[i] += f.Field + ": "
		}
		lines[i] += f.Text
	}
	return strings.Join(lines, "\n")
}

// document collects the faults of one file.
type document struct {
	file   string
	dir    string // what the files it names are relative to
	faults []Fault
}

// err returns the faults in the order of the file, of each field the first: a value of the wrong kind is also missing.
func (d *document) err() error {
	if len(d.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(d.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Field, b.Field))
	})
	first := func(a, b Fault) bool { return a.Line == b.Line && a.Column == b.Column && a.Field == b.Field }
	return &Error{Faults: slices.CompactFunc(d.faults, first)}
}

// parse reads the text into its tree. JSON is YAML, too.
func (d *document) parse(text []byte) node {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	root := node{doc: d, line: 1, column: 1}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		root.misread(err)
		return root
	}
	for i, part := range file.Docs {
		if i > 0 && part.Body != nil {
			root.fail("the file holds several documents: write one, without ---")
		}
	}
	if len(file.Docs) > 0 {
		root.tree = file.Docs[0].Body
	}
	return root
}

// misread notes what the parser says, less the excerpt of the file that it would print.
func (n node) misread(err error) {
	var told yaml.Error
	if !errors.As(err, &told) {
		n.fail("cannot be read as YAML or JSON")
		return
	}
	n.moved(told.GetToken()).fail("cannot be read as YAML or JSON: %s", told.GetMessage())
}

// node is a place in the file: a value, or where one is missing. Reading a value notes a fault when the value does not
// fit and returns something harmless, so that the rest is read too.
type node struct {
	doc          *document
	tree         ast.Node // nil: not there
	path         string
	line, column int
}

func (n node) fail(format string, args ...any) {
	n.doc.faults = append(n.doc.faults, Fault{
		File: n.doc.file, Line: n.line, Column: n.column, Field: n.path, Text: fmt.Sprintf(format, args...),
	})
}

// moved returns the node at a token's position.
func (n node) moved(t *token.Token) node {
	if t != nil && t.Position != nil {
		n.line, n.column = t.Position.Line, t.Position.Column
	}
	return n
}

// has tells whether there is a value. A name with nothing behind it has none.
func (n node) has() bool {
	switch n.tree.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return false
	}
	return true
}

// object returns the values of a mapping by name, absent ones included, and notes names that are not among these.
func (n node) object(names ...string) map[string]node {
	members := make(map[string]node, len(names))
	for _, name := range names {
		members[name] = node{doc: n.doc, path: n.below(name), line: n.line, column: n.column}
	}
	if !n.has() {
		return members
	}
	mapping, ok := n.tree.(ast.MapNode)
	if !ok {
		n.fail("write names with values here, one of: %s", strings.Join(names, ", "))
		return members
	}
	for entries := mapping.MapRange(); entries.Next(); {
		key := entries.Key()
		name := key.GetToken().Value
		member := node{doc: n.doc, tree: entries.Value(), path: n.below(name)}.moved(key.GetToken())
		if !slices.Contains(names, name) {
			member.path = n.path
			member.fail("there is no %q here%s", name, hint(name, names))
			continue
		}
		members[name] = member
	}
	return members
}

func (n node) below(name string) string {
	if n.path == "" {
		return name
	}
	return n.path + "." + name
}

// list returns the items of a sequence, nil when there is none.
func (n node) list() []node {
	if !n.has() {
		return nil
	}
	sequence, ok := n.tree.(*ast.SequenceNode)
	if !ok {
		n.fail("write a list here, such as [a, b]")
		return nil
	}
	items := make([]node, len(sequence.Values))
	for i, value := range sequence.Values {
		items[i] = node{doc: n.doc, tree: value, path: n.path + "[" + strconv.Itoa(i) + "]", line: n.line, column: n.column}
		items[i] = items[i].moved(firstToken(value))
	}
	return items
}

// firstToken returns where a value begins: of a mapping in a list, its first name.
func firstToken(value ast.Node) *token.Token {
	if mapping, ok := value.(ast.MapNode); ok {
		if entries := mapping.MapRange(); entries.Next() {
			return entries.Key().GetToken()
		}
	}
	if value == nil {
		return nil
	}
	return value.GetToken()
}

// text returns a scalar as it is written, without quotes, "" when there is none. A number keeps its digits: 10.00 is
// not 10.
func (n node) text() string {
	if !n.has() {
		return ""
	}
	switch value := n.tree.(type) {
	case *ast.StringNode:
		return value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.tree.GetToken().Value
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		n.fail("anchors, aliases and tags are not read here: write the value out")
	default:
		n.fail(`write one value here, no list and no names with values; between braces a text with a colon needs "quotes"`)
	}
	return ""
}

// texts returns the items of a list, each of them checked.
func (n node) texts(check func(string) error) []string {
	var all []string
	for _, item := range n.list() {
		text := item.text()
		if err := check(text); err != nil {
			item.fail("%v", err)
		}
		all = append(all, text)
	}
	return all
}

// word returns one of the words allowed, the first of them when nothing is written. Letter case does not matter.
func (n node) word(allowed ...string) string {
	text := n.text()
	if text == "" {
		return allowed[0]
	}
	for _, word := range allowed {
		if strings.EqualFold(text, word) {
			return word
		}
	}
	n.fail("%q is none of: %s", text, strings.Join(allowed, ", "))
	return allowed[0]
}

// flag returns a truth, false when nothing is written.
func (n node) flag() bool { return n.word("false", "true") == "true" }

// count returns a whole number within bounds.
func (n node) count(usual, least, most int) int {
	text := n.text()
	if text == "" {
		return usual
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		n.fail("write a whole number from %d to %d", least, most)
		return usual
	}
	return number
}

// duration returns a time within bounds.
func (n node) duration(usual, least, most time.Duration) time.Duration {
	text := n.text()
	if text == "" {
		return usual
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		n.fail("write a duration from %s to %s, such as 500ms, 10s, 5m or 6h", short(least), short(most))
		return usual
	}
	return d
}

// short writes 6h for 6h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
