package page

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

//go:embed templates
var templates embed.FS

// sheet is what one answer shows: the template of its name, filled with its data. One that has to is an address to go on to.
type sheet struct {
	name   string // of a file in templates, without its extension
	title  string
	path   string // its own address, escaped, without a query; "": the one that was asked for, or, of a form, the one that is above it
	data   any
	push   string // the address that a script shows for the part that it swaps; "": the one it asked for
	part   string // the template that stands for the page where a script asks for a part of it; "": the page is only shown whole
	chart  bool   // has charts in it
	wide   bool   // uses all the width there is
	status int    // 0: 200

	to string // 303 leads there; nothing else is looked at
}

// lead is the sheet that goes on to a path of this host and tells there what was done, by a word of the table of notices.
// The book that was looked at stays open.
func (v *visit) lead(to, notice string) sheet {
	query := url.Values{}
	if v.test {
		query.Set("test", "true")
	}
	if notice != "" {
		query.Set("done", notice)
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	return sheet{to: to}
}

// notices are what a page says after something was done, by the word that its address carries.
var notices = map[string]string{
	"signed-out": "You are signed out.",
	"paused":     "The handler is paused: its events wait in the log until it is resumed.",
	"resumed":    "The handler goes on where it stood.",
	"replayed":   "The handler sees the events again.",
	"redriven":   "The failed events are due now, with all their attempts.",
	"promoted":   "The post was verified and is an event now.",
}

// sheets are the templates of all pages, by name. Each is the layout with one page's own part in it, so that a page cannot
// be written without its frame, nor with the part of another.
type sheets map[string]*template.Template

// readSheets panics when a template does not parse: they are part of the program.
func readSheets() sheets {
	layout := template.Must(template.New("layout.html").Funcs(words).ParseFS(templates, "templates/layout.html", "templates/parts.html"))
	entries, err := templates.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	all := sheets{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(templates, path.Join("templates", e.Name())))
	}
	return all
}

// frame is what templates are filled with; Data is the page's own.
type frame struct {
	Title    string
	Person   access.Person
	Trouble  *trouble // told above the page; nil: there is none
	Notice   string   // what was just done; "" for nothing
	Test     bool     // the book of test orders
	Open     bool     // nobody has to sign in
	Chart    bool
	Wide     bool
	Data     any
	Now      time.Time
	Form     url.Values // what was posted, to be shown again in the form
	Path     string     // of this page, escaped; it begins with one slash, so that it leads to no other host
	Part     bool       // only a part is written, which a script asked for
	Sections [][]section

	Unverified bool
	files      files
	query      url.Values
}

// May tells whether the person may use what needs the right.
func (f *frame) May(right access.Right) bool { return f.Person.May(right) }

// Current tells whether the page belongs to a section: it is its page, or one below it. Everything is below the first.
func (f *frame) Current(s section) bool {
	return f.Path == s.Path || s.Path != "/" && strings.HasPrefix(f.Path, s.Path+"/")
}

// Asset is the address of a file of the page.
func (f *frame) Asset(name string) string { return f.files.address(name) }

