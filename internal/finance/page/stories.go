package page

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// mostSteps are the events that a story tells; there are more of a shopper's account or a merchant's odd habit, and the list
// of events has them all.
const mostSteps = 150

// step is an event as a step of a story.
type step struct {
	*ipn.Stored
	Words string // what the event says
}

// At is when it happened by the sender's date, else when it was received.
func (s step) At() time.Time { return s.SortedAt }

// Late tells that the IPN came more than a day after what it tells of: then both times are worth a word.
func (s step) Late() bool { return s.ReceivedAt.Sub(s.SortedAt) > 24*time.Hour }

// steps returns the last events that q asks for, oldest first, and whether there were more before them.
func (p *Page) steps(v *visit, q ipn.Question) (steps []step, more bool, err error) {
	q.Limit, q.FactsOnly = mostSteps+1, true
	events, err := p.Office.History.Events(v.Context(), q)
	if err != nil {
		return nil, false, err
	}
	if more = len(events) > mostSteps; more {
		events = events[:mostSteps]
	}
	steps = make([]step, len(events))
	for i := range events {
		steps[i] = step{&events[i], events[i].Sentence()}
	}
	slices.Reverse(steps)
	return steps, more, nil
}

// events are those of the steps.
func events(steps []step) []ipn.Stored {
	all := make([]ipn.Stored, len(steps))
	for i, s := range steps {
		all[i] = *s.Stored
	}
	return all
}

// transactionData is what became of a reference number.
type transactionData struct {
	ipn.Transaction
	Known    bool // to the books; the log is milliseconds ahead of them
	Number   string
	Steps    []step
	More     bool
	Summary  string // what became of it in one sentence
	Disputes []ipn.DisputeBook
	Recorded *finance.TaxRecordView // the tax of its items; nil: none was recorded
}

// transaction shows a reference number: its state, its amounts and how it came to them.
func (p *Page) transaction(v *visit) (sheet, error) {
	number := v.part("referenceNumber")
	if p.Office.Books == nil || !askable(number) {
		return sheet{}, errNothing
	}
	data := &transactionData{Number: number}
	var err error
	if data.Steps, data.More, err = p.steps(v, ipn.Question{ReferenceNumber: number, Test: &v.test}); err != nil {
		return sheet{}, err
	}
	data.Transaction, err = p.Office.Books.Transaction(v.Context(), number, v.test)
	if data.Known = err == nil; errors.Is(err, ipn.ErrNotFound) && len(data.Steps) > 0 {
		err = nil
	}
	if err != nil {
		return sheet{}, err
	}
	if err := p.beside(v, data); err != nil {
		return sheet{}, err
	}
	return sheet{name: "transaction", title: "Transaction " + number, data: data}, nil
}

// beside finds what else is known of a transaction: its disputes, and the tax of its items.
func (p *Page) beside(v *visit, data *transactionData) (err error) {
	const mostDisputes = 20
	data.Disputes, err = p.Office.Books.Disputes(v.Context(), ipn.DisputeQuestion{ReferenceNumber: data.Number, Test: v.test, OldestFirst: true, Limit: mostDisputes})
	if err != nil {
		return err
	}
	for i := range data.Disputes {
		d := &data.Disputes[i]
		d.AgeDays, d.EstimatedDeadline = d.Age(v.now), d.Deadline(p.Office.DisputeDays)
	}
	if data.Known {
		data.Summary = finance.Summary(&data.Transaction, data.Disputes, events(data.Steps))
	}
	if p.Office.TaxRecords == nil {
		return nil
	}
	for _, number := range []string{data.Number, data.MerchantTransactionID} {
		if number == "" {
			continue
		}
		record, err := p.Office.TaxRecord(v.Context(), number, v.test)
		switch {
		case err == nil:
			data.Recorded = &record
			return nil
		case !isNothing(err):
			return err
		}
	}
	return nil
}

// isNothing tells that nothing stands under a number, in the words of the record or of the API.
func isNothing(err error) bool {
	var answered interface{ GetStatus() int }
	return errors.Is(err, ipn.ErrNotFound) || errors.As(err, &answered) && answered.GetStatus() == 404
}

// storyData is what happened to a number, whatever it is the number of.
type storyData struct {
	Number        string
	Steps         []step
	More          bool
	Transactions  []string
	Subscriptions []string
	Elsewhere     bool // nothing here, but something in the other book
}

// story tells what happened to a number: a reference, a reversal, a subscription, an account, or the merchant's own.
func (p *Page) story(v *visit) (sheet, error) {
	data := &storyData{Number: v.part("number")}
	if !askable(data.Number) {
		return sheet{}, errNothing
	}
	var err error
	if data.Steps, data.More, err = p.steps(v, ipn.Question{Text: data.Number, Test: &v.test}); err != nil {
		return sheet{}, err
	}
	for _, s := range data.Steps {
		data.Transactions = added(data.Transactions, s.Facts.ReferenceNumber)
		data.Subscriptions = added(data.Subscriptions, s.Facts.SubscriptionID)
	}
	if len(data.Steps) == 0 {
		other := !v.test
		elsewhere, _, err := p.steps(v, ipn.Question{Text: data.Number, Test: &other})
		if err != nil {
			return sheet{}, err
		}
		data.Elsewhere = len(elsewhere) > 0
		return sheet{name: "story", title: "What happened to " + data.Number, data: data, status: 404}, nil
	}
	return sheet{name: "story", title: "What happened to " + data.Number, data: data}, nil
}

// added appends a text that is not empty and not there yet, up to as many as a page names.
func added(list []string, text string) []string {
	const most = 8
	if text == "" || len(list) == most || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// findStory takes the number out of the search field to its page.
func (p *Page) findStory(v *visit) (sheet, error) {
	number := strings.TrimSpace(v.URL.Query().Get("number"))
	if !askable(number) {
		return sheet{name: "trouble", title: "What happened to …"}, wrong("number", "Write the number of a transaction, a refund, a subscription or an account, or your own.")
	}
	return v.lead("/stories/"+url.PathEscape(number), ""), nil
}

// askable tells whether the record can hold the number, and so be asked for it.
func askable(number string) bool {
	const longest = 255 // bytes of a number in the record
	return number != "" && len(number) <= longest && validText(number)
}
