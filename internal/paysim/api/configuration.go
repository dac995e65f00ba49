package api

import (
	"encoding/json"
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

// flags are the send flags in the order of specification section 2.8.
var flags = func() []string {
	var names []string
	for _, transactionType := range notice.Types() {
		if flag := notice.Flag(transactionType); flag != "" {
			names = append(names, flag)
		}
	}
	return names
}()

// registerConfiguration serves the one configuration of the authenticated user (specification sections 4 and 5).
func (d *door) registerConfiguration() {
	d.path("/services/2/notification-config", map[string]operation{
		http.MethodGet: d.readConfiguration, http.MethodPost: d.replaceConfiguration, http.MethodDelete: d.deleteConfigurations,
	})
}

// readConfiguration answers 200 with all flags told. An account without a configuration has one with no destination.
func (d *door) readConfiguration(*request) (answer, error) {
	c, _ := d.service.Configuration()
	return answer{Body: configurationView{c}, XML: configurationXML{c}}, nil
}

// replaceConfiguration answers 204.
func (d *door) replaceConfiguration(r *request) (answer, error) {
	c, err := readConfiguration(r)
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

// members are the scalars of an object, as text.
type members map[string]string

// written is a configuration as it was sent, in JSON or in XML, before it is understood.
type written struct {
	settings     members
	destinations []members
}

// readConfiguration reads the body in the form that its content type says: 415 for another one.
func readConfiguration(r *request) (paysim.Configuration, error) {
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
		err = refusal(http.StatusUnsupportedMediaType, "", "UNSUPPORTED_MEDIA_TYPE", "this path reads application/json and application/xml")
	}
	if err != nil {
		return paysim.Configuration{}, err
	}
	return sent.configuration()
}

// configurationJSON reads JSON. The destinations are a list, or the one object itself: the interface calls it an object that
// is sent as a list.
func configurationJSON(body []byte) (sent written, err error) {
	object := map[string]json.RawMessage{}
	if err := decodeJSON(body, &object); err != nil {
		return sent, err
	}
	list, there := object[memberDestinations]
	delete(object, memberDestinations)
	if sent.settings, err = scalars(object); err != nil || !there {
		return sent, err
	}
	var several []map[string]json.RawMessage
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

// scalars reads an object of strings and booleans.
func scalars(object map[string]json.RawMessage) (members, error) {
	read := members{}
	for name, raw := range object {
		text := ""
		switch value := string(raw); {
		case value == "true" || value == "false":
			text = value
		case json.Unmarshal(raw, &text) != nil:
			return nil, invalid(name, value, "it must be a string or a boolean")
		}
		read[name] = text
	}
	return read, nil
}

// configuration understands what was sent. What is required is refused with 16001 when it is missing; a member that nobody
// knows, a flag that is neither true nor false and a URL that nothing can be posted to, with 10001. A flag that was not sent
// is false.
func (w written) configuration() (c paysim.Configuration, err error) {
	for name := range w.settings {
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

// destination understands one destination: 16001 without a URL, 10001 for what cannot be.
func (m members) destination() (paysim.Destination, error) {
	d := paysim.Destination{URL: m[memberURL], Send: map[string]bool{}}
	if d.URL == "" {
		return d, missing(memberURL)
	}
	to, err := url.Parse(d.URL)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return d, invalid(memberURL, d.URL, "it must be an http or https URL")
	}
	for name := range m {
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

// flag reads a boolean, which may come as a text.
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
