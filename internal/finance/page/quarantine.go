package page

import (
	"maps"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// quarantineData is the list of posts that wait.
type quarantineData struct {
	Posts []finance.Rejudged
	Next  int64 // the cursor of the next page; 0: this is the last one
}

func (p *Page) quarantine(v *visit) (sheet, error) {
	before, err := v.cursorID()
	if err != nil {
		return sheet{}, err
	}
	posts, next, err := p.Office.InQuarantine(v.Context(), before, perPage)
	if err != nil {
		return sheet{}, err
	}
	return sheet{name: "quarantine", title: "Quarantine", data: quarantineData{posts, next}, wide: true}, nil
}

// mostFields is how many fields of a post are shown: an IPN has less than a hundred, a flood has thousands.
const mostFields = 200

// postData is one post that waits.
type postData struct {
	finance.Rejudged
	Headers  []pair
	Fields   []pair
	Hidden   int  // fields beyond those
	Revealed bool // nothing is masked
}

func (p *Page) post(v *visit) (sheet, error) {
	s, d, err := p.postSheet(v)
	if err != nil {
		return sheet{}, err
	}
	d.show(p.Office.Masked(d.Raw, d.Quarantined.Headers))
	return s, nil
}

// revealPost shows the same with nothing masked, after that was kept in the audit.
func (p *Page) revealPost(v *visit) (sheet, error) {
	s, d, err := p.postSheet(v)
	if err != nil {
		return sheet{}, err
	}
	event, err := p.Office.RevealQuarantined(v.Context(), d.ID, v.why())
	if err != nil {
		return sheet{}, err
	}
	d.Revealed = true
	d.show(event)
	return s, nil
}

func (p *Page) postSheet(v *visit) (sheet, *postData, error) {
	post, err := p.Office.Quarantined(v.Context(), number(v.part("id")))
	if err != nil {
		return sheet{}, nil, err
	}
	d := &postData{Rejudged: post}
	for _, name := range slices.Sorted(maps.Keys(post.Quarantined.Headers)) {
		d.Headers = append(d.Headers, pair{name, post.Quarantined.Headers[name]})
	}
	return sheet{name: "post", title: "Post in quarantine", path: below("/quarantine", post.ID), data: d}, d, nil
}

// show lists the fields of an event; nil has none.
func (d *postData) show(event *ipn.Event) {
	if event == nil {
		return
	}
	d.Hidden = max(0, len(event.Fields)-mostFields)
	for _, f := range event.Fields[:len(event.Fields)-d.Hidden] {
		d.Fields = append(d.Fields, pair{f.Name, f.Value})
	}
}

func (p *Page) promote(v *visit) (sheet, error) {
	recorded, err := p.Office.Promote(v.Context(), number(v.part("id")), v.why())
	if err != nil {
		return sheet{}, err
	}
	return v.lead(below("/events", recorded.EventID), "promoted"), nil
}
