package cloudevent

import (
	"slices"
	"strings"
)

// The prefixes of attributes in binary mode, where they travel as headers and the body is the data alone.
const (
	HTTPPrefix  = "ce-" // HTTP and NATS
	KafkaPrefix = "ce_" // Kafka
)

// Header is one header of an envelope in binary mode.
type Header struct{ Name, Value string }

// Headers returns the envelope's attributes as headers under a prefix, sorted by name, with the data's media type as
// content-type. HTTP and NATS take printable ASCII only, so under [HTTPPrefix] other characters are percent-encoded
// (CloudEvents HTTP binding 1.0, section 3.1.3.2; NATS binding 1.0, section 3.1.3.2); Kafka takes UTF-8 as it is.
// An extension with an impossible name is left out.
func (v Envelope) Headers(prefix string) []Header {
	named, _ := v.attributes()
	delete(named, "datacontenttype")
	headers := []Header{{"content-type", v.DataContentType}}
	for name, value := range named {
		if prefix != KafkaPrefix {
			value = percentEncode(value)
		}
		headers = append(headers, Header{prefix + name, value})
	}
	slices.SortFunc(headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return headers
}

// percentEncode encodes every byte that is no printable ASCII character, and space, quote and percent.
func percentEncode(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ', c >= 0x7f, c == '"', c == '%':
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
