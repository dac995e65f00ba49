package shop

import (
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// payPage shows a tax quote and the ways to pay for it. The fields from Card on are what the forms
// are filled with: what was sent, if that was refused, or else something that works.
type payPage struct {
	Quote        paysim.Quote
	Total        money.Amount // with tax
	TaxLabel     string       // the name of the invoice's tax line
	TaxID        string       // what the number is called under which a firm pays tax there; "" where there is none
	Expires      time.Time
	Expired      bool
	Plan         *paysim.Plan // nil: goods
	Cards        []paysim.TestCard
	Transfer     bool // the bank transfer is to be had in this currency
	Outcomes     []choice
	Card         paysim.Card
	Payer        paysim.Shopper
	Method       string // the way that was tried last: card, transfer, subscribe; "" before
	SaidTaxID    string
	AuthOnly     bool
	SaidOutcome  string
	CardIsListed bool // the card is one of Cards, so its number need not be typed
}

// outcomes are what the bank can be told to do, by the suffix of the payer's first name
// (specification section 3.2).
var outcomes = []choice{
	{"", "As I click on the bank’s page"}, {"_APPROVE", "Approve"}, {"_REJECT", "Reject"},
	{"_DELAYAP", "Think it over, then approve"}, {"_DELAYRJ", "Think it over, then reject"},
}

// pay shows a quote, also one that has expired or was used: what the payment service then answers
// is worth seeing. The goods, the address and the sums all come from it; the shop remembers nothing
// between two pages.
func (s *shop) pay(r *http.Request) (page, error) {
	q, err := s.service.Quote(r.PathValue("reference"))
	if err != nil {
		return page{}, err
	}
	p := payPage{
		Quote: q, Total: q.Total(), TaxLabel: taxLabel(q), TaxID: taxID(q), Expires: q.Expires(), Expired: q.Expired(s.now()),
		Cards: s.service.Cards(), Outcomes: outcomes, Transfer: q.Currency == "EUR",
	}
	if len(q.Lines) == 1 { // a plan is never in a cart with goods
		p.Plan = s.planOf(q.Lines[0].ItemCode)
	}
	s.fill(&p, r)
	return page{name: "pay", title: "Pay", data: p, here: payPath(q.Reference)}, nil
}

// payPath is the page of a quote.
func payPath(reference string) string { return "/shop/pay/" + url.PathEscape(reference) }

// fill puts into the forms what the person has sent, or else somebody made up, who is the same for
// one quote: going back and forth must not change who pays.
func (s *shop) fill(p *payPage, r *http.Request) {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(p.Quote.Reference)) // never fails
	someone := notice.Someone(seed.Sum64())
	p.Payer = paysim.Shopper{FirstName: someone.FirstName, LastName: someone.LastName, Email: someone.Email}
	p.Card = paysim.Card{SecurityCode: "123", ExpirationMonth: "12", ExpirationYear: strconv.Itoa(s.now().Year() + 2)}
	if len(p.Cards) > 0 {
		p.Card.Number = p.Cards[0].Number
	}
	if r.Method == http.MethodPost {
		p.Payer, p.Card = payerOf(r, p.Quote), cardOf(r)
		p.Method, p.SaidTaxID, p.SaidOutcome = method(r), r.PostFormValue("taxId"), r.PostFormValue("outcome")
		p.AuthOnly = r.PostFormValue("authOnly") != ""
	}
	for _, c := range p.Cards {
		p.CardIsListed = p.CardIsListed || c.Number == p.Card.Number
	}
}

// method is the way to pay that was tried: the last part of the path that was posted to.
func method(r *http.Request) string { return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] }

// payerOf is the person who pays, who lives where the goods go. Whether she has told enough, the
// payment service says.
func payerOf(r *http.Request, q paysim.Quote) paysim.Shopper {
	to := q.ShipTo
	return paysim.Shopper{
		FirstName: strings.TrimSpace(r.PostFormValue("firstName")), LastName: strings.TrimSpace(r.PostFormValue("lastName")),
		Email: strings.TrimSpace(r.PostFormValue("email")), Address1: to.Address, City: to.City, State: to.State, Zip: to.Zip, Country: to.Country,
	}
}

// cardOf takes the number that was typed, in groups or not, before the one that was chosen.
func cardOf(r *http.Request) paysim.Card {
	number := strings.ReplaceAll(r.PostFormValue("number"), " ", "")
	if number == "" {
		number = r.PostFormValue("card")
	}
	return paysim.Card{
		Number: number, SecurityCode: r.PostFormValue("securityCode"),
		ExpirationMonth: r.PostFormValue("month"), ExpirationYear: r.PostFormValue("year"),
	}
}

