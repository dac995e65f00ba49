package ipn

import (
	"slices"
	"strings"
)

// Sign is the direction in which an event moves the merchant's money: the amount itself is always a magnitude,
// because the sender writes reversals with and without a minus.
type Sign int

// The closed set of directions.
const (
	Out  Sign = -1 // money leaves: refunds, disputes
	None Sign = 0  // no money moves, or not for good, or it was the merchant's already
	In   Sign = +1 // money comes in: charges
)

// Family groups the types whose fields mean the same; each has one details struct.
type Family string

// The closed set of families.
const (
	FamilyPayment      Family = "payment"
	FamilySubscription Family = "subscription"
	FamilyRefund       Family = "refund"
	FamilyDispute      Family = "dispute"
	FamilyAccount      Family = "account"
	FamilyOrder        Family = "order"
	FamilyPayout       Family = "payout"
	FamilyVendor       Family = "vendor"
	FamilyPartner      Family = "partner"
	FamilyUnknown      Family = "unknown"
)

// Type is what the receiver knows about one transactionType: a row of the table below. The zero Type stands for
// every type the table does not hold; its events are kept like any other.
type Type struct {
	Name    string   // canonical transactionType; "" for an unknown one
	Aliases []string // other accepted spellings
	Family  Family   // "" for an unknown one, see Event.Family
	Flag    string   // send flag of the notification configuration; "" when only the portal can switch the type on
	Sign    Sign
	Fails   bool // tells that a payment or a renewal failed
	Legacy  bool // told only by older editions of the provider's documents

	key   keyRule
	build func(*view) Details
}

// typeTable is the only list of transaction types in the house: decoder, send flags, metric labels, page filters and
// samples are derived from it. A type that the sender invents tomorrow is stored without a row here; the row adds
// family, flag, direction, identity rule and details. Rows stand in the order of the send flags in specification
// section 2.8.
var typeTable = [...]Type{
	{Name: "AUTH_ONLY", Family: FamilyPayment, Flag: "sendAuthOnly", key: keyReference, build: newPayment},
	{Name: "CANCELLATION", Family: FamilySubscription, Flag: "sendCancellation", key: keySubscription, build: newSubscription},
	{Name: "CANCEL_ON_RENEWAL", Family: FamilySubscription, Flag: "sendCancelOnRenewal", key: keySubscription, build: newSubscription},
	{Name: "CHARGE", Family: FamilyPayment, Flag: "sendCharge", Sign: In, key: keyReference, build: newPayment},
	{Name: "CHARGEBACK", Family: FamilyDispute, Flag: "sendChargeback", Sign: Out, key: keyReversal, build: newDispute},
	{Name: "CHARGEBACK_STATUS_CHANGED", Family: FamilyDispute, Flag: "sendChargebackStatusChanged", key: keyDispute, build: newDispute},
	{Name: "CONTRACT_CHANGE", Family: FamilySubscription, Flag: "sendContractChange", key: keyPlan, build: newSubscription},
	{Name: "CANCELLATION_REFUND", Family: FamilyRefund, Flag: "sendCancellationRefund", Sign: Out, key: keyReversal, build: newRefund},
	{Name: "FAILED_PAYOUT_TRANSFER", Family: FamilyPayout, Flag: "sendFailedPayoutTransfer", key: keyContent, build: newPayout},
	{Name: "SUBSCRIPTION_REMINDER", Family: FamilySubscription, Flag: "sendSubscriptionReminder", key: keyReminderCycle, build: newSubscription},
	{Name: "DECLINE", Family: FamilyPayment, Flag: "sendDecline", Fails: true, key: keyReference, build: newPayment},
	{Name: "REFUND", Family: FamilyRefund, Flag: "sendRefund", Sign: Out, key: keyReversal, build: newRefund},
	{Name: "RECURRING", Family: FamilyPayment, Flag: "sendRecurring", Sign: In, key: keyReference, build: newPayment},
	{Name: "CC_CHARGE_FAILED", Family: FamilyPayment, Flag: "sendCcFailure", Fails: true, key: keyReference, build: newPayment},
	{Name: "SUBSCRIPTION_CHARGE_FAILURE", Family: FamilySubscription, Flag: "sendSubCcFailure", Fails: true, key: keyFailedCycle, build: newSubscription},
	{Name: "UNDER_VENDOR_REVIEW", Family: FamilyPayment, Flag: "sendUnderVendorReview", key: keyReference, build: newPayment},
	{Name: "PAYMENT_UPDATED", Family: FamilyAccount, Flag: "sendPaymentUpdate", key: keyAccount, build: newAccount},
	{Name: "PAYMENT_UPDATED_FAILURE", Aliases: []string{"PAYMENT_UPDATE_FAILURE"}, Family: FamilyAccount, Flag: "sendPaymentUpdateFailure", key: keyAccount, build: newAccount},
	{Name: "ACCOUNT_UPDATER", Family: FamilyAccount, Flag: "sendAccountUpdater", key: keyUpdaterLine, build: newAccount},
	{Name: "PAYOUT", Family: FamilyPayout, Flag: "sendPayout", key: keyPayout, build: newPayout},
	{Name: "VENDOR_STATUS_CHANGED", Family: FamilyVendor, Flag: "sendVendorStatusChanged", key: keyContent, build: newVendor},
	{Name: "FRAUD_DECLINE", Family: FamilyPayment, Flag: "sendFraudDecline", Fails: true, key: keyReference, build: newPayment},
	{Name: "CHARGE_PENDING", Family: FamilyPayment, Flag: "sendChargePending", key: keyReference, build: newPayment},
	{Name: "SHOPPER_DELETED", Aliases: []string{"VAULTED_SHOPPER"}, Family: FamilyAccount, Flag: "sendShopperDeleted", key: keyAccount, build: newAccount},
	{Name: "VENDOR_REPORT_AVAILABLE", Family: FamilyVendor, Flag: "sendVendorReportAvailable", key: keyContent, build: newVendor},
	{Name: "MERCHANT_PARTNER_ONBOARDED", Family: FamilyPartner, Flag: "sendMerchantOnboarded", key: keyContent, build: newPartner},
	{Name: "OFFLINE_ORDER", Family: FamilyOrder, Flag: "sendOfflineOrder", key: keyOfflineOrder, build: newOfflineOrder},
	{Name: "CC_STATUS_CHANGED", Family: FamilyAccount, Flag: "sendCcStatusChanged", key: keyAccount, build: newAccount},

	// Without a flag: switched on in the portal only, so the own configuration never asked for them.
	{Name: "AUTH_ONLY_SINGLE_CHARGE", Family: FamilyPayment, key: keyReference, build: newPayment},
	{Name: "UNDER_REVIEW", Family: FamilyPayment, key: keyReference, build: newPayment},
	{Name: "PENDING_REFUND", Family: FamilyRefund, key: keyReversal, build: newRefund},
	{Name: "CHARGEBACK_FILE_UPLOADED", Family: FamilyDispute, key: keyContent, build: newDispute},
	{Name: "RDR", Family: FamilyDispute, Sign: Out, key: keyReversal, build: newDispute},
	{Name: "ACH_NOTIFICATION_OF_CHANGE", Family: FamilyAccount, key: keyBankChange, build: newAccount},
	{Name: "MERCHANT_PARTNER_STATUS", Family: FamilyPartner, key: keyContent, build: newPartner},
	{Name: "APPLICATION_DOCUMENT_REQUEST", Family: FamilyPartner, key: keyContent, build: newPartner},

	{Name: "CANCEL", Family: FamilyPayment, Fails: true, Legacy: true, key: keyReference, build: newPayment},
	{Name: "CANCELLATION_CHARGEBACK", Family: FamilyDispute, Sign: Out, Legacy: true, key: keyReversal, build: newDispute},
}

