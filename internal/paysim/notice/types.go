package notice

// kind is a row of the type table.
type kind struct {
	name   string // the transactionType
	flag   string // of the notification configuration; "" when only the portal can switch the type on
	fields layout
	own    func(sale) values // what it says otherwise than the rest of the sale; nil: nothing
}

// kinds is the list of types: in the order of the send flags in specification section 2.8, then the eight without a flag.
var kinds = []kind{
	{"AUTH_ONLY", "sendAuthOnly", authorized, trial},
	{"CANCELLATION", "sendCancellation", cancelled, nil},
	{"CANCEL_ON_RENEWAL", "sendCancelOnRenewal", ending.with("ipnId"), nil},
	{"CHARGE", "sendCharge", charge, oneTime},
	{"CHARGEBACK", "sendChargeback", disputed, disputeOpened},
	{"CHARGEBACK_STATUS_CHANGED", "sendChargebackStatusChanged", disputed, disputeGoesOn},
	{"CONTRACT_CHANGE", "sendContractChange", moved, nil},
	{"CANCELLATION_REFUND", "sendCancellationRefund", nameless.with("subscriptionId cancelReason", reversal, chargesPlace, "ipnId"), nil},
	{"FAILED_PAYOUT_TRANSFER", "sendFailedPayoutTransfer", vendor.with("amount currency failureReason", bankAccount), depositFailed},
	{"SUBSCRIPTION_REMINDER", "sendSubscriptionReminder", order.with("subscriptionId originalRefNum reminderNumber daysTillPayment ipnId"), nil},
	{"DECLINE", "sendDecline", order.with("declineReason", chargesPlace, "ipnId"), oneTime},
	{"REFUND", "sendRefund", order.with(reversal, chargesPlace, "ipnId"), oneTime},
	{"RECURRING", "sendRecurring", renewed, renewal},
	{"CC_CHARGE_FAILED", "sendCcFailure", order.with("failureReason ipnId"), oneTime},
	{"SUBSCRIPTION_CHARGE_FAILURE", "sendSubCcFailure", order.with("subscriptionId failureReason ipnId"), renewal},
	{"UNDER_VENDOR_REVIEW", "sendUnderVendorReview", order.with(chargesPlace, "ipnId"), oneTime},
	{"PAYMENT_UPDATED", "sendPaymentUpdate", stored.with("ipnId"), nil},
	{"PAYMENT_UPDATED_FAILURE", "sendPaymentUpdateFailure", stored.with("failureReason ipnId"), nil},
	{"ACCOUNT_UPDATER", "sendAccountUpdater", cardNews, nil},
	{"PAYOUT", "sendPayout", vendor.with("payoutId amount[0] currency[0]", bankAccount), nil},
	{"VENDOR_STATUS_CHANGED", "sendVendorStatusChanged", vendor.with("payoutStatus accountCanProcess", bankAccount), nil},
	{"FRAUD_DECLINE", "sendFraudDecline", nameless.with("amount 3dStatus ipnId"), oneTime},
	{"CHARGE_PENDING", "sendChargePending", order.with(unitPrices, mandate, chargesPlace, "ipnId"), byBank},
	{"SHOPPER_DELETED", "sendShopperDeleted", names("transactionType transactionDate accountId firstName lastName email", nodePlace, "authKey"), nil},
	{"VENDOR_REPORT_AVAILABLE", "sendVendorReportAvailable", vendor.with("amount[0] currency[0]"), nil},
	{"MERCHANT_PARTNER_ONBOARDED", "sendMerchantOnboarded", merchant, nil},
	{"OFFLINE_ORDER", "sendOfflineOrder", nameless.with("offlineOrderId ipnId"), byWire},
	{"CC_STATUS_CHANGED", "sendCcStatusChanged", stored.with("ipnId"), nil},

	{"AUTH_ONLY_SINGLE_CHARGE", "", authorizedOnce, oneTime},
	{"UNDER_REVIEW", "", nameless.with("ipnId"), oneTime},
	{"PENDING_REFUND", "", order.with(reversal, chargesPlace, "ipnId"), oneTime},
	{"CHARGEBACK_FILE_UPLOADED", "", nameless.with("reversalReason reversalRefNum arn ipnId"), disputeGoesOn},
	{"RDR", "", disputed, disputeOpened},
	{"ACH_NOTIFICATION_OF_CHANGE", "", accountNews, bankChange},
	{"MERCHANT_PARTNER_STATUS", "", merchant.without("sandboxId"), nil},
	{"APPLICATION_DOCUMENT_REQUEST", "", names("transactionType merchantId merchantName merchantEmail documentType"), nil},
}

// row returns the table's row of a type; an unknown type looks like a CHARGE.
func row(transactionType string) (k kind, known bool) {
	for _, k := range kinds {
		if k.name == transactionType {
			return k, true
		}
	}
	return kind{name: transactionType, fields: charge, own: oneTime}, false
}

// Types returns the 36 names: those with a send flag in the order of specification section 2.8, then the eight without.
func Types() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Flag returns the send flag of a type in the notification configuration, such as sendCharge; "" for the types that only
// the portal can switch on, and for unknown ones.
func Flag(transactionType string) string {
	k, _ := row(transactionType)
	return k.flag
}

// Flags returns the 28 send flags in the order of specification section 2.8.
func Flags() []string {
	var flags []string
	for _, k := range kinds {
		if k.flag != "" {
			flags = append(flags, k.flag)
		}
	}
	return flags
}

// Known tells whether there is a type of this name. Letter case counts.
func Known(transactionType string) bool {
	_, known := row(transactionType)
	return known
}