// payByCard sends the transaction with the total, tax included, and the reference of the quote
// (specification section 4, rule 1). A VAT ID goes along as a field of the merchant's own, and so
// comes back in the IPN. When the card is refused the person is told so on the page of the same
// quote, and may try another (section 3.1).
func (s *shop) payByCard(r *http.Request) (string, error) {
	q, err := s.service.Quote(r.PathValue("reference"))
	if err != nil {
		return "", err
	}
	request := paysim.CardRequest{
		Type: "AUTH_CAPTURE", Amount: q.Total(), Currency: q.Currency, TaxReference: q.Reference,
		SoftDescriptor: softDescriptor, Holder: payerOf(r, q), Card: cardOf(r), Product: productOf(q),
	}
	if r.PostFormValue("authOnly") != "" {
		request.Type = "AUTH_ONLY"
	}
	if id := strings.TrimSpace(r.PostFormValue("taxId")); id != "" {
		request.Custom = map[string]string{"vatId": id}
	}
	t, err := s.service.CreateTransaction(request)
	if err != nil {
		return "", err
	}
	return orderPath(t.ID), nil
}

// softDescriptor is what the statement of card or account says; at most 20 characters.
const softDescriptor = "LITTLE SHOP"

// productOf is what the IPN calls the goods: the first, and how many more. There is one IPN for one
// order, not for each item, and it has room for one name. A fee does not count.
func productOf(q paysim.Quote) string {
	var name string
	more := 0
	for _, l := range q.Lines {
		switch {
		case name == "":
			name = l.Description
		case !l.Fee:
			more++
		}
	}
	if more > 0 {
		name += " + " + strconv.Itoa(more)
	}
	return name
}

// orderPath is the page of a transaction.
func orderPath(id string) string { return "/shop/orders/" + url.PathEscape(id) }

// payByTransfer begins a bank transfer and sends the person to the bank's page, which is served
// beside the shop. The outcome that she has chosen is a suffix of the first name (specification
// section 3.2). A transfer has no place for a tax quote: the merchant's own number is made of its
// reference, to find the one by the other.
func (s *shop) payByTransfer(r *http.Request) (string, error) {
	q, err := s.service.Quote(r.PathValue("reference"))
	if err != nil {
		return "", err
	}
	payer := payerOf(r, q)
	payer.FirstName += r.PostFormValue("outcome")
	t, err := s.service.CreateTransfer(paysim.TransferRequest{
		Amount: q.Total(), Currency: q.Currency, ReturnURL: ownAddress(r) + "/shop/return", Payer: payer,
		MerchantTransactionID: "quote-" + q.Reference[:min(8, len(q.Reference))], SoftDescriptor: softDescriptor,
	})
	if err != nil {
		return "", err
	}
	return bankPath(t.OrderID), nil
}

// bankPath is the bank's page without its host, where bankTransferUrl has one: the person stays on
// the host that she came by, which the content security policy holds forms to.
func bankPath(orderID int64) string { return "/bank/" + strconv.FormatInt(orderID, 10) }

// ownAddress is where the person has come to, without a path: the bank must send her back there.
func ownAddress(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// subscribe begins a subscription to the plan that the quote is for. The two amounts being equal,
// the one quote serves both (specification section 4, rule 4); a trial charges nothing at first, so
// its quote is the recurring one's.
func (s *shop) subscribe(r *http.Request) (string, error) {
	p, err := s.pay(r) // which has read quote, plan and form already
	if err != nil {
		return "", err
	}
	d := p.data.(payPage)
	if d.Plan == nil {
		return "", wrong("This quote is not for a plan.")
	}
	request := paysim.SubscriptionRequest{
		PlanID: d.Plan.ID, Payer: d.Payer, Card: d.Card, RecurringAmount: &d.Total, SoftDescriptor: softDescriptor,
	}
	if d.Plan.Trial > 0 {
		request.RecurringTaxReference = d.Quote.Reference
	} else {
		request.InitialAmount, request.InitialTaxReference = &d.Total, d.Quote.Reference
	}
	sub, err := s.service.CreateSubscription(request)
	if err != nil {
		return "", err
	}
	return subscriptionPath(sub.ID), nil
}

// subscriptionPath is the page of a subscription.
func subscriptionPath(id string) string { return "/shop/subscriptions/" + url.PathEscape(id) }
