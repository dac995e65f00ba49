package api

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// answer is what an operation has to say: 200 with a body, 204 without one.
type answer struct {
	Location string // a header, the path of what was created; "": none
	Body     any    // of JSON; nil: none
	XML      any    // of XML, for whoever would rather have that; nil: the body goes out as JSON
}

// reply writes the answer, or the error in its documented form.
func reply(w http.ResponseWriter, r *http.Request, a answer, err error) {
	if err != nil {
		replyError(w, r, err)
		return
	}
	if a.Location != "" {
		w.Header().Set("Location", a.Location)
	}
	switch {
	case a.Body == nil:
		w.WriteHeader(http.StatusNoContent)
	case a.XML != nil && wantsXML(r):
		writeXML(w, http.StatusOK, a.XML)
	default:
		writeJSON(w, http.StatusOK, a.Body)
	}
}

// wantsXML reports whether the first type the request accepts is XML; without a preference, whether
// it is written in XML. The weights of Accept are not read: the interface knows two forms, and a
// client asks for one (specification section 4).
func wantsXML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if accept == "" || strings.HasPrefix(accept, "*/*") {
		accept = r.Header.Get("Content-Type")
	}
	return strings.HasPrefix(accept, "application/xml") || strings.HasPrefix(accept, "text/xml")
}

// writeJSON answers in JSON, without a line feed at the end. Amounts are numbers with two decimals,
// as the interface has them.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	write(w, status, "application/json", text, err)
}

// writeXML answers in XML, with the declaration that names the charset.
func writeXML(w http.ResponseWriter, status int, body any) {
	text, err := xml.Marshal(body)
	write(w, status, "application/xml", append([]byte(xml.Header), text...), err)
}

// write sends a whole answer. A text that could not be encoded is told as 500: nothing of it was
// sent yet.
func write(w http.ResponseWriter, status int, kind string, text []byte, err error) {
	if err != nil { // a type that cannot be encoded: the program is wrong, not the request
		http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller who has gone hears nothing more
}

// withoutCode is a refusal that HTTP has a status for and the interface no code.
func withoutCode(status int, name, description string) *paysim.Refusal {
	return &paysim.Refusal{Status: status, Name: name, Description: description}
}

// replyError writes what was refused, in the form the caller reads. Any error that is no refusal is
// a fault of the simulator: 500 with code 10000, without the error's text, which is for operators.
func replyError(w http.ResponseWriter, r *http.Request, err error) {
	refused := (*paysim.Refusal)(nil)
	if !errors.As(err, &refused) {
		refused = paysim.Refuse("10000", "", "")
	}
	if wantsXML(r) {
		writeXML(w, refused.Status, messagesOf(refused))
		return
	}
	writeJSON(w, refused.Status, messagesOf(refused))
}
