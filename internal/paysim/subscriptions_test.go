package paysim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const (
	day         = 24 * time.Hour
	monthlyPlan = 3000001 // 25.00 USD
	yearlyPlan  = 3000002 // 250.00 USD
	euroPlan    = 3000003 // 14.90 EUR
	trialPlan   = 3000004 // 9.90 EUR after 14 days
)

// stage is a service whose IPNs are all taken down.
type stage struct {
	*paysim.Service
	agenda *agenda.Agenda
	sent   []notice.Notice
}

func newStage() *stage {
	s := &stage{agenda: agenda.New(time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), 1)}
	s.Service = paysim.New(paysim.Config{
		Agenda: s.agenda, Send: func(_ string, n notice.Notice) { s.sent = append(s.sent, n) },
		BankURL: func() string { return "https://bank.example.com/bank/" },
	})
	all := map[string]bool{}
	for _, name := range notice.Types() {
		all[notice.Flag(name)] = true
	}
	s.ReplaceConfiguration(paysim.Configuration{Destinations: []paysim.Destination{{URL: "https://hooks.example.com/ipn", Send: all}}})
	return s
}

// heard returns the types of the IPNs since the last call.
func (s *stage) heard() string {
	var types []string
	for _, n := range s.sent {
		types = append(types, n.Type)
	}
	s.sent = nil
	return strings.Join(types, " ")
}

var goodCard = paysim.Card{Number: "4111111111111111", SecurityCode: "123", ExpirationMonth: "12", ExpirationYear: "2036"}

func cardNumbered(number string) paysim.Card {
	c := goodCard
	c.Number = number
	return c
}

func aRequest(planID int64) paysim.SubscriptionRequest {
	return paysim.SubscriptionRequest{
		PlanID: planID, Payer: paysim.Shopper{FirstName: "Ann", LastName: "Lee", Zip: "02110", Country: "us"}, Card: goodCard,
	}
}

