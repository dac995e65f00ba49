//go:build browser

package page_test

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

// unreadable lists what a page has that a screen reader or a keyboard would stumble over.
const unreadable = `(() => {
  const found = [];
  const short = e => e.outerHTML.slice(0, 200);
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of new Set(ids)) if (ids.filter(i => i === id).length > 1) found.push("id twice: " + id);
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!e.labels?.length && !e.getAttribute("aria-label")) found.push("no label: " + short(e));
  for (const e of document.querySelectorAll("button, a, summary"))
    if (!e.textContent.trim() && !e.getAttribute("aria-label")) found.push("no name: " + short(e));
  for (const e of document.querySelectorAll("nav, [role=region], [role=group]"))
    if (!e.getAttribute("aria-label") && !document.getElementById(e.getAttribute("aria-labelledby"))) found.push("no name: " + short(e));
  for (const e of document.querySelectorAll("th")) if (!e.scope && !e.closest(".uplot")) found.push("no scope: " + short(e));
  for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]"))
    for (const id of (e.getAttribute("aria-labelledby") ?? e.getAttribute("aria-describedby") ?? e.htmlFor).split(" "))
      if (!document.getElementById(id)) found.push("speaks of " + id + ", which is not there: " + short(e));
  for (const e of document.querySelectorAll("img")) if (e.alt === undefined || !e.hasAttribute("alt")) found.push("no alt: " + short(e));
  for (const e of document.querySelectorAll(".scroll")) if (e.tabIndex !== 0) found.push("cannot be scrolled by keys: " + short(e));
  let level = 0;
  for (const e of document.querySelectorAll("main :is(h1, h2, h3, h4)")) {
    const next = Number(e.tagName[1]);
    if (next > level + 1 && !e.closest("[role=alert]")) found.push("a heading leaves out a level: " + short(e));
    if (!e.closest("[role=alert]")) level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) found.push("not one main");
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  for (const e of document.querySelectorAll("script:not([src]), style, [style], [onclick], [onerror], [onload]"))
    if (!e.closest(".u-wrap, .uplot, .chart")) found.push("inline: " + short(e));
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the screen: " + document.documentElement.scrollWidth);
  return found;
})()`

// plainPaths are the pages that a viewer may see without knowing any number, and one of each that needs one.
func plainPaths(b *branch) []string {
	places := map[string]string{
		"/events/{id}": "/events/1", "/transactions/{referenceNumber}": "/transactions/PLAIN", "/subscriptions/{id}": "", "/handlers/{name}": "/handlers/ledger",
		"/quarantine/{id}": "/quarantine/1", "/stories/{number}": "/stories/PLAIN",
	}
	var paths []string
	for _, pattern := range b.routes(http.MethodGet) {
		path, known := places[pattern]
		switch {
		case !strings.Contains(pattern, "{"):
			paths = append(paths, pattern)
		case !known:
			b.tb.Errorf("say in plainPaths which %s is to be looked at", pattern)
		case path != "":
			paths = append(paths, path)
		}
	}
	return append(paths, "/tax?number=PLAIN&refund=all", "/nowhere")
}

// readPerson sits before pages that are full of what strangers typed; signed in, unless the role is empty.
func readPerson(t *testing.T, role access.Role) *person {
	t.Helper()
	b := newBranch(t)
	b.fill()
	p := newPerson(t, b)
	p.expects("status of 404")
	p.expects("status of 422") // of /stories without a number
	if role != "" {
		p.signsIn(role)
	}
	return p
}

func TestEveryPageFitsAPhone(t *testing.T) {
	p := readPerson(t, access.Admin)
	p.must("take a phone", chromedp.EmulateViewport(360, 740))
	for _, path := range plainPaths(p.branch) {
		p.open(path)
		for _, one := range asks[[]string](p, unreadable) {
			t.Errorf("%s: %s", path, one)
		}
	}
}

