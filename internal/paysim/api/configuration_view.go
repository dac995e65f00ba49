package api

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strconv"
	"strings"
	"unicode"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// configurationView is a notification configuration in JSON, all flags told, in their order.
type configurationView struct{ paysim.Configuration }

// MarshalJSON writes the object.
func (v configurationView) MarshalJSON() ([]byte, error) {
	destinations := make([]destinationView, len(v.Destinations))
	for i, d := range v.Destinations {
		destinations[i] = destinationView{d}
	}
	return json.Marshal(struct {
		Destinations []destinationView `json:"ipnDestinations"`
		Ensure       bool              `json:"ensureNotificationReceipt"`
		Affiliate    bool              `json:"receiveAffiliateNotifications"`
	}{destinations, v.EnsureReceipt, v.ReceiveAffiliate})
}

// destinationView is a destination in JSON.
type destinationView struct{ paysim.Destination }

// MarshalJSON writes the object in the order of the flags, which a map would lose.
func (v destinationView) MarshalJSON() ([]byte, error) {
	address, err := json.Marshal(v.URL)
	if err != nil {
		return nil, err
	}
	text := bytes.NewBufferString(`{"` + memberURL + `":` + string(address))
	for _, flag := range flags {
		text.WriteString(`,"` + flag + `":` + strconv.FormatBool(v.Send[flag]))
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// configurationXML is a notification configuration in XML: the names of JSON in lower case, words parted by hyphens.
type configurationXML struct{ paysim.Configuration }

// MarshalXML writes the element notification-config.
func (v configurationXML) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	root := element{XMLName: name("notificationConfig"), Elements: []element{{XMLName: name(memberDestinations)}}}
	for _, d := range v.Destinations {
		one := element{XMLName: name("ipnDestination"), Elements: []element{{XMLName: name(memberURL), Text: d.URL}}}
		for _, flag := range flags {
			one.Elements = append(one.Elements, element{XMLName: name(flag), Text: strconv.FormatBool(d.Send[flag])})
		}
		root.Elements[0].Elements = append(root.Elements[0].Elements, one)
	}
	root.Elements = append(root.Elements,
		element{XMLName: name(memberEnsure), Text: strconv.FormatBool(v.EnsureReceipt)},
		element{XMLName: name(memberAffiliate), Text: strconv.FormatBool(v.ReceiveAffiliate)})
	return e.Encode(root)
}

// element is any element of XML: with a text, or with elements in it.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Elements []element `xml:",any"`
}

// name is the name of the element for a member of JSON.
func name(camelCase string) xml.Name { return xml.Name{Local: kebab(camelCase)} }

// kebab writes sendCcFailure as send-cc-failure.
func kebab(camelCase string) string {
	var text strings.Builder
	for _, letter := range camelCase {
		if unicode.IsUpper(letter) {
			text.WriteByte('-')
		}
		text.WriteRune(unicode.ToLower(letter))
	}
	return text.String()
}

// camel is the way back.
func camel(kebabCase string) string {
	words := strings.Split(kebabCase, "-")
	for i, word := range words {
		if i > 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// parseXML reads a configuration in XML, of any namespace.
func parseXML(body []byte) (sent written, err error) {
	root := element{}
	if err := xml.Unmarshal(body, &root); err != nil || root.XMLName.Local != kebab("notificationConfig") {
		return sent, invalid("", "", "the body is not the XML of a notification-config")
	}
	sent.settings = members{}
	for _, e := range root.Elements {
		if e.XMLName.Local != kebab(memberDestinations) {
			sent.settings[camel(e.XMLName.Local)] = strings.TrimSpace(e.Text)
			continue
		}
		for _, one := range e.Elements {
			m := members{}
			for _, scalar := range one.Elements {
				m[camel(scalar.XMLName.Local)] = strings.TrimSpace(scalar.Text)
			}
			sent.destinations = append(sent.destinations, m)
		}
	}
	return sent, nil
}
