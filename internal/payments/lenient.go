package payments

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// readJSON reads an answer as leniently as can be done without guessing. The money has moved when it comes: a number where
// the documents show a string must not make it unreadable.
func readJSON(text []byte, answer any) error {
	return json.Unmarshal(lenient(text, reflect.TypeOf(answer).Elem()), answer)
}

// readsItself is a type that knows its own spellings, such as Amount.
var readsItself = reflect.TypeFor[json.Unmarshaler]()

// lenient rewrites JSON to what a Go type reads:
//
//	string    from a number or a boolean
//	int64     from a string with a whole number
//	bool      from a string that flexibleBool reads
//	struct    absent where "" or [] stands for nothing
//	slice     from its only element without a list, absent where "" stands for nothing
//
// What is none of these stays as it is, for json.Unmarshal to complain of.
func lenient(text json.RawMessage, to reflect.Type) json.RawMessage {
	if reflect.PointerTo(to).Implements(readsItself) || len(text) == 0 || string(text) == "null" {
		return text
	}
	inner, quoted := strings.CutPrefix(string(text), `"`)
	inner = strings.TrimSuffix(inner, `"`)
	switch nothing := string(text) == `""`; to.Kind() {
	case reflect.String:
		if !quoted && text[0] != '{' && text[0] != '[' {
			return strconv.AppendQuote(nil, string(text))
		}
	case reflect.Int64:
		if number, err := strconv.ParseInt(inner, 10, 64); quoted && err == nil {
			return strconv.AppendInt(nil, number, 10)
		}
	case reflect.Bool:
		if truth, known := truths[strings.ToLower(inner)]; known && quoted {
			return strconv.AppendBool(nil, bool(truth))
		}
	case reflect.Struct:
		if nothing || string(text) == "[]" {
			return json.RawMessage("null")
		}
		return lenientMembers(text, to)
	case reflect.Slice:
		if nothing {
			return json.RawMessage("null")
		}
		return lenientElements(text, to.Elem())
	}
	return text
}

// lenientMembers does so with each member of an object that a struct has a field for.
func lenientMembers(text json.RawMessage, to reflect.Type) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return text
	}
	for _, field := range reflect.VisibleFields(to) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, there := members[name]; there && name != "" && name != "-" {
			members[name] = lenient(value, field.Type)
		}
	}
	return written(members)
}

// lenientElements does so with each element of a list, or makes a list of one object.
func lenientElements(text json.RawMessage, of reflect.Type) json.RawMessage {
	elements := []json.RawMessage{text}
	if text[0] != '{' && json.Unmarshal(text, &elements) != nil {
		return text
	}
	for i, element := range elements {
		elements[i] = lenient(element, of)
	}
	return written(elements)
}

// written is JSON of parts that are JSON.
func written(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the parts were read from JSON
	}
	return text
}
