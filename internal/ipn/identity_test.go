package ipn_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

var scope = ipn.Scope{Endpoint: "/ipn", NodeFields: []string{"dataCentreNode", "oldNode"}}

func identify(body string) ipn.Identity { return scope.Identify(decode(body)) }

// TestIdentity says of pairs of bodies whether they tell one event or two.
func TestIdentity(t *testing.T) {
	const day, later = "&transactionDate=05%2F15%2F2023+01%3A02+PM", "&transactionDate=05%2F16%2F2023+01%3A02+PM"
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"a refund has the reference of its charge", "CHARGE&referenceNumber=1", "REFUND&referenceNumber=1&reversalRefNum=1", false},
		{"a resend in another order", "CHARGE&referenceNumber=1&city=Porto", "CHARGE&city=Porto&referenceNumber=1", true},
		{"a resend in another encoding", "CHARGE&referenceNumber=71", "CHARGE&referenceNumber=%37%31", true},
		{"a resend in another letter case", "CHARGE&referenceNumber=1", "charge&REFERENCENUMBER=+1", true},
		{"a resend with another delivery id", "CHARGE&referenceNumber=1&ipnId=a", "CHARGE&referenceNumber=1&ipnId=b", true},
		{"a charge told with other content", "CHARGE&referenceNumber=1&city=Porto", "CHARGE&referenceNumber=1&city=Braga", true},
		{"two charges", "CHARGE&referenceNumber=1", "CHARGE&referenceNumber=2", false},
		{"a pending charge and the charge", "CHARGE_PENDING&referenceNumber=1", "CHARGE&referenceNumber=1", false},
		{"a pending refund and the refund", "PENDING_REFUND&referenceNumber=1&reversalRefNum=2", "REFUND&referenceNumber=1&reversalRefNum=2", false},
		{"two partial refunds", "REFUND&referenceNumber=1&reversalRefNum=2", "REFUND&referenceNumber=1&reversalRefNum=3", false},
		{"a refund resent with another text", "REFUND&referenceNumber=1&reversalRefNum=2&reversalReason=a", "REFUND&referenceNumber=1&reversalRefNum=2&reversalReason=b", true},
		{"two partial refunds without numbers", "REFUND&referenceNumber=1&reversalAmount=2" + day, "REFUND&referenceNumber=1&reversalAmount=3" + day, false},
		{"a refund without number, its amount written otherwise", "REFUND&referenceNumber=1&reversalAmount=-1,002.00" + day, "REFUND&referenceNumber=1&reversalAmount=1002" + day, true},
		{"cancelled, reactivated, cancelled again", "CANCELLATION&subscriptionId=1" + day, "CANCELLATION&subscriptionId=1" + later, false},
		{"cancelled once, told twice", "CANCELLATION&subscriptionId=1&city=Porto" + day, "CANCELLATION&subscriptionId=1&city=Braga" + day, true},
		{"cancelled under one charge", "CANCELLATION&subscriptionId=1&referenceNumber=9" + day, "CANCELLATION&subscriptionId=2&referenceNumber=9" + day, false},
		{"a dispute's status returns", "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=WORKING" + day, "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=WORKING" + later, false},
		{"a dispute's status changes within a minute", "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=NEW" + day, "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=WORKING" + day, false},
		{"a dispute's status in another letter case", "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=NEW" + day, "CHARGEBACK_STATUS_CHANGED&reversalRefNum=1&cbStatus=New" + day, true},
		{"a test order and a live one under one number", "CHARGE&referenceNumber=1&testMode=Y", "CHARGE&referenceNumber=1&testMode=N", false},
		{"a live order that says so and one that says nothing", "CHARGE&referenceNumber=1&testMode=N", "CHARGE&referenceNumber=1", true},
		{"two changes of plan under one charge", "CONTRACT_CHANGE&subscriptionId=1&oldContractId=1&newContractId=2" + day, "CONTRACT_CHANGE&subscriptionId=1&oldContractId=2&newContractId=1" + day, false},
		{"two reasons of one failed cycle", "SUBSCRIPTION_CHARGE_FAILURE&subscriptionId=1&failureReason=a" + day, "SUBSCRIPTION_CHARGE_FAILURE&subscriptionId=1&failureReason=b" + day, false},
		{"two reminders of one cycle", "SUBSCRIPTION_REMINDER&subscriptionId=1&untilDate=a" + day, "SUBSCRIPTION_REMINDER&subscriptionId=1&untilDate=b" + day, false},
		{"two lines of the account updater", "ACCOUNT_UPDATER&accountUpdaterLineId=1", "ACCOUNT_UPDATER&accountUpdaterLineId=2", false},
		{"one line of the account updater", "ACCOUNT_UPDATER&accountUpdaterLineId=1&responseDate=a", "ACCOUNT_UPDATER&accountUpdaterLineId=1&responseDate=b", true},
		{"a bank corrects two accounts", "ACH_NOTIFICATION_OF_CHANGE&accountId=1&responseDate=a&originalPublicAccountNumber=1", "ACH_NOTIFICATION_OF_CHANGE&accountId=1&responseDate=a&originalPublicAccountNumber=2", false},
		{"a card of two subscriptions", "CC_STATUS_CHANGED&accountId=1&subscriptionId=1" + day, "CC_STATUS_CHANGED&accountId=1&subscriptionId=2" + day, false},
		{"one payout", "PAYOUT&payoutId=1&amount[0]=1", "PAYOUT&payoutId=1&amount[0]=2", true},
		{"payouts without id", "PAYOUT&amount[0]=1", "PAYOUT&amount[0]=2", false},
		{"an empty reference does not merge events", "CHARGE&referenceNumber=&city=Porto", "CHARGE&referenceNumber=&city=Braga", false},
		{"nor does a contradicted one", "CHARGE&referenceNumber=1&referenceNumber=2", "CHARGE&referenceNumber=1&referenceNumber=3", false},
		{"nor a misspelled one", "CHARGE&+referenceNumber=1", "CHARGE&+referenceNumber=2", false},
		{"by content: other delivery and order", "VENDOR_STATUS_CHANGED&a=1&b=2&ipnId=1", "VENDOR_STATUS_CHANGED&IPNID=2&b=2&a=1", true},
		{"by content: other content", "VENDOR_STATUS_CHANGED&a=1", "VENDOR_STATUS_CHANGED&a=2", false},
		{"by content: values moved between names", "VENDOR_STATUS_CHANGED&a=1&b=2", "VENDOR_STATUS_CHANGED&a=2&b=1", false},
		{"by content: names and values run together", "TOMORROW&ab=c", "TOMORROW&a=bc", false},
		{"parts run together", "CANCELLATION_REFUND&referenceNumber=12&reversalRefNum=3", "CANCELLATION_REFUND&referenceNumber=1&reversalRefNum=23", false},
		{"two unknown types", "TOMORROW&a=1", "YESTERDAY&a=1", false},
		{"one type, two spellings of its name", "PAYMENT_UPDATED_FAILURE&accountId=1" + day, "PAYMENT_UPDATE_FAILURE&accountId=1" + day, true},
		{"two nodes", "CHARGE&referenceNumber=1&dataCentreNode=1", "CHARGE&referenceNumber=1&dataCentreNode=99", false},
		{"the first node field that is not empty counts", "CHARGE&referenceNumber=1&dataCentreNode=&oldNode=99", "CHARGE&referenceNumber=1&dataCentreNode=99&oldNode=1", true},
		{"a 24 kB reference (S-43)", "CHARGE&referenceNumber=" + strings.Repeat("7", 24_000), "CHARGE&referenceNumber=" + strings.Repeat("7", 23_999), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := identify("transactionType="+tt.a), identify("transactionType="+tt.b)
			if (a == b) != tt.same {
				t.Errorf("identities are equal: %t, want %t", a == b, tt.same)
			}
		})
	}
}

