package paysim_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// part asks for a part of the money back; "" for tax tells none.
func part(amount, tax string) paysim.RefundRequest {
	r := paysim.RefundRequest{Amount: pointer(money.MustParse(amount))}
	if tax != "" {
		r.TaxAmount = pointer(money.MustParse(tax))
	}
	return r
}

func TestARefundKeepsTheSums(t *testing.T) {
	t.Parallel()
	whole := paysim.RefundRequest{}
	for _, c := range []struct {
		name    string
		untaxed bool
		asked   []paysim.RefundRequest // of 106.25 with 6.25 tax
		code    string                 // of the last one
	}{
		{"everything", false, []paysim.RefundRequest{whole}, ""},
		{"the shirt of the specification", false, []paysim.RefundRequest{part("52.50", "2.50")}, ""},
		{"a part, then the rest", false, []paysim.RefundRequest{part("52.50", "2.50"), whole}, ""},
		{"a part, then exactly the rest", false, []paysim.RefundRequest{part("52.50", "2.50"), part("53.75", "3.75")}, ""},
		{"a part of an untaxed charge, no tax told", true, []paysim.RefundRequest{part("10.00", "")}, ""},
		{"a part without its tax", false, []paysim.RefundRequest{part("52.50", "")}, "14051"},
		{"a part with a tax of zero", false, []paysim.RefundRequest{part("50.00", "0.00")}, ""},
		{"a negative tax", false, []paysim.RefundRequest{part("50.00", "-1.00")}, "14052"},
		{"more tax than amount", false, []paysim.RefundRequest{part("2.00", "2.50")}, "14054"},
		{"more tax than was paid", false, []paysim.RefundRequest{part("50.00", "6.26")}, "14053"},
		{"more tax than is left", false, []paysim.RefundRequest{part("6.00", "6.00"), part("5.00", "0.26")}, "14053"},
		{"tax of an untaxed charge", true, []paysim.RefundRequest{part("10.00", "1.00")}, "14053"},
		{"more than was paid", false, []paysim.RefundRequest{part("106.26", "6.25")}, "14055"},
		{"more than is left", false, []paysim.RefundRequest{part("52.50", "2.50"), part("53.76", "3.75")}, "14009"},
		{"more net than is left", false, []paysim.RefundRequest{part("60.00", "0.00"), part("41.00", "0.00")}, "14055"},
		{"something after everything", false, []paysim.RefundRequest{whole, part("1.00", "0.00")}, "14022"},
		{"everything twice", false, []paysim.RefundRequest{whole, whole}, "14022"},
		{"nothing", false, []paysim.RefundRequest{part("0.00", "0.00")}, "14005"},
		{"half a cent", false, []paysim.RefundRequest{part("1.005", "0.00")}, "10001"},
		{"half a cent of tax", false, []paysim.RefundRequest{part("1.00", "0.005")}, "10001"},
		{"tax without an amount", false, []paysim.RefundRequest{{TaxAmount: pointer(money.Units(1))}}, "16001"},
		{"a long reason", false, []paysim.RefundRequest{{Reason: strings.Repeat("a", 4001)}}, "10001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			change := s.with(s.taxed(t, "100.00", "USD"))
			if c.untaxed {
				change = nil
			}
			paid := s.charged(t, change)
			var err error
			for i, asked := range c.asked {
				if _, err = s.Refund(paid.ID, asked); err != nil && i < len(c.asked)-1 {
					t.Fatal(err)
				}
			}
			wants(t, "code", codeOf(t, err), c.code)
		})
	}
}

