package ipn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// TestEverySampleSaysItsSentence holds the sentences of all samples against testdata/sentences.txt, which -update rewrites.
func TestEverySampleSaysItsSentence(t *testing.T) {
	var got strings.Builder
	for _, name := range sampleNames(t) {
		s := ipn.Stored{Facts: decode(sample(t, name)).Facts}
		got.WriteString(name + ": " + s.Sentence() + "\n")
	}
	path := filepath.Join("testdata", "sentences.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("differs from %s; see what -update changes:\n%s", path, got.String())
	}
}

func TestEveryTypeHasASentenceAndNoOtherHas(t *testing.T) {
	table := ipn.SentenceTable()
	for _, row := range ipn.Types() {
		if table[row.Name] == "" {
			t.Errorf("%s has no sentence", row.Name)
		}
		s := ipn.Stored{Facts: ipn.Facts{TransactionType: row.Name}}
		if got := s.Sentence(); strings.ContainsAny(got, "{}") || !strings.HasSuffix(got, ".") {
			t.Errorf("%s says %q, which is no sentence", row.Name, got)
		}
		delete(table, row.Name)
	}
	for name := range table {
		t.Errorf("%s has a sentence and is no type", name)
	}
}

func TestASentenceSaysWhatIsThereAndNoMore(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"transactionType=CHARGE&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&taxChargeAmount=3.35&paymentMethod=CC", "Charged 21.00 EUR by credit card, 3.35 EUR of it tax."},
		{"transactionType=CHARGE&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR&taxChargeAmount=0.00", "Charged 21.00 EUR."},
		{"transactionType=CHARGE", "Charged an amount that was not told."},
		{"transactionType=CHARGE&invoiceChargeAmount=21.00", "Charged 21.00 of an unknown currency."},
		{"transactionType=RECURRING&invoiceChargeAmount=9.00&invoiceChargeCurrency=EUR", "Renewed: 9.00 EUR."},
		{"transactionType=REFUND&reversalAmount=5.00&currency=EUR&reversalRefNum=123", "Refunded 5.00 EUR (refund 123)."},
		{"transactionType=CHARGEBACK&invoiceChargeAmount=-21.00&invoiceChargeCurrency=EUR", "A dispute over 21.00 EUR was opened."},
		{"transactionType=CHARGEBACK_STATUS_CHANGED&cbStatus=under_review", "The dispute moved to UNDER_REVIEW."},
		{"transactionType=SUBSCRIPTION_CHARGE_FAILURE", "The renewal failed."},
		{"transactionType=CHARGE&invoiceChargeAmount=1.2345&invoiceChargeCurrency=CLF&paymentMethod=Maria+Santos", "Charged 1.2345 CLF."},
		{"transactionType=REFUND&reversalAmount=5.00&currency=EUR&reversalRefNum={amount}", "Refunded 5.00 EUR (refund {amount})."},
		{"transactionType=WALLET_REKEYED&amount=5&currency=JPY", "An event of a type this program does not know came in: WALLET_REKEYED over 5 JPY."},
		{"transactionType=Maria+Santos", "An event of a type this program does not know came in."},
		{"", "An event of a type this program does not know came in."},
	} {
		s := ipn.Stored{Facts: decode(tt.body).Facts}
		if got := s.Sentence(); got != tt.want {
			t.Errorf("%s\n says %s\n want %s", tt.body, got, tt.want)
		}
	}
}
