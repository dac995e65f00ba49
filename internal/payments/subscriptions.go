package payments

import (
	"context"
	"encoding/json"
)

// SubscriptionRequest subscribes a shopper to a plan (specification section 2.5). With equal initial and recurring amounts
// one tax quote suffices, in either field.
type SubscriptionRequest struct {
	PlanID                        int64          `json:"planId"`                     // contractId of IPNs
	PayerInfo                     *PayerInfo     `json:"payerInfo,omitempty"`        // required without VaultedShopperID
	VaultedShopperID              int64          `json:"vaultedShopperId,omitempty"` // a stored shopper
	PaymentSource                 *PaymentSource `json:"paymentSource,omitempty"`    // required without a stored shopper
	FraudInfo                     *FraudInfo     `json:"transactionFraudInfo,omitempty"`
	InitialTaxReference           QuoteReference `json:"initialTaxReference,omitzero"`
	RecurringTaxReference         QuoteReference `json:"recurringTaxReference,omitzero"`
	Quantity                      int64          `json:"quantity,omitempty"`                     // of the plan; 0: one
	OverrideInitialChargeAmount   Amount         `json:"overrideInitialChargeAmount,omitzero"`   // in the place of the plan's, with tax
	OverrideRecurringChargeAmount Amount         `json:"overrideRecurringChargeAmount,omitzero"` // in the place of the plan's, with tax
	OverrideTrialPeriodDays       int64          `json:"overrideTrialPeriodDays,omitempty"`      // in the place of the plan's
	SoftDescriptor                string         `json:"softDescriptor,omitempty"`
	MerchantTransactionID         string         `json:"merchantTransactionId,omitempty"` // of the first charge; at most 50 characters
	AuthorizedByShopper           *bool          `json:"authorizedByShopper,omitempty"`   // required for bank debits
	Initiator                     string         `json:"transactionInitiator,omitempty"`
	NextChargeDate                string         `json:"nextChargeDate,omitempty"` // such as 15-Jun-23
	ScheduledChargeDate           string         `json:"scheduledChargeDate,omitempty"`
	IdempotencyKey                string         `json:"-"` // "": one is made, which a later call cannot repeat
}

func (r SubscriptionRequest) quotes() bool {
	return !r.InitialTaxReference.IsZero() || !r.RecurringTaxReference.IsZero()
}

// PayerInfo is who pays.
type PayerInfo struct {
	FirstName            string `json:"firstName,omitempty"`
	LastName             string `json:"lastName,omitempty"`
	Zip                  string `json:"zip,omitempty"`
	Country              string `json:"country,omitempty"` // two letters
	State                string `json:"state,omitempty"`
	City                 string `json:"city,omitempty"`
	Address              string `json:"address,omitempty"`
	Email                string `json:"email,omitempty"`
	Phone                string `json:"phone,omitempty"`
	PersonalIdentityCode string `json:"personalIdentificationNumber,omitempty"`
}

// PaymentSource is what is charged. The sources of raw JSON are sent as they are.
type PaymentSource struct {
	CreditCardInfo      *CreditCardInfo `json:"creditCardInfo,omitempty"`
	ElectronicCheckInfo json.RawMessage `json:"ecpInfo,omitempty"`
	DirectDebitInfo     json.RawMessage `json:"sepaDirectDebitInfo,omitempty"`
}

// CreditCardInfo is a card and whose it is.
type CreditCardInfo struct {
	CreditCard         *CreditCard `json:"creditCard,omitempty"`
	BillingContactInfo *CardHolder `json:"billingContactInfo,omitempty"`
}

// SubscriptionUpdate changes a subscription (specification section 2.5); what is absent stays as it is. A change of plan is
// best sent in a call of its own. A new plan or amount needs a new tax quote (section 4, rule 5).
type SubscriptionUpdate struct {
	PlanID                        int64          `json:"planId,omitempty"` // 0: as it is
	OverrideRecurringChargeAmount Amount         `json:"overrideRecurringChargeAmount,omitzero"`
	RecurringTaxReference         QuoteReference `json:"recurringTaxReference,omitzero"`
	PayerInfo                     *PayerInfo     `json:"payerInfo,omitempty"`
	PaymentSource                 *PaymentSource `json:"paymentSource,omitempty"` // what to charge from now on
	AutoRenew                     *bool          `json:"autoRenew,omitempty"`     // false: it ends with its period
	NextChargeDate                string         `json:"nextChargeDate,omitempty"`
	Quantity                      int64          `json:"quantity,omitempty"` // needs PlanID
	Status                        string         `json:"status,omitempty"`   // ACTIVE, CANCELED
}

func (u SubscriptionUpdate) quotes() bool { return !u.RecurringTaxReference.IsZero() }

