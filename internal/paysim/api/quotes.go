package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// quoteBody asks for a tax quote. The specification leaves its members open (section 4); these are
// the documented ones. The three at the end stand in the answer only: a request that tells them
// believes that it may choose its tax, and is refused.
type quoteBody struct {
	Currency    string          `json:"currency"`
	RequestDate json.RawMessage `json:"requestDate"` // taken and not looked at: the day is today
	ShipTo      address         `json:"shipTo"`
	ShipFrom    address         `json:"shipFrom"`
	Lines       []lineBody      `json:"lines"`

	// Of these only whether they are there is looked at.
	TotalTax     json.RawMessage `json:"totalTax"`
	TotalAmount  json.RawMessage `json:"totalAmount"`
	TaxReference json.RawMessage `json:"taxReference"`
}

// address is where something is shipped to or from. Without shipFrom it is shipped from the
// merchant.
type address struct {
	Address string `json:"address"`
	City    string `json:"city"`
	State   string `json:"state"`
	Zip     string `json:"zip"`
	Country string `json:"country"`
}

// lineBody is an item that tax is asked for. A pointer tells what is missing (43003) from what is
// zero (10001).
type lineBody struct {
	ItemCode    string          `json:"itemCode"`
	Quantity    *int            `json:"quantity"`
	Amount      amount          `json:"amount"` // of the line, not of one piece
	TaxCode     string          `json:"taxCode"`
	Description string          `json:"description"`
	Tax         json.RawMessage `json:"tax"`
}

// quoteView is a tax quote as the interface shows it: the request completed. A merchant charges
// totalAmount + totalTax.
type quoteView struct {
	Reference    string       `json:"taxReference"` // a UUID (specification section 2.1)
	Status       string       `json:"status"`       // Saved, or Committed once a transaction has it
	Used         bool         `json:"used"`         // the same as a truth value
	CompanyID    int          `json:"companyId"`
	Currency     string       `json:"currency"`
	RequestDate  string       `json:"requestDate"` // as Java prints a date
	ShipTo       address      `json:"shipTo"`
	ShipFrom     address      `json:"shipFrom"`
	Lines        []lineView   `json:"lines"`
	TotalTax     money.Amount `json:"totalTax"`
	TotalAmount  money.Amount `json:"totalAmount"`  // without tax
	TotalTaxable money.Amount `json:"totalTaxable"` // the part of totalAmount that tax is due on
	TotalExempt  money.Amount `json:"totalExempt"`  // the rest of it
	TaxVATType   string       `json:"taxVatType"`   // TAX or VAT
	VATCode      string       `json:"vatCode,omitempty"`
}

// lineView is an item with its tax, in the order of the request. A retail delivery fee comes last,
// an item without an amount, whose tax is the fee: a merchant who adds up the taxes need not know
// that there are fees.
type lineView struct {
	ItemCode    string       `json:"itemCode"`
	Quantity    int          `json:"quantity"`
	Amount      money.Amount `json:"amount"`
	TaxCode     string       `json:"taxCode"`
	Description string       `json:"description"`
	Tax         money.Amount `json:"tax"`
}

// registerQuotes knows both spellings of the path that are in use; the specification shows none.
func (d *door) registerQuotes() {
	for _, path := range []string{"/services/2/tax-quote", "/services/2/taxQuote"} {
		d.path(path, map[string]operation{http.MethodPost: d.createQuote})
		d.path(path+"/{taxReference}", map[string]operation{http.MethodGet: d.readQuote})
	}
}

