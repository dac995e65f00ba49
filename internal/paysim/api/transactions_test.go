package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const aQuote = `{"currency":"USD","shipTo":{"address":"10 Main St","city":"Boston","state":"ma","zip":"02110","country":"us"},
	"lines":[{"itemCode":"yarn-1","quantity":2,"amount":"100","taxCode":"PS081282","description":"Yarn"},
	{"itemCode":"gift-1","quantity":1,"amount":10.00,"taxCode":"NT","description":"Gift card"}]}`

// quoted returns the reference of a quote whose total is 116.25.
func (w *wire) quoted(t *testing.T) string {
	t.Helper()
	return w.ask(t, http.MethodPost, "/services/2/tax-quote", aQuote).at("taxReference")
}

// charge is the body of a card transaction; extra members come before its own.
func charge(kind, amount, extra string) string {
	return `{` + extra + `"cardTransactionType":"` + kind + `","softDescriptor":"Yarn shop","amount":` + amount + `,"currency":"USD",
	"cardHolderInfo":{"firstName":"José","lastName":"Müller","zip":"02110","country":"us"},
	"creditCard":{"cardNumber":"4111111111111111","securityCode":"123","expirationMonth":"12","expirationYear":"2036"}}`
}

func (w *wire) charged(t *testing.T, body string) said {
	t.Helper()
	got := w.ask(t, http.MethodPost, "/services/2/transactions", body)
	wants(t, "status of "+got.text, got.status, http.StatusOK)
	return got
}

func TestAQuoteIsAnsweredWithTheTaxOfEachItem(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for _, path := range []string{"/services/2/tax-quote", "/services/2/tax-quote/", "/services/2/taxQuote"} {
		made := w.ask(t, http.MethodPost, path, aQuote)
		wants(t, "status", made.status, http.StatusOK)
		made.fields(t, map[string]string{
			"lines.0.tax": "6.25", "lines.0.amount": "100.00", "lines.0.quantity": "2", "lines.1.tax": "0.00", "lines.1.itemCode": "gift-1",
			"totalTax": "6.25", "totalAmount": "110.00", "totalTaxable": "100.00", "totalExempt": "10.00",
			"status": "Saved", "used": "false", "taxVatType": "TAX", "currency": "USD", "companyId": "410022",
			"requestDate": "Wed Jul 01 06:30:15 UTC 2026", "shipTo.zip": "02110-1000", "shipTo.state": "MA", "shipFrom.country": "US",
		})
		wants(t, "length of the UUID", len(made.at("taxReference")), 36)
		read := w.ask(t, http.MethodGet, path+"/"+made.at("taxReference"), "")
		if strings.HasSuffix(path, "/") {
			read = w.ask(t, http.MethodGet, path+made.at("taxReference"), "")
		}
		wants(t, "what is read", read.text, made.text)
	}
}

func TestAQuoteRefusesWhatIsMissingAndWhatOnlyTheServiceKnows(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for _, c := range []struct{ old, now, code, property string }{
		{`"quantity":2,`, ``, "43003", "lines[0].quantity"},
		{`"amount":"100",`, ``, "43003", "lines[0].amount"},
		{`"taxCode":"NT",`, ``, "43003", "lines[1].taxCode"},
		{`"currency":"USD",`, ``, "43003", "currency"},
		{`"currency":"USD"`, `"currency":"XQQ"`, "13001", "currency"},
		{`"quantity":2`, `"quantity":2,"tax":1`, "43006", "lines[0].tax"},
		{`"currency":"USD"`, `"currency":"USD","totalTax":1`, "43006", "totalTax"},
		{`gift-1`, `yarn-1`, "43004", "lines[1].itemCode"},
		{`"country":"us"`, `"country":"qq"`, "24019", "shipTo.country"},
		{`"state":"ma"`, `"state":"qq"`, "50106", "shipTo.state"},
	} {
		got := w.ask(t, http.MethodPost, "/services/2/tax-quote", strings.Replace(aQuote, c.old, c.now, 1))
		wants(t, c.property+": status", got.status, http.StatusBadRequest)
		wants(t, c.property+": code", got.code(), c.code)
		wants(t, "property", got.at("message.0.invalidProperty.name"), c.property)
	}
}

