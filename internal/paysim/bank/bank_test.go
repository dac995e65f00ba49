package bank_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/bank"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// service holds one transfer and notes what the page does to it.
type service struct {
	transfer paysim.Transfer
	decided  []bool
}

func (s *service) Transfer(orderID int64) (paysim.Transfer, error) {
	if orderID != s.transfer.OrderID {
		return paysim.Transfer{}, &paysim.Refusal{Status: 404, Description: "there is no such order"}
	}
	return s.transfer, nil
}

func (s *service) FinishTransfer(_ int64, approve bool) (string, error) {
	if s.transfer.Outcome == "broken" {
		return "", errors.New("a text for nobody")
	}
	s.decided = append(s.decided, approve)
	return "https://shop.example.com/return?STATUS=SUCCESS", nil
}

func anOrder() *service {
	return &service{transfer: paysim.Transfer{
		OrderID: 4711, Status: paysim.TransferPending, Amount: money.MustParse("21.00"), Currency: "EUR",
		ReturnURL: "https://shop.example.com/return?cart=9", Payer: &paysim.Shopper{FirstName: "Ann<b>", LastName: "Lee", Country: "de"},
	}}
}

// ask sends a request to the page; a form makes it a POST.
func ask(t *testing.T, s *service, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	bank.New(bank.Config{Service: s}).ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func chosen(more ...string) url.Values {
	form := url.Values{"country": {"DE"}, "bank": {"Musterbank Berlin"}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

func TestTheShopperIsLedFromTheCountryToTheAccount(t *testing.T) {
	steps := []struct {
		name, path string
		form       url.Values
		status     int
		shows      []string
	}{
		{"the shopper's country is chosen beforehand", "/bank/4711", nil, 200, []string{`data-step="bank"`, "Banks in Germany", "Musterbank Berlin", "21.00 EUR", "Ann&lt;b&gt;"}},
		{"another country has other banks", "/bank/4711?country=NL", nil, 200, []string{"Banks in Netherlands", "Voorbeeldbank"}},
		{"a country nobody serves is not chosen", "/bank/4711?country=ZZ", nil, 200, []string{"Banks in Austria"}},
		{"a bank leads to its log-in", "/bank/4711?country=DE&bank=Musterbank+Berlin", nil, 200, []string{`data-step="details"`, "Log in to Musterbank Berlin"}},
		{"a bank of another country is not chosen", "/bank/4711?country=NL&bank=Musterbank+Berlin", nil, 200, []string{`data-step="bank"`}},
		{"details lead to the accounts", "/bank/4711", chosen("step", "details", "login", "demo", "pin", "12345"), 200, []string{`data-step="account"`, "Pay 21.00 EUR"}},
		{"details are asked for again when one is blank", "/bank/4711", chosen("step", "details", "login", "demo", "pin", " "), 422, []string{`data-step="details"`, `role="alert"`}},
		{"an account must be chosen", "/bank/4711", chosen("step", "account", "decision", "confirm", "account", "other"), 422, []string{`data-step="account"`, `role="alert"`}},
		{"nothing goes without a bank", "/bank/4711", url.Values{"step": {"account"}, "account": {"current"}}, 422, []string{`data-step="bank"`}},
		{"an order nobody made", "/bank/4712", nil, 404, []string{"There is no such order"}},
		{"an order that is not a number", "/bank/x", nil, 404, []string{"There is no such order"}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			s := anOrder()
			answer, body := ask(t, s, step.path, step.form)
			if answer.StatusCode != step.status {
				t.Errorf("status %d, want %d", answer.StatusCode, step.status)
			}
			for _, want := range step.shows {
				if !strings.Contains(body, want) {
					t.Errorf("the page does not show %q:\n%s", want, body)
				}
			}
			if len(s.decided) > 0 || strings.Contains(body, `value="12345"`) {
				t.Error("nothing may be decided, nor a PIN shown, before the last step")
			}
		})
	}
}

func TestOnlyTheLastStepDecides(t *testing.T) {
	for name, c := range map[string]struct {
		form    url.Values
		approve bool
	}{
		"a confirmation":            {chosen("step", "account", "account", "savings", "decision", "confirm"), true},
		"a refusal at the end":      {chosen("step", "account", "account", "savings", "decision", "cancel"), false},
		"a refusal before anything": {url.Values{"decision": {"cancel"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := anOrder()
			answer, _ := ask(t, s, "/bank/4711", c.form)
			if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "https://shop.example.com/return?STATUS=SUCCESS" {
				t.Errorf("answered %d to %q", answer.StatusCode, answer.Header.Get("Location"))
			}
			if len(s.decided) != 1 || s.decided[0] != c.approve {
				t.Errorf("decided %v", s.decided)
			}
		})
	}
}

func TestAnOrderThatIsOverLeadsBackToTheShop(t *testing.T) {
	s := anOrder()
	s.transfer.Visited, s.transfer.Status = true, paysim.TransferFail
	_, body := ask(t, s, "/bank/4711?country=DE&bank=Musterbank+Berlin", nil)
	if !strings.Contains(body, `data-step="done"`) || !strings.Contains(body, "The transfer was not made.") {
		t.Errorf("the page does not say how it ended:\n%s", body)
	}
	answer, _ := ask(t, s, "/bank/4711", chosen("step", "account", "account", "current", "decision", "confirm"))
	if answer.StatusCode != http.StatusSeeOther || !strings.Contains(answer.Header.Get("Location"), "STATUS=FAIL") || len(s.decided) > 0 {
		t.Errorf("answered %d to %q, decided %v", answer.StatusCode, answer.Header.Get("Location"), s.decided)
	}
}

func TestAFaultOfTheServiceIsToldWithoutItsText(t *testing.T) {
	s := anOrder()
	s.transfer.Outcome = "broken"
	answer, body := ask(t, s, "/bank/4711", url.Values{"decision": {"cancel"}})
	if answer.StatusCode != 422 || strings.Contains(body, "a text for nobody") {
		t.Errorf("answered %d:\n%s", answer.StatusCode, body)
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	s := anOrder()
	r := httptest.NewRequest(http.MethodPost, "/bank/4711", strings.NewReader("decision=cancel"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	bank.New(bank.Config{Service: s}).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || len(s.decided) > 0 {
		t.Errorf("answered %d, decided %v", w.Code, s.decided)
	}
}

func TestTheBrowserMayGoBackToTheMerchantAndNowhereElse(t *testing.T) {
	for returnURL, want := range map[string]string{
		"https://shop.example.com/return":  "form-action 'self' https://shop.example.com",
		"http://127.0.0.1:8090/shop?x=1;y": "form-action 'self' http://127.0.0.1:8090",
		"http://[2001:db8::1]:80/":         "form-action 'self' http:",
	} {
		t.Run(returnURL, func(t *testing.T) {
			s := anOrder()
			s.transfer.ReturnURL = returnURL
			answer, _ := ask(t, s, "/bank/4711", nil)
			policy := answer.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'") || !strings.HasSuffix(policy, want) {
				t.Errorf("the policy is %q, want it to end with %q", policy, want)
			}
		})
	}
}

func TestEachCountryWithTransfersHasBanks(t *testing.T) {
	for _, country := range paysim.TransferCountries() {
		_, body := ask(t, anOrder(), "/bank/4711?country="+country, nil)
		if !strings.Contains(body, `<input type="hidden" name="country" value="`+country+`">`) || !strings.Contains(body, `name="bank" value="`) {
			t.Errorf("%s has no banks", country)
		}
	}
}

func TestTheStyleSheetIsServed(t *testing.T) {
	answer, body := ask(t, anOrder(), "/bank/bank.css", nil)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || !strings.HasPrefix(kind, "text/css") || body == "" {
		t.Errorf("answered %d %s", answer.StatusCode, kind)
	}
}