// Subscription is what the service answers. Its enumerations are open: text is kept as sent.
type Subscription struct {
	SubscriptionID        ID                  `json:"subscriptionId"`
	PlanID                int64               `json:"planId"`           // contractId of IPNs
	Status                string              `json:"status"`           // such as ACTIVE, CANCELED
	VaultedShopperID      int64               `json:"vaultedShopperId"` // accountId of IPNs
	Quantity              int64               `json:"quantity"`
	RecurringChargeAmount Amount              `json:"recurringChargeAmount"` // of each renewal, with tax
	Currency              string              `json:"currency"`
	SoftDescriptor        string              `json:"softDescriptor"`
	ChargeFrequency       string              `json:"chargeFrequency"` // such as MONTHLY
	NextChargeDate        string              `json:"nextChargeDate"`  // such as 15-Jun-23, the month in upper case too
	AutoRenew             bool                `json:"autoRenew"`       // false: it ends with its period
	PaymentSource         MaskedPaymentSource `json:"paymentSource"`
	InitialTaxReference   string              `json:"initialTaxReference"` // "" without a quote
	RecurringTaxReference string              `json:"recurringTaxReference"`
	MerchantTransactionID string              `json:"merchantTransactionId"`
}

// MaskedPaymentSource is what is charged, as the service shows it.
type MaskedPaymentSource struct {
	CreditCardInfo struct {
		CreditCard         MaskedCard `json:"creditCard"`
		BillingContactInfo CardHolder `json:"billingContactInfo"`
	} `json:"creditCardInfo"`
}

func (s *Subscription) missing() string {
	if s.SubscriptionID == "" {
		return "subscriptionId"
	}
	return ""
}

// CreateSubscription subscribes a shopper to a plan (specification section 4, rule 4) and charges the first amount.
func (c *Client) CreateSubscription(ctx context.Context, request SubscriptionRequest) (Subscription, error) {
	if err := first(request.check(), c.checkQuote("initialTaxReference", request.InitialTaxReference),
		c.checkQuote("recurringTaxReference", request.RecurringTaxReference)); err != nil {
		return Subscription{}, err
	}
	return create[Subscription](ctx, c, "create the subscription", subscriptionPath, request.IdempotencyKey, request)
}

// check tells what the specification rules out.
func (r SubscriptionRequest) check() error {
	return first(
		wrong(r.PlanID <= 0, "planId", "is required"),
		wrong(r.PayerInfo == nil && r.VaultedShopperID == 0, "payerInfo", "or vaultedShopperId is required"),
		wrong(r.PaymentSource == nil && r.VaultedShopperID == 0, "paymentSource", "is required"),
		wrong(r.OverrideTrialPeriodDays < 0, "overrideTrialPeriodDays", "must be more than 0"),
		checkOptionalAmount("overrideInitialChargeAmount", r.OverrideInitialChargeAmount),
		checkOptionalAmount("overrideRecurringChargeAmount", r.OverrideRecurringChargeAmount),
		checkDescriptor(r.SoftDescriptor), checkMerchantID(r.MerchantTransactionID),
		r.PaymentSource.check(),
	)
}

// check looks at the card, if the source is one.
func (s *PaymentSource) check() error {
	if s == nil || s.CreditCardInfo == nil {
		return nil
	}
	return s.CreditCardInfo.CreditCard.check()
}

// updatedSubscription is the answer of an update.
type updatedSubscription struct{ Subscription }

func (*updatedSubscription) mayBeEmpty()     {}
func (*updatedSubscription) missing() string { return "" }

// UpdateSubscription changes a subscription (specification section 4, rule 5). It is repeated as Capture is. A service that
// answers without a body is taken at its word: the Subscription then holds its ID alone.
func (c *Client) UpdateSubscription(ctx context.Context, subscriptionID string, update SubscriptionUpdate) (Subscription, error) {
	if err := first(checkID("subscriptionId", subscriptionID), update.check(),
		c.checkQuote("recurringTaxReference", update.RecurringTaxReference)); err != nil {
		return Subscription{}, err
	}
	updated, err := change[updatedSubscription](ctx, c, "update the subscription", subscriptionPath+"/"+subscriptionID, update)
	if err == nil && updated.SubscriptionID == "" {
		updated.SubscriptionID = ID(subscriptionID)
	}
	return updated.Subscription, err
}

// check tells what the specification rules out. An update of nothing is left to the service.
func (u SubscriptionUpdate) check() error {
	return first(
		checkOptionalAmount("overrideRecurringChargeAmount", u.OverrideRecurringChargeAmount),
		wrong(u.Quantity != 0 && u.PlanID == 0, "quantity", "needs planId"),
		u.PaymentSource.check(),
	)
}

// Subscription reads a subscription.
func (c *Client) Subscription(ctx context.Context, subscriptionID string) (Subscription, error) {
	if err := checkID("subscriptionId", subscriptionID); err != nil {
		return Subscription{}, err
	}
	return read[Subscription](ctx, c, "read the subscription", subscriptionPath+"/"+subscriptionID)
}
