package api

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// configurationView is a notification configuration in JSON, all flags told, in their order. It has
// the form of what is posted, so that a client can read, change and write it.
type configurationView struct{ paysim.Configuration }

// MarshalJSON writes the object. Without a destination the list is empty, not null.
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

// destinationView is a destination in JSON: its URL, then the flags that are set and those that are
// not.
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

// configurationXML is a notification configuration in XML. Its names are not shown; they follow the
// rule of the documented ones: the names of JSON in lower case, words parted by hyphens.
type configurationXML struct{ paysim.Configuration }

// MarshalXML writes the element notification-config, in no namespace.
func (v configurationXML) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	root := element{XMLName: name("notificationConfig"), Elements: []element{{XMLName: name(memberDestinations)}}}
	for _, d := range v.Destinations {
		one := element{XMLName: name(destinationElement), Elements: []element{{XMLName: name(memberURL), Text: d.URL}}}
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

// element is any element of XML: with a text, or with elements in it. Attributes are passed over.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Elements []element `xml:",any"`
}

// name is the name of the element for a member of JSON, in no namespace.
func name(camelCase string) xml.Name { return xml.Name{Local: kebab(camelCase)} }

// destinationElement is the name of one destination in XML. JSON has none for it.
const destinationElement = "ipnDestination"

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

// camel is the way back, from send-cc-failure to sendCcFailure. What is not written as kebab writes
// comes out as something that does not lead back to it.
func camel(kebabCase string) string {
	words := strings.Split(kebabCase, "-")
	for i, word := range words {
		if i > 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// parseXML reads a configuration in XML, of any namespace. Refused with 10001 is what is no
// notification-config and nothing else, an element among the destinations that is none, and a name
// that is written otherwise than the rule has it, such as sendCharge: what looks right to a person
// is another name to a machine.
func parseXML(body []byte) (sent written, err error) {
	root, decoder := element{}, xml.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(&root); err != nil || root.XMLName.Local != kebab("notificationConfig") || !ended(decoder) {
		return sent, invalid("", "", "the body is not the XML of a notification-config")
	}
	// Everything beside the destinations is a setting; whether there is such a one is told where
	// JSON meets the same rule.
	var settings []element
	for _, e := range root.Elements {
		if e.XMLName.Local != kebab(memberDestinations) {
			settings = append(settings, e)
			continue
		}
		for _, one := range e.Elements {
			if one.XMLName.Local != kebab(destinationElement) {
				return sent, invalid(memberDestinations, one.XMLName.Local, "it must be a list of "+kebab(destinationElement))
			}
			m, err := texts(one.Elements)
			if err != nil {
				return sent, err
			}
			sent.destinations = append(sent.destinations, m)
		}
	}
	sent.settings, err = texts(settings)
	return sent, err
}

// ended reports whether nothing but space follows what was read.
func ended(d *xml.Decoder) bool {
	for {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		// Comments, too, are refused: nobody writes one behind the root.
		if text, isText := token.(xml.CharData); !isText || len(bytes.TrimSpace(text)) > 0 {
			return false
		}
	}
}

// texts reads elements as members, without the space around their text. Of two with one name the
// last counts.
func texts(elements []element) (members, error) {
	m := members{}
	for _, e := range elements {
		member := camel(e.XMLName.Local)
		if kebab(member) != e.XMLName.Local {
			return nil, invalid(e.XMLName.Local, "", "names are in lower case, their words parted by hyphens")
		}
		m[member] = strings.TrimSpace(e.Text)
	}
	return m, nil
}
