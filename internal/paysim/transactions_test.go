package paysim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// aCharge asks for 52.50 USD of a good card.
func aCharge(change func(*paysim.CardRequest)) paysim.CardRequest {
	r := paysim.CardRequest{
		Type: "AUTH_CAPTURE", Amount: money.MustParse("52.50"), Currency: "USD", SoftDescriptor: "Yarn shop",
		MerchantTransactionID: "order-1", Card: goodCard,
		Holder: paysim.Shopper{FirstName: "José", LastName: "Müller", Zip: "02110", Country: "us", Email: "jose@example.com"},
	}
	if change != nil {
		change(&r)
	}
	return r
}

// with is a charge of a quote's total.
func (s *stage) with(q paysim.Quote) func(*paysim.CardRequest) {
	return func(r *paysim.CardRequest) { r.Amount, r.Currency, r.TaxReference = q.Total(), q.Currency, q.Reference }
}

func (s *stage) charged(t *testing.T, change func(*paysim.CardRequest)) paysim.Transaction {
	t.Helper()
	made, err := s.CreateTransaction(aCharge(change))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s *stage) state(t *testing.T, id string) paysim.State {
	t.Helper()
	found, err := s.Transaction(id)
	if err != nil {
		t.Fatal(err)
	}
	return found.State
}

// portal switches on the types that only the portal can.
func (s *stage) portal(t *testing.T, types ...string) *stage {
	t.Helper()
	for _, name := range types {
		if err := s.SwitchPortalType(name, true); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestATransactionIsRefusedForWhatItLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*paysim.CardRequest)
		code   string
	}{
		{"another type", func(r *paysim.CardRequest) { r.Type = "REFUND" }, "7"},
		{"no amount", func(r *paysim.CardRequest) { r.Amount = 0 }, "14005"},
		{"half a cent", func(r *paysim.CardRequest) { r.Amount = money.MustParse("1.005") }, "10001"},
		{"half a yen", func(r *paysim.CardRequest) { r.Currency, r.Amount = "JPY", money.MustParse("10.50") }, "10001"},
		{"an unknown currency", func(r *paysim.CardRequest) { r.Currency = "usd" }, "13001"},
		{"a long descriptor", func(r *paysim.CardRequest) { r.SoftDescriptor = strings.Repeat("é", 21) }, "10001"},
		{"a long merchant id", func(r *paysim.CardRequest) { r.MerchantTransactionID = strings.Repeat("1", 51) }, "10001"},
		{"no holder", func(r *paysim.CardRequest) { r.Holder = paysim.Shopper{} }, "30"},
		{"no card", func(r *paysim.CardRequest) { r.Card = paysim.Card{} }, "90"},
		{"an unknown shopper", func(r *paysim.CardRequest) { r.VaultedShopperID = 7 }, "15008"},
		{"a wrong digit", func(r *paysim.CardRequest) { r.Card.Number = "4111111111111112" }, "10001"},
		{"a brand that is not taken", func(r *paysim.CardRequest) { r.Card.Number = "30569309025904" }, "14011"},
		{"a month of 13", func(r *paysim.CardRequest) { r.Card.ExpirationMonth = "13" }, "10001"},
		{"a year of two digits", func(r *paysim.CardRequest) { r.Card.ExpirationYear = "36" }, "10001"},
		{"a security code of two digits", func(r *paysim.CardRequest) { r.Card.SecurityCode = "12" }, "10001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			_, err := s.CreateTransaction(aCharge(c.change))
			wants(t, "code", codeOf(t, err), c.code)
			wants(t, "IPNs", s.heard(), "")
		})
	}
}

