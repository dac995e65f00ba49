package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// ParseBody reads a JSON object: the filters of a URL by the same names, and those of People besides. true, false and
// whole numbers are written as such, all else as text. An address or a name becomes a token and goes no further. It fails
// with Mistakes; without a key, for each filter that needs one.
func ParseBody(body []byte, key ipn.PersonKey) (Query, error) {
	if len(body) > longestQuery {
		return Query{}, Mistakes{tooLong}
	}
	table := append(Filters(), people...)
	values, err := members(body, table)
	if err != nil {
		return Query{}, err
	}
	return read(values, table, key)
}

// members takes an object apart, so that a name that comes twice is seen.
func members(body []byte, table []Filter) (url.Values, error) {
	notAnObject := Mistakes{{Mend: `send one JSON object such as {"transactionType": "CHARGE"}`}}
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	if token, err := in.Token(); err != nil || token != json.Delim('{') {
		return nil, notAnObject
	}
	kinds := make(map[string]Kind, len(table))
	for _, f := range table {
		kinds[f.Name] = f.Kind
	}
	values := url.Values{}
	var mistakes Mistakes
	for in.More() {
		name, err := in.Token()
		var value any
		if err != nil || in.Decode(&value) != nil {
			return nil, notAnObject
		}
		text, mend := written(kinds[name.(string)], value)
		if mend != "" {
			mistakes = append(mistakes, Mistake{name.(string), mend})
		}
		values.Add(name.(string), text)
	}
	if _, err := in.Token(); err != nil {
		return nil, notAnObject
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, notAnObject
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return values, nil
}

// written turns a value of JSON into the text it would be in a URL. Of a name that is no filter nothing is asked but that
// it stays in sight.
func written(kind Kind, value any) (text, mend string) {
	switch v := value.(type) {
	case nil:
		return "", ""
	case string:
		if kind != KindYesNo && kind != KindNumber {
			return v, ""
		}
	case bool:
		if kind == KindYesNo {
			return map[bool]string{true: "true", false: "false"}[v], ""
		}
	case json.Number:
		if kind == KindNumber {
			return v.String(), ""
		}
	}
	switch kind {
	case "":
		return "", ""
	case KindYesNo:
		return "", "write true or false, without quotes"
	case KindNumber:
		return "", "write a whole number, without quotes"
	}
	return "", "write it as text, in quotes"
}

// person takes up a token that a text stands for. The function it returns says what to write where there is none.
func (q *Query) person(token ipn.PersonToken, found bool) func(what string) string {
	return func(what string) string {
		switch {
		case q.key.IsZero():
			return "people cannot be searched for here: the setting IPN_SEARCH_KEY is empty"
		case !found:
			return "write " + what
		}
		q.People = append(q.People, token)
		return ""
	}
}
