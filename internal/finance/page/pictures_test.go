//go:build browser

package page_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// An order is what a shop of flesh and blood sells, for pictures.
type order struct{ first, last, country, state, currency, amount, tax, usd, method, plan string }

var shopping = []order{
	{"Ada", "Muster", "DE", "", "EUR", "119.00", "19.00", "128.52", "CC", "Tea box"},
	{"Grace", "Field", "US", "CO", "USD", "54.28", "4.00", "54.28", "CC", "Blanket"},
	{"Yui", "Tanaka", "JP", "", "JPY", "8800", "800", "57.90", "CC", "Tea box"},
	{"Marie", "Blanc", "FR", "", "EUR", "24.00", "4.00", "25.92", "PAYPAL", "Tea box"},
	{"Jonas", "Berg", "DE", "", "EUR", "59.50", "9.50", "64.26", "WIRE", "Blanket"},
	{"Olivia", "Reed", "AU", "NSW", "AUD", "110.00", "10.00", "71.40", "CC", "Blanket"},
}

// plainly fills a branch with two months of a small shop.
func (b *branch) plainly() {
	b.tb.Helper()
	pacific, err := time.LoadLocation("America/Los_Angeles") // as the sender writes its dates
	b.must("load the zone", err)
	for n := range 140 {
		o := shopping[(n*n+n/3)%len(shopping)]
		at := today.Add(-time.Duration(n*n%61) * 24 * time.Hour).Add(-time.Duration(2+n%11) * time.Hour).In(pacific)
		fields := url.Values{
			"transactionType": {"CHARGE"}, "referenceNumber": {fmt.Sprint(1012345600 + n)}, "merchantTransactionId": {fmt.Sprint("order-", 4700+n)}, "accountId": {fmt.Sprint(20123450 + n%23)},
			"firstName": {o.first}, "lastName": {o.last}, "email": {strings.ToLower(o.first) + "@example.org"}, "country": {o.country}, "state": {o.state}, "transactionDate": {at.Format("01/02/2006 03:04 PM")},
			"invoiceChargeAmount": {o.amount}, "invoiceChargeCurrency": {o.currency}, "taxChargeAmount": {o.tax}, "invoiceAmountUSD": {o.usd}, "paymentMethod": {o.method}, "contractName": {o.plan},
			"contractId": {fmt.Sprint(2200 + len(o.plan))}, "productName": {"Shop"}, "creditCardType": {"VISA"}, "creditCardLastFourDigits": {"4242"},
		}
		with := func(kind string, more ...string) {
			for i := 0; i < len(more); i += 2 {
				fields.Set(more[i], more[i+1])
			}
			fields.Set("transactionType", kind)
			b.record(fields.Encode())
		}
		if n%4 == 0 {
			fields.Set("subscriptionId", fmt.Sprint("3300", n%28))
			fields.Set("untilDate", at.AddDate(0, 1, 0).Format("01/02/2006"))
		}
		b.record(fields.Encode())
		later := at
		if next := at.Add(30 * time.Hour); next.Before(today) {
			later = next
		}
		told := later.Format("01/02/2006 03:04 PM")
		switch {
		case n%9 == 3:
			with("REFUND", "reversalRefNum", fmt.Sprint(2012345600+n), "reversalAmount", "12.00", "currency", o.currency, "transactionDate", told)
		case n%17 == 5:
			with("CHARGEBACK", "reversalRefNum", fmt.Sprint(3012345600+n), "reversalAmount", o.amount, "currency", o.currency, "cbStatus", "NEW", "transactionDate", told)
		case n%23 == 8:
			with("SUBSCRIPTION_CHARGE_FAILURE", "referenceNumber", fmt.Sprint(4012345600+n), "transactionDate", told)
		case n%13 == 7:
			with("DECLINE", "referenceNumber", fmt.Sprint(5012345600+n), "transactionDate", told)
		}
	}
	for week := range 8 {
		at := today.AddDate(0, 0, -7*week).Add(-4 * time.Hour).In(pacific).Format("01/02/2006 03:04 PM")
		b.record(url.Values{"transactionType": {"PAYOUT"}, "payoutId": {fmt.Sprint(70 + week)}, "amount1": {fmt.Sprintf("%d.50", 900+17*week)}, "currency1": {"EUR"}, "transactionDate": {at}}.Encode())
	}
	b.keepBooks()
	b.plainWork()
}

