//go:build browser

package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

func TestTheListOfEventsFollowsTheFilters(t *testing.T) {
	p := newPerson(t, shelf(t))
	p.signsIn(access.Viewer)
	p.open("/events")
	asks[bool](p, `window.same = true`)
	p.must("type", chromedp.SendKeys(chromedp.CSS("[name=transactionType]"), "REFUND"))
	p.until("the list of refunds", `location.search === "?transactionType=REFUND" && document.querySelectorAll("#list tbody tr").length === 1`)
	p.sees("#list", "Refunded 0.90 EUR")
	if !asks[bool](p, `window.same === true`) {
		t.Error("the whole page was loaded anew")
	}
	if said := p.text("#said"); !strings.HasPrefix(said, "1") {
		t.Errorf("a screen reader hears %q", said)
	}
	asks[bool](p, `history.back(); true`)
	p.until("the whole list", `location.search === "" && document.querySelectorAll("#list tbody tr").length > 1`)
}

func TestAChartIsDrawnBesideItsTable(t *testing.T) {
	p := newPerson(t, shelf(t))
	p.signsIn(access.Viewer)
	p.until("the chart", `document.querySelector("[data-chart] canvas") !== null`)
	p.sees("main", "As a table")
}
