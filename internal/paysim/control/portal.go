package control

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// wireConfiguration is the notification configuration as specification section 2.8 writes it.
type wireConfiguration struct {
	Destinations     []wireDestination `json:"ipnDestinations"`
	EnsureReceipt    bool              `json:"ensureNotificationReceipt"`
	ReceiveAffiliate bool              `json:"receiveAffiliateNotifications"`
}

// wireDestination holds its URL and its flags in one object.
type wireDestination struct{ paysim.Destination }

const urlName = "ipnUrl" // beside the flags, in the same object

// MarshalJSON writes all flags, also those that are false.
func (d wireDestination) MarshalJSON() ([]byte, error) {
	all := map[string]any{urlName: d.URL}
	for _, flag := range notice.Flags() {
		all[flag] = d.Send[flag]
	}
	return json.Marshal(all)
}

// UnmarshalJSON takes what is missing for false, and refuses flags that nobody knows.
func (d *wireDestination) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	if err := json.Unmarshal(all[urlName], &d.URL); err != nil || d.URL == "" {
		return invalid("ipnUrl is required")
	}
	if !isOfTheWeb(d.URL) {
		return invalid("ipnUrl must be an http or https URL")
	}
	delete(all, urlName)
	known := notice.Flags()
	d.Send = make(map[string]bool, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var on bool
		if err := json.Unmarshal(all[name], &on); err != nil || !slices.Contains(known, name) {
			return invalid("%s is not a flag, or neither true nor false", name)
		}
		d.Send[name] = on
	}
	return nil
}

// isOfTheWeb tells whether an IPN can be posted to an address.
func isOfTheWeb(address string) bool {
	to, err := url.Parse(address)
	return err == nil && to.Host != "" && (to.Scheme == "http" || to.Scheme == "https")
}

// configuration answers with all flags of all destinations.
func (d door) configuration(*http.Request) (any, error) {
	configuration, exists := d.Service.Configuration()
	if !exists {
		return nil, &problem{http.StatusNotFound, "there is no notification configuration"}
	}
	wire := wireConfiguration{EnsureReceipt: configuration.EnsureReceipt, ReceiveAffiliate: configuration.ReceiveAffiliate, Destinations: []wireDestination{}}
	for _, destination := range configuration.Destinations {
		wire.Destinations = append(wire.Destinations, wireDestination{destination})
	}
	return wire, nil
}

// setConfiguration replaces the whole, as the API would: what is not sent is false. It answers what is kept now.
func (d door) setConfiguration(r *http.Request) (any, error) {
	var wire wireConfiguration
	if err := read(r, &wire); err != nil {
		return nil, err
	}
	configuration := paysim.Configuration{EnsureReceipt: wire.EnsureReceipt, ReceiveAffiliate: wire.ReceiveAffiliate}
	for _, destination := range wire.Destinations {
		configuration.Destinations = append(configuration.Destinations, destination.Destination)
	}
	d.Service.ReplaceConfiguration(configuration)
	return d.configuration(r)
}

// deleteConfiguration removes all destinations, be there any or none.
func (d door) deleteConfiguration(*http.Request) (any, error) {
	d.Service.DeleteConfigurations()
	return wireConfiguration{Destinations: []wireDestination{}}, nil
}

// switchTypes switches the types in the order of their names, and stops at the first that cannot be.
func (d door) switchTypes(r *http.Request) (any, error) {
	var switches map[string]bool
	if err := read(r, &switches); err != nil {
		return nil, err
	}
	for _, transactionType := range slices.Sorted(maps.Keys(switches)) {
		if err := d.Service.SwitchPortalType(transactionType, switches[transactionType]); err != nil {
			return nil, err
		}
	}
	return switches, nil
}