// In is the address of a path of this host in the book that is looked at, with pairs of query parameters, one by one or as a
// list; empty ones are left out.
func (f *frame) In(to string, pairs ...any) string {
	if len(pairs) == 1 {
		pairs, _ = pairs[0].([]any)
	}
	to, part, _ := strings.Cut(to, "#")
	query := url.Values{}
	if f.Test {
		query.Set("test", "true")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := plain(pairs[i+1]); value != "" {
			query.Set(plain(pairs[i]), value)
		}
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if part != "" {
		to += "#" + part
	}
	return to
}

// To is the address of the page about one thing, such as a transaction, in the book that is looked at.
func (f *frame) To(kind string, number any) string {
	return f.In("/" + kind + "/" + url.PathEscape(plain(number)))
}

// Book is the address of this page in one of the two books, without its place in a list.
func (f *frame) Book(test bool) string {
	query := url.Values{}
	for name, values := range f.query {
		if name != "test" && name != "cursor" && name != "done" {
			query[name] = values
		}
	}
	if test {
		query.Set("test", "true")
	}
	return f.here(query)
}

// here is the address of this page with another query.
func (f *frame) here(query url.Values) string {
	if len(query) == 0 {
		return f.Path
	}
	return f.Path + "?" + query.Encode()
}

// With is the address of this page with one query parameter set, or taken away where the value is empty.
func (f *frame) With(name string, value any) string {
	query := url.Values{}
	for n, values := range f.query {
		if n != name && n != "done" && slices.ContainsFunc(values, func(text string) bool { return text != "" }) {
			query[n] = values
		}
	}
	if text := plain(value); text != "" {
		query.Set(name, text)
	}
	return f.here(query)
}

// Page is the address of this list from a cursor on, "" from its beginning.
func (f *frame) Page(cursor string) string { return f.With("cursor", cursor) }

// Ago tells in words how long before now something was, or how far ahead it is.
func (f *frame) Ago(t any) string { return ago(f.Now, t) }

// Says returns what was typed into a field of the form that was refused.
func (f *frame) Says(name string) string { return f.Form.Get(name) }

// frame puts a page into what stands around all of them.
func (p *Page) frame(v *visit, s sheet, t *trouble) *frame {
	query, here := v.URL.Query(), cmp.Or(s.path, v.URL.EscapedPath())
	if s.path == "" && v.Method == http.MethodPost {
		here = path.Dir(here)
	}
	return &frame{
		Title: s.title, Person: v.person, Trouble: t, Notice: notices[query.Get("done")], Test: v.test, Open: v.person.Via == access.ViaOpen,
		Chart: s.chart, Wide: s.wide, Data: s.data, Now: v.now, Form: v.PostForm, Path: "/" + strings.TrimLeft(here, "/"), Sections: sections,
		Unverified: p.Unverified, files: p.files, query: query,
	}
}

// write answers with a page, with only a part of it where a script asks for one, or with the way to another page. A problem,
// nil for none, is told above the page and read out first by a screen reader.
func (p *Page) write(w http.ResponseWriter, v *visit, s sheet, problem error) {
	if s.to != "" {
		http.Redirect(w, v.Request, s.to, http.StatusSeeOther)
		return
	}
	t := p.tell(problem)
	status := max(s.status, http.StatusOK)
	if t != nil {
		status = t.Status
	}
	name, f := "layout.html", p.frame(v, s, t)
	if s.part != "" && asksForPart(v.Request) {
		name, f.Part = s.part, true
		if s.push != "" {
			w.Header().Set("HX-Push-Url", s.push)
		}
	}
	p.render(w, status, s.name, name, f)
}

// asksForPart tells a script that swaps a part from one that wants the page whole, as after a step back in the history.
func asksForPart(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-History-Restore-Request") != "true" &&
		r.Header.Get("HX-Request-Type") != "full"
}

// refuse answers with a page that says what is wrong, and nothing else: not even where the form that was refused stands.
func (p *Page) refuse(w http.ResponseWriter, v *visit, problem error) {
	t := p.tell(problem)
	s := sheet{title: t.Title}
	if v.Method == http.MethodPost {
		s.path = "/"
	}
	p.render(w, t.Status, "trouble", "layout.html", p.frame(v, s, t))
}

// render writes a template whole or not at all.
func (p *Page) render(w http.ResponseWriter, status int, sheet, name string, f *frame) {
	var body bytes.Buffer
	if err := p.sheets[sheet].ExecuteTemplate(&body, name, f); err != nil {
		p.Log.Error("a page could not be written", zap.String("sheet", sheet), zap.Error(err))
		http.Error(w, "the page could not be written; the log of the program says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the person has gone
}
