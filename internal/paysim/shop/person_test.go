//go:build browser

package shop_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// person sits before a browser.
type person struct {
	*world
	t   *testing.T
	tab context.Context

	mu       sync.Mutex
	troubles []string // what the browser's console said
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

// newPerson opens the shop's window in a fresh browser. When the test ends, nothing must have been said in its console.
func newPerson(t *testing.T) *person {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(browser(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
	}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	p := &person{world: newWorld(t), t: t}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	allocator, free := chromedp.NewExecAllocator(ctx, options...)
	tab, leave := chromedp.NewContext(allocator)
	p.tab = tab
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("open the browser: %v", err)
	}
	over := make(chan struct{})
	said := chromedp.Console(tab)
	go func() {
		defer close(over)
		for message, err := range said {
			if err != nil {
				return
			}
			p.hears(message)
		}
	}()
	t.Cleanup(func() { leave(); free(); cancel(); <-over; p.noTrouble() })
	p.open("/")
	return p
}

func (p *person) hears(m chromedp.ConsoleMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range p.expected {
		if strings.Contains(m.Text, part) {
			return
		}
	}
	p.troubles = append(p.troubles, string(m.Type)+" "+m.Source+": "+m.Text+" ("+m.URL+")")
}

// expects lets the browser remark on a status that the shop means.
func (p *person) expects(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

func (p *person) noTrouble() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.troubles {
		p.t.Errorf("the console says: %s", one)
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

// press clicks something that leads to another page, and waits for it.
func (p *person) press(css string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(css))); err != nil {
		p.t.Fatalf("press %s: %v", css, err)
	}
}

func (p *person) choose(css, value string) {
	p.t.Helper()
	p.must("choose "+css, chromedp.SetValue(chromedp.CSS(css), value))
}

func (p *person) pick(css string) {
	p.t.Helper()
	p.must("pick "+css, chromedp.Click(chromedp.CSS(css)))
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
			p.t.Errorf("%s says %q, not %q", css, text, one)
		}
	}
}

// seesIPN waits until the list beside the page, which nobody reloads, has an IPN of a type that was answered.
func (p *person) seesIPN(kind string) {
	p.t.Helper()
	script := `[...document.querySelectorAll("#live li")].some(l => l.querySelector(".type").textContent === "` + kind + `" && l.textContent.includes("delivered"))`
	until := time.Now().Add(patience)
	for !ask[bool](p, script) {
		if time.Now().After(until) {
			p.t.Fatalf("no IPN %s was answered; the list says %q", kind, p.text("#live"))
		}
		<-time.After(50 * time.Millisecond)
	}
}

// ask evaluates a script in the page. A page that is just being exchanged for another has no place for it, so it is asked
// again.
func ask[T any](p *person, script string) T {
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

// cardThat is the number of the test card that tells an outcome.
func (p *person) cardThat(t *testing.T, tells string) string {
	t.Helper()
	for _, c := range p.Service.Cards() {
		if strings.Contains(c.Tells, tells) {
			return c.Number
		}
	}
	t.Fatalf("no test card tells %s", tells)
	return ""
}

// emit lets the payment service send an IPN while the person only looks.
func (p *person) emit(kind string) {
	p.t.Helper()
	if _, err := p.Service.Emit(kind); err != nil {
		p.t.Fatalf("emit %s: %v", kind, err)
	}
}
