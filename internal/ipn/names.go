package ipn

// kind is the grammar that a non-empty value of a standard field has. A value that breaks it is kept as text and
// flagged.
type kind uint8

const (
	kindText      kind = iota // anything
	kindAmount                // dot decimal, comma thousands and a leading minus allowed
	kindDate                  // MM/DD/YYYY hh:mm AM/PM
	kindLooseDate             // a date whose form is not documented: read as kindDate where it fits, never flagged
	kindFlag                  // Y or N; Yes and No too
	kindExpiry                // M/YYYY or MM/YYYY
	kindCount                 // a whole number
	kindCurrency              // three letters
	kindCountry               // two letters
)

// nameRow is a standard field name in its documented spelling; letter case does not matter. An indexed name comes with
// a number behind it, glued or in brackets: promoteContractId0, additionalChargeAmount[1].
type nameRow struct {
	name    string
	kind    kind
	class   class // who may see the value
	indexed bool
	// critical names decide what an event is or what money it moves: they are the parts of the identity rules, and all
	// amounts and currencies. Told twice with different values, neither counts, so that the order of fields, which a
	// resend may change, decides nothing (S-44).
	critical bool
}

// nameTable holds every standard field name once: the list of specification section 6 and what else the sender is known
// to send. Names that carry the sender's brand (its data-centre fields) are settings and not here.
var nameTable = [...]nameRow{
	{}, // nameID 0: not a standard name

	// The IPN itself.
	{name: "transactionType", class: classMoney, critical: true},
	{name: "transactionDate", class: classMoney, kind: kindDate, critical: true},
	{name: "testMode", class: classMoney, kind: kindFlag, critical: true},
	{name: "targetBalance", class: classMoney},
	{name: "authKey", class: classSecret},
	{name: "ipnId", class: classMoney},
	{name: "ipnV2", class: classMoney, kind: kindFlag},
	{name: "resultCode", class: classMoney},
	{name: "vendorId", class: classMoney},
	{name: "vendorName", class: classNaming},

	// The shopper.
	{name: "accountId", class: classMoney, critical: true},
	{name: "sellerShopperId"},
	{name: "title"},
	{name: "firstName", class: className},
	{name: "lastName", class: className},
	{name: "company"},
	{name: "address1"},
	{name: "address2"},
	{name: "city"},
	{name: "state", class: classPlace},
	{name: "zipCode"},
	{name: "country", class: classPlace, kind: kindCountry},
	{name: "email", class: classEmail},
	{name: "workPhone"},
	{name: "extension"},
	{name: "mobilePhone"},
	{name: "homePhone"},
	{name: "faxNumber"},
	{name: "username"},
	{name: "personalId"},
	{name: "brazilianId"},

	// The invoice's addressee.
	{name: "invoiceTitle"},
	{name: "invoiceFirstName", class: className},
	{name: "invoiceLastName", class: className},
	{name: "invoiceCompany"},
	{name: "invoiceAddress1"},
	{name: "invoiceAddress2"},
	{name: "invoiceCity"},
	{name: "invoiceState", class: classPlace},
	{name: "invoiceZipCode"},
	{name: "invoiceCountry", class: classPlace, kind: kindCountry},
	{name: "invoiceEmail", class: classEmail},
	{name: "invoiceWorkPhone"},
	{name: "invoiceExtension"},
	{name: "invoiceMobilePhone"},
	{name: "invoiceFaxNumber"},

	// The delivery.
	{name: "shippingFirstName", class: className},
	{name: "shippingLastName", class: className},
	{name: "shippingAddress1"},
	{name: "shippingAddress2"},
	{name: "shippingCity"},
	{name: "shippingState", class: classPlace},
	{name: "shippingZipCode"},
	{name: "shippingCountry", class: classPlace, kind: kindCountry},
	{name: "shippingMethod", class: classNaming},

	// References.
	{name: "referenceNumber", class: classMoney, critical: true},
	{name: "merchantTransactionId", class: classMoney},
	{name: "originalReferenceNumber", class: classMoney},
	{name: "originalRefNum", class: classMoney},
	{name: "originalInvoiceId", class: classMoney},
	{name: "invoiceId", class: classMoney},
	{name: "captureReferenceNumber", class: classMoney},
	{name: "subscriptionId", class: classMoney, critical: true},
	{name: "offlineOrderId", class: classMoney, critical: true},
	{name: "paypalSubscriptionId", class: classMoney},
	{name: "paypalTransactionId", class: classMoney},

	// What was ordered.
	{name: "productId", class: classMoney},
	{name: "productName", class: classNaming},
	{name: "contractId", class: classMoney},
	{name: "contractName", class: classNaming},
	{name: "contractOwner", class: classNaming},
	{name: "contractPrice", class: classMoney, kind: kindAmount, critical: true},
	{name: "contractChargePrice", class: classMoney, kind: kindAmount, critical: true},
	{name: "contractLocalPrice", class: classMoney, kind: kindAmount, critical: true},
	{name: "overridePrice", class: classMoney, kind: kindAmount, critical: true},
	{name: "quantity", class: classMoney, kind: kindCount},
	{name: "untilDate", class: classMoney, kind: kindDate, critical: true},
	{name: "recurringDisclaimer", class: classMoney, kind: kindFlag},
	{name: "licenseKey", class: classSecret},
	{name: "armadilloHardwareId", class: classDevice},
	{name: "addCD", class: classMoney, kind: kindFlag},
	{name: "coupon", class: classMoney, kind: kindFlag},
	{name: "couponCode", class: classMoney},
	{name: "couponValue", class: classMoney, kind: kindAmount, critical: true},
	{name: "couponChargeValue", class: classMoney, kind: kindAmount, critical: true},
	{name: "promoteContractsNum", class: classMoney, kind: kindCount},

	// The download warranty, obsolete and mostly empty.
	{name: "EDWPeriod", class: classMoney},
	{name: "EDWContractId", class: classMoney},
	{name: "EDWAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "EDWAmountUSD", class: classMoney, kind: kindAmount, critical: true},
	{name: "EDWSurcharge", class: classMoney, kind: kindAmount, critical: true},
	{name: "EDWSurchargeUSD", class: classMoney, kind: kindAmount, critical: true},

	// Money.
	{name: "currency", class: classMoney, kind: kindCurrency, critical: true},
	{name: "invoiceAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "invoiceAmountUSD", class: classMoney, kind: kindAmount, critical: true},
	{name: "invoiceChargeAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "invoiceChargeCurrency", class: classMoney, kind: kindCurrency, critical: true},
	{name: "invoiceLocalAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "invoiceLocalCurrency", class: classMoney, kind: kindCurrency, critical: true},
	{name: "amount", class: classMoney, kind: kindAmount, critical: true},
	{name: "taxAmountUSD", class: classMoney, kind: kindAmount, critical: true},
	{name: "taxChargeAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "taxRate", class: classMoney},
	{name: "vatId"},

	// The means of payment.
	{name: "paymentMethod", class: classMoney},
	{name: "paymentType", class: classMoney},
	{name: "creditCardType", class: classBrand},
	{name: "cardSubType", class: classBrand},
	{name: "cardCategory", class: classBrand},
	{name: "creditCardLastFourDigits", class: classLastFour},
	{name: "creditCardExpDate", class: classExpiry, kind: kindExpiry},
	{name: "dpanLastFourDigits", class: classLastFour},
	{name: "dpanExpDate", class: classExpiry, kind: kindExpiry},
	{name: "binCategory", class: classBrand},
	{name: "binNumber"},
	{name: "regulatedCard", class: classBrand, kind: kindFlag},
	{name: "cardIssuingOrg"},
	{name: "cardIssuingCountry", class: classPlace, kind: kindCountry},
	{name: "cvvSent", class: classCheck, kind: kindFlag},
	{name: "avsSent", class: classCheck, kind: kindFlag},
	{name: "cvvResponse", class: classCheck},
	{name: "avsResponse", class: classCheck},
	{name: "3DStatus", class: classMoney},
	{name: "sepaMandateId"},
	{name: "sepaMandateDate", kind: kindLooseDate},
	{name: "sepaIban"},

	// The visit to the checkout.
	{name: "language", class: classDevice},
	{name: "templateId", class: classMoney},
	{name: "referrer", class: classDevice},
	{name: "remoteAddress", class: classDevice},
	{name: "invoiceInfoURL", class: classSecret},
	{name: "invoiceURL", class: classSecret},
	{name: "shopperOrderUrl", class: classSecret},
	{name: "shopperAdminUrl", class: classSecret},
	{name: "originalRequestUrl", class: classDevice},

	// Refusals and reversals.
	{name: "declineReason", class: classMoney},
	{name: "failureReason", class: classMoney, critical: true},
	{name: "reversalAmount", class: classMoney, kind: kindAmount, critical: true},
	{name: "reversalReason", class: classNaming},
	{name: "reversalRefNum", class: classMoney, critical: true},
	{name: "fullRefund", class: classMoney, kind: kindFlag},
	{name: "cbStatus", class: classMoney, critical: true},
	{name: "cancelReason", class: classNaming},
	{name: "cancelledContractId", class: classMoney},

	// A change of plan.
	{name: "oldContractId", class: classMoney, critical: true},
	{name: "oldContractName", class: classNaming},
	{name: "oldProductId", class: classMoney},
	{name: "oldProductName", class: classNaming},
	{name: "newContractId", class: classMoney, critical: true},
	{name: "newContractName", class: classNaming},
	{name: "newProductId", class: classMoney},
	{name: "newProductName", class: classNaming},

	// News of a stored card or bank account.
	{name: "accountUpdaterLineId", class: classMoney, critical: true},
	{name: "accountType", class: classMoney},
	{name: "linkedSubscriptions", class: classMoney},
	{name: "responseDate", class: classMoney, kind: kindLooseDate, critical: true},
	{name: "responseMessage", class: classNaming},
	{name: "originalCreditCardExpirationMonth", class: classExpiry, kind: kindCount},
	{name: "originalCreditCardExpirationYear", class: classExpiry, kind: kindCount},
	{name: "originalCreditCardLast4Digits", class: classLastFour},
	{name: "updatedCreditCardExpirationMonth", class: classExpiry, kind: kindCount},
	{name: "updatedCreditCardExpirationYear", class: classExpiry, kind: kindCount},
	{name: "updatedCreditCardLast4Digits", class: classLastFour},
	{name: "updatedCreditCardType", class: classBrand},
	{name: "originalPublicAccountNumber", critical: true},
	{name: "originalPublicRoutingNumber", critical: true},
	{name: "updatedPublicRoutingNumber", critical: true},

	// Payouts, vendors, partners.
	{name: "payoutId", class: classMoney, critical: true},
	{name: "bankAccountName"},
	{name: "bankAccountBranch"},
	{name: "bankAccountBsbNumber"},
	{name: "bankAccountFinancialInstitution"},
	{name: "bankAccountNumber"},
	{name: "merchantId", class: classMoney},
	{name: "sandboxId", class: classMoney},
	{name: "payoutStatus", class: classMoney, kind: kindFlag},
	{name: "payout", class: classMoney, kind: kindFlag},
	{name: "accountCanProcess", class: classMoney}, // Y, N, Yes, No or Pending
	{name: "merchantName", class: classNaming},
	{name: "merchantEmail", class: classEmail},

	// Indexed names.
	{name: "promoteContractId", class: classMoney, indexed: true},
	{name: "promoteContractName", class: classNaming, indexed: true},
	{name: "promoteContractOwner", class: classNaming, indexed: true},
	{name: "promoteContractPrice", class: classMoney, kind: kindAmount, indexed: true},
	{name: "promoteContractChargePrice", class: classMoney, kind: kindAmount, indexed: true},
	{name: "promoteContractLocalPrice", class: classMoney, kind: kindAmount, indexed: true},
	{name: "promoteContractQuantity", class: classMoney, kind: kindCount, indexed: true},
	{name: "promoteContractLicenseKey", class: classSecret, indexed: true},
	{name: "promoteProductId", class: classMoney, indexed: true},
	{name: "promoteProductName", class: classNaming, indexed: true},
	{name: "promoteSubscriptionId", class: classMoney, indexed: true},
	{name: "additionalChargeAmount", class: classMoney, kind: kindAmount, indexed: true},
	{name: "additionalChargeCategory", class: classNaming, indexed: true},
	{name: "additionalChargeName", class: classNaming, indexed: true},
	{name: "amount", class: classMoney, kind: kindAmount, indexed: true},
	{name: "currency", class: classMoney, kind: kindCurrency, indexed: true},
	{name: "custom", class: classNaming, indexed: true},
}
