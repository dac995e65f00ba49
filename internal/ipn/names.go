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
	{name: "transactionType", critical: true},
	{name: "transactionDate", kind: kindDate, critical: true},
	{name: "testMode", kind: kindFlag, critical: true},
	{name: "targetBalance"},
	{name: "authKey"},
	{name: "ipnId"},
	{name: "ipnV2", kind: kindFlag},
	{name: "resultCode"},
	{name: "vendorId"},
	{name: "vendorName"},

	// The shopper.
	{name: "accountId", critical: true},
	{name: "sellerShopperId"},
	{name: "title"},
	{name: "firstName"},
	{name: "lastName"},
	{name: "company"},
	{name: "address1"},
	{name: "address2"},
	{name: "city"},
	{name: "state"},
	{name: "zipCode"},
	{name: "country", kind: kindCountry},
	{name: "email"},
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
	{name: "invoiceFirstName"},
	{name: "invoiceLastName"},
	{name: "invoiceCompany"},
	{name: "invoiceAddress1"},
	{name: "invoiceAddress2"},
	{name: "invoiceCity"},
	{name: "invoiceState"},
	{name: "invoiceZipCode"},
	{name: "invoiceCountry", kind: kindCountry},
	{name: "invoiceEmail"},
	{name: "invoiceWorkPhone"},
	{name: "invoiceExtension"},
	{name: "invoiceMobilePhone"},
	{name: "invoiceFaxNumber"},

	// The delivery.
	{name: "shippingFirstName"},
	{name: "shippingLastName"},
	{name: "shippingAddress1"},
	{name: "shippingAddress2"},
	{name: "shippingCity"},
	{name: "shippingState"},
	{name: "shippingZipCode"},
	{name: "shippingCountry", kind: kindCountry},
	{name: "shippingMethod"},

	// References.
	{name: "referenceNumber", critical: true},
	{name: "merchantTransactionId"},
	{name: "originalReferenceNumber"},
	{name: "originalRefNum"},
	{name: "originalInvoiceId"},
	{name: "invoiceId"},
	{name: "captureReferenceNumber"},
	{name: "subscriptionId", critical: true},
	{name: "offlineOrderId", critical: true},
	{name: "paypalSubscriptionId"},
	{name: "paypalTransactionId"},

	// What was ordered.
	{name: "productId"},
	{name: "productName"},
	{name: "contractId"},
	{name: "contractName"},
	{name: "contractOwner"},
	{name: "contractPrice", kind: kindAmount, critical: true},
	{name: "contractChargePrice", kind: kindAmount, critical: true},
	{name: "contractLocalPrice", kind: kindAmount, critical: true},
	{name: "overridePrice", kind: kindAmount, critical: true},
	{name: "quantity", kind: kindCount},
	{name: "untilDate", kind: kindDate, critical: true},
	{name: "recurringDisclaimer", kind: kindFlag},
	{name: "licenseKey"},
	{name: "armadilloHardwareId"},
	{name: "addCD", kind: kindFlag},
	{name: "coupon", kind: kindFlag},
	{name: "couponCode"},
	{name: "couponValue", kind: kindAmount, critical: true},
	{name: "couponChargeValue", kind: kindAmount, critical: true},
	{name: "promoteContractsNum", kind: kindCount},

	// The download warranty, obsolete and mostly empty.
	{name: "EDWPeriod"},
	{name: "EDWContractId"},
	{name: "EDWAmount", kind: kindAmount, critical: true},
	{name: "EDWAmountUSD", kind: kindAmount, critical: true},
	{name: "EDWSurcharge", kind: kindAmount, critical: true},
	{name: "EDWSurchargeUSD", kind: kindAmount, critical: true},

	// Money.
	{name: "currency", kind: kindCurrency, critical: true},
	{name: "invoiceAmount", kind: kindAmount, critical: true},
	{name: "invoiceAmountUSD", kind: kindAmount, critical: true},
	{name: "invoiceChargeAmount", kind: kindAmount, critical: true},
	{name: "invoiceChargeCurrency", kind: kindCurrency, critical: true},
	{name: "invoiceLocalAmount", kind: kindAmount, critical: true},
	{name: "invoiceLocalCurrency", kind: kindCurrency, critical: true},
	{name: "amount", kind: kindAmount, critical: true},
	{name: "taxAmountUSD", kind: kindAmount, critical: true},
	{name: "taxChargeAmount", kind: kindAmount, critical: true},
	{name: "taxRate"},
	{name: "vatId"},

	// The means of payment.
	{name: "paymentMethod"},
	{name: "paymentType"},
	{name: "creditCardType"},
	{name: "cardSubType"},
	{name: "cardCategory"},
	{name: "creditCardLastFourDigits"},
	{name: "creditCardExpDate", kind: kindExpiry},
	{name: "dpanLastFourDigits"},
	{name: "dpanExpDate", kind: kindExpiry},
	{name: "binCategory"},
	{name: "binNumber"},
	{name: "regulatedCard", kind: kindFlag},
	{name: "cardIssuingOrg"},
	{name: "cardIssuingCountry", kind: kindCountry},
	{name: "cvvSent", kind: kindFlag},
	{name: "avsSent", kind: kindFlag},
	{name: "cvvResponse"},
	{name: "avsResponse"},
	{name: "3DStatus"},
	{name: "sepaMandateId"},
	{name: "sepaMandateDate", kind: kindLooseDate},
	{name: "sepaIban"},

	// The visit to the checkout.
	{name: "language"},
	{name: "templateId"},
	{name: "referrer"},
	{name: "remoteAddress"},
	{name: "invoiceInfoURL"},
	{name: "invoiceURL"},
	{name: "shopperOrderUrl"},
	{name: "shopperAdminUrl"},
	{name: "originalRequestUrl"},

	// Refusals and reversals.
	{name: "declineReason"},
	{name: "failureReason", critical: true},
	{name: "reversalAmount", kind: kindAmount, critical: true},
	{name: "reversalReason"},
	{name: "reversalRefNum", critical: true},
	{name: "fullRefund", kind: kindFlag},
	{name: "cbStatus", critical: true},
	{name: "cancelReason"},
	{name: "cancelledContractId"},

	// A change of plan.
	{name: "oldContractId", critical: true},
	{name: "oldContractName"},
	{name: "oldProductId"},
	{name: "oldProductName"},
	{name: "newContractId", critical: true},
	{name: "newContractName"},
	{name: "newProductId"},
	{name: "newProductName"},

	// News of a stored card or bank account.
	{name: "accountUpdaterLineId", critical: true},
	{name: "accountType"},
	{name: "linkedSubscriptions"},
	{name: "responseDate", kind: kindLooseDate, critical: true},
	{name: "responseMessage"},
	{name: "originalCreditCardExpirationMonth", kind: kindCount},
	{name: "originalCreditCardExpirationYear", kind: kindCount},
	{name: "originalCreditCardLast4Digits"},
	{name: "updatedCreditCardExpirationMonth", kind: kindCount},
	{name: "updatedCreditCardExpirationYear", kind: kindCount},
	{name: "updatedCreditCardLast4Digits"},
	{name: "updatedCreditCardType"},
	{name: "originalPublicAccountNumber", critical: true},
	{name: "originalPublicRoutingNumber", critical: true},
	{name: "updatedPublicRoutingNumber", critical: true},

	// Payouts, vendors, partners.
	{name: "payoutId", critical: true},
	{name: "bankAccountName"},
	{name: "bankAccountBranch"},
	{name: "bankAccountBsbNumber"},
	{name: "bankAccountFinancialInstitution"},
	{name: "bankAccountNumber"},
	{name: "merchantId"},
	{name: "sandboxId"},
	{name: "payoutStatus", kind: kindFlag},
	{name: "payout", kind: kindFlag},
	{name: "accountCanProcess"}, // Y, N, Yes, No or Pending
	{name: "merchantName"},
	{name: "merchantEmail"},

	// Indexed names.
	{name: "promoteContractId", indexed: true},
	{name: "promoteContractName", indexed: true},
	{name: "promoteContractOwner", indexed: true},
	{name: "promoteContractPrice", kind: kindAmount, indexed: true},
	{name: "promoteContractChargePrice", kind: kindAmount, indexed: true},
	{name: "promoteContractLocalPrice", kind: kindAmount, indexed: true},
	{name: "promoteContractQuantity", kind: kindCount, indexed: true},
	{name: "promoteContractLicenseKey", indexed: true},
	{name: "promoteProductId", indexed: true},
	{name: "promoteProductName", indexed: true},
	{name: "promoteSubscriptionId", indexed: true},
	{name: "additionalChargeAmount", kind: kindAmount, indexed: true},
	{name: "additionalChargeCategory", indexed: true},
	{name: "additionalChargeName", indexed: true},
	{name: "amount", kind: kindAmount, indexed: true},
	{name: "currency", kind: kindCurrency, indexed: true},
	{name: "custom", indexed: true},
}
