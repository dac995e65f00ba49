package page

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// auditData is the list of what was done by hand.
type auditData struct {
	Entries []ipn.AuditEntry
	Next    int64 // the cursor of the next page; 0: this is the last one
}

func (p *Page) audit(v *visit) (sheet, error) {
	before, err := v.cursorID()
	if err != nil {
		return sheet{}, err
	}
	entries, next, err := p.Office.Audit(v.Context(), before, perPage)
	if err != nil {
		return sheet{}, err
	}
	return sheet{name: "audit", title: "Audit", data: auditData{entries, next}, wide: true}, nil
}
