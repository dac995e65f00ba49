package api_test

import (
	"net/http"
	"testing"
	"time"
)

const transfers = "/services/2/alt-transactions/"

func aTransfer(firstName, members string) string {
	return `{"amount":21.00,"currency":"EUR","payerInfo":{"firstName":"` + firstName + `","lastName":"Lee","country":"de"}` + members + `}`
}

const method = `,"sofortTransaction":{"returnUrl":"https://shop.example.com/return","language":"en"}`

func TestABankTransferSendsTheShopperToTheBank(t *testing.T) {
	for name, members := range map[string]string{
		"the return URL in the method's object": method,
		"the return URL on top":                 `,"returnUrl":"https://shop.example.com/return"`,
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t)
			made := c.ask("POST", transfers, aTransfer("Ann_APPROVE", members+`,"merchantTransactionId":"order-77","softDescriptor":"YARN"`))
			if made.status != http.StatusOK {
				t.Fatalf("answered %d: %s", made.status, made.text)
			}
			bank := "https://bank.example.com/bank/" + made.at("orderId")
			c.shows(made, map[string]string{
				"amount": "21.00", "usdAmount": "22.68", "currency": "EUR", "merchantTransactionId": "order-77", "softDescriptor": "YARN",
				"payerInfo.firstName": "Ann_APPROVE", "payerInfo.country": "de", "processingInfo.processingStatus": "PENDING",
				"bankTransferUrl": bank, "sofortTransaction.sofortUrl": bank, "transactionId": "-",
			})
			if made.at("vaultedShopperId") == "-" || made.at("fraudResultInfo") == "-" {
				t.Errorf("something is missing in %s", made.text)
			}
		})
	}
}

func TestABankTransferIsFoundAfterTheBank(t *testing.T) {
	c := newCaller(t)
	made := c.ask("POST", transfers, aTransfer("Ann_DELAYAP", method+`,"merchantTransactionId":"order-77"`))
	order := transfers + "resolve?orderId=" + made.at("orderId")
	c.shows(c.ask("GET", order, ""), map[string]string{"processingInfo.processingStatus": "PENDING"})
	if _, err := c.service.FinishTransfer(c.service.Transfers()[0].OrderID, true); err != nil {
		t.Fatal(err)
	}
	c.shows(c.ask("GET", order, ""), map[string]string{"processingInfo.processingStatus": "PENDING", "transactionId": "-"})
	c.agenda.Advance(15 * time.Minute)
	done := c.ask("GET", order, "")
	c.shows(done, map[string]string{"processingInfo.processingStatus": "SUCCESS"})
	for _, path := range []string{transfers + done.at("transactionId"), transfers + "order-77,12345"} {
		c.shows(c.ask("GET", path, ""), map[string]string{"orderId": made.at("orderId"), "processingInfo.processingStatus": "SUCCESS"})
	}
}

func TestBankTransfersThatCannotBeMadeAreRefused(t *testing.T) {
	for name, q := range map[string]struct {
		body, code, blames string
	}{
		"no return URL":               {aTransfer("Ann", `,"sofortTransaction":{}`), "16001", "returnUrl"},
		"no method and no return URL": {aTransfer("Ann", ""), "16001", "returnUrl"},
		"another method":              {aTransfer("Ann", `,"paypalTransaction":{}`), "20020", "-"},
		"nobody who pays":             {`{"amount":21,"currency":"EUR"` + method + `}`, "20022", "-"},
		"two who pay":                 {aTransfer("Ann", method+`,"vaultedShopperId":7`), "20021", "-"},
		"a payer without a name":      {aTransfer("", method), "20023", "payerInfo.firstName"},
		"a shopper nobody knows":      {`{"amount":21,"currency":"EUR","vaultedShopperId":7` + method + `}`, "15008", "vaultedShopperId"},
		"no amount":                   {`{"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"}` + method + `}`, "16001", "amount"},
		"dollars":                     {`{"amount":21,"currency":"USD","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"de"}` + method + `}`, "20035", "currency"},
		"a payer overseas":            {`{"amount":21,"currency":"EUR","payerInfo":{"firstName":"Ann","lastName":"Lee","country":"us"}` + method + `}`, "20035", "country"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t)
			r := c.ask("POST", transfers, q.body)
			if r.status != http.StatusBadRequest {
				t.Errorf("answered %d", r.status)
			}
			c.shows(r, map[string]string{"message.0.code": q.code, "message.0.invalidProperty.name": q.blames})
		})
	}
}

func TestABankTransferNobodyMadeIsNotFound(t *testing.T) {
	c := newCaller(t)
	for path, want := range map[string]string{"7": "20009", "order-1,7": "20009", "resolve?orderId=7": "20009", "resolve?orderId=x": "10001", "resolve": "16001"} {
		c.shows(c.ask("GET", transfers+path, ""), map[string]string{"message.0.code": want})
	}
	if r := c.ask("GET", transfers+"7", ""); r.status != http.StatusNotFound {
		t.Errorf("answered %d", r.status)
	}
}
