package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// subscriptionBody creates or changes a subscription (specification section 2.5, and the members
// that are documented beside it). What only one of the two may say, the other refuses. A pointer
// tells what is absent from what is zero.
type subscriptionBody struct {
	PlanID                *int64         `json:"planId"`           // contractId of IPNs
	VaultedShopperID      int64          `json:"vaultedShopperId"` // in place of payerInfo, and of paymentSource
	Payer                 *payerInfo     `json:"payerInfo"`
	Source                *paymentSource `json:"paymentSource"`
	Quantity              *int64         `json:"quantity"`
	InitialAmount         amount         `json:"overrideInitialChargeAmount"`
	RecurringAmount       amount         `json:"overrideRecurringChargeAmount"`
	TrialDays             *int           `json:"overrideTrialPeriodDays"`
	NextChargeDate        *string        `json:"nextChargeDate"`
	AutoRenew             *bool          `json:"autoRenew"`
	Status                string         `json:"status"`
	InitialTaxReference   string         `json:"initialTaxReference"`
	RecurringTaxReference string         `json:"recurringTaxReference"`
	SoftDescriptor        string         `json:"softDescriptor"`
	MerchantTransactionID string         `json:"merchantTransactionId"`
	Fraud                 struct {
		SessionID string `json:"fraudSessionId"` // taken and not looked at
	} `json:"transactionFraudInfo"`
}

// paymentSource is what is charged. A source of another kind is refused with 14011; the billing
// contact is taken and not looked at.
type paymentSource struct {
	CreditCard *struct {
		Card    cardBody  `json:"creditCard"`
		Billing payerInfo `json:"billingContactInfo"`
	} `json:"creditCardInfo"`
}

// registerSubscriptions serves subscriptions (specification section 4), lists of them and of their
// charges, and the sandbox's way to renew one now.
func (d *door) registerSubscriptions() {
	d.path("/services/2/recurring/subscriptions", map[string]operation{
		http.MethodPost: d.createSubscription, http.MethodGet: d.listSubscriptions,
	})
	d.path("/services/2/recurring/subscriptions/{id}", map[string]operation{
		http.MethodGet: d.readSubscription, http.MethodPut: d.updateSubscription,
	})
	d.path("/services/2/recurring/subscriptions/{id}/charges", map[string]operation{http.MethodGet: d.listCharges})
	d.path("/services/2/recurring/subscriptions/{id}/run-specific", map[string]operation{http.MethodPost: d.runSubscription})
}

