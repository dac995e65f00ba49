//go:build browser

package shop_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

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
