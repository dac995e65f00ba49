package notice_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var at = time.Date(2026, 11, 21, 18, 4, 0, 0, time.UTC)

func sample(transactionType string, seed uint64) notice.Notice {
	return notice.Sample(transactionType, seed, at, "")
}

// TestEverySampleIsItsGolden keeps the samples as they were looked at, a field on each line. Goldens are rewritten with -update
// and read in review.
func TestEverySampleIsItsGolden(t *testing.T) {
	for i, name := range notice.Types() {
		t.Run(name, func(t *testing.T) {
			got := bytes.ReplaceAll(append(sample(name, uint64(i)).Encode(), '\n'), []byte("&"), []byte("\n"))
			path := filepath.Join("testdata", strings.ToLower(name)+".golden")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s; see what -update changes", path)
			}
		})
	}
}

// ofReceiver are the types the receiver knows, without those that only older documents tell of.
func ofReceiver() []ipn.Type {
	return slices.DeleteFunc(ipn.Types(), func(row ipn.Type) bool { return row.Legacy })
}

func TestTheReceiverHasTheSameTypesAndFlags(t *testing.T) {
	rows := ofReceiver()
	if got := notice.Types(); len(got) != 36 || len(rows) != 36 {
		t.Fatalf("there are %d types here and %d there, want 36", len(got), len(rows))
	}
	var flags []string
	for i, name := range notice.Types() {
		if rows[i].Name != name || rows[i].Flag != notice.Flag(name) || !notice.Known(name) {
			t.Errorf("row %d: %s with %q here, %s with %q there", i, name, notice.Flag(name), rows[i].Name, rows[i].Flag)
		}
		if f := notice.Flag(name); f != "" {
			flags = append(flags, f)
		}
	}
	if !slices.Equal(flags, ipn.Flags()) {
		t.Errorf("the flags are %v", flags)
	}
	for _, name := range []string{"", "charge", "WALLET_REKEYED"} {
		if notice.Known(name) || notice.Flag(name) != "" {
			t.Errorf("%q is known", name)
		}
	}
}

// amountFields says where the money of a family stands in a body, and its currency.
var amountFields = map[ipn.Family][2]string{
	ipn.FamilyPayment:      {"invoiceChargeAmount", "invoiceChargeCurrency"},
	ipn.FamilySubscription: {"invoiceChargeAmount", "invoiceChargeCurrency"},
	ipn.FamilyOrder:        {"invoiceChargeAmount", "invoiceChargeCurrency"},
	ipn.FamilyDispute:      {"invoiceChargeAmount", "invoiceChargeCurrency"},
	ipn.FamilyRefund:       {"reversalAmount", "currency"},
}

// TestTheReceiverReadsEverySample is what the samples are for: two programs that were written apart agree on each type.
func TestTheReceiverReadsEverySample(t *testing.T) {
	for _, row := range ofReceiver() {
		t.Run(row.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := sample(row.Name, rapid.Uint64().Draw(t, "seed"))
				event := new(ipn.Decoder).Decode(n.Encode(), "application/x-www-form-urlencoded")
				if event.Type.Name != row.Name || len(event.Problems) > 0 {
					t.Fatalf("a %q with problems %v", event.Type.Name, event.Problems)
				}
				fields, ok := amountFields[row.Family]
				if !ok {
					return
				}
				amount := money.MustParse(strings.TrimPrefix(n.Get(fields[0]), "-"))
				if got := money.MustParse(event.Facts.Amount.String()); got != amount || event.Facts.Currency != n.Get(fields[1]) {
					t.Fatalf("it moves %v %s, want %v %s", got, event.Facts.Currency, amount, n.Get(fields[1]))
				}
				if amount%money.Step(event.Facts.Currency) != 0 {
					t.Fatalf("there is no %v %s", amount, event.Facts.Currency)
				}
			})
		})
	}
}

func TestADepositIsWrittenWithCommas(t *testing.T) {
	for seed := range uint64(40) {
		n := sample("PAYOUT", seed)
		event := new(ipn.Decoder).Decode(n.Encode(), "")
		whole, _, _ := strings.Cut(n.Get("amount[0]"), ".")
		if strings.Contains(whole, ",") != (len(whole) > 3) || strings.HasPrefix(whole, ",") || len(event.Facts.Deposits) != 1 {
			t.Errorf("%s: deposits %v", n.Get("amount[0]"), event.Facts.Deposits)
		}
	}
}