func TestTheCardDecidesWhatBecomesOfACharge(t *testing.T) {
	t.Parallel()
	const soon, later = 2 * time.Hour, 4 * day
	for _, c := range []struct {
		number, code, name string
		state              paysim.State
		ipns               string
		wait               time.Duration
		then               paysim.State
		thenIPNs           string
	}{
		{"4111111111111111", "", "", paysim.Captured, "CHARGE", later, paysim.Captured, ""},
		{"4000000000000341", "", "", paysim.Captured, "CHARGE", later, paysim.Captured, ""},
		{"4000000000000002", "14002", "DO_NOT_HONOR", paysim.Declined, "CC_CHARGE_FAILED", later, paysim.Declined, ""},
		{"4000000000009995", "14002", "INSUFFICIENT_FUNDS", paysim.Declined, "CC_CHARGE_FAILED", later, paysim.Declined, ""},
		{"4000000000000069", "14002", "EXPIRED_CARD", paysim.Declined, "CC_CHARGE_FAILED", later, paysim.Declined, ""},
		{"4000000000000127", "14002", "CVV_ERROR", paysim.Declined, "CC_CHARGE_FAILED", later, paysim.Declined, ""},
		{"4100000000000019", "14002", "FRAUD_DETECTED", paysim.Declined, "FRAUD_DECLINE", later, paysim.Declined, ""},
		{"4000000000009235", "", "", paysim.InReview, "UNDER_REVIEW", soon, paysim.Captured, "CHARGE"},
		{"4000000000004954", "", "", paysim.InReview, "UNDER_REVIEW", soon, paysim.Declined, "DECLINE"},
		{"4012888888881881", "", "", paysim.Pending, "CHARGE_PENDING", later, paysim.Captured, "CHARGE"},
		{"5105105105105100", "", "", paysim.Pending, "CHARGE_PENDING", later, paysim.Failed, "DECLINE"},
	} {
		t.Run(c.number, func(t *testing.T) {
			t.Parallel()
			s := newStage().portal(t, "UNDER_REVIEW")
			q := s.taxed(t, "100.00", "USD")
			_, err := s.CreateTransaction(aCharge(func(r *paysim.CardRequest) { s.with(q)(r); r.Card = cardNumbered(c.number) }))
			wants(t, "code", codeOf(t, err), c.code)
			if refused, ok := err.(*paysim.Refusal); ok {
				wants(t, "name", refused.Name, c.name)
			}
			made := s.Transactions()[0]
			wants(t, "state", made.State, c.state)
			wants(t, "IPNs", s.heard(), c.ipns)
			s.agenda.Advance(c.wait)
			wants(t, "state in the end", s.state(t, made.ID), c.then)
			wants(t, "IPNs in the end", s.heard(), c.thenIPNs)
			kept, _ := s.Quote(q.Reference)
			wants(t, "the quote is taken", kept.TakenBy != "", c.then == paysim.Captured)
		})
	}
}

func TestEachTestCardIsWellFormed(t *testing.T) {
	t.Parallel()
	for _, card := range newStage().Cards() {
		s := newStage()
		_, err := s.CreateTransaction(aCharge(func(r *paysim.CardRequest) { r.Card = cardNumbered(card.Number) }))
		if code := codeOf(t, err); code != "" && code != "14002" || card.Brand == "" || card.Tells == "" {
			t.Errorf("%+v: %v", card, err)
		}
	}
}

func TestACardOfLastMonthIsExpired(t *testing.T) {
	t.Parallel()
	s := newStage() // of March 2026
	for month, want := range map[string]string{"02": "14002", "03": "", "3": ""} {
		_, err := s.CreateTransaction(aCharge(func(r *paysim.CardRequest) { r.Card.ExpirationMonth, r.Card.ExpirationYear = month, "2026" }))
		wants(t, "code for "+month, codeOf(t, err), want)
	}
}

func TestAVaultedShopperPaysWithTheCardOfLastTime(t *testing.T) {
	t.Parallel()
	s := newStage()
	first := s.charged(t, nil)
	second := s.charged(t, func(r *paysim.CardRequest) {
		r.VaultedShopperID, r.Holder, r.Card = first.Shopper.ID, paysim.Shopper{}, paysim.Card{}
	})
	wants(t, "last four", second.Card.LastFour(), "1111")
	wants(t, "name", second.Shopper.FirstName, "José")
}

func TestARefusedRequestLeavesTheCardOfLastTime(t *testing.T) {
	t.Parallel()
	s := newStage()
	first := s.charged(t, nil)
	again := func(change func(*paysim.CardRequest)) func(*paysim.CardRequest) {
		return func(r *paysim.CardRequest) {
			r.VaultedShopperID, r.Holder = first.Shopper.ID, paysim.Shopper{}
			change(r)
		}
	}
	_, err := s.CreateTransaction(aCharge(again(func(r *paysim.CardRequest) {
		r.Card, r.TaxReference = cardNumbered("4000000000000002"), "unknown"
	})))
	wants(t, "code", codeOf(t, err), "300")
	second := s.charged(t, again(func(r *paysim.CardRequest) { r.Card = paysim.Card{} }))
	wants(t, "last four", second.Card.LastFour(), "1111")
}

func TestAnAuthorizationIsCapturedOnceAndWhole(t *testing.T) {
	t.Parallel()
	s := newStage().portal(t, "AUTH_ONLY_SINGLE_CHARGE")
	q := s.taxed(t, "100.00", "USD")
	held := s.charged(t, func(r *paysim.CardRequest) { s.with(q)(r); r.Type = "AUTH_ONLY" })
	wants(t, "state", held.State, paysim.Authorized)
	wants(t, "IPNs", s.heard(), "AUTH_ONLY_SINGLE_CHARGE")

	other := s.taxed(t, "100.00", "USD")
	_, err := s.Capture(held.ID, other.Reference)
	wants(t, "code for another quote", codeOf(t, err), "43006")
	_, err = s.Capture("", "")
	wants(t, "code without a number", codeOf(t, err), "20008")
	_, err = s.Capture("7", "")
	wants(t, "code for an unknown number", codeOf(t, err), "20009")

	captured, err := s.Capture(held.ID, q.Reference)
	wants(t, "error", err, nil)
	wants(t, "captured", captured.Amount, held.Amount)
	wants(t, "tax", captured.Tax.String(), "6.25")
	wants(t, "IPNs", s.heard(), "CHARGE")
	_, err = s.Capture(held.ID, "")
	wants(t, "code the second time", codeOf(t, err), "20010")
	_, err = s.ReverseAuthorization(held.ID)
	wants(t, "code of reversing it", codeOf(t, err), "20010")
}

