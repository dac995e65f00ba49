package payments

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// complete is an answer that knows what it cannot do without.
type complete interface{ missing() string }

// terse is an answer that some editions of the interface leave out.
type terse interface{ mayBeEmpty() }

// decode reads the body of a success into a pointer. Members nobody knows are passed over; the error names the field that has the wrong
// type or is missing, and never shows a value.
func decode(body []byte, answer any) error {
	body = bytes.TrimSpace(body)
	if _, ok := answer.(terse); ok && len(body) == 0 {
		return nil
	}
	if len(body) == 0 || body[0] != '{' {
		return &UnreadableError{Reason: "it is no JSON object"}
	}
	if err := readJSON(body, answer); err != nil {
		return &UnreadableError{Reason: blame(err), Identifier: identifier(body)}
	}
	if c, ok := answer.(complete); ok && c.missing() != "" {
		return &UnreadableError{Reason: c.missing() + " is missing", Identifier: identifier(body)}
	}
	return nil
}

// identifier finds what an answer calls the thing it made, whatever else is wrong with it. A refund tells two numbers, and
// its own goes first.
func identifier(body []byte) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(body, &members) // what cannot be read has no identifier
	for _, name := range []string{"refundTransactionId", "transactionId", "subscriptionId", "orderId", "taxReference"} {
		var id ID
		if text := members[name]; text != nil && id.UnmarshalJSON(text) == nil && id != "" {
			return string(id)
		}
	}
	return ""
}

// blame says what is wrong with JSON without quoting it.
func blame(err error) string {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && isWord(mistyped.Field) {
		return mistyped.Field + " has the wrong type"
	}
	return "it is no JSON of the documented shape"
}

// mistyped is the error of a value that is no T. To the field, encoding/json adds the way there.
func mistyped[T any](field string) error {
	return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[T](), Field: field}
}

// flexibleBool reads true, "true", "Y" and their opposites, in any letter case: the specification's table and its examples
// differ.
type flexibleBool bool

var truths = map[string]flexibleBool{"true": true, "y": true, "yes": true, "false": false, "n": false, "no": false, "": false, "null": false}

func (b *flexibleBool) UnmarshalJSON(text []byte) error {
	value, known := truths[strings.ToLower(strings.Trim(string(text), `"`))]
	if !known {
		return mistyped[bool]("")
	}
	*b = value
	return nil
}

// ID is an identifier that the service writes as a string in one place and as a number in another. It is text all the same.
type ID string

// UnmarshalJSON reads a string, a whole number, or null, which leaves the ID as it is.
func (id *ID) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if text[0] != '"' {
		if strings.Trim(string(text), "0123456789") != "" {
			return mistyped[ID]("")
		}
		*id = ID(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(id))
}

// mostMessages is how many messages of an error body are kept.
const mostMessages = 16

// refusal makes the error of an answer that is no success. A body that cannot be read costs the messages, not the error.
func refusal(k call, response *http.Response, body []byte) *Error {
	messages := jsonMessages(body)
	if len(messages) == 0 {
		messages = xmlMessages(body)
	}
	if len(messages) > mostMessages {
		messages = messages[:mostMessages]
	}
	return &Error{Operation: k.operation, Status: response.StatusCode, Messages: messages, quoted: k.quoted,
		RetryAfter: retryAfter(response.Header.Values("Retry-After"), time.Now())}
}

// jsonMessages reads {"message":[...]}, with one message without its list too, and the form of failed authentication.
func jsonMessages(body []byte) []Message {
	type wireMessage struct {
		Name        string          `json:"errorName"`
		Code        ID              `json:"code"`
		Description string          `json:"description"`
		Property    json.RawMessage `json:"invalidProperty"`
	}
	var wire struct {
		Message     json.RawMessage `json:"message"`
		Name        string          `json:"errorName"`
		Code        ID              `json:"errorCode"`
		Description string          `json:"errorDescription"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return nil
	}
	var list []wireMessage
	if json.Unmarshal(wire.Message, &list) != nil {
		var one wireMessage
		if json.Unmarshal(wire.Message, &one) == nil {
			list = []wireMessage{one}
		}
	}
	var messages []Message
	for _, m := range list {
		messages = append(messages, Message{m.Name, string(m.Code), m.Description, propertyName(m.Property)})
	}
	if wire.Code+ID(wire.Name)+ID(wire.Description) != "" {
		messages = append(messages, Message{Name: wire.Name, Code: string(wire.Code), Description: wire.Description})
	}
	return messages
}

// propertyName reads invalidProperty: a name, or an object that holds one.
func propertyName(text json.RawMessage) string {
	var object struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(text, &object.Name) != nil {
		_ = json.Unmarshal(text, &object) // neither: there is no name
	}
	return object.Name
}

// xmlMessages reads <messages>, in whatever namespace.
func xmlMessages(body []byte) []Message {
	var wire struct {
		XMLName  xml.Name `xml:"messages"`
		Messages []struct {
			Name        string `xml:"error-name"`
			Code        string `xml:"code"`
			Description string `xml:"description"`
			Property    string `xml:"invalid-property>name"`
		} `xml:"message"`
	}
	if xml.Unmarshal(body, &wire) != nil {
		return nil
	}
	var messages []Message
	for _, m := range wire.Messages {
		messages = append(messages, Message(m))
	}
	return messages
}
