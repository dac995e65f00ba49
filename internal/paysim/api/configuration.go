package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The members of a notification configuration besides the send flags (specification section 2.8).
const (
	memberDestinations = "ipnDestinations"
	memberURL          = "ipnUrl"
	memberEnsure       = "ensureNotificationReceipt"
	memberAffiliate    = "receiveAffiliateNotifications"
)

// flags are the 28 send flags in the order of specification section 2.8, in which they are
// answered.
var flags = notice.Flags()

// registerConfiguration serves the one configuration of the authenticated user (specification
// sections 4 and 5). The bodies of all three answers are not shown; a client must get along with
// any 2xx, so these say no more than is needed.
func (d *door) registerConfiguration() {
	d.path("/services/2/notification-config", map[string]operation{
		http.MethodGet: d.readConfiguration, http.MethodPost: d.replaceConfiguration, http.MethodDelete: d.deleteConfigurations,
	})
}

// readConfiguration answers 200 with all flags told, in JSON or in XML. An account without a
// configuration is answered one with no destination and both settings false, not 404: there is
// nothing wrong with it.
func (d *door) readConfiguration(*request) (answer, error) {
	c, _ := d.service.Configuration()
	return answer{Body: configurationView{c}, XML: configurationXML{c}}, nil
}

// replaceConfiguration answers 204. What is refused leaves the configuration that was there.
func (d *door) replaceConfiguration(r *request) (answer, error) {
	c, err := configurationIn(r)
	if err != nil {
		return answer{}, err
	}
	d.service.ReplaceConfiguration(c)
	return answer{}, nil
}

// deleteConfigurations answers 204, whether there was one or not.
func (d *door) deleteConfigurations(*request) (answer, error) {
	d.service.DeleteConfigurations()
	return answer{}, nil
}

// members are the scalars of an object by their names in JSON, as text; in XML everything is text.
type members map[string]string

// written is a configuration as it was sent, in JSON or in XML, before it is understood. Both forms
// meet here, so that one set of rules holds for both.
type written struct {
	settings     members   // what stands beside the destinations
	destinations []members // each with its URL and its flags
}

// configurationIn reads the body of a request in the form that its content type says: 415 for
// another one.
func configurationIn(r *request) (paysim.Configuration, error) {
	body, kind, err := r.read()
	if err != nil {
		return paysim.Configuration{}, err
	}
	var sent written
	switch kind {
	case "application/json":
		sent, err = configurationJSON(body)
	case "application/xml", "text/xml":
		sent, err = parseXML(body)
	default:
		err = unreadable("application/json and application/xml")
	}
	if err != nil {
		return paysim.Configuration{}, err
	}
	return sent.configuration()
}

// configurationJSON reads JSON. The destinations are a list, or the one object itself: the field
// table calls it an object, the note beside it a list holding one object (specification section
// 2.8).
func configurationJSON(body []byte) (sent written, err error) {
	object := map[string]json.RawMessage{}
	if err := decodeJSON(body, &object); err != nil {
		return sent, err
	}
	// What is left of the object are the settings. Destinations that are missing are told later,
	// where XML meets the same rule.
	list, there := object[memberDestinations]
	delete(object, memberDestinations)
	if sent.settings, err = scalars(object); err != nil || !there {
		return sent, err
	}
	var several []map[string]json.RawMessage // raw, because JSON null, numbers and lists must not pass as texts
	if one := (map[string]json.RawMessage{}); json.Unmarshal(list, &one) == nil && one != nil {
		several = append(several, one)
	} else if json.Unmarshal(list, &several) != nil {
		return sent, invalid(memberDestinations, "", "it must be a list of objects")
	}
	for _, one := range several {
		m, err := scalars(one)
		if err != nil {
			return sent, err
		}
		sent.destinations = append(sent.destinations, m)
	}
	return sent, nil
}

// scalars reads an object of strings and booleans; 10001 for a member that is neither, null
// included. Of several the first by name is told.
func scalars(object map[string]json.RawMessage) (members, error) {
	read := members{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		raw, text := object[name], ""
		switch value := string(raw); {
		case value == "true" || value == "false":
			text = value
		case value == "null", json.Unmarshal(raw, &text) != nil:
			return nil, invalid(name, value, "it must be a string or a boolean")
		}
		read[name] = text
	}
	return read, nil
}

// configuration understands what was sent. What is required (specification section 2.8) is refused
// with 16001 when it is missing; a member that nobody knows, a flag that is neither true nor false
// and a URL that nothing can be posted to, with 10001. A flag that was not sent is false (section
// 4, rule 7): that is why a misspelt one must not pass.
func (w written) configuration() (c paysim.Configuration, err error) {
	for _, name := range slices.Sorted(maps.Keys(w.settings)) {
		if name != memberEnsure && name != memberAffiliate {
			return c, invalid(name, "", "a configuration has no such member")
		}
	}
	if len(w.destinations) == 0 {
		return c, missing(memberDestinations)
	}
	if c.EnsureReceipt, err = w.settings.flag(memberEnsure); err != nil {
		return c, err
	}
	if c.ReceiveAffiliate, err = w.settings.flag(memberAffiliate); err != nil {
		return c, err
	}
	for _, m := range w.destinations {
		destination, err := m.destination()
		if err != nil {
			return c, err
		}
		c.Destinations = append(c.Destinations, destination)
	}
	return c, nil
}

// destination understands one destination: 16001 without a URL, 10001 for what cannot be. A URL may
// be http: the real service wants https, but a test has no certificate.
func (m members) destination() (paysim.Destination, error) {
	d := paysim.Destination{URL: m[memberURL], Send: map[string]bool{}}
	if d.URL == "" {
		return d, missing(memberURL)
	}
	to, err := url.Parse(d.URL)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return d, invalid(memberURL, d.URL, "it must be an http or https URL")
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == memberURL {
			continue
		}
		if !slices.Contains(flags, name) {
			return d, invalid(name, m[name], "a destination has no such member")
		}
		if d.Send[name], err = m.flag(name); err != nil {
			return d, err
		}
	}
	return d, nil
}

// flag reads a boolean: 16001 when it is missing, 10001 when it is none. It may come as a text, as
// the field table has it, and as Y or N, as IPNs have it, in any letter case.
func (m members) flag(name string) (bool, error) {
	text, there := m[name]
	if !there {
		return false, missing(name)
	}
	switch strings.ToLower(text) {
	case "true", "y":
		return true, nil
	case "false", "n":
		return false, nil
	}
	return false, invalid(name, text, "it must be true or false")
}