func (s *stage) subscribed(t rapid.TB, r paysim.SubscriptionRequest) paysim.Subscription {
	t.Helper()
	sub, err := s.CreateSubscription(r)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func (s *stage) now(t rapid.TB, id string) paysim.Subscription {
	t.Helper()
	sub, err := s.Subscription(id)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// taxed is a quote of an amount before tax, for Boston: 6.25 %.
func (s *stage) taxed(t *testing.T, amount, currency string) paysim.Quote {
	t.Helper()
	q, err := s.CreateQuote(paysim.QuoteRequest{
		Currency: currency, ShipTo: paysim.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"},
		Lines: []paysim.Line{{ItemCode: "box", TaxCode: "PS081282", Description: "Box", Quantity: 1, Amount: money.MustParse(amount)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// codeOf is the code of a refusal, "" for no error.
func codeOf(t rapid.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var refusal *paysim.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("not a refusal: %v", err)
	}
	return refusal.Code
}

func pointer[T any](value T) *T { return &value }

func wants[T comparable](t rapid.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestASubscriptionIsChargedEachPeriod(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	first := s.sent[0]
	wants(t, "first IPN", s.heard(), "CHARGE")
	wants(t, "subscription of the charge", first.Get("subscriptionId"), sub.ID)
	wants(t, "amount of the charge", first.Get("invoiceChargeAmount"), "25.00")
	wants(t, "contract of the charge", first.Get("contractId"), "3000001")
	wants(t, "paid until", first.Get("untilDate"), notice.Date(sub.NextCharge))

	s.agenda.Advance(27 * day)
	wants(t, "three days before the renewal", s.heard(), "SUBSCRIPTION_REMINDER")
	s.agenda.Advance(3 * day)
	second := s.sent[0]
	wants(t, "the renewal", s.heard(), "RECURRING")
	wants(t, "original charge of the renewal", second.Get("originalReferenceNumber"), first.Get("referenceNumber"))
	wants(t, "both have one number", second.Get("referenceNumber") == first.Get("referenceNumber"), false)
	s.agenda.Advance(60 * day)
	wants(t, "two more periods", s.heard(), "SUBSCRIPTION_REMINDER RECURRING SUBSCRIPTION_REMINDER RECURRING")
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 4)
	wants(t, "next charge", s.now(t, sub.ID).NextCharge.Equal(sub.NextCharge.Add(90*day)), true)
}

func TestATrialChargesNothingUntilItIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		request paysim.SubscriptionRequest
		days    time.Duration
	}{
		"the plan's trial":     {aRequest(trialPlan), 14},
		"the request's trial":  {func() paysim.SubscriptionRequest { r := aRequest(monthlyPlan); r.TrialDays = 5; return r }(), 5},
		"a longer one instead": {func() paysim.SubscriptionRequest { r := aRequest(trialPlan); r.TrialDays = 40; return r }(), 40},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			sub := s.subscribed(t, c.request)
			wants(t, "at first", s.heard(), "AUTH_ONLY")
			s.agenda.Advance(c.days*day - time.Hour)
			wants(t, "during the trial", s.heard(), "SUBSCRIPTION_REMINDER")
			s.agenda.Advance(time.Hour)
			wants(t, "after the trial", s.heard(), "CHARGE")
			s.agenda.Advance(30 * day)
			wants(t, "a period later", s.heard(), "SUBSCRIPTION_REMINDER RECURRING")
			charges := s.now(t, sub.ID).Charges
			wants(t, "charges", len(charges), 2)
			if err := s.CancelSubscription(sub.ID); err != nil {
				t.Fatal(err)
			}
			wants(t, "the original is the first that took money", s.sent[0].Get("originalRefNum"), charges[0])
		})
	}
}

// The table is specification section 4, rule 4: one quote for each charge, or one for both when they are equal.
func TestTaxQuotesAreLaidOverTheChargesTheyFit(t *testing.T) {
	for name, c := range map[string]struct {
		ask          func(*stage, *testing.T) paysim.SubscriptionRequest
		first, later string // with tax
		tax          string // of a renewal
		code         string
	}{
		"no quote": {func(*stage, *testing.T) paysim.SubscriptionRequest { return aRequest(monthlyPlan) }, "25.00", "25.00", "0.00", ""},
		"one quote in the initial field": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "25.00", "USD").Reference
			return r
		}, "26.56", "26.56", "1.56", ""},
		"one quote in the recurring field": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.RecurringTaxReference = s.taxed(t, "25.00", "USD").Reference
			return r
		}, "26.56", "26.56", "1.56", ""},
		"one quote for equal amounts that the merchant gave": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialAmount, r.RecurringAmount = pointer(money.MustParse("53.13")), pointer(money.MustParse("53.13"))
			r.InitialTaxReference = s.taxed(t, "50.00", "USD").Reference
			return r
		}, "53.13", "53.13", "3.13", ""},
		"a plan whose price has the tax in it": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "23.53", "USD").Reference
			return r
		}, "25.00", "25.00", "1.47", ""},
		"a quote for each of unequal amounts": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialAmount = pointer(money.MustParse("10.63"))
			r.InitialTaxReference, r.RecurringTaxReference = s.taxed(t, "10.00", "USD").Reference, s.taxed(t, "25.00", "USD").Reference
			return r
		}, "10.63", "26.56", "1.56", ""},
		"a lone quote of unequal amounts serves its own charge": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialAmount = pointer(money.MustParse("10.63"))
			r.InitialTaxReference = s.taxed(t, "10.00", "USD").Reference
			return r
		}, "10.63", "25.00", "0.00", ""},
		"a quote of another amount": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "24.00", "USD").Reference
			return r
		}, "", "", "", "43009"},
		"a given amount without the tax": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialAmount = pointer(money.MustParse("10.00"))
			r.InitialTaxReference = s.taxed(t, "10.00", "USD").Reference
			return r
		}, "", "", "", "43009"},
		"a quote in another currency": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.RecurringTaxReference = s.taxed(t, "25.00", "EUR").Reference
			return r
		}, "", "", "", "43008"},
		"a quote that another subscription has": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "25.00", "USD").Reference
			s.subscribed(t, r)
			s.agenda.Advance(time.Hour)
			s.heard()
			return r
		}, "", "", "", "43010"},
		"a quote that another subscription renews with": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.TrialDays, r.RecurringTaxReference = 7, s.taxed(t, "25.00", "USD").Reference
			s.subscribed(t, r)
			s.heard()
			return r
		}, "", "", "", "43010"},
		"a quote of yesterday": {func(s *stage, t *testing.T) paysim.SubscriptionRequest {
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "25.00", "USD").Reference
			s.agenda.Advance(day)
			return r
		}, "", "", "", "300"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			request := c.ask(s, t)
			sub, err := s.CreateSubscription(request)
			wants(t, "code", codeOf(t, err), c.code)
			if c.code != "" {
				wants(t, "IPNs of a refusal", s.heard(), "")
				return
			}
			wants(t, "first charge", s.sent[0].Get("invoiceChargeAmount"), c.first)
			wants(t, "recurring amount", sub.RecurringAmount.String(), c.later)
			s.agenda.Advance(30 * day)
			renewal := s.sent[len(s.sent)-1]
			wants(t, "renewal", renewal.Get("invoiceChargeAmount"), c.later)
			wants(t, "tax of the renewal", renewal.Get("taxChargeAmount"), c.tax)
			if c.tax != "0.00" {
				wants(t, "rate of the renewal", renewal.Get("taxRate"), "6.25")
			}
		})
	}
}

