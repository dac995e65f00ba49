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

	"github.com/chromedp/cdproto/emulation"
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

func TestAPersonBuysWithTaxGetsMoneyBackAndDisputes(t *testing.T) {
	p := newPerson(t)
	p.choose(`[name=tea]`, "2")
	p.press("#go-on")
	p.press("#go-on")
	p.sees("#main", "Wool blanket", "Sencha tea", "Tax quote", "good until")
	total := p.text("#total")
	p.press("#pay-card")
	p.sees("h1", "Order", "captured")
	p.sees("#left", total)
	p.seesIPN("CHARGE")
	p.press("form[action$='/refund'] button") // the first item, with its tax
	p.sees("#refunds", "Wool blanket returned")
	if p.text("#left") == total {
		t.Errorf("still %s are left to refund", total)
	}
	p.seesIPN("REFUND")
	p.press("#dispute")
	p.sees(".dispute", "NEW", "Goods not received")
	p.seesIPN("CHARGEBACK")
	p.press("button[value=COMPLETED_WON]")
	p.sees(".dispute", "COMPLETED_WON")
	p.seesIPN("CHARGEBACK_STATUS_CHANGED")
}

func TestAReservedAmountIsChargedLater(t *testing.T) {
	p := newPerson(t)
	p.press("#go-on")
	p.press("#go-on")
	p.pick("[name=authOnly]")
	p.press("#pay-card")
	p.sees("h1", "authorized")
	p.press("#capture")
	p.sees("h1", "captured")
	p.seesIPN("CHARGE")
}

func TestADeclinedCardIsToldAndAnotherPaysTheSameQuote(t *testing.T) {
	p := newPerson(t)
	p.press("#go-on")
	p.press("#go-on")
	reference := p.text("#main .card code")
	p.expects("400")
	p.pick("[name=card][value='" + p.cardThat(t, "INSUFFICIENT_FUNDS") + "']")
	p.press("#pay-card")
	p.sees("[role=alert]", "INSUFFICIENT_FUNDS", "14002")
	if again := p.text("#main .card code"); again != reference {
		t.Errorf("the page went on with quote %s, not %s", again, reference)
	}
	p.pick("[name=card]")
	p.press("#pay-card")
	p.sees("h1", "captured")
	p.sees("#main", reference)
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

func TestAPersonSubscribesAndIsChargedAgain(t *testing.T) {
	p := newPerson(t)
	p.open("/shop/plans")
	p.press(".goods .button")
	p.press("#go-on")
	p.press("#subscribe")
	p.sees("#subscription-status", "ACTIVE")
	p.seesIPN("CHARGE")
	p.press("#renew")
	p.seesIPN("RECURRING")
	p.press("#refuse")
	p.sees("#main", "The bank will refuse the next renewal")
	p.press("button[value='720h']")
	p.press("button[value='24h']")
	p.press("button[value='24h']")
	p.seesIPN("SUBSCRIPTION_CHARGE_FAILURE")
	p.press("#change-plan")
	p.seesIPN("CONTRACT_CHANGE")
	p.press("#cancel")
	p.sees("#subscription-status", "CANCELED")
	p.seesIPN("CANCELLATION")
}

func TestABankTransferGoesByTheBankAndBack(t *testing.T) {
	for name, c := range map[string]struct{ outcome, status, known, notice string }{
		"approved":              {"_APPROVE", "SUCCESS", "SUCCESS", "CHARGE"},
		"as the person clicks":  {"", "SUCCESS", "SUCCESS", "CHARGE"},
		"rejected":              {"_REJECT", "FAIL", "FAIL", "DECLINE"},
		"approved after a time": {"_DELAYAP", "PENDING", "PENDING", "CHARGE"},
		"rejected after a time": {"_DELAYRJ", "PENDING", "PENDING", "DECLINE"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			p.open("/?currency=EUR")
			p.press("#go-on")
			p.press("#go-on")
			p.pick("details:not([open]) summary")
			p.choose("[name=outcome]", c.outcome)
			p.press("#pay-transfer")
			p.press("#continue")
			p.must("log in", chromedp.SendKeys(chromedp.CSS("#login"), "demo"), chromedp.SendKeys(chromedp.CSS("#pin"), "1"))
			p.press("#continue")
			p.press("#confirm")
			p.sees("#status", c.status)
			p.sees("#known", c.known)
			if c.status == "PENDING" {
				p.press("button[value='1h']")
			}
			p.seesIPN(c.notice)
		})
	}
}

func TestTheShopNeedsNoScript(t *testing.T) {
	p := newPerson(t)
	if _, err := chromedp.Call(p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatalf("switch scripts off: %v", err)
	}
	p.open("/")
	p.press("#go-on")
	p.press("#go-on")
	p.press("#pay-card")
	p.sees("h1", "captured")
	if err := p.Sender.Idle(t.Context()); err != nil {
		t.Fatalf("wait for the IPNs: %v", err)
	}
	p.must("reload", chromedp.Reload())
	p.sees("#live", "CHARGE", "delivered", "200")
	p.press("#live li a")
	p.sees("#body", "transactionType=CHARGE")
}

func TestTheListOfIPNsStaysFreshAndKeepsTheFocus(t *testing.T) {
	p := newPerson(t)
	p.emit("REFUND")
	p.seesIPN("REFUND")
	p.must("focus the line", chromedp.Focus(chromedp.CSS("#live li a")))
	p.emit("CHARGEBACK")
	p.seesIPN("CHARGEBACK")
	focused := ask[string](p, `document.activeElement.closest("li")?.textContent ?? ""`)
	if !strings.Contains(focused, "REFUND") {
		t.Errorf("the focus is at %q, not at the line that had it", focused)
	}
	p.sees("#said", "Latest IPN: CHARGEBACK, delivered.")
}

// emit lets the payment service send an IPN while the person only looks.
func (p *person) emit(kind string) {
	p.t.Helper()
	if _, err := p.Service.Emit(kind); err != nil {
		p.t.Fatalf("emit %s: %v", kind, err)
	}
}

// unreadable lists what a page has that a screen reader or a phone would stumble over.
const unreadable = `(() => {
  const found = [];
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of new Set(ids)) if (ids.filter(i => i === id).length > 1) found.push("id twice: " + id);
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!e.labels?.length && !e.getAttribute("aria-label")) found.push("no label: " + e.outerHTML);
  for (const e of document.querySelectorAll("button, a"))
    if (!e.textContent.trim() && !e.getAttribute("aria-label")) found.push("no name: " + e.outerHTML);
  for (const e of document.querySelectorAll("th")) if (!e.scope) found.push("no scope: " + e.outerHTML);
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) found.push("not one main");
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the screen: " + document.documentElement.scrollWidth);
  return found;
})()`

func TestEveryPageCanBeReadOnAPhoneAndAloud(t *testing.T) {
	p := newPerson(t)
	paths := pathsOf(t, p.world)
	p.must("take a phone", chromedp.EmulateViewport(360, 740))
	for _, path := range paths {
		p.open(path)
		for _, one := range ask[[]string](p, unreadable) {
			t.Errorf("%s: %s", path, one)
		}
	}
}
