package ipn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// specifiedNames are the field names of specification section 6.
const specifiedNames = `invoiceCountry, invoiceZipCode, invoiceFirstName, invoiceLastName, invoiceFaxNumber, invoiceState,
invoiceAddress1, invoiceAddress2, invoiceEmail, invoiceCompany, invoiceCity, invoiceExtension, invoiceMobilePhone,
invoiceWorkPhone, invoiceTitle, firstName, lastName, country, zipCode, extension, address1, address2, city, homePhone, title,
accountId, mobilePhone, faxNumber, company, workPhone, state, email, username, shippingCity, shippingFirstName,
shippingLastName, shippingCountry, shippingZipCode, shippingMethod, shippingState, shippingAddress1, shippingAddress2,
overridePrice, invoiceAmount, invoiceAmountUSD, invoiceChargeAmount, invoiceChargeCurrency, invoiceLocalAmount,
invoiceLocalCurrency, language, creditCardType, cardSubType, cardCategory, creditCardExpDate, creditCardLastFourDigits,
templateId, productName, productId, contractOwner, contractId, contractName, contractPrice, contractChargePrice,
contractLocalPrice, referenceNumber, originalRefNum, currency, invoiceInfoURL, invoiceURL, shopperOrderUrl, shopperAdminUrl,
originalRequestUrl, remoteAddress, quantity, referrer, testMode, untilDate, paymentMethod, paymentType, recurringDisclaimer,
targetBalance, promoteContractsNum, EDWPeriod, EDWSurcharge, EDWAmountUSD, EDWContractId, EDWSurchargeUSD, EDWAmount, vatId,
taxAmountUSD, taxRate, taxChargeAmount, authKey, transactionType, transactionDate, couponCode, licenseKey, cvvSent, avsSent,
cvvResponse, avsResponse, cancelReason, cancelledContractId, subscriptionId, addCD, merchantTransactionId, vendorId,
vendorName`

// otherNames are sent beyond that list.
const otherNames = `personalId, brazilianId, dpanLastFourDigits, dpanExpDate, binCategory, regulatedCard, cardIssuingOrg,
cardIssuingCountry, binNumber, 3DStatus, sepaMandateId, sepaMandateDate, sepaIban, ipnV2, ipnId, captureReferenceNumber,
additionalChargeAmount[0], additionalChargeCategory[1], additionalChargeName[2], originalInvoiceId, resultCode,
oldContractId, oldContractName, oldProductId, oldProductName, newContractId, newContractName, newProductId, newProductName,
originalReferenceNumber, custom1, custom2, custom3, reversalAmount, reversalReason, reversalRefNum, fullRefund, cbStatus,
declineReason, failureReason, accountUpdaterLineId, linkedSubscriptions, originalCreditCardExpirationMonth,
originalCreditCardExpirationYear, originalCreditCardLast4Digits, responseDate, responseMessage, sellerShopperId,
updatedCreditCardExpirationMonth, updatedCreditCardExpirationYear, updatedCreditCardLast4Digits, updatedCreditCardType,
accountType, originalPublicAccountNumber, originalPublicRoutingNumber, updatedPublicRoutingNumber, merchantId, sandboxId,
payoutStatus, payout, accountCanProcess, merchantName, merchantEmail, armadilloHardwareId, coupon, couponValue,
couponChargeValue, offlineOrderId, paypalSubscriptionId, paypalTransactionId, promoteContractId0, promoteContractName0,
promoteContractOwner0, promoteContractPrice0, promoteContractChargePrice0, promoteContractLocalPrice0,
promoteContractQuantity0, promoteContractLicenseKey0, promoteProductId0, promoteProductName0, promoteSubscriptionId0,
bankAccountName, bankAccountBranch, bankAccountBsbNumber, bankAccountFinancialInstitution, bankAccountNumber, invoiceId,
payoutId, amount, amount[0]`

func TestEveryDocumentedNameIsAStandardName(t *testing.T) {
	for name := range strings.FieldsSeq(strings.ReplaceAll(specifiedNames+", "+otherNames, ",", " ")) {
		if ipn.KnownName(name) == "" {
			t.Errorf("%s is not in the table", name)
		}
	}
}

func TestAStandardNameStandsOnceAndIsFoundInAnyLetterCase(t *testing.T) {
	seen := make(map[ipn.NameRow]bool)
	for _, row := range ipn.NameRows() {
		key := ipn.NameRow{Name: strings.ToLower(row.Name), Indexed: row.Indexed}
		if seen[key] {
			t.Errorf("%s stands twice", row.Name)
		}
		seen[key] = true
		spellings := []string{row.Name}
		if row.Indexed {
			spellings = []string{row.Name + "0", row.Name + "17", row.Name + "[3]", row.Name + "{3}"}
		}
		for _, name := range spellings {
			for _, sent := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
				if got := ipn.KnownName(sent); got != row.Name {
					t.Errorf("%q is found as %q", sent, got)
				}
			}
		}
	}
}

func TestAlmostStandardNamesAreNot(t *testing.T) {
	for _, name := range []string{
		"", "0", "[0]", "]", "}", " firstName", "firstName ", "first Name", "firstNam\u0065\u0301", "firstName0",
		"promoteContractId", "promoteContractId[", "promoteContractId[]", "promoteContractId[x]", "promoteContractId0]",
		"promoteContractId[0", "promoteContractId[0}", "promoteContractIdN", "Color", "Main product", "custom", "a.b", "a[]",
		"\u017Ftate", "address\x11", // folds to state; differs from address1 by the bit that letter case is told by
	} {
		if got := ipn.KnownName(name); got != "" {
			t.Errorf("%q passes for %q", name, got)
		}
	}
}

func TestWhatTellsEventsApartAndMoneyIsCritical(t *testing.T) {
	keys := append(ipn.KeyNames(), "testMode") // a part of every key
	for _, row := range ipn.NameRows() {
		critical := slices.Contains(keys, row.Name) || row.Sample == "12.34" || row.Sample == "EUR"
		if !row.Indexed && row.Critical != critical {
			t.Errorf("%s is critical: %t, want %t", row.Name, row.Critical, critical)
		}
	}
}
