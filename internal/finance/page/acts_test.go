package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

const because = "The target lost what it got"

// operated is a branch whose sink forward.billing has gone through three events and failed on the second, with two posts in
// quarantine: the first would be good now.
func operated(t *testing.T) *branch {
	t.Helper()
	b := newBranch(t)
	for i := range 3 {
		b.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=R%d&transactionDate=11/20/2026+08:30+AM", i+1))
	}
	lead, err := b.store.Lead(t.Context(), store.LeadConfig{Handler: "forward.billing", Kind: ipn.KindSink, Process: "here:1"})
	b.must("lead", err)
	b.must("fail", lead.Settle(t.Context(), ipn.Settlement{Position: 3, Failed: []ipn.Failure{{EventID: 2, Number: 1, Error: "answered 500", Wait: time.Hour}}}))
	lead.Close()
	for _, believe := range []string{"me", "no"} {
		raw := []byte("transactionType=CHARGE&referenceNumber=Q1&firstName=Mathilda&believe=" + believe)
		_, err := b.store.Quarantine(t.Context(), &ipn.Quarantined{Reason: ipn.ReasonSignatureMissing, Answered: 401, Digest: ipn.DigestOf(raw), Raw: raw,
			Origin: ipn.Origin{ReceivedAt: today, Headers: map[string]string{"user-agent": "somebody"}}})
		b.must("keep a post", err)
	}
	return b
}

// handler returns where the sink stands.
func (b *branch) handler() ipn.HandlerState {
	b.tb.Helper()
	states, err := b.store.Handlers(b.tb.Context())
	b.must("read the handlers", err)
	return states[slices.IndexFunc(states, func(s ipn.HandlerState) bool { return s.Name == "forward.billing" })]
}

// acts returns what the audit tells, newest first: who did what, and why.
func (b *branch) acts() (told []string) {
	b.tb.Helper()
	entries, err := b.store.Audit(b.tb.Context(), 0, 100)
	b.must("read the audit", err)
	for _, e := range entries {
		told = append(told, e.Actor+" "+e.Action+": "+e.Reason)
	}
	return told
}

