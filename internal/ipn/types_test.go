package ipn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// specifiedFlags are the send flags of specification section 2.8, in its order.
const specifiedFlags = "sendAuthOnly, sendCancellation, sendCancelOnRenewal, sendCharge, sendChargeback, " +
	"sendChargebackStatusChanged, sendContractChange, sendCancellationRefund, sendFailedPayoutTransfer, " +
	"sendSubscriptionReminder, sendDecline, sendRefund, sendRecurring, sendCcFailure, sendSubCcFailure, " +
	"sendUnderVendorReview, sendPaymentUpdate, sendPaymentUpdateFailure, sendAccountUpdater, sendPayout, " +
	"sendVendorStatusChanged, sendFraudDecline, sendChargePending, sendShopperDeleted, sendVendorReportAvailable, " +
	"sendMerchantOnboarded, sendOfflineOrder, sendCcStatusChanged"

func TestEveryFlagOfTheSpecificationSwitchesOnOneType(t *testing.T) {
	want := strings.Split(specifiedFlags, ", ")
	if got := ipn.Flags(); !slices.Equal(got, want) {
		t.Errorf("flags\n got %q\nwant %q", got, want)
	}
}

func TestTheTableHolds36TypesAndTwoLegacyOnesOnceEach(t *testing.T) {
	seen := make(map[string]bool)
	flags := make(map[string]string)
	current, flagless := 0, 0
	for _, row := range ipn.Types() {
		if !row.Legacy {
			current++
			if row.Flag == "" {
				flagless++
			}
		}
		for _, name := range append(row.Aliases, row.Name) {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
			if name != strings.ToUpper(name) {
				t.Errorf("%s is not in upper case", name)
			}
		}
		if other := flags[row.Flag]; row.Flag != "" && other != "" {
			t.Errorf("%s switches on %s and %s", row.Flag, other, row.Name)
		}
		flags[row.Flag] = row.Name
	}
	if legacy := len(ipn.Types()) - current; current != 36 || flagless != 8 || legacy != 2 {
		t.Errorf("%d types, %d without a flag, and %d legacy ones; want 36, 8 and 2", current, flagless, legacy)
	}
}

func TestATypeIsFoundByNameAliasAndAnyLetterCase(t *testing.T) {
	for sent, want := range map[string]string{
		"CHARGE":                 "CHARGE",
		"charge":                 "CHARGE",
		" Refund\n":              "REFUND",
		"PAYMENT_UPDATE_FAILURE": "PAYMENT_UPDATED_FAILURE",
		"vaulted_shopper":        "SHOPPER_DELETED",
		"CANCEL":                 "CANCEL",
		"CC_FAILURE":             "",
		"PAYMENT_UPDATE":         "",
		"":                       "",
		"CHARGE REFUND":          "",
		strings.Repeat("A", 1e6): "",
	} {
		row, known := ipn.LookupType(sent)
		if row.Name != want || known != (want != "") {
			t.Errorf("%.40q is %q (known: %t), want %q", sent, row.Name, known, want)
		}
	}
}

func TestAnUnknownTypeCountsAsOther(t *testing.T) {
	var unknown ipn.Type
	if got := unknown.Label(); got != "other" {
		t.Errorf("label %q", got)
	}
	if charge, _ := ipn.LookupType("charge"); charge.Label() != "CHARGE" {
		t.Errorf("label %q", charge.Label())
	}
}

func TestMoneyMovesOnlyWithChargesAndReversals(t *testing.T) {
	want := map[string]ipn.Sign{
		"CHARGE": ipn.In, "RECURRING": ipn.In,
		"REFUND": ipn.Out, "CANCELLATION_REFUND": ipn.Out,
		"CHARGEBACK": ipn.Out, "RDR": ipn.Out, "CANCELLATION_CHARGEBACK": ipn.Out,
	}
	for _, row := range ipn.Types() {
		if row.Sign != want[row.Name] {
			t.Errorf("%s has sign %d, want %d", row.Name, row.Sign, want[row.Name])
		}
	}
}

func TestACallerCannotChangeTheTable(t *testing.T) {
	types := ipn.Types()
	for i := range types {
		types[i].Name = "FORGED"
		for j := range types[i].Aliases {
			types[i].Aliases[j] = "FORGED"
		}
	}
	for _, row := range ipn.Types() {
		if row.Name == "FORGED" || slices.Contains(row.Aliases, "FORGED") {
			t.Fatal("the table was changed")
		}
	}
}