func TestOnlyWhatWasPaidIsRefunded(t *testing.T) {
	t.Parallel()
	s := newStage()
	held := s.charged(t, func(r *paysim.CardRequest) { r.Type = "AUTH_ONLY" })
	pending := s.charged(t, func(r *paysim.CardRequest) { r.Card = cardNumbered("4012888888881881") })
	paid := s.charged(t, nil)
	for name, c := range map[string]struct{ id, code string }{
		"nothing": {"", "20008"}, "unknown": {"7", "20009"}, "authorized": {held.ID, "14004"}, "pending": {pending.ID, "14004"},
	} {
		_, err := s.Refund(c.id, paysim.RefundRequest{})
		wants(t, name, codeOf(t, err), c.code)
	}
	s.agenda.Advance(2*365*day + day)
	_, err := s.Refund(paid.ID, paysim.RefundRequest{})
	wants(t, "after two years", codeOf(t, err), "14007")
}

func TestRefundsNeverGiveBackMoreThanWasPaid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newStage()
		q, err := s.CreateQuote(aQuote(func(r *paysim.QuoteRequest) {
			r.ShipTo.State = rapid.SampledFrom([]string{"MA", "CO", "OR"}).Draw(t, "state")
			r.Lines[0].Amount = money.Amount(rapid.Int64Range(100, 1_000_000).Draw(t, "cents") * 100)
		}))
		if err != nil {
			t.Fatal(err)
		}
		paid, err := s.CreateTransaction(aCharge(s.with(q)))
		if err != nil {
			t.Fatal(err)
		}
		sum, tax := money.Amount(0), money.Amount(0)
		for range rapid.IntRange(1, 6).Draw(t, "refunds") {
			amount := money.Amount(rapid.Int64Range(1, int64(paid.Amount)/100).Draw(t, "amount") * 100)
			part := money.Amount(rapid.Int64Range(0, int64(paid.Tax)/100+1).Draw(t, "tax") * 100)
			if refund, err := s.Refund(paid.ID, paysim.RefundRequest{Amount: &amount, TaxAmount: &part}); err == nil {
				sum, tax = sum+refund.Amount, tax+refund.Tax
			}
		}
		if refund, err := s.Refund(paid.ID, paysim.RefundRequest{}); err == nil {
			sum, tax = sum+refund.Amount, tax+refund.Tax
		}
		wants(t, "everything but the fee", sum, paid.Amount-paid.Fee)
		wants(t, "all tax but the fee", tax, paid.Tax-paid.Fee)
	})
}

// Eight merchants' servers refund 10.00 of 52.50 at once: five may.
func TestRefundsAtOnceNeverGiveBackMoreThanWasPaid(t *testing.T) {
	t.Parallel()
	s := newStage()
	paid := s.charged(t, nil)
	codes := make(chan string, 8)
	for range cap(codes) {
		go func() {
			_, err := s.Refund(paid.ID, part("10.00", ""))
			if refused := (*paysim.Refusal)(nil); errors.As(err, &refused) {
				codes <- refused.Code
				return
			}
			codes <- ""
		}()
	}
	count := map[string]int{}
	for range cap(codes) {
		count[<-codes]++
	}
	wants(t, "refunded", count[""], 5)
	wants(t, "refused", count["14009"], 3)
}

func TestADeliveryFeeIsNotRefunded(t *testing.T) {
	t.Parallel()
	s := newStage()
	q, err := s.CreateQuote(aQuote(func(r *paysim.QuoteRequest) { r.ShipTo.State = "CO" }))
	wants(t, "error", err, nil)
	paid := s.charged(t, s.with(q))
	wants(t, "fee", paid.Fee.String(), "0.29")
	refund, err := s.Refund(paid.ID, paysim.RefundRequest{})
	wants(t, "error", err, nil)
	wants(t, "refunded", refund.Amount.String(), "102.90")
	wants(t, "tax refunded", refund.Tax.String(), "2.90")
	wants(t, "tax told", s.sent[len(s.sent)-1].Get("taxChargeAmount"), "2.90")
	wants(t, "state", s.state(t, paid.ID), paysim.Refunded)
}