// reason is a form with nothing but why, and what else is named.
func reason(more ...string) url.Values {
	form := url.Values{"reason": {because}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// rightOf is what a form needs. One that is not named here fails the test.
var rightOf = map[string]access.Right{
	"/events/search": access.See, "/events/{id}/reveal": access.Reveal, "/quarantine/{id}/reveal": access.Reveal, "/parked/redrive": access.Operate,
	"/handlers/{name}/pause": access.Operate, "/handlers/{name}/resume": access.Operate, "/handlers/{name}/replay": access.Operate,
	"/quarantine/{id}/promote": access.Operate,
}

func TestWhatOneMayNotSeeStaysOpenToOthers(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for _, role := range []access.Role{access.Admin, access.Viewer, access.Finance, access.Operator, access.Viewer, access.Admin} {
		want := http.StatusNotFound
		if role.May(access.Audit) {
			want = http.StatusOK
		}
		b.as(role, "/audit", nil).sees(t, want)
	}
}

func TestAPageIsNotAskedHalfAQuestion(t *testing.T) {
	t.Parallel()
	b := operated(t)
	for _, path := range b.routes(http.MethodGet) {
		path = strings.NewReplacer("{id}", "1", "{name}", "forward.billing", "{referenceNumber}", "R1", "{number}", "R1").Replace(path)
		b.as(access.Admin, path+"?from=2026-11-01&to=2026-11-02%", nil).sees(t, http.StatusUnprocessableEntity, "taken apart")
		b.as(access.Admin, path+"?test=true&test=false", nil).sees(t, http.StatusUnprocessableEntity, "Say it once")
	}
	b.as(access.Operator, "/handlers/forward.billing/pause?test=true%", reason()).sees(t, http.StatusUnprocessableEntity, "taken apart")
	if b.handler().PausedAt != nil {
		t.Error("the handler was paused")
	}
}

func TestWhoMayNotActIsRefusedBeforeAnythingIsLookedUp(t *testing.T) {
	t.Parallel()
	b := operated(t)
	there, nowhere := strings.NewReplacer("{id}", "1", "{name}", "forward.billing"), strings.NewReplacer("{id}", "999999", "{name}", "nobody")
	for _, pattern := range b.routes(http.MethodPost) {
		if pattern == "/sign-in" || pattern == "/sign-out" {
			continue
		}
		right, known := rightOf[pattern]
		if !known {
			t.Errorf("say in rightOf what %s needs", pattern)
			continue
		}
		for _, role := range access.Roles() {
			if role.May(right) {
				continue
			}
			one, other := b.as(role, there.Replace(pattern), reason("which", "all")), b.as(role, nowhere.Replace(pattern), reason("which", "all"))
			one.sees(t, http.StatusForbidden, "Not allowed")
			if other.status != one.status || strings.ReplaceAll(other.body, nowhere.Replace(pattern), there.Replace(pattern)) != one.body {
				t.Errorf("%s tells the %s what is there", pattern, role)
			}
		}
		if a := b.as("", there.Replace(pattern), reason()); a.status != http.StatusSeeOther || a.to() != "/sign-in" {
			t.Errorf("%s: nobody gets %d to %q", pattern, a.status, a.to())
		}
	}
	if told := b.acts(); len(told) > 0 || b.handler().PausedAt != nil {
		t.Errorf("something was done: %q", told)
	}
}

func TestWhoMayNotActSeesNoButtonForIt(t *testing.T) {
	t.Parallel()
	b := operated(t)
	for path, action := range map[string]string{
		"/handlers": "/parked/redrive", "/handlers/forward.billing": "/handlers/forward.billing/", "/quarantine/1": "/quarantine/1/promote",
	} {
		for _, role := range access.Roles() {
			a := b.as(role, path, nil)
			a.sees(t, http.StatusOK)
			if shown := strings.Contains(a.body, `action="`+action); shown != role.May(access.Operate) {
				t.Errorf("%s: the %s sees a form for %s: %t", path, role, action, shown)
			}
		}
	}
	if a, none := b.as(access.Viewer, "/audit", nil), b.as(access.Viewer, "/nowhere", nil); a.status != http.StatusNotFound || strings.ReplaceAll(a.body, "/audit", "/nowhere") != none.body {
		t.Errorf("the audit looks to a viewer (%d) unlike what does not exist (%d)", a.status, none.status)
	}
}

func TestAnActNeedsAReasonAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	b := operated(t)
	for _, path := range []string{"/handlers/forward.billing/pause", "/handlers/forward.billing/resume", "/parked/redrive", "/quarantine/1/promote", "/quarantine/1/reveal"} {
		for _, why := range []string{"", " \u202e ", "no", strings.Repeat("x", 501)} {
			role := access.Operator
			if strings.HasSuffix(path, "/reveal") {
				role = access.Finance
			}
			b.as(role, path, url.Values{"reason": {why}}).sees(t, http.StatusUnprocessableEntity, `role="alert"`, `aria-invalid="true"`)
		}
	}
	replay := b.as(access.Operator, "/handlers/forward.billing/replay", url.Values{"which": {"matching"}, "referenceNumber": {"R1"}, "reason": {""}})
	replay.sees(t, http.StatusUnprocessableEntity, `value="R1"`, `value="matching" checked`)
	if told := b.acts(); len(told) > 0 {
		t.Errorf("something was done: %q", told)
	}
}

func TestAHandlerIsPausedAndResumedFromThePage(t *testing.T) {
	t.Parallel()
	b := operated(t)
	a := b.as(access.Operator, "/handlers/forward.billing/pause", reason())
	if a.status != http.StatusSeeOther || a.to() != "/handlers/forward.billing?done=paused" || b.handler().PausedAt == nil {
		t.Fatalf("got %d to %q, paused at %v", a.status, a.to(), b.handler().PausedAt)
	}
	b.as(access.Viewer, a.to(), nil).sees(t, http.StatusOK, `role="status"`, "The handler is paused", because)
	if a := b.as(access.Admin, "/handlers/forward.billing/resume?test=true", reason()); a.to() != "/handlers/forward.billing?done=resumed&test=true" || b.handler().PausedAt != nil {
		t.Errorf("got %d to %q", a.status, a.to())
	}
	b.as(access.Operator, "/handlers/nobody/pause", reason()).sees(t, http.StatusNotFound)
	want := []string{"api:the-admin resume: " + because, "api:the-operator pause: " + because}
	if got := b.acts(); !slices.Equal(got, want) {
		t.Errorf("the audit tells %q, want %q", got, want)
	}
}

func TestAReplayIsCountedAndDoneOnlyWhenItIsConfirmed(t *testing.T) {
	t.Parallel()
	b := operated(t)
	const path = "/handlers/forward.billing/replay"
	form := reason("which", "since", "since", "2026-11-21")
	b.as(access.Operator, path, form).sees(t, http.StatusOK, "3\u00a0events", "Nothing has changed yet", `name="confirm" value="yes"`, `name="since" value="2026-11-21"`)
	if at := b.handler().Position; at != 3 || len(b.acts()) > 0 {
		t.Errorf("the count moved the handler to %d: %q", at, b.acts())
	}
	form.Set("confirm", "yes")
	if a := b.as(access.Operator, path, form); a.status != http.StatusSeeOther || a.to() != "/handlers/forward.billing?done=replayed" || b.handler().Position != 0 {
		t.Errorf("got %d to %q, the handler stands at %d", a.status, a.to(), b.handler().Position)
	}
	for _, tc := range []struct{ which, words string }{
		{"", "Say which events"}, {"since", "Write the day"}, {"matching", "Fill in at least one"}, {"everything", "Say which events"},
	} {
		b.as(access.Operator, path, reason("which", tc.which, "confirm", "yes")).sees(t, http.StatusUnprocessableEntity, tc.words)
	}
	b.as(access.Operator, path, reason("which", "matching", "referenceNumber", "R1", "testOrders", "true")).sees(t, http.StatusOK, "0\u00a0events")
}

func TestWhatFailedIsCountedAndTriedAgain(t *testing.T) {
	t.Parallel()
	b := operated(t)
	b.as(access.Operator, "/parked/redrive", reason("handler", "forward.billing", "count", "yes")).sees(t, http.StatusOK, "That would be 1\u00a0event")
	b.as(access.Operator, "/parked/redrive", reason("event", "1", "count", "yes")).sees(t, http.StatusOK, "That would be 0\u00a0events")
	for field, value := range map[string]string{"handler": "nobody", "state": "done", "event": "-1"} {
		b.as(access.Operator, "/parked/redrive", reason(field, value)).sees(t, http.StatusUnprocessableEntity)
	}
	if a := b.as(access.Operator, "/parked/redrive", reason("event", "2")); a.status != http.StatusSeeOther || a.to() != "/handlers?done=redriven" {
		t.Errorf("got %d to %q", a.status, a.to())
	}
	if got := b.acts(); !slices.Equal(got, []string{"api:the-operator redrive: " + because}) {
		t.Errorf("the audit tells %q", got)
	}
}

func TestAPostIsRevealedAndPromoted(t *testing.T) {
	t.Parallel()
	b := operated(t)
	if masked := b.as(access.Finance, "/quarantine/1", nil); strings.Contains(masked.body, "Mathilda") || !strings.Contains(masked.body, "somebody") {
		t.Error("the post is shown without a mask, or without its headers")
	}
	b.as(access.Finance, "/quarantine/1/reveal", reason()).sees(t, http.StatusOK, "Mathilda", "Nothing is masked")
	b.as(access.Operator, "/quarantine/2/promote", reason()).sees(t, http.StatusConflict, string(ipn.ReasonSignatureMismatch))
	a := b.as(access.Operator, "/quarantine/1/promote", reason())
	if a.status != http.StatusSeeOther || a.to() != "/events/4?done=promoted" {
		t.Fatalf("got %d to %q", a.status, a.to())
	}
	b.as(access.Viewer, a.to(), nil).sees(t, http.StatusOK, "is an event now")
	b.as(access.Operator, "/quarantine/1/promote", reason()).sees(t, http.StatusNotFound)
	want := []string{"api:the-operator promote: " + because, "api:the-finance reveal: " + because}
	if got := b.acts(); !slices.Equal(got, want) {
		t.Errorf("the audit tells %q, want %q", got, want)
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	b := operated(t)
	for _, site := range []string{"cross-site", "same-site"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/handlers/forward.billing/pause", strings.NewReader(reason().Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+b.tokens[access.Admin])
		r.Header.Set("Sec-Fetch-Site", site)
		if a := b.do(r); a.status != http.StatusForbidden || b.handler().PausedAt != nil {
			t.Errorf("%s: got %d", site, a.status)
		}
	}
}

func TestSigningInLeadsBackAndNeverElsewhere(t *testing.T) {
	t.Parallel()
	b := operated(t)
	if a := b.as("", "/handlers?state=buried", nil); a.status != http.StatusSeeOther || a.to() != "/sign-in?next=%2Fhandlers%3Fstate%3Dburied" {
		t.Errorf("got %d to %q", a.status, a.to())
	}
	wrong := b.as("", "/sign-in", url.Values{"token": {"ipn_guessed"}, "next": {"/handlers?state=buried"}})
	wrong.sees(t, http.StatusUnauthorized, "There is no such token", `value="/handlers?state=buried"`)
	if strings.Contains(wrong.body, "ipn_guessed") {
		t.Error("the page repeats the token")
	}
	for next, to := range map[string]string{"/handlers?state=buried": "/handlers?state=buried", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/", "javascript:alert(1)": "/", "": "/"} {
		a := b.as("", "/sign-in", url.Values{"token": {b.tokens[access.Operator]}, "next": {next}})
		if a.status != http.StatusSeeOther || a.to() != to {
			t.Errorf("next %q: got %d to %q, want %q", next, a.status, a.to(), to)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/handlers/forward.billing/pause", strings.NewReader(reason().Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	opened := b.as("", "/sign-in", url.Values{"token": {b.tokens[access.Operator]}})
	cookie, err := http.ParseSetCookie(opened.header.Get("Set-Cookie"))
	if err != nil || cookie.Name != access.CookieName || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode {
		t.Fatalf("got %v, %v", cookie, err)
	}
	r.AddCookie(cookie)
	if a := b.do(r); a.status != http.StatusSeeOther || b.acts()[0] != "page:the-operator pause: "+because {
		t.Errorf("got %d, the audit tells %q", a.status, b.acts())
	}
}

func TestGuessingTokensIsSlowedDown(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	for range 200 {
		a := b.as("", "/sign-in", url.Values{"token": {"ipn_guessed"}})
		if a.status == http.StatusTooManyRequests {
			if a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "Too many attempts") {
				t.Errorf("got %v %s", a.header, a.body)
			}
			return
		}
	}
	t.Error("two hundred guesses were let through")
}

func TestTheListsTellWhatTheirFiltersAskFor(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.record("transactionType=CHARGE&referenceNumber=W1&merchantTransactionId=own-1&paymentMethod=WIRE&invoiceChargeAmount=59.50&invoiceChargeCurrency=EUR&transactionDate=11/20/2026+08:30+AM")
	b.record("transactionType=CHARGE&referenceNumber=R1&subscriptionId=S1&contractId=P1&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&transactionDate=11/20/2026+08:30+AM&untilDate=12/20/2026")
	b.record("transactionType=SUBSCRIPTION_CHARGE_FAILURE&referenceNumber=R2&subscriptionId=S2&transactionDate=11/20/2026+08:30+AM")
	b.record("transactionType=CHARGEBACK&referenceNumber=R1&reversalRefNum=C1&reversalAmount=21.00&currency=EUR&cbStatus=NEW&transactionDate=11/10/2026+08:30+AM")
	b.record("transactionType=PAYOUT&payoutId=7&amount1=900.50&currency1=EUR&transactionDate=11/20/2026+08:30+AM")
	b.record("transactionType=FAILED_PAYOUT_TRANSFER&payoutId=8&amount1=17.00&currency1=EUR&transactionDate=11/20/2026+08:30+AM")
	b.keepBooks()
	b.must("bring a return", b.store.AddTransferReturn(t.Context(), ipn.TransferReturn{Status: "SUCCESS", OrderID: 77, TransactionID: "NONE", ReceivedAt: today.Add(-time.Hour)}))
	record := ipn.TaxRecord{ReferenceNumber: "R1", Currency: "EUR", Country: "AU", Items: []ipn.TaxItem{{ItemCode: "MUG", Quantity: 2, Amount: decimal.RequireFromString("10.00"), Tax: decimal.RequireFromString("1.01")}}}
	_, err := b.store.AddTaxRecord(t.Context(), record, ipn.Act{Actor: "api:shop", Reason: "told"})
	b.must("keep a tax record", err)
	for _, tc := range []struct {
		path     string
		has, not []string
	}{
		{"/subscriptions", []string{"S1", "S2", "21.00\u00a0EUR", "20\u00a0Dec\u00a02026", "past due"}, nil},
		{"/subscriptions?atRisk=true", []string{"S2"}, []string{">S1<"}},
		{"/subscriptions?state=active", []string{"S1"}, []string{">S2<"}},
		{"/subscriptions?test=true", []string{"No subscription is known yet"}, []string{">S1<"}},
		{"/subscriptions/S1", []string{"S1", "active", "Charged 21.00 EUR", "P1"}, nil},
		{"/disputes?state=open", []string{"C1", "21.00\u00a0EUR", "past", "10\u00a0days", "20\u00a0Nov\u00a02026"}, nil},
		{"/disputes?state=won", []string{"No dispute is in this state"}, []string{">C1<"}},
		{"/payouts", []string{"900.50\u00a0EUR", "A payout of 17.00 EUR failed"}, []string{"−900.50"}},
		{"/transfers", []string{"W1", "59.50\u00a0EUR", "order 77", "NONE"}, nil},
		{"/transfers?trouble=return_without_ipn", []string{"NONE"}, []string{">W1<"}},
		{"/tax", []string{"Look up"}, []string{"alert"}},
		{"/tax?number=R1", []string{"MUG", "11.01\u00a0EUR", "ABN"}, nil},
		{"/tax?number=R1&refund=some&pieces0=1", []string{"5.51\u00a0EUR", "0.51\u00a0EUR", "MUG:1"}, nil},
		{"/tax?number=R1&refund=all", []string{"MUG:2"}, nil},
		{"/configuration", []string{"sendRefund", "is not as wanted", "drift"}, nil},
	} {
		a := b.as(access.Viewer, tc.path, nil)
		if a.sees(t, http.StatusOK, tc.has...); t.Failed() {
			t.Fatalf("%s is at fault", tc.path)
		}
		for _, one := range tc.not {
			if strings.Contains(a.body, one) {
				t.Errorf("%s says %q", tc.path, one)
			}
		}
	}
	for path, status := range map[string]int{
		"/subscriptions?state=happy": 422, "/subscriptions?cursor=made-up": 422, "/disputes?order=random": 422, "/disputes?cursor=made-up": 422, "/payouts?cursor=made-up": 422,
		"/transfers?trouble=none": 422, "/transfers?days=1000": 422, "/tax?number=R9": 404, "/tax?number=R1&refund=some&pieces0=3": 422, "/tax?number=R1&refund=some&pieces0=some": 422,
		"/tax?number=R1&refund=some": 422, "/handlers?state=done": 422, "/handlers?cursor=made-up": 422, "/quarantine?cursor=-1": 422, "/quarantine/x": 404, "/quarantine/99": 404,
		"/configuration?cursor=x": 422, "/subscriptions/S9": 404, "/subscriptions/a%00b": 404, "/handlers/nobody": 404,
	} {
		if a := b.as(access.Viewer, path, nil); a.status != status || !strings.Contains(a.body, `role="alert"`) {
			t.Errorf("%s: got %d, want %d in words", path, a.status, status)
		}
	}
}

func TestAHandlerOfAnyNameHasItsPage(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	lead, err := b.store.Lead(t.Context(), store.LeadConfig{Handler: hostileHandler, Kind: ipn.KindSink})
	b.must("lead", err)
	lead.Close()
	path := "/handlers/" + url.PathEscape(hostileHandler)
	b.as(access.Viewer, path, nil).sees(t, http.StatusOK, "&lt;img src=x onerror=alert(1)&gt;")
	if a := b.as(access.Operator, path+"/pause", reason()); a.status != http.StatusSeeOther || a.to() != path+"?done=paused" {
		t.Errorf("got %d to %q", a.status, a.to())
	}
}
