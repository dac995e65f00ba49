package paysim

import (
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Payout pays out what was earned in a currency since the last payout (IPN PAYOUT), or fails to (FAILED_PAYOUT_TRANSFER),
// after which the money waits for the next one. It returns the IPN. 10001 when nothing was earned: no IPN is sent when the
// funds do not suffice.
func (s *Service) Payout(currency string, fails bool) (notice.Notice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := knownCurrency(currency); err != nil {
		return notice.Notice{}, err
	}
	due := s.balance(currency)
	if due <= 0 {
		return notice.Notice{}, refuse("10001", "currency", currency)
	}
	kind, fields := "PAYOUT", []notice.Field{
		{Name: "payoutId", Value: s.numberText()}, {Name: "amount[0]", Value: due.String()}, {Name: "currency[0]", Value: currency},
	}
	if fails {
		kind, fields = "FAILED_PAYOUT_TRANSFER", []notice.Field{{Name: "amount", Value: due.String()}, {Name: "currency", Value: currency}}
	} else {
		s.paid[currency] += due
	}
	n := notice.Sample(kind, s.random.Uint64(), s.agenda.Now(), s.config.NodeField).With(fields...)
	s.notify(n)
	return n, nil
}

// balance is what was charged in a currency, less what went back or was paid out. An open dispute holds its money.
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

// earned reports whether the shopper has paid, whatever became of it later.
func (t *Transaction) earned() bool {
	switch t.State {
	case Captured, Refunded, Disputed, ChargedOff:
		return true
	}
	return false
}