func TestWhatIsNotAuthorizedIsNotCaptured(t *testing.T) {
	t.Parallel()
	s := newStage()
	paid := s.charged(t, nil)
	_, err := s.Capture(paid.ID, "")
	wants(t, "code for a charge", codeOf(t, err), "20005")
	held := s.charged(t, func(r *paysim.CardRequest) { r.Type = "AUTH_ONLY" })
	_, err = s.ReverseAuthorization(held.ID)
	wants(t, "error", err, nil)
	_, err = s.Capture(held.ID, "")
	wants(t, "code after a reversal", codeOf(t, err), "20005")
	old := s.charged(t, func(r *paysim.CardRequest) { r.Type = "AUTH_ONLY" })
	s.agenda.Advance(31 * day)
	_, err = s.Capture(old.ID, "")
	wants(t, "code after a month", codeOf(t, err), "20007")
}

func TestAResellerNamesTheQuoteAtCapture(t *testing.T) {
	t.Parallel()
	s := &stage{agenda: agenda.New(time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), 1)}
	s.Service = paysim.New(paysim.Config{Agenda: s.agenda, Reseller: true})
	q := s.taxed(t, "100.00", "USD")
	held := s.charged(t, func(r *paysim.CardRequest) { r.Type, r.Amount = "AUTH_ONLY", q.Total() })
	_, err := s.Capture(held.ID, "")
	wants(t, "code without a quote", codeOf(t, err), "43003")
	captured, err := s.Capture(held.ID, q.Reference)
	wants(t, "error", err, nil)
	wants(t, "tax", captured.Tax, q.TotalTax)
}

func TestAMerchantsOwnNumberFindsOneTransaction(t *testing.T) {
	t.Parallel()
	s := newStage()
	_, err := s.TransactionByMerchantID("order-1")
	wants(t, "code before", codeOf(t, err), "20009")
	_, _ = s.CreateTransaction(aCharge(func(r *paysim.CardRequest) { r.Card = cardNumbered("4000000000000002") }))
	made := s.charged(t, nil)
	found, err := s.TransactionByMerchantID("order-1")
	wants(t, "error", err, nil)
	wants(t, "found", found.ID, made.ID)
	s.charged(t, nil)
	_, err = s.TransactionByMerchantID("order-1")
	wants(t, "code for two", codeOf(t, err), "20002")
}

func TestTheReceiverReadsInAnIPNWhatHappened(t *testing.T) {
	t.Parallel()
	s := newStage()
	q := s.taxed(t, "50.00", "USD")
	made := s.charged(t, func(r *paysim.CardRequest) {
		s.with(q)(r)
		r.Custom = map[string]string{"Color": "blue & green"}
	})
	body := s.sent[0].Encode()
	event := new(ipn.Decoder).Decode(body, "application/x-www-form-urlencoded")
	for _, p := range event.Problems {
		t.Errorf("problem: %+v", p)
	}
	wants(t, "type", event.Type.Name, "CHARGE")
	wants(t, "amount", event.Facts.Amount.String(), "53.13")
	wants(t, "tax", event.Facts.TaxAmount.String(), "3.13")
	wants(t, "currency", event.Facts.Currency, "USD")
	for name, want := range map[string]string{
		"referenceNumber": made.ID, "merchantTransactionId": "order-1", "firstName": "José", "invoiceLastName": "Müller",
		"country": "US", "creditCardLastFourDigits": "1111", "creditCardExpDate": "12/2036", "taxRate": "6.25",
		"transactionDate": "03/02/2026 04:00 AM", "shippingZipCode": "02110", "serviceNode": "99",
	} {
		wants(t, name, s.sent[0].Get(name), want)
	}
	last := s.sent[0].Fields[len(s.sent[0].Fields)-1]
	wants(t, "last field", last.Name, "ipnId")
	if !strings.Contains(string(body), "Color=blue+%26+green&ipnId=") {
		t.Error("the merchant's own field is not in the body")
	}
}

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	t.Parallel()
	story := func() string {
		s := newStage()
		q := s.taxed(t, "50.00", "USD")
		made := s.charged(t, s.with(q))
		_, _ = s.Refund(made.ID, paysim.RefundRequest{})
		var told strings.Builder
		for _, n := range s.sent {
			told.Write(n.Encode())
		}
		return told.String()
	}
	wants(t, "the second time", story(), story())
}
