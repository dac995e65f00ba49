package control

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// faults answers the rules in force as they were set: what a default filled in is not told.
func (d door) faults(*http.Request) (any, error) { return d.Sender.Faults(), nil }

// setFaults takes all the rules or none, and answers those in force.
func (d door) setFaults(r *http.Request) (any, error) {
	var faults []delivery.Fault
	if err := read(r, &faults); err != nil {
		return nil, err
	}
	if err := d.Sender.SetFaults(faults); err != nil {
		return nil, err
	}
	return d.Sender.Faults(), nil
}

// clearFaults ends the rules, not what they have begun: an attempt that is delayed stays so, and a burst goes on.
func (d door) clearFaults(*http.Request) (any, error) {
	return []delivery.Fault{}, d.Sender.SetFaults(nil)
}

// history answers a list of delivery.Delivery. Whoever follows it says after, at first 0, and then the last id that was seen.
func (d door) history(r *http.Request) (any, error) {
	if err := allow(r, "type", "state", "reference", "after", "limit"); err != nil {
		return nil, err
	}
	after, err := number(r, "after")
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit")
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	if state := query.Get("state"); state != "" && !slices.Contains(delivery.States(), delivery.State(state)) {
		return nil, invalid("state is one of %v", delivery.States())
	}
	return d.Sender.Deliveries(delivery.Query{
		Type: query.Get("type"), State: delivery.State(query.Get("state")), Reference: query.Get("reference"),
		After: after, Oldest: query.Has("after"), Limit: int(limit),
	}), nil
}

// delivery answers one delivery.Delivery; 404 for what the history has let go, of which only the totals are left.
func (d door) delivery(r *http.Request) (any, error) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // what is no number names none
	found, kept := d.Sender.Delivery(id)
	if !kept {
		return nil, &problem{http.StatusNotFound, "there is no such IPN, or it is no longer kept"}
	}
	return found, nil
}

// totals answers a list of delivery.Total: what a receiver's books are compared with.
func (d door) totals(*http.Request) (any, error) { return d.Sender.Totals(), nil }

// emit reads an object of fields; an empty body is one without. JSON has no order and IPNs have: fields that the sample does
// not have are added in the order of their names, so that the same request always makes the same body.
func (d door) emit(r *http.Request) (any, error) {
	var fields map[string]string
	if r.ContentLength != 0 {
		if err := read(r, &fields); err != nil {
			return nil, err
		}
	}
	over := make([]notice.Field, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		over = append(over, notice.Field{Name: name, Value: fields[name]})
	}
	return d.Service.Emit(r.PathValue("type"), over...)
}

// burst answers at once, with what it understood; /idle waits for its end. 10 charges a second are the default. It asks no
// flags: a burst is there to load a receiver, also one that would not be sent this type.
func (d door) burst(r *http.Request) (any, error) {
	asked := struct {
		Type      string  `json:"type"`
		URL       string  `json:"url"`
		Count     int     `json:"count"`
		PerSecond float64 `json:"perSecond"`
	}{Type: "CHARGE", PerSecond: 10}
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	if asked.Count < 1 || asked.Count > delivery.MostBurst || asked.PerSecond < 0 {
		return nil, invalid("count is from 1 to %d, perSecond not negative (0: as fast as they are posted)", delivery.MostBurst)
	}
	if asked.URL == "" {
		asked.URL = d.destination()
	}
	if asked.URL == "" {
		return nil, &problem{http.StatusConflict, "there is no destination: give a url, or set the configuration"}
	}
	if !isOfTheWeb(asked.URL) {
		return nil, invalid("url must be an http or https URL")
	}
	d.Sender.Burst(asked.URL, func(int) notice.Notice { return d.Sender.Sample(asked.Type) }, asked.PerSecond, asked.Count)
	return asked, nil
}

// destination is the first of the configuration; "" when there is none.
func (d door) destination() string {
	configuration, exists := d.Service.Configuration()
	if !exists || len(configuration.Destinations) == 0 {
		return ""
	}
	return configuration.Destinations[0].URL
}

// idle waits for a minute, if nothing else is asked for.
func (d door) idle(r *http.Request) (any, error) {
	timeout := time.Minute
	if text := r.URL.Query().Get("timeout"); text != "" {
		asked, err := time.ParseDuration(text)
		if err != nil || asked <= 0 {
			return nil, invalid("timeout is a duration such as 30s")
		}
		timeout = asked
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if err := d.Sender.Idle(ctx); err != nil {
		return nil, &problem{http.StatusGatewayTimeout, "there are still IPNs on their way"}
	}
	return json.RawMessage(`{"idle":true}`), nil
}
