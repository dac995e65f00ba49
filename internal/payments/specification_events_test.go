package payments_test

import (
	"slices"
	"strings"
)

// An event is a statement about IPNs, which other rooms prove.
type event struct {
	id, says string
	where    string // in our code
	tests    string // names of tests, parted by commas
}

// events are the statements of section 6.
var events = []event{
	{"6-delivery", "Each IPN is an HTTP POST to ipnUrl, as soon as its event is complete.", "delivery.Sender.Send, receiver.Receiver.Handler", "TestANoticeIsPostedAsAFormAndSigned, TestASampleOfEveryTypeIsKept"},
	{"6-flag", "A type is delivered only if its flag is true.", "paysim.Service.Emit, ipn.Flags", "TestSpecificationSection2, TestEveryFlagOfTheSpecificationSwitchesOnOneType"},
	{"6-body", "The body is URL-encoded pairs of name and value, parted by ampersands.", "ipn.Decoder.Decode, notice.Notice.Encode", "TestABodyIsReadPairByPair, TestABodyIsEncodedAsJavaDoes, TestTheReceiverEncodesTheSame"},
	{"6-details", "An IPN carries price, product, address, method of payment and shopper.", "ipn.Facts, ipn.Details", "TestFactsAreReadFromTheirFieldsAndTheFieldsOlderNames, TestDetailsDropNothing, TestTheReceiverReadsEverySample"},
	{"6-names", "The field names that the specification lists are known; any other is kept.", "ipn.Field", "TestEveryDocumentedNameIsAStandardName, TestDetailsKeepMalformedAndRepeatedValuesAmongTheLeftOver"},
	{"6-custom", "Fields that the merchant named, such as Color, come with the rest.", "ipn.Field", "TestAlmostStandardNamesAreNot, TestEveryFieldIsInTheObjectOnce"},
	{"6-transactionType", "CHARGE and CANCELLATION are observed types; left open: the full list. The table holds 36, and an unknown one is an event too.", "ipn.Types, notice.Types", "TestTheTableHolds36TypesAndTwoLegacyOnesOnceEach, TestAnUnknownTypeCountsAsOther, TestTheReceiverHasTheSameTypesAndFlags"},
	{"6-dates", "Dates are MM/DD/YYYY HH:MM AM/PM; left open: their zone, a setting that is the Pacific coast's.", "ipn.Decoder.Zone, notice.Date", "TestDatesAreInstantsByPacificClocks, TestDatesFollowTheGivenZone, TestDatesAreThoseOfThePacificCoast"},
	{"6-amounts", "Amounts are decimals with two places.", "ipn.ParseMoney", "TestAmountsAreReadByAStrictGrammar, TestAnAcceptedAmountIsCanonicalAndExact"},
	{"6-kinds", "There is a flag for each kind of event.", "ipn.Flags, payments.NotificationFlags", "TestTheFlagsAreThoseOfTheTypeTable, TestEveryTypeHasASample"},
	{"6-open-retries", "Left open: retries and acknowledgement. 200 acknowledges, after the event is durable; anything else comes again, up to 11 times.", "delivery.Sender, receiver.Receiver", "TestNothingButA200Acknowledges, TestADeliveryIsTriedElevenTimesFourHoursApartAndGivenUp, TestSixtyFourPostsOfOneBodyAreOneEvent"},
	{"6-open-genuine", "Left open: how a delivery is verified. By HMAC-SHA256 over timestamp and body, with senders and the older key beside it.", "ipn.Signature.Verify, notice.Sign", "TestSignaturesAreVerified, TestUnderEnforcementOnlyAGoodSignatureIsBelieved, TestASignatureIsTheDocumentedOne"},
}

// sortByID puts statements that were made from a map in order.
func sortByID(statements []statement) {
	slices.SortFunc(statements, func(a, b statement) int { return strings.Compare(a.id, b.id) })
}
