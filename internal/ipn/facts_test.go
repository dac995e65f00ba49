package ipn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// money is what a row of the table below expects of the money facts, as text.
type money struct{ amount, currency, usd, tax, taxUSD string }

func moneyOf(f ipn.Facts) money {
	return money{f.Amount.String(), f.Currency, f.AmountUSD.String(), f.TaxAmount.String(), f.TaxUSD.String()}
}

func TestTheAmountComesFromTheFieldThatTellsIt(t *testing.T) {
	const invoice = "&invoiceChargeAmount=21.00&invoiceChargeCurrency=eur&currency=GBP&invoiceAmountUSD=22.84&taxChargeAmount=3.35&taxAmountUSD=3.65"
	const negative = "&invoiceChargeAmount=-21.00&invoiceChargeCurrency=EUR&invoiceAmountUSD=-22.84&taxChargeAmount=-3.35&taxAmountUSD=-3.65"
	whole := money{"21.00", "EUR", "22.84", "3.35", "3.65"}
	for _, tt := range []struct {
		name, body string
		want       money
	}{
		{"a charge is what the shopper was charged", "CHARGE" + invoice, whole},
		{"the order's currency stands in for a missing one", "CHARGE&invoiceChargeAmount=5.00&currency=gbp", money{amount: "5.00", currency: "GBP"}},
		{"dollars stand in for the charged amount, with their tax", "CHARGE&invoiceAmountUSD=5.00&currency=GBP&taxChargeAmount=3.35&taxAmountUSD=3.65", money{"5.00", "USD", "5.00", "3.65", "3.65"}},
		{"the oldest amount is in dollars", "RECURRING&invoiceAmount=5.00&currency=GBP", money{amount: "5.00", currency: "USD"}},
		{"a fraud decline has a plain amount", "FRAUD_DECLINE&amount=9&currency=EUR", money{amount: "9", currency: "EUR"}},
		{"thousands have commas", "CHARGE&invoiceChargeAmount=1,234.56&invoiceChargeCurrency=USD", money{amount: "1234.56", currency: "USD"}},
		{"a partial refund has no figures of the invoice", "REFUND&reversalAmount=-9.00" + invoice, money{amount: "9.00", currency: "EUR"}},
		{"a partial refund in dollars is in dollars", "REFUND&reversalAmount=9.00&currency=USD&invoiceChargeAmount=21.00&invoiceAmountUSD=21.00", money{amount: "9.00", currency: "USD", usd: "9.00"}},
		{"a full refund has them", "REFUND&reversalAmount=21" + invoice, money{"21", "EUR", "22.84", "3.35", "3.65"}},
		{"an older refund is a negative charge", "REFUND" + negative, whole},
		{"a dispute is a negative charge", "CHARGEBACK" + negative + "&reversalAmount=1.00", whole},
		{"or else a reversal", "CHARGEBACK&reversalAmount=1.00" + invoice, money{amount: "1.00", currency: "EUR"}},
		{"or else the charge", "CHARGEBACK_STATUS_CHANGED" + invoice, whole},
		{"a payout is the first of its deposits", "PAYOUT&amount[1]=7&currency[1]=USD&amount[0]=5.00&currency[0]=EUR", money{amount: "5.00", currency: "EUR"}},
		{"a deposit may have the plain currency", "PAYOUT&amount0=7&currency=USD", money{amount: "7", currency: "USD"}},
		{"a failed payout has a plain amount", "FAILED_PAYOUT_TRANSFER&amount=7&currency=USD", money{amount: "7", currency: "USD"}},
		{"an unknown type is read as a charge", "TOMORROW" + invoice, whole},
		{"no amount still has a currency", "AUTH_ONLY&currency=EUR", money{currency: "EUR"}},
		{"zero is an amount", "AUTH_ONLY&invoiceChargeAmount=0.00&currency=EUR", money{amount: "0.00", currency: "EUR"}},
		{"a malformed amount is not replaced by another", "CHARGE&invoiceChargeAmount=1e3&invoiceChargeCurrency=EUR&invoiceAmountUSD=22.84", money{currency: "EUR", usd: "22.84"}},
		{"a contradicted amount is not replaced by another", "CHARGE&invoiceChargeAmount=1&invoiceChargeAmount=2&invoiceChargeCurrency=EUR&invoiceAmountUSD=22.84", money{currency: "EUR", usd: "22.84"}},
		{"a contradicted currency is not replaced by another", "CHARGE&invoiceChargeAmount=1&invoiceChargeCurrency=EUR&invoiceChargeCurrency=USD&currency=GBP", money{amount: "1"}},
		{"yen have no decimals", "CHARGE&invoiceChargeAmount=100.5&invoiceChargeCurrency=JPY", money{currency: "JPY"}},
		{"a currency in words is none", "CHARGE&invoiceChargeAmount=1.0000&currency=Euro", money{amount: "1.0000"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := moneyOf(decode("transactionType=" + tt.body).Facts); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestFactsAreReadFromTheirFieldsAndTheFieldsOlderNames(t *testing.T) {
	get := func(pick func(ipn.Facts) string) func(string) string {
		return func(body string) string { return pick(decode(body).Facts) }
	}
	original := get(func(f ipn.Facts) string { return f.OriginalReference })
	contract := get(func(f ipn.Facts) string { return f.ContractID })
	status := get(func(f ipn.Facts) string { return f.Status })
	method := get(func(f ipn.Facts) string { return f.PaymentMethod })
	country := get(func(f ipn.Facts) string { return f.Country })
	state := get(func(f ipn.Facts) string { return f.State })
	reference := get(func(f ipn.Facts) string { return f.ReferenceNumber })
	kind := get(func(f ipn.Facts) string { return f.TransactionType })
	planned := get(func(f ipn.Facts) string { return f.NewContractID })
	until := get(func(f ipn.Facts) string { return f.UntilAt.Format(time.RFC3339) })
	deposits := get(func(f ipn.Facts) (all string) {
		for _, d := range f.Deposits {
			all += d.Amount.String() + " " + d.Currency + " "
		}
		return all
	})
	for _, tt := range []struct {
		name string
		read func(string) string
		body string
		want string
	}{
		{"the newer name of the original comes first", original, "originalReferenceNumber=1&originalRefNum=2", "2"},
		{"the older name of the original counts", original, "originalReferenceNumber=1", "1"},
		{"the contract of a change is the old one", contract, "transactionType=CONTRACT_CHANGE&newContractId=9&oldContractId=8&contractId=8", "8"},
		{"the old contract stands in", contract, "transactionType=CONTRACT_CHANGE&newContractId=9&oldContractId=8", "8"},
		{"a change of plan tells the new contract", planned, "transactionType=CONTRACT_CHANGE&newContractId=9&oldContractId=8", "9"},
		{"the end of the period is an instant", until, "transactionType=RECURRING&untilDate=06/17/2023+12%3A00+AM", "2023-06-17T07:00:00Z"},
		{"an unreadable end of the period is none", until, "transactionType=RECURRING&untilDate=soon", "0001-01-01T00:00:00Z"},
		{"a payout tells each currency", deposits, "transactionType=PAYOUT&amount[0]=1.50&currency[0]=eur&amount[1]=2&currency[1]=JPY", "1.50 EUR 2 JPY "},
		{"a payout without numbers tells one", deposits, "transactionType=PAYOUT&amount=7.00&currency=USD", "7.00 USD "},
		{"a charge has no deposits", deposits, "transactionType=CHARGE&invoiceChargeAmount=7.00&invoiceChargeCurrency=USD", ""},
		{"a dispute's status is in upper case", status, "transactionType=CHARGEBACK&cbStatus=Completed_Lost&resultCode=SUCCESS", "COMPLETED_LOST"},
		{"a status whose capitals are longer still fits a column", status, "transactionType=CHARGEBACK&cbStatus=" + strings.Repeat("%C9%90", 127), strings.Repeat("ɐ", 127)},
		{"any other status is the result", status, "transactionType=CONTRACT_CHANGE&resultCode=SUCCESS", "SUCCESS"},
		{"a reason is no status", status, "transactionType=DECLINE&declineReason=Do+not+honor", ""},
		{"paymentType stands in", method, "paymentType=SEPA", "SEPA"},
		{"the invoice's country stands in", country, "invoiceCountry=SE", "SE"},
		{"the state stands beside the country", state, "country=US&state=CO&invoiceCountry=CA&invoiceState=ON", "CO"},
		{"the invoice's state stands beside the invoice's country", state, "state=CO&invoiceCountry=CA&invoiceState=ON", "ON"},
		{"a card's number that was typed as a state is none", state, "country=US&state=4111+1111+1111+1111", "•••• 1111"},
		{"another address's state is none of this one's", state, "country=DE&invoiceCountry=US&invoiceState=CO", ""},
		{"another country's state is none of this one's", state, "state=CO&invoiceCountry=DE", ""},
		{"a state without a country counts", state, "state=CO", "CO"},
		{"the first value that is not blank counts", reference, "referenceNumber=&referenceNumber=+&ReferenceNumber=+7+", "7"},
		{"a contradicted reference is none", reference, "referenceNumber=7&referenceNumber=8", ""},
		{"a misspelled reference is none", reference, "+referenceNumber=7", ""},
		{"a type has its canonical name", kind, "transactionType=+vaulted_shopper", "SHOPPER_DELETED"},
		{"an unknown type is as sent", kind, "transactionType=+Tomorrow's+", "Tomorrow's"},
		{"a contradicted type is none", kind, "transactionType=CHARGE&transactionType=REFUND", ""},
		{"a NUL is left out", reference, "referenceNumber=7%008", "78"},
		{"a long text is cut at a whole character", reference, "referenceNumber=" + strings.Repeat("a", 254) + "%C3%A9", strings.Repeat("a", 254)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.read(tt.body); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestATestOrderIsMarked(t *testing.T) {
	for body, want := range map[string]bool{"testMode=Y": true, "TESTMODE=y": true, "testMode=N": false, "testMode=?": false, "": false} {
		if got := decode(body).Facts.Test; got != want {
			t.Errorf("%q: test %t, want %t", body, got, want)
		}
	}
}

func TestTheSendersMinuteIsAnInstant(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		zone *time.Location
		body string
		want time.Time
	}{
		{"in winter", nil, "transactionDate=01/15/2023+01:02+PM", time.Date(2023, 1, 15, 21, 2, 0, 0, time.UTC)},
		{"in summer", nil, "transactionDate=07/15/2023+01:02+PM", time.Date(2023, 7, 15, 20, 2, 0, 0, time.UTC)},
		{"in a zone of one's own", berlin, "transactionDate=07/15/2023+01:02+PM", time.Date(2023, 7, 15, 11, 2, 0, 0, time.UTC)},
		{"by the response where nothing else is told", nil, "responseDate=07/15/2023+01:02+PM", time.Date(2023, 7, 15, 20, 2, 0, 0, time.UTC)},
		{"not by the response when malformed", nil, "transactionDate=soon&responseDate=07/15/2023+01:02+PM", time.Time{}},
		{"unknown", nil, "transactionDate=", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decoder := ipn.Decoder{Zone: tt.zone}
			if got := decoder.Decode([]byte(tt.body), "").Facts.OccurredAt; !got.Equal(tt.want) || got.Location() != time.UTC {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
