package ipn

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

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
	// critical names decide what an event is or what money it moves: told twice with different values, neither counts.
	critical bool
}

// nameTable holds every standard field name once: the list of specification section 6 and what else the sender is known
// to send. Names that carry the sender's brand (its data-centre fields) are settings and not here.
var nameTable = [...]nameRow{
	{}, // nameID 0: not a standard name

	// The IPN itself.
	{name: "transactionType", critical: true},
	{name: "transactionDate", kind: kindDate},
	{name: "testMode", kind: kindFlag},
	{name: "targetBalance"},
	{name: "authKey"},
	{name: "ipnId"},
	{name: "ipnV2", kind: kindFlag},
	{name: "resultCode"},
	{name: "vendorId"},
	{name: "vendorName"},

	// The shopper.
	{name: "accountId"},
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
	{name: "subscriptionId"},
	{name: "offlineOrderId"},
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
	{name: "untilDate", kind: kindDate},
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
	{name: "failureReason"},
	{name: "reversalAmount", kind: kindAmount, critical: true},
	{name: "reversalReason"},
	{name: "reversalRefNum", critical: true},
	{name: "fullRefund", kind: kindFlag},
	{name: "cbStatus"},
	{name: "cancelReason"},
	{name: "cancelledContractId"},

	// A change of plan.
	{name: "oldContractId"},
	{name: "oldContractName"},
	{name: "oldProductId"},
	{name: "oldProductName"},
	{name: "newContractId"},
	{name: "newContractName"},
	{name: "newProductId"},
	{name: "newProductName"},

	// News of a stored card or bank account.
	{name: "accountUpdaterLineId"},
	{name: "accountType"},
	{name: "linkedSubscriptions"},
	{name: "responseDate", kind: kindLooseDate},
	{name: "responseMessage"},
	{name: "originalCreditCardExpirationMonth", kind: kindCount},
	{name: "originalCreditCardExpirationYear", kind: kindCount},
	{name: "originalCreditCardLast4Digits"},
	{name: "updatedCreditCardExpirationMonth", kind: kindCount},
	{name: "updatedCreditCardExpirationYear", kind: kindCount},
	{name: "updatedCreditCardLast4Digits"},
	{name: "updatedCreditCardType"},
	{name: "originalPublicAccountNumber"},
	{name: "originalPublicRoutingNumber"},
	{name: "updatedPublicRoutingNumber"},

	// Payouts, vendors, partners.
	{name: "payoutId"},
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

// nameID is a row of nameTable; 0 is no standard name.
type nameID uint8

// mustName returns the id of a plain standard name. It panics for any other, so that a misspelling in this package
// cannot survive its first start.
func mustName(name string) nameID {
	id := plainNames.find(name)
	if id == 0 {
		panic("ipn: no standard field name: " + name)
	}
	return id
}

// lookupName finds a standard name, plain or indexed, without letter case; 0 for any other name. It does not allocate.
func lookupName(name string) nameID {
	if id := plainNames.find(name); id != 0 {
		return id
	}
	if name == "" || !endsIndexed(name[len(name)-1]) {
		return 0
	}
	base, index := cutIndex(name)
	if index == "" {
		return 0
	}
	return indexedNames.find(base)
}

func endsIndexed(last byte) bool { return '0' <= last && last <= '9' || last == ']' || last == '}' }

// cutIndex cuts an indexed name into its base and the digits of its index: name0, name[0] and name{0}. The index is
// empty when there is none.
func cutIndex(name string) (base, index string) {
	end := len(name)
	open := byte(0)
	switch {
	case strings.HasSuffix(name, "]"):
		end, open = end-1, '['
	case strings.HasSuffix(name, "}"):
		end, open = end-1, '{'
	}
	start := end
	for start > 0 && '0' <= name[start-1] && name[start-1] <= '9' {
		start--
	}
	base, index = name[:start], name[start:end]
	if open == 0 {
		return base, index
	}
	if start == 0 || name[start-1] != open {
		return name, ""
	}
	return name[:start-1], index
}

// nameSet is a hash table from names to their rows. A map would need the name in one letter case, hence a copy of each
// of the hundred names of a body; this one folds while it hashes eight bytes at a time.
type nameSet [1 << nameSetBits]nameID

const nameSetBits = 10 // four times the rows: most names are found at the first slot

var (
	plainNames   = newNameSet(false)
	indexedNames = newNameSet(true)
)

func newNameSet(indexed bool) *nameSet {
	set := new(nameSet)
	for id := 1; id < len(nameTable); id++ {
		if nameTable[id].indexed != indexed {
			continue
		}
		slot := hashName(nameTable[id].name)
		for set[slot] != 0 {
			slot = (slot + 1) % uint32(len(set))
		}
		set[slot] = nameID(id)
	}
	return set
}

func (s *nameSet) find(name string) nameID {
	for slot := hashName(name); s[slot] != 0; slot = (slot + 1) % uint32(len(s)) {
		if known := nameTable[s[slot]].name; known == name || sameName(known, name) {
			return s[slot]
		}
	}
	return 0
}

// hashName mixes length, first and last eight bytes, without letter case, into a slot of a nameSet. Who sends many
// names of one slot on purpose gains little: only standard names are ever compared.
func hashName(name string) uint32 {
	const (
		lower = 0x2020202020202020
		mixA  = 0x9e3779b97f4a7c15
		mixB  = 0xd6e8feb86659fd93
	)
	var head, tail uint64
	if len(name) >= 8 {
		head = binary.LittleEndian.Uint64([]byte(name[:8]))
		tail = binary.LittleEndian.Uint64([]byte(name[len(name)-8:]))
	} else {
		for i := range len(name) {
			head = head<<8 | uint64(name[i])
		}
	}
	mixed := ((head|lower)*mixA ^ bits.RotateLeft64(tail|lower, 31) ^ uint64(len(name))) * mixB
	return uint32(mixed >> (64 - nameSetBits))
}

// nameIndex tells where in the fields each plain standard name first stands with a value. The zero index is empty.
type nameIndex struct {
	first        [len(nameTable)]uint16 // position + 1
	contradicted [(len(nameTable) + 63) / 64]uint64
}

// maxIndexed is the last position an index can name.
const maxIndexed = 1<<16 - 2

// at returns the position of the first value, or -1 when there is none or it is contradicted.
func (x *nameIndex) at(id nameID) int {
	if x.contradicted[id/64]>>(id%64)&1 == 1 {
		return -1
	}
	return int(x.first[id]) - 1
}

func (x *nameIndex) contradict(id nameID) { x.contradicted[id/64] |= 1 << (id % 64) }