func TestACardTransactionIsAnsweredWithAllItsFields(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	quote := w.quoted(t)
	got := w.charged(t, charge("AUTH_CAPTURE", `"116.25"`, `"taxReference":"`+quote+`","merchantTransactionId":"order-1",
		"transactionMetaData":{"metaData":[{"metaKey":"Color","metaValue":"blue","isVisible":"Y"}]},`))
	want := map[string]string{
		"cardTransactionType": "AUTH_CAPTURE", "softDescriptor": "Yarn shop", "amount": "116.25", "usdAmount": "116.25", "currency": "USD",
		"avsResponseCode": "U", "transactionApprovalDate": "06/30/2026", "transactionApprovalTime": "23:30:15",
		"cardHolderInfo.firstName": "José", "cardHolderInfo.lastName": "Müller", "cardHolderInfo.country": "us", "cardHolderInfo.zip": "02110",
		"creditCard.cardLastFourDigits": "1111", "creditCard.cardType": "VISA", "creditCard.cardSubType": "CREDIT",
		"creditCard.cardCategory": "PLATINUM", "creditCard.binCategory": "CONSUMER", "creditCard.issuingBank": "Bank of Example",
		"creditCard.issuingCountryCode": "us", "processingInfo.processingStatus": "success", "processingInfo.cvvResponseCode": "MA",
		"processingInfo.avsResponseCodeZip": "U", "processingInfo.avsResponseCodeAddress": "U", "processingInfo.avsResponseCodeName": "U",
		"fraudResultInfo.deviceDataCollector": "Y", "taxReference": quote, "merchantTransactionId": "order-1",
		"transactionMetaData.metaData.0.metaValue": "blue", "openToCapture": "", "originalTransactionId": "",
	}
	got.fields(t, want)
	for _, given := range []string{"vaultedShopperId", "processingInfo.authorizationCode"} {
		wants(t, given+" is there", got.at(given) != "", true)
	}
	if !strings.Contains(got.text, `"transactionId":"`) || strings.Contains(got.text, "4111111111111111") {
		t.Errorf("a text as transactionId, and no card number: %s", got.text)
	}
	for _, path := range []string{got.at("transactionId"), "order-1,410022"} {
		wants(t, "what is read at "+path, w.ask(t, http.MethodGet, "/services/2/transactions/"+path, "").text, got.text)
	}
	quoteNow := w.ask(t, http.MethodGet, "/services/2/tax-quote/"+quote, "")
	quoteNow.fields(t, map[string]string{"used": "true", "status": "Committed"})
}

func TestARefusedCardIsToldByName(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for number, name := range map[string]string{"4000000000009995": "INSUFFICIENT_FUNDS", "4100000000000019": "FRAUD_DETECTED"} {
		got := w.ask(t, http.MethodPost, "/services/2/transactions", strings.Replace(charge("AUTH_CAPTURE", "10", ""), "4111111111111111", number, 1))
		wants(t, "status", got.status, http.StatusBadRequest)
		got.fields(t, map[string]string{"message.0.code": "14002", "message.0.errorName": name})
		wants(t, "fraud events", got.at("message.0.fraudEvents.fraudEvent.0.fraudEventCode") != "", name == "FRAUD_DETECTED")
	}
}

func TestACaptureIsForTheFullAmount(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	held := w.charged(t, charge("AUTH_ONLY", "10.00", ""))
	wants(t, "open to capture", held.at("openToCapture"), "Y")
	id := held.at("transactionId")
	capture := func(extra string) said {
		return w.ask(t, http.MethodPut, "/services/2/transactions", `{"cardTransactionType":"CAPTURE","transactionId":"`+id+`"`+extra+`}`)
	}
	part := capture(`,"amount":9.99`)
	wants(t, "status of a part", part.status, http.StatusBadRequest)
	part.fields(t, map[string]string{"message.0.code": "10001", "message.0.invalidProperty.name": "amount"})
	whole := capture(`,"amount":10`)
	wants(t, "status", whole.status, http.StatusOK)
	whole.fields(t, map[string]string{"cardTransactionType": "CAPTURE", "transactionId": id, "originalTransactionId": id, "amount": "10.00"})
	wants(t, "code the second time", capture("").code(), "20010")
}

