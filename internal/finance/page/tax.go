package page

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
)

// taxData is the tax record of a transaction, if one was asked for, and what a refund of some of its items comes to.
type taxData struct {
	Number string
	Record *finance.TaxRecordView // nil: none was asked for
	Lines  []taxLine
	Refund *finance.TaxRefundView // nil: nothing was worked out
	Items  string                 // of the refund, as the API writes them
}

// taxLine is an item with the pieces that go back, as they were typed.
type taxLine struct {
	finance.TaxLineView
	Field string // the name of its field in the form
	Typed string
}

func (p *Page) tax(v *visit) (sheet, error) {
	if p.Office.TaxRecords == nil {
		return sheet{}, errNothing
	}
	query := v.URL.Query()
	d := taxData{Number: strings.TrimSpace(query.Get("number"))}
	s := sheet{name: "tax", title: "Tax records", data: &d}
	if d.Number == "" {
		return s, nil
	}
	record, err := p.Office.TaxRecord(v.Context(), d.Number, v.test)
	if err != nil {
		return sheet{}, missing(err, "There is no tax record under this number in this book. Records are sent to the API: POST /api/v1/tax-records.")
	}
	d.Record = &record
	for i, line := range record.Lines {
		field := "pieces" + strconv.Itoa(i)
		d.Lines = append(d.Lines, taxLine{line, field, strings.TrimSpace(query.Get(field))})
	}
	if !query.Has("refund") {
		return s, nil
	}
	if d.Items, err = itemsOf(d.Lines, query); err != nil {
		return sheet{}, err
	}
	refund, err := p.Office.RefundOf(v.Context(), d.Number, d.Items, v.test)
	d.Refund = &refund
	return s, err
}

// itemsOf writes the pieces that were typed as the API takes them: SHIRT:1,MUG:2. Everything that is left is written out too,
// since for the API no items at all mean that.
func itemsOf(lines []taxLine, query url.Values) (string, error) {
	var items []string
	for _, line := range lines {
		pieces := line.Typed
		if query.Get("refund") == "all" {
			pieces = strconv.FormatInt(line.Left, 10)
		}
		if pieces == "" || pieces == "0" {
			continue
		}
		if number(pieces) == 0 {
			return "", wrong(line.ItemCode, "Write how many pieces go back, as a number.")
		}
		items = append(items, line.ItemCode+":"+pieces)
	}
	if len(items) == 0 {
		return "", wrong("", "Say which items go back: nothing is left, or no number was typed.")
	}
	return strings.Join(items, ","), nil
}