func TestTheTaxIsPartOfTheTotal(t *testing.T) {
	for seed := range uint64(100) {
		n := sample("CHARGE", seed)
		for _, names := range [][3]string{
			{"invoiceChargeAmount", "contractChargePrice", "taxChargeAmount"}, {"invoiceAmountUSD", "contractPrice", "taxAmountUSD"},
		} {
			total, unit, tax := money.MustParse(n.Get(names[0])), money.MustParse(n.Get(names[1])), money.MustParse(n.Get(names[2]))
			if pieces := money.MustParse(n.Get("quantity")) / money.Units(1); total != unit*pieces+tax {
				t.Errorf("seed %d: %v is not %d times %v and %v", seed, total, pieces, unit, tax)
			}
		}
		if n.Get("taxRate") == "" && n.Get("taxChargeAmount") != "0.00" {
			t.Errorf("seed %d: %s of tax at no rate", seed, n.Get("taxChargeAmount"))
		}
	}
}

func TestTheSamplesOfOneSeedTellOfOneSale(t *testing.T) {
	same := []string{"accountId", "lastName", "email", "contractId", "invoiceChargeCurrency", "creditCardLastFourDigits", "referenceNumber"}
	for seed := range uint64(50) {
		charge := sample("CHARGE", seed)
		for _, other := range []string{"REFUND", "CHARGEBACK", "CANCELLATION", "CONTRACT_CHANGE"} {
			n := notice.Sample(other, seed, at.Add(48*time.Hour), "")
			for _, name := range same {
				if n.Get(name) != charge.Get(name) {
					t.Errorf("seed %d: %s of %s is %q, of the charge %q", seed, name, other, n.Get(name), charge.Get(name))
				}
			}
		}
		renewal := sample("RECURRING", seed)
		if renewal.Get("originalReferenceNumber") != charge.Get("referenceNumber") || renewal.Get("referenceNumber") == charge.Get("referenceNumber") {
			t.Errorf("seed %d: the renewal has reference %s of %s", seed, renewal.Get("referenceNumber"), renewal.Get("originalReferenceNumber"))
		}
	}
}

// TestTwoSeedsAreTwoEvents asks the receiver, who takes notices of one identity for one event.
func TestTwoSeedsAreTwoEvents(t *testing.T) {
	scope := ipn.Scope{NodeFields: []string{"serviceNode"}}
	seen := make(map[ipn.Identity]string)
	for _, name := range notice.Types() {
		for seed := range uint64(200) {
			event := new(ipn.Decoder).Decode(sample(name, seed).Encode(), "")
			id := scope.Identify(event)
			if other, twice := seen[id]; twice {
				t.Fatalf("%s of seed %d is the same event as a %s", name, seed, other)
			}
			seen[id] = name
		}
	}
}

func TestASampleAlwaysIsTheSame(t *testing.T) {
	for _, name := range append(notice.Types(), "WALLET_REKEYED") {
		if a, b := sample(name, 7), sample(name, 7); !slices.Equal(a.Fields, b.Fields) {
			t.Errorf("%s differs from itself", name)
		}
	}
}