func TestARefusedFirstChargeLeavesNoSubscription(t *testing.T) {
	s := newStage()
	r := aRequest(monthlyPlan)
	r.InitialTaxReference = s.taxed(t, "25.00", "USD").Reference
	r.Card = cardNumbered("4000000000009995")
	_, err := s.CreateSubscription(r)
	wants(t, "code", codeOf(t, err), "14002")
	wants(t, "IPN", s.heard(), "CC_CHARGE_FAILED")
	wants(t, "subscriptions", len(s.Subscriptions()), 0)
	s.agenda.Advance(2 * day)
	r.Card = goodCard
	s.subscribed(t, r) // with the same quote, which does not expire once a transaction was sent with it
	s.agenda.Advance(30 * day)
	wants(t, "another card with the same quote", s.heard(), "CHARGE SUBSCRIPTION_REMINDER RECURRING")
}

func TestSubscriptionsThatCannotBeginAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*paysim.SubscriptionRequest)
		code   string
	}{
		"an unknown plan":       {func(r *paysim.SubscriptionRequest) { r.PlanID = 7 }, "10001"},
		"nobody":                {func(r *paysim.SubscriptionRequest) { r.Payer = paysim.Shopper{} }, "30"},
		"an unknown shopper":    {func(r *paysim.SubscriptionRequest) { r.VaultedShopperID = 7 }, "15008"},
		"no card":               {func(r *paysim.SubscriptionRequest) { r.Card = paysim.Card{} }, "90"},
		"no card for a trial":   {func(r *paysim.SubscriptionRequest) { r.PlanID, r.Card = trialPlan, paysim.Card{} }, "90"},
		"a negative amount":     {func(r *paysim.SubscriptionRequest) { r.InitialAmount = pointer(money.Units(-1)) }, "14005"},
		"renewals for nothing":  {func(r *paysim.SubscriptionRequest) { r.RecurringAmount = pointer(money.Units(0)) }, "14005"},
		"fractions of a cent":   {func(r *paysim.SubscriptionRequest) { r.RecurringAmount = pointer(money.MustParse("1.001")) }, "10001"},
		"a trial of centuries":  {func(r *paysim.SubscriptionRequest) { r.TrialDays = 200_000 }, "10001"},
		"a long descriptor":     {func(r *paysim.SubscriptionRequest) { r.SoftDescriptor = strings.Repeat("x", 21) }, "10001"},
		"a long merchant's id":  {func(r *paysim.SubscriptionRequest) { r.MerchantTransactionID = strings.Repeat("x", 51) }, "10001"},
		"a quote nobody made":   {func(r *paysim.SubscriptionRequest) { r.InitialTaxReference = "unknown" }, "300"},
		"a quote for the trial": {func(r *paysim.SubscriptionRequest) { r.PlanID, r.InitialTaxReference = trialPlan, "unknown" }, "300"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			r := aRequest(monthlyPlan)
			c.change(&r)
			_, err := s.CreateSubscription(r)
			wants(t, "code", codeOf(t, err), c.code)
			wants(t, "IPNs", s.heard(), "")
			wants(t, "subscriptions", len(s.Subscriptions()), 0)
		})
	}
}

