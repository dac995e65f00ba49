package page_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// hostile are what strangers type into every field that takes text (S-42, S-74, S-78).
var hostile = []string{
	`<img src=x onerror=alert(1)>`,
	`</script><script>alert(1)</script>`,
	`javascript:alert(1)`,
	`{{.}}{{7*7}}${7*7}`,
	`=cmd|' /C calc'!A0`,
	"\u202egnp.exe\u202c\u2066left\u2069",
	"Z" + strings.Repeat("\u0301\u0489", 1000), // 4 kB of combining marks
	`<svg/onload=alert(1)><a xlink:href="javascript:alert(1)">`,
	`"><b onmouseover=alert(1)>' onfocus=alert(1) autofocus x='`,
	`--><style>*{display:none}</style><!--`,
	strings.Repeat("longwordwithoutend", 60),
}

// hostileHandler is a handler of the settings with a name that is none for a path.
const hostileHandler = `sink/../<img src=x onerror=alert(1)>?a=b#c`

// texts are the names of the standard fields that take text; amounts, dates and flags are left out, so that books can be kept.
var texts = strings.Fields(`vendorId vendorName accountId sellerShopperId title firstName lastName company address1 address2 city state zipCode country email
	workPhone extension mobilePhone homePhone faxNumber username personalId brazilianId invoiceTitle invoiceFirstName invoiceLastName invoiceCompany
	invoiceAddress1 invoiceAddress2 invoiceCity invoiceState invoiceZipCode invoiceCountry invoiceEmail invoiceWorkPhone invoiceExtension
	invoiceMobilePhone invoiceFaxNumber shippingFirstName shippingLastName shippingAddress1 shippingAddress2 shippingCity shippingState
	shippingZipCode shippingCountry shippingMethod merchantTransactionId originalReferenceNumber originalRefNum originalInvoiceId invoiceId
	captureReferenceNumber subscriptionId offlineOrderId paypalSubscriptionId paypalTransactionId productId productName contractId contractName
	contractOwner recurringDisclaimer licenseKey armadilloHardwareId coupon couponCode vatId paymentMethod paymentType creditCardType cardSubType
	cardCategory creditCardLastFourDigits creditCardExpDate dpanLastFourDigits binCategory binNumber cardIssuingOrg cardIssuingCountry cvvResponse
	avsResponse 3DStatus sepaMandateId sepaIban language templateId referrer remoteAddress invoiceInfoURL invoiceURL shopperOrderUrl
	shopperAdminUrl originalRequestUrl declineReason failureReason reversalReason reversalRefNum cbStatus cancelReason cancelledContractId
	oldContractId oldContractName oldProductId oldProductName newContractId newContractName newProductId newProductName accountUpdaterLineId
	accountType linkedSubscriptions responseMessage updatedCreditCardType payoutId bankAccountName bankAccountBranch bankAccountBsbNumber
	bankAccountFinancialInstitution bankAccountNumber merchantId sandboxId payoutStatus merchantName merchantEmail promoteContractName
	promoteContractOwner promoteProductName additionalChargeName custom1 custom2 unheardOf`)

// body is an event whose every text is hostile, under a reference number of its own that is hostile as well.
func body(kind string, n int, more ...string) string {
	fields := url.Values{}
	for i, name := range texts {
		fields.Set(name, short(hostile[(n+i)%len(hostile)]))
	}
	fields.Set("transactionType", kind)
	fields.Set("referenceNumber", fmt.Sprintf("%d %s", n, short(hostile[n%len(hostile)])))
	fields.Set("subscriptionId", fmt.Sprintf("S%d/%s", n, short(hostile[n%len(hostile)])))
	fields.Set("transactionDate", today.Add(-time.Duration(n)*7*time.Hour).Format("01/02/2006 03:04 PM"))
	for name, value := range map[string]string{"invoiceChargeAmount": "1234.50", "invoiceChargeCurrency": "EUR", "taxChargeAmount": "197.10",
		"invoiceAmountUSD": "1300.00", "reversalAmount": "12.00", "currency": "EUR", "amount1": "5000.00", "currency1": "EUR", "untilDate": "12/24/2026"} {
		fields.Set(name, value)
	}
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return fields.Encode()
}

