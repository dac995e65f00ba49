package page

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const maxForm = 64 << 10 // bytes of a posted form, many times what any form here can hold

// mistake is something that the page itself refuses.
type mistake struct {
	status int
	field  string // the field of the form that it is about; "" for none
	text   string // a sentence that says how to mend it; no personal data
}

// Error implements error.
func (m mistake) Error() string { return m.text }

// wrong is a mistake in what a person typed into a field of the form: 422.
func wrong(field, text string) error {
	return mistake{http.StatusUnprocessableEntity, field, text}
}

var (
	// errNothing is told for what does not exist and for what somebody may not see, in the same words.
	errNothing    = mistake{http.StatusNotFound, "", "There is nothing at this address."}
	errNotAllowed = mistake{http.StatusForbidden, "", "Your role does not allow this. Somebody with another role can do it."}
)

// readForm reads a form of the size that do lets through. Only forms in the address and URL-encoded bodies are read; there is
// nothing to upload.
func readForm(r *http.Request) error {
	err := r.ParseForm()
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return mistake{http.StatusRequestEntityTooLarge, "", "The form is too long."}
	}
	if err != nil {
		return mistake{http.StatusBadRequest, "", "The form could not be read."}
	}
	return nil
}

// trouble is an error as a page tells it.
type trouble struct {
	Status int
	Title  string
	Text   string
	Fields []fieldTrouble
}

// fieldTrouble is what is wrong with one field. Name is empty where it is about none.
type fieldTrouble struct{ Name, Text string }

// About returns what is wrong with a field of the form, "" for nothing.
func (t *trouble) About(name string) string {
	if t == nil {
		return ""
	}
	for _, f := range t.Fields {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// titles are the headings of what went wrong, by status.
var titles = map[int]string{
	http.StatusNotFound: "Not found", http.StatusForbidden: "Not allowed", http.StatusUnauthorized: "Not signed in",
	http.StatusUnprocessableEntity: "Please mend this", http.StatusBadRequest: "Please mend this", http.StatusConflict: "Something else stands there",
	http.StatusTooManyRequests: "Too many tries", http.StatusServiceUnavailable: "The record cannot be read",
	http.StatusRequestEntityTooLarge: "Too long",
}

// tell puts an error into the words of a page; nil for no error. What is neither the caller's nor the record's trouble is the
// program's fault: its text stays in the log.
func (p *Page) tell(err error) *trouble {
	if err == nil {
		return nil
	}
	t := p.translate(err)
	if t.Title = titles[t.Status]; t.Title == "" {
		t.Title = "Something went wrong"
	}
	return t
}

func (p *Page) translate(err error) *trouble {
	var m mistake
	var asked ask.Mistakes
	var item *ipn.ItemError
	var answered huma.StatusError
	switch {
	case errors.As(err, &asked):
		return translateMistakes(asked)
	case errors.As(err, &m):
		t := &trouble{Status: m.status, Text: m.text}
		if m.field != "" {
			t.Fields = []fieldTrouble{{m.field, m.text}}
		}
		return t
	case errors.As(err, &item):
		return &trouble{Status: http.StatusUnprocessableEntity, Text: item.Error()}
	case errors.As(err, &answered):
		return translateAnswer(answered)
	case errors.Is(err, ipn.ErrNotFound):
		return p.translate(errNothing)
	case errors.Is(err, ipn.ErrConflict):
		return &trouble{Status: http.StatusConflict, Text: "Something else stands there already; look at it before you change anything."}
	case errors.Is(err, ipn.ErrUnavailable):
		return &trouble{Status: http.StatusServiceUnavailable, Text: "The record cannot be read right now. Reload the page in a moment."}
	}
	p.Log.Error("a page could not be made", zap.Error(err))
	return &trouble{Status: http.StatusInternalServerError, Text: "The page could not be made. The log of the program says why."}
}

// translateMistakes tells what is wrong with a question to the history.
func translateMistakes(asked ask.Mistakes) *trouble {
	t := &trouble{Status: http.StatusUnprocessableEntity, Text: "This cannot be asked."}
	for _, m := range asked {
		t.Fields = append(t.Fields, fieldTrouble{m.Name, sentence(m.Mend)})
	}
	return t
}

// translateAnswer tells what the API would answer, in sentences, with the names of a form's fields in place of locations.
func translateAnswer(answered huma.StatusError) *trouble {
	t := &trouble{Status: answered.GetStatus()}
	if t.Status == http.StatusNotFound {
		t.Text = errNothing.text
		return t
	}
	var model *huma.ErrorModel
	if !errors.As(answered, &model) {
		t.Text = sentence(answered.Error())
		return t
	}
	t.Text = sentence(model.Detail)
	for _, d := range model.Errors {
		_, name, located := strings.Cut(d.Location, ".")
		if !located {
			name = d.Location
		}
		t.Fields = append(t.Fields, fieldTrouble{name, sentence(d.Message)})
	}
	return t
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
