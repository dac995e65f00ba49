package receiver

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// Returns says what becomes of shoppers who come back from their bank (specification section 2.7). What their browser brings is
// kept as a claim and gives power over nothing: no IPN was ever settled by it.
type Returns struct {
	Path string   // where the bank transfer's returnUrl leads to
	Then *url.URL // the merchant's page, which the shopper is sent on to; nil: a page of this house says what there is to say
	// Parse reads the query; its error makes the claim unreadable, and quotes nothing.
	Parse func(url.Values) (ipn.TransferReturn, error)
	// Keep records a claim, or counts it if it came before.
	Keep func(context.Context, ipn.TransferReturn) error
}

// Bounds of what strangers can make the record do through the return.
const (
	keepReturnWithin = 2 * time.Second // a person waits; longer than that a claim is not worth
	returnsAtOnce    = 8
	returnsPerSecond = 5 // of one network; more are sent on without being kept
	returnsBurst     = 100
	longestPassedOn  = 2 << 10 // bytes of query that are passed on to the merchant's page
)

// What may become of a claim.
const (
	returnKept       = "kept"
	returnProbed     = "probe"      // a HEAD, which asks about the page and brings nothing
	returnUnreadable = "unreadable" // not what a bank transfer brings
	returnFlood      = "flood"      // too many of one network
	returnBusy       = "busy"       // too many at once
	returnLost       = "lost"       // the database was away
)

var returnOutcomes = []string{returnKept, returnProbed, returnUnreadable, returnFlood, returnBusy, returnLost}

// comeBack takes a shopper who comes from the bank. Whatever becomes of the claim, the shopper is sent on: a person with an
// open basket must not meet our troubles.
func (rc *Receiver) comeBack(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	claim, err := rc.Returns.Parse(query)
	readable := err == nil && utf8.ValidString(claim.MerchantTransactionID) && !strings.ContainsRune(claim.MerchantTransactionID, 0)
	outcome := returnUnreadable
	if readable {
		outcome = rc.keepReturn(r, claim)
	}
	rc.metrics.returns.WithLabelValues(outcome).Inc()
	server.LogField(r.Context(), zap.String("outcome", outcome))
	if rc.Returns.Then == nil {
		rc.sayReturned(w, claim.Status) // "" for a claim that could not be read
		return
	}
	header.Set("Location", rc.Returns.location(query, len(r.URL.RawQuery), readable))
	w.WriteHeader(http.StatusSeeOther)
}

// keepReturn records a claim unless there are too many, and says what became of it.
func (rc *Receiver) keepReturn(r *http.Request, claim ipn.TransferReturn) string {
	if r.Method == http.MethodHead {
		return returnProbed
	}
	now, peer := rc.Now(), rc.peer(r)
	if rc.returns.isOver(peer, now) {
		return returnFlood
	}
	rc.returns.count(peer, now)
	if !rc.returning.TryAcquire(1) {
		return returnBusy
	}
	defer rc.returning.Release(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), keepReturnWithin)
	defer cancel()
	claim.ReceivedAt = now
	if err := rc.Returns.Keep(ctx, claim); err != nil {
		server.LogField(r.Context(), zap.NamedError("cause", err))
		return returnLost
	}
	return returnKept
}

// location is the merchant's page with the query that was brought: the four parameters of the bank transfer and the merchant's
// own. What the merchant wrote into the page's address cannot be overwritten; a query that is too long, or no return at all, is
// left behind.
func (rs *Returns) location(query url.Values, length int, readable bool) string {
	then := *rs.Then
	if !readable || length > longestPassedOn {
		return then.String()
	}
	fixed := then.Query()
	for name, values := range query {
		if _, taken := fixed[name]; !taken {
			fixed[name] = values
		}
	}
	then.RawQuery = fixed.Encode()
	return then.String()
}

// returnedPage has no script, no style sheet and nothing of the query but its status.
var returnedPage = template.Must(template.New("returned").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>{{.Title}}</title></head>
<body><main><h1>{{.Title}}</h1><p>{{.Text}}</p></main></body>
</html>
`))

// returnedWords are what a shopper is told, by status; those of "" for a query that tells none.
var returnedWords = map[string]struct{ Title, Text string }{
	"SUCCESS": {"Thank you", "You are back from your bank. The shop will confirm your payment as soon as the bank has told it."},
	"PENDING": {"Your payment is on its way", "Your bank has not decided yet. That takes up to 15 minutes; the shop will tell you."},
	"FAIL":    {"The payment did not go through", "Your bank did not carry out the transfer. You can go back to the shop and try again or pay in another way."},
	"":        {"You can close this page", "There is nothing to see here. If you have just paid, the shop will confirm your payment."},
}

func (rc *Receiver) sayReturned(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = returnedPage.Execute(w, returnedWords[status]) // whoever asked may be gone
}
