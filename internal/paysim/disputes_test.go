package paysim_test

import (
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

func TestADisputeGoesItsWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		moves []string
		code  string // of the last move
		state paysim.State
	}{
		{"opened", nil, "", paysim.Disputed},
		{"won", []string{"WORKING", "COMPLETED_PENDING", "COMPLETED_WON"}, "", paysim.Captured},
		{"lost", []string{"COMPLETED_LOST"}, "", paysim.ChargedOff},
		{"expired", []string{"WORKING", "CLOSED"}, "", paysim.ChargedOff},
		{"back to work", []string{"COMPLETED_PENDING", "WORKING"}, "", paysim.Disputed},
		{"reopened", []string{"COMPLETED_WON", "WORKING"}, "10001", paysim.Captured},
		{"new again", []string{"NEW"}, "10001", paysim.Disputed},
		{"a status that is none", []string{"won"}, "10001", paysim.Disputed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			paid := s.charged(t, nil)
			d, err := s.OpenDispute(paid.ID, nil, "")
			wants(t, "error", err, nil)
			for i, move := range c.moves {
				if err = s.ChangeDispute(d.ID, move); err != nil && i < len(c.moves)-1 {
					t.Fatal(err)
				}
			}
			wants(t, "code", codeOf(t, err), c.code)
			wants(t, "state", s.state(t, paid.ID), c.state)
		})
	}
}

func TestADisputeIsToldToTheReceiver(t *testing.T) {
	t.Parallel()
	s := newStage()
	paid := s.charged(t, s.with(s.taxed(t, "100.00", "USD")))
	d, err := s.OpenDispute(paid.ID, pointer(money.Units(40)), "Goods not received")
	wants(t, "error", err, nil)
	wants(t, "error", s.ChangeDispute(d.ID, "COMPLETED_WON"), nil)
	for i, want := range []struct{ name, status string }{{"CHARGEBACK", "NEW"}, {"CHARGEBACK_STATUS_CHANGED", "COMPLETED_WON"}} {
		told := s.sent[i+1]
		wants(t, "type", told.Type, want.name)
		for name, value := range map[string]string{
			"referenceNumber": paid.ID, "reversalRefNum": d.ID, "cbStatus": want.status, "reversalReason": "Goods not received",
			"invoiceChargeAmount": "-40.00",
		} {
			wants(t, name, told.Get(name), value)
		}
		event := new(ipn.Decoder).Decode(told.Encode(), "")
		wants(t, "problems", len(event.Problems), 0)
		wants(t, "amount read", event.Facts.Amount.String(), "40.00")
	}
}

func TestADisputeIsOfWhatWasPaidAndNotRefunded(t *testing.T) {
	t.Parallel()
	s := newStage()
	held := s.charged(t, func(r *paysim.CardRequest) { r.Type = "AUTH_ONLY" })
	paid := s.charged(t, nil) // 52.50
	_, err := s.Refund(paid.ID, part("2.50", ""))
	wants(t, "error", err, nil)
	for _, c := range []struct{ name, id, amount, code string }{
		{"unknown", "7", "1.00", "20009"}, {"not captured", held.ID, "1.00", "14004"}, {"too much", paid.ID, "50.01", "14055"},
		{"nothing", paid.ID, "0.00", "14005"}, {"what is left", paid.ID, "50.00", ""}, {"again", paid.ID, "1.00", "14004"},
	} {
		_, err := s.OpenDispute(c.id, pointer(money.MustParse(c.amount)), "")
		wants(t, c.name, codeOf(t, err), c.code)
	}
	_, err = s.Refund(paid.ID, part("1.00", ""))
	wants(t, "a refund meanwhile", codeOf(t, err), "14004")
	wants(t, "an unknown dispute", codeOf(t, s.ChangeDispute("7", "WORKING")), "20009")
}

func TestAPayoutPaysWhatWasEarned(t *testing.T) {
	t.Parallel()
	s := newStage()
	_, err := s.Payout("USD", false)
	wants(t, "code with nothing earned", codeOf(t, err), "10001")
	_, err = s.Payout("XQQ", false)
	wants(t, "code of an unknown currency", codeOf(t, err), "13001")

	refunded := s.charged(t, nil)                                      // 52.50
	disputed := s.charged(t, nil)                                      // 52.50
	s.charged(t, func(r *paysim.CardRequest) { r.Currency = "EUR" })   // another currency
	s.charged(t, func(r *paysim.CardRequest) { r.Type = "AUTH_ONLY" }) // not paid
	_, err = s.Refund(refunded.ID, part("2.50", ""))                   // 50.00 left
	wants(t, "error", err, nil)
	d, err := s.OpenDispute(disputed.ID, nil, "") // held
	wants(t, "error", err, nil)
	s.heard()
	failed, err := s.Payout("USD", true)
	wants(t, "error", err, nil)
	wants(t, "failed amount", failed.Get("amount"), "50.00")
	paid, err := s.Payout("USD", false)
	wants(t, "error", err, nil)
	wants(t, "amount", paid.Get("amount[0]")+" "+paid.Get("currency[0]"), "50.00 USD")
	wants(t, "IPNs", s.heard(), "FAILED_PAYOUT_TRANSFER PAYOUT")
	wants(t, "error of the dispute", s.ChangeDispute(d.ID, "COMPLETED_WON"), nil)
	later, err := s.Payout("USD", false)
	wants(t, "error", err, nil)
	wants(t, "amount after the dispute was won", later.Get("amount[0]"), "52.50")
}
