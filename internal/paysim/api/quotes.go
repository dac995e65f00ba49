package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// quoteBody asks for a tax quote. The answer has members of other names besides; a request that tells them is refused.
type quoteBody struct {
	Currency    string          `json:"currency"`
	RequestDate json.RawMessage `json:"requestDate"` // taken and not looked at: the day is today
	ShipTo      address         `json:"shipTo"`
	ShipFrom    address         `json:"shipFrom"`
	Lines       []lineBody      `json:"lines"`

	TotalTax     json.RawMessage `json:"totalTax"`
	TotalAmount  json.RawMessage `json:"totalAmount"`
	TaxReference json.RawMessage `json:"taxReference"`
}

// address is where something is shipped to or from; from nowhere is from the merchant.
type address struct {
	Address string `json:"address"`
	City    string `json:"city"`
	State   string `json:"state"`
	Zip     string `json:"zip"`
	Country string `json:"country"`
}

// lineBody is an item that tax is asked for. A pointer tells what is missing from what is zero.
type lineBody struct {
	ItemCode    string          `json:"itemCode"`
	Quantity    *int            `json:"quantity"`
	Amount      amount          `json:"amount"` // of the line, not of one piece
	TaxCode     string          `json:"taxCode"`
	Description string          `json:"description"`
	Tax         json.RawMessage `json:"tax"`
}

// quoteView is a tax quote as the interface shows it: the request completed.
type quoteView struct {
	Reference    string       `json:"taxReference"`
	Status       string       `json:"status"` // Saved, or Committed once a transaction has it
	Used         bool         `json:"used"`
	CompanyID    int          `json:"companyId"`
	Currency     string       `json:"currency"`
	RequestDate  string       `json:"requestDate"` // as Java prints a date
	ShipTo       address      `json:"shipTo"`
	ShipFrom     address      `json:"shipFrom"`
	Lines        []lineView   `json:"lines"`
	TotalTax     money.Amount `json:"totalTax"`
	TotalAmount  money.Amount `json:"totalAmount"` // without tax
	TotalTaxable money.Amount `json:"totalTaxable"`
	TotalExempt  money.Amount `json:"totalExempt"`
	TaxVATType   string       `json:"taxVatType"` // TAX or VAT
	VATCode      string       `json:"vatCode,omitempty"`
}

// lineView is an item with its tax. A retail delivery fee is an item without an amount, whose tax is the fee.
type lineView struct {
	ItemCode    string       `json:"itemCode"`
	Quantity    int          `json:"quantity"`
	Amount      money.Amount `json:"amount"`
	TaxCode     string       `json:"taxCode"`
	Description string       `json:"description"`
	Tax         money.Amount `json:"tax"`
}

// registerQuotes knows both spellings of the path that are in use.
func (d *door) registerQuotes() {
	for _, path := range []string{"/services/2/tax-quote", "/services/2/taxQuote"} {
		d.path(path, map[string]operation{http.MethodPost: d.createQuote})
		d.path(path+"/{taxReference}", map[string]operation{http.MethodGet: d.readQuote})
	}
}

// createQuote answers 200 with the calculated quote.
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

// readQuote answers 200 with a quote, even with one that has expired: only using it is refused.
func (d *door) readQuote(r *request) (answer, error) {
	q, err := d.service.Quote(r.PathValue("taxReference"))
	if err != nil {
		return answer{}, err
	}
	return answer{Body: quoteOf(q)}, nil
}

// request reads a body: 43003 for an amount or a quantity that is missing, 43006 for what only the service can know.
func (b quoteBody) request() (paysim.QuoteRequest, error) {
	asked := paysim.QuoteRequest{Currency: b.Currency, ShipTo: paysim.Address(b.ShipTo), ShipFrom: paysim.Address(b.ShipFrom)}
	answered := map[string]json.RawMessage{"totalTax": b.TotalTax, "totalAmount": b.TotalAmount, "taxReference": b.TaxReference}
	for _, name := range []string{"totalTax", "totalAmount", "taxReference"} {
		if answered[name] != nil {
			return asked, unexpected(name)
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

// unexpected is the refusal of a member that only the service can know (43006).
func unexpected(property string) error {
	r := refusal(http.StatusBadRequest, "43006", "UNEXPECTED_ARGUMENT", "this is not for the caller to say")
	r.Property = property
	return r
}

// line reads an item; at is the path of its members, such as "lines[0].".
func (b lineBody) line(at string) (paysim.Line, error) {
	line := paysim.Line{ItemCode: b.ItemCode, TaxCode: b.TaxCode, Description: b.Description}
	lacks := func(name string) error {
		r := refusal(http.StatusBadRequest, "43003", "MISSING_MANDATORY_ARGUMENT", "something required is missing")
		r.Property = at + name
		return r
	}
	switch {
	case b.Tax != nil:
		return line, unexpected(at + "tax")
	case b.Quantity == nil:
		return line, lacks("quantity")
	case b.Amount == "":
		return line, lacks("amount")
	}
	line.Quantity = *b.Quantity
	var err error
	line.Amount, err = b.Amount.money(at + "amount")
	return line, err
}

const companyID = 410022

// quoteOf shows a quote.
func quoteOf(q paysim.Quote) quoteView {
	v := quoteView{
		Reference: q.Reference, Status: "Saved", Used: q.TakenBy != "", CompanyID: companyID, Currency: q.Currency,
		RequestDate: q.Created.UTC().Format("Mon Jan 02 15:04:05 MST 2006"), ShipTo: normalized(q.ShipTo), ShipFrom: normalized(q.ShipFrom),
		TotalTax: q.TotalTax, TotalAmount: q.TotalAmount, TotalTaxable: q.TotalAmount - q.TotalExempt, TotalExempt: q.TotalExempt,
		TaxVATType: "TAX",
	}
	if v.Used {
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

// normalized writes an address as the tax provider does: upper case codes, and the long form of a US postal code.
func normalized(a paysim.Address) address {
	a.State, a.Country = strings.ToUpper(a.State), strings.ToUpper(a.Country)
	if a.Country == "US" && len(a.Zip) == 5 {
		a.Zip += "-1000"
	}
	return address(a)
}
