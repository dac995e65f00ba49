package page

import (
	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// transfersData is the list of bank transfers.
type transfersData struct {
	Transfers []finance.TransferView
	Next      string
	Filters   []menu
	Chosen    ipn.TransferTrouble // the work list; "": all transfers
}

// lookBack are how far the list may look back.
var lookBack = []string{"7", "30", "90", "366"}

func (p *Page) transfers(v *visit) (sheet, error) {
	if p.Office.Transfers == nil {
		return sheet{}, errNothing
	}
	byTrouble, trouble, err := pick(v, "trouble", "Work list", "all transfers", ipn.ReturnWithoutIPN, ipn.IPNWithoutReturn, ipn.PendingTooLong)
	if err != nil {
		return sheet{}, err
	}
	byDays, days, err := pick(v, "days", "Days to look back", "30", lookBack...)
	if err != nil {
		return sheet{}, err
	}
	asked := finance.TransfersAsked{Trouble: trouble, Test: v.test, Days: 30, Cursor: v.cursor(), Limit: perPage}
	if days != "" {
		asked.Days = int(number(days))
	}
	d := transfersData{Filters: []menu{byTrouble, byDays}, Chosen: trouble}
	if d.Transfers, d.Next, err = p.Office.ListTransfers(v.Context(), asked); err != nil {
		return sheet{}, err
	}
	return sheet{name: "transfers", title: "Bank transfers", data: d, wide: true}, nil
}
