//go:build browser

package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// A walk goes through the pages as a person does who clicks everything: it follows the links it finds, fills in each form
// and presses each of its buttons. Of links and forms that differ in nothing but what they are about, it takes a few.
type walk struct {
	*person
	waiting []string       // addresses to look at
	taken   map[string]int // how often something of a kind was taken
	looked  map[string]int // pages that were shown, by the route's pattern
	done    map[string]int // forms that were posted and accepted, by the route's pattern
	check   func(path string)
}

// mostOfAKind is how many of a kind are taken: each page holds many hostile texts, and of each kind all are seen.
const mostOfAKind = 5

// patternOf is the route that answers a path, "" for none.
func (w *walk) patternOf(method, path string) string {
	context := chi.NewRouteContext()
	if !w.router.Match(context, method, path) {
		return ""
	}
	return context.RoutePattern()
}

// kind is what an address has in common with those that look alike: the route and the names of its parameters.
func (w *walk) kind(method, address string) (pattern, kind string) {
	to, err := url.Parse(address)
	if err != nil {
		w.t.Fatalf("the page has the address %q: %v", address, err)
	}
	pattern = w.patternOf(method, to.EscapedPath())
	names := make([]string, 0, 8)
	for name := range to.Query() {
		names = append(names, name)
	}
	slices.Sort(names)
	return pattern, method + " " + pattern + " " + strings.Join(names, ",")
}

// add notes an address, unless enough of its kind were looked at.
func (w *walk) add(address string) {
	pattern, kind := w.kind(http.MethodGet, address)
	most := 1
	if strings.Contains(pattern, "{") {
		most = mostOfAKind
	}
	switch {
	case pattern == "":
		w.t.Errorf("a link leads nowhere: %.200s", address)
	case w.taken["at "+address] > 0 || w.taken[kind] >= most:
	default:
		w.taken["at "+address]++
		w.taken[kind]++
		w.waiting = append(w.waiting, address)
	}
}

// links are the addresses of this site that the page leads to, without what is behind # and those that stay on the page.
const links = `[...document.querySelectorAll("a[href], area[href]")].filter(a => !a.getAttribute("href").startsWith("#")).map(a => new URL(a.href)).filter(u => u.origin === location.origin).map(u => u.pathname + u.search)`

// strange are those that lead elsewhere: none does, whatever a stranger wrote.
const strange = `[...document.querySelectorAll("[href], [src], [action], [formaction]")].map(e => e.href ?? e.src ?? e.action)
  .filter(a => !(typeof a === "string" && (a === "" || a.startsWith(location.origin + "/"))))
  .map(a => typeof a === "string" ? a : "an address that is none")`

// run looks at everything that can be reached from the addresses.
func (w *walk) run(from ...string) {
	for _, address := range from {
		w.add(address)
	}
	for len(w.waiting) > 0 {
		address := w.waiting[0]
		w.waiting = w.waiting[1:]
		pattern, _ := w.kind(http.MethodGet, address)
		if strings.HasPrefix(pattern, "/api/") || strings.HasPrefix(pattern, "/openapi") {
			w.takes(address)
			continue
		}
		w.open(address)
		w.look(pattern, address)
		for _, form := range asks[[]form](w.person, forms) {
			w.fillsIn(address, form)
		}
	}
}

// look checks the page that is open and notes where it leads.
func (w *walk) look(pattern, address string) {
	w.looked[pattern]++
	w.check(address)
	for _, one := range asks[[]string](w.person, strange) {
		w.t.Errorf("%s leads to %q", address, one)
	}
	for _, link := range asks[[]string](w.person, links) {
		w.add(link)
	}
}

// takes fetches what is no page but a file, as a click on its link does.
func (w *walk) takes(address string) {
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.AddCookie(w.session())
	got := w.do(r)
	if got.status != http.StatusOK {
		w.t.Errorf("%s answers %d: %.300s", address, got.status, got.body)
	}
	pattern, _ := w.kind(http.MethodGet, address)
	w.looked[pattern]++
}

// form is a form of the page, with its buttons.
type form struct {
	Number  int
	Method  string
	Action  string
	Buttons int
	Choices int // how often it has to be filled in so that each of its choices was taken
	Fields  string
}

const forms = `[...document.forms].map((f, i) => ({Number: i, Method: f.method.toUpperCase(), Action: new URL(f.action).pathname + new URL(f.action).search,
  Buttons: f.querySelectorAll("button").length, Choices: Math.max(1, f.querySelectorAll("[type=radio]").length, ...[...f.querySelectorAll("select")].map(s => Math.min(s.options.length, 3))),
  Fields: [...f.elements].map(e => e.name + "=" + (e.type === "hidden" ? "hidden" : "")).join()}))`

// fills puts something into every field of a form. Where a form takes one of several, the one given is chosen.
const fills = `((number, text, which) => {
  const form = document.forms[number];
  form.closest("details")?.setAttribute("open", "");
  form.querySelectorAll("details").forEach(d => d.setAttribute("open", ""));
  for (const e of form.elements) {
    if (e.type === "hidden" || e.tagName === "BUTTON" || e.tagName === "FIELDSET") continue;
    if (e.type === "date") e.value = "2026-11-01";
    else if (e.type === "number") e.value = e.min === "0" ? "1" : e.min || "1";
    else if (e.type === "checkbox") e.checked = true;
    else if (e.type === "radio") e.checked = e.checked || which % form.querySelectorAll("[name='" + e.name + "']").length === [...form.querySelectorAll("[name='" + e.name + "']")].indexOf(e);
    else if (e.tagName === "SELECT") e.selectedIndex = which % e.options.length;
    else if (e.name === "number") e.value = "PLAIN";
    else if (e.name === "email") e.value = "jane.doe@example.com";
    else if (e.name === "name") e.value = "Jane Doe";
    else if (e.name === "reason") e.value = "because " + text.slice(0, 300);
    else if (e.pattern || e.maxLength > 0 && e.maxLength < 20 || e.inputMode === "decimal") e.value = "";
    else e.value = text.slice(0, e.maxLength > 0 ? e.maxLength : 200);
  }
  return form.reportValidity();
})`