// TestTheHabitsOfTheWireAreKept holds what a receiver has to be ready for.
func TestTheHabitsOfTheWireAreKept(t *testing.T) {
	values := func(transactionType, name string) (found []string) {
		for seed := range uint64(60) {
			for _, f := range sample(transactionType, seed).Fields {
				if f.Name == name && !slices.Contains(found, f.Value) {
					found = append(found, f.Value)
				}
			}
		}
		return found
	}
	some := func(all []string, is func(string) bool) bool { return slices.ContainsFunc(all, is) }
	negative := func(text string) bool { return strings.HasPrefix(text, "-") }
	positive := func(text string) bool { return !negative(text) }
	for name, kept := range map[string]bool{
		"a sentence ends in a space":         some(values("CHARGE", "avsResponse"), func(s string) bool { return strings.HasSuffix(s, " ") }),
		"a licence key is a line feed":       some(values("CHARGE", "licenseKey"), func(s string) bool { return s == "\n" }),
		"the merchant names fields":          len(values("CHARGE", "Color")) > 0,
		"with spaces":                        len(values("CHARGE", "Main product")) > 0,
		"and not in ASCII":                   len(values("CHARGE", "Größe")) > 0,
		"items are numbered":                 len(values("CHARGE", "promoteContractId1")) > 0,
		"charges are numbered in brackets":   len(values("REFUND", "additionalChargeAmount[0]")) > 0,
		"a test order is not marked":         slices.Equal(values("CHARGE", "testMode"), []string{"N"}),
		"a reversal may carry a minus":       some(values("REFUND", "reversalAmount"), negative),
		"or none":                            some(values("REFUND", "reversalAmount"), positive),
		"a disputed amount carries a minus":  !some(values("CHARGEBACK", "invoiceChargeAmount"), positive),
		"a card's expiry is M/YYYY":          some(values("CHARGE", "creditCardExpDate"), func(s string) bool { return s[1] == '/' }),
		"or MM/YYYY":                         some(values("CHARGE", "creditCardExpDate"), func(s string) bool { return s[2] == '/' }),
		"a username overflows every integer": len(sample("CHARGE", 1).Get("username")) == 33,
		"an address may be IPv6 in full":     some(values("CHARGE", "remoteAddress"), func(s string) bool { return len(s) == 39 }),
		"an issuer's country is small":       slices.Contains(values("CHARGE", "cardIssuingCountry"), "de"),
		"an updater has no transactionDate":  values("ACCOUNT_UPDATER", "transactionDate") == nil,
		"nor has a bank's notice":            values("ACH_NOTIFICATION_OF_CHANGE", "transactionDate") == nil,
		"nor a partner's":                    values("MERCHANT_PARTNER_ONBOARDED", "transactionDate") == nil,
		"some types have no accountId":       values("UNDER_REVIEW", "accountId") == nil,
		"a pending charge tells no card":     slices.Equal(values("CHARGE_PENDING", "binNumber"), nil) && slices.Equal(values("CHARGE_PENDING", "creditCardType"), []string{""}),
	} {
		if !kept {
			t.Error(name + ": not so")
		}
	}
}

func TestTheNumberOfFieldsIsThatOfTheWire(t *testing.T) {
	count := func(transactionType, name string) (all, named int) {
		n := sample(transactionType, 1) // a sale with nothing beside the contract
		for _, f := range n.Fields {
			if f.Name == name {
				named++
			}
		}
		return len(n.Fields), named
	}
	for _, tt := range []struct {
		transactionType, name string
		all, named            int // the second node field is of another brand, and not here
	}{
		{"CANCELLATION", "shippingMethod", 101, 2},
		{"CONTRACT_CHANGE", "contractId", 112 - 1, 1},
		{"ACCOUNT_UPDATER", "accountUpdaterLineId", 17, 1},
		{"ACH_NOTIFICATION_OF_CHANGE", "responseMessage", 12, 1},
		{"MERCHANT_PARTNER_ONBOARDED", "merchantId", 7, 1},
	} {
		if all, named := count(tt.transactionType, tt.name); all != tt.all || named != tt.named {
			t.Errorf("%s has %d fields, %s %d times, want %d and %d", tt.transactionType, all, tt.name, named, tt.all, tt.named)
		}
	}
}

func TestAnUnknownTypeLooksLikeACharge(t *testing.T) {
	strange, charge := sample("WALLET_REKEYED", 3), sample("CHARGE", 3)
	if strange.Type != "WALLET_REKEYED" || strange.Get("transactionType") != strange.Type {
		t.Errorf("it is a %s", strange.Get("transactionType"))
	}
	again := strange.With(notice.Field{Name: "transactionType", Value: "CHARGE"}, notice.Field{Name: "ipnId", Value: charge.Get("ipnId")})
	if !slices.Equal(again.Fields, charge.Fields) {
		t.Error("more than the name is different")
	}
}

func TestTheNodeFieldHasTheNameOfTheSetting(t *testing.T) {
	for _, name := range []string{"CHARGE", "AUTH_ONLY", "ACCOUNT_UPDATER", "PAYOUT"} {
		if got := notice.Sample(name, 1, at, "dataCentre"); got.Get("dataCentre") != "99" || got.Get("serviceNode") != "" {
			t.Errorf("%s: the node is %q", name, got.Get("dataCentre"))
		}
		if got := sample(name, 1).Get("serviceNode"); got != "99" {
			t.Errorf("%s: without a setting the node is %q", name, got)
		}
	}
}

func TestPeopleAreMadeUpAndOfAllLetters(t *testing.T) {
	seen := make(map[string]bool)
	for seed := range uint64(13) {
		p := notice.Someone(seed)
		seen[p.FirstName], seen[p.LastName] = true, true
		if !strings.HasSuffix(p.Email, "@mail.example.com") || !strings.HasPrefix(p.Phone, "555-01") || p != notice.Someone(seed) {
			t.Errorf("%d: %+v", seed, p)
		}
	}
	for _, name := range []string{"José", "Müller", "李", "Łukasz", "O'Connor"} {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
