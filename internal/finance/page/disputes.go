package page

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// disputesData is the list of disputes.
type disputesData struct {
	Disputes []ipn.DisputeBook
	Next     string
	Filters  []menu
	Filtered bool
	Days     int // from the opening to the estimated deadline; 0: none is estimated
}

func (p *Page) disputes(v *visit) (sheet, error) {
	if p.Office.Books == nil {
		return sheet{}, errNothing
	}
	byState, state, err := pick(v, "state", "State", "any state", ipn.DisputeOpen, ipn.DisputeWon, ipn.DisputeLost, ipn.DisputeClosed)
	if err != nil {
		return sheet{}, err
	}
	byOrder, order, err := pick(v, "order", "Opened", "newest first", "oldest")
	if err != nil {
		return sheet{}, err
	}
	d := disputesData{Filters: []menu{byState, byOrder.named("oldest", "oldest first")}, Filtered: state != "", Days: p.Office.DisputeDays}
	q := ipn.DisputeQuestion{State: state, Test: v.test, OldestFirst: order == "oldest", Limit: perPage}
	if d.Disputes, d.Next, err = p.Office.ListDisputes(v.Context(), q, v.cursor()); err != nil {
		return sheet{}, err
	}
	for i := range d.Disputes {
		one := &d.Disputes[i]
		one.AgeDays, one.EstimatedDeadline = one.Age(v.now), one.Deadline(d.Days)
	}
	return sheet{name: "disputes", title: "Disputes", data: d, wide: true}, nil
}
