package api

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// answer is what an operation has to say.
type answer struct {
	Status   int    // 0: 200, or 204 without a body
	Location string // a header, on what was created
	Body     any    // of JSON; nil: none
	XML      any    // of XML, for whoever accepts only that; nil: the body goes out as JSON
}

// reply writes the answer, or the error in its documented form.
func (d *door) reply(w http.ResponseWriter, r *http.Request, a answer, err error) {
	if err != nil {
		replyError(w, r, err)
		return
	}
	if a.Location != "" {
		w.Header().Set("Location", a.Location)
	}
	switch {
	case a.Body == nil:
		w.WriteHeader(orStatus(a.Status, http.StatusNoContent))
	case a.XML != nil && wantsXML(r):
		writeXML(w, orStatus(a.Status, http.StatusOK), a.XML)
	default:
		writeJSON(w, orStatus(a.Status, http.StatusOK), a.Body)
	}
}

// orStatus is the status of an answer that tells one, or else the usual one.
func orStatus(status, otherwise int) int {
	if status == 0 {
		return otherwise
	}
	return status
}

// wantsXML reports whether the first type the request accepts is XML; without Accept, whether it is written in XML.
func wantsXML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if accept == "" || strings.HasPrefix(accept, "*/*") {
		accept = r.Header.Get("Content-Type")
	}
	return strings.HasPrefix(accept, "application/xml") || strings.HasPrefix(accept, "text/xml")
}

// writeJSON answers in JSON, without a line feed at the end.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	write(w, status, "application/json", text, err)
}

// writeXML answers in XML, with the declaration that names the charset.
func writeXML(w http.ResponseWriter, status int, body any) {
	text, err := xml.Marshal(body)
	write(w, status, "application/xml", append([]byte(xml.Header), text...), err)
}

// write sends a whole answer. A text that could not be encoded is told as 500: nothing of it was sent yet.
func write(w http.ResponseWriter, status int, kind string, text []byte, err error) {
	if err != nil { // a type that cannot be encoded: the program is wrong, not the request
		http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller who has gone hears nothing more
}

// refusal returns an error that is told to the caller.
func refusal(status int, code, name, description string) *paysim.Refusal {
	return &paysim.Refusal{Status: status, Code: code, Name: name, Description: description}
}

// replyError writes what was refused. Anything else is a fault of the simulator, told without its text.
func replyError(w http.ResponseWriter, r *http.Request, err error) {
	refused := (*paysim.Refusal)(nil)
	if !errors.As(err, &refused) {
		refused = refusal(http.StatusInternalServerError, "10000", "SERVER_GENERAL_FAILURE", "the service could not do it")
	}
	if wantsXML(r) {
		writeXML(w, refused.Status, xmlMessages(refused))
		return
	}
	writeJSON(w, refused.Status, jsonMessages(refused))
}