func TestARefusedRenewalIsTriedAgain(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	if err := s.FailNextRenewal(sub.ID, true); err != nil {
		t.Fatal(err)
	}
	s.heard()
	s.agenda.Advance(30 * day)
	failure := s.sent[len(s.sent)-1]
	wants(t, "at the renewal", s.heard(), "SUBSCRIPTION_REMINDER SUBSCRIPTION_CHARGE_FAILURE")
	wants(t, "subscription of the failure", failure.Get("subscriptionId"), sub.ID)
	wants(t, "failures", s.now(t, sub.ID).Failures, 1)
	s.agenda.Advance(3 * day)
	wants(t, "three days later", s.heard(), "RECURRING")
	wants(t, "failures", s.now(t, sub.ID).Failures, 0)
	wants(t, "the period began when it was due", s.now(t, sub.ID).NextCharge.Equal(sub.NextCharge.Add(30*day)), true)
}

func TestTheThirdRefusalEndsASubscription(t *testing.T) {
	s := newStage()
	r := aRequest(monthlyPlan)
	r.Card = cardNumbered("4000000000000341")
	sub := s.subscribed(t, r)
	s.heard()
	s.agenda.Advance(365 * day)
	wants(t, "a year", s.heard(), "SUBSCRIPTION_REMINDER SUBSCRIPTION_CHARGE_FAILURE SUBSCRIPTION_CHARGE_FAILURE SUBSCRIPTION_CHARGE_FAILURE CANCELLATION")
	wants(t, "status", s.now(t, sub.ID).Status, paysim.Canceled)
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 1)
}

func TestASubscriptionWithoutRenewalEndsWithItsPeriod(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	for _, on := range []bool{false, false, true, false} {
		if _, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{AutoRenew: pointer(on)}); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, "said each time it was switched off", s.heard(), "CANCEL_ON_RENEWAL CANCEL_ON_RENEWAL")
	s.agenda.Advance(30*day - time.Minute)
	wants(t, "still active", s.now(t, sub.ID).Status, paysim.Active)
	s.agenda.Advance(365 * day)
	wants(t, "at the end", s.heard(), "CANCELLATION")
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 1)
}

func TestACancelledSubscriptionIsChargedNoMoreUntilItGoesOn(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	if err := s.CancelSubscription(sub.ID); err != nil {
		t.Fatal(err)
	}
	end := s.sent[0]
	wants(t, "the end", s.heard(), "CANCELLATION")
	wants(t, "reason", end.Get("cancelReason"), "CANCELLED_BY_SELLER")
	wants(t, "its reference is the first charge", end.Get("referenceNumber"), sub.Charges[0])
	wants(t, "and so is the original", end.Get("originalRefNum"), sub.Charges[0])
	s.agenda.Advance(100 * day)
	wants(t, "afterwards", s.heard(), "")
	wants(t, "cancelled twice", codeOf(t, s.CancelSubscription(sub.ID)), "10001")
	wants(t, "renewed when it has ended", codeOf(t, s.Renew(sub.ID)), "10001")
	if _, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Status: paysim.Active}); err != nil {
		t.Fatal(err)
	}
	s.agenda.Advance(time.Minute)
	wants(t, "a new period begins", s.heard(), "RECURRING")
}

func TestAPlanChangeTakesEffectWithTheNextRenewal(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	changed, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{PlanID: pointer(int64(yearlyPlan))})
	if err != nil {
		t.Fatal(err)
	}
	said := s.sent[0]
	wants(t, "IPN", s.heard(), "CONTRACT_CHANGE")
	for name, want := range map[string]string{
		"oldContractId": "3000001", "newContractId": "3000002", "contractId": "3000001", "subscriptionId": sub.ID,
		"originalRefNum": sub.Charges[0], "resultCode": "SUCCESS",
	} {
		wants(t, name, said.Get(name), want)
	}
	wants(t, "next charge stays", changed.NextCharge.Equal(sub.NextCharge), true)
	s.agenda.Advance(30 * day)
	renewal := s.sent[len(s.sent)-1]
	wants(t, "new amount", renewal.Get("invoiceChargeAmount"), "250.00")
	wants(t, "new contract", renewal.Get("contractId"), "3000002")
	s.heard()
	s.agenda.Advance(360 * day)
	wants(t, "no charge within the year", s.heard(), "")
	if err := s.CancelSubscription(sub.ID); err != nil {
		t.Fatal(err)
	}
	wants(t, "contract that ends", s.sent[0].Get("contractId"), "3000002")
	wants(t, "and is cancelled", s.sent[0].Get("cancelledContractId"), "3000002")
}

