package ipn

// Order is what the families with a purchase in them share. The blocks are embedded: in JSON all fields stand on one
// level under the sender's names.
type Order struct {
	Notice
	Shopper
	Invoice
	Shipping
	References
	Contract
	Amounts
	Tax
	Means
	Visit
	Warranty
	Items
}

func readOrder(v *view) Order {
	return Order{
		Notice:     readNotice(v),
		Shopper:    readShopper(v),
		Invoice:    readInvoice(v),
		Shipping:   readShipping(v),
		References: readReferences(v),
		Contract:   readContract(v),
		Amounts:    readAmounts(v),
		Tax:        readTax(v),
		Means:      readMeans(v),
		Visit:      readVisit(v),
		Warranty:   readWarranty(v),
		Items:      readItems(v),
	}
}

// Payment is a charge, an authorization, or what became of one before money moved.
type Payment struct {
	Order
	Refusal
	Leftover
}

func (*Payment) family() Family { return FamilyPayment }

func newPayment(v *view) Details {
	return &Payment{
		Order:    readOrder(v),
		Refusal:  readRefusal(v),
		Leftover: v.leftover(),
	}
}

// Subscription is a turn in a subscription's life other than a charge: a failed renewal, an end, a change of plan, a reminder.
type Subscription struct {
	Order
	Refusal
	Ending
	PlanChange
	Leftover
}

func (*Subscription) family() Family { return FamilySubscription }

func newSubscription(v *view) Details {
	return &Subscription{
		Order:      readOrder(v),
		Refusal:    readRefusal(v),
		Ending:     readEnding(v),
		PlanChange: readPlanChange(v),
		Leftover:   v.leftover(),
	}
}

// Refund is money given back by the merchant. Its own number is Reversal.ReferenceNumber.
type Refund struct {
	Order
	Reversal
	Ending
	Leftover
}

func (*Refund) family() Family { return FamilyRefund }

func newRefund(v *view) Details {
	return &Refund{
		Order:    readOrder(v),
		Reversal: readReversal(v),
		Ending:   readEnding(v),
		Leftover: v.leftover(),
	}
}

// Dispute is a charge that the shopper's bank takes back, and news of that.
type Dispute struct {
	Order
	Reversal
	Leftover
}

func (*Dispute) family() Family { return FamilyDispute }

func newDispute(v *view) Details {
	return &Dispute{
		Order:    readOrder(v),
		Reversal: readReversal(v),
		Leftover: v.leftover(),
	}
}

// Account is a change of a shopper or of the shopper's means of payment.
type Account struct {
	Order
	Update
	Leftover
}

func (*Account) family() Family { return FamilyAccount }

func newAccount(v *view) Details {
	return &Account{
		Order:    readOrder(v),
		Update:   readUpdate(v),
		Leftover: v.leftover(),
	}
}

// OfflineOrder is an order by fax, phone or wire, paid later by a charge with the same OfflineOrderID.
type OfflineOrder struct {
	Order
	Leftover
}

func (*OfflineOrder) family() Family { return FamilyOrder }

func newOfflineOrder(v *view) Details {
	return &OfflineOrder{
		Order:    readOrder(v),
		Leftover: v.leftover(),
	}
}

// Payout is a deposit of the merchant's or a vendor's money, issued or failed.
type Payout struct {
	Notice
	PayoutID string `json:"payoutId,omitempty"`
	Amounts
	Deposits []Deposit `json:"deposits,omitempty"` // one per currency
	BankAccount
	Leftover
}

func (*Payout) family() Family { return FamilyPayout }

func newPayout(v *view) Details {
	return &Payout{
		Notice:      readNotice(v),
		PayoutID:    v.text("payoutId"),
		Amounts:     readAmounts(v),
		Deposits:    readDeposits(v),
		BankAccount: readBankAccount(v),
		Leftover:    v.leftover(),
	}
}

// Vendor is news of a vendor's account, payout or report.
type Vendor struct {
	Notice
	Amounts
	Deposits []Deposit `json:"deposits,omitempty"`
	BankAccount
	Leftover
}

func (*Vendor) family() Family { return FamilyVendor }

func newVendor(v *view) Details {
	return &Vendor{
		Notice:      readNotice(v),
		Amounts:     readAmounts(v),
		Deposits:    readDeposits(v),
		BankAccount: readBankAccount(v),
		Leftover:    v.leftover(),
	}
}

// Partner is news of a merchant that an embedded partner brings in.
type Partner struct {
	Notice
	Merchant
	Leftover
}

func (*Partner) family() Family { return FamilyPartner }

func newPartner(v *view) Details {
	return &Partner{
		Notice:   readNotice(v),
		Merchant: readMerchant(v),
		Leftover: v.leftover(),
	}
}
