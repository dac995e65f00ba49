// Package cloudevent is the form in which events leave the house: a CloudEvents 1.0 envelope, and the filter that says
// which events a target gets one of.
//
// What goes in is decided by a list, not by what the record happens to hold: the data are the money facts written down
// in this package, one by one. A fact or a field that somebody adds elsewhere stays inside until it is added here, too.
// Names, addresses, e-mails, cards and the shopper's account leave only for a target that asks for them by name
// ([Options.Fields]), so that nobody has to trust every consumer of a bus with personal data to hear about a charge.
//
// The same event and options give the same bytes today and after a replay next year, under the same id: a consumer that
// keeps the ids it has seen handles each event once.
package cloudevent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ContentType is the media type of an envelope in structured mode: what [Envelope.JSON] returns.
const ContentType = "application/cloudevents+json; charset=utf-8"

// The defaults of Options.
const (
	DefaultSource     = "/ipn-receiver"
	DefaultTypePrefix = "ipn."
)

const (
	specVersion = "1.0"
	dataType    = "application/json"
)

// Options say how a target wants its envelopes. The zero value is ready.
type Options struct {
	Source     string       // a URI reference that names the installation; "" is DefaultSource
	TypePrefix string       // stands before the transaction type; "" is DefaultTypePrefix
	Fields     []string     // fields of the payload to be added, by their names as the sender's documents spell them
	Decoder    *ipn.Decoder // reads the payload for Fields; nil: the zero Decoder
}

// Envelope is one event as CloudEvents 1.0 describes it.
type Envelope struct {
	ID              string // the event id in decimal: stable over retries and replays
	Source          string
	Type            string // "ipn.CHARGE"; "ipn.other" for every type that the receiver does not know
	Subject         string // the reference number; "" when there is none
	DataContentType string
	Time            time.Time // when it happened, else when it was received; in UTC
	Data            json.RawMessage
	Extensions      map[string]string // names are lower-case letters and digits: CloudEvents 1.0, section 3.1.1
}

// New puts an event into its envelope. The extensions are partitionkey, the reference number or else the id, and
// identity, the event's identity in hexadecimal: by it a consumer recognises the event of another installation.
func New(e *ipn.Stored, o Options) Envelope {
	id := strconv.FormatInt(e.ID, 10)
	subject := attribute(e.Facts.ReferenceNumber)
	key := subject
	if key == "" {
		key = id
	}
	kind, _ := ipn.LookupType(e.Facts.TransactionType)
	return Envelope{
		ID:              id,
		Source:          orDefault(o.Source, DefaultSource),
		Type:            orDefault(o.TypePrefix, DefaultTypePrefix) + kind.Label(),
		Subject:         subject,
		DataContentType: dataType,
		Time:            happened(e),
		Data:            dataOf(e, o),
		Extensions:      map[string]string{"partitionkey": key, "identity": e.Identity.String()},
	}
}

func orDefault(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

// happened returns the sender's minute, or the time of receipt when the sender told none.
func happened(e *ipn.Stored) time.Time {
	if !e.Facts.OccurredAt.IsZero() {
		return e.Facts.OccurredAt.UTC()
	}
	return e.ReceivedAt.UTC()
}

// attribute returns a text that may stand in an attribute, or "" for one that may not: CloudEvents 1.0, sections 3.1.1
// and 3.1.2 bar blank texts, control characters and noncharacters, and a reference like that is of no use as a key.
func attribute(text string) string {
	if !utf8.ValidString(text) || strings.TrimSpace(text) == "" {
		return ""
	}
	for _, r := range text {
		if r < 0x20 || 0x7f <= r && r <= 0x9f || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef {
			return ""
		}
	}
	return text
}

// attributes returns every attribute but the data by name, with absent ones left out, and an error when an extension was
// left out because its name breaks the specification or hides an attribute.
func (v Envelope) attributes() (map[string]string, error) {
	named := map[string]string{
		"specversion": specVersion, "id": v.ID, "source": v.Source, "type": v.Type, "subject": v.Subject,
		"time": v.Time.UTC().Format(time.RFC3339Nano), "datacontenttype": v.DataContentType,
	}
	var err error
	for name, value := range v.Extensions {
		if _, taken := named[name]; taken || name == "data" || !isExtension(name) {
			err = fmt.Errorf("extension %q: use lower-case letters and digits, and no name of an attribute", name)
			continue
		}
		named[name] = value
	}
	for name, value := range named {
		if value == "" {
			delete(named, name)
		}
	}
	return named, err
}

func isExtension(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// JSON returns the envelope in structured mode: one object with its names in alphabetical order, to be sent as
// [ContentType]. It fails only for an extension that was given an impossible name.
func (v Envelope) JSON() ([]byte, error) {
	named, err := v.attributes()
	if err != nil {
		return nil, err
	}
	object := make(map[string]any, len(named)+1)
	for name, value := range named {
		object[name] = value
	}
	object["data"] = v.Data
	return json.Marshal(object)
}
