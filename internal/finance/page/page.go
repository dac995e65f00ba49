// Package page is the finance page: what the back office knows, as HTML that a person keeps open all day.
//
// It asks the same Office that answers the API, with the same rights and the same masks, and keeps nothing of its own. Its
// one non-obvious decision is that every page is complete without scripts: a filter is a form in the address, an act is a
// form that is posted and answered with 303, a chart stands beside its table. Scripts only spare a reload.
package page

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Page answers on / and the paths of its routes. Office is needed; the fields do not change once it is mounted.
type Page struct {
	Office *finance.Office
	Gate   *access.Gate     // opens sessions for /sign-in; nil: nobody can sign in here
	Log    *zap.Logger      // of what a person is only told as "our fault"; nil: nowhere
	Now    func() time.Time // nil: time.Now

	// Unverified says that IPNs are taken without proof of where they come from, which stands above every page.
	Unverified bool

	sheets sheets
	files  files
}

// Mount adds the pages, their forms and /assets/ to a router. Whoever is asked about must be in the context by then: see
// access.Gate.Identify. The security headers and the refusal of forms from other sites are the door's.
func (p *Page) Mount(router chi.Router) {
	p.sheets, p.files = readSheets(), readFiles()
	p.Log = cmp.Or(p.Log, zap.NewNop())
	router.Get("/assets/{hash}/{name}", p.files.serve)
	for _, way := range p.ways() {
		router.Get(way.path, p.show(way.right, way.view))
	}
	for _, deed := range p.deeds() {
		router.Post(deed.path, p.do(deed.right, deed.act, deed.from))
	}
	router.Post("/sign-in", p.signIn)
	router.Post("/sign-out", p.signOut)
}

// NotFound answers an address that leads nowhere, in the frame of the pages.
func (p *Page) NotFound(w http.ResponseWriter, r *http.Request) {
	p.show("", func(*visit) (sheet, error) { return sheet{}, errNothing })(w, r)
}

// A visit is one request by somebody.
type visit struct {
	*http.Request
	person access.Person // zero where nobody is known: only on pages that need no right
	test   bool          // the book of test orders is looked at
	now    time.Time
}

// part returns a part of the address's path by its name, unescaped.
func (v *visit) part(name string) string {
	text := chi.URLParam(v.Request, name)
	if v.URL.RawPath == "" {
		return text
	}
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// view says what a page shows. An act is one too: it does what a form asks, and then mostly leads on. Where an error comes
// with a sheet it is told above it, else on a page of its own.
type view func(v *visit) (sheet, error)

// show answers with a page, or says why not. What somebody may not see looks like what does not exist.
func (p *Page) show(right access.Right, what view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, known := p.visit(r)
		if right != "" && !known {
			p.askToSignIn(w, v)
			return
		}
		if right != "" && !v.person.May(right) {
			p.refuse(w, v, errNothing)
			return
		}
		if err := ask.Check(r.URL.RawQuery); err != nil {
			p.refuse(w, v, err)
			return
		}
		s, err := what(v)
		if err != nil && s.name == "" {
			p.refuse(w, v, err)
			return
		}
		p.write(w, v, s, err)
	}
}

// do does what a form asks. What is refused is told above the page that the form stands on, with what was typed in it; where
// that page is gone too, on a page of its own. Rights come before anything is looked up.
func (p *Page) do(right access.Right, act, from view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, known := p.visit(r)
		switch {
		case right != "" && !known:
			p.askToSignIn(w, v)
			return
		case right != "" && !v.person.May(right):
			p.refuse(w, v, errNotAllowed)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := ask.Check(r.URL.RawQuery)
		if err == nil {
			err = readForm(r)
		}
		var s sheet
		if err == nil {
			s, err = act(v)
		}
		if err == nil {
			p.write(w, v, s, nil)
			return
		}
		around, gone := from(v)
		if gone != nil || around.to != "" {
			p.refuse(w, v, err)
			return
		}
		p.write(w, v, around, err)
	}
}

// visit tells who asks; known is false when nobody is known.
func (p *Page) visit(r *http.Request) (v *visit, known bool) {
	v = &visit{Request: r, test: r.URL.Query().Get("test") == "true", now: p.now()}
	v.person, known = access.From(r.Context())
	return v, known
}

func (p *Page) now() time.Time {
	if p.Now == nil {
		return time.Now().UTC()
	}
	return p.Now().UTC()
}

// askToSignIn leads to the form and, after it, back here; a form that was posted has to be filled in again, on the first page.
// A page that asks for a part of itself is led there as a whole.
// Where it could not be found out who asks, signing in again would not help.
func (p *Page) askToSignIn(w http.ResponseWriter, v *visit) {
	if access.Trouble(v.Context()) != nil {
		p.refuse(w, v, ipn.ErrUnavailable)
		return
	}
	to := "/sign-in"
	if v.Method == http.MethodGet && v.URL.Path != "/" {
		to += "?" + url.Values{"next": {v.URL.RequestURI()}}.Encode()
	}
	if v.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, v.Request, to, http.StatusSeeOther)
}
