package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// said returns what was typed into a field of the form that was posted, else the query parameter of that name: the page that
// a form stands on shows the same as before when the form is refused.
func (v *visit) said(name string) string {
	if v.Method == http.MethodPost {
		return strings.TrimSpace(v.PostForm.Get(name))
	}
	return v.URL.Query().Get(name)
}

// why says why a person does something, as the form asks.
func (v *visit) why() finance.ActBody { return finance.ActBody{Reason: v.said("reason")} }

// handlerRow is a handler with the word for how it is.
type handlerRow struct{ ipn.HandlerState }

// Stand is the word that matters most: a paused handler may be held too.
func (h handlerRow) Stand() string { return healthWord(&h.HandlerState) }

// Lag is how old the oldest event is that the handler has not seen yet.
func (h handlerRow) Lag() time.Duration { return time.Duration(h.LagSeconds * float64(time.Second)) }

// handlersData is where the handlers stand, and a list of what they failed on.
type handlersData struct {
	Handlers []handlerRow
	Filters  []menu
	Parked   []ipn.ParkedEvent
	Next     string // the cursor of the next page of what failed; "": this is the last one

	Handler, State, Event string // what would be tried again: "" does not restrict
	Counted               string // how many that would be, in words; "": nobody asked
}

func (p *Page) handlers(v *visit) (sheet, error) {
	s, _, err := p.handlersSheet(v)
	return s, err
}

func (p *Page) handlersSheet(v *visit) (sheet, *handlersData, error) {
	if p.Office.Handlers == nil {
		return sheet{}, nil, errNothing
	}
	states, err := p.Office.HandlerStates(v.Context())
	if err != nil {
		return sheet{}, nil, err
	}
	d := &handlersData{Event: v.said("event")}
	names := make([]string, len(states))
	for i, s := range states {
		d.Handlers, names[i] = append(d.Handlers, handlerRow{s}), s.Name
	}
	byHandler, handler, err := pick(v, "handler", "Handler", "every handler", names...)
	if err != nil {
		return sheet{}, nil, err
	}
	byState, state, err := pick(v, "state", "State", "parked and buried", ipn.EventParked, ipn.EventBuried)
	if err != nil {
		return sheet{}, nil, err
	}
	d.Filters, d.Handler, d.State = []menu{byHandler, byState}, handler, string(state)
	d.Parked, d.Next, err = p.Office.ParkedEvents(v.Context(), ipn.ParkedQuestion{Handler: handler, State: state, Limit: perPage}, v.cursor())
	return sheet{name: "handlers", title: "Handlers", path: "/handlers", data: d, wide: true}, d, err
}

// redrive lets what failed be tried again now, or only counts it.
func (p *Page) redrive(v *visit) (sheet, error) {
	s, d, err := p.handlersSheet(v) // which also checks what was chosen
	if err != nil {
		return sheet{}, err
	}
	wish := finance.RedriveBody{ActBody: v.why(), Handler: d.Handler, State: d.State, DryRun: v.said("count") != ""}
	if wish.EventID = number(d.Event); wish.EventID == 0 && d.Event != "" {
		return sheet{}, wrong("event", "Write the number of an event, or nothing for all of them.")
	}
	events, err := p.Office.RedriveParked(v.Context(), &wish)
	if err != nil {
		return sheet{}, err
	}
	if wish.DryRun {
		d.Counted = plural(events, "event", "events")
		return s, nil
	}
	return v.lead("/handlers", "redriven"), nil
}

// handlerData is one handler.
type handlerData struct {
	handlerRow
	Counted *ipn.Replayed // what a replay would come to; nil: nobody asked
	Typed   []pair        // the fields that it was counted for
}

func (p *Page) handler(v *visit) (sheet, error) {
	s, _, err := p.handlerSheet(v)
	return s, err
}

func (p *Page) handlerSheet(v *visit) (sheet, *handlerData, error) {
	if p.Office.Handlers == nil {
		return sheet{}, nil, errNothing
	}
	states, err := p.Office.HandlerStates(v.Context())
	if err != nil {
		return sheet{}, nil, err
	}
	for _, s := range states {
		if s.Name == v.part("name") {
			d := &handlerData{handlerRow: handlerRow{s}}
			return sheet{name: "handler", title: "Handler " + s.Name, path: below("/handlers", s.Name), data: d}, d, nil
		}
	}
	return sheet{}, nil, errNothing
}

func (p *Page) pause(v *visit) (sheet, error) {
	err := p.Office.PauseHandler(v.Context(), v.part("name"), v.why())
	return v.lead(below("/handlers", v.part("name")), "paused"), err
}

func (p *Page) resume(v *visit) (sheet, error) {
	err := p.Office.ResumeHandler(v.Context(), v.part("name"), v.why())
	return v.lead(below("/handlers", v.part("name")), "resumed"), err
}

// replay counts first, and shows what was counted for with a button that does it.
func (p *Page) replay(v *visit) (sheet, error) {
	dryRun := v.said("confirm") != "yes"
	wish, err := replayWish(v, &dryRun)
	if err != nil {
		return sheet{}, err
	}
	replayed, err := p.Office.ReplayHandler(v.Context(), v.part("name"), wish)
	if err != nil {
		return sheet{}, err
	}
	if !dryRun {
		return v.lead(below("/handlers", v.part("name")), "replayed"), nil
	}
	s, d, err := p.handlerSheet(v)
	if err != nil {
		return sheet{}, err
	}
	d.Counted = &replayed
	for _, name := range append([]string{"which", "since", "reason"}, replayFields...) {
		if value := v.said(name); value != "" {
			d.Typed = append(d.Typed, pair{name, value})
		}
	}
	return s, nil
}

// replayFields are the fields of the form that say which events match.
var replayFields = []string{"transactionType", "referenceNumber", "subscriptionId", "merchantTransactionId", "accountId", "currency", "from", "to", "testOrders"}

// replayWish reads the form of a replay.
func replayWish(v *visit, dryRun *bool) (*finance.ReplayBody, error) {
	wish := &finance.ReplayBody{ActBody: v.why(), DryRun: dryRun}
	switch v.said("which") {
	case "all":
		wish.All = true
	case "since":
		if wish.Since = v.said("since"); wish.Since == "" {
			return nil, wrong("since", "Write the day from which on events are seen again.")
		}
	case "matching":
		wish.Matching = &finance.MatchesBody{
			TransactionType: v.said("transactionType"), ReferenceNumber: v.said("referenceNumber"), SubscriptionID: v.said("subscriptionId"),
			MerchantTransactionID: v.said("merchantTransactionId"), AccountID: v.said("accountId"), Currency: v.said("currency"),
			From: v.said("from"), To: v.said("to"),
		}
		if only := v.said("testOrders"); only != "" {
			wish.Matching.Test = new(only == "true")
		}
		if *wish.Matching == (finance.MatchesBody{}) {
			return nil, wrong("matching", "Fill in at least one of the fields that events are matched by.")
		}
	default:
		return nil, wrong("which", "Say which events: all, those since a day, or those that match.")
	}
	return wish, nil
}
