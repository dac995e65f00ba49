// Package bank is the page of the shopper's bank: where a real-time bank transfer sends the shopper to choose a country and a
// bank, to log in, to choose an account, and to confirm or to cancel (specification section 4, rule 6).
//
// Its one non-obvious decision is that it keeps nothing. What was chosen travels in the address and in hidden fields, so that
// the back button, two tabs and a restart all work, and the only thing that happens is the last step; what the shopper types
// as a password goes nowhere at all.
package bank

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// Transfers is what the page needs of the payment service.
type Transfers interface {
	Transfer(orderID int64) (paysim.Transfer, error)
	FinishTransfer(orderID int64, approve bool) (returnURL string, err error)
}

// Config says what the page is made of.
type Config struct{ Service Transfers }

//go:embed page.html bank.css icon.svg
var files embed.FS

var pages = template.Must(template.ParseFS(files, "page.html"))

const maxForm = 16 << 10 // bytes of a posted form

type handler struct{ service Transfers }

// New returns the handler of GET and POST /bank/{orderID} and of the page's style sheet and icon. The page needs no script. A form that
// another site posts is refused with 403.
func New(c Config) http.Handler {
	h := handler{service: c.Service}
	mux := http.NewServeMux()
	for _, name := range []string{"bank.css", "icon.svg"} {
		mux.HandleFunc("GET /bank/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, files, name)
		})
	}
	mux.HandleFunc("GET /bank/{orderID}", h.show)
	mux.HandleFunc("POST /bank/{orderID}", h.submit)
	return http.NewCrossOriginProtection().Handler(mux)
}

// show serves the two steps that have an address: choosing the bank and logging in to it. An order that is over shows how
// it ended.
func (h handler) show(w http.ResponseWriter, r *http.Request) {
	p, ok := h.open(w, r)
	if !ok {
		return
	}
	if p.Step != "done" && p.Bank != "" {
		p.Step = "details"
	}
	p.write(w, http.StatusOK)
}

// submit takes the details, which leads to the accounts, and the decision, which leads back to the shop.
func (h handler) submit(w http.ResponseWriter, r *http.Request) {
	p, ok := h.open(w, r)
	switch {
	case !ok:
	case p.Step == "done":
		http.Redirect(w, r, p.Transfer.ReturnLink(), http.StatusSeeOther)
	case r.PostForm.Get("decision") == "cancel":
		h.finish(w, r, p, false)
	case p.Bank == "":
		p.refuse(w, "bank", "Choose a bank.")
	case r.PostForm.Get("step") == "details" && (blank(r, "login") || blank(r, "pin")):
		p.refuse(w, "details", "Enter a login name and a PIN. Anything will do.")
	case r.PostForm.Get("step") == "details":
		p.Step = "account"
		p.write(w, http.StatusOK)
	case accounts.index(r.PostForm.Get("account")) < 0:
		p.refuse(w, "account", "Choose an account.")
	default:
		h.finish(w, r, p, true)
	}
}

// blank reports whether a field holds nothing; what it holds is never looked at.
func blank(r *http.Request, field string) bool {
	return strings.TrimSpace(r.PostForm.Get(field)) == ""
}

// finish tells the service and sends the shopper back to the merchant.
func (h handler) finish(w http.ResponseWriter, r *http.Request, p page, approve bool) {
	back, err := h.service.FinishTransfer(p.Transfer.OrderID, approve)
	if err != nil {
		p.refuse(w, "bank", refusalText(err))
		return
	}
	w.Header().Set("Content-Security-Policy", policy(p.Transfer.ReturnURL))
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// open reads the order and the form. When it returns false it has answered.
func (h handler) open(w http.ResponseWriter, r *http.Request) (page, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	orderID, err := strconv.ParseInt(r.PathValue("orderID"), 10, 64)
	if err != nil {
		page{Step: "unknown"}.write(w, http.StatusNotFound)
		return page{}, false
	}
	t, err := h.service.Transfer(orderID)
	if err != nil {
		page{Step: "unknown", Problem: refusalText(err)}.write(w, http.StatusNotFound)
		return page{}, false
	}
	if err := r.ParseForm(); err != nil {
		page{Step: "unknown", Problem: "The form could not be read."}.write(w, http.StatusBadRequest)
		return page{}, false
	}
	return newPage(t, r.Form.Get("country"), r.Form.Get("bank")), true
}

// refusalText is what the shopper is told of an error: a refusal has words for that, a fault has not.
func refusalText(err error) string {
	var refusal *paysim.Refusal
	if errors.As(err, &refusal) {
		return refusal.Description
	}
	return "This did not work."
}

// refuse shows a step again and says what is wrong with it: 422.
func (p page) refuse(w http.ResponseWriter, step, problem string) {
	p.Step, p.Problem = step, problem
	p.write(w, http.StatusUnprocessableEntity)
}

// write renders the page wholly before it answers, so that a template that fails is a 500 and not half a page.
func (p page) write(w http.ResponseWriter, status int) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, "page.html", p); err != nil {
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy(p.Transfer.ReturnURL),
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the shopper has gone
}

// policy is the content security policy. Browsers hold form-action against the redirect that follows a form too, so the
// merchant's origin is in it; an IPv6 address cannot be written there, and its scheme stands for it.
func policy(returnURL string) string {
	shop := ""
	if u, err := url.Parse(returnURL); err == nil && u.Host != "" {
		shop = " " + u.Scheme + "://" + u.Host
		if strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789-.:") != "" {
			shop = " " + u.Scheme + ":"
		}
	}
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; form-action 'self'" + shop
}