// short is a text that an index takes; the marks are sent in full where nothing is indexed, see fill.
func short(text string) string {
	if len(text) > 200 {
		return strings.ToValidUTF8(text[:200], "")
	}
	return text
}

// settings is a configuration with all flags on but one.
func settings(place string, refunds bool) json.RawMessage {
	destination := map[string]any{"ipnUrl": "https://shop.example/ipn?" + place, "sendRefund": refunds}
	for _, flag := range ipn.Flags() {
		if flag != "sendRefund" {
			destination[flag] = true
		}
	}
	document, _ := json.Marshal(map[string]any{"ipnDestinations": []any{destination}, "ensureNotificationReceipt": true, "receiveAffiliateNotifications": false})
	return document
}

// fill puts hostile values into every place of the record that takes text, in both books, and something onto every page.
func (b *branch) fill() {
	b.tb.Helper()
	n := 0
	for _, test := range []string{"N", "Y"} {
		for _, kind := range ipn.Types() {
			b.record(body(kind.Name, n, "testMode", test))
			n++
		}
		for range hostile {
			b.record(body("CHARGE", n, "testMode", test, "firstName", hostile[n%len(hostile)], "custom3", hostile[(n+1)%len(hostile)]))
			b.record(body("RECURRING", n, "testMode", test))
			b.record(body("SUBSCRIPTION_CHARGE_FAILURE", n, "testMode", test))
			b.record(body("CHARGEBACK", n, "testMode", test))
			b.record(body("PAYOUT", n, "testMode", test))
			n++
		}
		b.record(body(short(hostile[n%len(hostile)]), n, "testMode", test)) // a type that nobody knows
		b.record(body("CHARGE", 0, "testMode", test, "custom9", "told otherwise"))
		b.record("transactionType=CHARGE&referenceNumber=PLAIN&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&paymentMethod=WIRE&transactionDate=11/20/2026+08:30+AM&testMode=" + test)
		b.taxRecord(test == "Y")
	}
	b.keepBooks()
	b.fillHandlers()
	b.fillQuarantine()
	b.fillTransfers()
	for range 60 { // more than a page
		err := b.store.AddConfigurationPush(b.tb.Context(), ipn.ConfigurationPush{Process: hostile[0], Trigger: ipn.ConfigurationByCommand, Result: ipn.ConfigurationFailed,
			Desired: settings(hostile[0], true), Before: settings(hostile[0], false), After: settings(hostile[0], false), Error: hostile[1],
			Changes: []ipn.ConfigurationChange{{Setting: hostile[0], From: hostile[1], To: hostile[8]}}})
		b.must("keep a look", err)
	}
}

func (b *branch) must(what string, err error) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatalf("%s: %v", what, err)
	}
}

func (b *branch) taxRecord(test bool) {
	b.tb.Helper()
	record := ipn.TaxRecord{ReferenceNumber: "PLAIN", MerchantTransactionID: hostile[0], Test: test, TaxReference: hostile[1], Currency: "EUR", Country: "AU", State: short(hostile[7]),
		DeliveryFee: decimal.RequireFromString("0.28")}
	for i, text := range hostile {
		code := fmt.Sprint(i, strings.NewReplacer(",", "", ":", "").Replace(short(text)))
		record.Items = append(record.Items, ipn.TaxItem{ItemCode: code, Description: short(text), Quantity: 3, Amount: decimal.RequireFromString("9.99"), Tax: decimal.RequireFromString("2.00")})
	}
	kept, err := b.store.AddTaxRecord(b.tb.Context(), record, ipn.Act{Actor: "api:" + hostile[0], Reason: hostile[1]})
	b.must("keep a tax record", err)
	_, err = b.store.AddTaxRefund(b.tb.Context(), kept.ID, ipn.TaxRefund{Items: []ipn.ItemCount{{ItemCode: record.Items[0].ItemCode, Quantity: 1}}, ReversalRefNum: hostile[0]},
		ipn.Act{Actor: "api:" + hostile[0], Reason: hostile[1]})
	b.must("keep a tax refund", err)
}

