package paysim

import (
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Payout pays out what was earned in a currency since the last payout (IPN PAYOUT), or fails to
// (FAILED_PAYOUT_TRANSFER), after which the money waits for the next one. It returns the IPN,
// whether anybody takes it or not. No fees are taken off: the sum can be checked against the
// charges.
//
// The answers are 13001 for an unknown currency, and 10001 when nothing was earned: no IPN is sent
// when the funds do not suffice.
func (s *Service) Payout(currency string, fails bool) (notice.Notice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := knownCurrency(currency); err != nil {
		return notice.Notice{}, err
	}
	due := s.balance(currency)
	if due <= 0 {
		return notice.Notice{}, Refuse("10001", "currency", currency)
	}
	n := s.payoutNotice(due, currency, fails)
	if !fails {
		s.paid[currency] += due
	}
	s.notify(n)
	return n, nil
}

// payoutNotice is the IPN of a payout. One that went through has a number and a place for each
// currency, of which this service fills one; one that failed has neither. The lock is held.
func (s *Service) payoutNotice(due money.Amount, currency string, fails bool) notice.Notice {
	kind, fields := "PAYOUT", []notice.Field{{Name: "amount[0]", Value: due.String()}, {Name: "currency[0]", Value: currency}}
	if fails {
		kind, fields = "FAILED_PAYOUT_TRANSFER", []notice.Field{{Name: "amount", Value: due.String()}, {Name: "currency", Value: currency}}
	} else {
		fields = append(fields, notice.Field{Name: "payoutId", Value: s.numberText()})
	}
	return notice.Sample(kind, s.random.Uint64(), s.agenda.Now(), s.config.NodeField).With(fields...)
}

// balance is what was charged in a currency, less what went back or was paid out. An open dispute
// holds its money, and so does a refund that is pending. Below zero when more went back after a
// payout than came in. The lock is held.
func (s *Service) balance(currency string) money.Amount {
	sum := -s.paid[currency]
	for _, t := range s.transactions {
		if t.Currency != currency || !t.earned() {
			continue
		}
		sum += t.Amount
		for _, refund := range t.Refunds {
			sum -= refund.Amount
		}
		for _, d := range t.Disputes {
			if d.Status != DisputeWon {
				sum -= d.Amount
			}
		}
	}
	return sum
}

// earned reports whether the shopper has paid, whatever became of it later: what went back is taken
// off by itself.
func (t *Transaction) earned() bool {
	switch t.State {
	case Captured, Refunded, Disputed, ChargedOff:
		return true
	}
	return false
}
