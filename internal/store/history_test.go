package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// at is a question's time on the day of these events, in the sender's hours.
func at(clock string) time.Time {
	zone, _ := time.LoadLocation("America/Los_Angeles")
	t, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-20 "+clock, zone)
	if err != nil {
		panic(err)
	}
	return t
}

func TestEachFilterNarrowsTheHistory(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	const day = "transactionDate=11/20/2026+"
	for _, body := range []string{
		"transactionType=CHARGE&referenceNumber=R1&subscriptionId=S1&accountId=A1&merchantTransactionId=M1&invoiceChargeAmount=1&invoiceChargeCurrency=EUR&" + day + "08:00+AM",
		"transactionType=RECURRING&referenceNumber=R2&subscriptionId=S1&accountId=A2&merchantTransactionId=M2&invoiceChargeAmount=1&invoiceChargeCurrency=USD&testMode=Y&" + day + "09:00+AM",
		"transactionType=REFUND&referenceNumber=R1&reversalRefNum=V3&accountId=A1&" + day + "10:00+AM",
		"transactionType=NOVEL&referenceNumber=S1&" + day + "11:00+AM",
	} {
		mustRecord(t, r, receipt(body))
	}
	yes, no := true, false
	tests := []struct {
		name     string
		question ipn.Question
		want     string // types, newest first
	}{
		{"no filter", ipn.Question{}, "NOVEL REFUND RECURRING CHARGE"},
		{"type", ipn.Question{TransactionType: "CHARGE"}, "CHARGE"},
		{"unknown type", ipn.Question{TransactionType: "NOVEL"}, "NOVEL"},
		{"reference number", ipn.Question{ReferenceNumber: "R1"}, "REFUND CHARGE"},
		{"subscription", ipn.Question{SubscriptionID: "S1"}, "RECURRING CHARGE"},
		{"merchant transaction", ipn.Question{MerchantTransactionID: "M2"}, "RECURRING"},
		{"account", ipn.Question{AccountID: "A1"}, "REFUND CHARGE"},
		{"currency", ipn.Question{Currency: "EUR"}, "CHARGE"},
		{"from, inclusive", ipn.Question{From: at("10:00")}, "NOVEL REFUND"},
		{"to, exclusive", ipn.Question{To: at("10:00")}, "RECURRING CHARGE"},
		{"from and to", ipn.Question{From: at("09:00"), To: at("11:00")}, "REFUND RECURRING"},
		{"test orders", ipn.Question{Test: &yes}, "RECURRING"},
		{"no test orders", ipn.Question{Test: &no}, "NOVEL REFUND CHARGE"},
		{"text finds a reference or a subscription", ipn.Question{Text: "S1"}, "NOVEL RECURRING CHARGE"},
		{"text finds a merchant transaction", ipn.Question{Text: "M1"}, "CHARGE"},
		{"text finds an account", ipn.Question{Text: "A2"}, "RECURRING"},
		{"text is exact", ipn.Question{Text: "A"}, ""},
		{"all together", ipn.Question{TransactionType: "CHARGE", ReferenceNumber: "R1", SubscriptionID: "S1", MerchantTransactionID: "M1", AccountID: "A1",
			Currency: "EUR", From: at("08:00"), To: at("08:01"), Test: &no, Text: "R1"}, "CHARGE"},
		{"a limit", ipn.Question{Limit: 2}, "NOVEL REFUND"},
		{"SQL in a filter is text", ipn.Question{AccountID: "' or 1=1 --"}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if tc.question.Limit == 0 {
				tc.question.Limit = 100
			}
			events, err := s.Events(t.Context(), tc.question)
			if err != nil {
				t.Fatal(err)
			}
			var types []string
			for _, e := range events {
				types = append(types, e.Facts.TransactionType)
			}
			if got := strings.Join(types, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Events that arrive while somebody turns the pages neither repeat nor hide one that was there at the start; many
// share a minute, so the position must tell them apart by id.
func TestPagesVisitEveryEventOnceWhileNewOnesArrive(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	var want []int64
	for i := range 25 {
		want = append(want, mustRecord(t, r, charge(fmt.Sprint("R", i), fmt.Sprintf("transactionDate=11/20/2026+08:%02d+AM", i/10))).EventID)
	}
	slices.Reverse(want)
	var got []int64
	for q := (ipn.Question{Limit: 4}); ; {
		page, err := s.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 || len(got) > len(want) {
			break
		}
		for _, e := range page {
			got = append(got, e.ID)
		}
		position := page[len(page)-1].Position(ipn.ByOccurred)
		q.After = &position
		mustRecord(t, r, charge(fmt.Sprint("new", len(got)), "transactionDate=11/20/2026+09:00+AM"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAmountsAreKeptToTheDigit(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	for i, amount := range []string{"0", "0.00", "21.00", "0.1000", "9007199254740993.01", "1234567890123456789012345678901234567.890", "0.0100000000000000000000000000000000000"} {
		event, err := s.Event(t.Context(), mustRecord(t, r, charge(fmt.Sprint("R", i), "invoiceChargeAmount="+amount, "invoiceChargeCurrency=EUR")).EventID)
		if err != nil || event.Facts.Amount.String() != amount {
			t.Errorf("got %s, %v, want %s", event.Facts.Amount, err, amount)
		}
	}
}

func TestAnUnknownEventIsNotFound(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	if _, err := s.Event(t.Context(), 42); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("got %v, want ipn.ErrNotFound", err)
	}
	if variants, err := s.Variants(t.Context(), 42); err != nil || len(variants) != 0 {
		t.Errorf("variants: got %v, %v", variants, err)
	}
}

func TestAnEventOutlivesItsPayload(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	id := mustRecord(t, r, charge("R1")).EventID
	execute(t, dsn, "delete from payloads")
	if event, err := s.Event(t.Context(), id); err != nil || event.Raw != nil || event.Headers != nil || event.Facts.ReferenceNumber != "R1" {
		t.Errorf("got %+v, %v", event, err)
	}
}

func TestAQuestionForFactsReadsNoPayload(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	for range 2 {
		mustRecord(t, r, charge("R1", "invoiceChargeAmount=21.00", "invoiceChargeCurrency=EUR"))
	}
	mustRecord(t, r, charge("R1", "invoiceChargeAmount=22.00", "invoiceChargeCurrency=EUR"))
	question := ipn.Question{ReferenceNumber: "R1", Limit: 10}
	want, err := s.Events(t.Context(), question)
	if err != nil || len(want) != 1 || want[0].Raw == nil || want[0].Variants != 1 {
		t.Fatalf("with the payload: got %+v, %v", want, err)
	}
	execute(t, dsn, "alter table payloads rename to elsewhere")
	question.FactsOnly = true
	got, err := s.Events(t.Context(), question)
	want[0].Raw, want[0].Headers = nil, nil
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestQuestionsFailAsUnavailableWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := openWith(t, store.Config{DSN: nobody(t)})
	_, list := s.Events(t.Context(), ipn.Question{Limit: 1})
	_, one := s.Event(t.Context(), 1)
	_, variants := s.Variants(t.Context(), 1)
	_, entry := s.Quarantined(t.Context(), 1)
	_, entries := s.InQuarantine(t.Context(), 0, 1)
	_, promotion := s.Promote(t.Context(), 1, charge("R1"), byMaria)
	_, copied := s.Quarantine(t.Context(), quarantined(ipn.ReasonNoFields, 200, "x"))
	months := s.MakeMonths(t.Context(), noon)
	for i, err := range []error{list, one, variants, entry, entries, promotion, copied, months} {
		if !errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("question %d: got %v, want ipn.ErrUnavailable", i+1, err)
		}
	}
}
