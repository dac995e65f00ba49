package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"regexp"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// maxBody is how many bytes a request may have. The interface shows no limit (specification section
// 8); no request needs a hundredth of this.
const maxBody = 1 << 20

// request is what an operation is asked with.
type request struct{ *http.Request }

// decode reads the JSON body into a pointer to a struct. What it refuses: another content type
// (415; the specification asks for one on every request, section 4), a body that is too long (413),
// and one that is not a JSON object of the right types (400, 10001, naming the member). Members
// nobody knows are passed over; of a member that stands twice the last counts.
func (r *request) decode(to any) error {
	body, kind, err := r.read()
	if err != nil {
		return err
	}
	if kind != "application/json" {
		return unreadable("application/json")
	}
	return decodeJSON(body, to)
}

// decodeOptional is decode for a body that may be empty, of any content type then. Only the body
// itself tells: its length need not be told beforehand.
func (r *request) decodeOptional(to any) error {
	body, _, err := r.read()
	if err != nil || len(body) == 0 {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r.decode(to)
}

// unreadable is the refusal of a content type (415).
func unreadable(kinds string) error {
	return withoutCode(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "this path reads "+kinds)
}

// read returns the whole body and its media type, in lower case and without parameters; "" when it
// tells none. serve has bounded the body: 413 above it, never a part.
func (r *request) read() (body []byte, kind string, err error) {
	body, err = io.ReadAll(r.Body)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		long := invalid("", "", "the body is too long")
		long.Status = http.StatusRequestEntityTooLarge
		return nil, "", long
	}
	if err != nil {
		return nil, "", invalid("", "", "the body could not be read")
	}
	kind, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	return body, kind, nil
}

// decodeJSON reads exactly one JSON object, and names the member that is of the wrong type. null is
// no object, though encoding/json would take it for an empty one.
func decodeJSON(body []byte, to any) error {
	err := json.Unmarshal(body, to)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return invalid(wrong.Field, wrong.Value, "it must be "+kinds[wrong.Type.Kind()])
	}
	if err != nil || string(bytes.TrimSpace(body)) == "null" {
		return invalid("", "", "the body is not a JSON object")
	}
	return nil
}

// kinds names the kinds of Go that bodies are made of in the words of JSON, which are the caller's.
var kinds = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "a string",
	reflect.Bool: "a boolean", reflect.Int: "a whole number", reflect.Int64: "a whole number",
}

// invalid is the refusal of a value (10001), with a description that tells more than the code's
// own.
func invalid(property, value, description string) *paysim.Refusal {
	r := paysim.Refuse("10001", property, value)
	r.Description = description
	return r
}

// missing is the refusal of a request that lacks something (16001).
func missing(property string) *paysim.Refusal { return paysim.Refuse("16001", property, "") }

// amount is a JSON number, or a string with one, as it was written; "" when it is absent or null.
// Both forms are documented, and neither goes through a float.
type amount string

// UnmarshalJSON keeps the text, whatever it is: only whoever reads it knows which member to blame.
func (a *amount) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		*a = amount(text)
		return nil
	}
	*a = amount(number)
	return nil
}

// oversized are amounts that are well formed and too large, which have a code of their own.
var oversized = regexp.MustCompile(`^[0-9]{11,}(\.[0-9]{1,4})?$`)

// money reads the amount of a property. What is not an amount is refused with 10001, exponents
// among it, and what is above 9999999999.99 with 14006. Whether it can be paid in its currency, the
// service says.
func (a amount) money(property string) (money.Amount, error) {
	parsed, err := money.Parse(string(a))
	if err == nil {
		return parsed, nil
	}
	if oversized.MatchString(string(a)) {
		return 0, paysim.Refuse("14006", property, string(a))
	}
	return 0, invalid(property, string(a), err.Error())
}

// optional reads an amount that may be absent: nil.
func (a amount) optional(property string) (*money.Amount, error) {
	if a == "" {
		return nil, nil
	}
	parsed, err := a.money(property)
	if err != nil {
		return nil, err
	}
	return &parsed, nil
}

// required reads an amount that must be there: 16001 when it is not.
func (a amount) required(property string) (money.Amount, error) {
	if a == "" {
		return 0, missing(property)
	}
	return a.money(property)
}
