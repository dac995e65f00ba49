package page

import (
	"slices"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// What one page shows of an event. A body may be a megabyte of anything; the page stays small, and the raw body has the rest.
const (
	fieldBytes   = 30_000 // of escaped names and values of all fields
	detailBytes  = 15_000 // of the groups
	variantBytes = 8_000  // of what differs in variants
	mostVariants = 10
	mostAttempts = 10
)

// eventData is one event with all that is known of it.
type eventData struct {
	*ipn.Stored
	Words    string
	Family   ipn.Family
	Dropped  bool // the body is gone, by retention
	Groups   []group
	Fields   []fieldRow
	Left     int  // fields that are not shown
	Revealed bool // nothing is masked
	Variants []variantData
	MoreVars int64 // variants that are not shown
	Handlers []ipn.Handling
}

// variantData is a variant and where it differs from what was told first.
type variantData struct {
	ipn.Variant
	Differs []difference
	Left    int // differences that are not shown
	Dropped bool
}

// event shows one event, with personal fields masked.
func (p *Page) event(v *visit) (sheet, error) {
	stored, variants, err := p.findEvent(v)
	if err != nil {
		return sheet{}, err
	}
	plain := p.decode(stored.Raw, stored.Headers)
	data := &eventData{Stored: stored}
	shown := p.Office.Masked(stored.Raw, stored.Headers)
	for _, told := range variants[:min(len(variants), mostVariants)] {
		data.addVariant(&told, plain, p.decode(told.Raw, told.Headers), shown, p.Office.Masked(told.Raw, told.Headers))
	}
	return p.eventSheet(v, data, shown)
}

// reveal shows one event with nothing masked, once: the office has put it into the audit by then.
func (p *Page) reveal(v *visit) (sheet, error) {
	id := number(v.part("id"))
	if id == 0 {
		return sheet{}, errNothing
	}
	revealed, err := p.Office.Reveal(v.Context(), id, finance.ActBody{Reason: v.PostFormValue("reason")})
	if err != nil {
		return sheet{}, err
	}
	data := &eventData{Stored: revealed.Stored, Revealed: true}
	for _, told := range revealed.Variants[:min(len(revealed.Variants), mostVariants)] {
		data.addVariant(&told.Variant, revealed.Event, told.Event, revealed.Event, told.Event)
	}
	return p.eventSheet(v, data, revealed.Event)
}

func (p *Page) findEvent(v *visit) (*ipn.Stored, []ipn.Variant, error) {
	id := number(v.part("id"))
	if id == 0 {
		return nil, nil, errNothing
	}
	stored, err := p.Office.History.Event(v.Context(), id)
	if err != nil {
		return nil, nil, err
	}
	variants, err := p.Office.History.Variants(v.Context(), id)
	return stored, variants, err
}

// decode reads a body anew, to compare it; nil once it was dropped. Nothing of it is shown.
func (p *Page) decode(raw []byte, headers map[string]string) *ipn.Event {
	if raw == nil {
		return nil
	}
	return p.Office.Decoder.Decode(raw, headers["content-type"])
}

// eventSheet fills in what an event tells; shown is masked or not, and nil once the body was dropped. An event belongs to one
// book, whichever was looked at before.
func (p *Page) eventSheet(v *visit, data *eventData, shown *ipn.Event) (sheet, error) {
	data.Words, data.Dropped = data.Sentence(), shown == nil
	data.MoreVars = max(0, data.Stored.Variants-int64(len(data.Variants)))
	if shown != nil {
		data.Family = shown.Family()
		data.Groups = groupsOf(shown.Details(), detailBytes)
		data.Fields, data.Left = rowsOf(shown.Fields, fieldBytes)
	}
	if p.Office.Handlers != nil {
		var err error
		if data.Handlers, err = p.Office.Handlers.Handlings(v.Context(), data.ID); err != nil {
			return sheet{}, err
		}
		for i := range data.Handlers {
			h := &data.Handlers[i]
			h.History = h.History[max(0, len(h.History)-mostAttempts):]
		}
	}
	v.test = data.Facts.Test
	return sheet{name: "event", title: "Event " + strconv.FormatInt(data.ID, 10), path: "/events", data: data}, nil
}

// addVariant compares a variant with the first telling, both as they were sent, and shows them as they may be seen.
func (d *eventData) addVariant(told *ipn.Variant, first, other, firstShown, otherShown *ipn.Event) {
	found := variantData{Variant: *told, Dropped: first == nil || other == nil}
	if !found.Dropped {
		found.Differs, found.Left = differences(first.Fields, other.Fields, firstShown.Fields, otherShown.Fields, variantBytes/mostVariants)
	}
	d.Variants = append(d.Variants, found)
}

// Oddities are the problems of the event in words.
func (d *eventData) Oddities() []fieldTrouble {
	found := make([]fieldTrouble, 0, len(d.Problems))
	for _, p := range d.Problems[:min(len(d.Problems), 40)] {
		words := ipn.ProblemSentence(p.Code)
		if p.Detail != "" {
			words += " (" + p.Detail + ")"
		}
		found = append(found, fieldTrouble{p.Field, words})
	}
	return found
}

// Failed tells whether the event waits for somebody at a handler, where it can be redriven.
func (d *eventData) Failed() bool {
	return slices.ContainsFunc(d.Handlers, func(h ipn.Handling) bool { return h.State == ipn.EventParked || h.State == ipn.EventBuried })
}