// plainWork is what waits for people in that shop.
func (b *branch) plainWork() {
	b.tb.Helper()
	ctx := b.tb.Context()
	events, err := b.store.Log(ctx, 0, 200)
	b.must("read the log", err)
	last := events[len(events)-1].ID
	for _, h := range []store.LeadConfig{{Handler: "ledger", Kind: ipn.KindProjection, Process: "finance-1:1"}, {Handler: "forward.billing", Kind: ipn.KindSink, Process: "finance-2:1"}} {
		lead, err := b.store.Lead(ctx, h)
		b.must("lead", err)
		settled := ipn.Settlement{Position: last}
		if h.Kind == ipn.KindSink {
			for i, e := range events[40:44] {
				settled.Failed = append(settled.Failed, ipn.Failure{EventID: e.ID, Number: 3, Took: time.Second, Error: "the target answered 503", Bury: i == 0, Wait: 20 * time.Minute})
			}
		}
		b.must("settle", lead.Settle(ctx, settled))
		b.listens(lead)
	}
	act := ipn.Act{Actor: "page:maria", Reason: "The billing service is being updated, ticket 4711"}
	b.must("pause", b.store.PauseHandler(ctx, "forward.billing", act))
	b.must("resume", b.store.ResumeHandler(ctx, "forward.billing", ipn.Act{Actor: "page:maria", Reason: "The update is done"}))
	for i, believe := range []string{"me", "no"} {
		raw := []byte("transactionType=CHARGE&referenceNumber=10129999" + fmt.Sprint(i) + "&firstName=Ada&lastName=Muster&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&believe=" + believe)
		_, err := b.store.Quarantine(ctx, &ipn.Quarantined{Reason: ipn.ReasonSignatureMismatch, Answered: 401, Digest: ipn.DigestOf(raw), Raw: raw,
			Origin: ipn.Origin{ReceivedAt: today.Add(-time.Duration(i+1) * time.Hour), Peer: loopback, Headers: map[string]string{"content-type": "application/x-www-form-urlencoded", "user-agent": "Payments"}}})
		b.must("keep a post", err)
	}
	for i, status := range []string{"SUCCESS", "PENDING", "SUCCESS"} {
		b.must("bring a return", b.store.AddTransferReturn(ctx, ipn.TransferReturn{Status: status, OrderID: int64(9000 + i), TransactionID: "101299900" + fmt.Sprint(i),
			MerchantTransactionID: fmt.Sprint("order-", 5000+i), ReceivedAt: today.Add(-time.Duration(i+1) * time.Hour)}))
	}
	kept := ipn.TaxRecord{ReferenceNumber: "1012345601", MerchantTransactionID: "order-4701", TaxReference: "TX-88", Currency: "USD", Country: "US", State: "CO", DeliveryFee: decimal.RequireFromString("0.28")}
	for _, item := range [][4]string{{"BLANKET", "Wool blanket", "40.00", "3.20"}, {"TEA", "Sencha tea, 100 g", "10.00", "0.80"}} {
		kept.Items = append(kept.Items, ipn.TaxItem{ItemCode: item[0], Description: item[1], Quantity: 2, Amount: decimal.RequireFromString(item[2]), Tax: decimal.RequireFromString(item[3])})
	}
	_, err = b.store.AddTaxRecord(ctx, kept, ipn.Act{Actor: "api:shop", Reason: "told through the API"})
	b.must("keep a tax record", err)
	for _, result := range []string{ipn.ConfigurationInSync, ipn.ConfigurationDrift} {
		b.must("keep a look", b.store.AddConfigurationPush(ctx, ipn.ConfigurationPush{Process: "finance-1:1", Trigger: ipn.ConfigurationAtInterval, Result: result, Desired: settings("", true),
			Before: settings("", false), After: settings("", false), Changes: []ipn.ConfigurationChange{{Setting: "sendRefund", From: "false", To: "true"}}}))
	}
}

// listens lets a leader look for more until the end of the test, as one at work does: a session that is silent is cut off.
func (b *branch) listens(lead *store.Lead) {
	ctx, stop := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() {
		for ticks := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				ticks.Stop()
				lead.Close()
				return
			case <-ticks.C:
				_, _ = lead.Next(ctx, 1)
			}
		}
	})
	b.tb.Cleanup(func() { stop(); listening.Wait() })
}

// TestTakesPictures is for people's eyes: go test -tags browser -run Pictures ./internal/finance/page -shots DIR.
func TestTakesPictures(t *testing.T) {
	if *shots == "" {
		t.Skip("no folder was named: -shots DIR")
	}
	today = time.Now().UTC().Add(time.Minute) // near the clock of the database, so that ages on the pictures are true
	b := newBranch(t, func(o *finance.Office) {
		o.Configured = []string{"ledger", "forward.billing"}
		o.Configuration = known{Store: o.History.(*store.Store), service: "api.payments.example"}
	})
	b.plainly()
	p := newPerson(t, b)
	p.expects("status of 404")
	p.shots("sign-in", "/sign-in")
	p.signsIn(access.Admin)
	p.shots("overview", "/")
	p.shots("events", "/events")
	p.shots("event", "/events/1")
	p.shots("money", "/money")
	p.shots("transaction", "/transactions/1012345603")
	p.shots("story", "/stories/1012345603")
	p.shots("subscriptions", "/subscriptions")
	p.shots("subscription", "/subscriptions/33000")
	p.shots("disputes", "/disputes?order=oldest")
	p.shots("payouts", "/payouts")
	p.shots("transfers", "/transfers")
	p.shots("tax", "/tax?number=1012345601&pieces0=1&refund=some")
	p.shots("handlers", "/handlers")
	p.shots("handler", "/handlers/forward.billing")
	p.shots("quarantine", "/quarantine")
	p.shots("post", "/quarantine/1")
	p.shots("configuration", "/configuration")
	p.shots("audit", "/audit")
	p.shots("nowhere", "/nowhere")
}

// shots takes a page wide, in the dark and on a phone.
func (p *person) shots(name, path string) {
	p.t.Helper()
	for _, view := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"wide", 1280, 900, "light"}, {"dark", 1280, 900, "dark"}, {"phone", 360, 740, "light"}} {
		p.must("look "+view.name, chromedp.EmulateViewport(view.width, view.height))
		p.looks("", view.scheme)
		p.open(path)
		p.shoots(name + "-" + view.name)
	}
}