func TestWhatTheBrowserComplainsOfIsHeard(t *testing.T) {
	p := newPerson(t, newBranch(t))
	p.open("/sign-in")
	asks[bool](p, `document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>"); setTimeout(() => alert("opened")); setTimeout(() => { throw new Error("thrown") }); true`)
	for _, want := range []string{"Content Security Policy", "ContentSecurityPolicyIssue", "dialog: opened", "thrown"} {
		for deadline := time.Now().Add(patience); !p.heard(want); <-time.After(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not among %q", want, p.troubles)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubles = nil
}

// heard tells whether the browser has complained of something.
func (p *person) heard(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.troubles, func(trouble string) bool { return strings.Contains(trouble, part) })
}

// faint lists text that stands out too little from what is behind it: below 4.5 to 1, or 3 to 1 where it is large (WCAG 2.2,
// 1.4.3). What has no size is not looked at.
const faint = `(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(srgb") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const ground = e => {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility() || e.closest(".unseen, .skip, .u-wrap, option")) continue;
    const style = getComputedStyle(e), under = ground(e), ink = over(parse(style.color), under);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) found.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + style.color + " on " + under.map(Math.round) + ": " + walker.currentNode.textContent.trim().slice(0, 40));
  }
  return [...found];
})()`

func TestEveryPageIsReadableInLightAndInTheDark(t *testing.T) {
	p := readPerson(t, access.Admin)
	for _, scheme := range []string{"light", "dark"} {
		p.looks("", scheme)
		for _, path := range plainPaths(p.branch) {
			p.open(path)
			if dark := asks[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches`); dark != (scheme == "dark") {
				t.Fatalf("the browser is not in the %s scheme", scheme)
			}
			for _, one := range asks[[]string](p, faint) {
				t.Errorf("%s, %s: %s", path, scheme, one)
			}
		}
		asks[bool](p, `document.documentElement.style.setProperty("--ink", "#888"); true`)
		if len(asks[[]string](p, faint)) == 0 {
			t.Errorf("grey text is not found faint in the %s scheme", scheme)
		}
	}
}

func TestEveryPagePrintsWhatItTellsAndNothingToClick(t *testing.T) {
	p := readPerson(t, access.Admin)
	p.looks("print", "light")
	for _, path := range plainPaths(p.branch) {
		p.open(path)
		if left := asks[[]string](p, `[...document.querySelectorAll("nav, button, .banner, .skip")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 120))`); len(left) > 0 {
			t.Errorf("%s prints %q", path, left)
		}
		if !asks[bool](p, `document.querySelector("h1").checkVisibility()`) {
			t.Errorf("%s prints no heading", path)
		}
	}
}

func TestThePagesAreReadWithoutScripts(t *testing.T) {
	p := readPerson(t, "")
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.open("/sign-in")
	p.must("type the token", chromedp.SendKeys(chromedp.CSS("#token"), p.tokens[access.Operator]))
	p.clicks("form[action='/sign-in'] button")
	p.sees("h1", "Overview")
	for _, path := range plainPaths(p.branch) {
		p.open(path)
		want, got := p.title(path), p.text("h1")
		if got != want {
			t.Errorf("%s is headed %q without scripts, %q in its text", path, got, want)
		}
	}
	p.open("/events")
	p.clicks("[rel=next]")
	p.sees("main", "First page")
	p.open("/handlers/ledger")
	p.must("say why", chromedp.SendKeys(chromedp.CSS("form[action$='/resume'] [name=reason]"), "The month is closed"))
	p.clicks("form[action$='/resume'] button")
	p.sees("[role=status]", "goes on where it stood")
}

var tags = regexp.MustCompile("<[^>]*>")

// title is the heading of a page as it is sent, for nobody's eyes.
func (p *person) title(path string) string {
	p.t.Helper()
	got := p.as(access.Operator, path, nil)
	if got.status == http.StatusSeeOther {
		return p.title(got.to())
	}
	_, rest, _ := strings.Cut(got.body, "<h1>")
	text, _, found := strings.Cut(rest, "</h1>")
	if !found {
		p.t.Fatalf("%s (%d) has no heading", path, got.status)
	}
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(text, ""))), " ")
}

// clicks presses something without help from scripts in the page, and waits for the answer.
func (p *person) clicks(css string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(css))); err != nil {
		p.t.Fatalf("click %s: %v", css, err)
	}
}

func TestAPersonSignsInAndOut(t *testing.T) {
	p := newPerson(t, newBranch(t))
	p.expects("status of 401")
	p.expects("DocumentCookie") // this test reads it
	p.open("/audit?test=true")
	p.sees("h1", "Sign in")
	p.must("type a wrong token", chromedp.SendKeys(chromedp.CSS("#token"), "ipn_guessed"))
	p.press("form[action='/sign-in'] button")
	p.sees("[role=alert]", "no such token")
	if shown := asks[string](p, `document.documentElement.outerHTML`); strings.Contains(shown, "ipn_guessed") {
		t.Error("the page repeats the token that was typed")
	}
	p.must("type the token", chromedp.SendKeys(chromedp.CSS("#token"), p.tokens[access.Operator]))
	p.press("form[action='/sign-in'] button")
	p.sees("h1", "Audit")
	p.sees("tbody", "signed in at the page")
	if at := asks[string](p, "location.pathname + location.search"); at != "/audit?test=true" {
		t.Errorf("the person was led to %s", at)
	}
	if readable := asks[string](p, "document.cookie"); readable != "" {
		t.Errorf("a script can read the cookie %q", readable)
	}
	p.press("form[action='/sign-out'] button")
	p.sees("main", "You are signed out")
	p.open("/audit")
	p.sees("h1", "Sign in")
}

func TestWhatTheProxySaysOfAPersonIsTextToo(t *testing.T) {
	p := newPerson(t, newBranch(t))
	call(p, network.Enable, network.EnableParams{})
	call(p, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"X-User": hostile[0]}})
	p.open("/")
	p.sees(".who", hostile[0], "admin")
}

func TestEverythingCanBeReachedByKeys(t *testing.T) {
	p := readPerson(t, access.Admin)
	for _, path := range plainPaths(p.branch) {
		p.open(path)
		if missed := p.tabs(); len(missed) > 0 {
			t.Errorf("%s: Tab does not reach %q", path, missed)
		}
	}
	p.open("/disputes")
	p.must("press /", chromedp.KeyEvent("/"))
	if at := asks[string](p, "document.activeElement.type"); at != "search" && at != "text" {
		t.Errorf("/ leads to %q, not to a field", at)
	}
	p.open("/events")
	p.must("press j twice and k", chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	if first := asks[bool](p, `document.activeElement.closest("tr") === document.querySelector("main tbody tr")`); !first {
		t.Error("j j k does not lead to the first row")
	}
}

// tabs presses Tab and returns what it should have reached and did not, of the first 60 things that can be reached. A group of
// radio buttons is one of them.
func (p *person) tabs() []string {
	p.t.Helper()
	want := asks[[]string](p, `(() => { let n = 0; const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
		.filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !(e.type === "radio" && e !== e.form.querySelector("[name='" + e.name + "']")));
		all.forEach(e => { e.dataset.stop = String(n++) }); document.body.tabIndex = -1; document.body.focus();
		return all.slice(0, 60).map(e => e.dataset.stop) })()`)
	for range 4 * len(want) { // a field for a date has a stop for each of its parts
		p.must("press Tab", chromedp.KeyEvent("\t"))
		at := asks[string](p, `document.activeElement?.dataset?.stop ?? ""`)
		if want = slices.DeleteFunc(want, func(stop string) bool { return stop == at }); len(want) == 0 {
			break
		}
	}
	return want
}