func TestEndpointsKeepTheirEventsApart(t *testing.T) {
	e := decode("transactionType=CHARGE&referenceNumber=1")
	if (ipn.Scope{Endpoint: "/ipn"}).Identify(e) == (ipn.Scope{Endpoint: "/ipn/second"}).Identify(e) {
		t.Error("two endpoints, one identity")
	}
}

// TestStoredIdentitiesStayWhatTheyWere holds the key's layout: a change of it would make every resend of an event
// stored before the change a new event.
func TestStoredIdentitiesStayWhatTheyWere(t *testing.T) {
	e := decode(sample(t, "refund"))
	if got, want := scope.Identify(e).String(), "f5625da327d161de520bf14c5ff1a49a12ad419a2b9c035fc152e92dc236753f"; got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
	if got, want := e.ContentDigest().String(), "fb0181ef0e5a002c5f27672f05c1622523579c614c3aa8f2a3e8cdb273b48afd"; got != want {
		t.Errorf("content digest %s, want %s", got, want)
	}
	if got, want := ipn.DigestOf([]byte("abc")).String(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestAnyOrderOfFieldsIsTheSameEventWithTheSameContent(t *testing.T) {
	var genuine []ipn.Fields
	for _, name := range sampleNames(t) {
		genuine = append(genuine, decode(sample(t, name)).Fields)
	}
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t)
		if rapid.Bool().Draw(t, "genuine") {
			fields = append(fields, rapid.SampledFrom(genuine).Draw(t, "sample")...)
		}
		a := decode(string(ipn.Encode(fields)))
		b := decode(string(ipn.Encode(rapid.Permutation(fields).Draw(t, "order"))))
		if a.ContentDigest() != b.ContentDigest() {
			t.Fatal("the order of fields changed the content digest")
		}
		if scope.Identify(a) != scope.Identify(b) {
			t.Fatal("the order of fields changed the identity")
		}
	})
}

// TestEveryPairCountsInTheContent takes one pair away.
func TestEveryPairCountsInTheContent(t *testing.T) {
	fields := decode(sample(t, "charge")).Fields
	whole := decode(string(ipn.Encode(fields))).ContentDigest()
	for i := range fields {
		less := slices.Delete(slices.Clone(fields), i, i+1)
		same := decode(string(ipn.Encode(less))).ContentDigest() == whole
		if same != (fields[i].Name == "ipnId") {
			t.Errorf("without %s the content is the same: %t", fields[i].Name, same)
		}
	}
}