// fillHandlers lets a sink fail on more events than a page shows, parked and buried, and pauses another one.
func (b *branch) fillHandlers() {
	b.tb.Helper()
	ctx := b.tb.Context()
	lead, err := b.store.Lead(ctx, store.LeadConfig{Handler: hostileHandler, Kind: ipn.KindSink, Process: hostile[0]})
	b.must("lead the sink", err)
	events, err := b.store.Log(ctx, 0, 60)
	b.must("read the log", err)
	settled := ipn.Settlement{Position: events[len(events)-1].ID}
	for i, e := range events {
		settled.Failed = append(settled.Failed, ipn.Failure{EventID: e.ID, Number: 1, Took: time.Second, Error: short(hostile[i%len(hostile)]), Bury: i%3 == 0, Wait: time.Hour})
	}
	b.must("fail", lead.Settle(ctx, settled))
	lead.Close()
	lead, err = b.store.Lead(ctx, store.LeadConfig{Handler: "ledger", Kind: ipn.KindProjection, Process: "here:1"})
	b.must("lead the ledger", err)
	b.must("go on", lead.Settle(ctx, ipn.Settlement{Position: settled.Position}))
	lead.Close()
	for _, text := range hostile {
		act := ipn.Act{Actor: "cli:" + short(text), Reason: short(text)}
		b.must("pause", b.store.PauseHandler(ctx, hostileHandler, act))
		b.must("resume", b.store.ResumeHandler(ctx, hostileHandler, act))
		b.must("witness", b.store.WitnessAct(ctx, "reveal", act, map[string]string{"what": short(text), short(text): "x"}))
	}
	b.must("pause", b.store.PauseHandler(ctx, "ledger", ipn.Act{Actor: "cli:" + hostile[0], Reason: hostile[8]}))
}

// fillQuarantine holds more posts than a page shows; those that say "believe=me" are good now.
func (b *branch) fillQuarantine() {
	b.tb.Helper()
	for i := range 60 {
		text := hostile[i%len(hostile)]
		contentType := "application/x-www-form-urlencoded"
		if i%3 == 0 {
			contentType = text
		}
		raw := []byte(body("CHARGE", 1000+i, "firstName", text, "believe", map[bool]string{true: "me", false: "no"}[i%2 == 1]))
		kept, err := b.store.Quarantine(b.tb.Context(), &ipn.Quarantined{Reason: ipn.ReasonMediaType, Detail: short(text), Answered: 200, Digest: ipn.DigestOf(raw), Raw: raw,
			Origin: ipn.Origin{ReceivedAt: today.Add(-time.Duration(i) * time.Minute), Peer: loopback, Headers: map[string]string{"content-type": contentType, "user-agent": text}}})
		if err != nil || !kept {
			b.tb.Fatalf("keep a post in quarantine: %v, %v", kept, err)
		}
	}
}

// fillTransfers brings more returns than a page shows.
func (b *branch) fillTransfers() {
	b.tb.Helper()
	for i := range 60 {
		text := short(hostile[i%len(hostile)])
		b.must("bring a return", b.store.AddTransferReturn(b.tb.Context(), ipn.TransferReturn{Status: []string{"SUCCESS", "PENDING"}[i%2], OrderID: int64(i + 1),
			TransactionID: text, MerchantTransactionID: text, ReceivedAt: today.Add(-time.Duration(i+1) * time.Hour)}))
	}
}
