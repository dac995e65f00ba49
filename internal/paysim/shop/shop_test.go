package shop_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestMoneyIsWrittenAsTheCurrencyIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for currency, price := range map[string]string{"USD": "$89.00", "EUR": "€84.00", "GBP": "£72.00", "AUD": "A$135.00", "JPY": "¥13,300"} {
		t.Run("in "+currency, func(t *testing.T) {
			w.get(t, "/?currency="+currency).sees(t, ">"+price+"<")
		})
	}
}

func TestTheTaxLineIsNamedAfterThePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		address []string
		words   []string
	}{
		"Colorado has a fee in it":     {[]string{"city", "Denver", "state", "CO", "zip", "80202"}, []string{`id="tax-label">Tax &amp; Delivery Fee<`}},
		"a Colorado without it":        {[]string{"city", "Denver", "state", "CO", "zip", "80202", "blanket", "0", "tea", "0", "book", "1"}, []string{`id="tax-label">Tax<`}},
		"Massachusetts has a tax":      {nil, []string{`id="tax-label">Tax<`}},
		"Germany has a VAT":            {[]string{"city", "Berlin", "state", "", "zip", "10115", "country", "DE", "currency", "EUR"}, []string{`id="tax-label">VAT<`, "VAT ID"}},
		"Australia has a GST, and ABN": {[]string{"city", "Sydney", "state", "NSW", "zip", "2000", "country", "AU", "currency", "AUD"}, []string{`id="tax-label">GST<`, "ABN"}},
	} {
		t.Run(name, func(t *testing.T) {
			quoted := w.post(t, "/shop/checkout", with(boston, c.address...))
			w.get(t, quoted.location).sees(t, c.words...)
		})
	}
}

func TestAustraliansAreNotAskedForAVATID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quoted := w.post(t, "/shop/checkout", with(boston, "city", "Sydney", "state", "NSW", "zip", "2000", "country", "AU", "currency", "AUD"))
	if page := w.get(t, quoted.location); strings.Contains(page.body, "VAT ID") {
		t.Error("the page says VAT ID")
	}
}

func TestAnItemIsRefundedWithItsTax(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.bought(t)
	page := w.get(t, order)
	page.sees(t, "Refund the wool blanket")
	back := w.post(t, order+"/refund", url.Values{"amount": {"89.00"}, "tax": {"0"}, "reason": {"moths"}})
	if back.status != http.StatusSeeOther || back.location != order {
		t.Fatalf("the refund answered %d to %q: %s", back.status, back.location, back.body)
	}
	w.get(t, order).sees(t, "moths", `id="refunds"`, "$89.00")
}

func TestARefusalIsToldWithItsCodeOnThePageItCameFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.bought(t)
	quoted := w.post(t, "/shop/checkout", boston)
	for name, c := range map[string]struct {
		path  string
		form  url.Values
		words []string
	}{
		"more than was charged":     {order + "/refund", url.Values{"amount": {"9999"}, "tax": {"0"}}, []string{"Refused: Order", `role="alert"`, "Code <code>"}},
		"money that is no money":    {order + "/refund", url.Values{"amount": {"1e3"}}, []string{"The amount cannot be read", "Order"}},
		"two numbers that are none": {order + "/refund", url.Values{"amount": {"x"}, "tax": {"y"}}, []string{"The amount cannot be read"}},
		"a card that is no card":    {quoted.location + "/card", with(payer, "number", "1234"), []string{`role="alert"`, `value="Ada"`, `value="1234"`}},
		"an empty cart":             {"/shop/checkout", url.Values{"currency": {"USD"}}, []string{"nothing in the cart"}},
		"a clock that runs back":    {"/shop/clock", url.Values{"advance": {"-1h"}}, []string{"The clock goes forward", "Where IPNs go"}},
		"a clock without a number":  {"/shop/clock", url.Values{"speed": {"NaN"}}, []string{"The speed must be a number"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.post(t, c.path, c.form)
			if got.status < 400 || got.status > 499 {
				t.Errorf("the status is %d", got.status)
			}
			got.sees(t, c.words...)
		})
	}
}

func TestTheClockLeadsBackToThePageItStandsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for back, want := range map[string]string{
		"/": "/", "/shop/orders": "/shop/orders", "": "/shop/account",
		"//example.com/": "/shop/account", "https://example.com/": "/shop/account", "/services/2/": "/shop/account",
	} {
		t.Run("from "+back, func(t *testing.T) {
			got := w.post(t, "/shop/clock", url.Values{"advance": {"1h"}, "back": {back}})
			if got.status != http.StatusSeeOther || got.location != want {
				t.Errorf("%d to %q, want 303 to %q", got.status, got.location, want)
			}
		})
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.bought(t)
	got := w.post(t, order+"/refund", url.Values{}, "Origin", "https://example.com", "Sec-Fetch-Site", "cross-site")
	if got.status != http.StatusForbidden {
		t.Errorf("the status is %d", got.status)
	}
	if page := w.get(t, order); strings.Contains(page.body, `id="refunds"`) {
		t.Error("money went back")
	}
}

func TestAFormThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.post(t, "/shop/checkout", with(boston, "address", strings.Repeat("x", 70<<10)))
	if got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("the status is %d", got.status)
	}
}

var inline = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script>|javascript:|(src|href|action)="(https?:)?//`)

func TestNoPageHasAnythingInlineOrForeign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range append(pathsOf(t, w), "/shop/nowhere") {
		got := w.get(t, path)
		if found := inline.FindString(got.body); found != "" {
			t.Errorf("%s has %q", path, found)
		}
		if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
}

func TestWhatIsNotThereIsSaidSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/nowhere", "/shop/orders/1", "/shop/pay/none", "/shop/subscriptions/1", "/shop/ipns/999999", "/shop/ipns/x", "/shop/checkout?plan=1", "/shop/assets/none"} {
		if got := w.get(t, path); got.status < 400 || got.status > 499 {
			t.Errorf("%s answers %d", path, got.status)
		}
	}
}

func TestWhatAPersonTypesIsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.get(t, "/shop/return?STATUS=%3Cscript%3Ealert(1)%3C/script%3E&ORDER-ID=1")
	if strings.Contains(got.body, "<script>alert") {
		t.Error("the query became part of the page")
	}
	got.sees(t, "Nobody has signed this query", "Nothing of this order")
}

func TestThePageThatARefusalIsToldOnKnowsItsOwnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.bought(t)
	w.post(t, order+"/refund", url.Values{"amount": {"9999"}, "tax": {"0"}}).sees(t, `name="back" value="`+order+`"`)
	w.get(t, "/shop/checkout?currency=USD&tea=2").sees(t, `name="back" value="/shop/checkout?currency=USD&amp;tea=2"`)
}

func TestTheDeliveryFeeIsNotGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quoted := w.post(t, "/shop/checkout", with(boston, "city", "Denver", "state", "CO", "zip", "80202"))
	order := w.post(t, quoted.location+"/card", payer).location
	page := w.get(t, order)
	page.sees(t, "Retail delivery fee", "stays where it is", "Refund the sencha tea")
	if strings.Contains(page.body, "Refund the retail delivery fee") {
		t.Error("the page offers to refund the fee")
	}
	w.post(t, order+"/refund", url.Values{})
	w.get(t, order).sees(t, `id="refunds"`, "refunded")
}
