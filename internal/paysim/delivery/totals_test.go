package delivery_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func told(pairs ...string) []notice.Field {
	var fields []notice.Field
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, notice.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return fields
}

// lines writes totals as currency type count/amount/tax of all, of the answered and of the acknowledged.
func lines(totals []delivery.Total) []string {
	var lines []string
	for _, t := range totals {
		lines = append(lines, fmt.Sprint(t.Currency, " ", t.Type, sum(t.All), sum(t.Answered), sum(t.Acknowledged)))
	}
	return lines
}

func sum(s delivery.Sum) string { return fmt.Sprintf(" %d/%s/%s", s.Count, s.Amount, s.Tax) }

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTotalsAreTheSumsOfWhatTheNoticesTell(t *testing.T) {
	w := start(t, delivery.Config{})
	for _, n := range []notice.Notice{
		small("CHARGE", told("referenceNumber", "1", "invoiceChargeAmount", "10.10", "invoiceChargeCurrency", "EUR", "taxChargeAmount", "1.60")...),
		small("CHARGE", told("referenceNumber", "2", "invoiceChargeAmount", "20.20", "invoiceChargeCurrency", "EUR", "taxChargeAmount", "")...),
		small("CHARGE", told("referenceNumber", "3", "invoiceChargeAmount", "300", "invoiceChargeCurrency", "JPY", "currency", "USD")...),
		small("CHARGE", told("referenceNumber", "4", "invoiceChargeAmount", "0.3", "currency", "USD")...),
		small("REFUND", told("referenceNumber", "1", "reversalRefNum", "91", "reversalAmount", "-4.05", "currency", "EUR", "fullRefund", "N", "invoiceChargeAmount", "-10.10", "taxChargeAmount", "-1.60")...),
		small("REFUND", told("referenceNumber", "2", "reversalRefNum", "92", "reversalAmount", "20.20", "invoiceChargeCurrency", "EUR", "fullRefund", "Y", "taxChargeAmount", "3.20")...),
		small("CHARGEBACK", told("referenceNumber", "1", "invoiceChargeAmount", "-10.10", "invoiceChargeCurrency", "EUR")...),
		small("PAYOUT", told("payoutId", "7", "amount0", "1,100.00", "currency0", "EUR", "amount1", "50.50", "currency1", "USD", "amount2", "0.05", "currency2", "EUR")...),
		small("PAYOUT", told("payoutId", "8", "amount", "9.00", "currency", "USD")...),
		small("PAYOUT", told("payoutId", "9", "amount[1]", "1.00", "currency[1]", "USD")...),
		small("ACCOUNT_UPDATER", told("accountId", "12")...),
		small("CHARGE", told("referenceNumber", "5", "invoiceChargeAmount", "a lot", "invoiceChargeCurrency", "EUR")...),
	} {
		w.send(n)
	}
	w.settle(t)
	compare(t, lines(w.Totals()), []string{
		" ACCOUNT_UPDATER 1/0.00/0.00 1/0.00/0.00 1/0.00/0.00",
		" CHARGE 1/0.00/0.00 1/0.00/0.00 1/0.00/0.00",
		"EUR CHARGE 2/30.30/1.60 2/30.30/1.60 2/30.30/1.60",
		"EUR CHARGEBACK 1/10.10/0.00 1/10.10/0.00 1/10.10/0.00",
		"EUR PAYOUT 1/1100.05/0.00 1/1100.05/0.00 1/1100.05/0.00",
		"EUR REFUND 2/24.25/3.20 2/24.25/3.20 2/24.25/3.20",
		"JPY CHARGE 1/300.00/0.00 1/300.00/0.00 1/300.00/0.00",
		"USD CHARGE 1/0.30/0.00 1/0.30/0.00 1/0.30/0.00",
		"USD PAYOUT 3/60.50/0.00 3/60.50/0.00 3/60.50/0.00",
	})
}

func TestANoticeIsCountedOnceHoweverOftenItIsSent(t *testing.T) {
	w := start(t, delivery.Config{})
	w.setFaults(t, delivery.Fault{Name: "duplicate"}, delivery.Fault{Name: "lose-answer", Times: 3})
	n := charge("1", "52.50")
	w.send(n)
	w.Send(w.receiver.URL+"/another", n)
	w.send(charge("2", "0.01"))
	w.settle(t)
	w.passes(t, 4*time.Hour)
	compare(t, lines(w.Totals()), []string{"EUR CHARGE 2/52.51/0.00 2/52.51/0.00 2/52.51/0.00"})
}

func TestTotalsTellWhatWasSentFromWhatWasAnsweredAndAcknowledged(t *testing.T) {
	w := start(t, delivery.Config{Attempts: 1})
	w.setFaults(t, delivery.Fault{Name: "lose-answer", Times: 1})
	w.send(charge("1", "1.00"))
	w.settle(t)
	w.receiver.answer(500)
	w.send(charge("2", "20.00"))
	w.settle(t)
	w.send(charge("3", "300.00"))
	w.settle(t)
	compare(t, lines(w.Totals()), []string{"EUR CHARGE 3/321.00/0.00 2/301.00/0.00 1/300.00/0.00"})
}

// The receiver reads the same money out of samples of every type that the totals have for them.
func TestTotalsAgreeWithWhatAReceiverReads(t *testing.T) {
	for _, name := range notice.Types() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				n := notice.Sample(name, seed, beginning, "serviceNode")
				w := start(t, delivery.Config{Client: &http.Client{Transport: answerWith(200)}})
				w.send(n)
				w.settle(t)
				facts := new(ipn.Decoder).Decode(n.Encode(), "").Facts
				for _, total := range w.Totals() {
					if got, want := total.All.Amount.String()+" "+total.Currency+" "+total.All.Tax.String(), read(facts); got != want {
						t.Errorf("seed %d: got %s, want %s", seed, got, want)
					}
				}
			}
		})
	}
}

// read writes the amount, currency and tax of a notice as the receiver reads them.
func read(f ipn.Facts) string {
	amount, currency, tax := f.Amount, f.Currency, "0.00"
	if len(f.Deposits) > 0 {
		amount, currency = f.Deposits[0].Amount, f.Deposits[0].Currency
	}
	if amount.IsZero() {
		return "0.00  0.00"
	}
	if !f.TaxAmount.IsZero() {
		tax = money.MustParse(f.TaxAmount.Decimal().String()).String()
	}
	return money.MustParse(amount.Decimal().String()).String() + " " + currency + " " + tax
}
