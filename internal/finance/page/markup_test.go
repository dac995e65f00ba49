package page_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

// mostBytes is what one page may weigh.
const mostBytes = 100_000

// nodes calls visit for each element of a document.
func nodes(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		nodes(c, visit)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// wellMade fails unless a page is what every page has to be: small, with one heading, nothing inline, no stranger's markup, a
// name for every field and a heading for every table, and nothing that turns the direction of a line.
func wellMade(tb testing.TB, what string, a answer) *html.Node {
	tb.Helper()
	if len(a.body) > mostBytes {
		tb.Errorf("%s has %d bytes, at most %d", what, len(a.body), mostBytes)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		tb.Errorf("%s may be cached: %q", what, got)
	}
	document, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	headings, ids := 0, map[string]bool{}
	nodes(document, func(n *html.Node) {
		for _, problem := range faults(n) {
			tb.Errorf("%s: <%s>: %s", what, n.Data, problem)
		}
		if n.Data == "h1" {
			headings++
		}
		if id := attribute(n, "id"); id != "" && ids[id] {
			tb.Errorf("%s: the id %q stands there twice", what, id)
		} else if id != "" {
			ids[id] = true
		}
	})
	if headings != 1 {
		tb.Errorf("%s has %d main headings", what, headings)
	}
	marks := 0
	for _, r := range a.body {
		if unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
			tb.Errorf("%s has %U in it", what, r)
			break
		}
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if marks > 8 {
			tb.Errorf("%s has marks piled up on a letter", what)
			break
		}
	}
	return document
}

// faults are what must not be in any element.
func faults(n *html.Node) (found []string) {
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case a.Key == "style":
			found = append(found, "an inline style")
		case strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on"):
			found = append(found, "an inline script "+a.Key)
		case (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?"):
			found = append(found, "leads to "+a.Val)
		case (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.HasPrefix(value, "//"):
			found = append(found, "leads away to "+a.Val)
		}
	}
	switch n.Data {
	case "script":
		if attribute(n, "src") == "" || n.FirstChild != nil {
			found = append(found, "an inline script")
		}
	case "style", "iframe", "object", "embed", "base", "svg", "b:img":
		found = append(found, "must not be on a page")
	case "img":
		if !strings.HasPrefix(attribute(n, "src"), "/assets/") {
			found = append(found, "a picture of a stranger's")
		}
	case "input", "select", "textarea":
		if attribute(n, "type") != "hidden" && !labelled(n) {
			found = append(found, "no label: "+attribute(n, "name"))
		}
	case "th":
		if attribute(n, "scope") == "" {
			found = append(found, "a heading of a table without scope")
		}
	}
	return found
}

// labelled tells whether a field stands in a label or has one elsewhere, by its id.
func labelled(n *html.Node) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == "label" {
			return true
		}
	}
	return attribute(n, "id") != "" || attribute(n, "aria-label") != ""
}

func TestEveryPageIsWellMadeWithHostileTexts(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.fill()
	paths := []string{"/", "/?test=true", "/events", "/events?test=true&hasProblems=true", "/events?q=nothing", "/money?from=2026-01-01&to=2026-11-21", "/money?groupBy=transactionType&test=true",
		"/money?groupBy=day&from=2026-11-01&to=2026-11-21", "/stories/PLAIN", "/transactions/PLAIN", "/transactions/PLAIN?test=true"}
	paths = append(paths, b.linksOf("/events?limit=200", "/events/", 130)...)
	paths = append(paths, b.linksOf("/events?limit=200", "/transactions/", 40)...)
	paths = append(paths, b.linksOf("/events?transactionType=CHARGE", "/events/", 12)...)
	if len(paths) < 100 {
		t.Fatalf("only %d pages were found", len(paths))
	}
	for _, path := range paths {
		a := b.as(access.Admin, path, nil)
		if a.status != http.StatusOK {
			t.Errorf("%s: got %d", path, a.status)
		}
		wellMade(t, path, a)
	}
	wellMade(t, "a story of nothing", b.as(access.Admin, "/stories/"+"%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", nil))
}

// linksOf are the addresses on a page that begin in one way, up to so many.
func (b *branch) linksOf(path, prefix string, most int) []string {
	b.tb.Helper()
	a := b.as(access.Admin, path, nil)
	a.sees(b.tb, http.StatusOK)
	document, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		b.tb.Fatal(err)
	}
	var found []string
	seen := map[string]bool{}
	nodes(document, func(n *html.Node) {
		to := attribute(n, "href")
		if n.Data == "a" && strings.HasPrefix(to, prefix) && !seen[to] && len(found) < most {
			seen[to] = true
			found = append(found, to)
		}
	})
	return found
}
