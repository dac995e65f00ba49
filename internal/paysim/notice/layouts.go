package notice

import (
	"slices"
	"strings"
)

// layout is the field names of a type, in the order of the body. A name may stand twice.
type layout []string

// What stands in a layout for fields that are not the same in each notice.
const (
	nodePlace    = "<node>"    // the field that tells the data centre, whose name is a setting
	customPlace  = "<custom>"  // fields whose names the merchant has made up
	chargesPlace = "<charges>" // charges beside the contract's, by number
	itemsPlace   = "<items>"   // further contracts of the order, by number
)

// names makes a layout of parts that are written as words.
func names(parts ...string) layout { return strings.Fields(strings.Join(parts, " ")) }

func (l layout) with(parts ...string) layout { return slices.Concat(l, names(parts...)) }

func (l layout) without(parts ...string) layout {
	gone := names(parts...)
	return slices.DeleteFunc(slices.Clone(l), func(name string) bool { return slices.Contains(gone, name) })
}

// alphabetical is the order in which some types send their fields.
func (l layout) alphabetical() layout {
	return slices.SortedFunc(slices.Values(l), func(a, b string) int { return strings.Compare(sortedAs(a), sortedAs(b)) })
}

func sortedAs(name string) string { return strings.ToLower(strings.Trim(name, "<>")) }

// The parts that most types are made of.
const (
	whoBuys = `accountId title firstName lastName company address1 address2 city state zipCode country email workPhone extension
		mobilePhone homePhone faxNumber username personalId brazilianId`
	whoIsBilled = `invoiceTitle invoiceFirstName invoiceLastName invoiceCompany invoiceAddress1 invoiceAddress2 invoiceCity
		invoiceState invoiceZipCode invoiceCountry invoiceEmail invoiceWorkPhone invoiceExtension invoiceMobilePhone
		invoiceFaxNumber`
	whereToShip = `shippingFirstName shippingLastName shippingAddress1 shippingAddress2 shippingCity shippingState
		shippingZipCode shippingCountry shippingMethod`
	whatHappened = `transactionType transactionDate untilDate referenceNumber merchantTransactionId testMode language templateId
		referrer remoteAddress targetBalance ` + nodePlace + ` authKey`
	whatWasBought = `productId productName contractId contractName contractOwner quantity addCD licenseKey couponCode`
	forHowMuch    = `currency invoiceAmount invoiceAmountUSD invoiceChargeAmount invoiceChargeCurrency taxAmountUSD
		taxChargeAmount taxRate vatId`
	byWhatMeans = `paymentMethod paymentType creditCardType cardSubType cardCategory creditCardLastFourDigits creditCardExpDate
		dpanLastFourDigits dpanExpDate binCategory regulatedCard`
	pagesAndVendor = `invoiceInfoURL shopperOrderUrl vendorId vendorName`

	warranty    = `EDWPeriod EDWSurcharge EDWAmountUSD EDWContractId EDWSurchargeUSD EDWAmount`
	checks      = `cvvSent avsSent cvvResponse avsResponse`
	unitPrices  = `contractPrice contractChargePrice contractLocalPrice invoiceLocalAmount invoiceLocalCurrency`
	issuer      = `cardIssuingOrg cardIssuingCountry binNumber`
	mandate     = `sepaMandateId sepaMandateDate sepaIban`
	reversal    = `reversalAmount reversalReason reversalRefNum fullRefund`
	planChange  = `oldContractId oldContractName oldProductId oldProductName newContractId newContractName newProductId newProductName`
	bankAccount = `bankAccountName bankAccountBranch bankAccountBsbNumber bankAccountFinancialInstitution bankAccountNumber`
)

// The layouts. Those of CHARGE, CANCELLATION, CONTRACT_CHANGE, ACCOUNT_UPDATER and ACH_NOTIFICATION_OF_CHANGE hold every
// name that was seen or documented; of the others the common names and their own are known, but not the order.
var (
	order    = names(whoBuys, whoIsBilled, whereToShip, whatHappened, whatWasBought, forHowMuch, byWhatMeans, pagesAndVendor)
	nameless = order.without("accountId")
	charge   = order.with(unitPrices, "invoiceURL originalRequestUrl shopperAdminUrl recurringDisclaimer", warranty, checks,
		issuer, "3DStatus promoteContractsNum", mandate, "ipnV2", itemsPlace, chargesPlace, customPlace, "ipnId")
	disputed  = order.with("reversalReason reversalRefNum cbStatus", chargesPlace, "ipnId")
	ending    = order.with("cancelReason cancelledContractId originalRefNum subscriptionId overridePrice promoteContractsNum", mandate)
	cancelled = ending.with("shippingMethod ipnId") // shippingMethod for the second time
	moved     = order.with("subscriptionId originalRefNum originalInvoiceId resultCode", planChange,
		"overridePrice contractPrice contractChargePrice invoiceURL shopperAdminUrl", issuer, chargesPlace, "ipnId")

	// renewed is an older and smaller block of names; it has no ipnId.
	renewed = order.without("personalId brazilianId cardSubType cardCategory dpanLastFourDigits dpanExpDate binCategory",
		"regulatedCard shopperOrderUrl vendorId vendorName").with(
		"originalReferenceNumber subscriptionId custom1 custom2 custom3", customPlace)
	authorized = order.without("accountId addCD brazilianId cardSubType currency homePhone mobilePhone invoiceAmount",
		"invoiceInfoURL invoiceMobilePhone merchantTransactionId paymentType").with(unitPrices,
		"armadilloHardwareId coupon couponValue couponChargeValue custom1 invoiceUrl offlineOrderId originalRequestUrl",
		"paypalSubscriptionId paypalTransactionId subscriptionId").alphabetical()
	authorizedOnce = order.without("addCD authKey brazilianId cardCategory cardSubType contractId contractName contractOwner",
		"couponCode currency extension faxNumber homePhone mobilePhone invoiceAmount invoiceExtension invoiceFaxNumber",
		"invoiceInfoURL invoiceMobilePhone invoiceTitle licenseKey").with(
		"invoiceLocalAmount invoiceLocalCurrency invoiceUrl offlineOrderId originalRequestUrl").alphabetical()

	stored = names(whoBuys, whoIsBilled, "transactionType transactionDate testMode language", nodePlace, "authKey",
		byWhatMeans, "subscriptionId vendorId vendorName")
	cardNews = names("accountId accountUpdaterLineId authkey", nodePlace, "creditCardType linkedSubscriptions",
		"originalCreditCardExpirationMonth originalCreditCardExpirationYear originalCreditCardLast4Digits responseDate",
		"responseMessage sellerShopperId transactionType updatedCreditCardExpirationMonth updatedCreditCardExpirationYear",
		"updatedCreditCardLast4Digits updatedCreditCardType")
	accountNews = names("accountId accountType authkey", nodePlace, "linkedSubscriptions originalPublicAccountNumber",
		"originalPublicRoutingNumber responseDate responseMessage sellerShopperId transactionType updatedPublicRoutingNumber")

	vendor   = names("transactionType transactionDate vendorId vendorName", nodePlace, "authKey")
	merchant = names("transactionType merchantId sandboxId payoutStatus accountCanProcess merchantName merchantEmail")
)