// createQuote answers 200 with the calculated quote. Its refusals are those of the body and of
// CreateQuote.
func (d *door) createQuote(r *request) (answer, error) {
	body := quoteBody{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	asked, err := body.request()
	if err != nil {
		return answer{}, err
	}
	q, err := d.service.CreateQuote(asked)
	if err != nil {
		return answer{}, err
	}
	return answer{Body: quoteOf(q)}, nil
}

// readQuote answers 200 with a quote, even with one that has expired: only using it is refused. 404
// with code 300 when there is none of this reference.
func (d *door) readQuote(r *request) (answer, error) {
	q, err := d.service.Quote(r.PathValue("taxReference"))
	if err != nil {
		return answer{}, err
	}
	return answer{Body: quoteOf(q)}, nil
}

// request reads a body: 43003 for an amount or a quantity that is missing, 43006 for what only the
// service can know. All else that may be missing, the service says.
func (b quoteBody) request() (paysim.QuoteRequest, error) {
	asked := paysim.QuoteRequest{Currency: b.Currency, ShipTo: paysim.Address(b.ShipTo), ShipFrom: paysim.Address(b.ShipFrom)}
	for _, answered := range []struct {
		name string
		told json.RawMessage
	}{{"totalTax", b.TotalTax}, {"totalAmount", b.TotalAmount}, {"taxReference", b.TaxReference}} {
		if answered.told != nil {
			return asked, paysim.Refuse("43006", answered.name, "")
		}
	}
	for i, l := range b.Lines {
		line, err := l.line(fmt.Sprintf("lines[%d].", i))
		if err != nil {
			return asked, err
		}
		asked.Lines = append(asked.Lines, line)
	}
	return asked, nil
}

// line reads an item; at is the path of its members in an error, such as "lines[0].".
func (b lineBody) line(at string) (paysim.Line, error) {
	line := paysim.Line{ItemCode: b.ItemCode, TaxCode: b.TaxCode, Description: b.Description}
	switch {
	case b.Tax != nil:
		return line, paysim.Refuse("43006", at+"tax", "")
	case b.Quantity == nil:
		return line, paysim.Refuse("43003", at+"quantity", "")
	case b.Amount == "":
		return line, paysim.Refuse("43003", at+"amount", "")
	}
	line.Quantity = *b.Quantity
	var err error
	line.Amount, err = b.Amount.money(at + "amount")
	return line, err
}

// companyID is the number that the tax provider has for the merchant. It is made up.
const companyID = 410022

// quoteOf shows a quote as it is now. The date is written as a Java program prints it, which is
// what clients get to see; its zone is UTC here. The VAT code is the country that levies it.
func quoteOf(q paysim.Quote) quoteView {
	v := quoteView{
		Reference: q.Reference, Status: "Saved", Used: q.TakenBy != "", CompanyID: companyID, Currency: q.Currency,
		RequestDate: q.Created.UTC().Format("Mon Jan 02 15:04:05 MST 2006"), ShipTo: normalized(q.ShipTo), ShipFrom: normalized(q.ShipFrom),
		TotalTax: q.TotalTax, TotalAmount: q.TotalAmount, TotalTaxable: q.TotalAmount - q.TotalExempt, TotalExempt: q.TotalExempt,
		TaxVATType: "TAX",
	}
	if v.Used { // the tax provider reports it (specification section 1), as it must not one that nobody paid
		v.Status = "Committed"
	}
	if q.VAT {
		v.TaxVATType, v.VATCode = "VAT", v.ShipTo.Country
	}
	for _, l := range q.Lines {
		v.Lines = append(v.Lines, lineView{
			ItemCode: l.ItemCode, Quantity: l.Quantity, Amount: l.Amount, TaxCode: l.TaxCode, Description: l.Description, Tax: l.Tax,
		})
	}
	return v
}

// normalized writes an address as the tax provider does: upper case codes, and the long form of a
// US postal code, whose second part is made up. A client that compares the answer with its request
// finds a difference, as it would at the real service.
func normalized(a paysim.Address) address {
	a.State, a.Country = strings.ToUpper(a.State), strings.ToUpper(a.Country)
	if a.Country == "US" && len(a.Zip) == 5 {
		a.Zip += "-1000"
	}
	return address(a)
}
