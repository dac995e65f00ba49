package page

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// payoutsData is what went to the bank, and what should have.
type payoutsData struct {
	Payouts []ipn.Movement
	Next    string
	Failed  []step // the latest transfers to the bank that failed
}

// mostFailed are the failed transfers beside the list: a person looks at the latest.
const mostFailed = 10

func (p *Page) payouts(v *visit) (sheet, error) {
	if p.Office.Books == nil {
		return sheet{}, errNothing
	}
	d := payoutsData{}
	var err error
	if d.Payouts, d.Next, err = p.Office.ListPayouts(v.Context(), ipn.Span{Test: v.test}, v.cursor(), perPage); err != nil {
		return sheet{}, err
	}
	q := ipn.Question{TransactionType: "FAILED_PAYOUT_TRANSFER", Test: &v.test, Limit: mostFailed, FactsOnly: true}
	failed, err := p.Office.History.Events(v.Context(), q)
	for i := range failed {
		d.Failed = append(d.Failed, step{&failed[i], failed[i].Sentence()})
	}
	return sheet{name: "payouts", title: "Payouts", data: d}, err
}