// Specification section 4, rule 5: another amount needs another quote.
func TestATaxedSubscriptionChangesItsAmountOnlyWithAQuote(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*stage, *testing.T) paysim.SubscriptionChange
		code   string
		amount string
	}{
		"another amount without a quote": {func(*stage, *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{RecurringAmount: pointer(money.Units(30))}
		}, "43003", ""},
		"another plan without a quote": {func(*stage, *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{PlanID: pointer(int64(yearlyPlan))}
		}, "43003", ""},
		"another amount with its quote": {func(s *stage, t *testing.T) paysim.SubscriptionChange {
			q := s.taxed(t, "30.00", "USD")
			return paysim.SubscriptionChange{RecurringAmount: pointer(q.Total()), RecurringTaxReference: q.Reference}
		}, "", "31.88"},
		"another plan with its quote": {func(s *stage, t *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{PlanID: pointer(int64(yearlyPlan)), RecurringTaxReference: s.taxed(t, "250.00", "USD").Reference}
		}, "", "265.63"},
		"another plan with the quote of the old one": {func(s *stage, t *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{PlanID: pointer(int64(yearlyPlan)), RecurringTaxReference: s.taxed(t, "25.00", "USD").Reference}
		}, "43009", ""},
		"a new quote of the same amount": {func(s *stage, t *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{RecurringTaxReference: s.taxed(t, "25.00", "USD").Reference}
		}, "", "26.56"},
		"the quote it has already": {func(s *stage, _ *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{RecurringTaxReference: s.Subscriptions()[0].RecurringTaxReference}
		}, "", "26.56"},
		"the quote it has already for another amount": {func(s *stage, _ *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{RecurringTaxReference: s.Subscriptions()[0].RecurringTaxReference, RecurringAmount: pointer(money.Units(30))}
		}, "43010", ""},
		"the same amount again": {func(*stage, *testing.T) paysim.SubscriptionChange {
			return paysim.SubscriptionChange{RecurringAmount: pointer(money.MustParse("26.56"))}
		}, "", "26.56"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			r := aRequest(monthlyPlan)
			r.InitialTaxReference = s.taxed(t, "25.00", "USD").Reference
			sub := s.subscribed(t, r)
			_, err := s.UpdateSubscription(sub.ID, c.change(s, t))
			wants(t, "code", codeOf(t, err), c.code)
			if c.code != "" {
				c.amount = "26.56"
			}
			s.agenda.Advance(30 * day)
			wants(t, "next renewal", s.sent[len(s.sent)-1].Get("invoiceChargeAmount"), c.amount)
		})
	}
}

func TestChangesThatCannotBeAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change paysim.SubscriptionChange
		code   string
	}{
		"an unknown plan":                  {paysim.SubscriptionChange{PlanID: pointer(int64(7))}, "10001"},
		"a plan in another currency":       {paysim.SubscriptionChange{PlanID: pointer(int64(euroPlan))}, "20026"},
		"a plan and something else":        {paysim.SubscriptionChange{PlanID: pointer(int64(yearlyPlan)), AutoRenew: pointer(false)}, "10001"},
		"an unknown status":                {paysim.SubscriptionChange{Status: "PAUSED"}, "10001"},
		"an amount of nothing":             {paysim.SubscriptionChange{RecurringAmount: pointer(money.Units(0))}, "14005"},
		"a card that is none":              {paysim.SubscriptionChange{Card: &paysim.Card{Number: "4111"}}, "10001"},
		"a quote nobody made":              {paysim.SubscriptionChange{RecurringTaxReference: "unknown"}, "300"},
		"a good amount and a bad new card": {paysim.SubscriptionChange{RecurringAmount: pointer(money.Units(30)), Card: &paysim.Card{Number: "4111"}}, "10001"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			sub := s.subscribed(t, aRequest(monthlyPlan))
			s.heard()
			_, err := s.UpdateSubscription(sub.ID, c.change)
			wants(t, "code", codeOf(t, err), c.code)
			wants(t, "IPNs", s.heard(), "")
			after := s.now(t, sub.ID)
			wants(t, "amount", after.RecurringAmount, sub.RecurringAmount)
			wants(t, "plan", after.Plan.ID, sub.Plan.ID)
		})
	}
	s := newStage()
	_, err := s.Subscription("1")
	wants(t, "a subscription nobody made", codeOf(t, err), "90009")
	wants(t, "renewing it", codeOf(t, s.Renew("1")), "90009")
	wants(t, "failing it", codeOf(t, s.FailNextRenewal("1", true)), "90009")
	wants(t, "cancelling it", codeOf(t, s.CancelSubscription("1")), "90009")
}

