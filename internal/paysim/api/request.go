package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

const maxBody = 1 << 20 // bytes of a request

// request is what an operation is asked with.
type request struct {
	*http.Request
	writer http.ResponseWriter
}

// decode reads the JSON body into a pointer to a struct. What it refuses: another content type (415), a body that is too
// long (413), and one that is not a JSON object of the right types (400, 10001, naming the member). Members nobody knows
// are passed over.
func (r *request) decode(to any) error {
	body, kind, err := r.read()
	if err != nil {
		return err
	}
	if kind != "application/json" {
		return refusal(http.StatusUnsupportedMediaType, "", "UNSUPPORTED_MEDIA_TYPE", "this path reads application/json")
	}
	return decodeJSON(body, to)
}

// decodeOptional is decode for a body that may be empty.
func (r *request) decodeOptional(to any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return r.decode(to)
}

// read returns the body and its media type.
func (r *request) read() (body []byte, kind string, err error) {
	body, err = io.ReadAll(r.Body)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, "", refusal(http.StatusRequestEntityTooLarge, "10001", "VALIDATION_GENERAL_FAILURE", "the body is too long")
	}
	if err != nil {
		return nil, "", invalid("", "", "the body could not be read")
	}
	kind, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	return body, kind, nil
}

// decodeJSON reads exactly one JSON value, and names the member that is of the wrong type.
func decodeJSON(body []byte, to any) error {
	err := json.Unmarshal(body, to)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return invalid(wrong.Field, wrong.Value, "it must be of type "+wrong.Type.Kind().String())
	}
	if refused := (*paysim.Refusal)(nil); errors.As(err, &refused) {
		return refused
	}
	if err != nil {
		return invalid("", "", "the body is not valid JSON")
	}
	return nil
}

// invalid is the refusal of a value (10001).
func invalid(property, value, description string) *paysim.Refusal {
	return &paysim.Refusal{
		Status: http.StatusBadRequest, Code: "10001", Name: "VALIDATION_GENERAL_FAILURE",
		Description: description, Property: property, Value: value,
	}
}

// missing is the refusal of a request that lacks something (16001).
func missing(property string) *paysim.Refusal {
	return &paysim.Refusal{
		Status: http.StatusBadRequest, Code: "16001", Name: "MISSING_ARGUMENTS", Description: property + " is required", Property: property,
	}
}

// amount is a JSON number, or a string with one, as it was written; "" when it is absent or null.
type amount string

// UnmarshalJSON keeps the text.
func (a *amount) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		*a = amount(text) // money tells, with the name of the property
		return nil
	}
	*a = amount(number)
	return nil
}

var oversized = regexp.MustCompile(`^[0-9]{11,}(\.[0-9]{1,4})?$`)

// money reads the amount of a property. What is not an amount is refused with 10001, what is above 9999999999.99 with 14006.
func (a amount) money(property string) (money.Amount, error) {
	parsed, err := money.Parse(string(a))
	if err == nil {
		return parsed, nil
	}
	if oversized.MatchString(string(a)) {
		return 0, &paysim.Refusal{
			Status: http.StatusBadRequest, Code: "14006", Name: "AMOUNT_ABOVE_MAXIMUM",
			Description: "the largest amount is 9999999999.99", Property: property, Value: string(a),
		}
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
