package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/api"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// caller is a merchant's server that knows the credentials.
type caller struct {
	t       *testing.T
	service *paysim.Service
	agenda  *agenda.Agenda
	handler http.Handler
}

func newCaller(t *testing.T) *caller {
	a := agenda.New(time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), 1)
	s := paysim.New(paysim.Config{
		Agenda: a, Send: func(string, notice.Notice) {}, BankURL: func() string { return "https://bank.example.com/bank/" },
	})
	return &caller{t, s, a, api.New(api.Config{Service: s, Agenda: a, Username: "paysim", Password: "paysim-password"})}
}

// reply is an answer of the interface, its JSON object opened.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// ask sends a request; a body makes it JSON.
func (c *caller) ask(method, path, body string) reply {
	c.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.SetBasicAuth("paysim", "paysim-password")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	got := reply{status: w.Code, header: w.Header(), text: w.Body.String(), body: map[string]any{}}
	if got.text != "" {
		d := json.NewDecoder(strings.NewReader(got.text))
		d.UseNumber()
		if err := d.Decode(&got.body); err != nil {
			c.t.Fatalf("%s %s answers what is not JSON: %v\n%s", method, path, err, got.text)
		}
	}
	return got
}

// at reads a member at a path of names and indexes, "-" for what is not there.
func (r reply) at(path string) string {
	var here any = r.body
	for name := range strings.SplitSeq(path, ".") {
		switch v := here.(type) {
		case map[string]any:
			here = v[name]
		case []any:
			i := int(name[0] - '0')
			if i >= len(v) {
				return "-"
			}
			here = v[i]
		}
	}
	if here == nil {
		return "-"
	}
	return fmt.Sprint(here)
}

// shows compares members with what they should be.
func (c *caller) shows(r reply, want map[string]string) {
	c.t.Helper()
	for path, value := range want {
		if got := r.at(path); got != value {
			c.t.Errorf("%s is %s, want %s in\n%s", path, got, value, r.text)
		}
	}
}

const subscriptions = "/services/2/recurring/subscriptions"

const card = `"paymentSource":{"creditCardInfo":{"creditCard":{"cardNumber":"4111111111111111","securityCode":"123","expirationMonth":"12","expirationYear":"2036"}}}`

const payer = `"payerInfo":{"zip":"02110","firstName":"Ann","lastName":"Lee","phone":"555-0100"}`

func (c *caller) subscribe(members string) reply {
	c.t.Helper()
	r := c.ask("POST", subscriptions, `{"planId":3000001,`+payer+`,`+card+`,"transactionFraudInfo":{"fraudSessionId":"abc"}`+members+`}`)
	if r.status != http.StatusOK {
		c.t.Fatalf("answered %d: %s", r.status, r.text)
	}
	return r
}

func TestASubscriptionIsCreatedAndRead(t *testing.T) {
	c := newCaller(t)
	made := c.subscribe(`,"softDescriptor":"YARN","merchantTransactionId":"sub-1"`)
	want := map[string]string{
		"planId": "3000001", "quantity": "1", "recurringChargeAmount": "25.00", "status": "ACTIVE", "currency": "USD",
		"softDescriptor": "YARN", "merchantTransactionId": "sub-1", "chargeFrequency": "MONTHLY", "nextChargeDate": "01-Apr-26",
		"autoRenew": "true", "payerInfo.firstName": "Ann", "payerInfo.phone": "555-0100",
		"paymentSource.creditCardInfo.creditCard.cardLastFourDigits": "1111", "paymentSource.creditCardInfo.creditCard.cardType": "VISA",
		"paymentSource.creditCardInfo.creditCard.cardNumber": "-", "initialTaxReference": "-",
	}
	c.shows(made, want)
	location := subscriptions + "/" + made.at("subscriptionId")
	if got := made.header.Get("Location"); got != location {
		t.Errorf("Location is %q, want %q", got, location)
	}
	c.shows(c.ask("GET", location, ""), want)
	if strings.Contains(made.text, "4111111111111111") {
		t.Error("the answer holds the card's number")
	}
}

