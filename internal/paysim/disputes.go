package paysim

import (
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The states of a dispute.
const (
	DisputeNew        = "NEW"
	DisputeWorking    = "WORKING"
	DisputeChallenged = "COMPLETED_PENDING"
	DisputeWon        = "COMPLETED_WON"
	DisputeLost       = "COMPLETED_LOST"
	DisputeClosed     = "CLOSED" // expired
)

// disputeMoves says what each state may become, and disputeEnds what a final one makes of the transaction.
var (
	disputeMoves = map[string][]string{
		DisputeNew:        {DisputeWorking, DisputeChallenged, DisputeWon, DisputeLost, DisputeClosed},
		DisputeWorking:    {DisputeChallenged, DisputeWon, DisputeLost, DisputeClosed},
		DisputeChallenged: {DisputeWorking, DisputeWon, DisputeLost, DisputeClosed},
	}
	disputeEnds = map[string]State{DisputeWon: Captured, DisputeLost: ChargedOff, DisputeClosed: ChargedOff}
)

// OpenDispute opens a dispute of a charge (IPN CHARGEBACK); a nil amount is the whole of what was not refunded, an empty
// reason gets one. The answers are 20009, 14004 for a transaction that was not paid or is disputed already, 14005 and 10001
// for an amount that cannot be, 14055 for more than is left.
func (s *Service) OpenDispute(id string, amount *money.Amount, reason string) (Dispute, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transaction(id)
	if err != nil {
		return Dispute{}, err
	}
	if t.State != Captured {
		return Dispute{}, refuse("14004", "transactionId", id)
	}
	left, _ := t.Left()
	left += t.Fee // a dispute takes the fee, too
	if amount == nil {
		amount = &left
	}
	if err := payable(*amount, t.Currency, "amount"); err != nil {
		return Dispute{}, err
	}
	if *amount > left {
		return Dispute{}, refuse("14055", "amount", amount.String())
	}
	if reason == "" {
		reason = "Fraudulent - Card Absent Environment"
	}
	now := s.agenda.Now()
	d := Dispute{ID: s.numberText(), Amount: *amount, Opened: now, Status: DisputeNew, Reason: reason, Changed: now}
	t.State, t.Disputes = Disputed, append(t.Disputes, d)
	s.notify(s.occasion(t, "CHARGEBACK", t.disputeFields(d)...))
	return d, nil
}

// disputeFields are what the IPNs of a dispute tell of it: the disputed amount is what is taken back, with a minus. Its tax is
// known only of the whole charge.
func (t *Transaction) disputeFields(d Dispute) []notice.Field {
	fields := []notice.Field{
		{Name: "reversalRefNum", Value: d.ID}, {Name: "reversalReason", Value: d.Reason}, {Name: "cbStatus", Value: d.Status},
		{Name: "invoiceChargeAmount", Value: (-d.Amount).String()},
		{Name: "invoiceAmount", Value: (-USD(d.Amount, t.Currency)).String()},
		{Name: "invoiceAmountUSD", Value: (-USD(d.Amount, t.Currency)).String()},
	}
	if d.Amount != t.Amount {
		fields = append(fields, notice.Field{Name: "taxChargeAmount"}, notice.Field{Name: "taxAmountUSD"}, notice.Field{Name: "taxRate"})
	}
	return fields
}

// ChangeDispute moves a dispute on (IPN CHARGEBACK_STATUS_CHANGED). One that was won gives the transaction back, one that
// was lost or has expired does not. The answers are 20009 for an unknown dispute and 10001 for a status that cannot follow.
func (s *Service) ChangeDispute(disputeID, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, d := s.dispute(disputeID)
	if d == nil {
		return refuse("20009", "disputeId", disputeID)
	}
	if !slices.Contains(disputeMoves[d.Status], status) {
		return refuse("10001", "status", status)
	}
	d.Status, d.Changed = status, s.agenda.Now()
	if end, final := disputeEnds[status]; final {
		t.State = end
	}
	s.notify(s.occasion(t, "CHARGEBACK_STATUS_CHANGED", t.disputeFields(*d)...))
	return nil
}

// dispute finds a dispute and its transaction; nil, nil when there is none. The lock is held.
func (s *Service) dispute(id string) (*Transaction, *Dispute) {
	for _, t := range s.transactions {
		for i := range t.Disputes {
			if t.Disputes[i].ID == id {
				return t, &t.Disputes[i]
			}
		}
	}
	return nil, nil
}
