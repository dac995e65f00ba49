package paysim

import (
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The life of a subscription on the agenda: a reminder, then the renewal, and again; a refused renewal is tried again some
// days later, and the last refusal ends the subscription.
const (
	remindBefore   = 3 * day
	renewalTries   = 3       // the one that was due is the first
	betweenRenewal = 3 * day // so the end comes six days after it
)

// schedule enters what comes next for a subscription; what was entered before is void. The lock is held.
func (s *Service) schedule(sub *Subscription) {
	sub.plannedAs++
	if remind := sub.NextCharge.Add(-remindBefore); remind.After(s.agenda.Now()) {
		s.later(sub, remind, s.remind)
	}
	s.later(sub, sub.NextCharge, s.due)
}

// later does something to a subscription at a time, unless its plans have changed by then.
func (s *Service) later(sub *Subscription, when time.Time, do func(*Subscription)) {
	planned := sub.plannedAs
	s.agenda.At(when, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if sub.plannedAs == planned {
			do(sub)
		}
	})
}

// remind announces a renewal. One that will not come is not announced.
func (s *Service) remind(sub *Subscription) {
	if sub.AutoRenew {
		s.tell(sub, "SUBSCRIPTION_REMINDER", notice.Field{Name: "daysTillPayment", Value: strconv.Itoa(int(remindBefore / day))})
	}
}

// due is the end of a period, or the day on which a refused renewal is tried again: who has switched the renewal off in the
// meantime is not charged.
func (s *Service) due(sub *Subscription) {
	if !sub.AutoRenew {
		s.cancel(sub, "CANCELLED_ON_RENEWAL")
		return
	}
	s.renew(sub)
}

// renew charges the period that begins at NextCharge. The first money that a subscription takes is a CHARGE, even after a
// trial; all that follows is RECURRING. The quote of the recurring charge holds for every renewal: its tax was settled when
// it was sent.
func (s *Service) renew(sub *Subscription) {
	began := sub.NextCharge
	sub.NextCharge = began.Add(sub.Plan.Period)
	o := s.orderOf(sub, "RECURRING", price{amount: sub.RecurringAmount, tax: sub.RecurringTax, reference: sub.RecurringTaxReference})
	if sub.quote != nil {
		o.Fee, o.TaxRate = sub.quote.Fee, sub.quote.rate()
	}
	o.success, o.failure, o.renewal, o.refuse = "RECURRING", "SUBSCRIPTION_CHARGE_FAILURE", true, sub.FailNext
	if len(sub.Charges) == 0 {
		o.success = "CHARGE"
	} else {
		o.fields = append(o.fields, notice.Field{Name: "originalReferenceNumber", Value: sub.origin.ID})
	}
	o.decided = func(t *Transaction, approved bool) {
		if approved {
			sub.Failures = 0
			return
		}
		s.takeBack(sub, t, func() { s.refused(sub, began) })
	}
	sub.FailNext = false
	charged, err := s.charge(o)
	if err != nil {
		s.refused(sub, began)
		return
	}
	if len(sub.Charges) == 0 {
		sub.origin = charged
	}
	if charged.State == Captured { // else it waits, and decided tells
		sub.Failures = 0
	}
	sub.Charges = append(sub.Charges, charged.ID)
	s.schedule(sub)
}

// takeBack takes a charge out of a subscription that counted as paid while it waited, and goes on as it would have gone on
// then, if the subscription still runs.
func (s *Service) takeBack(sub *Subscription, t *Transaction, then func()) {
	sub.Charges = slices.DeleteFunc(sub.Charges, func(id string) bool { return id == t.ID })
	if sub.Status == Active {
		then()
	}
}

// refused is what follows a refused renewal. The period keeps its beginning: who pays late has not bought more time.
func (s *Service) refused(sub *Subscription, began time.Time) {
	sub.NextCharge = began
	sub.Failures++
	if sub.Failures >= renewalTries {
		s.cancel(sub, "RENEWAL_CHARGE_FAILED")
		return
	}
	sub.plannedAs++
	s.later(sub, s.agenda.Now().Add(betweenRenewal), s.due)
}

// cancel ends a subscription and says so.
func (s *Service) cancel(sub *Subscription, reason string) {
	s.end(sub)
	s.tell(sub, "CANCELLATION", cancellation(sub, reason)...)
}

// end ends a subscription in silence: whoever ends it sends the IPN. The lock is held.
func (s *Service) end(sub *Subscription) {
	sub.Status, sub.AutoRenew = Canceled, false
	sub.plannedAs++
}

// cancellation is what the IPNs of an end say about it.
func cancellation(sub *Subscription, reason string) []notice.Field {
	return []notice.Field{
		{Name: "cancelReason", Value: reason},
		{Name: "cancelledContractId", Value: strconv.FormatInt(sub.Plan.ID, 10)},
	}
}

// tell sends an IPN about the subscription itself: its reference is that of the first charge, its contract the present plan.
func (s *Service) tell(sub *Subscription, transactionType string, fields ...notice.Field) {
	about := *sub.origin
	about.PlanID, about.Product = sub.Plan.ID, sub.Plan.Name
	said := append(sub.told(), notice.Field{Name: "originalRefNum", Value: about.ID})
	s.notify(s.occasion(&about, transactionType, append(said, fields...)...))
}