// fillsIn presses every button of a form, each with the form filled in anew.
func (w *walk) fillsIn(address string, f form) {
	if f.Action == "/sign-out" {
		return
	}
	pattern, _ := w.kind(f.Method, f.Action)
	if pattern == "" {
		w.t.Errorf("%s: a form leads nowhere: %s", address, f.Action)
		return
	}
	for button := range f.Buttons {
		for which := range f.Choices {
			key := fmt.Sprint("form ", f.Method, pattern, f.Fields, button, which)
			if w.taken[key] > 0 {
				continue
			}
			if w.presses(address, pattern, f, button, which) {
				w.taken[key]++
			}
		}
	}
}

// presses fills a form in and presses one of its buttons. It returns false where the form is gone: an act before this one has
// changed what can be done here.
func (w *walk) presses(address, pattern string, f form, button, which int) bool {
	w.open(address)
	all := asks[[]form](w.person, forms)
	at := slices.IndexFunc(all, func(other form) bool {
		return other.Method == f.Method && other.Action == f.Action && other.Fields == f.Fields
	})
	if at < 0 {
		return false
	}
	text := hostile[(button+which)%len(hostile)]
	if !asks[bool](w.person, fmt.Sprintf("%s(%d, %q, %d)", fills, at, strings.ToValidUTF8(text, ""), which)) {
		w.t.Errorf("%s: the form %s does not let itself be filled in", address, f.Action)
		return true
	}
	asks[bool](w.person, fmt.Sprintf(`document.querySelectorAll("[data-press]").forEach(b => b.removeAttribute("data-press")); document.forms[%d].querySelectorAll("button")[%d].setAttribute("data-press", ""); true`, at, button))
	w.press("[data-press]")
	here := asks[string](w.person, "location.pathname + location.search")
	if f.Method == http.MethodGet {
		w.looked[pattern]++
	}
	if f.Method == http.MethodPost && !asks[bool](w.person, `!!document.querySelector(".note.bad[role=alert]")`) {
		w.done[pattern]++
	}
	shown, _ := w.kind(http.MethodGet, here)
	w.look(shown, here)
	if f.Method == http.MethodPost && shown == "" { // a form's answer may hold the next form: count, then do
		for _, next := range asks[[]form](w.person, forms) {
			w.confirms(pattern, next)
		}
	}
	return true
}

// confirms presses the button of a form that has nothing left to fill in.
func (w *walk) confirms(pattern string, f form) {
	if next, _ := w.kind(f.Method, f.Action); f.Method != http.MethodPost || next != pattern || !strings.Contains(f.Fields, "confirm=hidden") {
		return
	}
	w.press("form:has([name=confirm]) button")
	w.sees("[role=status]", "sees the events again")
	w.done[pattern+" confirmed"]++
}

func newWalk(t *testing.T, role access.Role, check func(p *person, path string)) *walk {
	key, err := ipn.NewSecret("search", []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBranch(t, func(o *finance.Office) { o.People = ipn.NewPersonKey(key) })
	b.fill()
	p := newPerson(t, b)
	for _, status := range []string{"status of 404", "status of 409", "status of 422"} {
		p.expects("Failed to load resource: the server responded with a " + status)
	}
	p.signsIn(role)
	w := &walk{person: p, taken: map[string]int{}, looked: map[string]int{}, done: map[string]int{}}
	w.check = func(path string) { check(p, path) }
	return w
}

// elsewhere are the ways that no walk can come by, and the test that does.
var elsewhere = map[string]string{
	"GET /events/search": "TestAPersonIsFoundWithoutBeingTold",
	"GET /sign-in":       "TestAPersonSignsInAndOut", "POST /sign-in": "TestAPersonSignsInAndOut", "POST /sign-out": "TestAPersonSignsInAndOut",
}

func TestEveryPageWithstandsWhatStrangersType(t *testing.T) {
	w := newWalk(t, access.Admin, func(p *person, path string) {
		for _, one := range asks[[]string](p, unreadable) {
			t.Errorf("%s: %s", path, one)
		}
	})
	w.run("/", "/?test=true")
	for _, pattern := range w.routes(http.MethodGet) {
		if w.looked[pattern] == 0 && elsewhere["GET "+pattern] == "" {
			t.Errorf("no link led to %s: it was not looked at", pattern)
		}
	}
	for _, pattern := range w.routes(http.MethodPost) {
		if w.done[pattern] == 0 && elsewhere["POST "+pattern] == "" {
			t.Errorf("no form was posted to %s and accepted", pattern)
		}
	}
	if w.done["/handlers/{name}/replay confirmed"] == 0 {
		t.Error("no replay was confirmed")
	}
	t.Logf("looked at %v, did %v", w.looked, w.done)
}
