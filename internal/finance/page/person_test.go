//go:build browser

package page_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	chrome "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

var shots = flag.String("shots", "", "folder that pictures of the pages are written to; none are taken without it")

// person sits before a browser.
type person struct {
	*branch
	t   *testing.T
	tab context.Context

	mu       sync.Mutex
	troubles []string // what the browser complained about
	expected []string // parts of what it may say
}

var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browser is the path of a browser. Without one the test is skipped, but not where all must be tested.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("none of these browsers is installed: %s", strings.Join(browsers, ", "))
	}
	t.Skipf("none of these browsers is installed: %s", strings.Join(browsers, ", "))
	return ""
}

// newPerson opens a fresh browser before the pages of a branch. When the test ends the browser must have complained about
// nothing: no word in its console, no report of the content security policy, no dialog.
func newPerson(t *testing.T, b *branch) *person {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(browser(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
	}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	p := &person{branch: b, t: t}
	p.expects("FormInputAssignedAutocompleteValueToIdOrNameAttributeError") // a hint for what browsers fill in, which nobody wants here
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	allocator, free := chromedp.NewExecAllocator(ctx, options...)
	tab, leave := chromedp.NewContext(allocator)
	p.tab = tab
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil { // the browser lives as long as this context
		t.Fatalf("open the browser: %v", err)
	}
	var listening sync.WaitGroup
	said, opening, found := chromedp.Console(tab), chromedp.Events(tab, chrome.JavascriptDialogOpening), chromedp.Events(tab, audits.IssueAdded)
	listening.Go(func() {
		for m, err := range said {
			if err != nil {
				return
			}
			p.hears(string(m.Type) + " " + m.Source + ": " + m.Text + " (" + m.URL + ")")
		}
	})
	listening.Go(func() {
		for dialog, err := range opening {
			if err != nil {
				return
			}
			p.hears("dialog: " + dialog.Message)
			go func() {
				_, _ = chromedp.Call(tab, chrome.HandleJavaScriptDialog, chrome.HandleJavaScriptDialogParams{Accept: true}) // the tab may be gone
			}()
		}
	})
	listening.Go(func() {
		for issue, err := range found {
			if err != nil {
				return
			}
			details, _ := json.Marshal(issue.Issue.Details)
			p.hears(fmt.Sprintf("issue: %s %s", issue.Issue.Code, details))
		}
	})
	call(p, audits.Enable, cdp.Empty{})
	t.Cleanup(func() { leave(); free(); cancel(); listening.Wait(); p.noTrouble() })
	return p
}

// call sends the browser a command.
func call[P, R any](p *person, command cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.tab, command, params); err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
}

func (p *person) hears(trouble string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range p.expected {
		if strings.Contains(trouble, part) {
			return
		}
	}
	if !slices.Contains(p.troubles, trouble) {
		p.troubles = append(p.troubles, trouble)
	}
}

// expects lets the browser remark on a status that the page means.
func (p *person) expects(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

func (p *person) noTrouble() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.troubles {
		p.t.Errorf("the browser says: %.500s", one)
	}
}

const patience = 15 * time.Second // for one step

func (p *person) must(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *person) open(path string) {
	p.t.Helper()
	p.must("open "+path, chromedp.Navigate(p.url+path))
}

// signsIn types the token of a role into the form, and is led to the first page.
func (p *person) signsIn(role access.Role) {
	p.t.Helper()
	p.open("/")
	p.must("type the token", chromedp.SendKeys(chromedp.CSS("#token"), p.tokens[role]))
	p.press("form[action='/sign-in'] button")
	p.sees("h1", "Overview")
}

// press clicks something that leads on, and waits until the page is there, whether it is another one or a part of this one
// was exchanged.
func (p *person) press(css string) {
	p.t.Helper()
	asks[bool](p, `window.before = true; document.addEventListener("htmx:after:swap", () => { delete window.before }, {once: true}); true`)
	p.must("press "+css, chromedp.Click(chromedp.CSS(css)))
	p.until("the page after "+css, `window.before === undefined && document.readyState === "complete"`)
}

// until waits for something to become true in the page.
func (p *person) until(what, script string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for !asks[bool](p, script) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s did not come; the page at %s says %.300q", what, asks[string](p, "location.href"), p.text("main"))
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (p *person) text(css string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.TextContent(chromedp.CSS(css)))
	if err != nil {
		p.t.Fatalf("read %s: %v", css, err)
	}
	return strings.Join(strings.Fields(text), " ")
}

func (p *person) sees(css string, words ...string) {
	p.t.Helper()
	text := p.text(css)
	for _, one := range words {
		if !strings.Contains(text, one) {
			p.t.Errorf("%s says %.300q, not %q", css, text, one)
		}
	}
}

// asks evaluates a script in the page. A page that is just being exchanged for another has no place for it, so it is asked
// again.
func asks[T any](p *person, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	for {
		answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
		if err == nil {
			return answer
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("ask the page: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// looks prefers a colour scheme, or sees the page as it is printed.
func (p *person) looks(media, scheme string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// shoots takes a picture of the whole page, if pictures are wanted.
func (p *person) shoots(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(*shots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Fatalf("take a picture of %s: %v", name, err)
	}
}

// session is the cookie of who is signed in, for what is fetched beside the browser.
func (p *person) session() *http.Cookie {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	found, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{p.url}})
	if err != nil {
		p.t.Fatalf("read the cookies: %v", err)
	}
	for _, c := range found.Cookies {
		if c.Name == access.CookieName {
			return &http.Cookie{Name: c.Name, Value: c.Value}
		}
	}
	p.t.Fatal("there is no session")
	return nil
}