// createSubscription answers 200, not 201, with the subscription and, in Location, its path. When
// the first charge is refused there is no subscription: 14002.
func (d *door) createSubscription(r *request) (answer, error) {
	body := subscriptionBody{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	asked, err := body.creation()
	if err != nil {
		return answer{}, err
	}
	sub, err := d.service.CreateSubscription(asked)
	if err != nil {
		return answer{}, err
	}
	return answer{Location: "/services/2/recurring/subscriptions/" + sub.ID, Body: subscriptionOf(sub)}, nil
}

// creation is the request that a body makes: 16001 and 30 for what it lacks, 10001 and 14006 for
// what cannot be. Whether there is such a plan, and what the quotes are worth, the service says.
func (b subscriptionBody) creation() (asked paysim.SubscriptionRequest, err error) {
	if err := b.check(said{"autoRenew", b.AutoRenew != nil}, said{"status", b.Status != ""}); err != nil {
		return asked, err
	}
	switch {
	case b.PlanID == nil:
		return asked, missing("planId")
	case b.Source == nil && b.VaultedShopperID == 0:
		return asked, missing("paymentSource")
	case b.Payer == nil && b.VaultedShopperID == 0:
		return asked, paysim.Refuse("30", "", "")
	}
	asked = paysim.SubscriptionRequest{
		PlanID: *b.PlanID, VaultedShopperID: b.VaultedShopperID, InitialTaxReference: b.InitialTaxReference,
		RecurringTaxReference: b.RecurringTaxReference, MerchantTransactionID: b.MerchantTransactionID, SoftDescriptor: b.SoftDescriptor,
	}
	if b.Payer != nil {
		asked.Payer = b.Payer.shopper()
	}
	if b.Source != nil {
		asked.Card = b.Source.CreditCard.Card.card()
	}
	if b.TrialDays != nil { // above zero: check has seen to it, so that zero can mean the plan's own
		asked.TrialDays = *b.TrialDays
	}
	if asked.InitialAmount, err = b.InitialAmount.optional("overrideInitialChargeAmount"); err != nil {
		return asked, err
	}
	asked.RecurringAmount, err = b.RecurringAmount.optional("overrideRecurringChargeAmount")
	return asked, err
}

// said is a member of a body and whether it is there, for members that one of the two requests may
// not have.
type said struct {
	member string
	there  bool
}

// check refuses what this request may not say, and what this service does not do for any: with
// 14011 another source of payment, with 10001 the rest. It would be worse to take a member and do
// nothing.
func (b subscriptionBody) check(never ...said) error {
	for _, s := range never {
		if s.there {
			return invalid(s.member, "", "this request cannot say it")
		}
	}
	switch {
	case b.Source != nil && b.Source.CreditCard == nil:
		return paysim.Refuse("14011", "paymentSource", "")
	case b.Quantity != nil && *b.Quantity != 1: // 1 is what it would be anyway, so it may be said
		return invalid("quantity", strconv.FormatInt(*b.Quantity, 10), "this service sells one of a plan")
	case b.NextChargeDate != nil:
		return invalid("nextChargeDate", *b.NextChargeDate, "this service does not move the date of a charge")
	case b.TrialDays != nil && *b.TrialDays <= 0:
		return invalid("overrideTrialPeriodDays", strconv.Itoa(*b.TrialDays), "it must be above zero")
	}
	return nil
}

// updateSubscription answers 200 with the subscription as it is then. Of one request all is done,
// or nothing.
func (d *door) updateSubscription(r *request) (answer, error) {
	body := subscriptionBody{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	change, err := body.change()
	if err != nil {
		return answer{}, err
	}
	return described(d.service.UpdateSubscription(r.PathValue("id"), change))
}

// change is the change that a body asks for. What was settled at the beginning of the subscription
// is refused with 10001.
func (b subscriptionBody) change() (c paysim.SubscriptionChange, err error) {
	err = b.check(
		said{"payerInfo", b.Payer != nil}, said{"vaultedShopperId", b.VaultedShopperID != 0},
		said{"initialTaxReference", b.InitialTaxReference != ""}, said{"overrideInitialChargeAmount", b.InitialAmount != ""},
		said{"overrideTrialPeriodDays", b.TrialDays != nil}, said{"softDescriptor", b.SoftDescriptor != ""},
		said{"merchantTransactionId", b.MerchantTransactionID != ""})
	if err != nil {
		return c, err
	}
	c = paysim.SubscriptionChange{
		PlanID: b.PlanID, RecurringTaxReference: b.RecurringTaxReference, AutoRenew: b.AutoRenew, Status: b.Status,
	}
	if b.Source != nil {
		card := b.Source.CreditCard.Card.card()
		c.Card = &card
	}
	c.RecurringAmount, err = b.RecurringAmount.optional("overrideRecurringChargeAmount")
	return c, err
}

// readSubscription answers 200, for ended subscriptions as well: they are never forgotten. 90009
// when there is none.
func (d *door) readSubscription(r *request) (answer, error) {
	return described(d.service.Subscription(r.PathValue("id")))
}

// runSubscription renews now, as the sandbox can be asked to: 204, also when the card was refused.
// RECURRING or SUBSCRIPTION_CHARGE_FAILURE tells what came of it.
func (d *door) runSubscription(r *request) (answer, error) {
	return answer{}, d.service.Renew(r.PathValue("id"))
}

// described is a subscription, or why there is none, as an answer. Creating one answers the same
// and a Location besides.
func described(sub paysim.Subscription, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{Body: subscriptionOf(sub)}, nil
}

// subscriptionView is a subscription as the interface shows it. The specification leaves it open
// (section 4); these are the documented members, and the payer besides.
type subscriptionView struct {
	ID                    int64        `json:"subscriptionId"` // a number, other than a transactionId
	PlanID                int64        `json:"planId"`
	VaultedShopperID      int64        `json:"vaultedShopperId"`
	Quantity              int          `json:"quantity"`
	Status                string       `json:"status"`                // ACTIVE or CANCELED
	RecurringAmount       money.Amount `json:"recurringChargeAmount"` // with tax
	Currency              string       `json:"currency"`
	SoftDescriptor        string       `json:"softDescriptor,omitempty"`
	ChargeFrequency       string       `json:"chargeFrequency"`
	NextChargeDate        string       `json:"nextChargeDate,omitempty"` // 15-Jun-23; absent once it has ended
	AutoRenew             bool         `json:"autoRenew"`
	InitialTaxReference   string       `json:"initialTaxReference,omitempty"`
	RecurringTaxReference string       `json:"recurringTaxReference,omitempty"`
	MerchantTransactionID string       `json:"merchantTransactionId,omitempty"`
	Payer                 payerInfo    `json:"payerInfo"`
	Source                struct {
		CreditCard struct {
			Card cardView `json:"creditCard"`
		} `json:"creditCardInfo"`
	} `json:"paymentSource"`
}

// subscriptionOf shows a subscription as it is now. One that waits for a refused renewal to be
// tried again is still active.
func subscriptionOf(sub paysim.Subscription) subscriptionView {
	v := subscriptionView{
		ID: number(sub.ID), PlanID: sub.Plan.ID, VaultedShopperID: sub.Shopper.ID, Quantity: 1, Status: sub.Status,
		RecurringAmount: sub.RecurringAmount, Currency: sub.Currency, SoftDescriptor: sub.SoftDescriptor,
		ChargeFrequency: sub.Plan.Frequency, AutoRenew: sub.AutoRenew, InitialTaxReference: sub.InitialTaxReference,
		RecurringTaxReference: sub.RecurringTaxReference, MerchantTransactionID: sub.MerchantTransactionID, Payer: payerOf(sub.Shopper),
	}
	// The end of the period that is paid for, also when autoRenew is off and nothing will be
	// charged then.
	if sub.Status == paysim.Active {
		v.NextChargeDate = chargeDate(sub.NextCharge)
	}
	v.Source.CreditCard.Card = cardOf(sub.Card) // the one that the next renewal charges
	return v
}

// chargeDate writes the form of dates that subscriptions have, "15-Jun-23", eight hours behind UTC
// in summer as well: they were seen so, though the dates of IPNs follow the clocks. A charge late
// in the evening has another day here than there.
func chargeDate(t time.Time) string {
	return t.In(time.FixedZone("", -8*60*60)).Format("02-Jan-06")
}
