package shop

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

const maxForm = 64 << 10 // bytes of a posted form, many times what any form here can hold

// page is what one answer shows: the template of its name, filled with its data. The data may have
// a method subject() string, the reference whose IPNs are listed beside it, and wide() bool, to
// have no list beside it; without them all are listed.
type page struct {
	name   string // of a file in templates/pages, without its extension
	title  string
	data   any
	here   string // its address; "": the one that was asked for
	status int    // 0: 200
}

// pages are the templates of all pages, by name. Each is the frame with one page's own part in it,
// so that a page cannot be rendered without the frame, nor with the part of another.
type pages map[string]*template.Template

// readPages reads each page's template together with the frame and the parts. It panics when one
// does not parse: they are part of the program.
func readPages() pages {
	frame := template.Must(template.New("frame.html").Funcs(words).ParseFS(templates, "templates/frame.html", "templates/parts.html", "templates/pictures.html"))
	all := pages{}
	entries, err := templates.ReadDir("templates/pages")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		own := template.Must(template.Must(frame.Clone()).ParseFS(templates, "templates/pages/"+e.Name()))
		all[strings.TrimSuffix(e.Name(), ".html")] = own
	}
	return all
}

// frame is what every page shows around its own: templates/frame.html.
type frame struct {
	Title    string
	Here     string   // the address of the page without its host, to come back to
	Refusal  *refusal // told above the page; nil: nothing was refused
	Live     live
	Subject  string // the reference that the list of IPNs is about; "" for all
	Wide     bool   // without the list of IPNs
	Data     any    // of the page
	Sections []section
}

// section is an entry of the navigation.
type section struct{ Path, Name string }

// sections are the navigation, from left to right.
var sections = []section{
	{"/", "Shop"}, {"/shop/plans", "Plans"}, {"/shop/orders", "Orders"},
	{"/shop/subscriptions", "Subscriptions"}, {"/shop/ipns", "IPNs"}, {"/shop/account", "Account"},
}

// Current tells whether the page belongs to a section: it is its page, or one below it. Everything
// is below the first.
func (f frame) Current(s section) bool {
	path, _, _ := strings.Cut(f.Here, "?")
	return path == s.Path || s.Path != "/" && strings.HasPrefix(path, s.Path+"/")
}

// get answers with a page, or with the page that says that there is nothing, and why.
func (s *shop) get(view show) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := view(r)
		if err != nil {
			s.write(w, r, page{name: "nothing", title: "Not here", status: statusOf(err)}, err)
			return
		}
		s.write(w, r, p, nil)
	}
}

// post does what a form asks and goes on with 303. What is refused is told on the page that the
// form stands on, with the status of the refusal; when there is no such page, as for a form about
// an order that does not exist, on an empty one.
func (s *shop) post(do act, from show) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := readForm(r)
		if err == nil {
			var to string
			if to, err = do(r); err == nil {
				http.Redirect(w, r, to, http.StatusSeeOther)
				return
			}
		}
		p, gone := from(r)
		if gone != nil {
			p = page{name: "nothing", title: "Not here", here: "/"}
		}
		p.status = statusOf(err)
		s.write(w, r, p, err)
	}
}

// readForm reads a form of the size that post lets through; its errors are mistakes with the status
// 400 or 413. Only forms in the address and URL-encoded bodies are read; there is nothing to
// upload.
func readForm(r *http.Request) error {
	err := r.ParseForm()
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return mistake{http.StatusRequestEntityTooLarge, "The form is too long."}
	}
	if err != nil {
		return mistake{http.StatusBadRequest, "The form could not be read."}
	}
	return nil
}

// mistake is something that the shop itself refuses, before the payment service is asked.
type mistake struct {
	status int
	text   string
}

// Error implements error.
func (m mistake) Error() string { return m.text }

// wrong is a mistake in what the person has sent: 422.
func wrong(text string) error { return mistake{http.StatusUnprocessableEntity, text} }

// errNothing is the mistake of an address that leads nowhere: 404.
var errNothing = mistake{http.StatusNotFound, "There is nothing at this address."}

// nowhere answers all that no pattern takes.
func (s *shop) nowhere(*http.Request) (page, error) { return page{}, errNothing }

// statusOf is the HTTP status of an error: a refusal carries the one that the API would answer,
// too; 500 for what is neither a refusal nor a mistake, and so the shop's fault.
func statusOf(err error) int {
	var refused *paysim.Refusal
	var m mistake
	switch {
	case errors.As(err, &refused):
		return refused.Status
	case errors.As(err, &m):
		return m.status
	}
	return http.StatusInternalServerError
}

// refusal is an error as the page tells it. Code and Name are empty for the shop's own.
type refusal struct{ Code, Name, Text, Property string }

// tell puts an error into the words of the page; nil for no error. The text of the shop's own fault
// stays behind.
func tell(err error) *refusal {
	var refused *paysim.Refusal
	var m mistake
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &refusal{refused.Code, refused.Name, refused.Description, refused.Property}
	case errors.As(err, &m):
		return &refusal{Text: m.text}
	}
	return &refusal{Text: "The shop could not do it."}
}

// policy is the content security policy: nothing from elsewhere, nothing inline, and no page in a
// frame. What a person types is escaped by the templates; this is for the day on which it is not.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// write answers with a page in its frame. A problem, nil for none, is told above the page and read
// out first by a screen reader.
func (s *shop) write(w http.ResponseWriter, r *http.Request, p page, problem error) {
	subject, wide := about(p.data)
	s.render(w, p.name, max(p.status, http.StatusOK), "frame.html", frame{
		Title: p.title, Here: cmp.Or(p.here, r.URL.RequestURI()), Refusal: tell(problem), Live: s.live(subject),
		Subject: subject, Wide: wide, Data: p.data, Sections: sections,
	})
}

// about asks a page's data which reference its IPNs carry, and whether it needs the room beside it.
// "" and false when the data has nothing to say about it.
func about(data any) (subject string, wide bool) {
	if d, ok := data.(interface{ subject() string }); ok {
		subject = d.subject()
	}
	if d, ok := data.(interface{ wide() bool }); ok {
		wide = d.wide()
	}
	return subject, wide
}

// render writes one template of a page, whole or not at all, with a policy that forbids whatever
// the page does not need. It is kept by no cache: it shows what is at this moment.
func (s *shop) render(w http.ResponseWriter, name string, status int, part string, data any) {
	var body bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&body, part, data); err != nil {
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	for header, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "Cache-Control": "no-store",
		"Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(header, value)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the person has gone
}

// back is the address that a form names, if it is one of the shop's, or else another: whoever makes
// a person post a form must not choose where she ends up.
func back(r *http.Request, otherwise string) string {
	to := r.PostFormValue("back")
	if to == "/" || strings.HasPrefix(to, "/?") || strings.HasPrefix(to, "/shop/") {
		return to
	}
	return otherwise
}

// asset serves the style sheet, the script and the icon. They are asked for again each time, which
// costs a 304 and spares a person who has updated the program an old look.
func asset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", policy) // the icon is a document when it is opened by itself
	http.ServeFileFS(w, r, assets, "assets/"+r.PathValue("file"))
}

// now is the time of the simulated world.
func (s *shop) now() time.Time { return s.agenda.Now() }