func TestARefundIsToldToTheReceiver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, amount, full string
		asked              paysim.RefundRequest
	}{
		{"the whole", "106.25", "Y", paysim.RefundRequest{}},
		{"a part", "52.50", "N", part("52.50", "2.50")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			paid := s.charged(t, s.with(s.taxed(t, "100.00", "USD")))
			refund, err := s.Refund(paid.ID, c.asked)
			wants(t, "error", err, nil)
			told := s.sent[1]
			wants(t, "type", told.Type, "REFUND")
			for name, want := range map[string]string{
				"referenceNumber": paid.ID, "reversalRefNum": refund.ID, "reversalAmount": c.amount, "fullRefund": c.full,
				"reversalReason": "Per your instructions", "invoiceChargeAmount": "106.25",
			} {
				wants(t, name, told.Get(name), want)
			}
			event := new(ipn.Decoder).Decode(told.Encode(), "")
			wants(t, "problems", len(event.Problems), 0)
			wants(t, "amount read", event.Facts.Amount.String(), c.amount)
		})
	}
}

func TestARefundEndsTheSubscriptionUnlessToldNotTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		asked  paysim.RefundRequest
		status string
		ipns   string
	}{
		{"by default", paysim.RefundRequest{}, paysim.Canceled, "CANCELLATION_REFUND"},
		{"when asked to", paysim.RefundRequest{CancelSubscriptions: true, CancelSubscriptionsSaid: true}, paysim.Canceled, "CANCELLATION_REFUND"},
		{"when asked not to", paysim.RefundRequest{CancelSubscriptionsSaid: true}, paysim.Active, "REFUND"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			sub := s.subscribed(t, aRequest(monthlyPlan))
			s.heard()
			_, err := s.Refund(sub.Charges[0], c.asked)
			wants(t, "error", err, nil)
			wants(t, "IPNs", s.heard(), c.ipns)
			wants(t, "status", s.now(t, sub.ID).Status, c.status)
		})
	}
}

func TestARefundByBankIsPendingFirst(t *testing.T) {
	t.Parallel()
	s := newStage().portal(t, "PENDING_REFUND")
	paid := s.charged(t, func(r *paysim.CardRequest) { r.Card = cardNumbered("4012888888881881") })
	s.agenda.Advance(4 * day)
	s.heard()
	refund, err := s.Refund(paid.ID, part("10.00", ""))
	wants(t, "error", err, nil)
	wants(t, "status", refund.Status, "PENDING")
	called, err := s.Refund(paid.ID, part("20.00", ""))
	wants(t, "error", err, nil)
	wants(t, "error of calling it back", s.CancelRefund(called.ID), nil)
	wants(t, "IPNs", s.heard(), "PENDING_REFUND PENDING_REFUND")
	s.agenda.Advance(4 * day)
	wants(t, "IPNs in the end", s.heard(), "REFUND")
	wants(t, "code of calling it back too late", codeOf(t, s.CancelRefund(refund.ID)), "20009")
}

// The fee is what a refund leaves and a dispute takes, so both can be under way for one charge.
func TestABankRefundThatEndsDoesNotEndADispute(t *testing.T) {
	t.Parallel()
	s := newStage()
	q, err := s.CreateQuote(aQuote(func(r *paysim.QuoteRequest) { r.ShipTo.State = "CO" }))
	wants(t, "error", err, nil)
	paid := s.charged(t, func(r *paysim.CardRequest) { s.with(q)(r); r.Card = cardNumbered("4012888888881881") })
	s.agenda.Advance(4 * day)
	_, err = s.Refund(paid.ID, paysim.RefundRequest{})
	wants(t, "error", err, nil)
	d, err := s.OpenDispute(paid.ID, nil, "")
	wants(t, "error", err, nil)
	wants(t, "disputed", d.Amount.String(), "0.29")
	s.agenda.Advance(4 * day)
	wants(t, "state while the dispute is open", s.state(t, paid.ID), paysim.Disputed)
	wants(t, "error", s.ChangeDispute(d.ID, paysim.DisputeWon), nil)
	wants(t, "state when it is won", s.state(t, paid.ID), paysim.Refunded)
}
