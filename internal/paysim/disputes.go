package paysim

import (
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The states of a dispute: the values of cbStatus in IPNs.
const (
	DisputeNew        = "NEW"               // opened by the shopper's bank
	DisputeWorking    = "WORKING"           // the service has taken it up
	DisputeChallenged = "COMPLETED_PENDING" // the merchant has sent proof, and the bank decides
	DisputeWon        = "COMPLETED_WON"     // the merchant keeps the money
	DisputeLost       = "COMPLETED_LOST"    // the shopper has it back
	DisputeClosed     = "CLOSED"            // nobody answered in time: as good as lost
)

// disputeMoves says what each state may become, and disputeEnds what a final one makes of the
// transaction. The interface documents the states, not what follows what: these moves are the
// simulator's, and let a status return, as receivers must expect.
var (
	disputeMoves = map[string][]string{
		DisputeNew:        {DisputeWorking, DisputeChallenged, DisputeWon, DisputeLost, DisputeClosed},
		DisputeWorking:    {DisputeChallenged, DisputeWon, DisputeLost, DisputeClosed},
		DisputeChallenged: {DisputeWorking, DisputeWon, DisputeLost, DisputeClosed},
	}
	disputeEnds = map[string]State{DisputeWon: Captured, DisputeLost: ChargedOff, DisputeClosed: ChargedOff}
)

// Next returns what the dispute can become by ChangeDispute, the next step first; nil when it is
// final.
func (d Dispute) Next() []string { return slices.Clone(disputeMoves[d.Status]) }

// OpenDispute opens a dispute of a charge (IPN CHARGEBACK), as the shopper's bank would; a nil
// amount is the whole of what was not refunded, with the delivery fee (specification section 1:
// certain chargebacks give it back), an empty reason gets one. While it is open nothing can be
// refunded, and no second one opened.
//
// The answers are 20008 and 20009 for the number, 14004 for a transaction that was not paid or is
// disputed already, 14005 and 10001 for an amount that cannot be, 14055 for more than is left.
func (s *Service) OpenDispute(id string, amount *money.Amount, reason string) (Dispute, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transaction(id)
	if err != nil {
		return Dispute{}, err
	}
	if t.State != Captured { // a wholly refunded one has nothing left that a bank could take back
		return Dispute{}, Refuse("14004", "transactionId", id)
	}
	left, _ := t.Left()
	left += t.Fee
	if amount == nil {
		amount = &left
	}
	if err := payable(*amount, t.Currency, "amount"); err != nil {
		return Dispute{}, err
	}
	if *amount > left {
		return Dispute{}, Refuse("14055", "amount", amount.String())
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

// disputeFields are what the IPNs of a dispute tell of it. There is no field of its own for the
// disputed amount: it stands with a minus where the charged amount stood. Its tax is known only
// when the whole charge is disputed.
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

// ChangeDispute moves a dispute on (IPN CHARGEBACK_STATUS_CHANGED). One that was won gives the
// transaction back, to be refunded or disputed anew; one that was lost or has expired does not. The
// answers are 20009 for an unknown dispute and 10001 for a status that cannot follow, such as any
// after a final one.
func (s *Service) ChangeDispute(disputeID, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, d := s.dispute(disputeID)
	if d == nil {
		return Refuse("20009", "disputeId", disputeID)
	}
	if !slices.Contains(disputeMoves[d.Status], status) {
		return Refuse("10001", "status", status)
	}
	d.Status, d.Changed = status, s.agenda.Now()
	if end, final := disputeEnds[status]; final {
		t.State = end
		t.closeIfRefunded() // a refund by bank may have ended while it was open
	}
	s.notify(s.occasion(t, "CHARGEBACK_STATUS_CHANGED", t.disputeFields(*d)...))
	return nil
}

// dispute finds a dispute and its transaction by the number of the dispute, which is its own among
// all numbers; nil, nil when there is none. The lock is held.
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
