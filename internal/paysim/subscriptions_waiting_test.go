package paysim_test

import (
	"errors"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// clearing and bouncing are cards that stand for a bank debit: decided after three days.
var (
	clearing = cardNumbered("4012888888881881")
	bouncing = cardNumbered("5105105105105100")
)

func TestAFirstChargeThatBouncesEndsItsSubscription(t *testing.T) {
	s := newStage()
	r := aRequest(monthlyPlan)
	r.Card = bouncing
	sub := s.subscribed(t, r)
	wants(t, "at first", s.heard(), "CHARGE_PENDING")
	s.agenda.Advance(100 * day)
	wants(t, "in the end", s.heard(), "DECLINE CANCELLATION")
	wants(t, "status", s.now(t, sub.ID).Status, paysim.Canceled)
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 0)
}

func TestRenewalsThatBounceCountAsRefused(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	if _, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Card: &bouncing}); err != nil {
		t.Fatal(err)
	}
	s.heard()
	s.agenda.Advance(365 * day)
	wants(t, "a year", s.heard(), "SUBSCRIPTION_REMINDER CHARGE_PENDING DECLINE CHARGE_PENDING DECLINE CHARGE_PENDING DECLINE CANCELLATION")
	wants(t, "status", s.now(t, sub.ID).Status, paysim.Canceled)
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 1)
}

func TestARenewalThatClearsLateIsPaidAndForgivesARefusal(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	if err := s.FailNextRenewal(sub.ID, true); err != nil {
		t.Fatal(err)
	}
	s.agenda.Advance(30 * day)
	if _, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Card: &clearing}); err != nil {
		t.Fatal(err)
	}
	s.agenda.Advance(3 * day)
	wants(t, "failures while it waits", s.now(t, sub.ID).Failures, 1)
	s.heard()
	s.agenda.Advance(3 * day)
	wants(t, "when it has cleared", s.heard(), "RECURRING")
	wants(t, "failures", s.now(t, sub.ID).Failures, 0)
	wants(t, "charges", len(s.now(t, sub.ID).Charges), 2)
}

func TestACardThatTheFraudRulesRefuseIsNotTakenInstead(t *testing.T) {
	s := newStage()
	sub := s.subscribed(t, aRequest(monthlyPlan))
	s.heard()
	for _, card := range s.Cards() {
		fraud := cardNumbered(card.Number)
		if _, err := newStage().CreateSubscription(paysim.SubscriptionRequest{PlanID: monthlyPlan, Payer: aRequest(monthlyPlan).Payer, Card: fraud}); nameOf(err) != "FRAUD_DETECTED" {
			continue
		}
		_, err := s.UpdateSubscription(sub.ID, paysim.SubscriptionChange{Card: &fraud})
		wants(t, "refusal", nameOf(err), "FRAUD_DETECTED")
		wants(t, "said", s.heard(), "PAYMENT_UPDATED_FAILURE")
		return
	}
	t.Fatal("no test card stands for fraud")
}

// nameOf is the name of a refusal, "" for anything else.
func nameOf(err error) string {
	var refusal *paysim.Refusal
	if errors.As(err, &refusal) {
		return refusal.Name
	}
	return ""
}
