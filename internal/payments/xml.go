package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"unicode"
)

// replaceConfiguration sends a configuration in one of the two formats. A repetition replaces the same by the same; with an
// idempotency-key it does not undo either what somebody else has put there between two attempts.
func (c *Client) replaceConfiguration(ctx context.Context, desired NotificationConfiguration, format string) error {
	if err := desired.Check(); err != nil {
		return err
	}
	write := map[string]func() ([]byte, error){asJSON: func() ([]byte, error) { return json.Marshal(desired) }, asXML: desired.xml}[format]
	body, err := write()
	if err != nil {
		return fmt.Errorf("write the notification configuration: %w", err)
	}
	_, err = c.exchange(ctx, call{operation: "replace the notification configuration", method: http.MethodPost, path: configurationPath,
		repeat: always, key: newKey(), body: body, format: format, unread: true})
	return err
}

// xml writes the configuration as the interface's XML: the names of JSON in kebab-case, each destination in an
// ipn-destination inside of ipn-destinations.
func (c NotificationConfiguration) xml() ([]byte, error) {
	var text bytes.Buffer
	text.WriteString(xml.Header)
	e := xml.NewEncoder(&text)
	tokens := []xml.Token{open("notification-config"), open("ipn-destinations")}
	for _, d := range c.Destinations {
		tokens = append(tokens, open("ipn-destination"))
		tokens = append(tokens, element("ipnUrl", d.URL)...)
		for _, name := range d.flags() {
			tokens = append(tokens, element(name, strconv.FormatBool(d.Send[name]))...)
		}
		tokens = append(tokens, open("ipn-destination").End())
	}
	tokens = append(tokens, open("ipn-destinations").End())
	tokens = append(tokens, element("ensureNotificationReceipt", strconv.FormatBool(c.EnsureReceipt))...)
	tokens = append(tokens, element("receiveAffiliateNotifications", strconv.FormatBool(c.ReceiveAffiliate))...)
	for _, token := range append(tokens, open("notification-config").End()) {
		if err := e.EncodeToken(token); err != nil {
			return nil, err
		}
	}
	err := e.Flush()
	return text.Bytes(), err
}

// open is the start of an element that holds others.
func open(name string) xml.StartElement { return xml.StartElement{Name: xml.Name{Local: name}} }

// element is an element with a text, named in kebab-case.
func element(name, value string) []xml.Token {
	start := open(kebab(name))
	return []xml.Token{start, xml.CharData(value), start.End()}
}

// kebab turns sendCcFailure into send-cc-failure.
func kebab(name string) string {
	var text []rune
	for _, r := range name {
		if unicode.IsUpper(r) {
			text = append(text, '-')
		}
		text = append(text, unicode.ToLower(r))
	}
	return string(text)
}