func TestASubscriptionTakesItsTaxQuotes(t *testing.T) {
	c := newCaller(t)
	q := quoteOf(t, c, "25.00")
	made := c.subscribe(`,"recurringTaxReference":"` + q + `"`)
	c.shows(made, map[string]string{"recurringChargeAmount": "26.56", "initialTaxReference": q, "recurringTaxReference": q})
	path := made.header.Get("Location")
	refused := c.ask("PUT", path, `{"overrideRecurringChargeAmount":31.88}`)
	c.shows(refused, map[string]string{"message.0.code": "43003", "message.0.invalidProperty.name": "recurringTaxReference"})
	q = quoteOf(t, c, "30.00")
	changed := c.ask("PUT", path, `{"overrideRecurringChargeAmount":"31.88","recurringTaxReference":"`+q+`"}`)
	c.shows(changed, map[string]string{"recurringChargeAmount": "31.88", "recurringTaxReference": q})
	q = quoteOf(t, c, "250.00")
	changed = c.ask("PUT", path, `{"planId":3000002,"recurringTaxReference":"`+q+`"}`)
	c.shows(changed, map[string]string{"recurringChargeAmount": "265.63", "planId": "3000002", "chargeFrequency": "ANNUALLY"})
}

// quoteOf makes a quote of an amount before 6.25 % of tax.
func quoteOf(t *testing.T, c *caller, amount string) string {
	t.Helper()
	q := c.ask("POST", "/services/2/tax-quote", `{"currency":"USD","shipTo":{"address":"10 Main St","city":"Boston","state":"MA","zip":"02110","country":"US"},
		"lines":[{"itemCode":"yarn-1","quantity":1,"amount":`+amount+`,"taxCode":"PS081282","description":"Yarn"}]}`)
	if q.status != http.StatusOK {
		t.Fatalf("answered %d: %s", q.status, q.text)
	}
	return q.at("taxReference")
}

func TestASubscriptionIsChangedStepByStep(t *testing.T) {
	c := newCaller(t)
	path := c.subscribe("").header.Get("Location")
	for _, step := range []struct {
		body string
		want map[string]string
	}{
		{`{"autoRenew":false}`, map[string]string{"autoRenew": "false", "status": "ACTIVE"}},
		{`{"autoRenew":true,"overrideRecurringChargeAmount":19.5}`, map[string]string{"autoRenew": "true", "recurringChargeAmount": "19.50"}},
		{`{` + strings.Replace(card, "4111111111111111", "5555555555554444", 1) + `}`, map[string]string{"paymentSource.creditCardInfo.creditCard.cardType": "MASTERCARD"}},
		{`{"status":"CANCELED"}`, map[string]string{"status": "CANCELED", "nextChargeDate": "-"}},
		{`{"status":"ACTIVE"}`, map[string]string{"status": "ACTIVE", "nextChargeDate": "01-Apr-26"}},
	} {
		r := c.ask("PUT", path, step.body)
		if r.status != http.StatusOK {
			t.Errorf("%s: answered %d: %s", step.body, r.status, r.text)
		}
		c.shows(r, step.want)
	}
}

func TestTheSandboxRenewsASubscriptionOnRequest(t *testing.T) {
	c := newCaller(t)
	path := c.subscribe(`,"overrideInitialChargeAmount":5`).header.Get("Location")
	if r := c.ask("POST", path+"/run-specific", ""); r.status != http.StatusNoContent || r.text != "" {
		t.Errorf("answered %d: %s", r.status, r.text)
	}
	c.shows(c.ask("GET", path+"/charges", ""), map[string]string{
		"charges.0.amount": "5.00", "charges.0.chargeInfo.chargeType": "INITIAL", "charges.0.transactionDate": "02-Mar-26",
		"charges.1.amount": "25.00", "charges.1.chargeInfo.chargeType": "RECURRING", "charges.2": "-", "lastPage": "true",
	})
}