func TestAnAuthorizationIsReversedByPUT(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	id := w.charged(t, charge("AUTH_ONLY", "10.00", "")).at("transactionId")
	body := `{"cardTransactionType":"AUTH_REVERSAL","transactionId":"` + id + `"}`
	wants(t, "status", w.ask(t, http.MethodPut, "/services/2/transactions", body).status, http.StatusOK)
	wants(t, "code the second time", w.ask(t, http.MethodPut, "/services/2/transactions", body).code(), "20005")
}

func TestARefundIsAnsweredAndShownWithItsTransaction(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	paid := w.charged(t, charge("AUTH_CAPTURE", "116.25", `"merchantTransactionId":"order-1","taxReference":"`+w.quoted(t)+`",`))
	path := "/services/2/transactions/refund/" + paid.at("transactionId")
	part := w.ask(t, http.MethodPost, path, `{"amount":52.50,"taxAmount":"2.50","reason":"Too small"}`)
	wants(t, "status", part.status, http.StatusOK)
	part.fields(t, map[string]string{
		"amount": "52.50", "taxAmount": "2.50", "currency": "USD", "date": "06/30/2026", "reason": "Too small",
		"refundStatus": "SUCCESS", "cancelSubscriptions": "true",
	})
	wants(t, "code without the tax", w.ask(t, http.MethodPost, path, `{"amount":1}`).code(), "14051")
	rest := w.ask(t, http.MethodPost, "/services/2/transactions/refund/merchant/order-1", "", "Content-Type: ")
	wants(t, "status", rest.status, http.StatusOK)
	rest.fields(t, map[string]string{"amount": "63.75", "taxAmount": "3.75", "reason": "Per your instructions"})
	wants(t, "code when nothing is left", w.ask(t, http.MethodPost, path+"/", `{}`).code(), "14022")

	w.ask(t, http.MethodGet, "/services/2/transactions/"+paid.at("transactionId"), "").fields(t, map[string]string{
		"processingInfo.processingStatus": "REFUNDED", "refunds.refund.0.refundTransactionId": part.at("refundTransactionId"),
		"refunds.refund.1.amount": "63.75", "refunds.refund.1.taxAmount": "3.75", "refunds.balanceAmount": "0.00", "refunds.taxBalanceAmount": "0.00",
	})
}

func TestADisputeIsShownWithItsTransaction(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	id := w.charged(t, charge("AUTH_CAPTURE", "10.00", "")).at("transactionId")
	dispute, err := w.service.OpenDispute(id, nil, "")
	wants(t, "error", err, nil)
	w.ask(t, http.MethodGet, "/services/2/transactions/"+id, "").fields(t, map[string]string{
		"processingInfo.processingStatus": "CHARGEBACKED", "chargebacks.chargeback.0.chargebackTransactionId": dispute.ID,
		"chargebacks.chargeback.0.amount": "10.00", "chargebacks.chargeback.0.date": "06/30/2026",
	})
}

func TestCountriesAreAnsweredInLowerCase(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	paid := w.charged(t, strings.Replace(charge("AUTH_CAPTURE", "10.00", ""), `"country":"us"`, `"country":"US"`, 1))
	wants(t, "country", paid.at("cardHolderInfo.country"), "us")
}

func TestAMerchantsNumberMayHaveACommaInIt(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	paid := w.charged(t, charge("AUTH_CAPTURE", "10.00", `"merchantTransactionId":"order,77",`))
	wants(t, "what is read", w.ask(t, http.MethodGet, "/services/2/transactions/order,77,410022", "").text, paid.text)
}

// An empty body is a full refund (specification section 4), also when its length is not told beforehand.
func TestAnEmptyBodyOfUntoldLengthRefundsEverything(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	id := w.charged(t, charge("AUTH_CAPTURE", "10.00", "")).at("transactionId")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/services/2/transactions/refund/"+id, io.NopCloser(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	r.TransferEncoding = []string{"chunked"}
	r.SetBasicAuth("merchant", "pass:word")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	wants(t, "status", response.StatusCode, http.StatusOK)
	w.ask(t, http.MethodGet, "/services/2/transactions/"+id, "").fields(t, map[string]string{"refunds.balanceAmount": "0.00"})
}