// typeIndex finds a row by its name or alias in upper case.
var typeIndex = indexTypes()

func indexTypes() map[string]*Type {
	index := make(map[string]*Type, 2*len(typeTable))
	for i := range typeTable {
		row := &typeTable[i]
		index[row.Name] = row
		for _, alias := range row.Aliases {
			index[alias] = row
		}
	}
	return index
}

// Types returns a copy of the table: the 36 documented types in table order, then the legacy ones.
func Types() []Type {
	types := slices.Clone(typeTable[:])
	for i := range types {
		types[i].Aliases = slices.Clone(types[i].Aliases)
	}
	return types
}

// LookupType finds the row of a transactionType by name or alias, without letter case and surrounding space. It
// returns the zero Type and false for an unknown one.
func LookupType(name string) (Type, bool) {
	row := findType(name)
	if row == nil {
		return Type{}, false
	}
	return *row, true
}

// findType is LookupType without the copy; nil when unknown. It does not allocate for a name in upper case.
func findType(name string) *Type {
	name = strings.TrimSpace(name)
	if row := typeIndex[name]; row != nil {
		return row
	}
	const longest = 64 // no name of the table is longer; a hostile one is not worth an upper-case copy
	if len(name) > longest {
		return nil
	}
	return typeIndex[strings.ToUpper(name)]
}

// Flags returns the 28 send flags in the order of specification section 2.8. Setting them all switches on every type
// that can be switched on by configuration.
func Flags() []string {
	var flags []string
	for i := range typeTable {
		if flag := typeTable[i].Flag; flag != "" {
			flags = append(flags, flag)
		}
	}
	return flags
}

// Known tells whether the type has a row in the table.
func (t Type) Known() bool { return t.Name != "" }

// Label is the type's metric label: its name, or "other", so that strangers cannot invent labels.
func (t Type) Label() string {
	if t.Name == "" {
		return "other"
	}
	return t.Name
}