func TestSubscriptionsAreListedInPages(t *testing.T) {
	c := newCaller(t)
	var ids []string
	for range 3 {
		ids = append([]string{c.subscribe("").at("subscriptionId")}, ids...)
	}
	first := c.ask("GET", subscriptions+"?pagesize=2&gettotal=true", "")
	c.shows(first, map[string]string{
		"lastPage": "false", "totalResults": "3", "subscriptions.0.subscriptionId": ids[0], "subscriptions.1.subscriptionId": ids[1], "subscriptions.2": "-",
	})
	second := c.ask("GET", subscriptions+"?pagesize=2&after="+ids[1], "")
	c.shows(second, map[string]string{"lastPage": "true", "totalResults": "-", "subscriptions.0.subscriptionId": ids[2], "subscriptions.1": "-"})
	c.shows(c.ask("GET", subscriptions+"?pagesize=3", ""), map[string]string{"lastPage": "true", "subscriptions.2.subscriptionId": ids[2]})
	for query, code := range map[string]string{"pagesize=0": "26001", "pagesize=501": "26002", "pagesize=x": "10001", "after=1": "10001"} {
		c.shows(c.ask("GET", subscriptions+"?"+query, ""), map[string]string{"message.0.code": code})
	}
}

func TestSubscriptionRequestsThatCannotBeMetAreRefused(t *testing.T) {
	for name, q := range map[string]struct {
		method, body string
		status       int
		code, blames string
	}{
		"no plan":                        {"POST", `{` + payer + `,` + card + `}`, 400, "16001", "planId"},
		"no source of payment":           {"POST", `{"planId":3000001,` + payer + `}`, 400, "16001", "paymentSource"},
		"nobody who pays":                {"POST", `{"planId":3000001,` + card + `}`, 400, "30", "-"},
		"a bank account as source":       {"POST", `{"planId":3000001,` + payer + `,"paymentSource":{"ecpInfo":{}}}`, 400, "14011", "paymentSource"},
		"two of a plan":                  {"POST", `{"planId":3000001,` + payer + `,` + card + `,"quantity":2}`, 400, "10001", "quantity"},
		"a trial of no days":             {"POST", `{"planId":3000001,` + payer + `,` + card + `,"overrideTrialPeriodDays":0}`, 400, "10001", "overrideTrialPeriodDays"},
		"an amount that is none":         {"POST", `{"planId":3000001,` + payer + `,` + card + `,"overrideInitialChargeAmount":"1e3"}`, 400, "10001", "overrideInitialChargeAmount"},
		"a plan that is text":            {"POST", `{"planId":"monthly"}`, 400, "10001", "planId"},
		"a refused card":                 {"POST", strings.Replace(`{"planId":3000001,`+payer+`,`+card+`}`, "4111111111111111", "4000000000000002", 1), 400, "14002", "-"},
		"a date that is not to be moved": {"PUT", `{"nextChargeDate":"15-Jun-26"}`, 400, "10001", "nextChargeDate"},
		"a beginning that has ended":     {"POST", `{"planId":3000001,` + payer + `,` + card + `,"status":"CANCELED"}`, 400, "10001", "status"},
		"another payer":                  {"PUT", `{` + payer + `}`, 400, "10001", "payerInfo"},
		"another first charge":           {"PUT", `{"overrideInitialChargeAmount":5}`, 400, "10001", "overrideInitialChargeAmount"},
		"an unknown plan":                {"PUT", `{"planId":7}`, 400, "10001", "planId"},
		"a plan in another currency":     {"PUT", `{"planId":3000003}`, 400, "20026", "planId"},
		"an amount that is a word":       {"PUT", `{"overrideRecurringChargeAmount":"much"}`, 400, "10001", "overrideRecurringChargeAmount"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t)
			path := subscriptions
			if q.method == "PUT" {
				path = c.subscribe("").header.Get("Location")
			}
			r := c.ask(q.method, path, q.body)
			if r.status != q.status {
				t.Errorf("answered %d, want %d", r.status, q.status)
			}
			c.shows(r, map[string]string{"message.0.code": q.code, "message.0.invalidProperty.name": q.blames})
		})
	}
}

func TestASubscriptionNobodyMadeIsNotFound(t *testing.T) {
	c := newCaller(t)
	for path, method := range map[string]string{"/7": "GET", "/7/charges": "GET", "/7/run-specific": "POST"} {
		r := c.ask(method, subscriptions+path, "")
		if r.status != http.StatusNotFound {
			t.Errorf("%s answered %d", path, r.status)
		}
		c.shows(r, map[string]string{"message.0.code": "90009", "message.0.errorName": "SUBSCRIPTION_NOT_FOUND"})
	}
	if r := c.ask("DELETE", subscriptions+"/7", ""); r.status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE answered %d", r.status)
	}
}
