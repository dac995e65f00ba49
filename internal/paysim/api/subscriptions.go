package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// subscriptionBody creates or changes a subscription (specification section 2.5). What only one of the two may say, the
// other refuses.
type subscriptionBody struct {
	PlanID                *int64         `json:"planId"`
	VaultedShopperID      int64          `json:"vaultedShopperId"`
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

// paymentSource is what is charged. A source of another kind is refused.
type paymentSource struct {
	CreditCard *struct {
		Card    cardBody  `json:"creditCard"`
		Billing payerInfo `json:"billingContactInfo"`
	} `json:"creditCardInfo"`
}

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

// createSubscription answers 200 with the subscription and, in Location, its path.
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

// creation is the request that a body makes; 16001 for what it lacks.
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
		return asked, refusal(http.StatusBadRequest, "30", "MISSING_SHOPPER_OR_CARD_HOLDER", "payerInfo or vaultedShopperId is required")
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
	if b.TrialDays != nil {
		asked.TrialDays = *b.TrialDays
	}
	if asked.InitialAmount, err = b.InitialAmount.optional("overrideInitialChargeAmount"); err != nil {
		return asked, err
	}
	asked.RecurringAmount, err = b.RecurringAmount.optional("overrideRecurringChargeAmount")
	return asked, err
}

// said is a member of a body and whether it is there.
type said struct {
	member string
	there  bool
}

// check refuses what this request may not say, and what this service does not do for any.
func (b subscriptionBody) check(never ...said) error {
	for _, s := range never {
		if s.there {
			return invalid(s.member, "", "this request cannot say it")
		}
	}
	switch {
	case b.Source != nil && b.Source.CreditCard == nil:
		return refusal(http.StatusBadRequest, "14011", "PAYMENT_METHOD_NOT_SUPPORTED", "the only source of payment is creditCardInfo")
	case b.Quantity != nil && *b.Quantity != 1:
		return invalid("quantity", strconv.FormatInt(*b.Quantity, 10), "this service sells one of a plan")
	case b.NextChargeDate != nil:
		return invalid("nextChargeDate", *b.NextChargeDate, "this service does not move the date of a charge")
	case b.TrialDays != nil && *b.TrialDays <= 0:
		return invalid("overrideTrialPeriodDays", strconv.Itoa(*b.TrialDays), "it must be above zero")
	}
	return nil
}

// updateSubscription answers 200 with the subscription as it is then.
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

// change is the change that a body asks for. What was settled at the beginning is refused: it would be worse to take it and
// do nothing.
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

// readSubscription answers for ended subscriptions as well: they are never forgotten.
func (d *door) readSubscription(r *request) (answer, error) {
	return described(d.service.Subscription(r.PathValue("id")))
}

// runSubscription renews now, as the sandbox can be asked to: 204. Whether the card was charged, the IPN tells.
func (d *door) runSubscription(r *request) (answer, error) {
	return answer{}, d.service.Renew(r.PathValue("id"))
}

// described is a subscription, or why there is none, as an answer.
func described(sub paysim.Subscription, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{Body: subscriptionOf(sub)}, nil
}

// subscriptionView is a subscription as the interface shows it.
type subscriptionView struct {
	ID                    int64        `json:"subscriptionId"`
	PlanID                int64        `json:"planId"`
	VaultedShopperID      int64        `json:"vaultedShopperId"`
	Quantity              int          `json:"quantity"`
	Status                string       `json:"status"`
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

func subscriptionOf(sub paysim.Subscription) subscriptionView {
	v := subscriptionView{
		ID: number(sub.ID), PlanID: sub.Plan.ID, VaultedShopperID: sub.Shopper.ID, Quantity: 1, Status: sub.Status,
		RecurringAmount: sub.RecurringAmount, Currency: sub.Currency, SoftDescriptor: sub.SoftDescriptor,
		ChargeFrequency: sub.Plan.Frequency, AutoRenew: sub.AutoRenew, InitialTaxReference: sub.InitialTaxReference,
		RecurringTaxReference: sub.RecurringTaxReference, MerchantTransactionID: sub.MerchantTransactionID, Payer: payerOf(sub.Shopper),
	}
	if sub.Status == paysim.Active {
		v.NextChargeDate = chargeDate(sub.NextCharge)
	}
	v.Source.CreditCard.Card = cardOf(sub.Card)
	return v
}

// chargeDate writes the form of dates that subscriptions have, eight hours behind UTC in summer as well.
func chargeDate(t time.Time) string {
	return t.In(time.FixedZone("", -8*60*60)).Format("02-Jan-06")
}