func TestANewCardIsChargedFromThenOn(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	_, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Card: pointer(cardNumbered("4000000000000002"))})
	wants(t, "a card that the bank refuses", codeOf(t, err), "14002")
	wants(t, "said", s.heard(), "PAYMENT_UPDATED_FAILURE")
	if _, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Card: pointer(cardNumbered("5555555555554444"))}); err != nil {
		t.Fatal(err)
	}
	wants(t, "said", s.heard(), "PAYMENT_UPDATED")
	s.agenda.Advance(30 * day)
	wants(t, "charged", s.sent[len(s.sent)-1].Get("creditCardLastFourDigits"), "4444")
}

func TestARenewalCanBeAskedForNow(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	s.agenda.Advance(10 * day)
	if err := s.Renew(sub.ID); err != nil {
		t.Fatal(err)
	}
	wants(t, "now", s.heard(), "RECURRING")
	s.agenda.Advance(29 * day)
	wants(t, "the old date is void", s.heard(), "SUBSCRIPTION_REMINDER")
	s.agenda.Advance(day)
	wants(t, "a period from then", s.heard(), "RECURRING")
}

func TestWhatIsReadOfASubscriptionCanBeChangedFreely(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	sub.Shopper.FirstName, sub.Charges[0] = "Eve", "0"
	again := s.now(t, sub.ID)
	wants(t, "name", again.Shopper.FirstName, "Ann")
	wants(t, "charge", again.Charges[0] == "0", false)
	second := s.subscribed(t, aRequest(trialPlan))
	all := s.Subscriptions()
	if len(all) != 2 || all[0].ID != second.ID || all[1].ID != sub.ID {
		t.Errorf("not newest first: %v", all)
	}
	s.Plans()[0].Name = "nothing"
	wants(t, "plan", s.Plans()[0].Name == "nothing", false)
}

// Whatever happens to a subscription, the IPNs of its charges are its charges, and one that has ended takes no money.
func TestTheIPNsOfASubscriptionAddUpToItsCharges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage()
		plan := rapid.SampledFrom([]int64{monthlyPlan, yearlyPlan, euroPlan, trialPlan}).Draw(t, "plan")
		id := s.subscribed(t, aRequest(plan)).ID
		var charged []string
		acts := map[string]func(){
			"wait": func() {
				s.agenda.Advance(rapid.SampledFrom([]time.Duration{time.Hour, 3 * day, 31 * day}).Draw(t, "time"))
			},
			"renew":  func() { _ = s.Renew(id) },
			"fail":   func() { _ = s.FailNextRenewal(id, rapid.Bool().Draw(t, "fail")) },
			"cancel": func() { _ = s.CancelSubscription(id) },
			"go on":  func() { _, _ = s.UpdateSubscription(id, paysim.SubscriptionChange{Status: paysim.Active}) },
			"auto-renew": func() {
				_, _ = s.UpdateSubscription(id, paysim.SubscriptionChange{AutoRenew: pointer(rapid.Bool().Draw(t, "on"))})
			},
			"amount": func() {
				_, _ = s.UpdateSubscription(id, paysim.SubscriptionChange{RecurringAmount: pointer(money.Units(7))})
			},
		}
		names := []string{"wait", "renew", "fail", "cancel", "go on", "auto-renew", "amount"}
		for range rapid.IntRange(1, 25).Draw(t, "acts") {
			before := s.now(t, id)
			name := rapid.SampledFrom(names).Draw(t, "act")
			acts[name]()
			for _, n := range s.sent {
				if n.Type == "CHARGE" || n.Type == "RECURRING" {
					charged = append(charged, n.Get("referenceNumber"))
				}
			}
			took := strings.Contains(s.heard(), "R") && len(s.now(t, id).Charges) > len(before.Charges)
			if after := s.now(t, id); before.Status == paysim.Canceled && after.Status == paysim.Canceled && took {
				t.Fatalf("%s took money of a subscription that had ended", name)
			}
		}
		if got := s.now(t, id).Charges; !slices.Equal(got, charged) {
			t.Fatalf("charges %v, IPNs of %v", got, charged)
		}
	})
}
