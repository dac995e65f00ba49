package page

import (
	"net/http"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

// signInForm shows the form; who is signed in already is led on.
func (p *Page) signInForm(v *visit) (sheet, error) {
	if v.person.Role != "" {
		return sheet{to: access.LocalPath(v.said("next"))}, nil
	}
	return signInSheet(v), nil
}

func signInSheet(v *visit) sheet {
	next := access.LocalPath(v.said("next"))
	return sheet{name: "sign-in", title: "Sign in", path: "/sign-in", data: struct{ Next string }{next}}
}

// signIn takes the form, opens a session and goes on to where the person wanted to be. What is typed is never shown again:
// it is the token.
func (p *Page) signIn(w http.ResponseWriter, r *http.Request) {
	v, _ := p.visit(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := readForm(r); err != nil {
		p.write(w, v, signInSheet(v), err)
		return
	}
	if p.Gate == nil {
		p.refuse(w, v, errNothing)
		return
	}
	cookie, err := p.Gate.Open(r.Context(), r, v.said("token"))
	if err != nil {
		status, told := access.Refusal(w.Header(), err)
		p.write(w, v, signInSheet(v), mistake{status, "token", told})
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, access.LocalPath(v.said("next")), http.StatusSeeOther)
}

// signOut ends the session.
func (p *Page) signOut(w http.ResponseWriter, r *http.Request) {
	v, _ := p.visit(r)
	if p.Gate == nil {
		p.refuse(w, v, errNothing)
		return
	}
	cookie, err := p.Gate.Close(r.Context(), r)
	if err != nil {
		status, told := access.Refusal(w.Header(), err)
		p.refuse(w, v, mistake{status, "", told})
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, "/sign-in?done=signed-out", http.StatusSeeOther)
}
